/* Several GPUs: the tensors' device id decides where a plan is made and run, whatever device is current, and the
   current device is the caller's again after every call, also one that fails. */
#include "gpu.h"

static GpuCase c[2];

static const char *const lines[] = {GPU_SPLIT_SUM, "var:f32:300x5000/1|var:f32:30x5000/1",
                                    "argmax:f32:5000x40/0|argmax:f32:2000x40/0"};

static void check_current(int due)
{
    int id = -1;
    GPU_OK(gpu->current_device(&id));
    DEMAND(id == due, "device %d is current, not %d", id, due);
}

static void run_on(int id, int current, RdxStream stream)
{
    GpuRun run;
    GPU_OK(gpu->select_device(current));
    RdxPlan *plan = gpu_case_plan(&c[id], GPU_CHOSEN);
    check_current(current);
    GPU_OK(gpu_run_open(&run, &c[id], plan));
    check_current(current);
    gpu->watch(0, 0, 0);
    GPU_OK(gpu_run_execute(&run, plan, stream));
    gpu->unwatch();
    int64_t moves = 0;
    for (int64_t k = 1; k <= gpu->calls(); k++)
        moves += strcmp(gpu->call(k), "cudaSetDevice") == 0;
    DEMAND(moves == (id == current ? 0 : 2), "the current device was set %lld times", (long long)moves);
    check_current(current);
    GPU_RIGHT(&run, stream);
    GPU_OK(gpu_run_poison(&run));
    GPU_OK(gpu_run_reduce(&run, stream));
    check_current(current);
    GPU_RIGHT(&run, stream);
    gpu_run_close(&run);
    rdx_plan_destroy(plan);
    rdx_shutdown();
    check_current(current);
}

START_TEST(whichever_is_current)
{
    for (size_t line = 0; line < sizeof lines / sizeof lines[0]; line++) {
        gpu_case_open(&c[0], lines[line], 0);
        gpu_case_open(&c[1], lines[line], 1);
        for (int id = 0; id < 2; id++) {
            RdxStream stream;
            GPU_OK(gpu->stream_take(&stream, id));
            for (int current = 0; current < 2; current++) {
                run_on(id, current, NULL);
                run_on(id, current, stream);
            }
            GPU_OK(gpu->stream_give(stream, id));
        }
        gpu_case_close(&c[1]);
        gpu_case_close(&c[0]);
    }
    GPU_OK(gpu->select_device(0));
}
END_TEST

/* Whatever call fails while another device is visited. Where giving the device back is what fails, it cannot be
   back. */
START_TEST(given_back_after_errors)
{
    GpuRun run;
    gpu_case_open(&c[1], GPU_SPLIT_SUM, 1);
    GPU_OK(gpu->select_device(0));
    RdxPlan *plan = gpu_case_plan(&c[1], GPU_CHOSEN);
    GPU_OK(gpu_run_open(&run, &c[1], plan));
    int failures = 0;
    for (int step = 0; step < 2; step++)
        for (int64_t k = 1;; k++) {
            rdx_shutdown();
            gpu->watch(k, 1, 719);
            RdxStatus status = step ? gpu_run_reduce(&run, NULL) : gpu_run_execute(&run, plan, NULL);
            gpu->unwatch();
            if (gpu->calls() < k)
                break;
            ck_assert_int_eq(status, RDX_ERR_CUDA);
            bool moving = strcmp(gpu->call(k), "cudaSetDevice") == 0;
            if (moving)
                GPU_OK(gpu->select_device(0));
            check_current(0);
            failures++;
            GPU_OK(rdx_workspace_init(plan, run.workspace + 256, NULL));
        }
    ck_assert_int_ge(failures, 8);
    GPU_OK(gpu_run_execute(&run, plan, NULL));
    GPU_RIGHT(&run, NULL);
    gpu_run_close(&run);
    rdx_plan_destroy(plan);
    gpu_case_close(&c[1]);
}
END_TEST

/* One cache, two devices: the same problem on both is two plans. */
START_TEST(one_cache)
{
    GpuRun runs[2];
    for (int id = 0; id < 2; id++) {
        gpu_case_open(&c[id], GPU_SPLIT_SUM, id);
        GPU_OK(gpu_run_open(&runs[id], &c[id], NULL));
    }
    for (int round = 0; round < 6; round++) {
        for (int id = 0; id < 2; id++) {
            GPU_OK(gpu_run_poison(&runs[id]));
            GPU_OK(gpu_run_reduce(&runs[id], NULL));
        }
        for (int id = 0; id < 2; id++)
            GPU_RIGHT(&runs[id], NULL);
    }
    for (int id = 0; id < 2; id++) {
        gpu_run_close(&runs[id]);
        gpu_case_close(&c[id]);
    }
}
END_TEST

void gpu_devices_add(TCase *tests)
{
    GPU_TEST(tests, whichever_is_current, GPU_TWO);
    GPU_TEST(tests, given_back_after_errors, GPU_TWO);
    GPU_TEST(tests, one_cache, GPU_TWO);
}
