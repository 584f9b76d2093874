/* pool: every part exactly once whatever the number of threads, callers at once or bound to a processor, nested calls,
   after a fork, after shutdown, and with no thread to be had. */
#include "pool.h"
#include "sys.h"
#include "task.h"

#include <check.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PARTS = 64 };

typedef struct Tally {
    atomic_int done[PARTS];
} Tally;

static void mark(void *context, int part)
{
    Tally *tally = context;
    atomic_fetch_add(&tally->done[part], 1);
}

static void check_tally(const Tally *tally, int parts, int times)
{
    for (int i = 0; i < PARTS; i++)
        DEMAND(tally->done[i] == (i < parts ? times : 0), "part %d of %d ran %d times", i, parts, tally->done[i]);
}

START_TEST(every_part_once)
{
    for (int round = 0; round < 50; round++)
        for (int parts = 0; parts <= PARTS; parts = parts < 5 ? parts + 1 : parts * 2 - 3) {
            Tally tally;
            memset(&tally, 0, sizeof tally);
            rdx_pool_run(parts, mark, &tally);
            check_tally(&tally, parts, 1);
        }
    ck_assert_int_ge(rdx_pool_processors(), 1);
    ck_assert_int_le(rdx_pool_processors(), RDX_POOL_MAX);
}
END_TEST

/* A caller that is bound to one processor: what counts, and where workers run, is what the process has. */
typedef struct Seen {
    pthread_t caller;
    atomic_int elsewhere, narrow; /* parts that workers did; those of them on threads that have fewer processors */
    int processors;
} Seen;

static int own_processors(void)
{
    cpu_set_t set[8];
    return sched_getaffinity(0, sizeof set, set) == 0 ? CPU_COUNT_S(sizeof set, set) : -1;
}

static void look(void *context, int part)
{
    Seen *seen = context;
    (void)part;
    usleep(1000);
    if (pthread_equal(seen->caller, pthread_self()))
        return;
    atomic_fetch_add(&seen->elsewhere, 1);
    atomic_fetch_add(&seen->narrow, own_processors() != seen->processors);
}

static void *run_bound(void *context)
{
    Seen *seen = context;
    cpu_set_t one[8];
    CPU_ZERO_S(sizeof one, one);
    CPU_SET_S((size_t)sched_getcpu(), sizeof one, one);
    DEMAND(sched_setaffinity(0, sizeof one, one) == 0 && own_processors() == 1, "not bound to processor %d",
           sched_getcpu());
    DEMAND(rdx_pool_processors() == rdx_min(seen->processors, RDX_POOL_MAX), "%d processors, not %d",
           rdx_pool_processors(), seen->processors);
    seen->caller = pthread_self();
    for (int round = 0; round < 500 && seen->elsewhere == 0; round++)
        rdx_pool_run(8, look, seen);
    return NULL;
}

START_TEST(bound_callers)
{
    static Seen seen;
    pthread_t thread;
    rdx_pool_shutdown();
    seen.processors = own_processors();
    ck_assert_int_ge(seen.processors, 1);
    ck_assert_int_eq(pthread_create(&thread, NULL, run_bound, &seen), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_gt(seen.elsewhere, 0);
    ck_assert_int_eq(seen.narrow, 0);
}
END_TEST

/* Many small jobs in a row: results of job k must be there before job k + 1 begins. */
typedef struct Chain {
    uint64_t value[PARTS];
} Chain;

static void step(void *context, int part)
{
    Chain *chain = context;
    chain->value[part] = chain->value[part] * 3 + (uint64_t)part;
}

START_TEST(jobs_in_a_row)
{
    static Chain chain;
    uint64_t wanted[PARTS] = {0};
    for (int job = 0; job < 20000; job++) {
        int parts = 2 + job % 3;
        rdx_pool_run(parts, step, &chain);
        for (int i = 0; i < parts; i++)
            wanted[i] = wanted[i] * 3 + (uint64_t)i;
        DEMAND(memcmp(wanted, chain.value, sizeof wanted) == 0, "after job %d", job);
        if (job % 500 == 499)
            usleep(200); /* let the workers fall asleep */
    }
}
END_TEST

static void nested(void *context, int part)
{
    Tally *tallies = context;
    rdx_pool_run(8, mark, &tallies[part]);
}

START_TEST(nested_calls)
{
    static Tally tallies[4];
    rdx_pool_run(4, nested, tallies);
    for (int i = 0; i < 4; i++)
        check_tally(&tallies[i], 8, 1);
}
END_TEST

static void *caller(void *argument)
{
    Tally *tally = argument;
    for (int i = 0; i < 500; i++)
        rdx_pool_run(1 + i % 7, mark, tally);
    return NULL;
}

START_TEST(callers_at_once)
{
    enum { CALLERS = 8 };
    static Tally tallies[CALLERS];
    pthread_t threads[CALLERS];
    for (int i = 0; i < CALLERS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, caller, &tallies[i]), 0);
    for (int i = 0; i < CALLERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < CALLERS; i++)
        for (int part = 0, wanted; part < 7; part++) {
            wanted = 0;
            for (int job = 0; job < 500; job++)
                wanted += part < 1 + job % 7;
            ck_assert_int_eq(tallies[i].done[part], wanted);
        }
}
END_TEST

START_TEST(after_shutdown)
{
    static Tally tally;
    for (int i = 0; i < 20; i++) {
        rdx_pool_run(4, mark, &tally);
        rdx_pool_shutdown();
        rdx_pool_shutdown(); /* twice is fine */
    }
    check_tally(&tally, 4, 20);
}
END_TEST

#ifndef __SANITIZE_THREAD__ /* which does not follow threads that a forked child starts */
/* A child has no workers of its parent's; its own pool must work, and the parent's go on. */
START_TEST(after_fork)
{
    static Tally tally;
    rdx_pool_run(4, mark, &tally);
    for (int i = 0; i < 5; i++) {
        usleep(20000); /* a thread that just starts may hold a sanitizer's lock, which the child would inherit */
        pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
            static Tally own;
            alarm(20);
            rdx_pool_run(6, mark, &own);
            rdx_pool_run(6, mark, &own);
            rdx_pool_shutdown();
            int right = 1;
            for (int part = 0; part < 6; part++)
                right = right && own.done[part] == 2;
            _exit(right ? 0 : 1);
        }
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child ended with status %x", status);
        rdx_pool_run(4, mark, &tally);
    }
    check_tally(&tally, 4, 6);
}
END_TEST
#endif

/* Without a thread to be had the caller does it all. */
START_TEST(no_threads)
{
    for (int k = 1; k <= 4; k++) {
        Tally tally;
        memset(&tally, 0, sizeof tally);
        rdx_pool_shutdown();
        rdx_sys_fail_at(k);
        rdx_pool_run(4, mark, &tally);
        rdx_sys_fail_at(0);
        check_tally(&tally, 4, 1);
        rdx_pool_run(4, mark, &tally);
        check_tally(&tally, 4, 2);
    }
}
END_TEST

static pthread_t heard_by;
static volatile sig_atomic_t signals_heard;

static void hear_signal(int number)
{
    (void)number;
    heard_by = pthread_self();
    signals_heard++;
}

/* A signal that this thread has blocked waits for it, whatever workers there are. */
START_TEST(workers_take_no_signals)
{
    struct sigaction action = {.sa_handler = hear_signal};
    sigset_t blocked, before;
    static Tally tally;
    rdx_pool_run(4, mark, &tally);
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
    ck_assert_int_eq(kill(getpid(), SIGUSR1), 0);
    usleep(20000);
    ck_assert_int_eq(signals_heard, 0);
    ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    for (int i = 0; i < 1000 && signals_heard == 0; i++)
        usleep(1000); /* at once, but where a sanitizer puts handlers off until the next call that waits */
    ck_assert_int_eq(signals_heard, 1);
    ck_assert(pthread_equal(heard_by, pthread_self()));
}
END_TEST

Suite *test_pool_suite(void);

Suite *test_pool_suite(void)
{
    Suite *suite = suite_create("pool");
    TCase *tests = tcase_create("pool");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, every_part_once);
    tcase_add_test(tests, bound_callers);
    tcase_add_test(tests, jobs_in_a_row);
    tcase_add_test(tests, nested_calls);
    tcase_add_test(tests, callers_at_once);
    tcase_add_test(tests, after_shutdown);
#ifndef __SANITIZE_THREAD__
    tcase_add_test(tests, after_fork);
#endif
    tcase_add_test(tests, no_threads);
    tcase_add_test(tests, workers_take_no_signals);
    suite_add_tcase(suite, tests);
    return suite;
}
