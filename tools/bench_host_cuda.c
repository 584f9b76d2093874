/* What a call costs the host on a CUDA device: rdx_execute of a plan, rdx_reduce through the warm cache, and a launch
   that does nothing, in nanoseconds. A batch is short and the device has nothing else to do, and it is waited for
   between batches, outside the clock: a call that found the queue full (1024 launches) would wait for the device and
   its time would be the device's. */
#include "bench.h"
#include "fuzz_device.h"
#include "gpu.h"

#include "../src/error.h"
#include "../src/plugin.h"

#include <stdlib.h>

enum { CALLS = 100, BATCHES = 101 };

typedef struct Host {
    const RdxPluginTable *plugin;
    RdxTask task;
    RdxMirror mirror;
    RdxStream stream;
    RdxPlan *plan;
    void *workspace;
    int id;
} Host;

static RdxStatus execute(Host *h)
{
    const RdxProblem *p = &h->mirror.problem;
    for (int i = 0; i < CALLS; i++)
        RDX_TRY(rdx_execute(h->plan, p->in->data, p->out->data, NULL, h->workspace, rdx_plan_workspace(h->plan),
                            h->stream));
    return RDX_OK;
}

static RdxStatus reduce(Host *h)
{
    for (int i = 0; i < CALLS; i++)
        RDX_TRY(rdx_reduce(&h->mirror.problem, h->stream));
    return RDX_OK;
}

static RdxStatus launch(Host *h)
{
    return h->plugin->launch_nothing(CALLS, h->stream, h->id);
}

/* The median over batches, in ns a call; the first batch warms up. */
static RdxStatus time_calls(Host *h, RdxStatus (*calls)(Host *h), double *ns)
{
    double batch[BATCHES];
    RDX_TRY(calls(h));
    for (int i = 0; i < BATCHES; i++) {
        RDX_TRY(h->plugin->wait(h->stream, h->id));
        double start = rdx_bench_now();
        RDX_TRY(calls(h));
        batch[i] = (rdx_bench_now() - start) / CALLS;
    }
    *ns = rdx_bench_median(batch, BATCHES);
    return h->plugin->wait(h->stream, h->id);
}

static RdxStatus measure(Host *h, RdxBenchSmall *small)
{
    RDX_TRY(rdx_plugin(&h->plugin));
    RDX_TRY(rdx_mirror_open(&h->mirror, &h->task, h->id));
    RDX_TRY(h->plugin->stream_take(&h->stream, h->id));
    RDX_TRY(rdx_plan_create(&h->plan, &h->mirror.problem));
    if (rdx_plan_workspace(h->plan) > 0) {
        RDX_TRY(rdx_gpu_take(h->id, &h->workspace, rdx_plan_workspace(h->plan)));
        RDX_TRY(rdx_workspace_init(h->plan, h->workspace, h->stream));
    }
    RDX_TRY(time_calls(h, execute, &small->execute_ns));
    RDX_TRY(time_calls(h, reduce, &small->reduce_ns));
    return time_calls(h, launch, &small->launch_ns);
}

static void release(Host *h)
{
    if (!h->plugin)
        return;
    if (h->stream) {
        (void)!h->plugin->wait(h->stream, h->id);
        (void)!h->plugin->stream_give(h->stream, h->id);
    }
    if (h->workspace)
        (void)!h->plugin->memory_give(h->workspace, h->id);
    rdx_plan_destroy(h->plan);
    rdx_mirror_close(&h->mirror);
}

bool rdx_bench_host_cuda(RdxBenchSmall *small, int id, char *error, size_t size)
{
    RdxCase c;
    Host *h = calloc(1, sizeof *h);
    snprintf(error, size, "out of memory");
    bool good = h && rdx_case_parse(&c, "sum:f32:16", error, size) && rdx_case_problem(&c, &h->task) == RDX_OK &&
                rdx_case_allocate(&h->task, RDX_CASE_PLAIN, error, size);
    if (good) {
        h->id = id;
        RdxStatus status = measure(h, small);
        good = status == RDX_OK;
        if (!good)
            snprintf(error, size, "%s: %s", rdx_status_name(status), rdx_last_error());
        release(h);
    }
    if (h)
        rdx_case_release(&h->task);
    free(h);
    return good;
}
