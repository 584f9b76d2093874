/* A small pool of threads: lazy, the caller takes part. One job at a time; a caller that finds it busy, or that is
   a worker itself, works alone. Workers wait on a condition variable after a short spin. Dropped in a forked child. */
#ifndef RDX_POOL_H
#define RDX_POOL_H

#include "base.h"

enum { RDX_POOL_MAX = 256 };

/* Calls body(context, part) once for every part 0 .. parts - 1, on up to `parts` threads; returns when all are done.
   Never fails: parts that find no thread are done by the caller. */
void rdx_pool_run(int parts, void (*body)(void *context, int part), void *context);

/* Joins the workers; the pool starts again when it is next used. */
void rdx_pool_shutdown(void);

/* Processors that the caller or the main thread may run on: 1 to RDX_POOL_MAX. */
int rdx_pool_processors(void);

#endif
