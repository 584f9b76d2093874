/* Timing: launches captured as a graph and replayed between two events; and named ranges for profilers. */
#include "device.h"

#if defined __has_include
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define HAS_NVTX 1
#endif
#endif

typedef struct Recording {
    int id;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    cudaEvent_t start, end;
} Recording;

static RdxStatus capture(Recording *r, RdxStatus (*calls)(void *context, RdxStream stream), void *context)
{
    RDX_TRY(rdx_cuda_status(RDX_CUDA_CALL(cudaStreamCreateWithFlags, &r->stream, cudaStreamNonBlocking),
                            "making a stream"));
    RDX_TRY(rdx_cuda_status(RDX_CUDA_CALL(cudaEventCreate, &r->start), "making an event"));
    RDX_TRY(rdx_cuda_status(RDX_CUDA_CALL(cudaEventCreate, &r->end), "making an event"));
    RDX_TRY(rdx_cuda_status(RDX_CUDA_CALL(cudaStreamBeginCapture, r->stream, cudaStreamCaptureModeThreadLocal),
                            "beginning a capture"));
    RdxStatus called = calls(context, (RdxStream)r->stream);
    RdxStatus ended = rdx_cuda_status(RDX_CUDA_CALL(cudaStreamEndCapture, r->stream, &r->graph), "ending a capture");
    RDX_TRY(called);
    RDX_TRY(ended);
    return rdx_cuda_status(RDX_CUDA_CALL(cudaGraphInstantiate, &r->run, r->graph, 0), "instantiating a graph");
}

static void destroy(Recording *r)
{
    if (r->run)
        (void)RDX_CUDA_CALL(cudaGraphExecDestroy, r->run);
    if (r->graph)
        (void)RDX_CUDA_CALL(cudaGraphDestroy, r->graph);
    if (r->start)
        (void)RDX_CUDA_CALL(cudaEventDestroy, r->start);
    if (r->end)
        (void)RDX_CUDA_CALL(cudaEventDestroy, r->end);
    if (r->stream)
        (void)RDX_CUDA_CALL(cudaStreamDestroy, r->stream);
}

RdxStatus rdx_cuda_record(void **recording, RdxStatus (*calls)(void *context, RdxStream stream), void *context, int id)
{
    RdxCudaVisit visit;
    RDX_TRY(rdx_cuda_enter(&visit, id));
    Recording *r = (Recording *)rdx_cuda_host->alloc(sizeof *r, 16);
    if (!r)
        return rdx_cuda_leave(&visit, rdx_cuda_host->error(RDX_ERR_MEMORY, "no memory for a recording"));
    *r = {id, NULL, NULL, NULL, NULL, NULL};
    RdxStatus status = capture(r, calls, context);
    if (status == RDX_OK) {
        *recording = r;
    } else {
        destroy(r);
        rdx_cuda_host->release(r);
    }
    return rdx_cuda_leave(&visit, status);
}

static RdxStatus run(const Recording *r, double *us)
{
    float ms = 0;
    RDX_TRY(rdx_cuda_status(RDX_CUDA_CALL(cudaEventRecord, r->start, r->stream), "recording an event"));
    RDX_TRY(rdx_cuda_status(RDX_CUDA_CALL(cudaGraphLaunch, r->run, r->stream), "launching a graph"));
    RDX_TRY(rdx_cuda_status(RDX_CUDA_CALL(cudaEventRecord, r->end, r->stream), "recording an event"));
    RDX_TRY(rdx_cuda_status(RDX_CUDA_CALL(cudaEventSynchronize, r->end), "waiting for an event"));
    RDX_TRY(rdx_cuda_status(RDX_CUDA_CALL(cudaEventElapsedTime, &ms, r->start, r->end), "reading the time"));
    *us = 1e3 * (double)ms;
    return RDX_OK;
}

RdxStatus rdx_cuda_replay(void *recording, double *us)
{
    const Recording *r = (const Recording *)recording;
    RdxCudaVisit visit;
    RDX_TRY(rdx_cuda_enter(&visit, r->id));
    return rdx_cuda_leave(&visit, run(r, us));
}

void rdx_cuda_forget(void *recording)
{
    Recording *r = (Recording *)recording;
    RdxCudaVisit visit;
    if (!r)
        return;
    RdxStatus status = rdx_cuda_enter(&visit, r->id);
    destroy(r);
    if (status == RDX_OK)
        (void)!rdx_cuda_leave(&visit, RDX_OK);
    rdx_cuda_host->release(r);
}

/* Without a tool attached these are one load and a branch: NVTX looks for a tool once, at its first call. */
void rdx_cuda_range_open(const char *name)
{
#ifdef HAS_NVTX
    nvtxRangePushA(name);
#else
    (void)name;
#endif
}

void rdx_cuda_range_close(void)
{
#ifdef HAS_NVTX
    nvtxRangePop();
#endif
}
