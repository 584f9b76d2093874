/* What holds with and without a GPU: CUDA tensors get a status and a sentence, nothing is written, the CPU goes on;
   statuses of CUDA's errors; children of forks. */
#include "gpu.h"

#include "given.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static Given given;

static void give_cuda(int id)
{
    give(&given);
    given.in.device = given.out.device = (RdxDevice){2, id};
}

static void cpu_goes_on(void)
{
    give(&given);
    GPU_OK(rdx_reduce(&given.problem, NULL));
    ck_assert(given.out_data[0] == 8 && given.out_data[ROWS] == -12345);
}

static void refused(RdxStatus due, const char *word)
{
    RdxPlan *const marker = (RdxPlan *)(uintptr_t)0x10, *plan = marker;
    RdxStatus reduced = rdx_reduce(&given.problem, NULL);
    ck_assert_msg(reduced == due && strstr(rdx_last_error(), word), "rdx_reduce: %s: %s", rdx_status_name(reduced),
                  rdx_last_error());
    RdxStatus planned = rdx_plan_create(&plan, &given.problem);
    ck_assert_msg(planned == due && strstr(rdx_last_error(), word), "rdx_plan_create: %s: %s", rdx_status_name(planned),
                  rdx_last_error());
    ck_assert(plan == marker && given.out_data[0] == -12345);
}

START_TEST(cuda_tensors_without_a_device)
{
    give_cuda(gpu_devices + 40);
    if (!gpu) {
        refused(RDX_ERR_NO_PLUGIN, "libredax_cuda");
    } else if (gpu_devices == 0) {
        refused(RDX_ERR_NO_DEVICE, "CUDA");
    } else {
        char number[16];
        snprintf(number, sizeof number, "%d", gpu_devices + 40);
        refused(RDX_ERR_NO_DEVICE, number);
        given.in.device.id = given.out.device.id = -1;
        refused(RDX_ERR_NO_DEVICE, "-1");
    }
    cpu_goes_on();
}
END_TEST

START_TEST(tensors_on_two_devices)
{
    give_cuda(0);
    given.out.device.id = 1;
    refused(RDX_ERR_DEVICE, "2:1");
    give_cuda(0);
    given.out.device.type = 1;
    refused(RDX_ERR_DEVICE, "1:0");
    cpu_goes_on();
}
END_TEST

/* Shapes of outputs need no device. */
START_TEST(inference)
{
    int64_t shape[RDX_MAX_RANK];
    RdxTensor out = {.shape = shape};
    give_cuda(7);
    GPU_OK(rdx_infer_outputs(&given.problem, 0, &out, NULL));
    ck_assert(out.device.type == 2 && out.device.id == 7 && out.ndim == 1 && shape[0] == ROWS);
}
END_TEST

/* An error of CUDA's in the first call of a query. */
START_TEST(statuses_of_errors)
{
    static const struct {
        int error;
        RdxStatus status;
        const char *name;
    } rows[] = {{2, RDX_ERR_DEVICE_MEMORY, "cudaErrorMemoryAllocation"},
                {100, RDX_ERR_NO_DEVICE, "cudaErrorNoDevice"},
                {101, RDX_ERR_NO_DEVICE, "cudaErrorInvalidDevice"},
                {35, RDX_ERR_NO_DEVICE, "cudaErrorInsufficientDriver"},
                {400, RDX_ERR_CUDA, "cudaErrorInvalidResourceHandle"},
                {719, RDX_ERR_CUDA, "cudaErrorLaunchFailure"},
                {900, RDX_ERR_STREAM, "cudaErrorStreamCaptureUnsupported"},
                {901, RDX_ERR_STREAM, "cudaErrorStreamCaptureInvalidated"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        RdxDeviceInfo info;
        gpu->watch(1, 1, rows[i].error);
        RdxStatus status = gpu->device_info(0, &info);
        gpu->unwatch();
        ck_assert_msg(status == rows[i].status && strstr(rdx_last_error(), rows[i].name), "%d: %s: %s", rows[i].error,
                      rdx_status_name(status), rdx_last_error());
        ck_assert_int_ge(gpu->calls(), 1);
        ck_assert_str_eq(gpu->call(1), "cudaGetDeviceCount");
        ck_assert_ptr_null(gpu->call(gpu->calls() + 1));
    }
    gpu->watch(1, 1, 719); /* and one that has no status to return says it all the same */
    ck_assert_int_eq(gpu->device_count(), 0);
    gpu->unwatch();
    ck_assert_ptr_nonnull(strstr(rdx_last_error(), "cudaErrorLaunchFailure"));
    ck_assert_int_eq(gpu->device_count(), gpu_devices);
}
END_TEST

/* ---- Forks ---- */

static GpuCase forked_case;
static RdxPlan *forked_plan;
static GpuRun forked_run;

static int child(void)
{
    RdxPlan *plan = NULL;
    alarm(20);
    give_cuda(0);
    if (rdx_reduce(&given.problem, NULL) != RDX_ERR_FORKED || !strstr(rdx_last_error(), "fork"))
        return 1;
    if (rdx_plan_create(&plan, &given.problem) != RDX_ERR_FORKED || plan)
        return 2;
    if (forked_plan) {
        if (gpu_run_execute(&forked_run, forked_plan, NULL) != RDX_ERR_FORKED)
            return 3;
        if (gpu_run_reduce(&forked_run, NULL) != RDX_ERR_FORKED) /* in the cache, with a workspace */
            return 4;
        if (rdx_workspace_init(forked_plan, forked_run.workspace, NULL) != RDX_ERR_FORKED)
            return 5;
        rdx_plan_destroy(forked_plan);
    }
    give(&given);
    if (rdx_reduce(&given.problem, NULL) != RDX_OK || given.out_data[0] != 8)
        return 6;
    rdx_shutdown();
    return 0;
}

static void fork_once(void)
{
    int status;
    fflush(stdout);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        _exit(child());
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with status %x", status);
}

START_TEST(a_forked_child)
{
    fork_once();
    if (gpu_devices == 0)
        return;
    gpu_case_open(&forked_case, "sum:f32:3000000", 0);
    forked_plan = gpu_case_plan(&forked_case, GPU_CHOSEN);
    ck_assert_uint_gt(rdx_plan_workspace(forked_plan), 0);
    GPU_OK(gpu_run_open(&forked_run, &forked_case, forked_plan));
    GPU_OK(gpu_run_reduce(&forked_run, NULL));
    GPU_RIGHT(&forked_run, NULL);
    fork_once();
    GPU_OK(gpu_run_poison(&forked_run)); /* and the parent goes on */
    GPU_OK(gpu_run_execute(&forked_run, forked_plan, NULL));
    GPU_RIGHT(&forked_run, NULL);
    gpu_run_close(&forked_run);
    rdx_plan_destroy(forked_plan);
    forked_plan = NULL;
    gpu_case_close(&forked_case);
}
END_TEST

START_TEST(shutdown_at_any_time)
{
    for (int round = 0; round < 3; round++) {
        rdx_shutdown();
        cpu_goes_on();
    }
}
END_TEST

void gpu_host_add(TCase *tests)
{
    GPU_TEST(tests, cuda_tensors_without_a_device, GPU_ANYWHERE);
    GPU_TEST(tests, tensors_on_two_devices, GPU_ANYWHERE);
    GPU_TEST(tests, inference, GPU_ANYWHERE);
    GPU_TEST(tests, statuses_of_errors, GPU_PLUGIN);
    GPU_TEST(tests, a_forked_child, GPU_PLUGIN);
    GPU_TEST(tests, shutdown_at_any_time, GPU_ANYWHERE);
}
