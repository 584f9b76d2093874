/* Timing: launches captured as a graph and replayed between two events. */
#include "device.h"

typedef struct Recording {
    int id;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    cudaEvent_t start, end;
} Recording;

static RdxStatus capture(Recording *r, RdxStatus (*calls)(void *context, RdxStream stream), void *context)
{
    RDX_TRY(rdx_cuda_status(cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking), "making a stream"));
    RDX_TRY(rdx_cuda_status(cudaEventCreate(&r->start), "making an event"));
    RDX_TRY(rdx_cuda_status(cudaEventCreate(&r->end), "making an event"));
    RDX_TRY(
        rdx_cuda_status(cudaStreamBeginCapture(r->stream, cudaStreamCaptureModeThreadLocal), "beginning a capture"));
    RdxStatus called = calls(context, (RdxStream)r->stream);
    RdxStatus ended = rdx_cuda_status(cudaStreamEndCapture(r->stream, &r->graph), "ending a capture");
    RDX_TRY(called);
    RDX_TRY(ended);
    return rdx_cuda_status(cudaGraphInstantiate(&r->run, r->graph, 0), "instantiating a graph");
}

static void destroy(Recording *r)
{
    if (r->run)
        cudaGraphExecDestroy(r->run);
    if (r->graph)
        cudaGraphDestroy(r->graph);
    if (r->start)
        cudaEventDestroy(r->start);
    if (r->end)
        cudaEventDestroy(r->end);
    if (r->stream)
        cudaStreamDestroy(r->stream);
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
    RDX_TRY(rdx_cuda_status(cudaEventRecord(r->start, r->stream), "recording an event"));
    RDX_TRY(rdx_cuda_status(cudaGraphLaunch(r->run, r->stream), "launching a graph"));
    RDX_TRY(rdx_cuda_status(cudaEventRecord(r->end, r->stream), "recording an event"));
    RDX_TRY(rdx_cuda_status(cudaEventSynchronize(r->end), "waiting for an event"));
    RDX_TRY(rdx_cuda_status(cudaEventElapsedTime(&ms, r->start, r->end), "reading the time"));
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
