/* The benchmark's memory: arenas that live for the whole run, and how many lines of an input a reduction has to
   read. */
#define _GNU_SOURCE
#include "bench.h"

#include "../src/pool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MARGIN = 64, LINE = 64, HUGE_PAGE = 2 << 20, PERIOD = 1048573 };

double rdx_bench_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double rdx_bench_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
    return count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}

int64_t rdx_bench_cache_bytes(void)
{
    long bytes = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
    bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (bytes <= 0)
        bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    return bytes > 0 ? bytes : 0;
}

void rdx_bench_release(RdxBenchArena *arena)
{
    if (arena->base)
        munmap(arena->base, arena->bytes);
    memset(arena, 0, sizeof *arena);
}

unsigned char *rdx_bench_room(RdxBenchArena *arena, int64_t bytes, int64_t slip_bytes)
{
    size_t all;
    if (bytes < 0 || bytes > INT64_MAX / 4)
        return NULL;
    all = ((size_t)bytes + 3 * MARGIN + 2 * HUGE_PAGE) / HUGE_PAGE *
          HUGE_PAGE; /* the start is rounded up to a huge page */
    if (arena->base == NULL || all > arena->bytes) {
        rdx_bench_release(arena);
        if (!rdx_case_affordable((double)all))
            return NULL;
        void *base = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (base == MAP_FAILED)
            return NULL;
        (void)madvise(base, all, MADV_HUGEPAGE);
        arena->base = base;
        arena->bytes = all;
    }
    /* From a huge page's start on, whatever address the mapping got: runs are alike in how pages and sets fall. */
    uintptr_t start = ((uintptr_t)arena->base + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE + MARGIN;
    return arena->base + (start - (uintptr_t)arena->base) + slip_bytes;
}

typedef struct Fill {
    unsigned char *at, *block;
    int64_t bytes, block_bytes;
    int parts;
} Fill;

/* Copies of the block, whole ones, part after part; the last one is cut. */
static void copy_blocks(void *context, int part)
{
    const Fill *fill = context;
    int64_t blocks = (fill->bytes + fill->block_bytes - 1) / fill->block_bytes;
    for (int64_t i = blocks * part / fill->parts; i < blocks * (part + 1) / fill->parts; i++) {
        int64_t at = i * fill->block_bytes, rest = fill->bytes - at;
        memcpy(fill->at + at, fill->block, (size_t)(rest < fill->block_bytes ? rest : fill->block_bytes));
    }
}

unsigned char *rdx_bench_input(RdxBenchArena *arena, int dtype, int data, uint64_t seed, int64_t elements,
                               int64_t slip_bytes)
{
    int size = rdx_data_type(dtype)->size;
    int64_t bytes;
    if (elements < 0 || __builtin_mul_overflow(elements, size, &bytes))
        return NULL;
    unsigned char *at = rdx_bench_room(arena, bytes, slip_bytes);
    if (at == NULL)
        return NULL;
    if (arena->dtype == dtype && arena->data == data && arena->seed == seed && arena->slip_bytes == slip_bytes &&
        arena->elements >= elements)
        return at;
    Fill fill = {at, NULL, bytes, (int64_t)PERIOD * size, rdx_pool_processors()};
    if (elements > PERIOD)
        fill.block = malloc((size_t)fill.block_bytes);
    if (fill.block) {
        rdx_data_fill(dtype, data, seed, 0, PERIOD, fill.block);
        rdx_pool_run(fill.parts, copy_blocks, &fill);
        free(fill.block);
    } else {
        rdx_data_fill(dtype, data, seed, 0, elements, at);
    }
    arena->dtype = dtype;
    arena->data = data;
    arena->seed = seed;
    arena->elements = elements;
    arena->slip_bytes = slip_bytes;
    return at;
}

/* ---- Lines ---- */

typedef struct Span {
    int64_t extent, step; /* bytes, step > 0 */
} Span;

static int by_step(const void *a, const void *b)
{
    const Span *x = a, *y = b;
    return (x->step < y->step) - (x->step > y->step);
}

/* Dims of the input as they lie in memory, outermost first, fused where they can be. Returns how many; bytes of a run
   in *run: the innermost dim is part of it where its step skips no line. */
static int spans_of(const RdxTask *task, Span *spans, int64_t *run)
{
    const RdxTensor *in = &task->tensor[RDX_CASE_IN];
    int64_t size = rdx_data_type(task->c.dtype)->size;
    int count = 0, kept = 0;
    for (int d = 0; d < in->ndim; d++) {
        int64_t step = llabs(task->strides[RDX_CASE_IN][d]) * size;
        if (task->shape[RDX_CASE_IN][d] > 1 && step > 0)
            spans[count++] = (Span){task->shape[RDX_CASE_IN][d], step};
    }
    qsort(spans, (size_t)count, sizeof *spans, by_step);
    for (int i = 0; i < count; i++) {
        if (kept > 0 && spans[kept - 1].step == spans[i].extent * spans[i].step)
            spans[kept - 1] = (Span){spans[kept - 1].extent * spans[i].extent, spans[i].step};
        else
            spans[kept++] = spans[i];
    }
    *run = size;
    if (kept > 0 && spans[kept - 1].step <= LINE) {
        kept--;
        *run = (spans[kept].extent - 1) * spans[kept].step + size;
    }
    return kept;
}

static int64_t mark(uint64_t *map, int64_t first, int64_t last)
{
    int64_t fresh = 0;
    for (int64_t i = first; i <= last;) {
        int bit = (int)(i & 63);
        int64_t bits = last - i + 1 < 64 - bit ? last - i + 1 : 64 - bit;
        uint64_t mask = (bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1) << bit;
        fresh += bits - __builtin_popcountll(map[i >> 6] & mask);
        map[i >> 6] |= mask;
        i += bits;
    }
    return fresh;
}

int64_t rdx_bench_lines(const RdxTask *task)
{
    const RdxCaseExtent *extent = &task->extent[RDX_CASE_IN];
    Span spans[RDX_MAX_RANK];
    int64_t at[RDX_MAX_RANK] = {0}, run, lines = 0, size = rdx_data_type(task->c.dtype)->size;
    if (extent->elements == 0)
        return 0;
    const unsigned char *storage = (const unsigned char *)task->tensor[RDX_CASE_IN].data + extent->low * size;
    int64_t slip = (int64_t)((uintptr_t)storage % LINE);
    int rank = spans_of(task, spans, &run), d;
    if (rank == 0)
        return (slip + run - 1) / LINE + 1;
    uint64_t *map = calloc((size_t)((slip + extent->count * size) / LINE / 64 + 1), sizeof *map);
    if (map == NULL)
        return -1;
    for (int64_t offset = slip;;) {
        lines += mark(map, offset / LINE, (offset + run - 1) / LINE);
        for (d = rank - 1; d >= 0; d--) {
            offset += spans[d].step;
            if (++at[d] < spans[d].extent)
                break;
            offset -= spans[d].step * spans[d].extent;
            at[d] = 0;
        }
        if (d < 0)
            break;
    }
    free(map);
    return lines;
}
