/* The log: swapped under a lock, called without it. A fork waits until nobody swaps or asks, so the child finds the
   lock free. */
#include "log.h"

#include "error.h"
#include "sys.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

typedef void (*LogCallback)(void *user, int level, const char *line);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static LogCallback callback;
static void *callback_user;
static atomic_int wanted;

static void take_lock(void)
{
    pthread_mutex_lock(&lock);
}

static void give_lock(void)
{
    pthread_mutex_unlock(&lock);
}

/* Before any lock is taken: a fork at that very moment finds the handlers there. */
__attribute__((constructor)) static void guard_forks(void)
{
    (void)rdx_sys_atfork(take_lock, give_lock, give_lock);
}

void rdx_set_log(void (*log)(void *user, int level, const char *line), void *user, int level)
{
    take_lock();
    callback = log;
    callback_user = user;
    atomic_store_explicit(&wanted, log ? level : RDX_LOG_OFF, memory_order_relaxed);
    give_lock();
}

bool rdx_log_wants(int level)
{
    return !RDX_LIKELY(atomic_load_explicit(&wanted, memory_order_relaxed) < level);
}

void rdx_log(int level, const char *format, ...)
{
    if (!rdx_log_wants(level))
        return;
    take_lock();
    LogCallback log = rdx_log_wants(level) ? callback : NULL; /* the two may just have been swapped */
    void *user = callback_user;
    give_lock();
    if (!log)
        return;
    char line[1024], sentence[RDX_SENTENCE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    /* Calls that the callback makes have sentences of their own. */
    snprintf(sentence, sizeof sentence, "%s", rdx_last_error());
    log(user, level, line);
    (void)rdx_error(RDX_OK, "%s", sentence);
}
