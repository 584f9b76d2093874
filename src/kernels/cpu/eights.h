/* Eight elements of a row in one register of AVX2, as f32 (eights.inc); AVX-512 does the same. */
#ifndef RDX_KERNELS_CPU_EIGHTS_H
#define RDX_KERNELS_CPU_EIGHTS_H

#include "vector.h"

#if defined(__AVX2__)
#define RDX_HAVE_EIGHTS

#include <immintrin.h>
#include <stdint.h>

static inline __attribute__((always_inline)) __m256 rdx_eight_f32(const float *from)
{
    return _mm256_loadu_ps(from);
}

static inline __attribute__((always_inline)) __m256 rdx_eight_f16(const uint16_t *from)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)from));
}

static inline __attribute__((always_inline)) __m256 rdx_eight_bf16(const uint16_t *from)
{
    const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)from));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
}

/* The sum of each of eight rows, ((x0 + x4) + (x2 + x6)) + ((x1 + x5) + (x3 + x7)): 14 shuffles and 7 additions. */
static inline __attribute__((always_inline)) __m256 rdx_sums_of_eights(const __m256 row[8])
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
#endif

#endif
