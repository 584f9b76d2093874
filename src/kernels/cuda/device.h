/* What the host files of the plugin share: a visit to a device, memory, timing. */
#ifndef RDX_KERNELS_CUDA_DEVICE_H
#define RDX_KERNELS_CUDA_DEVICE_H

#include "calls.h"

/* Makes `id` current for a call; leave gives the caller's device back and returns `status`, or why that failed. */
typedef struct RdxCudaVisit {
    int callers;
    bool moved, relaxed;
    enum cudaStreamCaptureMode mode; /* the thread's own, where relaxed */
} RdxCudaVisit;

RdxStatus rdx_cuda_enter(RdxCudaVisit *visit, int id);
RdxStatus rdx_cuda_leave(const RdxCudaVisit *visit, RdxStatus status);
/* The same for what allocates or loads: allowed, and harmless, while some other stream captures. */
RdxStatus rdx_cuda_enter_relaxed(RdxCudaVisit *visit, int id);

/* RDX_ERR_NO_DEVICE with the number of devices, if there is no device `id`. */
RdxStatus rdx_cuda_check_device(int id);

/* memory.cu; see RdxPluginTable. */
RdxStatus rdx_cuda_is_capturing(bool *capturing, RdxStream stream, int id);
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
void rdx_cuda_range_open(const char *name);
void rdx_cuda_range_close(void);

/* reads.cu; see RdxPluginTable. */
RdxStatus rdx_cuda_read(int kernel, const void *from, size_t bytes, void *to, size_t written, RdxStream stream, int id);
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
