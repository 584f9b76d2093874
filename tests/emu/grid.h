/* The state of the machine, shared by the scheduler (machine.cpp) and the memories of its blocks (shared.cpp). One grid
   runs at a time; its blocks, their stacks and contexts are kept for the next. */
#ifndef EMU_GRID_H
#define EMU_GRID_H

#include "fiber.h"
#include "machine.h"

#include <vector>

namespace emu
{

struct Block;
struct Thread;

enum { MOST_RESIDENT = 4, MOST_DYNAMIC = 228 << 10, MOST_STATIC = 48 << 10, CANARIES = 256 };
/* Under ThreadSanitizer every thread keeps a stack of its own: two on one stack would seem to share its bytes. */
#ifdef EMU_TSAN
static constexpr bool own_stacks = true;
#else
static constexpr bool own_stacks = false;
#endif

enum State { READY, AT_BARRIER, IN_COLLECTIVE, DONE };

struct Warp {
    Block *block;
    Thread *threads;               /* 32 of them, fewer in a last warp */
    uint32_t ready, waiting, gone; /* lanes that can run, that wait in a collective, that ended */
    uint32_t priority;
    unsigned generation; /* of collectives */
    char meeting[2];
};

struct Copy {
    void *to;
    const void *from;
    int size, bytes, group;
    Site site;
};

struct Thread {
    Index index;
    unsigned lane;
    State state;
    Warp *warp;
    Fiber *fiber, *home; /* fiber: NULL before the first instruction; home: its own stack, if it has one */
    Context context;
    Site site; /* where it waits */
    Collective kind;
    uint32_t mask;
    unsigned source;
    uint64_t value, result;
    std::vector<Copy> copies; /* in flight */
    int groups;               /* committed */
    bool met;                 /* it did an atomic */
};

struct SharedObject {
    const void *marker;
    size_t at, bytes;
};

struct Block {
    Index index;
    unsigned alive, waiting, generation;
    Site site; /* of the barrier at which `waiting` threads are */
    std::vector<Thread> threads;
    std::vector<Warp> warps;
    unsigned char *dynamic, *statics; /* MOST_DYNAMIC + CANARIES, MOST_STATIC */
    std::vector<SharedObject> objects;
    std::vector<Context> contexts; /* and homes: of its threads */
    std::vector<Fiber *> homes;
    Context fenced, met, heard;                             /* see fence */
    bool news;                                              /* atomics met something that no barrier has passed on */
    char meeting[2], life, to_fenced, from_met, from_heard; /* objects to release and acquire */
};

struct Grid {
    const Launch *launch; /* NULL: nothing runs */
    uint64_t random;
    std::vector<uint32_t> order; /* in which blocks start */
    size_t next, resident;
    Block blocks[MOST_RESIDENT];
    Thread *current;
    Fiber *host;
    std::vector<Fiber *> idle;
    unsigned fibers;
    char start; /* to release and acquire */
};
extern Grid &grid;

uint64_t dice();
void run_threads();

/* Before a block's first thread; after its last, with a complaint if canaries changed. */
void fill_shared(Block *block, size_t dynamic_bytes);
void check_shared(Block *block, size_t dynamic_bytes);

} // namespace emu
#endif
