/* The bench on a CUDA device. A case is computed on the CPU and on the device and compared byte by byte; then a graph of calls over
   rotated buffers is replayed nine times and the median counts: as many buffers as fill 512 MB, 1 to 48, and at least 8 calls.
   The ceiling is a plain read of the same footprint, rotated alike, replayed between the runs of the case. */
#include "bench.h"

#include "../src/plan/layout.h"
#include "../src/plugin.h"

#include <stdlib.h>
#include <string.h>

enum { REPLAYS = 9, MOST_COPIES = 48, LEAST_CALLS = 8, PAGE = 256 };
static const int64_t rotated_bytes = 512 << 20;

typedef struct Device {
    const RdxPluginTable *plugin;
    RdxBench *bench;
    int id, copies, calls;
    RdxProblem problem;
    RdxTensor tensor[RDX_CASE_TENSORS];
    int64_t bytes[RDX_CASE_TENSORS]; /* of one copy's storage */
    int64_t pitch[RDX_CASE_TENSORS]; /* from copy to copy */
    unsigned char *memory[RDX_CASE_TENSORS], *workspace;
    RdxPlan *plan;
    void *run, *read;
} Device;

static int size_of(const RdxTask *task, int which)
{
    return rdx_data_type(rdx_data_number(task->tensor[which].dtype))->size;
}

static unsigned char *storage_of(const RdxTask *task, int which)
{
    return (unsigned char *)task->tensor[which].data + task->extent[which].low * size_of(task, which);
}

/* Copies of input and outputs on the device, aligned as on the host, modulo 64. */
static RdxStatus take_buffers(Device *d)
{
    const RdxTask *task = &d->bench->task;
    int64_t in = task->extent[RDX_CASE_IN].count * size_of(task, RDX_CASE_IN);
    d->copies = (int)(in > 0 && rotated_bytes / in < MOST_COPIES ? rotated_bytes / in : MOST_COPIES);
    d->copies = d->copies < 1 ? 1 : d->copies;
    d->calls = d->copies < LEAST_CALLS ? LEAST_CALLS : d->copies;
    for (int which = 0; which < task->tensors; which++) {
        int element = size_of(task, which);
        int64_t slip = (int64_t)((uintptr_t)storage_of(task, which) % 64);
        void *memory;
        d->bytes[which] = task->extent[which].count * element;
        d->pitch[which] = (d->bytes[which] + slip + 2 * PAGE) / PAGE * PAGE;
        RDX_TRY(d->plugin->memory_take(&memory, (size_t)(d->copies * d->pitch[which]), d->id));
        d->memory[which] = memory;
        d->tensor[which] = task->tensor[which];
        d->tensor[which].device = (RdxDevice){2, d->id};
        d->tensor[which].data = d->memory[which] + slip - task->extent[which].low * element;
        for (int copy = 0; which == RDX_CASE_IN && copy < d->copies; copy++)
            RDX_TRY(d->plugin->copy(d->memory[which] + copy * d->pitch[which] + slip, storage_of(task, which),
                                    (size_t)d->bytes[which], d->id));
    }
    d->problem = task->problem;
    d->problem.in = &d->tensor[RDX_CASE_IN];
    d->problem.out = &d->tensor[RDX_CASE_OUT];
    d->problem.out2 = task->problem.out2 ? &d->tensor[RDX_CASE_OUT2] : NULL;
    return RDX_OK;
}

static RdxStatus make_plan(Device *d)
{
    void *workspace = NULL;
    RDX_TRY(rdx_plan_create(&d->plan, &d->problem));
    size_t bytes = rdx_plan_workspace(d->plan);
    if (bytes == 0)
        return RDX_OK;
    RDX_TRY(d->plugin->memory_take(&workspace, bytes, d->id));
    d->workspace = workspace;
    RDX_TRY(rdx_workspace_init(d->plan, workspace, NULL));
    return d->plugin->wait(NULL, d->id);
}

static RdxStatus call(const Device *d, int i, RdxStream stream)
{
    void *data[RDX_CASE_TENSORS];
    for (int which = 0; which < RDX_CASE_TENSORS; which++)
        data[which] = (unsigned char *)d->tensor[which].data + i % d->copies * d->pitch[which];
    return rdx_execute(d->plan, data[RDX_CASE_IN], data[RDX_CASE_OUT], d->problem.out2 ? data[RDX_CASE_OUT2] : NULL,
                       d->workspace, rdx_plan_workspace(d->plan), stream);
}

static RdxStatus case_calls(void *context, RdxStream stream)
{
    const Device *d = context;
    for (int i = 0; i < d->calls; i++)
        RDX_TRY(call(d, i, stream));
    return RDX_OK;
}

static RdxStatus read_calls(void *context, RdxStream stream)
{
    const Device *d = context;
    for (int i = 0; i < d->calls; i++)
        RDX_TRY(d->plugin->read(0, d->memory[RDX_CASE_IN] + i % d->copies * d->pitch[RDX_CASE_IN],
                                (size_t)d->bytes[RDX_CASE_IN] / 16 * 16, stream, d->id));
    return RDX_OK;
}

/* Outputs of the CPU against those of the device's first and last copy. */
static bool verify(Device *d, char *error, size_t size)
{
    RdxTask *task = &d->bench->task;
    for (int which = RDX_CASE_OUT; which < task->tensors; which++) {
        const unsigned char *right = storage_of(task, which);
        unsigned char *got = malloc((size_t)d->bytes[which] + 1);
        bool same = got != NULL && task->extent[which].count == task->extent[which].elements;
        for (int copy = 0; same && copy<d->copies; copy += d->copies> 1 ? d->copies - 1 : 1) {
            const unsigned char *from = (unsigned char *)d->tensor[which].data +
                                        task->extent[which].low * size_of(task, which) + copy * d->pitch[which];
            same = d->plugin->copy(got, from, (size_t)d->bytes[which], d->id) == RDX_OK &&
                   memcmp(got, right, (size_t)d->bytes[which]) == 0;
        }
        free(got);
        if (!same) {
            snprintf(error, size, "output %d differs from the CPU's", which - 1);
            return false;
        }
    }
    return true;
}

static RdxStatus measure(Device *d, double *run, double *read)
{
    double warm;
    RDX_TRY(d->plugin->record(&d->run, case_calls, d, d->id));
    RDX_TRY(d->plugin->record(&d->read, read_calls, d, d->id));
    RDX_TRY(d->plugin->replay(d->run, &warm));
    RDX_TRY(d->plugin->replay(d->read, &warm));
    for (int i = 0; i < REPLAYS; i++) {
        RDX_TRY(d->plugin->replay(d->run, &run[i]));
        RDX_TRY(d->plugin->replay(d->read, &read[i]));
    }
    return RDX_OK;
}

static void describe(const RdxPlan *plan, char *text, size_t size)
{
    const RdxConfig *c = &plan->config;
    snprintf(text, size, "%s/%s split %lld residues %d", rdx_strategies[c->strategy].name, rdx_form_name(c->variant),
             (long long)c->split, c->residues);
}

static void release(Device *d)
{
    if (!d->plugin)
        return;
    d->plugin->forget(d->run);
    d->plugin->forget(d->read);
    for (int which = 0; which < RDX_CASE_TENSORS; which++)
        if (d->memory[which])
            (void)!d->plugin->memory_give(d->memory[which], d->id);
    if (d->workspace)
        (void)!d->plugin->memory_give(d->workspace, d->id);
    rdx_plan_destroy(d->plan);
}

static bool run_device(Device *d, RdxBenchRecord *record, char *error, size_t size)
{
    double run[REPLAYS], read[REPLAYS];
    const RdxTask *task = &d->bench->task;
    RdxStatus status = rdx_bench_execute(d->bench, d->bench->plan, &task->problem);
    if (status == RDX_OK)
        status = rdx_plugin(&d->plugin);
    if (status == RDX_OK)
        status = take_buffers(d);
    if (status == RDX_OK)
        status = make_plan(d);
    if (status == RDX_OK)
        status = measure(d, run, read);
    if (status != RDX_OK) {
        snprintf(error, size, "%s: %s", rdx_status_name(status), rdx_last_error());
        return false;
    }
    if (!verify(d, error, size))
        return false;
    describe(d->plan, record->plan, sizeof record->plan);
    double bytes = record->bytes_in + record->bytes_out;
    record->us = rdx_bench_median(run, REPLAYS) / d->calls;
    record->us_min = run[0] / d->calls;
    record->us_max = run[REPLAYS - 1] / d->calls;
    record->gbps = bytes / record->us / 1e3;
    record->ceiling_gbps = (double)d->bytes[RDX_CASE_IN] / (rdx_bench_median(read, REPLAYS) / d->calls) / 1e3;
    record->fraction = record->gbps / record->ceiling_gbps;
    record->read_kernel = "plain";
    record->passes = REPLAYS * d->calls;
    record->verified = true;
    record->proof = RDX_BENCH_BY_CPU;
    return true;
}

bool rdx_bench_device(RdxBench *bench, int id, const char *name, const char *line, RdxBenchRecord *record, char *error,
                      size_t size)
{
    Device *d = calloc(1, sizeof *d);
    RdxCase c;
    char sentence[768] = "out of memory";
    memset(record, 0, sizeof *record);
    snprintf(record->name, sizeof record->name, "%s", name);
    snprintf(record->line, sizeof record->line, "%s", line);
    bool good = d && rdx_case_parse(&c, line, sentence, sizeof sentence) &&
                rdx_bench_prepare(bench, &c, sentence, sizeof sentence);
    if (good) {
        d->bench = bench;
        d->id = id;
        record->bytes_in = 64.0 * (double)rdx_bench_lines(&bench->task);
        for (int which = RDX_CASE_OUT; which < bench->task.tensors; which++)
            record->bytes_out += (double)bench->task.extent[which].elements * size_of(&bench->task, which);
        good = run_device(d, record, sentence, sizeof sentence);
        release(d);
    }
    free(d);
    if (!good)
        snprintf(error, size, "%s: %s", line, sentence);
    return good;
}
