/* Faults: the k-th call of the system shim fails, for k = 1, 2, ... until none is left. Every time: a status, not a
   crash; nothing written where it failed; nothing leaked; and the next call works. */
#include "pool.h"
#include "sys.h"
#include "task.h"

#include <malloc.h>

static RdxTask task;

static const char *const lines[] = {
    "sum:f32:64x1024/1",
    "sum:f32:600000:threads=2",
    "var:f32:3000x200/0:out2=1:threads=2",
    "logsumexp:f64:40x50x60/0,2:threads=2",
    "argmax:f32:40x50x60@1x40x2000",
    "prod:c128:70x700/0:data=near",
    "minmax:i16:30x40x50/1",
};

typedef struct Answer {
    unsigned char *bytes[RDX_CASE_TENSORS];
} Answer;

static void answer_of(Answer *answer)
{
    for (int which = RDX_CASE_OUT; which < task.tensors; which++) {
        answer->bytes[which] = malloc(task_output_bytes(&task, which));
        ck_assert_ptr_nonnull(answer->bytes[which]);
        memcpy(answer->bytes[which], task.buffer[which].storage, task_output_bytes(&task, which));
    }
}

static bool is_answer(const Answer *answer)
{
    for (int which = RDX_CASE_OUT; which < task.tensors; which++)
        if (memcmp(answer->bytes[which], task.buffer[which].storage, task_output_bytes(&task, which)) != 0)
            return false;
    return true;
}

static bool is_untouched(void)
{
    for (int which = RDX_CASE_OUT; which < task.tensors; which++)
        for (const unsigned char *at = task.buffer[which].storage; at < task.buffer[which].storage_end; at++)
            if (*at != 0xff)
                return false;
    return true;
}

static void free_answer(Answer *answer)
{
    for (int which = RDX_CASE_OUT; which < task.tensors; which++)
        free(answer->bytes[which]);
}

/* From a cold library, so that every allocation and thread of the call is there to fail. */
static void check_reduce(const char *text)
{
    Answer answer = {{NULL}};
    task_open(&task, text);
    ck_assert_int_eq(rdx_reduce(&task.problem, NULL), RDX_OK);
    answer_of(&answer);
    bool clean = false;
    int failed = 0;
    for (int k = 1; !clean; k++) {
        ck_assert_int_lt(k, 1000);
        rdx_shutdown();
        rdx_case_reset(&task);
        rdx_sys_fail_at(k);
        RdxStatus status = rdx_reduce(&task.problem, NULL);
        clean = rdx_sys_calls() < k;
        rdx_sys_fail_at(0);
        if (status == RDX_OK) { /* no thread or no place in the cache is no error */
            ck_assert_msg(is_answer(&answer), "%s: call %d failed and the answer is another", text, k);
        } else {
            failed++;
            ck_assert_msg(!clean, "%s: %s without a fault", text, rdx_last_error());
            ck_assert_msg(status == RDX_ERR_MEMORY, "%s: call %d: %s", text, k, rdx_status_name(status));
            ck_assert_msg(rdx_last_error()[0] != '\0', "%s: call %d: no sentence", text, k);
            ck_assert_msg(is_untouched(), "%s: call %d failed and the output was written", text, k);
        }
        rdx_case_reset(&task);
        ck_assert_msg(rdx_reduce(&task.problem, NULL) == RDX_OK && is_answer(&answer), "%s: after fault %d", text, k);
    }
    ck_assert_msg(failed >= 1, "%s: no fault was noticed", text);
    rdx_shutdown();
    free_answer(&answer);
    rdx_case_release(&task);
}

START_TEST(faults_in_reduce)
{
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        check_reduce(lines[i]);
}
END_TEST

START_TEST(faults_in_plans)
{
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        bool clean = false;
        task_open(&task, lines[i]);
        for (int k = 1; !clean; k++) {
            RdxPlan *const marker = (RdxPlan *)(uintptr_t)0x10, *plan = marker;
            ck_assert_int_lt(k, 1000);
            rdx_sys_fail_at(k);
            RdxStatus status = rdx_plan_create(&plan, &task.problem);
            clean = rdx_sys_calls() < k;
            rdx_sys_fail_at(0);
            ck_assert_msg((status == RDX_OK) == clean, "%s: call %d: %s", lines[i], k, rdx_status_name(status));
            if (status == RDX_OK)
                rdx_plan_destroy(plan);
            else
                ck_assert(status == RDX_ERR_MEMORY && plan == marker);
        }
        rdx_case_release(&task);
    }
}
END_TEST

/* Executing a plan allocates nothing at all. */
START_TEST(execute_is_quiet)
{
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        task_open(&task, lines[i]);
        RdxPlan *plan = task_plan(&task);
        ck_assert_int_eq(task_execute(&task, plan), RDX_OK); /* the pool's threads are there now */
        rdx_sys_fail_at(0);
        ck_assert_int_eq(task_execute(&task, plan), RDX_OK);
        ck_assert_int_eq(rdx_sys_calls(), 0);
        rdx_plan_destroy(plan);
        rdx_case_release(&task);
    }
    /* nor does it mind when there is no thread to be had */
    task_open(&task, lines[1]);
    Answer answer = {{NULL}};
    RdxPlan *plan = task_plan(&task);
    ck_assert_int_eq(task_execute(&task, plan), RDX_OK);
    answer_of(&answer);
    for (int k = 1; k < 6; k++) {
        rdx_pool_shutdown();
        rdx_case_reset(&task);
        rdx_sys_fail_at(k);
        ck_assert_int_eq(task_execute(&task, plan), RDX_OK);
        rdx_sys_fail_at(0);
        ck_assert(is_answer(&answer));
    }
    free_answer(&answer);
    rdx_plan_destroy(plan);
    rdx_case_release(&task);
}
END_TEST

#if defined __SANITIZE_ADDRESS__
#define HAVE_MALLINFO 0
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAVE_MALLINFO 0
#endif
#endif
#ifndef HAVE_MALLINFO
#define HAVE_MALLINFO 1
#endif

static size_t in_use(void)
{
    return HAVE_MALLINFO ? mallinfo2().uordblks : 0;
}

/* Failing again and again takes no memory (under a sanitizer, its leak check says so instead). The allocator's own
   caches count as in use, so one call alone says nothing: a hundred do. */
START_TEST(no_leaks)
{
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        task_open(&task, lines[i]);
        task.problem.threads = 1; /* threads keep their stacks */
        for (int k = 1; k < 8; k++) {
            size_t before = 0;
            for (int round = 0; round < 110; round++) {
                if (round == 10)
                    before = in_use();
                rdx_sys_fail_at(k);
                (void)!rdx_reduce(&task.problem, NULL);
                rdx_sys_fail_at(0);
                rdx_shutdown();
            }
            ck_assert_msg(in_use() < before + 1600, "%s: fault %d: %zu bytes before, %zu after 100 calls", lines[i], k,
                          before, in_use());
        }
        rdx_case_release(&task);
    }
}
END_TEST

#if defined(__GLIBC__) && !defined(__SANITIZE_THREAD__) /* whose thread-local data alone is more */
#define HAS_SMALL_STACKS
static void *ask_stack(void *bytes)
{
    pthread_attr_t attributes;
    void *low;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &low, bytes);
        pthread_attr_destroy(&attributes);
    }
    return NULL;
}

/* Where a program has threads of small stacks, the library's still have what a call needs. */
START_TEST(stacks)
{
    pthread_attr_t attributes, before;
    ck_assert_int_eq(pthread_getattr_default_np(&before), 0);
    ck_assert_int_eq(pthread_attr_init(&attributes), 0);
    ck_assert_int_eq(pthread_attr_setstacksize(&attributes, 160 << 10), 0); /* AArch64 has 128 at least */
    ck_assert_int_eq(pthread_setattr_default_np(&attributes), 0);
    for (int ours = 0; ours < 2; ours++) {
        pthread_t thread;
        size_t bytes = 0;
        ck_assert_int_eq(ours ? rdx_sys_thread_create(&thread, ask_stack, &bytes)
                              : pthread_create(&thread, NULL, ask_stack, &bytes),
                         0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        ck_assert_msg(ours ? bytes >= 384 << 10 : bytes > 0 && bytes < 192 << 10, "%zu bytes", bytes);
    }
    ck_assert_int_eq(pthread_setattr_default_np(&before), 0);
    pthread_attr_destroy(&before);
    pthread_attr_destroy(&attributes);
}
END_TEST
#endif

START_TEST(the_shim)
{
    rdx_sys_fail_at(2);
    void *first = rdx_sys_alloc(100, 64), *second = rdx_sys_alloc(100, 64), *third = rdx_sys_alloc(0, 16);
    ck_assert(first != NULL && second == NULL && third != NULL && (uintptr_t)first % 64 == 0);
    ck_assert_int_eq(rdx_sys_calls(), 3);
    ck_assert_ptr_null(rdx_sys_alloc(SIZE_MAX - 5, 64));
    rdx_sys_fail_at(0);
    rdx_sys_free(first);
    rdx_sys_free(second);
    rdx_sys_free(third);
    ck_assert_ptr_null(rdx_sys_dlopen("/nowhere/libnothing.so"));
}
END_TEST

Suite *test_sys_suite(void);

Suite *test_sys_suite(void)
{
    Suite *suite = suite_create("sys");
    TCase *tests = tcase_create("sys");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, the_shim);
#ifdef HAS_SMALL_STACKS
    tcase_add_test(tests, stacks);
#endif
    tcase_add_test(tests, faults_in_reduce);
    tcase_add_test(tests, faults_in_plans);
    tcase_add_test(tests, execute_is_quiet);
    tcase_add_test(tests, no_leaks);
    suite_add_tcase(suite, tests);
    return suite;
}
