/* The pool. A job is a generation number, a body and a counter of parts still to be taken: workers and the caller take
   parts from it until none is left, so it does not matter how many workers there are. */
#define _GNU_SOURCE
#include "pool.h"

#include "sys.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock; /* guards everything but the atomics */
    pthread_cond_t wake, done;
    pthread_t thread[RDX_POOL_MAX];
    int threads;
    bool stop, guarded; /* guarded: forget is called in the children of forks */
    void (*body)(void *context, int part);
    void *context;
    int parts;
    int active;             /* workers inside the present job */
    atomic_int next;        /* the next part to be taken */
    atomic_uint generation; /* one more with each job */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static pthread_mutex_t owner = PTHREAD_MUTEX_INITIALIZER; /* held by the caller whose job runs */
static _Thread_local bool inside;                         /* this thread works on a job */

/* 8192, as many as Linux is built for: a set of fewer is refused where there may be more. */
typedef struct Processors {
    cpu_set_t set[8192 / CPU_SETSIZE];
} Processors;

static Processors processors_of(pid_t thread) /* 0: this one. None where the system does not say */
{
    Processors processors;
    if (sched_getaffinity(thread, sizeof processors.set, processors.set) != 0)
        CPU_ZERO_S(sizeof processors.set, processors.set);
    return processors;
}

/* This thread's and the main one's: either may be bound to a processor, and still the process has others. */
static Processors all_processors(void)
{
    Processors all = processors_of(getpid()), own = processors_of(0);
    CPU_OR_S(sizeof all.set, all.set, all.set, own.set);
    return all;
}

int rdx_pool_processors(void)
{
    Processors all = all_processors();
    int count = CPU_COUNT_S(sizeof all.set, all.set);
    return count < 1 ? 1 : count > RDX_POOL_MAX ? RDX_POOL_MAX : count;
}

/* A worker has inherited what the thread that started it was bound to. A set that is whole is left as it is, to grow
   when the process's does. */
static void run_anywhere(void)
{
    Processors all = all_processors(), own = processors_of(0);
    if (!CPU_EQUAL_S(sizeof all.set, all.set, own.set))
        sched_setaffinity(0, sizeof all.set, all.set);
}

static void take_parts(void (*body)(void *, int), void *context, int parts)
{
    inside = true;
    for (int part; (part = atomic_fetch_add_explicit(&pool.next, 1, memory_order_relaxed)) < parts;)
        body(context, part);
    inside = false;
}

/* A short spin catches jobs that follow each other closely (some 20 us on a Zen 4, more where a pause is longer),
   then the thread sleeps. */
static void spin_for_job(unsigned seen)
{
    for (int i = 0; i < 2000 && atomic_load_explicit(&pool.generation, memory_order_relaxed) == seen; i++) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
}

static void *work(void *argument)
{
    unsigned seen = (unsigned)(uintptr_t)argument;
    run_anywhere();
    for (;;) {
        spin_for_job(seen);
        pthread_mutex_lock(&pool.lock);
        while (!pool.stop && atomic_load_explicit(&pool.generation, memory_order_relaxed) == seen)
            pthread_cond_wait(&pool.wake, &pool.lock);
        seen = atomic_load_explicit(&pool.generation, memory_order_relaxed);
        bool stop = pool.stop, idle = pool.body == NULL;
        void (*body)(void *, int) = pool.body;
        void *context = pool.context;
        int parts = pool.parts;
        pool.active += !stop && !idle;
        pthread_mutex_unlock(&pool.lock);
        if (stop)
            return NULL;
        if (idle) /* the job was over before this thread woke */
            continue;
        take_parts(body, context, parts);
        pthread_mutex_lock(&pool.lock);
        if (--pool.active == 0)
            pthread_cond_signal(&pool.done);
        pthread_mutex_unlock(&pool.lock);
    }
}

/* The child of a fork has no workers and locks of unknown state: it begins anew. */
static void forget(void)
{
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.wake, NULL);
    pthread_cond_init(&pool.done, NULL);
    pthread_mutex_init(&owner, NULL);
    pool.threads = pool.active = 0;
    pool.body = NULL;
    pool.stop = false;
    inside = false;
}

__attribute__((constructor)) static void guard_forks(void)
{
    pool.guarded = rdx_sys_atfork(NULL, NULL, forget) == 0;
}

/* Workers take no signals that are sent to the process: its handlers run on threads of its own, which may have blocked
   them for a while. What a thread brings on itself is not among them, nor what profilers send. */
static void block_signals(sigset_t *before)
{
    static const int kept[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF};
    sigset_t blocked;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        sigdelset(&blocked, kept[i]);
    pthread_sigmask(SIG_BLOCK, &blocked, before);
}

static void grow(int threads) /* with the lock held */
{
    void *seen = (void *)(uintptr_t)atomic_load_explicit(&pool.generation, memory_order_relaxed);
    if (!pool.guarded || pool.threads >= threads)
        return;
    sigset_t before;
    block_signals(&before);
    while (pool.threads < threads && pool.threads < RDX_POOL_MAX &&
           rdx_sys_thread_create(&pool.thread[pool.threads], work, seen) == 0)
        pool.threads++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void rdx_pool_run(int parts, void (*body)(void *context, int part), void *context)
{
    if (parts <= 1 || inside || pthread_mutex_trylock(&owner) != 0) {
        for (int part = 0; part < parts; part++)
            body(context, part);
        return;
    }
    pthread_mutex_lock(&pool.lock);
    if (pool.threads < parts - 1)
        grow(parts - 1);
    pool.body = body;
    pool.context = context;
    pool.parts = parts;
    atomic_store_explicit(&pool.next, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&pool.generation, 1, memory_order_relaxed);
    pthread_cond_broadcast(&pool.wake);
    pthread_mutex_unlock(&pool.lock);
    take_parts(body, context, parts);
    pthread_mutex_lock(&pool.lock);
    pool.body = NULL; /* who wakes now comes too late */
    while (pool.active > 0)
        pthread_cond_wait(&pool.done, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
    pthread_mutex_unlock(&owner);
}

void rdx_pool_shutdown(void)
{
    pthread_mutex_lock(&owner);
    pthread_mutex_lock(&pool.lock);
    pool.stop = true;
    pthread_cond_broadcast(&pool.wake);
    int threads = pool.threads;
    pthread_mutex_unlock(&pool.lock);
    for (int i = 0; i < threads; i++)
        pthread_join(pool.thread[i], NULL);
    pthread_mutex_lock(&pool.lock);
    pool.threads = 0;
    pool.stop = false;
    pthread_mutex_unlock(&pool.lock);
    pthread_mutex_unlock(&owner);
}
