/* Shared by every directory: attributes, small arithmetic with overflow checks, RDX_TRY.
   No state, no allocation. Everything here is usable from C11 and from CUDA C++. */
#ifndef RDX_BASE_H
#define RDX_BASE_H

#include <redax.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __FAST_MATH__
#error "redax promises bits: compile it without -ffast-math"
#endif

#define RDX_LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define RDX_CAT_(a, b) a##b
#define RDX_CAT(a, b) RDX_CAT_(a, b)
#define RDX_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define RDX_ALWAYS_INLINE static inline __attribute__((always_inline))
/* One copy, called: what is neither inlined nor cloned for its arguments. */
#if defined(__clang__)
#define RDX_NEVER_INLINE static __attribute__((noinline))
#else
#define RDX_NEVER_INLINE static __attribute__((noinline, noclone))
#endif

/* Evaluates an RdxStatus expression once and returns it to the caller unless it is RDX_OK. */
#define RDX_TRY(expression)                                                                                            \
    do {                                                                                                               \
        RdxStatus rdx_try_ = (expression);                                                                             \
        if (rdx_try_ != RDX_OK)                                                                                        \
            return rdx_try_;                                                                                           \
    } while (0)

static inline int64_t rdx_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t rdx_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t rdx_div_up(int64_t a, int64_t b) /* a >= 0, b > 0 */
{
    return a / b + (a % b != 0);
}

static inline int64_t rdx_round_up(int64_t a, int64_t b) /* a >= 0, b > 0 */
{
    return rdx_div_up(a, b) * b;
}

/* The largest power of two that divides both, at most 16 bytes, the widest load; 0 is divided by all. */
static inline int64_t rdx_common_align(int64_t a, int64_t b)
{
    int64_t bits = a | b | 16;
    return bits & -bits;
}

/* The largest power of two not above n; n >= 1. */
static inline int64_t rdx_pow2_floor(int64_t n)
{
    return (int64_t)1 << (63 - __builtin_clzll((unsigned long long)n));
}

/* The smallest power of two not below n, but at most 2^62, the largest that there is. */
static inline int64_t rdx_pow2_ceil(int64_t n)
{
    const int64_t largest = (int64_t)1 << 62;
    return n <= 1 ? 1 : n >= largest ? largest : rdx_pow2_floor(n - 1) * 2;
}

#endif
