/* The bench on a CUDA device. A case is computed on the CPU and on the device and compared byte by byte, every copy;
   then a graph of calls over rotated buffers is replayed nine times and the median counts: as many buffers as fill 512
   MB, 1 to 48, and at least 8 calls. The ceiling is the best of three plain reads of the same footprint, rotated alike,
   replayed between the runs of the case; where outputs are more than a hundredth of the input, each read fills as many
   bytes beside it. A share above 1.03 of it, where no cache holds the footprint, is measured again and then an error.
   Outputs are filled with the complement of what is right first, holes too: each byte must then be one or the other,
   and as many of them right as the elements have. */
#include "bench.h"
#include "gpu.h"

#include "../src/error.h"
#include "../src/plan/layout.h"
#include "../src/plugin.h"

#include <stdlib.h>
#include <string.h>

enum { REPLAYS = 9, MOST_COPIES = 48, LEAST_CALLS = 8, PAGE = 256, TRIES = 3 };
static const int64_t rotated_bytes = 512 << 20;
static const double limit = 1.03;

typedef struct Device {
    const RdxPluginTable *plugin;
    RdxBench *bench;
    int id, copies, calls;
    RdxProblem problem;
    RdxTensor tensor[RDX_CASE_TENSORS];
    int64_t bytes[RDX_CASE_TENSORS]; /* of one copy's storage */
    int64_t pitch[RDX_CASE_TENSORS]; /* from copy to copy */
    unsigned char *memory[RDX_CASE_TENSORS], *workspace;
    unsigned char *filled; /* by the reads: `written` bytes a copy, a multiple of 16 */
    int64_t written;
    unsigned char *plant; /* tests only: a wrong last byte of the output, which every call leaves there; NULL: none */
    RdxPlan *plan;
    int kernel; /* of the reads that are recorded */
    void *run, *read[RDX_PLUGIN_READS];
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
    int64_t filling = in > 0 ? (rotated_bytes + in - 1) / in : MOST_COPIES;
    d->copies = (int)(filling < MOST_COPIES ? filling : MOST_COPIES);
    d->calls = d->copies < LEAST_CALLS ? LEAST_CALLS : d->copies;
    for (int which = 0; which < task->tensors; which++) {
        int element = size_of(task, which);
        int64_t slip = (int64_t)((uintptr_t)storage_of(task, which) % 64);
        void *memory;
        d->bytes[which] = task->extent[which].count * element;
        d->pitch[which] = (d->bytes[which] + slip + 2 * PAGE) / PAGE * PAGE;
        RDX_TRY(rdx_gpu_take(d->id, &memory, (size_t)(d->copies * d->pitch[which])));
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
    RDX_TRY(rdx_gpu_take(d->id, &workspace, bytes));
    d->workspace = workspace;
    RDX_TRY(rdx_workspace_init(d->plan, workspace, NULL));
    return d->plugin->wait(NULL, d->id);
}

/* A copy's storage on the device. */
static unsigned char *place_of(const Device *d, int which, int copy)
{
    const RdxTask *task = &d->bench->task;
    return (unsigned char *)d->tensor[which].data + task->extent[which].low * size_of(task, which) +
           copy * d->pitch[which];
}

static RdxStatus call(const Device *d, int i, RdxStream stream)
{
    void *data[RDX_CASE_TENSORS];
    int copy = i % d->copies;
    for (int which = 0; which < RDX_CASE_TENSORS; which++)
        data[which] = (unsigned char *)d->tensor[which].data + copy * d->pitch[which];
    RDX_TRY(rdx_execute(d->plan, data[RDX_CASE_IN], data[RDX_CASE_OUT], d->problem.out2 ? data[RDX_CASE_OUT2] : NULL,
                        d->workspace, rdx_plan_workspace(d->plan), stream));
    if (!d->plant)
        return RDX_OK;
    return d->plugin->copy_queued(place_of(d, RDX_CASE_OUT, copy) + d->bytes[RDX_CASE_OUT] - 1, d->plant, 1, stream,
                                  d->id);
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
        RDX_TRY(d->plugin->read(d->kernel, d->memory[RDX_CASE_IN] + i % d->copies * d->pitch[RDX_CASE_IN],
                                (size_t)d->bytes[RDX_CASE_IN] / 16 * 16, d->filled + i % d->copies * d->written,
                                (size_t)d->written, stream, d->id));
    return RDX_OK;
}

/* Fills the outputs of every copy with the complement of what the CPU found, and runs each copy once. */
static RdxStatus run_copies(Device *d)
{
    RdxTask *task = &d->bench->task;
    for (int which = RDX_CASE_OUT; which < task->tensors; which++) {
        const unsigned char *right = storage_of(task, which);
        unsigned char *wrong = malloc((size_t)d->bytes[which] + 1);
        RDX_REQUIRE(wrong != NULL, RDX_ERR_MEMORY, "no memory for %lld bytes", (long long)d->bytes[which]);
        for (int64_t i = 0; i < d->bytes[which]; i++)
            wrong[i] = (unsigned char)~right[i];
        RdxStatus status = RDX_OK;
        for (int copy = 0; copy < d->copies && status == RDX_OK; copy++)
            status = d->plugin->copy(place_of(d, which, copy), wrong, (size_t)d->bytes[which], d->id);
        free(wrong);
        RDX_TRY(status);
    }
    for (int copy = 0; copy < d->copies; copy++)
        RDX_TRY(call(d, copy, NULL));
    return d->plugin->wait(NULL, d->id);
}

/* How many bytes are right; -1 if some byte is neither that nor its complement. */
static int64_t count_right(const unsigned char *got, const unsigned char *right, int64_t bytes)
{
    int64_t count = 0;
    for (int64_t i = 0; i < bytes; i++) {
        if (got[i] != right[i] && (got[i] ^ right[i]) != 0xff)
            return -1;
        count += got[i] == right[i];
    }
    return count;
}

/* Every output of every copy against the CPU's. */
static bool verify(const Device *d, char *error, size_t size)
{
    const RdxTask *task = &d->bench->task;
    for (int which = RDX_CASE_OUT; which < task->tensors; which++) {
        unsigned char *got = malloc((size_t)d->bytes[which] + 1);
        bool same = got != NULL;
        for (int copy = 0; same && copy < d->copies; copy++)
            same = d->plugin->copy(got, place_of(d, which, copy), (size_t)d->bytes[which], d->id) == RDX_OK &&
                   count_right(got, storage_of(task, which), d->bytes[which]) ==
                       task->extent[which].elements * size_of(task, which);
        free(got);
        if (!same) {
            snprintf(error, size, "output %d differs from the CPU's", which - 1);
            return false;
        }
    }
    return true;
}

static RdxStatus take_plant(Device *d)
{
    void *memory;
    RdxTask *task = &d->bench->task;
    if (d->bytes[RDX_CASE_OUT] == 0)
        return RDX_OK;
    unsigned char wrong = storage_of(task, RDX_CASE_OUT)[d->bytes[RDX_CASE_OUT] - 1] ^ 1;
    RDX_TRY(rdx_gpu_take(d->id, &memory, 1));
    d->plant = memory;
    return d->plugin->copy(d->plant, &wrong, 1, d->id);
}

typedef struct Times {
    double run[REPLAYS], read[RDX_PLUGIN_READS][REPLAYS];
} Times;

static RdxStatus make_recordings(Device *d, const RdxBenchRecord *record)
{
    double warm;
    void *filled = NULL;
    if (record->bytes_out > record->bytes_in / 100)
        d->written = (int64_t)record->bytes_out / 16 * 16;
    if (d->written > 0)
        RDX_TRY(rdx_gpu_take(d->id, &filled, (size_t)(d->copies * d->written)));
    d->filled = filled;
    RDX_TRY(d->plugin->record(&d->run, case_calls, d, d->id));
    RDX_TRY(d->plugin->replay(d->run, &warm));
    for (d->kernel = 0; d->kernel < RDX_PLUGIN_READS; d->kernel++) {
        RDX_TRY(d->plugin->record(&d->read[d->kernel], read_calls, d, d->id));
        RDX_TRY(d->plugin->replay(d->read[d->kernel], &warm));
    }
    return RDX_OK;
}

static RdxStatus replay(Device *d, Times *times)
{
    for (int i = 0; i < REPLAYS; i++) {
        RDX_TRY(d->plugin->replay(d->run, &times->run[i]));
        for (int kernel = 0; kernel < RDX_PLUGIN_READS; kernel++)
            RDX_TRY(d->plugin->replay(d->read[kernel], &times->read[kernel][i]));
    }
    return RDX_OK;
}

static void conclude(const Device *d, Times *times, RdxBenchRecord *record)
{
    static const char *const names[RDX_PLUGIN_READS] = {"64 KiB a block", "16 KiB a block", "blocks that stay"};
    double bytes = record->bytes_in + record->bytes_out, best = 0;
    for (int kernel = 0; kernel < RDX_PLUGIN_READS; kernel++) {
        double us = rdx_bench_median(times->read[kernel], REPLAYS) / d->calls;
        if (best == 0 || us < best) {
            best = us;
            record->read_kernel = names[kernel];
        }
    }
    record->us = rdx_bench_median(times->run, REPLAYS) / d->calls; /* sorts */
    record->us_min = times->run[0] / d->calls;
    record->us_max = times->run[REPLAYS - 1] / d->calls;
    record->gbps = bytes / record->us / 1e3;
    record->ceiling_gbps = (double)(d->bytes[RDX_CASE_IN] + d->written) / best / 1e3;
    record->fraction = record->ceiling_gbps > 0 ? record->gbps / record->ceiling_gbps : 0;
    record->passes = REPLAYS * d->calls;
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
    for (int kernel = 0; kernel < RDX_PLUGIN_READS; kernel++)
        d->plugin->forget(d->read[kernel]);
    unsigned char *memory[] = {
        d->memory[RDX_CASE_IN], d->memory[RDX_CASE_OUT], d->memory[RDX_CASE_OUT2], d->workspace, d->filled, d->plant};
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        if (memory[i])
            (void)!d->plugin->memory_give(memory[i], d->id);
    rdx_plan_destroy(d->plan);
}

/* From the buffers to results that can be verified. */
static RdxStatus set_up(Device *d, bool planted)
{
    RDX_TRY(rdx_bench_execute(d->bench, d->bench->plan, &d->bench->task.problem));
    RDX_TRY(rdx_plugin(&d->plugin));
    RDX_TRY(take_buffers(d));
    RDX_TRY(make_plan(d));
    RDX_TRY(planted ? take_plant(d) : RDX_OK);
    return run_copies(d);
}

static RdxStatus time_it(Device *d, RdxBenchRecord *record)
{
    RdxDeviceInfo info;
    Times times;
    RDX_TRY(d->plugin->device_info(d->id, &info));
    record->fits_cache = (double)d->copies * (record->bytes_in + record->bytes_out) <= 2 * (double)info.l2_bytes;
    RDX_TRY(make_recordings(d, record));
    for (int tries = 0; tries < TRIES && (tries == 0 || record->fraction > limit); tries++) {
        RDX_TRY(replay(d, &times));
        conclude(d, &times, record);
        if (record->fits_cache)
            break;
    }
    return RDX_OK;
}

static bool run_device(Device *d, bool planted, RdxBenchRecord *record, char *error, size_t size)
{
    RdxStatus status = set_up(d, planted);
    if (status == RDX_OK && !verify(d, error, size))
        return false;
    record->verified = status == RDX_OK;
    record->proof = RDX_BENCH_BY_CPU;
    if (status == RDX_OK)
        status = time_it(d, record);
    if (status != RDX_OK) {
        snprintf(error, size, "%s: %s", rdx_status_name(status), rdx_last_error());
        return false;
    }
    if (!verify(d, error, size)) /* nor did the replays do harm */
        return false;
    describe(d->plan, record->plan, sizeof record->plan);
    if (record->fits_cache || record->fraction <= limit)
        return true;
    snprintf(error, size,
             "%.0f%% of the speed of plain reads and writes (%.1f of %.1f GB/s, three times): not believable",
             100 * record->fraction, record->gbps, record->ceiling_gbps);
    return false;
}

static bool prepare(RdxBench *bench, const char *line, char *error, size_t size)
{
    RdxCase c;
    if (!rdx_case_parse(&c, line, error, size))
        return false;
    if (c.beta != 0) {
        snprintf(error, size, "beta reads what the call before has left: not timed on CUDA devices");
        return false;
    }
    RdxLauncher plant = bench->options.plant;
    bench->options.plant = NULL; /* here the CPU is what is right */
    bool good = rdx_bench_prepare(bench, &c, error, size);
    bench->options.plant = plant;
    return good;
}

bool rdx_bench_device(RdxBench *bench, int id, const char *name, const char *line, RdxBenchRecord *record, char *error,
                      size_t size)
{
    Device *d = calloc(1, sizeof *d);
    char sentence[768] = "out of memory";
    memset(record, 0, sizeof *record);
    snprintf(record->name, sizeof record->name, "%s", name);
    snprintf(record->line, sizeof record->line, "%s", line);
    bool good = d && prepare(bench, line, sentence, sizeof sentence);
    if (good) {
        d->bench = bench;
        d->id = id;
        record->bytes_in = 64.0 * (double)rdx_bench_lines(&bench->task);
        for (int which = RDX_CASE_OUT; which < bench->task.tensors; which++)
            record->bytes_out += (double)bench->task.extent[which].elements * size_of(&bench->task, which);
        good = run_device(d, bench->options.plant != NULL, record, sentence, sizeof sentence);
        release(d);
    }
    free(d);
    if (!good)
        snprintf(error, size, "%s: %s", line, sentence);
    return good;
}
