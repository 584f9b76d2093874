/* A group: the elements of one register of AVX2, eight as f32 or four as f64 (groups.inc); AVX-512 does the same.
   Functions carry the type that is added. */
#ifndef RDX_KERNELS_CPU_GROUPS_H
#define RDX_KERNELS_CPU_GROUPS_H

#include "vector.h"

#if defined(__AVX2__)
#define RDX_HAVE_GROUPS
#define RDX_GROUP(name) RDX_CAT(RDX_CAT(rdx_group_, name), RDX_CAT(_, RDX_SUFFIX))

#include <immintrin.h>
#include <stdint.h>

#define RDX_GROUP_INLINE static inline __attribute__((always_inline))

typedef __m256 rdx_group_vector_f32;
typedef __m256d rdx_group_vector_f64;
enum { rdx_group_size_f32 = 8, rdx_group_size_f64 = 4 };

RDX_GROUP_INLINE __m256 rdx_group_of_f32(const float *from)
{
    return _mm256_loadu_ps(from);
}

RDX_GROUP_INLINE __m256d rdx_group_of_f64(const double *from)
{
    return _mm256_loadu_pd(from);
}

RDX_GROUP_INLINE __m256 rdx_group_of_f16(const uint16_t *from)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)from));
}

RDX_GROUP_INLINE __m256 rdx_group_of_bf16(const uint16_t *from)
{
    const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)from));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
}

RDX_GROUP_INLINE __m256 rdx_group_add_f32(__m256 a, __m256 b)
{
    return _mm256_add_ps(a, b);
}

RDX_GROUP_INLINE __m256d rdx_group_add_f64(__m256d a, __m256d b)
{
    return _mm256_add_pd(a, b);
}

RDX_GROUP_INLINE __m256 rdx_group_mul_f32(__m256 a, __m256 b)
{
    return _mm256_mul_ps(a, b);
}

RDX_GROUP_INLINE __m256d rdx_group_mul_f64(__m256d a, __m256d b)
{
    return _mm256_mul_pd(a, b);
}

RDX_GROUP_INLINE void rdx_group_store_f32(float *to, __m256 group)
{
    _mm256_storeu_ps(to, group);
}

RDX_GROUP_INLINE void rdx_group_store_f64(double *to, __m256d group)
{
    _mm256_storeu_pd(to, group);
}

/* The first `count` elements of a group, and -0 for what is not there: x + -0 is x, of either zero too. */
RDX_GROUP_INLINE __m256 rdx_group_first_f32(__m256 group, int count)
{
    const __m256i place = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i there = _mm256_cmpgt_epi32(_mm256_set1_epi32(count), place);
    return _mm256_blendv_ps(_mm256_set1_ps(-0.0f), group, _mm256_castsi256_ps(there));
}

RDX_GROUP_INLINE __m256d rdx_group_first_f64(__m256d group, int count)
{
    const __m256i place = _mm256_setr_epi64x(0, 1, 2, 3);
    const __m256i there = _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), place);
    return _mm256_blendv_pd(_mm256_set1_pd(-0.0), group, _mm256_castsi256_pd(there));
}

/* The sum of each of eight rows, ((x0 + x4) + (x2 + x6)) + ((x1 + x5) + (x3 + x7)): 14 shuffles and 7 additions. */
RDX_GROUP_INLINE __m256 rdx_group_sums_f32(const __m256 row[8])
{
    __m256 four[4], two[2]; /* four[i]: what is left of row i, and in the upper half of row i + 4 */
    for (int i = 0; i < 4; i++)
        four[i] = _mm256_add_ps(_mm256_permute2f128_ps(row[i], row[i + 4], 0x20),
                                _mm256_permute2f128_ps(row[i], row[i + 4], 0x31));
    for (int i = 0; i < 2; i++) {
        const __m256d a = _mm256_castps_pd(four[2 * i]), b = _mm256_castps_pd(four[2 * i + 1]);
        two[i] = _mm256_add_ps(_mm256_castpd_ps(_mm256_unpacklo_pd(a, b)), _mm256_castpd_ps(_mm256_unpackhi_pd(a, b)));
    }
    return _mm256_add_ps(_mm256_shuffle_ps(two[0], two[1], 0x88), _mm256_shuffle_ps(two[0], two[1], 0xdd));
}

/* The sum of each of four rows, (x0 + x2) + (x1 + x3). */
RDX_GROUP_INLINE __m256d rdx_group_sums_f64(const __m256d row[4])
{
    __m256d two[2]; /* two[i]: what is left of row i, and in the upper half of row i + 2 */
    for (int i = 0; i < 2; i++)
        two[i] = _mm256_add_pd(_mm256_permute2f128_pd(row[i], row[i + 2], 0x20),
                               _mm256_permute2f128_pd(row[i], row[i + 2], 0x31));
    return _mm256_add_pd(_mm256_unpacklo_pd(two[0], two[1]), _mm256_unpackhi_pd(two[0], two[1]));
}
#endif

#endif
