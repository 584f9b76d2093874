/* The API among threads, forks and floating-point modes: one plan for eight threads, results under FTZ, DAZ and every
   rounding mode with the caller's mode given back, a working library in a forked child, and the log. */
#include "task.h"

#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined __x86_64__
#include <immintrin.h>
#endif

static RdxTask task;

/* ---- One plan, eight threads ---- */

enum { THREADS = 8, ROUNDS = 40 };

typedef struct Sharer {
    pthread_t thread;
    const RdxPlan *plan;
    const unsigned char *right;
    size_t bytes;
    int wrong;
} Sharer;

static void *share(void *argument)
{
    Sharer *sharer = argument;
    size_t workspace_bytes = rdx_plan_workspace(sharer->plan);
    unsigned char *out = malloc(sharer->bytes), *workspace = malloc(workspace_bytes + 1);
    for (int round = 0; round < ROUNDS && out && workspace; round++) {
        memset(out, 0xff, sharer->bytes);
        RdxStatus status =
            rdx_execute(sharer->plan, task.problem.in->data, out, NULL, workspace, workspace_bytes, NULL);
        sharer->wrong += status != RDX_OK || memcmp(out, sharer->right, sharer->bytes) != 0;
    }
    sharer->wrong += !out || !workspace;
    free(out);
    free(workspace);
    return NULL;
}

START_TEST(shared_plans)
{
    static const char *const lines[] = {"sum:f32:300x2000/1:threads=2", "var:f32:2000x300/0:threads=2",
                                        "logsumexp:f32:200000:threads=2", "argmax:bf16:64x100x50/0,2:threads=1"};
    for (size_t line = 0; line < sizeof lines / sizeof lines[0]; line++) {
        Sharer sharers[THREADS];
        task_open(&task, lines[line]);
        RdxPlan *plan = task_plan(&task);
        ck_assert_int_eq(task_execute(&task, plan), RDX_OK);
        for (int i = 0; i < THREADS; i++) {
            sharers[i] = (Sharer){
                .plan = plan, .right = task.problem.out->data, .bytes = task_output_bytes(&task, RDX_CASE_OUT)};
            ck_assert_int_eq(pthread_create(&sharers[i].thread, NULL, share, &sharers[i]), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(sharers[i].thread, NULL);
            ck_assert_msg(sharers[i].wrong == 0, "%s: thread %d had %d wrong results", lines[line], i,
                          sharers[i].wrong);
        }
        rdx_plan_destroy(plan);
        rdx_case_release(&task);
    }
}
END_TEST

/* ---- Floating-point modes ---- */

static unsigned control_word(void)
{
#if defined __x86_64__
    return _mm_getcsr() & ~0x3fu; /* without the sticky flags */
#elif defined __aarch64__
    uint64_t word;
    __asm__ volatile("mrs %0, fpcr" : "=r"(word));
    return (unsigned)word;
#else
    return 0;
#endif
}

/* mode 0 .. 3 are the roundings, 4 flushes subnormals as well. */
static void set_mode(int mode)
{
    static const int roundings[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
    fesetround(roundings[mode]);
#if defined __x86_64__
    if (mode == 4)
        _mm_setcsr(_mm_getcsr() | 0x8040); /* FTZ and DAZ */
#elif defined __aarch64__
    if (mode == 4) {
        uint64_t word;
        __asm__ volatile("mrs %0, fpcr" : "=r"(word));
        __asm__ volatile("msr fpcr, %0" : : "r"(word | 1ull << 24));
    }
#endif
}

static void reset_mode(void)
{
    fesetround(FE_TONEAREST);
#if defined __x86_64__
    _mm_setcsr(_mm_getcsr() & ~0x8040u);
#elif defined __aarch64__
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0));
#endif
}

/* Plan and execution both happen in the mode; so do the pool's threads, begun in it. */
static void check_modes(const char *text)
{
    task_open(&task, text);
    if (strstr(text, "data=special")) { /* subnormals everywhere */
        uint32_t *bits = task.problem.in->data;
        for (int64_t i = 0; i < task.extent[RDX_CASE_IN].count && task.c.dtype == RDX_F32; i++)
            bits[i] = (uint32_t)(i * 2654435761u) & 0x807fffff;
    }
    size_t bytes = task_output_bytes(&task, RDX_CASE_OUT);
    unsigned char *right = malloc(bytes);
    ck_assert_ptr_nonnull(right);
    ck_assert_int_eq(rdx_reduce(&task.problem, NULL), RDX_OK);
    memcpy(right, task.problem.out->data, bytes);
    for (int mode = 0; mode < 5; mode++)
        for (int cached = 0; cached < 2; cached++) {
            if (!cached)
                rdx_shutdown(); /* so that plans and threads are made anew, in this mode */
            rdx_case_reset(&task);
            set_mode(mode);
            unsigned before = control_word();
            RdxStatus status = rdx_reduce(&task.problem, NULL);
            unsigned after = control_word();
            reset_mode();
            ck_assert_msg(status == RDX_OK, "%s: %s", text, rdx_last_error());
            ck_assert_msg(before == after, "%s: mode %d: control word %x became %x", text, mode, before, after);
            ck_assert_msg(memcmp(right, task.problem.out->data, bytes) == 0, "%s: other bits in mode %d", text, mode);
        }
    rdx_shutdown();
    free(right);
    rdx_case_release(&task);
}

START_TEST(modes)
{
    static const char *const lines[] = {
        "sum:f32:50x700/1:data=tailed",
        "sum:f32:50x700/1:data=special",
        "sum:f32:400000:data=special:threads=2",
        "sum:f32:700000:data=tailed:threads=2",
        "mean:f32:700x50/0:data=special",
        "mean:bf16:60x333/1:data=tailed",
        "var:f32:40x500/1:data=near",
        "std:f64:40x500/1",
        "prod:f32:40x50/1:data=near",
        "prod:c64:40x50/1:data=near",
        "sumsq:f32:30x300/1:data=special",
        "norm2:f32:30x300/1:data=tailed",
        "norm3:f32:30x300/1",
        "norm0.5:f64:30x300/1",
        "norm1:c64:30x300/1",
        "logsumexp:f32:30x300/1",
        "logsumexp:f64:30x300/1",
        "logsumexp:f16:30x300/1",
        "sum:f64:30x300/1:out=f16:data=tailed",
        "sum:f64:30x300/1:out=f8e4m3",
        "sum:f64:30x300/1:out=bf16",
        "sum:f64:30x300/1:out=f32:data=tailed",
        "mean:i64:30x300/1",
        "var:i16:30x300/1",
        "mean:u8:30x300/1:out=f32",
        "sum:i32:30x300/1:out=f32",
        "max:f32:30x300/1:data=special",
        "min:f32:300x30/0:data=special",
        "norminf:f32:30x300/1:data=special",
        "count_nonzero:f32:30x300/1:data=special",
        "any:f32:30x3/1:data=special",
        "argmax:f32:30x300/1:data=special",
        "sum:f32:30x300/1:alpha=0.3:beta=0.7",
        "max:f32:30x3/1:alpha=0.1",
        "var:f32:30x300/1:nan=omit:data=holes",
        "prod:i32:30x30/1:out=f64",
        "sum:f16:30x300/1:data=tailed",
        "sum:f8e5m2:30x300/1:data=tailed",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        check_modes(lines[i]);
}
END_TEST

/* ---- Forks ---- */

static void hear_nothing(void *user, int level, const char *line)
{
    (void)user, (void)level, (void)line;
}

static int child_works(const unsigned char *right, size_t bytes)
{
    alarm(30);
    task.problem.threads = -1; /* the log hears of it */
    if (rdx_reduce(&task.problem, NULL) != RDX_ERR_OPTION)
        return 3;
    task.problem.threads = 2;
    rdx_case_reset(&task);
    if (rdx_reduce(&task.problem, NULL) != RDX_OK || memcmp(right, task.problem.out->data, bytes) != 0)
        return 1;
    rdx_set_cache(4);
    rdx_case_reset(&task);
    if (rdx_reduce(&task.problem, NULL) != RDX_OK || memcmp(right, task.problem.out->data, bytes) != 0)
        return 2;
    rdx_shutdown();
    return 0;
}

static atomic_bool churning;

static void *churn(void *unused)
{
    static const RdxProblem defaults = RDX_PROBLEM_INIT;
    (void)unused;
    float in[64] = {1}, out = 0;
    int64_t shape = 1;
    RdxTensor from = {in, {1, 0}, 1, {2, 32, 1}, &shape, NULL, 0}, to = {&out, {1, 0}, 0, {2, 32, 1}, NULL, NULL, 0};
    RdxProblem problem = defaults;
    problem.op = RDX_SUM;
    problem.in = &from;
    problem.out = &to;
    int failed = 0;
    for (int64_t i = 0; atomic_load(&churning); i++) { /* misses and hits */
        shape = 1 + i % 60;
        failed += rdx_reduce(&problem, NULL) != RDX_OK;
    }
    return failed ? &churning : NULL;
}

static void *churn_log(void *unused)
{
    (void)unused;
    while (atomic_load(&churning))
        rdx_set_log(hear_nothing, NULL, 1);
    return NULL;
}

#ifndef __SANITIZE_THREAD__ /* which does not follow threads that a forked child starts */
START_TEST(forks)
{
    pthread_t thread, log_thread;
    void *result;
    task_open(&task, "sum:f32:1000x700/0:threads=2");
    size_t bytes = task_output_bytes(&task, RDX_CASE_OUT);
    unsigned char *right = malloc(bytes);
    ck_assert_ptr_nonnull(right);
    ck_assert_int_eq(rdx_reduce(&task.problem, NULL), RDX_OK);
    memcpy(right, task.problem.out->data, bytes);
    atomic_store(&churning, true);
    ck_assert_int_eq(pthread_create(&thread, NULL, churn, NULL), 0);
    ck_assert_int_eq(pthread_create(&log_thread, NULL, churn_log, NULL), 0);
    for (int i = 0; i < 25; i++) { /* while other threads are somewhere inside the library */
        usleep(20000);             /* a thread that is just starting may hold a lock of a sanitizer's run-time */
        pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0)
            _exit(child_works(right, bytes));
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "fork %d: the child ended with status %x", i,
                      status);
        rdx_case_reset(&task);
        ck_assert_int_eq(rdx_reduce(&task.problem, NULL), RDX_OK);
        ck_assert(memcmp(right, task.problem.out->data, bytes) == 0);
    }
    atomic_store(&churning, false);
    pthread_join(thread, &result);
    pthread_join(log_thread, NULL);
    ck_assert_ptr_null(result);
    free(right);
    rdx_case_release(&task);
}
END_TEST
#endif

/* ---- The log ---- */

typedef struct Heard {
    int lines, levels[8];
    char last[4096];
} Heard;

static void hear(void *user, int level, const char *line)
{
    Heard *heard = user;
    heard->lines++;
    heard->levels[level & 7]++;
    snprintf(heard->last, sizeof heard->last, "%s", line);
    rdx_set_log(hear, user, 3); /* the callback may call the library */
}

/* The CASE at the end of a plan line says the same reduction. */
static void check_replay(const char *text)
{
    static RdxCase c, back;
    char error[512], again[RDX_CASE_TEXT];
    Heard heard = {0};
    task_open(&task, text);
    rdx_set_log(hear, &heard, 2);
    rdx_plan_destroy(task_plan(&task));
    rdx_set_log(NULL, NULL, 0);
    ck_assert_int_ge(heard.levels[2], 1);
    const char *line = strrchr(heard.last, ' ');
    ck_assert_msg(line != NULL, "no CASE in \"%s\"", heard.last);
    ck_assert_msg(rdx_case_parse(&back, line + 1, error, sizeof error), "%s: %s", heard.last, error);
    ck_assert(rdx_case_parse(&c, text, error, sizeof error));
    rdx_case_print(&back, again, sizeof again);
    ck_assert_msg(back.op == c.op && back.dtype == c.dtype && back.rank == c.rank && back.nan == c.nan &&
                      back.second == c.second && back.p == c.p && back.correction == c.correction &&
                      back.alpha == c.alpha && back.beta == c.beta && back.threads == c.threads &&
                      memcmp(back.shape, c.shape, (size_t)c.rank * sizeof *c.shape) == 0,
                  "%s came back as %s", text, again);
    rdx_case_release(&task);
}

/* A callback whose own calls fail leaves the sentence of the call that it hears of. */
static void fail_again(void *user, int level, const char *line)
{
    (void)line;
    *(int *)user += level == 1;
    rdx_set_log(NULL, NULL, 0); /* else it hears of its own */
    ck_assert_int_eq(rdx_plan_create(NULL, NULL), RDX_ERR_NULL);
    ck_assert_str_eq(rdx_last_error(), "plan is NULL");
}

START_TEST(sentences_stay)
{
    int heard = 0;
    task_open(&task, "sum:f32:64x100/1");
    task.problem.threads = -7;
    rdx_set_log(fail_again, &heard, 1);
    ck_assert_int_eq(rdx_reduce(&task.problem, NULL), RDX_ERR_OPTION);
    ck_assert_int_eq(heard, 1);
    ck_assert_str_eq(rdx_last_error(), "threads is -7; 0 is the default");
    rdx_case_release(&task);
}
END_TEST

START_TEST(logs)
{
    Heard heard = {0};
    static const char *const lines[] = {"sum:f32:64x1024/1",
                                        "var0:bf16:8x9x10/0,2:nan=omit",
                                        "norm3:f64:100",
                                        "max:i8:4x5x6@30x-1x5+4/1:out2=1",
                                        "std2:f32:7x8/-1:keep=1:out=f16",
                                        "var:f32:7x8/-1:out2=f64",
                                        "mean:f32:64x100/1:alpha=2:beta=-1.5:threads=2",
                                        "sum:f32:-"};
    task_open(&task, "sum:f32:64x100/1");
    rdx_set_log(hear, &heard, 0);
    rdx_plan_destroy(task_plan(&task));
    ck_assert_int_eq(heard.lines, 0); /* off */
    rdx_set_log(hear, &heard, 1);
    ck_assert_int_eq(rdx_reduce(NULL, NULL), RDX_ERR_NULL);
    ck_assert_int_eq(rdx_plan_create(&(RdxPlan *){NULL}, &(RdxProblem){.size = 3}), RDX_ERR_STRUCT_SIZE);
    ck_assert_int_eq(heard.levels[1], 1);
    ck_assert_ptr_nonnull(strstr(heard.last, "problem->size is 3"));
    int errors = heard.lines;
    rdx_set_log(hear, &heard, 3);
    RdxPlan *plan = task_plan(&task);
    ck_assert_int_eq(heard.levels[2], 1);
    ck_assert_int_eq(task_execute(&task, plan), RDX_OK);
    ck_assert_int_eq(heard.levels[3], 1);
    ck_assert_int_ge(heard.lines, errors + 2);
    for (int alpha = 2; alpha < 5; alpha++) { /* one plan of the cache has many */
        char end[16];
        task.problem.alpha = alpha;
        ck_assert_int_eq(rdx_reduce(&task.problem, NULL), RDX_OK);
        snprintf(end, sizeof end, ":alpha=%d", alpha);
        ck_assert_msg(strstr(heard.last, end) != NULL, "\"%s\" does not say %s", heard.last, end);
    }
    const int launches = heard.levels[3];
    ck_assert_int_eq(launches, 4);
    rdx_set_log(NULL, NULL, 3);
    ck_assert_int_eq(task_execute(&task, plan), RDX_OK);
    ck_assert_int_eq(heard.levels[3], launches);
    rdx_plan_destroy(plan);
    rdx_case_release(&task);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        check_replay(lines[i]);
}
END_TEST

START_TEST(thread_settings)
{
    task_open(&task, "sum:f32:4000x700/0");
    static char text[8192];
    for (int threads = -3; threads < 5; threads++) { /* any value is taken, 0 and less are the machine's */
        rdx_set_threads(threads);
        RdxPlan *plan = task_plan(&task);
        ck_assert_int_eq(task_execute(&task, plan), RDX_OK);
        ck_assert_int_eq(rdx_plan_explain(plan, RDX_JSON, text, sizeof text, NULL), RDX_OK);
        rdx_plan_destroy(plan);
    }
    rdx_set_threads(0);
    rdx_case_release(&task);
}
END_TEST

Suite *test_api_state_suite(void);

Suite *test_api_state_suite(void)
{
    Suite *suite = suite_create("api_state");
    TCase *tests = tcase_create("api_state");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, shared_plans);
    tcase_add_test(tests, modes);
#ifndef __SANITIZE_THREAD__
    tcase_add_test(tests, forks);
#endif
    tcase_add_test(tests, logs);
    tcase_add_test(tests, sentences_stay);
    tcase_add_test(tests, thread_settings);
    suite_add_tcase(suite, tests);
    return suite;
}
