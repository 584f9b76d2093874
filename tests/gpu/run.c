/* A CASE on a device, and runs of its plans; see gpu.h. */
#include "gpu.h"

#include <stdio.h>

enum { PAGE = 256, CANARY = 0xc3, POISON = 0xff };

void gpu_case_open(GpuCase *c, const char *text, int id)
{
    char own[128];
    const char *less = gpu_emulated ? strchr(text, '|') : NULL;
    text = less ? less + 1 : text;
    snprintf(own, sizeof own, "%.*s", (int)strcspn(text, "|"), text);
    memset(c, 0, sizeof *c);
    c->id = id;
    task_open(&c->task, own);
    GPU_OK(rdx_reduce(&c->task.problem, NULL));
    for (int which = RDX_CASE_OUT; which < c->task.tensors; which++) {
        c->bytes[which] = task_output_bytes(&c->task, which);
        c->right[which] = malloc(c->bytes[which] + 1);
        ck_assert_ptr_nonnull(c->right[which]);
        memcpy(c->right[which], c->task.buffer[which].storage, c->bytes[which]);
    }
    GPU_OK(rdx_mirror_open(&c->mirror, &c->task, id));
}

void gpu_case_close(GpuCase *c)
{
    rdx_mirror_close(&c->mirror);
    for (int which = 0; which < RDX_CASE_TENSORS; which++)
        free(c->right[which]);
    rdx_case_release(&c->task);
}

static int choose(void *user, const RdxCandidate *candidates, int count, int chosen)
{
    int *wish = user, index = *wish;
    if (index == GPU_CHOSEN)
        return chosen;
    *wish = index < count && !candidates[index].refused ? index : -1;
    return *wish >= 0 ? index : chosen;
}

RdxPlan *gpu_case_plan(const GpuCase *c, int index)
{
    RdxPlan *plan = NULL;
    rdx_choose_hook(choose, &index);
    RdxStatus status = rdx_plan_create(&plan, &c->mirror.problem);
    rdx_choose_hook(NULL, NULL);
    DEMAND(status == RDX_OK, "rdx_plan_create: %s: %s", rdx_status_name(status), rdx_last_error());
    if (index == -1) {
        rdx_plan_destroy(plan);
        return NULL;
    }
    return plan;
}

/* ---- Runs ---- */

static RdxStatus spread(GpuRun *run, unsigned char *to, int byte, size_t bytes)
{
    memset(run->host, byte, bytes);
    return gpu->copy(to, run->host, bytes, run->c->id);
}

RdxStatus gpu_run_poison(GpuRun *run)
{
    RdxStatus status = RDX_OK;
    for (int which = RDX_CASE_OUT; which < run->c->task.tensors && status == RDX_OK; which++)
        status = spread(run, run->out[which], POISON, run->c->bytes[which] + 2 * PAGE);
    return status;
}

RdxStatus gpu_run_open(GpuRun *run, const GpuCase *c, const RdxPlan *plan)
{
    size_t most = rdx_plan_workspace(plan);
    RdxStatus status = RDX_OK;
    void *memory = NULL;
    memset(run, 0, sizeof *run);
    run->c = c;
    run->workspace_bytes = most;
    for (int which = RDX_CASE_OUT; which < c->task.tensors && status == RDX_OK; which++) {
        status = gpu->memory_take(&memory, c->bytes[which] + 2 * PAGE, c->id);
        run->out[which] = status == RDX_OK ? memory : NULL;
        most = c->bytes[which] > most ? c->bytes[which] : most;
    }
    run->host = malloc(most + 2 * PAGE);
    if (status == RDX_OK)
        status = run->host ? gpu->memory_take(&memory, run->workspace_bytes + 2 * PAGE, c->id) : RDX_ERR_MEMORY;
    if (status != RDX_OK)
        return status;
    run->workspace = memory;
    status = spread(run, run->workspace, CANARY, run->workspace_bytes + 2 * PAGE);
    if (status == RDX_OK && run->workspace_bytes)
        status = rdx_workspace_init(plan, run->workspace + PAGE, NULL);
    if (status == RDX_OK)
        status = gpu->wait(NULL, c->id);
    return status == RDX_OK ? gpu_run_poison(run) : status;
}

void gpu_run_close(GpuRun *run)
{
    for (int which = RDX_CASE_OUT; which < RDX_CASE_TENSORS; which++)
        if (run->out[which] && gpu->memory_give(run->out[which], run->c->id) != RDX_OK)
            fprintf(stderr, "%s\n", rdx_last_error());
    if (run->workspace && gpu->memory_give(run->workspace, run->c->id) != RDX_OK)
        fprintf(stderr, "%s\n", rdx_last_error());
    free(run->host);
    memset(run, 0, sizeof *run);
}

/* The address that stands for data of a row-major output. */
static void *data_of(const GpuRun *run, int which)
{
    return run->out[which] ? run->out[which] + PAGE : NULL;
}

RdxStatus gpu_run_execute(GpuRun *run, const RdxPlan *plan, RdxStream stream)
{
    return rdx_execute(plan, run->c->mirror.problem.in->data, data_of(run, RDX_CASE_OUT), data_of(run, RDX_CASE_OUT2),
                       run->workspace + PAGE, run->workspace_bytes, stream);
}

RdxStatus gpu_run_reduce(GpuRun *run, RdxStream stream)
{
    RdxProblem problem = run->c->mirror.problem;
    RdxTensor out = *problem.out, out2;
    out.data = data_of(run, RDX_CASE_OUT);
    problem.out = &out;
    if (problem.out2) {
        out2 = *problem.out2;
        out2.data = data_of(run, RDX_CASE_OUT2);
        problem.out2 = &out2;
    }
    return rdx_reduce(&problem, stream);
}

static bool all_of(const unsigned char *at, int byte, size_t bytes)
{
    while (bytes && *at == byte) {
        at++;
        bytes--;
    }
    return bytes == 0;
}

static bool fetch(GpuRun *run, const unsigned char *from, size_t bytes)
{
    if (gpu->copy(run->host, from, bytes, run->c->id) == RDX_OK)
        return true;
    snprintf(run->wrong, sizeof run->wrong, "%s", rdx_last_error());
    return false;
}

static bool workspace_right(GpuRun *run)
{
    size_t bytes = run->workspace_bytes, head = bytes < RDX_WORKSPACE_HEAD ? bytes : RDX_WORKSPACE_HEAD;
    if (!fetch(run, run->workspace, bytes + 2 * PAGE))
        return false;
    if (!all_of(run->host, CANARY, PAGE) || !all_of(run->host + PAGE + bytes, CANARY, PAGE))
        snprintf(run->wrong, sizeof run->wrong, "bytes beside the workspace were written");
    else if (!all_of(run->host + PAGE, 0, head))
        snprintf(run->wrong, sizeof run->wrong, "the workspace's head is not zero again");
    else
        return true;
    return false;
}

bool gpu_run_right(GpuRun *run, RdxStream stream)
{
    char text[160];
    rdx_case_print(&run->c->task.c, text, sizeof text);
    if (gpu->wait(stream, run->c->id) != RDX_OK) {
        snprintf(run->wrong, sizeof run->wrong, "%s", rdx_last_error());
        return false;
    }
    for (int which = RDX_CASE_OUT; which < run->c->task.tensors; which++) {
        size_t bytes = run->c->bytes[which], at = 0;
        if (!fetch(run, run->out[which], bytes + 2 * PAGE))
            return false;
        const unsigned char *got = run->host + PAGE, *right = run->c->right[which];
        if (!all_of(run->host, POISON, PAGE) || !all_of(got + bytes, POISON, PAGE)) {
            snprintf(run->wrong, sizeof run->wrong, "%s: bytes beside output %d were written", text, which - 1);
            return false;
        }
        while (at < bytes && got[at] == right[at])
            at++;
        if (at < bytes) {
            snprintf(run->wrong, sizeof run->wrong, "%s: output %d differs from the CPU's at byte %zu of %zu", text,
                     which - 1, at, bytes);
            return false;
        }
    }
    return workspace_right(run);
}

bool gpu_run_untouched(GpuRun *run)
{
    bool untouched = gpu->wait(NULL, run->c->id) == RDX_OK;
    for (int which = RDX_CASE_OUT; which < run->c->task.tensors && untouched; which++) {
        untouched = fetch(run, run->out[which], run->c->bytes[which] + 2 * PAGE) &&
                    all_of(run->host, POISON, run->c->bytes[which] + 2 * PAGE);
    }
    return untouched;
}
