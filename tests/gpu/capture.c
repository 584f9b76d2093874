/* What execute does, call by call: it asks for the current device and launches, allocates nothing on either side, waits
   for nothing, and so can be captured. Graphs replay to the CPU's bits. What rdx_reduce may do on a capturing stream,
   and beside one. */
#include "gpu.h"

#include <stdio.h>
#include <sys.h>

static GpuCase c, other;

static const char *const lines[] = {GPU_SPLIT_SUM,
                                    "sum:f32:300x5000/1|sum:f32:30x5000/1",
                                    "var:bf16:64x3000/1",
                                    "var:f32:5000x40/0:out2=1",
                                    "argmax:f32:70x80x90/0,2",
                                    "sum:f32:1000000x4@0x1/1|sum:f32:200000x4@0x1/1",
                                    "sum:i8:100000x3/1",
                                    "sum:f32:20x16x3000/1"};

/* ---- Counting ---- */

typedef struct Tally {
    int64_t calls, asks, moves, launches, host;
} Tally;

static void count_calls(Tally *tally)
{
    *tally = (Tally){.calls = gpu->calls(), .host = rdx_sys_calls()};
    for (int64_t k = 1; k <= tally->calls; k++) {
        tally->asks += strcmp(gpu->call(k), "cudaGetDevice") == 0;
        tally->moves += strcmp(gpu->call(k), "cudaSetDevice") == 0;
        tally->launches += strcmp(gpu->call(k), "cudaLaunchKernel") == 0;
    }
}

static RdxStatus counted_execute(GpuRun *run, const RdxPlan *plan, RdxStream stream, Tally *tally)
{
    rdx_sys_fail_at(0);
    gpu->watch(0, 0, 0);
    RdxStatus status = gpu_run_execute(run, plan, stream);
    gpu->unwatch();
    count_calls(tally);
    return status;
}

START_TEST(execute_only_launches)
{
    int plans = 0, double_launches = 0;
    for (size_t line = 0; line < sizeof lines / sizeof lines[0]; line++) {
        gpu_case_open(&c, lines[line], 0);
        for (int index = 0; index < RDX_STRATEGY_COUNT; index++) {
            RdxPlan *plan = gpu_case_plan(&c, index);
            GpuRun run;
            Tally tally;
            if (!plan)
                continue;
            GPU_OK(gpu_run_open(&run, &c, plan));
            GPU_OK(counted_execute(&run, plan, NULL, &tally));
            GPU_RIGHT(&run, NULL);
            ck_assert_msg(tally.asks == 1 && tally.moves == 0 && tally.launches >= 1 && tally.launches <= 2 &&
                              tally.calls == 1 + tally.launches && tally.host == 0,
                          "%s: %lld calls, %lld of them launches, %lld of the host's", lines[line],
                          (long long)tally.calls, (long long)tally.launches, (long long)tally.host);
            double_launches += tally.launches == 2;
            gpu_run_close(&run);
            rdx_plan_destroy(plan);
            plans++;
        }
        gpu_case_close(&c);
    }
    ck_assert_int_ge(plans, 16);
    printf("execute: %d plans, %d of them with a finishing launch\n", plans, double_launches);
}
END_TEST

/* ---- Graphs of execute ---- */

typedef struct Captured {
    GpuRun *run;
    const RdxPlan *plan;
    int times;
    Tally tally;
} Captured;

static RdxStatus capture_execute(void *context, RdxStream stream)
{
    Captured *captured = context;
    RdxStatus status = RDX_OK;
    for (int i = 0; i < captured->times && status == RDX_OK; i++)
        status = counted_execute(captured->run, captured->plan, stream, &captured->tally);
    return status;
}

START_TEST(graphs)
{
    for (size_t line = 0; line < sizeof lines / sizeof lines[0]; line++) {
        gpu_case_open(&c, lines[line], 0);
        for (int index = 0; index < RDX_STRATEGY_COUNT; index++) {
            RdxPlan *plan = gpu_case_plan(&c, index);
            GpuRun run;
            void *recording = NULL;
            double us;
            if (!plan)
                continue;
            GPU_OK(gpu_run_open(&run, &c, plan));
            Captured captured = {.run = &run, .plan = plan, .times = 3};
            GPU_OK(gpu->record(&recording, capture_execute, &captured, 0));
            ck_assert(captured.tally.calls == 1 + captured.tally.launches && captured.tally.host == 0);
            DEMAND(gpu_run_untouched(&run), "%s: capturing has run something", lines[line]);
            for (int i = 0; i < 3; i++) {
                GPU_OK(gpu_run_poison(&run));
                GPU_OK(gpu->replay(recording, &us));
                GPU_RIGHT(&run, NULL);
            }
            gpu->forget(recording);
            gpu_run_close(&run);
            rdx_plan_destroy(plan);
        }
        gpu_case_close(&c);
    }
}
END_TEST

/* rdx_workspace_init is captured too: a graph that clears its workspace first mends one that was spoilt. */
static RdxStatus capture_init(void *context, RdxStream stream)
{
    Captured *captured = context;
    RdxStatus status = rdx_workspace_init(captured->plan, captured->run->workspace + 256, stream);
    return status == RDX_OK ? gpu_run_execute(captured->run, captured->plan, stream) : status;
}

START_TEST(graphs_with_init)
{
    GpuRun run;
    void *recording = NULL;
    double us;
    gpu_case_open(&c, GPU_SPLIT_SUM, 0);
    RdxPlan *plan = gpu_case_plan(&c, GPU_CHOSEN);
    ck_assert_uint_ge(rdx_plan_workspace(plan), RDX_WORKSPACE_HEAD);
    GPU_OK(gpu_run_open(&run, &c, plan));
    Captured captured = {.run = &run, .plan = plan};
    GPU_OK(gpu->record(&recording, capture_init, &captured, 0));
    memset(run.host, 0x55, RDX_WORKSPACE_HEAD);
    GPU_OK(gpu->copy(run.workspace + 256, run.host, RDX_WORKSPACE_HEAD, 0));
    GPU_OK(gpu->replay(recording, &us));
    GPU_RIGHT(&run, NULL);
    gpu->forget(recording);
    gpu_run_close(&run);
    rdx_plan_destroy(plan);
    gpu_case_close(&c);
}
END_TEST

/* ---- rdx_reduce ---- */

static bool was_called(const char *name)
{
    for (int64_t k = 1; k <= gpu->calls(); k++)
        if (strcmp(gpu->call(k), name) == 0)
            return true;
    return false;
}

static RdxStatus capture_reduce(void *context, RdxStream stream)
{
    Captured *captured = context;
    return gpu_run_reduce(captured->run, stream);
}

/* In the cache, it is captured; what workspace it needs comes from the stream's order and becomes part of the graph. */
START_TEST(graphs_of_reduce)
{
    static const char *const texts[] = {GPU_SPLIT_SUM, "sum:f32:300x5000/1|sum:f32:30x5000/1"};
    for (size_t line = 0; line < sizeof texts / sizeof texts[0]; line++) {
        GpuRun run;
        void *recording = NULL;
        double us;
        gpu_case_open(&c, texts[line], 0);
        GPU_OK(gpu_run_open(&run, &c, NULL));
        GPU_OK(gpu_run_reduce(&run, NULL));
        GPU_RIGHT(&run, NULL);
        GPU_OK(gpu_run_poison(&run));
        Captured captured = {.run = &run};
        gpu->watch(0, 0, 0);
        RdxStatus status = gpu->record(&recording, capture_reduce, &captured, 0);
        gpu->unwatch();
        GPU_OK(status);
        ck_assert(!was_called("cudaMalloc") && !was_called("cudaFree") && !was_called("cudaDeviceSynchronize"));
        ck_assert(was_called("cudaMallocAsync") == (line == 0) && was_called("cudaFreeAsync") == (line == 0));
        DEMAND(gpu_run_untouched(&run), "capturing has run something");
        for (int i = 0; i < 3; i++) {
            GPU_OK(gpu_run_poison(&run));
            GPU_OK(gpu->replay(recording, &us));
            GPU_RIGHT(&run, NULL);
        }
        gpu->forget(recording);
        gpu_run_close(&run);
        gpu_case_close(&c);
    }
}
END_TEST

typedef struct Miss {
    GpuRun *run, *beside;
    const RdxPlan *plan;
    RdxStream stream; /* another one, which does not capture */
    RdxStatus missed, besides;
    char sentence[256];
} Miss;

static RdxStatus capture_miss(void *context, RdxStream stream)
{
    Miss *miss = context;
    miss->missed = gpu_run_reduce(miss->beside, stream);
    snprintf(miss->sentence, sizeof miss->sentence, "%s", rdx_last_error());
    if (miss->stream)
        miss->besides = gpu_run_reduce(miss->beside, miss->stream);
    return gpu_run_execute(miss->run, miss->plan, stream);
}

/* Not in the cache: refused with a sentence, and the capture goes on. On another stream meanwhile: planned, loaded and
   run. */
START_TEST(misses_while_capturing)
{
    GpuRun run, beside;
    void *recording = NULL;
    double us;
    gpu_case_open(&c, "sum:f32:300x5000/1|sum:f32:30x5000/1", 0);
    gpu_case_open(&other, "var:f32:2500001|var:f32:250001", 0);
    RdxPlan *plan = gpu_case_plan(&c, GPU_CHOSEN);
    GPU_OK(gpu_run_open(&run, &c, plan));
    GPU_OK(gpu_run_open(&beside, &other, NULL));
    rdx_shutdown();
    Miss miss = {.run = &run, .beside = &beside, .plan = plan, .missed = RDX_OK, .besides = RDX_ERR_INTERNAL};
    GPU_OK(gpu->stream_take(&miss.stream, 0));
    GPU_OK(gpu->record(&recording, capture_miss, &miss, 0));
    ck_assert_msg(miss.missed == RDX_ERR_STREAM && strstr(miss.sentence, "capturing"), "%s: %s",
                  rdx_status_name(miss.missed), miss.sentence);
    ck_assert_msg(miss.besides == RDX_OK, "beside the capture: %s: %s", rdx_status_name(miss.besides),
                  rdx_last_error());
    GPU_RIGHT(&beside, miss.stream);
    GPU_OK(gpu->replay(recording, &us));
    GPU_RIGHT(&run, NULL);
    gpu->forget(recording);
    GPU_OK(gpu->stream_give(miss.stream, 0));
    gpu_run_close(&beside);
    gpu_run_close(&run);
    rdx_plan_destroy(plan);
    gpu_case_close(&other);
    gpu_case_close(&c);
}
END_TEST

void gpu_capture_add(TCase *tests)
{
    GPU_TEST(tests, execute_only_launches, GPU_ONE);
    GPU_TEST(tests, graphs, GPU_ONE);
    GPU_TEST(tests, graphs_with_init, GPU_ONE);
    GPU_TEST(tests, graphs_of_reduce, GPU_ONE);
    GPU_TEST(tests, misses_while_capturing, GPU_ONE);
}
