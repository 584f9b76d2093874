/* What the memory does not decide: the cost of a call, and a sum that never leaves the second cache. */
#include "bench.h"

#include <stdlib.h>

enum { CALLS = 100000, BATCHES = 15, L2_BYTES = 262144, L2_PASSES = 400, L2_BATCHES = 41 };

static bool say(RdxStatus status, char *error, size_t size)
{
    snprintf(error, size, "%s: %s", rdx_status_name(status), rdx_last_error());
    return false;
}

bool rdx_bench_host(RdxBenchSmall *small, char *error, size_t size)
{
    RdxCase c;
    RdxTask *task = calloc(1, sizeof *task);
    RdxPlan *plan = NULL;
    double execute[BATCHES], reduce[BATCHES];
    bool good = task && rdx_case_parse(&c, "sum:f32:16", error, size) && rdx_case_problem(&c, task) == RDX_OK &&
                rdx_case_allocate(task, RDX_CASE_PLAIN, error, size);
    RdxStatus status = good ? rdx_plan_create(&plan, &task->problem) : RDX_ERR_MEMORY;
    if (status == RDX_OK)
        status = rdx_reduce(&task->problem, NULL); /* fills the cache */
    for (int batch = 0; batch < BATCHES && status == RDX_OK; batch++) {
        const void *in = task->tensor[RDX_CASE_IN].data;
        void *out = task->tensor[RDX_CASE_OUT].data;
        double start = rdx_bench_now();
        for (int i = 0; i < CALLS && status == RDX_OK; i++)
            status = rdx_execute(plan, in, out, NULL, NULL, 0, NULL);
        double middle = rdx_bench_now();
        for (int i = 0; i < CALLS && status == RDX_OK; i++)
            status = rdx_reduce(&task->problem, NULL);
        execute[batch] = (middle - start) / CALLS;
        reduce[batch] = (rdx_bench_now() - middle) / CALLS;
    }
    rdx_plan_destroy(plan);
    if (task)
        rdx_case_release(task);
    free(task);
    if (status != RDX_OK)
        return say(status, error, size);
    small->execute_ns = rdx_bench_median(execute, BATCHES);
    small->reduce_ns = rdx_bench_median(reduce, BATCHES);
    return true;
}

bool rdx_bench_l2(RdxBenchSmall *small, char *error, size_t size)
{
    RdxCase c;
    RdxTask *task = calloc(1, sizeof *task);
    RdxPlan *plan = NULL;
    double run[L2_BATCHES], read[RDX_BENCH_READS][L2_BATCHES];
    bool good = task && rdx_case_parse(&c, "sum:f32:65536:threads=1", error, size) &&
                rdx_case_problem(&c, task) == RDX_OK && rdx_case_allocate(task, RDX_CASE_PLAIN, error, size);
    RdxStatus status = good ? rdx_plan_create(&plan, &task->problem) : RDX_ERR_MEMORY;
    size_t bytes = plan ? rdx_plan_workspace(plan) : 0;
    void *workspace = malloc(bytes + 1);
    if (workspace == NULL)
        status = RDX_ERR_MEMORY;
    for (int batch = 0; batch < L2_BATCHES && status == RDX_OK; batch++) {
        double start = rdx_bench_now();
        for (int i = 0; i < L2_PASSES && status == RDX_OK; i++)
            status = rdx_execute(plan, task->tensor[RDX_CASE_IN].data, task->tensor[RDX_CASE_OUT].data, NULL, workspace,
                                 bytes, NULL);
        run[batch] = (rdx_bench_now() - start) / L2_PASSES;
        for (int kernel = 0; kernel < RDX_BENCH_READS; kernel++) {
            start = rdx_bench_now();
            for (int i = 0; i < L2_PASSES; i++)
                rdx_bench_read(kernel, 1, task->tensor[RDX_CASE_IN].data, L2_BYTES);
            read[kernel][batch] = (rdx_bench_now() - start) / L2_PASSES;
        }
    }
    free(workspace);
    rdx_plan_destroy(plan);
    if (task)
        rdx_case_release(task);
    free(task);
    if (status != RDX_OK)
        return say(status, error, size);
    small->l2_us = rdx_bench_median(run, L2_BATCHES) / 1e3;
    small->l2_gbps = L2_BYTES / (1e3 * small->l2_us);
    small->l2_ceiling_gbps = 0;
    for (int kernel = 0; kernel < RDX_BENCH_READS; kernel++) {
        double gbps = L2_BYTES / rdx_bench_median(read[kernel], L2_BATCHES);
        small->l2_ceiling_gbps = gbps > small->l2_ceiling_gbps ? gbps : small->l2_ceiling_gbps;
    }
    return true;
}
