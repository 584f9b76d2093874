/* columns_any_order: how fast columns could be summed if the order of additions did not matter. It stands beside the
   read ceiling for cases of columns, whose rows lie apart in memory, so that no kernel reads them as fast as one long
   run. A thread takes a strip of columns, adds a few rows at a time to accumulators in its cache, and moves down.
   Narrow rows that touch each other are first taken as fewer, wider ones. Which shape is best depends on the distance
   of rows: the bench tries three and takes the fastest. Measured on two cores of Zen 5, 2048 x 65536 f32, GB/s, plain
   read 41: 2 rows at once in strips with 128 KB of sums 33, 4 rows 22, 8 rows 22, 16 rows 20: the prefetchers follow
   few runs at a time.
   The sums are thrown away: they carry another tree's bits. */
#include "bench.h"

#include "../src/pool.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

typedef float Floats __attribute__((vector_size(64)));
typedef double Doubles __attribute__((vector_size(64)));
typedef uint32_t Ints __attribute__((vector_size(64)));
typedef uint32_t Words __attribute__((vector_size(64)));
typedef int16_t Shorts __attribute__((vector_size(64)));
typedef uint16_t Halves __attribute__((vector_size(32)));
typedef int16_t SignedHalves __attribute__((vector_size(32)));
typedef int8_t Bytes __attribute__((vector_size(32)));

/* The rows that come next, asked for line after line as they lie in memory: requests in the order of addresses run
   faster than those of the additions, which go from row to row. row_bytes 0: ask for nothing. */
typedef struct Ahead {
    const unsigned char *next;
    int64_t row_bytes, step;
} Ahead;

/* Adds `rows` rows, `step` bytes apart, of `width` elements (a multiple of 32) to the accumulators. */
typedef void (*AddRows)(void *sums, const unsigned char *at, int64_t step, int64_t width, Ahead ahead);

/* Widening loads, once for each level: vectors that a compiler widens by itself come out several times slower. */
#define ANY static inline __attribute__((always_inline))

ANY void words_any(Words *to, const unsigned char *at)
{
    Halves halves;
    memcpy(&halves, at, sizeof halves);
    *to = __builtin_convertvector(halves, Words);
}

/* Finite values only: exponents are moved by a multiplication. */
ANY void f16_any(Floats *to, const unsigned char *at)
{
    Words words, magnitude;
    words_any(&words, at);
    magnitude = (words & 0x7fff) << 13;
    memcpy(to, &magnitude, sizeof *to);
    *to *= 0x1p112f;
    memcpy(&magnitude, to, sizeof magnitude);
    magnitude |= (words & 0x8000) << 16;
    memcpy(to, &magnitude, sizeof *to);
}

ANY void shorts_any(Shorts *to, const unsigned char *at)
{
    Bytes bytes;
    memcpy(&bytes, at, sizeof bytes);
    *to = __builtin_convertvector(bytes, Shorts);
}

ANY void ints_any(Ints *to, const void *at)
{
    SignedHalves halves;
    memcpy(&halves, at, sizeof halves);
    *to = __builtin_convertvector(halves, Ints);
}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2,f16c")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

#define PAIR(name, Vector, type, load, widen)                                                                          \
    AVX2 ANY void name##_avx2(Vector *to, const void *at)                                                              \
    {                                                                                                                  \
        type halves[2] = {widen(load((const __m128i *)at)), widen(load((const __m128i *)at + 1))};                     \
        memcpy(to, halves, sizeof *to);                                                                                \
    }
PAIR(words, Words, __m256i, _mm_loadu_si128, _mm256_cvtepu16_epi32)
PAIR(shorts, Shorts, __m256i, _mm_loadu_si128, _mm256_cvtepi8_epi16)
PAIR(ints, Ints, __m256i, _mm_loadu_si128, _mm256_cvtepi16_epi32)
PAIR(f16, Floats, __m256, _mm_loadu_si128, _mm256_cvtph_ps)

#define WHOLE(name, Vector, type, widen)                                                                               \
    AVX512 ANY void name##_avx512(Vector *to, const void *at)                                                          \
    {                                                                                                                  \
        type whole = widen(_mm256_loadu_si256((const __m256i *)at));                                                   \
        memcpy(to, &whole, sizeof *to);                                                                                \
    }
WHOLE(words, Words, __m512i, _mm512_cvtepu16_epi32)
WHOLE(shorts, Shorts, __m512i, _mm512_cvtepi8_epi16)
WHOLE(ints, Ints, __m512i, _mm512_cvtepi16_epi32)
WHOLE(f16, Floats, __m512, _mm512_cvtph_ps)
#endif

ANY void ask(Ahead *ahead, const unsigned char **row_end, int64_t bytes)
{
    for (int64_t done = 0; done < bytes && ahead->row_bytes; done += 64) {
        __builtin_prefetch(ahead->next);
        ahead->next += 64;
        if (ahead->next >= *row_end) {
            ahead->next += ahead->step - ahead->row_bytes;
            *row_end += ahead->step;
        }
    }
}

#define LOAD_f32(to, at, level) memcpy(&(to), at, sizeof(to))
#define LOAD_f64(to, at, level) memcpy(&(to), at, sizeof(to))
#define LOAD_f16(to, at, level) f16_##level(&(to), at)
#define LOAD_bf16(to, at, level)                                                                                       \
    do {                                                                                                               \
        Words words;                                                                                                   \
        words_##level(&words, at);                                                                                     \
        words <<= 16;                                                                                                  \
        memcpy(&(to), &words, sizeof(to));                                                                             \
    } while (0)

#define ADD_ROWS(dtype, Values, size, rows, level, attributes)                                                         \
    attributes static void add_##dtype##_##rows##_##level(void *sums, const unsigned char *at, int64_t step,           \
                                                          int64_t width, Ahead ahead)                                  \
    {                                                                                                                  \
        const int64_t per_vector = (int64_t)(sizeof(Values) / sizeof(((Values){0})[0]));                               \
        unsigned char *sum_at = sums;                                                                                  \
        const unsigned char *row_end = ahead.next + ahead.row_bytes;                                                   \
        for (int64_t i = 0; i < width; i += per_vector, at += per_vector * size, sum_at += 64) {                       \
            Values sum, value;                                                                                         \
            ask(&ahead, &row_end, rows *per_vector *size);                                                             \
            memcpy(&sum, sum_at, sizeof sum);                                                                          \
            for (int row = 0; row < rows; row++) {                                                                     \
                LOAD_##dtype(value, at + row * step, level);                                                           \
                sum += value;                                                                                          \
            }                                                                                                          \
            memcpy(sum_at, &sum, sizeof sum);                                                                          \
        }                                                                                                              \
    }
/* Up to 256 rows of bytes fit 16 bits; a group is added there and widened once. */
#define ADD_BYTES(rows, level, attributes)                                                                             \
    attributes static void add_i8_##rows##_##level(void *sums, const unsigned char *at, int64_t step, int64_t width,   \
                                                   Ahead ahead)                                                        \
    {                                                                                                                  \
        unsigned char *sum_at = sums;                                                                                  \
        const unsigned char *row_end = ahead.next + ahead.row_bytes;                                                   \
        for (int64_t i = 0; i < width; i += 32, at += 32, sum_at += 128) {                                             \
            Shorts group = {0}, value;                                                                                 \
            Ints sum[2], widened;                                                                                      \
            ask(&ahead, &row_end, rows * 32);                                                                          \
            for (int row = 0; row < rows; row++) {                                                                     \
                shorts_##level(&value, at + row * step);                                                               \
                group += value;                                                                                        \
            }                                                                                                          \
            memcpy(sum, sum_at, sizeof sum);                                                                           \
            for (int half = 0; half < 2; half++) {                                                                     \
                ints_##level(&widened, (const unsigned char *)&group + 32 * half);                                     \
                sum[half] += widened;                                                                                  \
            }                                                                                                          \
            memcpy(sum_at, sum, sizeof sum);                                                                           \
        }                                                                                                              \
    }
#define ADD_DTYPES(rows, level, attributes)                                                                            \
    ADD_ROWS(f32, Floats, 4, rows, level, attributes)                                                                  \
    ADD_ROWS(f64, Doubles, 8, rows, level, attributes)                                                                 \
    ADD_ROWS(bf16, Floats, 2, rows, level, attributes)                                                                 \
    ADD_ROWS(f16, Floats, 2, rows, level, attributes)                                                                  \
    ADD_BYTES(rows, level, attributes)
#define TABLE_ROW(dtype, level)                                                                                        \
    {                                                                                                                  \
        add_##dtype##_1_##level, add_##dtype##_2_##level, add_##dtype##_4_##level, add_##dtype##_8_##level             \
    }
enum { DTYPES = 5, GROUPS = 4, VECTOR = 32 };
#define STAMP(level, attributes)                                                                                       \
    ADD_DTYPES(1, level, attributes)                                                                                   \
    ADD_DTYPES(2, level, attributes)                                                                                   \
    ADD_DTYPES(4, level, attributes)                                                                                   \
    ADD_DTYPES(8, level, attributes)                                                                                   \
    static const AddRows add_##level[DTYPES][GROUPS] = {TABLE_ROW(f32, level), TABLE_ROW(f64, level),                  \
                                                        TABLE_ROW(bf16, level), TABLE_ROW(f16, level),                 \
                                                        TABLE_ROW(i8, level)};

STAMP(any, )
#if defined(__x86_64__)
STAMP(avx2, AVX2)
STAMP(avx512, AVX512)
#endif

static const AddRows (*adders(void))[GROUPS]
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return add_avx512;
    if (__builtin_cpu_supports("avx2")) /* and f16c: no CPU has the one without the other */
        return add_avx2;
#endif
    return add_any;
}

static int dtype_row(const RdxPlan *plan)
{
    switch (plan->recipe.in) {
    case RDX_TYPE_F32:
        return 0;
    case RDX_TYPE_F64:
        return 1;
    case RDX_TYPE_BF16:
        return 2;
    case RDX_TYPE_F16:
        return 3;
    case RDX_TYPE_I8:
        return 4;
    default:
        return -1;
    }
}

static const struct Shape {
    const char *name;
    int64_t sum_bytes; /* accumulators of a strip */
    int group;         /* column of the table of functions: 1 << group rows at once */
    bool ahead; /* asks for the next rows, line after line as they lie in memory, before it adds the present ones */
} shapes[RDX_BENCH_COLUMN_SHAPES] = {{"2 rows x 128 KB", 131072, 1, false},
                                     {"2 rows x 16 KB", 16384, 1, false},
                                     {"8 rows x 16 KB ahead", 16384, 3, true}};

const char *rdx_bench_columns_name(int shape)
{
    return shapes[shape].name;
}

/* The plan's space as this loop walks it: `outer` blocks of `rows` x `width` elements, cut into strips and parts of
   rows. */
typedef struct Cut {
    const RdxSpace *space;
    AddRows one, many;
    int many_rows, size, work;
    int64_t outer, runs, rows, columns, step; /* runs: of rows, along outer reduced dims */
    int64_t width, strip, strips, parts, items;
    bool ahead;
    const unsigned char *in;
    unsigned char *room;
    int threads;
} Cut;

bool rdx_bench_columns_apply(const RdxPlan *plan)
{
    const RdxSpace *s = &plan->space;
    if (dtype_row(plan) < 0 || s->keep_rank == 0 || s->reduce_rank == 0 || s->keep_count == 0 || s->reduce_count == 0)
        return false;
    const RdxDim *columns = &s->keep[s->keep_rank - 1], *rows = &s->reduce[s->reduce_rank - 1];
    bool adjacent = rows->in == columns->extent * columns->in;
    return columns->in == s->in_size && rows->in > s->in_size && (adjacent || columns->extent >= 256);
}

static Cut cut_of(const RdxPlan *plan, int shape, int threads)
{
    const RdxSpace *s = &plan->space;
    const RdxDim *inner = &s->reduce[s->reduce_rank - 1];
    int row = dtype_row(plan);
    Cut cut = {.space = s, .size = s->in_size, .work = plan->recipe.in == RDX_TYPE_F64 ? 8 : 4, .threads = threads};
    cut.one = adders()[row][0];
    cut.many = adders()[row][shapes[shape].group];
    cut.many_rows = 1 << shapes[shape].group;
    cut.ahead = shapes[shape].ahead;
    cut.columns = rdx_space_inner_extent(s);
    cut.outer = s->keep_count / cut.columns;
    cut.rows = inner->extent;
    cut.runs = s->reduce_count / cut.rows;
    cut.step = inner->in;
    /* Neighbouring rows become one wide row, but never so few that the accumulators cost more than the input. */
    int64_t widest = shapes[shape].sum_bytes / cut.work, joined = 1, wide = rdx_max(widest / cut.columns, 1);
    if (cut.step == cut.columns * cut.size)
        joined = rdx_max(rdx_min(wide, cut.rows / (8 * cut.many_rows)), 1);
    cut.width = joined * cut.columns;
    cut.rows /= joined; /* what is left over stays unread, and uncounted: less than one part in 8 * many_rows */
    cut.step *= joined;
    cut.strip = rdx_min(rdx_round_up(cut.width, VECTOR), widest);
    cut.strips = rdx_div_up(cut.width, cut.strip);
    cut.parts = cut.outer * cut.strips < 2 * threads ? rdx_min(threads, cut.rows) : 1;
    cut.items = cut.outer * cut.strips * cut.parts;
    return cut;
}

static int64_t strip_room(const Cut *cut) /* bytes of a strip's accumulators; folding may look 64 further */
{
    return rdx_round_up(cut->strip * cut->work, 64) + 64;
}

double rdx_bench_columns_bytes(const RdxPlan *plan, int shape, int threads)
{
    Cut cut = cut_of(plan, shape, threads);
    int64_t last = (cut.width - 1) % cut.strip + 1, read = (cut.strips - 1) * cut.strip + last / VECTOR * VECTOR;
    return (double)cut.outer * (double)cut.runs * (double)cut.rows * (double)(read * cut.size) +
           (double)plan->space.keep_count * cut.work;
}

int64_t rdx_bench_columns_room(const RdxPlan *plan, int shape, int threads)
{
    Cut cut = cut_of(plan, shape, threads);
    return threads * strip_room(&cut) + cut.parts * plan->space.keep_count * cut.work;
}

/* Joined rows are folded by halves. Integer additions do: nobody reads the sums, and small floats in odd halves would
   stall. */
static void fold_joined(const Cut *cut, unsigned char *sums)
{
    int64_t bytes = cut->columns * cut->work;
    for (int64_t rows = cut->width / cut->columns; rows > 1; rows = (rows + 1) / 2) {
        const unsigned char *upper = sums + (rows + 1) / 2 * bytes;
        for (int64_t at = 0; at < rows / 2 * bytes; at += 64) {
            Ints low, high;
            memcpy(&low, sums + at, sizeof low);
            memcpy(&high, upper + at, sizeof high);
            low += high;
            memcpy(sums + at, &low, sizeof low);
        }
    }
}

static void emit(const Cut *cut, unsigned char *sums, int64_t block, int64_t from, int64_t width, int64_t part)
{
    unsigned char *out = cut->room + cut->threads * strip_room(cut);
    out += ((part * cut->outer + block) * cut->columns + from) * cut->work;
    if (cut->width > cut->columns) {
        fold_joined(cut, sums);
        width = cut->columns;
    }
    memcpy(out, sums, (size_t)(width * cut->work));
}

static void add_run(const Cut *cut, void *sums, const unsigned char *at, int64_t rows, int64_t width)
{
    int64_t row = 0;
    for (; row + cut->many_rows <= rows; row += cut->many_rows) {
        Ahead ahead = {at + row * cut->step, 0, cut->step};
        if (cut->ahead && row + 2 * cut->many_rows <= rows) {
            ahead.next += cut->many_rows * cut->step;
            ahead.row_bytes = width * cut->size;
        }
        cut->many(sums, at + row * cut->step, cut->step, width, ahead);
    }
    for (; row < rows; row++)
        cut->one(sums, at + row * cut->step, cut->step, width, (Ahead){at, 0, 0});
}

static void do_item(const Cut *cut, unsigned char *sums, int64_t item)
{
    const RdxSpace *s = cut->space;
    int64_t part = item % cut->parts, strip = item / cut->parts % cut->strips, block = item / cut->parts / cut->strips;
    int64_t from = strip * cut->strip, width = rdx_min(cut->strip, cut->width - from);
    int64_t first = cut->rows * part / cut->parts, rows = cut->rows * (part + 1) / cut->parts - first;
    const unsigned char *at = cut->in + s->in_offset + from * cut->size + first * cut->step;
    int64_t rest = block;
    for (int d = s->keep_rank - 2; d >= 0; d--) {
        at += rest % s->keep[d].extent * s->keep[d].in;
        rest /= s->keep[d].extent;
    }
    memset(sums, 0, (size_t)(width * cut->work));
    for (int64_t run = 0; run < cut->runs; run++) {
        int64_t offset = 0;
        rest = run;
        for (int d = s->reduce_rank - 2; d >= 0; d--) {
            offset += rest % s->reduce[d].extent * s->reduce[d].in;
            rest /= s->reduce[d].extent;
        }
        add_run(cut, sums, at + offset, rows, width / VECTOR * VECTOR); /* the ragged end stays out */
    }
    emit(cut, sums, block, from, width, part);
}

static void do_items(void *context, int thread)
{
    const Cut *cut = context;
    unsigned char *sums = cut->room + thread * strip_room(cut);
    for (int64_t i = cut->items * thread / cut->threads; i < cut->items * (thread + 1) / cut->threads; i++)
        do_item(cut, sums, i);
}

void rdx_bench_columns(const RdxPlan *plan, int shape, int threads, const RdxTensor *in, unsigned char *room)
{
    Cut cut = cut_of(plan, shape, threads);
    cut.in = (const unsigned char *)in->data + in->byte_offset;
    cut.room = room;
    rdx_pool_run(threads, do_items, &cut);
}
