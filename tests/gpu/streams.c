/* One plan on several streams and from several host threads, each with its own workspace; rdx_reduce likewise, with the
   workspaces that it keeps for itself, one per stream. */
#include "gpu.h"

#include <pthread.h>
#include <stdio.h>

enum { STREAMS = 4, THREADS = 8 };

static GpuCase c;

static int64_t rounds(void)
{
    return gpu_reduced() || gpu_emulated ? 3 : 40;
}

static const char *const lines[] = {GPU_SPLIT_SUM, "var:bf16:200000x5/0|var:bf16:20000x5/0",
                                    "argmax:f32:700x3000/1|argmax:f32:70x3000/1"};

START_TEST(several_streams)
{
    for (size_t line = 0; line < sizeof lines / sizeof lines[0]; line++) {
        RdxStream streams[STREAMS];
        GpuRun runs[STREAMS];
        gpu_case_open(&c, lines[line], 0);
        RdxPlan *plan = gpu_case_plan(&c, GPU_CHOSEN);
        for (int i = 0; i < STREAMS; i++) {
            GPU_OK(gpu->stream_take(&streams[i], 0));
            GPU_OK(gpu_run_open(&runs[i], &c, plan));
        }
        for (int64_t round = 0; round < rounds(); round++)
            for (int i = 0; i < STREAMS; i++)
                GPU_OK(gpu_run_execute(&runs[i], plan, streams[i]));
        for (int i = 0; i < STREAMS; i++) {
            GPU_RIGHT(&runs[i], streams[i]);
            GPU_OK(gpu_run_poison(&runs[i]));
        }
        for (int64_t round = 0; round < rounds(); round++)
            for (int i = 0; i < STREAMS; i++)
                GPU_OK(gpu_run_reduce(&runs[i], streams[i]));
        for (int i = 0; i < STREAMS; i++) {
            GPU_RIGHT(&runs[i], streams[i]);
            gpu_run_close(&runs[i]);
            GPU_OK(gpu->stream_give(streams[i], 0));
        }
        rdx_plan_destroy(plan);
        gpu_case_close(&c);
        rdx_shutdown();
    }
}
END_TEST

typedef struct Worker {
    pthread_t thread;
    const RdxPlan *plan;
    RdxStream stream; /* NULL: the thread makes one */
    bool shares;      /* the stream is everybody's */
    char wrong[256];
} Worker;

static RdxStatus work(Worker *worker, GpuRun *run, RdxStream stream)
{
    RdxStatus status = RDX_OK;
    for (int64_t round = 0; round < rounds() && status == RDX_OK && !worker->wrong[0]; round++) {
        status = gpu_run_poison(run);
        if (status == RDX_OK)
            status = round % 2 ? gpu_run_reduce(run, stream) : gpu_run_execute(run, worker->plan, stream);
        if (status == RDX_OK && !gpu_run_right(run, stream))
            snprintf(worker->wrong, sizeof worker->wrong, "%s", run->wrong);
    }
    return status;
}

static void *body(void *argument)
{
    Worker *worker = argument;
    RdxStream stream = worker->stream;
    GpuRun run;
    RdxStatus status = worker->shares ? RDX_OK : gpu->stream_take(&stream, 0);
    if (status == RDX_OK)
        status = gpu_run_open(&run, &c, worker->plan);
    if (status == RDX_OK) {
        status = work(worker, &run, stream);
        gpu_run_close(&run);
    }
    if (status == RDX_OK && !worker->shares)
        status = gpu->stream_give(stream, 0);
    if (status != RDX_OK && !worker->wrong[0])
        snprintf(worker->wrong, sizeof worker->wrong, "%s: %s", rdx_status_name(status), rdx_last_error());
    return NULL;
}

static void run_threads(bool shares)
{
    for (size_t line = 0; line < sizeof lines / sizeof lines[0]; line++) {
        static Worker workers[THREADS];
        RdxStream stream = NULL;
        gpu_case_open(&c, lines[line], 0);
        RdxPlan *plan = gpu_case_plan(&c, GPU_CHOSEN);
        if (shares)
            GPU_OK(gpu->stream_take(&stream, 0));
        for (int i = 0; i < THREADS; i++) {
            workers[i] = (Worker){.plan = plan, .stream = stream, .shares = shares};
            ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, body, &workers[i]), 0);
        }
        for (int i = 0; i < THREADS; i++)
            pthread_join(workers[i].thread, NULL);
        for (int i = 0; i < THREADS; i++)
            ck_assert_msg(!workers[i].wrong[0], "%s: thread %d: %s", lines[line], i, workers[i].wrong);
        if (shares)
            GPU_OK(gpu->stream_give(stream, 0));
        rdx_plan_destroy(plan);
        gpu_case_close(&c);
    }
    rdx_shutdown();
}

START_TEST(several_threads)
{
    run_threads(false);
}
END_TEST

START_TEST(several_threads_on_one_stream)
{
    run_threads(true);
}
END_TEST

/* Streams come and go; what rdx_reduce keeps for them is bounded, and all of it goes with rdx_shutdown. */
START_TEST(many_streams)
{
    enum { MANY = 100 };
    RdxStream streams[MANY];
    GpuRun run;
    int64_t taken = 0, freed = 0;
    gpu_case_open(&c, "sum:f32:600000|sum:f32:60000", 0);
    GPU_OK(gpu_run_open(&run, &c, NULL));
    rdx_shutdown();
    gpu->watch(0, 0, 0);
    for (int i = 0; i < MANY; i++) {
        GPU_OK(gpu->stream_take(&streams[i], 0));
        GPU_OK(gpu_run_reduce(&run, streams[i]));
        GPU_OK(gpu->wait(streams[i], 0));
    }
    for (int i = 0; i < MANY; i++)
        GPU_OK(gpu->stream_give(streams[i], 0));
    rdx_shutdown();
    gpu->unwatch();
    for (int64_t k = 1; k <= gpu->calls(); k++) {
        taken += strcmp(gpu->call(k), "cudaMalloc") == 0;
        freed += strcmp(gpu->call(k), "cudaFree") == 0;
        ck_assert_int_le(taken - freed, 64);
    }
    ck_assert_int_ge(taken, MANY);
    ck_assert_int_eq(taken, freed);
    GPU_RIGHT(&run, NULL);
    gpu_run_close(&run);
    gpu_case_close(&c);
}
END_TEST

void gpu_streams_add(TCase *tests)
{
    GPU_TEST(tests, several_streams, GPU_ONE);
    GPU_TEST(tests, several_threads, GPU_ONE);
    GPU_TEST(tests, several_threads_on_one_stream, GPU_ONE);
    GPU_TEST(tests, many_streams, GPU_ONE);
}
