/* The read ceiling: four plain loops that load every byte once and add it to something. One of them is the fastest on a
   given machine at a given size, and which one is measured, not guessed: `plain` takes lines as they come, `ahead` asks
   for lines 8 KB early, `pages` walks two neighbouring pages at once, `streams` the four quarters of a piece. Measured
   on two cores of Zen 5 at 512 MB: 40, 42 and 41 GB/s, and four neighbouring pages at once fall to 32; on two of an
   older EPYC without AVX-512 at 1 GB: 34, 32, 39 and 43. Each is compiled for the widest registers there are. */
#include "bench.h"

#include "../src/pool.h"

#include <stdatomic.h>
#include <string.h>

typedef uint64_t Vector __attribute__((vector_size(64)));
typedef void (*Read)(const unsigned char *at, size_t count, Vector *sum);

enum { AHEAD = 8192, PAGE = 4096, PIECE = 1 << 20, STREAMS = 4 };

#define BODY static inline __attribute__((always_inline)) void

BODY add(Vector *sum, const unsigned char *at)
{
    Vector loaded;
    memcpy(&loaded, at, sizeof loaded);
    *sum += loaded;
}

BODY read_plain(const unsigned char *at, size_t count, Vector *sum)
{
    Vector even = {0}, odd = {0};
    for (; count >= 128; count -= 128, at += 128) {
        add(&even, at);
        add(&odd, at + 64);
    }
    for (; count >= 64; count -= 64, at += 64)
        add(&even, at);
    *sum += even + odd;
}

BODY read_ahead(const unsigned char *at, size_t count, Vector *sum)
{
    Vector lane[4] = {{0}, {0}, {0}, {0}};
    for (; count >= 256 + AHEAD; count -= 256, at += 256) {
        for (int i = 0; i < 4; i++) {
            __builtin_prefetch(at + AHEAD + 64 * i);
            add(&lane[i], at + 64 * i);
        }
    }
    *sum += lane[0] + lane[1] + lane[2] + lane[3];
    read_plain(at, count, sum);
}

BODY read_pages(const unsigned char *at, size_t count, Vector *sum)
{
    Vector even = {0}, odd = {0};
    for (; count >= 2 * PAGE; count -= 2 * PAGE, at += 2 * PAGE) {
        for (int i = 0; i < PAGE; i += 64) {
            add(&even, at + i);
            add(&odd, at + PAGE + i);
        }
    }
    *sum += even + odd;
    read_plain(at, count, sum);
}

BODY read_streams(const unsigned char *at, size_t count, Vector *sum)
{
    Vector lane[STREAMS] = {{0}, {0}, {0}, {0}};
    size_t each = count / STREAMS / 64 * 64;
    for (size_t i = 0; i < each; i += 64)
        for (int k = 0; k < STREAMS; k++)
            add(&lane[k], at + k * each + i);
    *sum += lane[0] + lane[1] + lane[2] + lane[3];
    read_plain(at + STREAMS * each, count - STREAMS * each, sum);
}

#define STAMP(level, attributes)                                                                                       \
    attributes static void plain_##level(const unsigned char *at, size_t count, Vector *sum)                           \
    {                                                                                                                  \
        read_plain(at, count, sum);                                                                                    \
    }                                                                                                                  \
    attributes static void ahead_##level(const unsigned char *at, size_t count, Vector *sum)                           \
    {                                                                                                                  \
        read_ahead(at, count, sum);                                                                                    \
    }                                                                                                                  \
    attributes static void pages_##level(const unsigned char *at, size_t count, Vector *sum)                           \
    {                                                                                                                  \
        read_pages(at, count, sum);                                                                                    \
    }                                                                                                                  \
    attributes static void streams_##level(const unsigned char *at, size_t count, Vector *sum)                         \
    {                                                                                                                  \
        read_streams(at, count, sum);                                                                                  \
    }                                                                                                                  \
    static const Read reads_##level[RDX_BENCH_READS] = {plain_##level, ahead_##level, pages_##level, streams_##level};

STAMP(any, )
#if defined(__x86_64__)
STAMP(avx2, __attribute__((target("avx2"))))
STAMP(avx512, __attribute__((target("avx512f,avx512bw"))))
#endif

static const Read *reads(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512bw"))
        return reads_avx512;
    if (__builtin_cpu_supports("avx2"))
        return reads_avx2;
#endif
    return reads_any;
}

const char *rdx_bench_read_name(int kernel)
{
    static const char *const names[RDX_BENCH_READS] = {"plain", "ahead", "pages", "streams"};
    return names[kernel];
}

/* Threads take pieces as they come to them, unless each has less than one: a processor that is away for a while does
   not hold up the pass, so that what is measured is the memory and not the neighbours. */
typedef struct Pass {
    Read read;
    const unsigned char *bytes;
    size_t count, piece;
    atomic_size_t next; /* where the next piece begins */
} Pass;

static _Thread_local volatile uint64_t sink; /* so that no load can be left out */

static void read_pieces(void *context, int thread)
{
    Pass *pass = context;
    Vector sum = {0};
    (void)thread;
    for (size_t from;
         (from = atomic_fetch_add_explicit(&pass->next, pass->piece, memory_order_relaxed)) < pass->count;) {
        size_t left = pass->count - from;
        pass->read(pass->bytes + from, left < pass->piece ? left : pass->piece, &sum);
    }
    for (int i = 0; i < 8; i++)
        sink = sum[i];
}

void rdx_bench_read(int kernel, int threads, const void *bytes, size_t count)
{
    size_t share = (count / 64 / (size_t)threads + 1) * 64;
    Pass pass = {.read = reads()[kernel], .bytes = bytes, .count = count, .piece = share < PIECE ? share : PIECE};
    rdx_pool_run(threads, read_pieces, &pass);
}
