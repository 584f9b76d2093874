/* What a search through a row of floats asks of a register (seek.inc), from AVX2 on. Functions carry the type. Flags:
   one for each element. */
#ifndef RDX_KERNELS_CPU_SEEK_H
#define RDX_KERNELS_CPU_SEEK_H

#include "vector.h"

#if defined(__AVX2__)
#define RDX_HAVE_SEEK

#include <immintrin.h>
#include <stdint.h>

#define RDX_SEEK_INLINE static inline __attribute__((always_inline))

/* type: the suffix here; T: the element's; V: a register; F: flags; bits_of_register and suffix: of the intrinsics'
   names. */
#define RDX_SEEK(type, T, V, F, bits_of_register, suffix)                                                              \
    typedef V rdx_seek_vector_##type;                                                                                  \
    typedef F rdx_seek_flags_##type;                                                                                   \
    RDX_SEEK_INLINE V rdx_seek_load_##type(const T *from)                                                              \
    {                                                                                                                  \
        return _mm##bits_of_register##_loadu_##suffix(from);                                                           \
    }                                                                                                                  \
    RDX_SEEK_INLINE V rdx_seek_all_##type(T x)                                                                         \
    {                                                                                                                  \
        return _mm##bits_of_register##_set1_##suffix(x);                                                               \
    }                                                                                                                  \
    /* The one of each pair that is beyond the other; `top` where x is NaN. */                                         \
    RDX_SEEK_INLINE V rdx_seek_beyond_##type(V x, V top, const bool least)                                             \
    {                                                                                                                  \
        return least ? _mm##bits_of_register##_min_##suffix(x, top) : _mm##bits_of_register##_max_##suffix(x, top);    \
    }                                                                                                                  \
    RDX_SEEK_INLINE F rdx_seek_equal_##type(V a, V b)                                                                  \
    {                                                                                                                  \
        return RDX_SEEK_COMPARE(suffix)(a, b, _CMP_EQ_OQ);                                                             \
    }                                                                                                                  \
    /* Whether one of both is NaN. */                                                                                  \
    RDX_SEEK_INLINE F rdx_seek_unordered_##type(V a, V b)                                                              \
    {                                                                                                                  \
        return RDX_SEEK_COMPARE(suffix)(a, b, _CMP_UNORD_Q);                                                           \
    }

#if RDX_VECTOR_BYTES == 64
#define RDX_SEEK_COMPARE(suffix) _mm512_cmp_##suffix##_mask
#define RDX_SEEK_FLAGS(type, F)                                                                                        \
    RDX_SEEK_INLINE F rdx_seek_or_##type(F a, F b)                                                                     \
    {                                                                                                                  \
        return (F)(a | b);                                                                                             \
    }                                                                                                                  \
    RDX_SEEK_INLINE uint64_t rdx_seek_bits_##type(F flags)                                                             \
    {                                                                                                                  \
        return flags;                                                                                                  \
    }
RDX_SEEK(f32, float, __m512, __mmask16, 512, ps)
RDX_SEEK(f64, double, __m512d, __mmask8, 512, pd)
RDX_SEEK_FLAGS(f32, __mmask16)
RDX_SEEK_FLAGS(f64, __mmask8)
#else
#define RDX_SEEK_COMPARE(suffix) _mm256_cmp_##suffix
#define RDX_SEEK_FLAGS(type, V, suffix)                                                                                \
    RDX_SEEK_INLINE V rdx_seek_or_##type(V a, V b)                                                                     \
    {                                                                                                                  \
        return _mm256_or_##suffix(a, b);                                                                               \
    }                                                                                                                  \
    RDX_SEEK_INLINE uint64_t rdx_seek_bits_##type(V flags)                                                             \
    {                                                                                                                  \
        return (uint64_t)(unsigned)_mm256_movemask_##suffix(flags);                                                    \
    }
RDX_SEEK(f32, float, __m256, __m256, 256, ps)
RDX_SEEK(f64, double, __m256d, __m256d, 256, pd)
RDX_SEEK_FLAGS(f32, __m256, ps)
RDX_SEEK_FLAGS(f64, __m256d, pd)
#endif
#endif

#endif
