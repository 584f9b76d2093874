/* Every call into CUDA fails once: the k-th of a plan's making, of an execution, of rdx_reduce, for k = 1, 2, ... until
   none is left. Each time a status with CUDA's name in the sentence, outputs untouched, the current device as it was,
   nothing leaked, and the next call works. Errors that stay: of the caller's, of the whole device. */
#include "gpu.h"

#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <sys.h>
#include <sys/wait.h>

extern char **environ;

static GpuCase c;

static const char *const lines[] = {GPU_SPLIT_SUM, "sum:f32:300x5000/1|sum:f32:30x5000/1",
                                    "var:f32:5000x40/0:out2=1|var:f32:2000x40/0:out2=1"};
static const struct {
    int error;
    RdxStatus status;
    const char *name;
} errors[] = {{719, RDX_ERR_CUDA, "cudaErrorLaunchFailure"}, {2, RDX_ERR_DEVICE_MEMORY, "cudaErrorMemoryAllocation"}};

enum { ERRORS = 2, MOST_CALLS = 200 };

typedef enum Step { PLAN, EXECUTE, REDUCE, CACHED, INIT, STEPS } Step;

typedef struct Trial {
    Step step;
    GpuRun *run;
    const RdxPlan *plan;
    RdxPlan *made;
} Trial;

static RdxStatus go(Trial *trial)
{
    switch (trial->step) {
    case PLAN:
        return rdx_plan_create(&trial->made, &c.mirror.problem);
    case EXECUTE:
        return gpu_run_execute(trial->run, trial->plan, NULL);
    case INIT:
        return rdx_workspace_init(trial->plan, trial->run->workspace + 256, NULL);
    default:
        return gpu_run_reduce(trial->run, NULL);
    }
}

/* Of a watch: calls of `name`, the failed one (0: none) not counted. */
static int64_t made(const char *name, int64_t failed)
{
    int64_t count = 0;
    for (int64_t k = 1; k <= gpu->calls(); k++)
        count += k != failed && strcmp(gpu->call(k), name) == 0;
    return count;
}

/* From a cold cache (REDUCE), from a warm one (CACHED). True once there was no k-th call. */
static bool fail_call(Trial *trial, int64_t k, int e, int64_t launches)
{
    int before, after;
    const char *failed = NULL;
    GPU_OK(gpu_run_poison(trial->run));
    rdx_shutdown();
    if (trial->step == CACHED) {
        GPU_OK(go(trial));
        GPU_OK(gpu->wait(NULL, 0));
        GPU_OK(gpu_run_poison(trial->run));
    }
    GPU_OK(gpu->current_device(&before));
    trial->made = NULL;
    gpu->watch(k, 1, errors[e].error);
    RdxStatus status = go(trial);
    bool clean = gpu->calls() < k;
    failed = gpu->call(k);
    if (clean) {
        gpu->unwatch();
        DEMAND(status == RDX_OK, "step %d: %s without a fault: %s", trial->step, rdx_status_name(status),
               rdx_last_error());
    } else {
        int64_t launched = made("cudaLaunchKernel", k);
        DEMAND(status == errors[e].status && strstr(rdx_last_error(), errors[e].name),
               "step %d, call %lld (%s): %s: %s", trial->step, (long long)k, failed, rdx_status_name(status),
               rdx_last_error());
        DEMAND(trial->made == NULL, "a plan was made all the same");
        rdx_shutdown();
        int64_t kept = made("cudaMalloc", k) - made("cudaFree", 0);
        bool had = trial->step == CACHED && rdx_plan_workspace(trial->plan) > 0;
        gpu->unwatch();
        DEMAND(kept == -had, "step %d, call %lld (%s): memory is left", trial->step, (long long)k, failed);
        DEMAND(launched >= launches || gpu_run_untouched(trial->run), "step %d, call %lld (%s): the output was written",
               trial->step, (long long)k, failed);
    }
    GPU_OK(gpu->current_device(&after));
    DEMAND(before == after, "step %d, call %lld: device %d was current, and is %d", trial->step, (long long)k, before,
           after);
    rdx_plan_destroy(trial->made);
    if (trial->step == EXECUTE || trial->step == INIT) /* as the manual asks after a CUDA error */
        GPU_OK(rdx_workspace_init(trial->plan, trial->run->workspace + 256, NULL));
    GPU_OK(gpu_run_poison(trial->run));
    GPU_OK(gpu_run_execute(trial->run, trial->plan, NULL));
    GPU_RIGHT(trial->run, NULL);
    GPU_OK(gpu_run_poison(trial->run));
    GPU_OK(gpu_run_reduce(trial->run, NULL));
    GPU_RIGHT(trial->run, NULL);
    return clean;
}

START_TEST(every_call)
{
    for (size_t line = 0; line < sizeof lines / sizeof lines[0]; line++) {
        GpuRun run;
        gpu_case_open(&c, lines[line], 0);
        RdxPlan *plan = gpu_case_plan(&c, GPU_CHOSEN);
        GPU_OK(gpu_run_open(&run, &c, plan));
        gpu->watch(0, 0, 0);
        GPU_OK(gpu_run_execute(&run, plan, NULL));
        gpu->unwatch();
        int64_t launches = made("cudaLaunchKernel", 0);
        for (int step = 0; step < STEPS; step++)
            for (int e = 0; e < ERRORS; e++) {
                Trial trial = {.step = (Step)step, .run = &run, .plan = plan};
                int64_t k = 1;
                while (!fail_call(&trial, k, e, launches)) {
                    k++;
                    ck_assert_int_lt(k, MOST_CALLS);
                }
                ck_assert_msg(k > 1 || (step == INIT && rdx_plan_workspace(plan) == 0), "step %d made no call", step);
            }
        gpu_run_close(&run);
        rdx_plan_destroy(plan);
        gpu_case_close(&c);
    }
}
END_TEST

/* The host's allocations on the way to a CUDA result fail as well. */
START_TEST(every_allocation)
{
    GpuRun run;
    bool clean = false;
    gpu_case_open(&c, GPU_SPLIT_SUM, 0);
    GPU_OK(gpu_run_open(&run, &c, NULL));
    int failed = 0;
    for (int k = 1; !clean; k++) {
        ck_assert_int_lt(k, MOST_CALLS);
        rdx_shutdown();
        GPU_OK(gpu_run_poison(&run));
        rdx_sys_fail_at(k);
        RdxStatus status = gpu_run_reduce(&run, NULL);
        clean = rdx_sys_calls() < k;
        rdx_sys_fail_at(0);
        ck_assert_msg(status == RDX_OK || (status == RDX_ERR_MEMORY && !clean), "%d: %s", k, rdx_status_name(status));
        if (status != RDX_OK)
            DEMAND(gpu_run_untouched(&run), "allocation %d failed and the output was written", k);
        failed += status != RDX_OK;
        GPU_OK(gpu_run_reduce(&run, NULL));
        GPU_RIGHT(&run, NULL);
    }
    ck_assert_int_ge(failed, 2); /* the plan's, the workspace's */
    gpu_run_close(&run);
    gpu_case_close(&c);
}
END_TEST

START_TEST(out_of_memory)
{
    GpuRun run;
    gpu_case_open(&c, GPU_SPLIT_SUM, 0);
    GPU_OK(gpu_run_open(&run, &c, NULL));
    rdx_shutdown();
    gpu->watch(0, 0, 0);
    GPU_OK(gpu_run_reduce(&run, NULL));
    gpu->unwatch();
    int64_t k = 1;
    while (gpu->call(k) && strcmp(gpu->call(k), "cudaMalloc") != 0)
        k++;
    ck_assert_msg(gpu->call(k) != NULL, "rdx_reduce has allocated no workspace");
    GPU_OK(gpu->wait(NULL, 0));
    GPU_OK(gpu_run_poison(&run));
    rdx_shutdown();
    gpu->watch(k, 1, 2);
    RdxStatus status = gpu_run_reduce(&run, NULL);
    gpu->unwatch();
    ck_assert_msg(status == RDX_ERR_DEVICE_MEMORY && strstr(rdx_last_error(), "workspace"), "%s: %s",
                  rdx_status_name(status), rdx_last_error());
    DEMAND(gpu_run_untouched(&run), "the output was written");
    GPU_OK(gpu_run_reduce(&run, NULL));
    GPU_RIGHT(&run, NULL);
    gpu_run_close(&run);
    gpu_case_close(&c);
}
END_TEST

/* ---- An error of the caller's that nobody has asked for yet ---- */

static char pending_wrong[256];

static void *with_pending(void *unused)
{
    GpuRun run;
    void *memory = NULL;
    RdxStatus provoked = gpu->memory_take(&memory, (size_t)1 << 60, 0);
    int pending = gpu->pending();
    (void)unused;
    RdxPlan *plan = NULL;
    RdxStatus status = rdx_plan_create(&plan, &c.mirror.problem);
    if (status == RDX_OK)
        status = gpu_run_open(&run, &c, plan);
    if (status == RDX_OK)
        status = gpu_run_execute(&run, plan, NULL);
    if (status == RDX_OK)
        status = gpu_run_reduce(&run, NULL);
    if (provoked != RDX_ERR_DEVICE_MEMORY || pending == 0)
        snprintf(pending_wrong, sizeof pending_wrong, "2^60 bytes: %s, pending %d", rdx_status_name(provoked), pending);
    else if (status != RDX_OK || !gpu_run_right(&run, NULL))
        snprintf(pending_wrong, sizeof pending_wrong, "with an error pending: %s", rdx_last_error());
    else if (gpu->pending() != pending)
        snprintf(pending_wrong, sizeof pending_wrong, "error %d was pending, now %d", pending, gpu->pending());
    gpu_run_close(&run);
    rdx_plan_destroy(plan);
    return NULL;
}

START_TEST(a_pending_error_stays)
{
    pthread_t thread;
    gpu_case_open(&c, GPU_SPLIT_SUM, 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, with_pending, NULL), 0);
    pthread_join(thread, NULL);
    ck_assert_msg(!pending_wrong[0], "%s", pending_wrong);
    gpu_case_close(&c);
}
END_TEST

/* ---- A device that is lost ---- */

/* Every call fails, as after a fault in a kernel; then none does, and what rdx_reduce had kept is cleared before it is
   used. */
START_TEST(errors_that_stay)
{
    GpuRun run;
    RdxPlan *plan = NULL, *none = NULL;
    gpu_case_open(&c, GPU_SPLIT_SUM, 0);
    plan = gpu_case_plan(&c, GPU_CHOSEN);
    GPU_OK(gpu_run_open(&run, &c, plan));
    GPU_OK(gpu_run_reduce(&run, NULL));
    GPU_RIGHT(&run, NULL);
    GPU_OK(gpu_run_poison(&run));
    gpu->watch(1, INT64_MAX, 719);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(gpu_run_execute(&run, plan, NULL), RDX_ERR_CUDA);
        ck_assert_ptr_nonnull(strstr(rdx_last_error(), "cudaErrorLaunchFailure"));
        ck_assert_int_eq(gpu_run_reduce(&run, NULL), RDX_ERR_CUDA);
        ck_assert_int_eq(rdx_workspace_init(plan, run.workspace + 256, NULL), RDX_ERR_CUDA);
        ck_assert_int_eq(rdx_plan_create(&none, &c.mirror.problem), RDX_ERR_CUDA);
        ck_assert_int_eq(gpu->wait(NULL, 0), RDX_ERR_CUDA);
        ck_assert_ptr_nonnull(strstr(rdx_last_error(), "cudaErrorLaunchFailure"));
    }
    gpu->unwatch();
    DEMAND(gpu_run_untouched(&run), "the output was written");
    gpu->watch(0, 0, 0);
    GPU_OK(gpu_run_reduce(&run, NULL));
    gpu->unwatch();
    ck_assert_int_eq(made("cudaMemsetAsync", 0), 1);
    GPU_RIGHT(&run, NULL);
    gpu->watch(0, 0, 0);
    GPU_OK(gpu_run_reduce(&run, NULL));
    gpu->unwatch();
    ck_assert_int_eq(made("cudaMemsetAsync", 0), 0); /* once */
    GPU_OK(rdx_workspace_init(plan, run.workspace + 256, NULL));
    GPU_OK(gpu_run_execute(&run, plan, NULL));
    GPU_RIGHT(&run, NULL);
    gpu_run_close(&run);
    rdx_plan_destroy(plan);
    gpu_case_close(&c);
}
END_TEST

/* In a process of its own: a kernel that reads where nothing is. 0 if everything after it says so. */
int gpu_sticky_child(void)
{

    int64_t shape = 4096;
    RdxTensor from = {NULL, {2, 0}, 1, {2, 32, 1}, &shape, NULL, 0}, to = {NULL, {2, 0}, 0, {2, 32, 1}, NULL, NULL, 0};
    RdxProblem problem = RDX_PROBLEM_INIT;
    RdxPlan *plan = NULL, *none = NULL;
    void *memory = NULL, *workspace = NULL;
    problem.op = RDX_SUM;
    problem.in = &from;
    problem.out = &to;
    if (rdx_plugin(&gpu) != RDX_OK || rdx_plan_create(&plan, &problem) != RDX_OK ||
        gpu->memory_take(&memory, 64, 0) != RDX_OK)
        return 10;
    size_t bytes = rdx_plan_workspace(plan);
    if (gpu->memory_take(&workspace, bytes + 1, 0) != RDX_OK || rdx_workspace_init(plan, workspace, NULL) != RDX_OK)
        return 10;
    if (rdx_execute(plan, (void *)(uintptr_t)0x10000, memory, NULL, workspace, bytes, NULL) != RDX_OK)
        return 11;
    if (gpu->wait(NULL, 0) != RDX_ERR_CUDA || !strstr(rdx_last_error(), "cudaErrorIllegalAddress"))
        return 12;
    if (rdx_execute(plan, (void *)(uintptr_t)0x10000, memory, NULL, workspace, bytes, NULL) != RDX_ERR_CUDA)
        return 13;
    from.data = memory;
    to.data = (unsigned char *)memory + 32;
    shape = 8;
    if (rdx_reduce(&problem, NULL) == RDX_OK || rdx_plan_create(&none, &problem) == RDX_OK)
        return 14;
    if (gpu->memory_take(&memory, 64, 0) != RDX_ERR_CUDA || !strstr(rdx_last_error(), "cudaError"))
        return 15;
    rdx_shutdown();
    rdx_plan_destroy(plan);
    return 0;
}

START_TEST(a_lost_device)
{
    static char path[] = "/proc/self/exe", name[] = "check_gpu", word[] = "--sticky";
    char *arguments[] = {name, word, NULL};
    pid_t pid;
    int status;
    ck_assert_int_eq(posix_spawn(&pid, path, NULL, NULL, arguments, environ), 0);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "it ended with status %x", status);
}
END_TEST

void gpu_faults_add(TCase *tests)
{
    GPU_TEST(tests, every_call, GPU_ONE);
    GPU_TEST(tests, every_allocation, GPU_ONE);
    GPU_TEST(tests, out_of_memory, GPU_ONE);
    GPU_TEST(tests, a_pending_error_stays, GPU_ONE | GPU_REAL); /* the emulator's runtime holds no error */
    GPU_TEST(tests, errors_that_stay, GPU_ONE);
    GPU_TEST(tests, a_lost_device, GPU_ONE | GPU_REAL | GPU_WHOLE);
}
