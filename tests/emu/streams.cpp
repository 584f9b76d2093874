/* Streams, events and graphs of the emulated run-time. A stream is a queue: about half of what comes is done at once,
   the rest when somebody waits, so whoever forgets to wait finds nothing done. Work of the legacy stream and of
   blocking streams of a device is done in the order in which it came, that of other streams on its own; a graph is a
   list of work. */
#include "runtime.h"

#include <chrono>
#include <deque>
#include <set>
#include <string.h>
#include <vector>

typedef std::chrono::steady_clock Clock;

struct CUgraph_st {
    std::vector<emu::Work> work;
};

struct CUgraphExec_st {
    std::vector<emu::Work> work;
};

struct CUevent_st {
    bool recorded, done;
    cudaStream_t stream;
    int device;
    Clock::time_point time;
};

struct CUstream_st {
    int device;
    unsigned long long number;
    bool blocking;
    bool capturing, spoilt;
    cudaStreamCaptureMode mode;
    CUgraph_st *graph;
    std::deque<emu::Work> waiting;
};

namespace emu
{

static CUstream_st legacy[DEVICES];
static std::set<cudaStream_t> streams;
static thread_local std::vector<cudaStream_t> captures; /* begun by this thread, and not relaxed */
static thread_local cudaStreamCaptureMode own_mode;     /* of calls that allocate: relaxed ones are allowed */
static unsigned long long stream_number = 2;            /* 1: the legacy stream */

/* The queue that holds a stream's work. */
static CUstream_st *queue_of(cudaStream_t stream)
{
    if (!stream)
        return &legacy[current_device()];
    return stream->blocking ? &legacy[stream->device] : stream;
}

static void finish(CUstream_st *queue)
{
    while (!queue->waiting.empty()) {
        Work work = std::move(queue->waiting.front());
        queue->waiting.pop_front();
        work();
    }
}

void finish_device(int device)
{
    finish(&legacy[device]);
    for (cudaStream_t stream : streams)
        if (stream->device == device)
            finish(stream);
}

cudaError_t put(cudaStream_t stream, Work work)
{
    if (stream && !streams.count(stream))
        return cudaErrorInvalidResourceHandle;
    if (stream && stream->device != current_device())
        return cudaErrorInvalidResourceHandle;
    if (stream && stream->capturing) {
        stream->graph->work.push_back(std::move(work));
        return cudaSuccess;
    }
    CUstream_st *queue = queue_of(stream);
    queue->waiting.push_back(std::move(work));
    if (!launch_is_late())
        finish(queue);
    return cudaSuccess;
}

bool spoils_capture()
{
    if (captures.empty() || own_mode == cudaStreamCaptureModeRelaxed)
        return false;
    for (cudaStream_t stream : captures)
        stream->spoilt = true;
    return true;
}

} // namespace emu

using namespace emu;

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    Locked locked(lock);
    *stream = new CUstream_st();
    (*stream)->device = current_device();
    (*stream)->blocking = flags != cudaStreamNonBlocking;
    (*stream)->number = stream_number++;
    streams.insert(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    Locked locked(lock);
    if (!streams.count(stream))
        return cudaErrorInvalidResourceHandle;
    finish(queue_of(stream));
    streams.erase(stream);
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    Locked locked(lock);
    if (stream && !streams.count(stream))
        return cudaErrorInvalidResourceHandle;
    if (spoils_capture())
        return cudaErrorStreamCaptureUnsupported;
    finish(queue_of(stream));
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
    Locked locked(lock);
    if (spoils_capture())
        return cudaErrorStreamCaptureUnsupported;
    finish_device(current_device());
    return cudaSuccess;
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *number)
{
    Locked locked(lock);
    if (stream && !streams.count(stream))
        return cudaErrorInvalidResourceHandle;
    *number = stream ? stream->number : 1;
    return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode)
{
    std::swap(*mode, own_mode);
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status)
{
    Locked locked(lock);
    if (stream && !streams.count(stream))
        return cudaErrorInvalidResourceHandle;
    *status = stream && stream->capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode)
{
    Locked locked(lock);
    if (!streams.count(stream) || stream->capturing)
        return cudaErrorIllegalState;
    stream->capturing = true;
    stream->spoilt = false;
    stream->mode = mode;
    stream->graph = new CUgraph_st();
    if (mode != cudaStreamCaptureModeRelaxed)
        captures.push_back(stream);
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    Locked locked(lock);
    if (!streams.count(stream) || !stream->capturing)
        return cudaErrorIllegalState;
    stream->capturing = false;
    for (size_t i = 0; i < captures.size(); i++)
        if (captures[i] == stream)
            captures.erase(captures.begin() + (long)i--);
    *graph = stream->spoilt ? NULL : stream->graph;
    if (stream->spoilt)
        delete stream->graph;
    stream->graph = NULL;
    return stream->spoilt ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    Locked locked(lock);
    if (!event->recorded || (stream && stream->capturing))
        return event->recorded ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
    return put(stream, [=] {
        if (!event->done)
            finish(event->stream ? queue_of(event->stream) : &legacy[event->device]);
    });
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    *event = new CUevent_st();
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    Locked locked(lock);
    if (event->recorded && !event->done)
        finish(event->stream ? queue_of(event->stream) : &legacy[event->device]);
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    Locked locked(lock);
    event->recorded = true;
    event->done = false;
    event->stream = stream;
    event->device = current_device();
    return put(stream, [=] {
        event->done = true;
        event->time = Clock::now();
    });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    Locked locked(lock);
    if (spoils_capture())
        return cudaErrorStreamCaptureUnsupported;
    if (event->recorded && !event->done)
        finish(event->stream ? queue_of(event->stream) : &legacy[event->device]);
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    Locked locked(lock);
    if (!start->recorded || !end->recorded)
        return cudaErrorInvalidResourceHandle;
    if (!start->done || !end->done)
        return cudaErrorNotReady;
    *ms = std::chrono::duration<float, std::milli>(end->time - start->time).count();
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *run, cudaGraph_t graph, unsigned long long)
{
    Locked locked(lock);
    *run = new CUgraphExec_st{graph->work};
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t run, cudaStream_t stream)
{
    Locked locked(lock);
    for (const Work &work : run->work) {
        cudaError_t error = put(stream, work);
        if (error != cudaSuccess)
            return error;
    }
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    Locked locked(lock);
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t run)
{
    Locked locked(lock);
    delete run;
    return cudaSuccess;
}
}
