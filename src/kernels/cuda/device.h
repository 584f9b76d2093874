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

/* measure.cu; see RdxPluginTable. */
RdxStatus rdx_cuda_record(void **recording, RdxStatus (*calls)(void *context, RdxStream stream), void *context, int id);
RdxStatus rdx_cuda_replay(void *recording, double *us);
void rdx_cuda_forget(void *recording);
RdxStatus rdx_cuda_read(const void *from, size_t bytes, RdxStream stream, int id);

#endif
