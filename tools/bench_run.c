/* One CASE from text to record: allocate, plan, verify, time. */
#include "bench.h"

#include "../src/kernels/cpu/run.h"

#include <stdlib.h>
#include <string.h>

void rdx_bench_start(RdxBench *bench, const RdxBenchOptions *options)
{
    memset(bench, 0, sizeof *bench);
    bench->options = *options;
}

void rdx_bench_finish(RdxBench *bench)
{
    for (int which = 0; which < RDX_CASE_TENSORS; which++) {
        rdx_bench_release(&bench->arena[which]);
        rdx_bench_release(&bench->right[which]);
    }
    rdx_bench_release(&bench->columns);
    rdx_plan_destroy(bench->plan);
    free(bench->workspace);
    memset(bench, 0, sizeof *bench);
}

enum { ALIGN = 64 };

static int size_of(const RdxTask *task, int which)
{
    return rdx_data_type(rdx_data_number(task->tensor[which].dtype))->size;
}

static int64_t slip_of(const RdxTask *task, int which)
{
    int64_t slip = which == RDX_CASE_IN ? task->extent[which].low * size_of(task, which) % ALIGN : 0;
    return slip < 0 ? slip + ALIGN : slip;
}

RdxStatus rdx_bench_execute(RdxBench *bench, const RdxPlan *plan, const RdxProblem *problem)
{
    size_t bytes = rdx_plan_workspace(plan);
    if (bytes > bench->workspace_bytes || bench->workspace == NULL) {
        free(bench->workspace);
        bench->workspace_bytes = (bytes + 4096) / 4096 * 4096;
        bench->workspace = aligned_alloc(4096, bench->workspace_bytes);
        if (bench->workspace == NULL) {
            bench->workspace_bytes = 0;
            return RDX_ERR_MEMORY;
        }
    }
    return rdx_execute(plan, problem->in->data, problem->out->data, problem->out2 ? problem->out2->data : NULL,
                       bench->workspace, bench->workspace_bytes, NULL);
}

bool rdx_bench_prepare(RdxBench *bench, const RdxCase *c, char *error, size_t size)
{
    RdxTask *task = &bench->task;
    rdx_plan_destroy(bench->plan);
    bench->plan = NULL;
    RdxStatus status = rdx_case_problem(c, task);
    if (status == RDX_OK && task->problem.threads == 0)
        task->problem.threads = bench->options.threads;
    for (int which = 0; which < task->tensors && status == RDX_OK; which++) {
        const RdxCaseExtent *extent = &task->extent[which];
        int element = size_of(task, which);
        unsigned char *storage = NULL;
        if (extent->count >= 0 && which == RDX_CASE_IN)
            storage =
                rdx_bench_input(&bench->arena[which], c->dtype, c->data, c->seed, extent->count, slip_of(task, which));
        else if (extent->count >= 0 && extent->count <= INT64_MAX / 4 / element)
            storage = rdx_bench_room(&bench->arena[which], extent->count * element, 0);
        if (storage == NULL) {
            snprintf(error, size, "no memory for %lld elements of %d bytes", (long long)extent->count, element);
            return false;
        }
        task->tensor[which].data = storage - extent->low * element;
    }
    if (status == RDX_OK)
        status = rdx_plan_create(&bench->plan, &task->problem);
    if (status != RDX_OK) {
        snprintf(error, size, "%s: %s", rdx_status_name(status), rdx_last_error());
        return false;
    }
    if (bench->options.plant)
        bench->plan->kernel.launch = bench->options.plant;
    return true;
}

RdxStatus rdx_bench_planted(const RdxLaunch *launch)
{
    RdxStatus status = rdx_cpu_launch(launch);
    const RdxSpace *space = launch->space;
    unsigned char *last = launch->out + space->out_offset;
    for (int d = 0; d < space->keep_rank; d++)
        last += (space->keep[d].extent - 1) * space->keep[d].out;
    for (int d = 0; d < space->copy_rank; d++)
        last += (space->copy[d].extent - 1) * space->copy[d].out;
    if (space->keep_count > 0 && space->copy_count > 0)
        *last ^= 1;
    return status;
}

/* The plan in one line: what the record shows. */
static void describe(const RdxPlan *plan, char *text, size_t size)
{
    const RdxConfig *config = &plan->config;
    int length = snprintf(text, size, "%s", rdx_strategies[config->strategy].name);
    if (config->variant)
        length += snprintf(text + length, size - (size_t)length, " form %d", config->variant);
    if (config->split > 1)
        length += snprintf(text + length, size - (size_t)length, " split %lld", (long long)config->split);
    if (config->residues > 1)
        length += snprintf(text + length, size - (size_t)length, " residues %d", config->residues);
    snprintf(text + length, size - (size_t)length, " threads %d", config->threads);
}

static bool run(RdxBench *bench, const char *line, RdxBenchRecord *record, char *error, size_t size)
{
    RdxCase c;
    if (!rdx_case_parse(&c, line, error, size) || !rdx_bench_prepare(bench, &c, error, size))
        return false;
    const RdxTask *task = &bench->task;
    int64_t lines = rdx_bench_lines(task);
    if (lines < 0) {
        snprintf(error, size, "no memory to count the lines of the input");
        return false;
    }
    record->bytes_in = 64.0 * (double)lines;
    for (int which = RDX_CASE_OUT; which < task->tensors; which++)
        record->bytes_out +=
            (double)task->extent[which].elements * rdx_data_type(rdx_data_number(task->tensor[which].dtype))->size;
    record->threads = bench->plan->config.threads;
    describe(bench->plan, record->plan, sizeof record->plan);
    return rdx_bench_verify(bench, record, error, size) && rdx_bench_time(bench, record, error, size);
}

bool rdx_bench_run(RdxBench *bench, const char *name, const char *line, RdxBenchRecord *record, char *error,
                   size_t size)
{
    char sentence[768];
    memset(record, 0, sizeof *record);
    snprintf(record->name, sizeof record->name, "%s", name);
    snprintf(record->line, sizeof record->line, "%s", line);
    bool good = run(bench, line, record, sentence, sizeof sentence);
    if (!good)
        snprintf(error, size, "%s: %s", line, sentence);
    return good;
}
