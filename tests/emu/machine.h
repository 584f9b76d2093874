/* The emulated machine as kernels and the run-time see it: CUDA threads are fibers of one host thread, taken up by a
   seeded scheduler and left only where they meet others: barriers, collectives, atomics, fences, waits for copies. A
   few blocks of a grid are resident at once and their warps interleave, so that what blocks say to each other is said
   in many orders.

   Nothing here depends on CUDA's names; device.h gives it those. machine.cpp is compiled without the sanitizers of the
   kernels and tells them about fibers (fiber.h): an instrumented scheduler would synchronise what it schedules, and
   hide every race.

   What is wrong with a kernel ends the process: a sentence, the kernel, block and thread, and what replays the
   schedule. */
#ifndef EMU_MACHINE_H
#define EMU_MACHINE_H

#include <stddef.h>
#include <stdint.h>

namespace emu
{

struct Index {
    unsigned x, y, z;
};

/* A kernel as tables and launches hold it: how to call it, how large its parameters are. */
struct Kernel {
    void (*call)(void *const *parameters);
    const char *(*name)();
    const size_t *sizes;
    size_t count;
};

/* Where in a source a thread stands. */
struct Site {
    const char *file;
    int line;
};

/* What the CUDA thread that runs may ask of itself: threadIdx and its kin. */
struct Here {
    Index thread;
    unsigned lane;
    const Index *block;
};
extern Here here;
extern Index block_extent, grid_extent;

struct Launch {
    const Kernel *kernel;
    void *const *parameters;
    Index grid, block;
    size_t dynamic_bytes;
    uint64_t seed;
};

/* Runs a grid to its end. One at a time: callers hold the run-time's lock. */
void run_grid(const Launch &launch);

void barrier(Site site);

/* What the lanes named by `mask` do together. Every one of them has to come, with the same mask, to the same place. */
enum Collective { SYNC, SHUFFLE, BALLOT };
uint64_t meet(Collective kind, uint32_t mask, uint64_t value, unsigned source, Site site);

void fence();
/* Round a relaxed atomic on `place`: it hands on what was fenced before, and what it learns holds after a fence. */
void before_atomic(const void *place);
void after_atomic(const void *place);

/* Shared memory: bytes as the launch gave them, 0xFF at first, with canaries behind; objects by the address of a
   marker. */
void *dynamic_shared(size_t align);
void *shared_object(const void *marker, size_t bytes, size_t align);

/* Asynchronous copies of `size` bytes, 4, 8 or 16, of which the first `bytes` are read and the others become 0; they
   land whenever the schedule says, at the latest in the wait. */
void copy_later(void *shared, const void *global, int size, int bytes, Site site);
void commit_copies();
void wait_copies(int groups_left);

/* 16 bytes of which at least one may be read: the rest may lie outside of what was allocated. */
void read_granule(void *to, const void *from, Site site);

/* Says what is wrong and ends the process. */
[[noreturn]] void fault(Site site, const char *format, ...) __attribute__((format(printf, 2, 3)));

} // namespace emu
#endif
