/* The one door to CUDA: every call of the plugin's host files is written RDX_CUDA_CALL(cudaFunction, arguments...), so
   that tests can count the calls of an execution by name and have the k-th answered with an error. While nobody
   watches, the door costs one relaxed load. Errors become statuses here and nowhere else; cudaGetLastError is never
   called, so an error that the caller has pending stays pending. */
#ifndef RDX_KERNELS_CUDA_CALLS_H
#define RDX_KERNELS_CUDA_CALLS_H

#include "../../plugin.h"

#include <cuda_runtime.h>

extern const RdxHostTable *rdx_cuda_host;

extern int rdx_cuda_watched;

/* Counts a call that is watched; false: it is to fail with rdx_cuda_planned instead of being made. */
bool rdx_cuda_admit(const char *name);
cudaError_t rdx_cuda_planned(void);

#define RDX_CUDA_CALL(function, ...)                                                                                   \
    (RDX_LIKELY(__atomic_load_n(&rdx_cuda_watched, __ATOMIC_RELAXED) == 0) || rdx_cuda_admit(#function)                \
         ? function(__VA_ARGS__)                                                                                       \
         : rdx_cuda_planned())

/* RDX_OK, or a status with a sentence that quotes CUDA; it stays this thread's rdx_last_error. */
RdxStatus rdx_cuda_status(cudaError_t error, const char *what);

/* How many CUDA errors there were. A workspace that was cleared before the latest may hold the counters of a launch
   that never ended: it is cleared again before it is used. */
unsigned rdx_cuda_errors(void);

/* For RdxPluginTable. */
void rdx_cuda_watch(int64_t k, int64_t failing, int error);
void rdx_cuda_unwatch(void);
int64_t rdx_cuda_calls(void);
const char *rdx_cuda_call(int64_t k);
int rdx_cuda_pending(void);

#endif
