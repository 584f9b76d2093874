/* Memory: the workspaces of rdx_reduce, and what the command and tests allocate and copy.

   rdx_reduce keeps workspaces per device and stream: what follows in a stream waits for what is there, so the next call
   may have the memory as soon as the launch is enqueued. They grow by powers of two, at most MOST are kept, and one
   that was cleared before the latest CUDA error is cleared again. A capturing stream gets stream-ordered memory, which
   becomes part of its graph. */
#include "device.h"

#include <pthread.h>

enum { MOST = 64, LEAST_BYTES = 64 << 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct Workspace {
    struct Workspace *next; /* the latest taken comes first */
    void *memory;
    size_t bytes;
    unsigned long long stream; /* its number: a new stream may have a dead one's address */
    int id;
    unsigned errors; /* there were when it was cleared */
    bool busy;
} Workspace;

static Workspace *workspaces;

RdxStatus rdx_cuda_is_capturing(bool *capturing, RdxStream stream, int id)
{
    enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    RdxCudaVisit visit;
    RDX_TRY(rdx_cuda_check_device(id));
    RDX_TRY(rdx_cuda_enter(&visit, id));
    RdxStatus status = rdx_cuda_status(RDX_CUDA_CALL(cudaStreamIsCapturing, (cudaStream_t)stream, &capture),
                                       "asking whether a stream captures");
    *capturing = capture != cudaStreamCaptureStatusNone;
    return rdx_cuda_leave(&visit, status);
}

static RdxStatus number_of(unsigned long long *number, RdxStream stream)
{
    return rdx_cuda_status(RDX_CUDA_CALL(cudaStreamGetId, (cudaStream_t)stream, number),
                           "asking for a stream's number");
}

static RdxStatus clear_head(void *workspace, size_t bytes, RdxStream stream)
{
    size_t head = bytes < RDX_WORKSPACE_HEAD ? bytes : RDX_WORKSPACE_HEAD;
    return rdx_cuda_status(RDX_CUDA_CALL(cudaMemsetAsync, workspace, 0, head, (cudaStream_t)stream),
                           "clearing a workspace");
}

RdxStatus rdx_cuda_workspace_init(void *workspace, size_t bytes, RdxStream stream, int id)
{
    RdxCudaVisit visit;
    RDX_TRY(rdx_cuda_enter(&visit, id));
    return rdx_cuda_leave(&visit, bytes ? clear_head(workspace, bytes, stream) : RDX_OK);
}

/* ---- Workspaces of rdx_reduce ---- */

static RdxStatus take_ordered(void **workspace, size_t bytes, RdxStream stream)
{
    void *memory = NULL;
    RDX_TRY(rdx_cuda_status(RDX_CUDA_CALL(cudaMallocAsync, &memory, bytes, (cudaStream_t)stream),
                            "allocating a workspace"));
    RdxStatus status = clear_head(memory, bytes, stream);
    if (status == RDX_OK)
        *workspace = memory;
    else
        (void)RDX_CUDA_CALL(cudaFreeAsync, memory, (cudaStream_t)stream);
    return status;
}

/* Frees workspaces that nobody finds any more. Without the lock: the log's callback may call the library. */
static void free_workspaces(Workspace *first)
{
    while (first) {
        Workspace *w = first;
        RdxCudaVisit visit;
        first = w->next;
        if (rdx_cuda_enter_relaxed(&visit, w->id) == RDX_OK) {
            RdxStatus status = rdx_cuda_status(RDX_CUDA_CALL(cudaFree, w->memory), "freeing a workspace");
            if (rdx_cuda_leave(&visit, status) != RDX_OK)
                rdx_cuda_host->log(1, "a workspace of %zu bytes was not freed", w->bytes);
        }
        rdx_cuda_host->release(w);
    }
}

/* Makes room for one more: of as many as there may be, idle ones that were not wanted for longest are no longer kept.
   The lock is held. */
static Workspace *surplus(void)
{
    Workspace *gone = NULL;
    for (;;) {
        Workspace **idle = NULL;
        int count = 0;
        for (Workspace **link = &workspaces; *link; link = &(*link)->next, count++)
            if (!(*link)->busy)
                idle = link;
        if (count < MOST || !idle)
            return gone;
        Workspace *w = *idle;
        *idle = w->next;
        w->next = gone;
        gone = w;
    }
}

/* An idle workspace of this stream that is large enough, moved to the front. The lock is held. */
static Workspace *find_idle(size_t bytes, unsigned long long stream, int id)
{
    for (Workspace **link = &workspaces; *link; link = &(*link)->next) {
        Workspace *w = *link;
        if (w->busy || w->id != id || w->stream != stream || w->bytes < bytes)
            continue;
        *link = w->next;
        w->next = workspaces;
        workspaces = w;
        return w;
    }
    return NULL;
}

/* A busy one that nobody finds yet. */
static RdxStatus make_workspace(Workspace **made, size_t bytes, unsigned long long stream, int id)
{
    Workspace *w = (Workspace *)rdx_cuda_host->alloc(sizeof *w, 16);
    if (!w)
        return rdx_cuda_host->error(RDX_ERR_MEMORY, "no memory for a workspace's %zu bytes of book-keeping", sizeof *w);
    size_t rounded = (size_t)rdx_max(rdx_pow2_ceil((int64_t)bytes), LEAST_BYTES);
    *w = {NULL, NULL, rounded, stream, id, rdx_cuda_errors() - 1, true};
    RdxCudaVisit visit;
    RdxStatus status = rdx_cuda_enter_relaxed(&visit, id);
    if (status == RDX_OK) {
        status = rdx_cuda_status(RDX_CUDA_CALL(cudaMalloc, &w->memory, rounded), "allocating a workspace");
        status = rdx_cuda_leave(&visit, status);
    }
    if (status != RDX_OK) {
        if (w->memory)
            (void)RDX_CUDA_CALL(cudaFree, w->memory);
        rdx_cuda_host->release(w);
        return status;
    }
    *made = w;
    return RDX_OK;
}

static RdxStatus take_kept(void **workspace, size_t bytes, RdxStream stream, int id)
{
    unsigned long long number = 0;
    RDX_TRY(number_of(&number, stream));
    pthread_mutex_lock(&lock);
    Workspace *w = find_idle(bytes, number, id), *gone = w ? NULL : surplus();
    if (w)
        w->busy = true;
    pthread_mutex_unlock(&lock);
    free_workspaces(gone);
    if (!w) {
        RDX_TRY(make_workspace(&w, bytes, number, id));
        pthread_mutex_lock(&lock);
        w->next = workspaces;
        workspaces = w;
        pthread_mutex_unlock(&lock);
    }
    unsigned errors = rdx_cuda_errors();
    RdxStatus status = w->errors == errors ? RDX_OK : clear_head(w->memory, w->bytes, stream);
    if (status == RDX_OK) {
        w->errors = errors;
        *workspace = w->memory;
        return RDX_OK;
    }
    pthread_mutex_lock(&lock);
    w->busy = false;
    pthread_mutex_unlock(&lock);
    return status;
}

RdxStatus rdx_cuda_workspace_take(void **workspace, size_t bytes, RdxStream stream, int id)
{
    RdxCudaVisit visit;
    bool capturing = false;
    RDX_TRY(rdx_cuda_is_capturing(&capturing, stream, id));
    RDX_TRY(rdx_cuda_enter(&visit, id));
    RdxStatus status = capturing ? take_ordered(workspace, bytes, stream) : take_kept(workspace, bytes, stream, id);
    return rdx_cuda_leave(&visit, status);
}

RdxStatus rdx_cuda_workspace_give(void *workspace, size_t bytes, RdxStream stream, int id)
{
    (void)bytes;
    pthread_mutex_lock(&lock);
    Workspace *w = workspaces;
    while (w && w->memory != workspace)
        w = w->next;
    if (w)
        w->busy = false;
    pthread_mutex_unlock(&lock);
    if (w)
        return RDX_OK;
    RdxCudaVisit visit;
    RDX_TRY(rdx_cuda_enter(&visit, id));
    return rdx_cuda_leave(&visit, rdx_cuda_status(RDX_CUDA_CALL(cudaFreeAsync, workspace, (cudaStream_t)stream),
                                                  "giving a workspace back"));
}

/* A workspace that a call on another thread has just now stays; that call gives it back and a later shutdown frees
   it. */
void rdx_cuda_shutdown(void)
{
    Workspace *gone = NULL;
    pthread_mutex_lock(&lock);
    for (Workspace **link = &workspaces; *link;) {
        Workspace *w = *link;
        if (w->busy) {
            link = &w->next;
            continue;
        }
        *link = w->next;
        w->next = gone;
        gone = w;
    }
    pthread_mutex_unlock(&lock);
    free_workspaces(gone);
}

/* ---- Memory for the command and for tests ---- */

RdxStatus rdx_cuda_memory_take(void **memory, size_t bytes, int id)
{
    RdxCudaVisit visit;
    RDX_TRY(rdx_cuda_enter(&visit, id));
    return rdx_cuda_leave(&visit,
                          rdx_cuda_status(RDX_CUDA_CALL(cudaMalloc, memory, bytes), "allocating device memory"));
}

RdxStatus rdx_cuda_memory_give(void *memory, int id)
{
    RdxCudaVisit visit;
    RDX_TRY(rdx_cuda_enter(&visit, id));
    return rdx_cuda_leave(&visit, rdx_cuda_status(RDX_CUDA_CALL(cudaFree, memory), "freeing device memory"));
}

RdxStatus rdx_cuda_copy(void *to, const void *from, size_t bytes, int id)
{
    RdxCudaVisit visit;
    RDX_TRY(rdx_cuda_enter(&visit, id));
    RdxStatus status = rdx_cuda_status(RDX_CUDA_CALL(cudaMemcpy, to, from, bytes, cudaMemcpyDefault), "copying");
    /* From ordinary memory it may return before the bytes are there, and a stream that does not block would not wait
       for them. */
    if (status == RDX_OK)
        status = rdx_cuda_status(RDX_CUDA_CALL(cudaStreamSynchronize, (cudaStream_t)NULL), "copying");
    return rdx_cuda_leave(&visit, status);
}

RdxStatus rdx_cuda_wait(RdxStream stream, int id)
{
    RdxCudaVisit visit;
    RDX_TRY(rdx_cuda_enter(&visit, id));
    return rdx_cuda_leave(
        &visit, rdx_cuda_status(RDX_CUDA_CALL(cudaStreamSynchronize, (cudaStream_t)stream), "waiting for a stream"));
}
