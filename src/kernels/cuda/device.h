/* What the host files of the plugin share: the host's table, statuses of CUDA's errors, a visit to a device, timing. */
#ifndef RDX_KERNELS_CUDA_DEVICE_H
#define RDX_KERNELS_CUDA_DEVICE_H

#include "../../plugin.h"

#include <cuda_runtime.h>

extern const RdxHostTable *rdx_cuda_host;

/* RDX_OK, or a status with a sentence that quotes CUDA. */
RdxStatus rdx_cuda_status(cudaError_t error, const char *what);

/* Makes `id` current for a call; leave gives the caller's device back and returns `status`, or why that failed. */
typedef struct RdxCudaVisit {
    int callers;
    bool moved;
} RdxCudaVisit;

RdxStatus rdx_cuda_enter(RdxCudaVisit *visit, int id);
RdxStatus rdx_cuda_leave(const RdxCudaVisit *visit, RdxStatus status);

/* memory.cu; see RdxPluginTable. */
bool rdx_cuda_is_capturing(RdxStream stream);
RdxStatus rdx_cuda_workspace_init(void *workspace, size_t bytes, RdxStream stream, int id);
RdxStatus rdx_cuda_workspace_take(void **workspace, size_t bytes, RdxStream stream, int id);
RdxStatus rdx_cuda_workspace_give(void *workspace, size_t bytes, RdxStream stream, int id);
void rdx_cuda_shutdown(void);
RdxStatus rdx_cuda_memory_take(void **memory, size_t bytes, int id);
RdxStatus rdx_cuda_memory_give(void *memory, int id);
RdxStatus rdx_cuda_copy(void *to, const void *from, size_t bytes, int id);
RdxStatus rdx_cuda_wait(RdxStream stream, int id);

/* measure.cu; see RdxPluginTable. */
RdxStatus rdx_cuda_record(void **recording, RdxStatus (*calls)(void *context, RdxStream stream), void *context, int id);
RdxStatus rdx_cuda_replay(void *recording, double *us);
void rdx_cuda_forget(void *recording);

/* reads.cu; see RdxPluginTable. */
RdxStatus rdx_cuda_read(int kernel, const void *from, size_t bytes, RdxStream stream, int id);
RdxStatus rdx_cuda_launch_nothing(int times, RdxStream stream, int id);

/* transfer.cu; see RdxPluginTable. */
RdxStatus rdx_cuda_stream_take(RdxStream *stream, int id);
RdxStatus rdx_cuda_stream_give(RdxStream stream, int id);
RdxStatus rdx_cuda_pinned_take(void **memory, size_t bytes, int id);
RdxStatus rdx_cuda_pinned_give(void *memory, int id);
RdxStatus rdx_cuda_copy_queued(void *to, const void *from, size_t bytes, RdxStream stream, int id);
RdxStatus rdx_cuda_memory_room(size_t *free_bytes, size_t *total_bytes, int id);
RdxStatus rdx_cuda_build(RdxCudaBuild *build);

#endif
