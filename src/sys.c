/* The system shim. A fault counter costs one relaxed atomic increment a call; nothing here is on the path of
   execute but the first start of the pool's threads. */
#define _GNU_SOURCE
#include "sys.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { THREAD_STACK = 512 << 10 }; /* what redax.h asks of callers (192 KiB) and room for thread-local data */

static atomic_llong calls, fail_at;

static bool must_fail(void)
{
    long long call = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed) + 1;
    return call == atomic_load_explicit(&fail_at, memory_order_relaxed);
}

void rdx_sys_fail_at(int64_t call)
{
    atomic_store(&calls, 0);
    atomic_store(&fail_at, call);
}

int64_t rdx_sys_calls(void)
{
    return atomic_load(&calls);
}

void *rdx_sys_alloc(size_t bytes, size_t align)
{
    void *memory = NULL;
    if (must_fail() || bytes > PTRDIFF_MAX || posix_memalign(&memory, align < 16 ? 16 : align, bytes ? bytes : 1) != 0)
        return NULL;
    return memory;
}

void rdx_sys_free(void *memory)
{
    free(memory);
}

int rdx_sys_thread_create(pthread_t *thread, void *(*body)(void *), void *argument)
{
    pthread_attr_t attributes;
    size_t stack = 0;
    if (must_fail() || pthread_attr_init(&attributes) != 0)
        return EAGAIN;
    if (pthread_attr_getstacksize(&attributes, &stack) == 0 && stack < THREAD_STACK)
        pthread_attr_setstacksize(&attributes, THREAD_STACK);
    int error = pthread_create(thread, &attributes, body, argument);
    pthread_attr_destroy(&attributes);
    return error;
}

void *rdx_sys_dlopen(const char *path)
{
    return must_fail() ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

void *rdx_sys_dlsym(void *library, const char *name)
{
    return must_fail() ? NULL : dlsym(library, name);
}

int rdx_sys_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    return must_fail() ? ENOMEM : pthread_atfork(prepare, parent, child);
}
