/* What redax.h says of the caller's stack: rdx_reduce on threads with so much and no more. */
#include "task.h"

#include <check.h>
#include <pthread.h>

static RdxTask task;

static void *reduce_there(void *status)
{
    *(RdxStatus *)status = rdx_reduce(&task.problem, NULL);
    return NULL;
}

START_TEST(small_stacks)
{
    static const char *const lines[] = {"sum:f32:16",
                                        "sum:f32:64x3000/1",
                                        "sum:f32:300x3000/0:threads=2",
                                        "var1:c64:40x3000/1:out2=1",
                                        "argmax:bf16:9000",
                                        "argmax:bf16:64x1024/1",
                                        "minmax:i64:64x1024/0",
                                        "logsumexp:f64:30x5000/1",
                                        "norm3:f8e4m3:7x999",
                                        "prod:c128:5x1000/0",
                                        "sum:bf16:100x49x64/0,2",
                                        "max:i8:4000x3/1:nan=omit",
                                        "argmin:f64:500x5/1",
                                        "var:f16:1000x512@1024x2",
                                        "mean:u8:30x3000/1:beta=2",
                                        "sumsq:c64:64x64x64/1:nan=omit"};
    pthread_attr_t attributes;
    ck_assert_int_eq(pthread_attr_init(&attributes), 0);
    ck_assert_int_eq(pthread_attr_setstacksize(&attributes, 192 << 10), 0);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        pthread_t thread;
        RdxStatus status = RDX_ERR_INTERNAL;
        task_open(&task, lines[i]);
        ck_assert_int_eq(pthread_create(&thread, &attributes, reduce_there, &status), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        ck_assert_msg(status == RDX_OK, "%s: %s", lines[i], rdx_status_name(status));
        rdx_case_release(&task);
    }
    ck_assert_int_eq(pthread_attr_destroy(&attributes), 0);
}
END_TEST

Suite *test_stack_suite(void);

Suite *test_stack_suite(void)
{
    Suite *suite = suite_create("stack");
    TCase *tcase = tcase_create("stack");
    tcase_set_timeout(tcase, 60);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* which take more of it */
    tcase_add_test(tcase, small_stacks);
#else
    (void)small_stacks;
#endif
    suite_add_tcase(suite, tcase);
    return suite;
}
