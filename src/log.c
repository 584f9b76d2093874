/* The log: swapped under a lock, called without it. */
#include "log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

typedef void (*LogCallback)(void *user, int level, const char *line);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static LogCallback callback;
static void *callback_user;
static atomic_int wanted;

void rdx_set_log(void (*log)(void *user, int level, const char *line), void *user, int level)
{
    pthread_mutex_lock(&lock);
    callback = log;
    callback_user = user;
    atomic_store_explicit(&wanted, log ? level : RDX_LOG_OFF, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
}

bool rdx_log_wants(int level)
{
    return RDX_LIKELY(atomic_load_explicit(&wanted, memory_order_relaxed) < level) ? false : true;
}

void rdx_log(int level, const char *format, ...)
{
    pthread_mutex_lock(&lock);
    LogCallback log = callback;
    void *user = callback_user;
    pthread_mutex_unlock(&lock);
    if (!log || !rdx_log_wants(level))
        return;
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    log(user, level, line);
}
