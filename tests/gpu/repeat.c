/* Races show as runs that differ: each candidate of a few CASEs, whose outputs are joined by several warps, blocks or
   launches, runs many times, waited for and in a row. */
#include "gpu.h"

static GpuCase c;

static const char *const lines[] = {"sum:f32:3000001|sum:f32:300001",
                                    "sum:bf16:7x300000/1|sum:bf16:3x160000/1",
                                    "var:f32:700x40000@1x700/1|var:f32:64x20000@1x64/1",
                                    "var:bf16:100000x33/0|var:bf16:10000x33/0",
                                    "var:f32:60000x3/0:out2=1",
                                    "argmax:f32:1000x2000/0|argmax:f32:1000x200/0",
                                    "sum:i8:40x50x600/0,2|sum:i8:40x5x600/0,2",
                                    "argmax:f32:5000x130/1|argmax:f32:500x130/1",
                                    "sum:f32:8192x768/0|sum:f32:8192x96/0",
                                    "var:f32:3x5x7x4000/1,3"};

START_TEST(waited_for)
{
    int64_t repeats = gpu_setting("RDX_GPU_REPEATS", gpu_reduced() || gpu_emulated ? 3 : 100);
    int plans = 0;
    for (size_t line = 0; line < sizeof lines / sizeof lines[0]; line++) {
        gpu_case_open(&c, lines[line], 0);
        for (int index = 0; index < RDX_STRATEGY_COUNT; index++) {
            RdxPlan *plan = gpu_case_plan(&c, index);
            GpuRun run;
            if (!plan)
                continue;
            GPU_OK(gpu_run_open(&run, &c, plan));
            for (int64_t i = 0; i < repeats; i++) {
                GPU_OK(gpu_run_poison(&run));
                GPU_OK(gpu_run_execute(&run, plan, NULL));
                DEMAND(gpu_run_right(&run, NULL), "run %lld of candidate %d: %s", (long long)i, index, run.wrong);
            }
            gpu_run_close(&run);
            rdx_plan_destroy(plan);
            plans++;
        }
        gpu_case_close(&c);
    }
    ck_assert_int_ge(plans, 20);
}
END_TEST

/* One workspace serves any sequence of plans in stream order. */
START_TEST(in_a_row)
{
    int64_t repeats = gpu_setting("RDX_GPU_REPEATS", gpu_reduced() || gpu_emulated ? 3 : 100);
    RdxPlan *plans[RDX_STRATEGY_COUNT];
    for (size_t line = 0; line < sizeof lines / sizeof lines[0]; line++) {
        GpuRun run;
        RdxPlan *widest = NULL;
        gpu_case_open(&c, lines[line], 0);
        for (int index = 0; index < RDX_STRATEGY_COUNT; index++) {
            plans[index] = gpu_case_plan(&c, index);
            widest =
                rdx_plan_workspace(plans[index]) >= rdx_plan_workspace(widest) && plans[index] ? plans[index] : widest;
        }
        GPU_OK(gpu_run_open(&run, &c, widest));
        for (int64_t i = 0; i < repeats; i++)
            for (int index = 0; index < RDX_STRATEGY_COUNT; index++)
                if (plans[index])
                    GPU_OK(gpu_run_execute(&run, plans[index], NULL));
        GPU_RIGHT(&run, NULL);
        gpu_run_close(&run);
        for (int index = 0; index < RDX_STRATEGY_COUNT; index++)
            rdx_plan_destroy(plans[index]);
        gpu_case_close(&c);
    }
}
END_TEST

void gpu_repeat_add(TCase *tests)
{
    GPU_TEST(tests, waited_for, GPU_ONE);
    GPU_TEST(tests, in_a_row, GPU_ONE);
}
