/* What the command needs beside reductions: streams, host memory that the device reads without a detour, copies that
   return at once, how much memory is free, which versions these are. Pinned memory is the point: only a copy between it
   and the device runs beside the kernels of another stream; from ordinary memory the driver copies through a buffer of
   its own and the caller waits. Nothing here is called by the library itself. */
#include "device.h"

#include <stdio.h>

RdxStatus rdx_cuda_stream_take(RdxStream *stream, int id)
{
    RdxCudaVisit visit;
    cudaStream_t made = NULL;
    RDX_TRY(rdx_cuda_enter(&visit, id));
    RdxStatus status =
        rdx_cuda_status(RDX_CUDA_CALL(cudaStreamCreateWithFlags, &made, cudaStreamNonBlocking), "making a stream");
    if (status == RDX_OK)
        *stream = (RdxStream)made;
    return rdx_cuda_leave(&visit, status);
}

RdxStatus rdx_cuda_stream_give(RdxStream stream, int id)
{
    RdxCudaVisit visit;
    RDX_TRY(rdx_cuda_enter(&visit, id));
    return rdx_cuda_leave(
        &visit, rdx_cuda_status(RDX_CUDA_CALL(cudaStreamDestroy, (cudaStream_t)stream), "giving a stream back"));
}

/* Of any device: where several are in use, all of them read it as quickly. */
RdxStatus rdx_cuda_pinned_take(void **memory, size_t bytes, int id)
{
    RdxCudaVisit visit;
    void *taken = NULL;
    RDX_TRY(rdx_cuda_enter(&visit, id));
    RdxStatus status = rdx_cuda_status(RDX_CUDA_CALL(cudaHostAlloc, &taken, bytes, cudaHostAllocPortable),
                                       "allocating pinned host memory");
    if (status == RDX_OK)
        *memory = taken;
    return rdx_cuda_leave(&visit, status);
}

RdxStatus rdx_cuda_pinned_give(void *memory, int id)
{
    RdxCudaVisit visit;
    RDX_TRY(rdx_cuda_enter(&visit, id));
    return rdx_cuda_leave(&visit, rdx_cuda_status(RDX_CUDA_CALL(cudaFreeHost, memory), "freeing pinned host memory"));
}

RdxStatus rdx_cuda_copy_queued(void *to, const void *from, size_t bytes, RdxStream stream, int id)
{
    RdxCudaVisit visit;
    RDX_TRY(rdx_cuda_enter(&visit, id));
    cudaError_t error = RDX_CUDA_CALL(cudaMemcpyAsync, to, from, bytes, cudaMemcpyDefault, (cudaStream_t)stream);
    return rdx_cuda_leave(&visit, rdx_cuda_status(error, "queueing a copy"));
}

RdxStatus rdx_cuda_memory_room(size_t *free_bytes, size_t *total_bytes, int id)
{
    RdxCudaVisit visit;
    size_t room = 0, all = 0;
    RDX_TRY(rdx_cuda_enter(&visit, id));
    RdxStatus status =
        rdx_cuda_status(RDX_CUDA_CALL(cudaMemGetInfo, &room, &all), "asking how much device memory is free");
    if (status == RDX_OK) {
        *free_bytes = room;
        *total_bytes = all;
    }
    return rdx_cuda_leave(&visit, status);
}

/* The architectures that nvcc was told to compile for, as 90 for sm_90; none where another compiler built this. */
static const int architectures[] = {
#ifdef __CUDA_ARCH_LIST__
    __CUDA_ARCH_LIST__,
#endif
    0};

RdxStatus rdx_cuda_build(RdxCudaBuild *build)
{
    int driver = 0, runtime = 0;
    RDX_TRY(rdx_cuda_status(RDX_CUDA_CALL(cudaDriverGetVersion, &driver), "asking for the driver's version"));
    RDX_TRY(rdx_cuda_status(RDX_CUDA_CALL(cudaRuntimeGetVersion, &runtime), "asking for the run-time's version"));
    build->driver = driver;
    build->runtime = runtime;
    build->architectures[0] = 0;
    int length = 0, room = (int)sizeof build->architectures;
    for (int i = 0; architectures[i] && length < room - 8; i++)
        length += snprintf(build->architectures + length, (size_t)(room - length), "%ssm_%d", i ? " " : "",
                           architectures[i] / 10);
    return RDX_OK;
}
