/* The one door to what the system may refuse: memory, threads, libraries and fork handlers of src/ are asked for here,
   so that tests can make the k-th call fail and see an error code, no leak and an untouched output. */
#ifndef RDX_SYS_H
#define RDX_SYS_H

#include "base.h"

#include <pthread.h>

/* Bytes aligned to `align` (a power of two, at least 16), or NULL. Not cleared. */
void *rdx_sys_alloc(size_t bytes, size_t align);
void rdx_sys_free(void *memory);

int rdx_sys_thread_create(pthread_t *thread, void *(*body)(void *), void *argument); /* 0 or an errno value */
void *rdx_sys_dlopen(const char *path);                                              /* NULL: not there */
void *rdx_sys_dlsym(void *library, const char *name);
int rdx_sys_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));

/* Tests only: the k-th call from now on fails (1 is the next; 0: none), and how many calls there were since. */
void rdx_sys_fail_at(int64_t call);
int64_t rdx_sys_calls(void);

#endif
