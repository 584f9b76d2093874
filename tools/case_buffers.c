/* Buffers for the tensors of a RdxTask: filled input, poisoned outputs, canaries and guard pages; see case.h.
   Three ways to lie: plain (aligned, canaries on both sides), or a mapping whose touched range ends, or starts, exactly
   at an unmapped page. Large sparse tensors are mapped without reservation and filled element by element. */
#define _GNU_SOURCE
#include "case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MARGIN = 64, CANARY = 0xa5, POISON = 0xff };
static const int64_t large_bytes = 64 << 20;

static int size_of(const RdxTask *task, int which)
{
    return rdx_data_type(rdx_data_number(task->tensor[which].dtype))->size;
}

/* Storage that is mostly holes: touch only what the tensor touches. */
static bool is_sparse(const RdxTask *task, int which)
{
    const RdxCaseExtent *extent = &task->extent[which];
    return extent->count * size_of(task, which) > large_bytes && extent->elements < extent->count / 4;
}

bool rdx_case_affordable(double bytes)
{
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    return memory <= 0 || bytes <= 0.9 * memory;
}

/* The bytes that will be touched: of a sparse tensor at most a page for each element. */
static double touched_bytes(const RdxTask *task, int which)
{
    const RdxCaseExtent *extent = &task->extent[which];
    double all = (double)extent->count * size_of(task, which);
    double pages = (double)extent->elements * (double)sysconf(_SC_PAGESIZE);
    return is_sparse(task, which) && pages < all ? pages : all;
}

static bool obtain(struct RdxCaseBuffer *buffer, int64_t bytes, int guard, bool sparse)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (guard == RDX_CASE_PLAIN && bytes <= large_bytes) {
        buffer->bytes = ((size_t)bytes + 4 * MARGIN - 1) / MARGIN * MARGIN;
        buffer->base = aligned_alloc(MARGIN, buffer->bytes);
        if (buffer->base == NULL)
            return false;
        buffer->usable = buffer->base;
        buffer->usable_end = buffer->base + buffer->bytes;
        buffer->storage = buffer->base + MARGIN;
    } else {
        size_t body = ((size_t)bytes + 2 * MARGIN * (guard == RDX_CASE_PLAIN) + page - 1) / page * page;
        buffer->bytes = body + 2 * page;
        buffer->base = mmap(NULL, buffer->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (buffer->base == MAP_FAILED) {
            buffer->base = NULL;
            return false;
        }
        buffer->mapped = true;
        buffer->usable = buffer->base + page;
        buffer->usable_end = buffer->usable + body;
        if (body > 0 && mprotect(buffer->usable, body, PROT_READ | PROT_WRITE) != 0)
            return false;
        if (guard == RDX_CASE_PLAIN && !sparse)
            (void)madvise(buffer->usable, body, MADV_HUGEPAGE); /* as an allocator of large arrays would */
        buffer->storage = guard == RDX_CASE_GUARD_END     ? buffer->usable_end - bytes
                          : guard == RDX_CASE_GUARD_START ? buffer->usable
                                                          : buffer->usable + MARGIN;
    }
    buffer->storage_end = buffer->storage + bytes;
    return true;
}

static void release(struct RdxCaseBuffer *buffer)
{
    if (buffer->mapped)
        munmap(buffer->base, buffer->bytes);
    else
        free(buffer->base);
    memset(buffer, 0, sizeof *buffer);
}

void rdx_case_release(RdxTask *task)
{
    for (int which = 0; which < RDX_CASE_TENSORS; which++) {
        release(&task->buffer[which]);
        task->tensor[which].data = NULL;
    }
}

/* The storage position, counted from element `low`, of the next element in logical order; false after the last. */
typedef struct Walk {
    int64_t at[RDX_MAX_RANK], position;
} Walk;

static void walk_start(Walk *walk, const RdxTask *task, int which)
{
    memset(walk, 0, sizeof *walk);
    walk->position = (which == RDX_CASE_IN ? task->c.offset : 0) - task->extent[which].low;
}

static bool walk_next(Walk *walk, const RdxTask *task, int which)
{
    for (int d = task->tensor[which].ndim - 1; d >= 0; d--) {
        walk->position += task->strides[which][d];
        if (++walk->at[d] < task->shape[which][d])
            return true;
        walk->position -= task->strides[which][d] * task->shape[which][d];
        walk->at[d] = 0;
    }
    return false;
}

static void fill(RdxTask *task, int which, int data, uint64_t seed)
{
    const RdxCaseExtent *extent = &task->extent[which];
    int dtype = rdx_data_number(task->tensor[which].dtype), size = size_of(task, which);
    unsigned char *storage = task->buffer[which].storage;
    if (extent->elements == 0)
        return;
    if (!is_sparse(task, which)) {
        rdx_data_fill(dtype, data, seed, 0, extent->count, storage);
        return;
    }
    Walk walk;
    walk_start(&walk, task, which);
    do
        rdx_data_fill(dtype, data, seed, walk.position, 1, storage + walk.position * size);
    while (walk_next(&walk, task, which));
}

/* Every element of an output becomes `byte`, what lies between them stays. */
static void poison(RdxTask *task, int which, int byte)
{
    const RdxCaseExtent *extent = &task->extent[which];
    int size = size_of(task, which);
    if (extent->elements == 0)
        return;
    if (extent->elements == extent->count) {
        memset(task->buffer[which].storage, byte, (size_t)(extent->count * size));
        return;
    }
    Walk walk;
    walk_start(&walk, task, which);
    do
        memset(task->buffer[which].storage + walk.position * size, byte, (size_t)size);
    while (walk_next(&walk, task, which));
}

/* Margins, and whatever lies between the elements, become canaries. */
static void plant_canaries(RdxTask *task, int which)
{
    struct RdxCaseBuffer *buffer = &task->buffer[which];
    const RdxCaseExtent *extent = &task->extent[which];
    memset(buffer->usable, CANARY, (size_t)(buffer->storage - buffer->usable));
    memset(buffer->storage_end, CANARY, (size_t)(buffer->usable_end - buffer->storage_end));
    if (which != RDX_CASE_IN && extent->elements != extent->count && !is_sparse(task, which))
        memset(buffer->storage, CANARY, (size_t)(buffer->storage_end - buffer->storage));
}

static uint64_t digest_of(const struct RdxCaseBuffer *buffer)
{
    uint64_t digest = 0xCBF29CE484222325;
    for (const unsigned char *at = buffer->storage; at < buffer->storage_end; at++)
        digest = (digest ^ *at) * 0x100000001B3;
    return digest | 1;
}

void rdx_case_reset(RdxTask *task)
{
    for (int which = RDX_CASE_OUT; which < task->tensors; which++) {
        plant_canaries(task, which);
        if (task->c.beta == 0)
            poison(task, which, POISON);
        else if (which == RDX_CASE_OUT)
            fill(task, which, RDX_DATA_EXACT, task->c.seed + 1);
        else
            poison(task, which, 0);
    }
}

bool rdx_case_allocate(RdxTask *task, int guard, char *error, size_t size)
{
    for (int which = 0; which < task->tensors; which++) {
        const RdxCaseExtent *extent = &task->extent[which];
        struct RdxCaseBuffer *buffer = &task->buffer[which];
        int element = size_of(task, which);
        int64_t bytes = 0;
        if (extent->count < 0 || __builtin_mul_overflow(extent->count, element, &bytes) || bytes > INT64_MAX / 2 ||
            !rdx_case_affordable(touched_bytes(task, which)) || !obtain(buffer, bytes, guard, is_sparse(task, which))) {
            snprintf(error, size, "no memory for %lld elements of %d bytes", (long long)extent->count, element);
            rdx_case_release(task);
            return false;
        }
        if (guard == RDX_CASE_PLAIN && which == RDX_CASE_IN && extent->low > 0) {
            /* data at offset 0 is what is aligned, so that an offset misaligns as it would in a user's buffer */
            int64_t slip = extent->low * element % MARGIN;
            if (slip <= buffer->usable_end - buffer->storage_end) {
                buffer->storage += slip;
                buffer->storage_end += slip;
            }
        }
        task->tensor[which].data = buffer->storage - extent->low * element;
        if (which == RDX_CASE_IN) {
            plant_canaries(task, which);
            fill(task, which, task->c.data, task->c.seed);
            buffer->digest = bytes <= 1 << 20 ? digest_of(buffer) : 0;
        }
    }
    rdx_case_reset(task);
    return true;
}

static bool all_canary(const unsigned char *from, const unsigned char *to)
{
    while (from < to && *from == CANARY)
        from++;
    return from >= to;
}

/* Are the holes between the elements of an output as they were? */
static bool holes_intact(const RdxTask *task, int which)
{
    const RdxCaseExtent *extent = &task->extent[which];
    int size = size_of(task, which);
    bool filled = task->c.beta != 0 && which == RDX_CASE_OUT; /* then the holes hold data too */
    int dtype = rdx_data_number(task->tensor[which].dtype);
    if (extent->elements == extent->count || is_sparse(task, which))
        return true;
    unsigned char *touched = calloc((size_t)extent->count, 1);
    if (touched == NULL)
        return false;
    Walk walk;
    walk_start(&walk, task, which);
    do
        touched[walk.position] = 1;
    while (walk_next(&walk, task, which));
    bool intact = true;
    const unsigned char *at = task->buffer[which].storage;
    for (int64_t i = 0; i < extent->count && intact; i++, at += size) {
        unsigned char before[16];
        if (filled)
            rdx_data_fill(dtype, RDX_DATA_EXACT, task->c.seed + 1, i, 1, before);
        intact = touched[i] || (filled ? memcmp(at, before, (size_t)size) == 0 : all_canary(at, at + size));
    }
    free(touched);
    return intact;
}

bool rdx_case_intact(const RdxTask *task, char *error, size_t size)
{
    static const char *const names[] = {"the input", "the output", "the second output"};
    for (int which = 0; which < task->tensors; which++) {
        const struct RdxCaseBuffer *buffer = &task->buffer[which];
        if (is_sparse(task, which))
            continue;
        if (!all_canary(buffer->usable, buffer->storage) || !all_canary(buffer->storage_end, buffer->usable_end)) {
            snprintf(error, size, "bytes beside %s were written", names[which]);
            return false;
        }
        if (which == RDX_CASE_IN && buffer->digest && buffer->digest != digest_of(buffer)) {
            snprintf(error, size, "the input was written");
            return false;
        }
        if (which != RDX_CASE_IN && !holes_intact(task, which)) {
            snprintf(error, size, "bytes between the elements of %s were written", names[which]);
            return false;
        }
    }
    return true;
}
