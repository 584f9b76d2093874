/* Moves of elements by size, at one ISA level: gather and scatter between strided and consecutive places, and rows
   turned into columns. */
#include "folds.h"

#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

typedef struct Sixteen {
    uint64_t low, high;
} Sixteen;

/* Loads may be unaligned to the element: the planner only promises the alignment of one part of a complex number. Where
   every second element is asked for and has 4 bytes or fewer, it is the lower half of a Word, which compilers narrow in
   vectors (0.5 instructions a byte that is gathered, where picking bytes takes 1.9); the last one is picked, lest what
   is behind it be read. */
#define GATHER(T, Word, NARROW)                                                                                        \
    RDX_ALWAYS_INLINE void halves_##T(T *dst, const unsigned char *src, const int n)                                   \
    {                                                                                                                  \
        RDX_BLOCK_LOOP                                                                                                 \
        for (int w = 0; w < n; w++) {                                                                                  \
            Word word;                                                                                                 \
            memcpy(&word, src + w * 2 * (int64_t)sizeof(T), sizeof word);                                              \
            dst[w] = NARROW word;                                                                                      \
        }                                                                                                              \
    }                                                                                                                  \
    static void gather_##T(T *dst, const unsigned char *src, int64_t n, int64_t step, int64_t ahead)                   \
    {                                                                                                                  \
        enum { block = 64 / sizeof(T), quarter = block / 4 };                                                          \
        int64_t i = 0;                                                                                                 \
        if (step == 2 * (int64_t)sizeof(T)) {                                                                          \
            for (; i + block < n; i += block) {                                                                        \
                rdx_ask(src + i * step + ahead);                                                                       \
                rdx_ask(src + i * step + ahead + 64);                                                                  \
                halves_##T(dst + i, src + i * step, block);                                                            \
            }                                                                                                          \
            for (; i + quarter < n; i += quarter)                                                                      \
                halves_##T(dst + i, src + i * step, quarter);                                                          \
        }                                                                                                              \
        for (; i < n; i++)                                                                                             \
            memcpy(dst + i, src + i * step, sizeof(T));                                                                \
    }
#define SCATTER(T)                                                                                                     \
    static void scatter_##T(unsigned char *dst, int64_t step, const T *src, int64_t n)                                 \
    {                                                                                                                  \
        for (int64_t i = 0; i < n; i++)                                                                                \
            memcpy(dst + i * step, src + i, sizeof(T));                                                                \
    }
GATHER(uint8_t, uint16_t, (uint8_t))
GATHER(uint16_t, uint32_t, (uint16_t))
GATHER(uint32_t, uint64_t, (uint32_t))
GATHER(uint64_t, uint64_t, )
GATHER(Sixteen, Sixteen, )
SCATTER(uint8_t)
SCATTER(uint16_t)
SCATTER(uint32_t)
SCATTER(uint64_t)
SCATTER(Sixteen)

void RDX_LEVEL(gather)(void *dst, const void *src, int64_t n, int64_t step, int size, int64_t ahead)
{
    if (step == size) {
        memcpy(dst, src, (size_t)(n * size));
        return;
    }
    switch (size) {
    case 1:
        gather_uint8_t(dst, src, n, step, ahead);
        break;
    case 2:
        gather_uint16_t(dst, src, n, step, ahead);
        break;
    case 4:
        gather_uint32_t(dst, src, n, step, ahead);
        break;
    case 8:
        gather_uint64_t(dst, src, n, step, ahead);
        break;
    default:
        gather_Sixteen(dst, src, n, step, ahead);
        break;
    }
}

#if defined(__AVX512F__)
enum { STEP = 64 };
#else
enum { STEP = 32 };
#endif

/* `count` runs of at least `size` bytes, in steps of that many; the last step ends where the run ends. size and steps
   are constants; steps 0: as many as there are. */
RDX_ALWAYS_INLINE void copy_steps(unsigned char *to, int64_t to_step, const unsigned char *from, int64_t from_step,
                                  int64_t bytes, int64_t count, int64_t ahead, const int64_t size, const int64_t steps)
{
    const int64_t whole = steps ? (steps - 1) * size : (bytes - 1) / size * size;
    for (int64_t i = 0; i < count; i++, to += to_step, from += from_step) {
        if (ahead)
            rdx_prefetch(from + ahead, steps ? steps * size : bytes);
        RDX_UNROLL_4
        for (int64_t at = 0; at < whole; at += size)
            memcpy(to + at, from + at, (size_t)size);
        memcpy(to + bytes - size, from + bytes - size, (size_t)size);
    }
}

#if defined(__AVX512F__)
/* `count` runs to places that lie alike in their cache lines, line by line, as many as a constant says: what crosses
   lines is stored in two turns. Nothing is read or written outside the runs, wherever the vectors begin and end. */
RDX_ALWAYS_INLINE void copy_lines(unsigned char *to, int64_t to_step, const unsigned char *from, int64_t from_step,
                                  int64_t bytes, int64_t count, int64_t ahead, const int64_t lines)
{
    const int64_t before = (int64_t)((uintptr_t)to & 63);
    const __mmask64 all = ~UINT64_C(0), first = all << before, last = all >> (-(before + bytes) & 63);
    to -= before, from -= before;
    for (int64_t i = 0; i < count; i++, to += to_step, from += from_step) {
        if (ahead)
            rdx_prefetch(from + ahead, lines * 64);
        RDX_UNROLL_16
        for (int64_t k = 0; k < lines; k++) {
            const __mmask64 mask = (k == 0 ? first : all) & (k == lines - 1 ? last : all);
            _mm512_mask_storeu_epi8(to + k * 64, mask, _mm512_maskz_loadu_epi8(mask, from + k * 64));
        }
    }
}
#endif

/* Runs of up to eight steps or lines have a loop each, without a branch in it. Sums of f32 in L2 over axes 0 and 2 of
   32 x 64 x n, one thread of a Xeon of the Sapphire Rapids class, GB/s, in steps of 32 bytes and so: n = 49 16.4 and
   18.3, 64 24.3 and 30.0, 80 22.1 and 28.5. */
void RDX_LEVEL(copy_runs)(void *dst, int64_t dst_step, const void *src, int64_t src_step, int64_t bytes, int64_t count,
                          int64_t ahead)
{
    unsigned char *to = dst;
    const unsigned char *from = src;
#define COPY(size, steps) copy_steps(to, dst_step, from, src_step, bytes, count, ahead, size, steps)
    if (bytes < 8) {
        for (int64_t i = 0; i < count; i++, to += dst_step, from += src_step) {
            if (ahead)
                rdx_ask(from + ahead);
            for (int64_t at = 0; at < bytes; at++)
                to[at] = from[at];
        }
        return;
    }
    if (bytes < STEP) {
        if (bytes < 16)
            COPY(8, 2);
        else if (bytes < 32)
            COPY(16, 2);
        else
            COPY(32, 2);
        return;
    }
#define UP_TO_EIGHT(CASE) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
#if defined(__AVX512F__)
#define LINES(n)                                                                                                       \
    case n:                                                                                                            \
        copy_lines(to, dst_step, from, src_step, bytes, count, ahead, n);                                              \
        return;
    if (dst_step % 64 == 0 && (uintptr_t)to % 64 != 0)
        switch (rdx_div_up((int64_t)((uintptr_t)to & 63) + bytes, 64)) {
            UP_TO_EIGHT(LINES)
        default:
            break;
        }
#undef LINES
#endif
#define STEPS(n)                                                                                                       \
    case n:                                                                                                            \
        COPY(STEP, n);                                                                                                 \
        return;
    switch (rdx_div_up(bytes, STEP)) {
        UP_TO_EIGHT(STEPS)
    default:
        COPY(STEP, 0);
    }
#undef STEPS
#undef UP_TO_EIGHT
#undef COPY
}

void RDX_LEVEL(scatter)(void *dst, int64_t step, const void *src, int64_t n, int size)
{
    if (step == size) {
        memcpy(dst, src, (size_t)(n * size));
        return;
    }
    switch (size) {
    case 1:
        scatter_uint8_t(dst, step, src, n);
        break;
    case 2:
        scatter_uint16_t(dst, step, src, n);
        break;
    case 4:
        scatter_uint32_t(dst, step, src, n);
        break;
    case 8:
        scatter_uint64_t(dst, step, src, n);
        break;
    default:
        scatter_Sixteen(dst, step, src, n);
        break;
    }
}

/* Rows turned into columns, a tile at a time: as many rows as 16 bytes have elements, as many elements of each.
   Interleaving row i with row i + side / 2, and the vectors that this gives again, turns the tile after log2(side)
   rounds. Two tiles at once in registers of 32 bytes: between a quarter slower and an eighth faster. */
enum { TILE_BYTES = 16 };
#define PAIRS_1(at, n) (at), (n) + (at)
#define PAIRS_2(at, n) PAIRS_1(at, n), PAIRS_1((at) + 1, n)
#define PAIRS_4(at, n) PAIRS_2(at, n), PAIRS_2((at) + 2, n)
#define PAIRS_8(at, n) PAIRS_4(at, n), PAIRS_4((at) + 4, n)
#define TURN(T, SIDE, ROUNDS, PAIRS)                                                                                   \
    typedef T T##_side __attribute__((vector_size(TILE_BYTES)));                                                       \
    RDX_ALWAYS_INLINE void turn_tile_##T(unsigned char *dst, const unsigned char *src, int64_t rows, int64_t step,     \
                                         const int64_t columns)                                                        \
    {                                                                                                                  \
        T##_side tile[SIDE], turned[SIDE];                                                                             \
        RDX_UNROLL_16                                                                                                  \
        for (int i = 0; i < SIDE; i++)                                                                                 \
            memcpy(&tile[i], src + i * step, TILE_BYTES);                                                              \
        RDX_UNROLL_4                                                                                                   \
        for (int round = 0; round < ROUNDS; round++) {                                                                 \
            RDX_UNROLL_16                                                                                              \
            for (int i = 0; i < SIDE / 2; i++) {                                                                       \
                const T##_side a = tile[i], b = tile[i + SIDE / 2];                                                    \
                turned[2 * i] = __builtin_shufflevector(a, b, PAIRS(0, SIDE));                                         \
                turned[2 * i + 1] = __builtin_shufflevector(a, b, PAIRS(SIDE / 2, SIDE));                              \
            }                                                                                                          \
            RDX_UNROLL_16                                                                                              \
            for (int i = 0; i < SIDE; i++)                                                                             \
                tile[i] = turned[i];                                                                                   \
        }                                                                                                              \
        RDX_UNROLL_16                                                                                                  \
        for (int e = 0; e < columns; e++)                                                                              \
            memcpy(dst + e * rows * (int64_t)sizeof(T), &tile[e], TILE_BYTES);                                         \
    }                                                                                                                  \
    static void turn_##T(unsigned char *dst, const unsigned char *src, int64_t step, int64_t rows, int64_t n)          \
    {                                                                                                                  \
        const int64_t size = sizeof(T);                                                                                \
        int64_t at = 0;                                                                                                \
        if (n >= SIDE && rows >= SIDE) { /* the last tiles end with the last row and the last element */               \
            for (; at < rows; at += SIDE) {                                                                            \
                const int64_t i = rdx_min(at, rows - SIDE);                                                            \
                for (int64_t e = 0; e < n; e += SIDE) {                                                                \
                    const int64_t from = rdx_min(e, n - SIDE);                                                         \
                    turn_tile_##T(dst + (from * rows + i) * size, src + i * step + from * size, rows, step, SIDE);     \
                }                                                                                                      \
            }                                                                                                          \
        } else if (step == n * size) { /* a tile reads on into the rows that follow */                                 \
            for (; n < SIDE && (at + SIDE - 1) * step + TILE_BYTES <= rows * step; at += SIDE)                         \
                turn_tile_##T(dst + at * size, src + at * step, rows, step, n);                                        \
        }                                                                                                              \
        for (int64_t e = 0; e < n; e++)                                                                                \
            for (int64_t i = at; i < rows; i++)                                                                        \
                memcpy(dst + (e * rows + i) * size, src + i * step + e * size, (size_t)size);                          \
    }
TURN(uint8_t, 16, 4, PAIRS_8)
TURN(uint16_t, 8, 3, PAIRS_4)
TURN(uint32_t, 4, 2, PAIRS_2)
TURN(uint64_t, 2, 1, PAIRS_1)

void RDX_LEVEL(turn)(void *dst, const void *src, int64_t step, int64_t rows, int64_t n, int size)
{
    switch (size) {
    case 1:
        turn_uint8_t(dst, src, step, rows, n);
        break;
    case 2:
        turn_uint16_t(dst, src, step, rows, n);
        break;
    case 4:
        turn_uint32_t(dst, src, step, rows, n);
        break;
    case 8:
        turn_uint64_t(dst, src, step, rows, n);
        break;
    default:
        for (int64_t e = 0; e < n; e++)
            gather_Sixteen((Sixteen *)dst + e * rows, (const unsigned char *)src + e * size, rows, step, 0);
        break;
    }
}

#if defined(__AVX512F__)
static inline void stream_line(unsigned char *to, const unsigned char *from)
{
    _mm512_stream_si512((void *)to, _mm512_loadu_si512(from));
}
#elif defined(__SSE2__)
static inline void stream_line(unsigned char *to, const unsigned char *from)
{
    for (int i = 0; i < 64; i += 16)
        _mm_stream_si128((__m128i *)(void *)(to + i), _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
}
#endif

/* Whole cache lines go to memory without being read first, with AVX-512 in one store, and nothing waits here until they
   are there: rows of 8 of two threads of a Xeon of the Sapphire Rapids class i8 69% of the ceiling, so 92, f32 76 and
   82, maxima 74 and 82. */
void RDX_LEVEL(stream)(void *dst, const void *src, int64_t bytes)
{
    int64_t at = 0;
#if defined(__SSE2__)
    unsigned char *to = dst;
    const unsigned char *from = src;
    at = rdx_min(-(int64_t)(uintptr_t)to & 63, bytes);
    memcpy(to, from, (size_t)at);
    for (; at + 64 <= bytes; at += 64)
        stream_line(to + at, from + at);
#endif
    memcpy((unsigned char *)dst + at, (const unsigned char *)src + at, (size_t)(bytes - at));
}
