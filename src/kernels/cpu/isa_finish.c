/* finish: nodes -> results, and store: results -> elements of the output dtype, at one ISA level. Once per output, so
   what counts here is one rounding in the right place, not speed; still, columns of few rows pass through and the loops
   vectorise. Results are of type recipe->result; complex results are pairs. The second result is a mean (of that type),
   an index (i64) or the other value of minmax. */
#include "folds.h"

#include "../algebra.h"
#include "../scalar.h"
#include "widen.h"

#include <string.h>

static float rdx_nan_f32(void)
{
    return RDX_REAL_NAN_F32;
}

static double rdx_nan_f64(void)
{
    return RDX_REAL_NAN_F64;
}

#define T float
#define K int32_t
#define U uint32_t
#define RDX_SUFFIX f32
#include "finish_real.inc"
#undef T
#undef K
#undef U
#undef RDX_SUFFIX

#define T double
#define K int64_t
#define U uint64_t
#define RDX_SUFFIX f64
#include "finish_real.inc"
#undef T
#undef K
#undef U
#undef RDX_SUFFIX

static const int64_t *part_i64(const RdxStrip *nodes, int part)
{
    return (const int64_t *)(const void *)nodes->part[part];
}

static const int32_t *part_i32(const RdxStrip *nodes, int part)
{
    return (const int32_t *)(const void *)nodes->part[part];
}

/* Integer states have one of two widths: the loops below are made for each. */
static bool is_narrow(const RdxRecipe *recipe)
{
    return recipe->work == RDX_WORK_I32 && recipe->work_parts > 0;
}

#define STATE(i) (narrow ? (int64_t)((const int32_t *)states)[i] : ((const int64_t *)states)[i])
#define EACH(i, ...)                                                                                                   \
    do {                                                                                                               \
        RDX_VECTOR_LOOP                                                                                                \
        for (int64_t i = 0; i < n; i++)                                                                                \
            __VA_ARGS__;                                                                                               \
    } while (0)

RDX_ALWAYS_INLINE void integer_results(const RdxRecipe *recipe, const void *states, const bool narrow, int64_t n,
                                       void *result)
{
    const bool is_unsigned = recipe->is_unsigned;
    const double count = (double)recipe->count;
    if (recipe->result == RDX_WORK_I64) {
        int64_t *to = result;
        if (recipe->finish == RDX_FINISH_ANY)
            EACH(i, to[i] = STATE(i) != 0);
        else if (recipe->finish == RDX_FINISH_ALL)
            EACH(i, to[i] = STATE(i) == 0);
        else
            EACH(i, to[i] = STATE(i));
    } else if (recipe->finish == RDX_FINISH_MEAN) {
        EACH(i, ((double *)result)[i] = (double)STATE(i) / count);
    } else if (recipe->result == RDX_WORK_F32) {
        if (is_unsigned)
            EACH(i, ((float *)result)[i] = (float)(uint64_t)STATE(i));
        else
            EACH(i, ((float *)result)[i] = (float)STATE(i));
    } else if (is_unsigned) {
        EACH(i, ((double *)result)[i] = (double)(uint64_t)STATE(i));
    } else {
        EACH(i, ((double *)result)[i] = (double)STATE(i));
    }
}

static void finish_integer(const RdxRecipe *recipe, RdxStrip nodes, int64_t n, void *result)
{
    if (is_narrow(recipe))
        integer_results(recipe, nodes.part[0], true, n, result);
    else
        integer_results(recipe, nodes.part[0], false, n, result);
}

/* n * T - S * S needs up to 97 bits: formed in 128, converted as high * 2^64 + low. */
static double squares_about_mean(int64_t s, uint64_t t, int64_t count)
{
    unsigned __int128 magnitude = (unsigned __int128)((__int128)s * s);
    unsigned __int128 difference = (unsigned __int128)(uint64_t)count * t - magnitude;
    return (double)(uint64_t)(difference >> 64) * 0x1p64 + (double)(uint64_t)difference;
}

static void finish_moments(const RdxRecipe *recipe, RdxStrip nodes, int64_t n, double *result, double *second)
{
    const int64_t *s = part_i64(&nodes, 0), *t = part_i64(&nodes, 1);
    double count = (double)recipe->count, degrees = count - recipe->correction;
    for (int64_t i = 0; i < n; i++) {
        double variance = squares_about_mean(s[i], (uint64_t)t[i], recipe->count) / count / degrees;
        if (!(degrees > 0) || recipe->count == 0)
            variance = rdx_nan_f64();
        switch ((RdxFinish)recipe->finish) {
        case RDX_FINISH_MOMENTS_VAR:
            result[i] = variance;
            break;
        case RDX_FINISH_MOMENTS_STD:
            result[i] = rdx_sqrt_f64(variance);
            break;
        case RDX_FINISH_MOMENTS_SUMSQ:
            result[i] = (double)(uint64_t)t[i];
            break;
        default:
            result[i] = rdx_sqrt_f64((double)(uint64_t)t[i]);
            break;
        }
        if (second)
            second[i] = (double)s[i] / count;
    }
}

/* The key of an f32 from the bits of an f16 that were its upper half; the ends stay what they are. */
RDX_INLINE int32_t key_of_half(int32_t key, int32_t turn)
{
    int32_t ordered = (key ^ turn) >> 16, bits = ordered ^ (ordered >> 31 & 0x7fff);
    int32_t wide = rdx_key_f32(rdx_load_f16((uint16_t)bits), false, turn, 0);
    bool end = (key == INT32_MAX) | (key == INT32_MIN);
    return end ? key : wide;
}

void RDX_LEVEL(widen_keys)(void *keys, int64_t n, bool half, bool flip, int32_t offset)
{
    int32_t *key = keys;
    if (half) {
        RDX_VECTOR_LOOP
        for (int64_t i = 0; i < n; i++)
            key[i] = key_of_half(key[i], flip ? -1 : 0);
    } else {
        RDX_VECTOR_LOOP
        for (int64_t i = 0; i < n; i++)
            key[i] += offset;
    }
}

/* Keys of integers back to integers; of minmax two a node, that of the greatest first. */
RDX_ALWAYS_INLINE void integers_of_keys(const RdxRecipe *recipe, const void *states, const bool narrow, int64_t n,
                                        int64_t *result, int64_t *second)
{
    const int64_t turn = recipe->is_unsigned ? INT64_MIN : 0;
    if (recipe->unit == 2) {
        EACH(i, second[i] = STATE(2 * i) ^ turn);
        EACH(i, result[i] = ~STATE(2 * i + 1) ^ turn);
    } else {
        const int64_t flip = recipe->flip ? ~turn : turn;
        EACH(i, result[i] = STATE(i) ^ flip);
    }
}

static void finish_integer_keys(const RdxRecipe *recipe, RdxStrip nodes, int64_t n, int64_t *result, int64_t *second)
{
    if (is_narrow(recipe))
        integers_of_keys(recipe, nodes.part[0], true, n, result, second);
    else
        integers_of_keys(recipe, nodes.part[0], false, n, result, second);
}

/* Under omit a key at the bottom says that there was nothing but NaN: index -1. */
static void finish_index(const RdxRecipe *recipe, RdxStrip nodes, int64_t n, int64_t *result)
{
    bool is_long = recipe->algebra == RDX_ALGEBRA_ARGMAXL || recipe->algebra == RDX_ALGEBRA_MAXARGL;
    int index_part = recipe->parts - 1, key_part = index_part - 1;
    bool narrow_key = recipe->work == RDX_WORK_I32, narrow_index = narrow_key && !is_long;
    if (narrow_index && !recipe->omit) {
        const int32_t *index = part_i32(&nodes, index_part);
        RDX_VECTOR_LOOP
        for (int64_t i = 0; i < n; i++)
            result[i] = index[i];
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        bool bottom =
            narrow_key ? part_i32(&nodes, key_part)[i] == INT32_MIN : part_i64(&nodes, key_part)[i] == INT64_MIN;
        int64_t index = narrow_index ? part_i32(&nodes, index_part)[i] : part_i64(&nodes, index_part)[i];
        result[i] = recipe->omit && bottom ? -1 : index;
    }
}

static void finish_keys(const RdxRecipe *recipe, RdxStrip nodes, int64_t n, void *result, void *second)
{
    if (recipe->result == RDX_WORK_I64)
        finish_integer_keys(recipe, nodes, n, result, second);
    else if (recipe->result == RDX_WORK_F32)
        from_keys_f32(recipe, nodes, n, result, second);
    else
        from_keys_f64(recipe, nodes, n, result, second);
    if (recipe->second == RDX_SECOND_INDEX)
        finish_index(recipe, nodes, n, second);
}

static void finish_f32(const RdxRecipe *recipe, RdxStrip nodes, int64_t n, void *result, void *second)
{
    switch ((RdxFinish)recipe->finish) {
    case RDX_FINISH_VALUE:
        value_f32(recipe, nodes, n, result);
        break;
    case RDX_FINISH_MEAN:
        mean_f32(recipe, nodes, n, result);
        break;
    case RDX_FINISH_VAR:
    case RDX_FINISH_STD:
        spread_f32(recipe, nodes, n, result, second);
        break;
    case RDX_FINISH_LSE:
        logsumexp_f32(nodes, n, result);
        break;
    default:
        root_f32(recipe, nodes, n, result);
        break;
    }
}

static void finish_f64(const RdxRecipe *recipe, RdxStrip nodes, int64_t n, void *result, void *second)
{
    switch ((RdxFinish)recipe->finish) {
    case RDX_FINISH_VALUE:
        value_f64(recipe, nodes, n, result);
        break;
    case RDX_FINISH_MEAN:
        mean_f64(recipe, nodes, n, result);
        break;
    case RDX_FINISH_VAR:
    case RDX_FINISH_STD:
        spread_f64(recipe, nodes, n, result, second);
        break;
    case RDX_FINISH_LSE:
        logsumexp_f64(nodes, n, result);
        break;
    default:
        root_f64(recipe, nodes, n, result);
        break;
    }
}

/* Whether the first part of the nodes is the result. A sum under omit is never -0 and has to be lifted. */
static bool nodes_are_results(const RdxRecipe *recipe)
{
    switch ((RdxAlgebra)recipe->algebra) {
    case RDX_ALGEBRA_SUM:
    case RDX_ALGEBRA_PROD:
        return recipe->finish == RDX_FINISH_VALUE && recipe->work == recipe->result &&
               (!recipe->omit || recipe->algebra == RDX_ALGEBRA_PROD);
    case RDX_ALGEBRA_ISUM:
        return recipe->finish == RDX_FINISH_VALUE && recipe->result == RDX_WORK_I64;
    default:
        return false;
    }
}

void *RDX_LEVEL(finish)(const RdxRecipe *recipe, const RdxStrip *at, int64_t n, void *room, void *second)
{
    const RdxStrip nodes = *at;
    if (nodes_are_results(recipe))
        return nodes.part[0];
    if (recipe->finish == RDX_FINISH_KEY)
        finish_keys(recipe, nodes, n, room, second);
    else if (recipe->finish == RDX_FINISH_INDEX)
        finish_index(recipe, nodes, n, room);
    else if (recipe->algebra == RDX_ALGEBRA_MOMENTS)
        finish_moments(recipe, nodes, n, room, second);
    else if (recipe->work == RDX_WORK_F32)
        finish_f32(recipe, nodes, n, room, second);
    else if (recipe->work == RDX_WORK_F64)
        finish_f64(recipe, nodes, n, room, second);
    else
        finish_integer(recipe, nodes, n, room);
    return room;
}

/* result = alpha * result + beta * old, each product rounded; old NULL where beta is 0. Values, so twice n where
   complex. */
void RDX_LEVEL(scale)(RdxWork work, void *result, const void *old, int64_t n, double alpha, double beta)
{
    if (work == RDX_WORK_F32)
        scale_f32(result, old, n, alpha, beta);
    else
        scale_f64(result, old, n, alpha, beta);
}

#define STORE(from, to, Source, Target, CONVERT)                                                                       \
    static void from##_store_##to(void *dst, const void *src, int64_t n)                                               \
    {                                                                                                                  \
        const Source *x = src;                                                                                         \
        Target *y = dst;                                                                                               \
        RDX_VECTOR_LOOP                                                                                                \
        for (int64_t i = 0; i < n; i++)                                                                                \
            y[i] = (Target)CONVERT(x[i]);                                                                              \
    }
#define ODD_F16(x) rdx_store_f16(rdx_round_to_odd(x))
#define ODD_BF16(x) rdx_store_bf16(rdx_round_to_odd(x))
#define ODD_F8E4M3(x) rdx_store_f8e4m3(rdx_round_to_odd(x))
#define ODD_F8E5M2(x) rdx_store_f8e5m2(rdx_round_to_odd(x))
#define CUT_F32(x) rdx_store_f32((float)(x))
#define TRUTH(x) ((x) != 0)
#define SAME(x) (x)
static void f32_store_f16(void *dst, const void *src, int64_t n)
{
    rdx_narrow_f16(dst, src, n);
}
STORE(f32, bf16, float, uint16_t, rdx_store_bf16)
STORE(f32, f8e4m3, float, uint8_t, rdx_store_f8e4m3)
STORE(f32, f8e5m2, float, uint8_t, rdx_store_f8e5m2)
STORE(f32, f32, float, float, rdx_store_f32)
STORE(f32, f64, float, double, rdx_store_f64)
STORE(f64, f16, double, uint16_t, ODD_F16)
STORE(f64, bf16, double, uint16_t, ODD_BF16)
STORE(f64, f8e4m3, double, uint8_t, ODD_F8E4M3)
STORE(f64, f8e5m2, double, uint8_t, ODD_F8E5M2)
STORE(f64, f32, double, float, CUT_F32)
STORE(f64, f64, double, double, rdx_store_f64)
STORE(i64, bool, int64_t, uint8_t, TRUTH)
STORE(i64, i8, int64_t, int8_t, SAME)
STORE(i64, i16, int64_t, int16_t, SAME)
STORE(i64, i32, int64_t, int32_t, SAME)
STORE(i64, i64, int64_t, int64_t, SAME)
STORE(i64, u8, int64_t, uint8_t, SAME)
STORE(i64, u16, int64_t, uint16_t, SAME)
STORE(i64, u32, int64_t, uint32_t, SAME)
STORE(i64, u64, int64_t, uint64_t, SAME)

#define PAIRS(from, to, part)                                                                                          \
    static void from##_store_##to(void *dst, const void *src, int64_t n)                                               \
    {                                                                                                                  \
        from##_store_##part(dst, src, 2 * n);                                                                          \
    }
PAIRS(f32, c64, f32)
PAIRS(f32, c128, f64)
PAIRS(f64, c64, f32)
PAIRS(f64, c128, f64)

#define FROM(FROM_WORK, from, TO, to) [RDX_WORK_##FROM_WORK][RDX_TYPE_##TO] = from##_store_##to
#define FROM_REAL(WORK, work)                                                                                          \
    FROM(WORK, work, F16, f16), FROM(WORK, work, BF16, bf16), FROM(WORK, work, F8E4M3, f8e4m3),                        \
        FROM(WORK, work, F8E5M2, f8e5m2), FROM(WORK, work, F32, f32), FROM(WORK, work, F64, f64),                      \
        FROM(WORK, work, C64, c64), FROM(WORK, work, C128, c128)

const RdxStore RDX_LEVEL(store)[RDX_WORK_COUNT][RDX_TYPE_COUNT] = {
    FROM_REAL(F32, f32),      FROM_REAL(F64, f64),      FROM(I64, i64, BOOL, bool), FROM(I64, i64, I8, i8),
    FROM(I64, i64, I16, i16), FROM(I64, i64, I32, i32), FROM(I64, i64, I64, i64),   FROM(I64, i64, U8, u8),
    FROM(I64, i64, U16, u16), FROM(I64, i64, U32, u32), FROM(I64, i64, U64, u64),
};
