/* convert: contiguous elements -> working type, at one ISA level. An entry of NULL in the table means that the element
   is of the working type already. Integers whose bits alone matter (u32, u64) pass as i32 and i64. */
#include "folds.h"

#include "../scalar.h"
#include "widen.h"

#define NAME(from, to) from##_to_##to

#define LOOP(from, to, Source, Target, LOAD)                                                                           \
    static void NAME(from, to)(void *dst, const void *src, int64_t n, int64_t plane)                                   \
    {                                                                                                                  \
        const Source *x = src;                                                                                         \
        Target *y = dst;                                                                                               \
        (void)plane;                                                                                                   \
        RDX_VECTOR_LOOP                                                                                                \
        for (int64_t i = 0; i < n; i++)                                                                                \
            y[i] = (Target)LOAD(x[i]);                                                                                 \
    }

#define SAME(x) (x)
#define TRUTH(x) ((x) != 0)

static void f16_to_f32(void *dst, const void *src, int64_t n, int64_t plane)
{
    (void)plane;
    rdx_widen_f16(dst, src, n);
}
LOOP(bf16, f32, uint16_t, float, rdx_load_bf16)
#if defined(__F16C__) && defined(__AVX2__)
/* By way of f16, whose subnormals the hardware knows: sums 4.4 GB/s a core by integers, so 7 to 9. */
static void f16_lanes_to_f32(float *y, __m256i f16, float scale)
{
    const __m256 factor = _mm256_set1_ps(scale);
    _mm256_storeu_ps(y, _mm256_mul_ps(_mm256_cvtph_ps(_mm256_castsi256_si128(f16)), factor));
    _mm256_storeu_ps(y + 8, _mm256_mul_ps(_mm256_cvtph_ps(_mm256_extracti128_si256(f16, 1)), factor));
}

/* e4m3 as f16 lacks 2^8 of its value; its one NaN, exponent and all, is put above f16's infinity. */
static void f8e4m3_to_f32(void *dst, const void *src, int64_t n, int64_t plane)
{
    const uint8_t *x = src;
    float *y = dst;
    int64_t i = 0;
    (void)plane;
    for (; i + 16 <= n; i += 16) {
        __m256i wide = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)(x + i)));
        __m256i f16 = _mm256_and_si256(_mm256_slli_epi16(wide, 7), _mm256_set1_epi16((int16_t)0xbf80));
        __m256i magnitude = _mm256_and_si256(wide, _mm256_set1_epi16(0x7f));
        __m256i nan = _mm256_cmpeq_epi16(magnitude, _mm256_set1_epi16(0x7f));
        f16 = _mm256_or_si256(f16, _mm256_and_si256(nan, _mm256_set1_epi16(0x7c00)));
        f16_lanes_to_f32(y + i, f16, 256);
    }
    for (; i < n; i++)
        y[i] = rdx_load_f8e4m3(x[i]);
}

/* e5m2 is the upper byte of an f16. */
static void f8e5m2_to_f32(void *dst, const void *src, int64_t n, int64_t plane)
{
    const uint8_t *x = src;
    float *y = dst;
    int64_t i = 0;
    (void)plane;
    for (; i + 16 <= n; i += 16) {
        __m256i wide = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(const void *)(x + i)));
        f16_lanes_to_f32(y + i, _mm256_slli_epi16(wide, 8), 1);
    }
    for (; i < n; i++)
        y[i] = rdx_load_f8e5m2(x[i]);
}
#else
LOOP(f8e4m3, f32, uint8_t, float, rdx_load_f8e4m3)
LOOP(f8e5m2, f32, uint8_t, float, rdx_load_f8e5m2)
#endif

LOOP(f16, f64, uint16_t, double, rdx_load_f16)
LOOP(bf16, f64, uint16_t, double, rdx_load_bf16)
LOOP(f8e4m3, f64, uint8_t, double, rdx_load_f8e4m3)
LOOP(f8e5m2, f64, uint8_t, double, rdx_load_f8e5m2)
LOOP(f32, f64, float, double, SAME)
LOOP(bool, f64, uint8_t, double, TRUTH)
LOOP(i8, f64, int8_t, double, SAME)
LOOP(i16, f64, int16_t, double, SAME)
LOOP(i32, f64, int32_t, double, SAME)
LOOP(i64, f64, int64_t, double, SAME)
LOOP(u8, f64, uint8_t, double, SAME)
LOOP(u16, f64, uint16_t, double, SAME)
LOOP(u32, f64, uint32_t, double, SAME)
LOOP(u64, f64, uint64_t, double, SAME)

LOOP(bool, i32, uint8_t, int32_t, TRUTH)
LOOP(i8, i32, int8_t, int32_t, SAME)
LOOP(i16, i32, int16_t, int32_t, SAME)
LOOP(u8, i32, uint8_t, int32_t, SAME)
LOOP(u16, i32, uint16_t, int32_t, SAME)

LOOP(bool, u8, uint8_t, uint8_t, TRUTH)

LOOP(bool, i64, uint8_t, int64_t, TRUTH)
LOOP(i8, i64, int8_t, int64_t, SAME)
LOOP(i16, i64, int16_t, int64_t, SAME)
LOOP(i32, i64, int32_t, int64_t, SAME)
LOOP(u8, i64, uint8_t, int64_t, SAME)
LOOP(u16, i64, uint16_t, int64_t, SAME)
LOOP(u32, i64, uint32_t, int64_t, SAME)

static void c64_to_f64(void *dst, const void *src, int64_t n, int64_t plane)
{
    f32_to_f64(dst, src, 2 * n, plane);
}

#define PLANES(from, to, Source, Target)                                                                               \
    static void from##_to_##to##_planes(void *dst, const void *src, int64_t n, int64_t plane)                          \
    {                                                                                                                  \
        const Source *x = src;                                                                                         \
        Target *re = dst, *im = (Target *)(void *)((unsigned char *)dst + plane);                                      \
        RDX_VECTOR_LOOP                                                                                                \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            re[i] = x[2 * i];                                                                                          \
            im[i] = x[2 * i + 1];                                                                                      \
        }                                                                                                              \
    }
PLANES(c64, f32, float, float)
PLANES(c64, f64, float, double)
PLANES(c128, f64, double, double)

#define TO(FROM, from, TO_WORK, to) [RDX_TYPE_##FROM][RDX_WORK_##TO_WORK] = NAME(from, to)

const RdxConvert RDX_LEVEL(convert)[RDX_TYPE_COUNT][RDX_WORK_COUNT] = {
    TO(F16, f16, F32, f32), TO(BF16, bf16, F32, f32), TO(F8E4M3, f8e4m3, F32, f32), TO(F8E5M2, f8e5m2, F32, f32),
    TO(F16, f16, F64, f64), TO(BF16, bf16, F64, f64), TO(F8E4M3, f8e4m3, F64, f64), TO(F8E5M2, f8e5m2, F64, f64),
    TO(F32, f32, F64, f64), TO(BOOL, bool, F64, f64), TO(I8, i8, F64, f64),         TO(I16, i16, F64, f64),
    TO(I32, i32, F64, f64), TO(I64, i64, F64, f64),   TO(U8, u8, F64, f64),         TO(U16, u16, F64, f64),
    TO(U32, u32, F64, f64), TO(U64, u64, F64, f64),   TO(BOOL, bool, I32, i32),     TO(I8, i8, I32, i32),
    TO(I16, i16, I32, i32), TO(U8, u8, I32, i32),     TO(U16, u16, I32, i32),       TO(BOOL, bool, I64, i64),
    TO(I8, i8, I64, i64),   TO(I16, i16, I64, i64),   TO(I32, i32, I64, i64),       TO(U8, u8, I64, i64),
    TO(U16, u16, I64, i64), TO(U32, u32, I64, i64),   TO(C64, c64, F64, f64),       TO(BOOL, bool, U8, u8),
};

const RdxConvert RDX_LEVEL(convert_planar)[RDX_TYPE_COUNT][RDX_WORK_COUNT] = {
    [RDX_TYPE_C64][RDX_WORK_F32] = c64_to_f32_planes,
    [RDX_TYPE_C64][RDX_WORK_F64] = c64_to_f64_planes,
    [RDX_TYPE_C128][RDX_WORK_F64] = c128_to_f64_planes,
};
