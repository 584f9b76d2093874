/* f16 -> f32 for the files that are compiled once per ISA level: one instruction where there is one, which compilers do not put
   into a loop by themselves. With n known at compile time the results stay in registers. */
#ifndef RDX_KERNELS_CPU_WIDEN_H
#define RDX_KERNELS_CPU_WIDEN_H

#include "../scalar.h"
#include "vector.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

static inline __attribute__((always_inline)) void rdx_widen_f16(float *to, const uint16_t *from, int64_t n)
{
    int64_t i = 0;
#if defined(__AVX512F__)
    for (; i + 16 <= n; i += 16)
        _mm512_storeu_ps(to + i, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)(from + i))));
#endif
#if defined(__F16C__)
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(from + i))));
#endif
    RDX_VECTOR_LOOP
    for (int64_t w = i; w < n; w++)
        to[w] = rdx_load_f16(from[w]);
}

#endif
