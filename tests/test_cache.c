/* The plan cache of rdx_reduce: right answers whatever was asked before, at every size, with keys that all collide,
   from many threads while its size changes, and plans that outlive their place. */
#include "sys.h"
#include "task.h"

#include <pthread.h>
#include <stdatomic.h>

extern uint64_t rdx_cache_hash_mask;
extern size_t rdx_cache_idle_most;

enum { TASKS = 24 };

static const char *const lines[TASKS] = {
    "sum:f32:30x40/1",
    "sum:f32:30x40/0",
    "sum:f32:40x30/1",
    "sum:f64:30x40/1",
    "mean:f32:30x40/1",
    "max:f32:30x40/1",
    "max:f32:30x40/1:out2=1",
    "var:f32:30x40/1",
    "var0:f32:30x40/1",
    "var:f32:30x40/1:out2=1",
    "norm2:f32:30x40/1",
    "norm3:f32:30x40/1",
    "sum:f32:30x40/1:nan=omit:data=holes",
    "sum:f32:30x40/1:out=f64",
    "sum:f32:30x40",
    "sum:f32:30x40/-",
    "sum:f32:30x40/1:keep=1",
    "sum:f32:30x40@1x30/1",
    "sum:f32:30x40@40x-1+39/1",
    "sum:f32:30x40+1/1",
    "sum:f32:30x40/1:ostrides=3",
    "sum:i32:30x40/1",
    "sum:f32:30x40/1:alpha=2",
    "sum:f32:30x40/1:alpha=0.5:beta=3",
};

typedef struct Known {
    RdxTask task;
    unsigned char *right[RDX_CASE_TENSORS];
} Known;

static Known *known;

/* The answers, from plans of their own. */
static void know(void)
{
    known = calloc(TASKS, sizeof *known);
    ck_assert_ptr_nonnull(known);
    for (int i = 0; i < TASKS; i++) {
        RdxTask *task = &known[i].task;
        task_open(task, lines[i]);
        RdxPlan *plan = task_plan(task);
        ck_assert_int_eq(task_execute(task, plan), RDX_OK);
        rdx_plan_destroy(plan);
        for (int which = RDX_CASE_OUT; which < task->tensors; which++) {
            known[i].right[which] = malloc(task_output_bytes(task, which) + 1);
            ck_assert_ptr_nonnull(known[i].right[which]);
            memcpy(known[i].right[which], task->buffer[which].storage, task_output_bytes(task, which));
        }
    }
}

static void forget(void)
{
    for (int i = 0; i < TASKS; i++) {
        free(known[i].right[RDX_CASE_OUT]);
        free(known[i].right[RDX_CASE_OUT2]);
        rdx_case_release(&known[i].task);
    }
    free(known);
}

static void check(int i)
{
    RdxTask *task = &known[i].task;
    rdx_case_reset(task);
    RdxStatus status = rdx_reduce(&task->problem, NULL);
    DEMAND(status == RDX_OK, "%s: %s", lines[i], rdx_last_error());
    for (int which = RDX_CASE_OUT; which < task->tensors; which++)
        DEMAND(memcmp(known[i].right[which], task->buffer[which].storage, task_output_bytes(task, which)) == 0,
               "%s: other answers through the cache", lines[i]);
}

START_TEST(every_size)
{
    static const size_t sizes[] = {256, 1, 0, 2, 7, 1000000, 24};
    know();
    for (int collide = 0; collide < 2; collide++) {
        rdx_cache_hash_mask = collide ? 0 : UINT64_MAX;
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            rdx_set_cache(sizes[s]);
            for (int round = 0; round < 200; round++)
                check((round * 7 + round / 5) % TASKS);
            for (int round = 0; round < 50; round++)
                check(round / 20);
        }
    }
    rdx_cache_hash_mask = UINT64_MAX;
    forget();
}
END_TEST

/* A hit allocates nothing; with the cache off every call does. */
START_TEST(hits)
{
    know();
    rdx_set_cache(256);
    for (int i = 0; i < TASKS; i++)
        check(i);
    rdx_sys_fail_at(0);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < TASKS; i++)
            check(i);
    ck_assert_int_eq(rdx_sys_calls(), 0);
    rdx_set_cache(0);
    rdx_sys_fail_at(0);
    check(0);
    int64_t once = rdx_sys_calls();
    ck_assert_int_ge(once, 1);
    check(0);
    ck_assert_int_ge(rdx_sys_calls(), once + 1);
    rdx_set_cache(256);
    forget();
}
END_TEST

/* Idle workspaces have a bound: the last one stays, in the place of others. */
START_TEST(idle_workspaces)
{
    static const char *const large[] = {"sum:f32:300x9000/0:threads=1", "sum:f32:300x9004/0:threads=1"};
    RdxTask task[2];
    size_t bytes[2];
    rdx_set_cache(256);
    for (int i = 0; i < 2; i++) {
        task_open(&task[i], large[i]);
        RdxPlan *plan = task_plan(&task[i]);
        bytes[i] = rdx_plan_workspace(plan);
        ck_assert_uint_gt(bytes[i], 0);
        rdx_plan_destroy(plan);
    }
    for (int room = 0; room < 3; room++) { /* for none, for one, for both */
        rdx_cache_idle_most = room == 0 ? 100 : room == 1 ? bytes[0] + bytes[1] - 1 : bytes[0] + bytes[1];
        for (int round = 0; round < 3; round++) {
            rdx_sys_fail_at(0);
            for (int i = 0; i < 2; i++)
                ck_assert_int_eq(rdx_reduce(&task[i].problem, NULL), RDX_OK);
            if (round > 0)
                ck_assert_int_eq(rdx_sys_calls(), room == 2 ? 0 : 2);
        }
        rdx_sys_fail_at(0);
        ck_assert_int_eq(rdx_reduce(&task[1].problem, NULL), RDX_OK);
        ck_assert_int_eq(rdx_sys_calls(), room == 0);
    }
    rdx_cache_idle_most = 64 << 20;
    for (int i = 0; i < 2; i++)
        rdx_case_release(&task[i]);
}
END_TEST

/* The longest keys: RDX_MAX_RANK dims in every tensor, the last axis among the reduced. */
START_TEST(every_rank)
{
    static const int ranks[] = {1, 31, 32, 33, 63, RDX_MAX_RANK};
    float in[6] = {1, 2, 3, 4, 5, 6}, out[2], out2[2];
    int64_t extents[RDX_MAX_RANK], kept[RDX_MAX_RANK];
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        int rank = ranks[i];
        int32_t axes[] = {rank - 1};
        for (int d = 0; d < rank; d++)
            extents[d] = kept[d] = 1;
        extents[0] = kept[0] = rank > 1 ? 2 : 1;
        extents[rank - 1] = 3;
        kept[rank - 1] = 1;
        RdxTensor tensor = {in, {1, 0}, rank, {2, 32, 1}, extents, NULL, 0};
        RdxTensor low = {out, {1, 0}, rank, {2, 32, 1}, kept, NULL, 0}, high = low;
        RdxProblem problem = RDX_PROBLEM_INIT;
        high.data = out2;
        problem.op = RDX_MINMAX, problem.axes = axes, problem.naxes = 1;
        problem.in = &tensor, problem.out = &low, problem.out2 = &high;
        rdx_set_cache(256);
        for (int call = 0; call < 2; call++) {
            ck_assert_int_eq(rdx_reduce(&problem, NULL), RDX_OK);
            ck_assert(out[0] == 1 && out2[0] == 3 && (rank == 1 || (out[1] == 4 && out2[1] == 6)));
            rdx_sys_fail_at(0); /* forgets the calls of the first */
        }
        ck_assert_int_eq(rdx_reduce(&problem, NULL), RDX_OK);
        ck_assert_msg(rdx_sys_calls() == 0, "rank %d is not found again", rank);
    }
}
END_TEST

/* What redax.h says of a plan's stay: 7 other problems never push one out, 8 do where all keys want the same places. */
START_TEST(stay)
{
    static const struct {
        size_t plans;
        int others; /* that one outlives */
    } sizes[] = {{256, 7}, {8, 7}, {3, 2}, {1, 0}};
    know();
    rdx_cache_hash_mask = 0;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int more = 0; more < 2; more++) {
            rdx_set_cache(sizes[s].plans);
            for (int i = 0; i < TASKS; i++) /* full of others */
                check(i);
            for (int i = 0; i <= sizes[s].others + more; i++)
                check(i);
            rdx_sys_fail_at(0);
            check(0);
            ck_assert_msg((rdx_sys_calls() == 0) == (more == 0), "%zu plans, %d others", sizes[s].plans,
                          sizes[s].others + more);
        }
    rdx_cache_hash_mask = UINT64_MAX;
    rdx_set_cache(256);
    forget();
}
END_TEST

/* alpha, beta and pointers are arguments: one plan serves them all. */
START_TEST(arguments)
{
    know();
    rdx_set_cache(256);
    RdxTask *task = &known[22].task; /* alpha = 2 */
    const float *sum = (const float *)(const void *)known[0].right[RDX_CASE_OUT];
    for (int k = 1; k < 20; k++) {
        RdxProblem problem = task->problem;
        float out[64] = {0};
        RdxTensor elsewhere = *problem.out;
        elsewhere.data = out + k % 3;
        problem.alpha = k;
        problem.out = &elsewhere;
        if (k == 3) /* the plan for any alpha is there now */
            rdx_sys_fail_at(0);
        ck_assert_int_eq(rdx_reduce(&problem, NULL), RDX_OK);
        for (int i = 0; i < 30; i++)
            ck_assert_msg(out[k % 3 + i] == (float)k * sum[i] || sum[i] == 0, "alpha %d, output %d", k, i);
    }
    ck_assert_int_eq(rdx_sys_calls(), 0);
    forget();
}
END_TEST

/* What is wrong with a promise is said whether the cache has a plan for the rest or not. */
START_TEST(promises)
{
    static const struct {
        int64_t align;
        int64_t place; /* of the data, in bytes */
        RdxStatus status;
    } each[] = {{16, 64, RDX_OK},
                {64, 64, RDX_OK},
                {1024, 1024, RDX_OK},
                {64, 16, RDX_ERR_ALIGN},
                {32, 16, RDX_ERR_ALIGN},
                {16, 8, RDX_ERR_ALIGN},
                {-64, 64, RDX_ERR_OPTION},
                {24, 64, RDX_ERR_OPTION},
                {65552, 64, RDX_ERR_OPTION},
                {INT32_MIN, 64, RDX_ERR_OPTION},
                {4, 68, RDX_OK},
                {2, 64, RDX_ERR_ALIGN}};
    _Alignas(2048) static unsigned char room[4096];
    for (int warm = 0; warm <= 1; warm++) {
        rdx_set_cache(256);
        for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
            float out = 1;
            RdxTensor from = {room, {1, 0}, 1, {2, 32, 1}, (int64_t[]){64}, NULL, 0},
                      to = {&out, {1, 0}, 0, {2, 32, 1}, NULL, NULL, 0};
            RdxProblem problem = RDX_PROBLEM_INIT;
            problem.op = RDX_SUM, problem.in = &from, problem.out = &to;
            for (int k = 0; warm && k < 5; k++) { /* plans for what is promised otherwise */
                problem.align = k ? 2 << k : 0;
                ck_assert_int_eq(rdx_reduce(&problem, NULL), RDX_OK);
            }
            from.data = room + each[i].place;
            problem.align = each[i].align;
            ck_assert_msg(rdx_reduce(&problem, NULL) == each[i].status, "align %lld, data at %lld, warm %d: %s",
                          (long long)each[i].align, (long long)each[i].place, warm, rdx_last_error());
            if (!warm)
                rdx_set_cache(256);
        }
    }
}
END_TEST

/* ---- Threads ---- */

static atomic_bool going;
static atomic_int failures;

typedef struct Hammer {
    pthread_t thread;
    int seed;
} Hammer;

static void *hammer(void *argument)
{
    const Hammer *own = argument;
    unsigned char out[8192], out2[8192];
    for (int round = 0; round < 3000; round++) {
        int i = (round * 5 + own->seed * 3 + round / 7) % TASKS;
        const RdxTask *task = &known[i].task;
        if (task->c.beta != 0)
            continue; /* would need the old contents */
        RdxProblem problem = task->problem;
        RdxTensor tensor = *problem.out, tensor2;
        int size = rdx_data_type(rdx_data_number(tensor.dtype))->size;
        memcpy(out, known[i].right[RDX_CASE_OUT], task_output_bytes(task, RDX_CASE_OUT)); /* holes as they were */
        for (int64_t e = 0; e < task->extent[RDX_CASE_OUT].elements; e++) {
            ptrdiff_t at =
                (const unsigned char *)rdx_case_element(task, RDX_CASE_OUT, e) - task->buffer[RDX_CASE_OUT].storage;
            memset(out + at, 0x11, (size_t)size);
        }
        tensor.data = out - task->extent[RDX_CASE_OUT].low * size;
        problem.out = &tensor;
        if (problem.out2) {
            tensor2 = *problem.out2;
            tensor2.data = out2;
            problem.out2 = &tensor2;
        }
        bool right = rdx_reduce(&problem, NULL) == RDX_OK &&
                     memcmp(out, known[i].right[RDX_CASE_OUT], task_output_bytes(task, RDX_CASE_OUT)) == 0;
        atomic_fetch_add(&failures, !right);
    }
    return NULL;
}

static void *resize(void *unused)
{
    (void)unused;
    for (size_t i = 0; atomic_load(&going); i++) {
        rdx_set_cache(i % 5);
        if (i % 16 == 0)
            rdx_shutdown();
    }
    return NULL;
}

START_TEST(many_threads)
{
    enum { HAMMERS = 8 };
    Hammer hammers[HAMMERS];
    pthread_t resizer;
    know();
    for (int collide = 0; collide < 2; collide++) {
        rdx_cache_hash_mask = collide ? 0 : UINT64_MAX;
        rdx_set_cache(1);
        atomic_store(&going, true);
        for (int i = 0; i < HAMMERS; i++) {
            hammers[i].seed = i;
            ck_assert_int_eq(pthread_create(&hammers[i].thread, NULL, hammer, &hammers[i]), 0);
        }
        ck_assert_int_eq(pthread_create(&resizer, NULL, resize, NULL), 0);
        for (int i = 0; i < HAMMERS; i++)
            pthread_join(hammers[i].thread, NULL);
        atomic_store(&going, false);
        pthread_join(resizer, NULL);
        ck_assert_int_eq(atomic_load(&failures), 0);
    }
    rdx_cache_hash_mask = UINT64_MAX;
    rdx_set_cache(256);
    forget();
}
END_TEST

Suite *test_cache_suite(void);

Suite *test_cache_suite(void)
{
    Suite *suite = suite_create("cache");
    TCase *tests = tcase_create("cache");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, every_size);
    tcase_add_test(tests, hits);
    tcase_add_test(tests, idle_workspaces);
    tcase_add_test(tests, every_rank);
    tcase_add_test(tests, stay);
    tcase_add_test(tests, arguments);
    tcase_add_test(tests, promises);
    tcase_add_test(tests, many_threads);
    suite_add_tcase(suite, tests);
    return suite;
}
