/* What the files of the emulated run-time share: its lock, its devices' memory, and what streams hold. */
#ifndef EMU_RUNTIME_H
#define EMU_RUNTIME_H

#include "cuda_runtime.h"
#include "machine.h"

#include <functional>
#include <mutex>

namespace emu
{

enum { DEVICES = 2 };

/* Everything below is called with it held. */
extern std::recursive_mutex lock;
typedef std::lock_guard<std::recursive_mutex> Locked;

int current_device();

/* ---- Memory ---- */

cudaError_t take_memory(void **memory, size_t bytes, int device);
bool give_memory(void *memory);
/* Ends the process if `bytes` at `place` begin in an allocation and do not end in it; host memory may be anything. */
void check_range(const void *place, size_t bytes, const char *what);
/* The device whose memory holds `place`, -1: none's. */
int owner_of(const void *place);

/* ---- Streams ---- */

typedef std::function<void()> Work;

cudaError_t put(cudaStream_t stream, Work work);
/* Does everything that a device still has to do. */
void finish_device(int device);
/* True, and the capture is spoilt, while the calling thread captures: such calls are not allowed then. */
bool spoils_capture();

/* ---- Launching ---- */

/* The seed of the next launch. */
uint64_t next_seed();
bool launch_is_late();

} // namespace emu
#endif
