/* Memory: the workspaces of rdx_reduce, and what the command and tests allocate and copy. */
#include "device.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- Workspaces of rdx_reduce: one per device and stream, kept; stream-ordered memory while the stream captures ---- */

typedef struct Workspace {
    struct Workspace *next;
    void *memory;
    size_t bytes;
    RdxStream stream;
    int id;
    bool busy;
} Workspace;

static Workspace *workspaces;

bool rdx_cuda_is_capturing(RdxStream stream)
{
    enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    return cudaStreamIsCapturing((cudaStream_t)stream, &capture) == cudaSuccess &&
           capture != cudaStreamCaptureStatusNone;
}

static RdxStatus clear_head(void *workspace, size_t bytes, RdxStream stream)
{
    size_t head = bytes < RDX_WORKSPACE_HEAD ? bytes : RDX_WORKSPACE_HEAD;
    return rdx_cuda_status(cudaMemsetAsync(workspace, 0, head, (cudaStream_t)stream), "clearing a workspace");
}

RdxStatus rdx_cuda_workspace_init(void *workspace, size_t bytes, RdxStream stream, int id)
{
    RdxCudaVisit visit;
    RDX_TRY(rdx_cuda_enter(&visit, id));
    return rdx_cuda_leave(&visit, bytes ? clear_head(workspace, bytes, stream) : RDX_OK);
}

static RdxStatus take_ordered(void **workspace, size_t bytes, RdxStream stream)
{
    RDX_TRY(rdx_cuda_status(cudaMallocAsync(workspace, bytes, (cudaStream_t)stream), "allocating a workspace"));
    RdxStatus status = clear_head(*workspace, bytes, stream);
    if (status != RDX_OK)
        cudaFreeAsync(*workspace, (cudaStream_t)stream);
    return status;
}

/* An idle workspace of this stream that is large enough, or a new entry; the lock is held. */
static Workspace *idle_workspace(size_t bytes, RdxStream stream, int id)
{
    for (Workspace *w = workspaces; w; w = w->next)
        if (!w->busy && w->id == id && w->stream == stream && w->bytes >= bytes)
            return w;
    return NULL;
}

static RdxStatus new_workspace(Workspace **made, size_t bytes, RdxStream stream, int id)
{
    Workspace *w = (Workspace *)rdx_cuda_host->alloc(sizeof *w, 16);
    if (!w)
        return rdx_cuda_host->error(RDX_ERR_MEMORY, "no memory for a workspace's %zu bytes of book-keeping", sizeof *w);
    *w = {workspaces, NULL, bytes, stream, id, false};
    RdxStatus status = rdx_cuda_status(cudaMalloc(&w->memory, bytes), "allocating a workspace");
    if (status == RDX_OK)
        status = clear_head(w->memory, bytes, stream);
    if (status != RDX_OK) {
        if (w->memory)
            cudaFree(w->memory);
        rdx_cuda_host->release(w);
        return status;
    }
    workspaces = *made = w;
    return RDX_OK;
}

RdxStatus rdx_cuda_workspace_take(void **workspace, size_t bytes, RdxStream stream, int id)
{
    RdxCudaVisit visit;
    RDX_TRY(rdx_cuda_enter(&visit, id));
    if (rdx_cuda_is_capturing(stream))
        return rdx_cuda_leave(&visit, take_ordered(workspace, bytes, stream));
    pthread_mutex_lock(&lock);
    Workspace *w = idle_workspace(bytes, stream, id);
    RdxStatus status = w ? RDX_OK : new_workspace(&w, bytes, stream, id);
    if (status == RDX_OK) {
        w->busy = true;
        *workspace = w->memory;
    }
    pthread_mutex_unlock(&lock);
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
    return rdx_cuda_leave(&visit,
                          rdx_cuda_status(cudaFreeAsync(workspace, (cudaStream_t)stream), "giving a workspace back"));
}

void rdx_cuda_shutdown(void)
{
    pthread_mutex_lock(&lock);
    while (workspaces) {
        Workspace *w = workspaces;
        RdxCudaVisit visit;
        workspaces = w->next;
        if (rdx_cuda_enter(&visit, w->id) == RDX_OK) {
            cudaFree(w->memory);
            (void)!rdx_cuda_leave(&visit, RDX_OK);
        }
        rdx_cuda_host->release(w);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- Memory for the command and for tests ---- */

RdxStatus rdx_cuda_memory_take(void **memory, size_t bytes, int id)
{
    RdxCudaVisit visit;
    RDX_TRY(rdx_cuda_enter(&visit, id));
    return rdx_cuda_leave(&visit, rdx_cuda_status(cudaMalloc(memory, bytes), "allocating device memory"));
}

RdxStatus rdx_cuda_memory_give(void *memory, int id)
{
    RdxCudaVisit visit;
    RDX_TRY(rdx_cuda_enter(&visit, id));
    return rdx_cuda_leave(&visit, rdx_cuda_status(cudaFree(memory), "freeing device memory"));
}

RdxStatus rdx_cuda_copy(void *to, const void *from, size_t bytes, int id)
{
    RdxCudaVisit visit;
    RDX_TRY(rdx_cuda_enter(&visit, id));
    return rdx_cuda_leave(&visit, rdx_cuda_status(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "copying"));
}

RdxStatus rdx_cuda_wait(RdxStream stream, int id)
{
    RdxCudaVisit visit;
    RDX_TRY(rdx_cuda_enter(&visit, id));
    return rdx_cuda_leave(&visit, rdx_cuda_status(cudaStreamSynchronize((cudaStream_t)stream), "waiting for a stream"));
}
