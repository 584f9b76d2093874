/* Elementary functions with the same bits on every machine: E and log of logsumexp, |x|^p of the general norm, |z|, fma
   and sqrt. They are made of single IEEE operations only, so any compiler and any GPU gets the same result; loops over
   them vectorise. This comment is the complete definition; src/kernels/algebra.h is the user.

   Notation. f32 functions compute in f32, f64 ones in f64. Each + - * / sqrt is one operation rounded to nearest and
   fma(a, b, c) is a * b + c rounded once, in exactly the order and brackets written. bits(x) is the pattern of x as an
   integer, value() its inverse; integers are unsigned, modulo 2^32 or 2^64; & | << >> as in C. horner(c0 c1 .. cn; r)
   is y = cn, then y = fma(y, r, c) for c = cn-1, .., c0. Comparing with NaN is false. NaN results promise no payload.

   softexp(d) = E(d) = exp(max(d, D)), d <= 0, D = -87 (f64: -708); E(NaN) = E(-inf) = E(D), E(+-0) = 1 exactly.
     f32: d = d > -87 ? d : -87;  t = fma(d, 0x1.715476p+0, 0x1.8p+23);  k = t - 0x1.8p+23
          r = fma(k, -0x1.62e43p-1, d)
          y = horner(0x1p+0 0x1p+0 0x1.fffff8p-2 0x1.55548ep-3 0x1.555b98p-5 0x1.123bdap-7 0x1.6859bcp-10; r)
          E = value(bits(y) + (bits(t) << 23))
     f64: d = d > -708 ? d : -708;  t = fma(d, 0x1.71547652b82fep+0, 0x1.8p+52);  k = t - 0x1.8p+52
          r = fma(k, -0x1.62e42fefa38p-1, d);  r = fma(k, -0x1.ef35793c7673p-45, r);  y = X(r), where X(r) = horner(
            0x1p+0 0x1p+0 0x1.000000000000cp-1 0x1.5555555555516p-3 0x1.555555554fe5fp-5 0x1.1111111120dd7p-7
            0x1.6c16c185ec874p-10 0x1.a01a014ee7b4bp-13 0x1.a019960993714p-16 0x1.71ded4ca0e89ap-19
            0x1.28b0ac0a6cc7ep-22 0x1.adfe47b24b605p-26; r)
          E = value(bits(y) + (bits(t) << 52))
     In f32 r is d - k ln2 and not fma(d, log2e, -k): f32 holds ln2 five times as exactly as log2e, 4.4 ulp instead of
     19 for the same operations. The relative 2.7e-9 |d| that is left is a twentieth of what rounding d = x - m costs.

   log(x): x < 0 and NaN give NaN, either zero -inf, +inf itself; else, first x = x * 2^24 where x < 2^-126 (B = 151
     instead of 127); f64: x * 2^54 where x < 2^-1022 (B = 1077 instead of 1023).
     f32: u = bits(x) + (0x3f800000 - 0x3f2aaaab);  r = value((u & 0x7fffff) + 0x3f2aaaab) - 1  (|r| <= 1/3)
          k = value((u >> 23) | 0x4b000000) - (2^23 + B);  H = 0x1.62e4p-1;  L = 0x1.7f7d1cp-20
          q = horner(0x1.555556p-2 -0x1.ffff0ap-3 0x1.99985cp-3 -0x1.5599cp-3 0x1.24d99ap-3 -0x1.f37848p-4 0x1.baedf4p-4
            -0x1.0733e6p-3 0x1.e25ba8p-4; r)
     f64: u = bits(x) + (0x3ff0000000000000 - 0x3fe5555555555555);  r = value((u & (2^52 - 1)) + 0x3fe5555555555555) - 1
          k = value((u >> 52) | 0x4330000000000000) - (2^52 + B);  H = 0x1.62e42fefa38p-1;  L = 0x1.ef35793c7673p-45
          q = fma(odd, r, even), w = r * r,
          even = horner(0x1.5555555555555p-2 0x1.99999999999d8p-3 0x1.2492492498a57p-3 0x1.c71c71bd91e84p-4
            0x1.745d1a1267e28p-4 0x1.3b133de698085p-4 0x1.111c65818e77fp-4 0x1.e077dc0137d7ap-5 0x1.bd8370c752b83p-5
            0x1.2d64ea985e1b1p-5 0x1.45072c165d19fp-4; w)
          odd = horner(-0x1.fffffffffff52p-3 -0x1.55555555637b7p-3 -0x1.fffffff224d63p-4 -0x1.99999d1e0a062p-4
            -0x1.5554ce535c27p-4 -0x1.249f04053aad4p-4 -0x1.fe73c832269ccp-5 -0x1.d68abd5a8f2aap-5
            -0x1.3b7d8724e39ccp-5 -0x1.548b57fe38ecfp-4; w)
     both: b = k * H;  s = b + r;  e = (b - s) + r;  w = r * r;  v = fma(r, r, -w);  h = 0.5 * w;  high = s - h
          g = (s - high) - h;  low = fma(-0.5, v, e + g) + fma(r * w, q, k * L);  log = high + low

   pow_abs(a, p) = a^p, f64 only, p finite. a < 0, a or p NaN: NaN. a = 0: 0 if p > 0, inf if p < 0,
     1 if p = 0; a = inf: inf, 0, 1. Else, with high and low of log(a) above and its H, L, and with X of softexp:
          s = high + low;  low = (high - s) + low;  m = p * s
          low = fma(p, low, fma(p, s, -m));  d = m > -750 ? m : -750;  d = d < 710 ? d : 710;  low = d == m ? low : 0
          t = fma(d, 0x1.71547652b82fep+0, 0x1.8p+52);  k = t - 0x1.8p+52;  r = fma(k, -H, d);  r = r + fma(k, -L, low)
          n = (bits(t) + 2048) & 4095;  i = n >> 1;  j = n - i
          a^p = (X(r) * value((i - 1) << 52)) * value((j - 1) << 52)
     Overflow is inf, underflow gradual. Results that are powers of two come out exact where a is one; 1^p is 1.
   powi_abs(a, 3) = (a * a) * a;  powi_abs(a, 4) = (a * a) * (a * a). f64 only. norm's |x|^p of p = 3 and 4.

   abs_c64(re, im) = (f32)sqrt((f64)re * re + (f64)im * im);  abs_c128: x = |re|, y = |im|;  a, b = x > y ? x, y : y, x
     z = a == 0 ? b : a * sqrt(fma(b / a, b / a, 1)). Both: inf if either part is, beside a NaN too (C99's hypot).

   Largest errors in ulp of the exact value, measured against MPFR by tests/check_real.c (softexp_f32 and log_f32 over
   every value, the rest over 2^26 random points a row) and rounded up:
     softexp_f32 4.5, 0.74 for d >= -1   log_f32 0.61   abs_c64 0.5001   pow_abs_f64 1.5 for |p| <= 16; beyond, it grows
     softexp_f64 0.9                     log_f64 0.64   abs_c128 2.2     as |p| / 18, to 150 about |p| = 2500
     powi_abs_f64 1.92, which is 0.5 + sqrt(2) */
#ifndef RDX_KERNELS_REAL_H
#define RDX_KERNELS_REAL_H

#include <stdint.h>

#if defined(__FAST_MATH__)
#error "redax promises bits: compile without -ffast-math"
#endif

#if !defined(RDX_INLINE)
#if defined(__CUDACC__)
#define RDX_INLINE static __host__ __device__ __forceinline__
#else
#define RDX_INLINE static inline __attribute__((always_inline))
#endif
#endif

/* ---- Bits ---- */

/* memcpy of a fixed size is the one cast that is legal in both languages and that gcc and clang
   turn into nothing, inside vectorised loops too. */

RDX_INLINE uint32_t rdx_bits_of_f32(float x)
{
#if defined(__CUDA_ARCH__)
    return __float_as_uint(x);
#else
    uint32_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
#endif
}

RDX_INLINE float rdx_f32_of_bits(uint32_t bits)
{
#if defined(__CUDA_ARCH__)
    return __uint_as_float(bits);
#else
    float x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
#endif
}

RDX_INLINE uint64_t rdx_bits_of_f64(double x)
{
#if defined(__CUDA_ARCH__)
    return (uint64_t)__double_as_longlong(x);
#else
    uint64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
#endif
}

RDX_INLINE double rdx_f64_of_bits(uint64_t bits)
{
#if defined(__CUDA_ARCH__)
    return __longlong_as_double((long long)bits);
#else
    double x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
#endif
}

#define RDX_REAL_INF_F32 rdx_f32_of_bits(0x7f800000u)
#define RDX_REAL_NAN_F32 rdx_f32_of_bits(0x7fc00000u)
#define RDX_REAL_INF_F64 rdx_f64_of_bits(0x7ff0000000000000u)
#define RDX_REAL_NAN_F64 rdx_f64_of_bits(0x7ff8000000000000u)

/* ---- Selects ---- */

/* condition ? a : b, both evaluated. gcc 12 will not if-convert a plain ternary whose arms are
   computed or constant (it counts floating-point operations and compares as trapping), so loops over
   it stay scalar below AVX-512; masks on the bits vectorise everywhere. */

RDX_INLINE float rdx_select_f32(int condition, float a, float b)
{
#if defined(__CUDA_ARCH__)
    return condition ? a : b;
#else
    uint32_t mask = -(uint32_t)condition;
    return rdx_f32_of_bits((rdx_bits_of_f32(a) & mask) | (rdx_bits_of_f32(b) & ~mask));
#endif
}

RDX_INLINE double rdx_select_f64(int condition, double a, double b)
{
#if defined(__CUDA_ARCH__)
    return condition ? a : b;
#else
    uint64_t mask = -(uint64_t)condition;
    return rdx_f64_of_bits((rdx_bits_of_f64(a) & mask) | (rdx_bits_of_f64(b) & ~mask));
#endif
}

/* ---- Fused multiply-add and square root ---- */

RDX_INLINE double rdx_fma_f64(double a, double b, double c)
{
#if defined(__CUDA_ARCH__)
    return __fma_rn(a, b, c);
#else
    return __builtin_fma(a, b, c); /* one instruction, or libm's fma() on baseline x86-64 */
#endif
}

/* a * b + c with one rounding, for a machine without the instruction. The product of two f32 is
   exact in f64. Rounding the sum to nearest and then again to f32 could err at ties of f32, so the
   f64 sum is rounded to odd: cut towards zero, then the last bit is set when something was cut.
   With at least two bits to spare the second rounding is then that of the exact sum (53 of 24). */
RDX_INLINE float rdx_fma_emulated_f32(float a, float b, float c)
{
    double product = (double)a * (double)b;
    double addend = (double)c;
    double sum = product + addend;
    double from_product = sum - addend;
    double rest = (product - from_product) + (addend - (sum - from_product)); /* Knuth's TwoSum */
    uint64_t bits = rdx_bits_of_f64(sum);
    uint64_t away = (bits ^ rdx_bits_of_f64(rest)) >> 63; /* 1: nearest lay beyond the exact sum */
    uint64_t odd = (bits - away) | 1u;
    /* An infinite or NaN sum leaves rest NaN, which compares false both ways: sum stands. A ternary
       here, because SSE2 has no 64-bit integer compare to build a mask from. */
    int cut = (rest < 0.0) | (rest > 0.0);
    return (float)(cut ? rdx_f64_of_bits(odd) : sum);
}

RDX_INLINE float rdx_fma_f32(float a, float b, float c)
{
#if defined(__CUDA_ARCH__)
    return __fmaf_rn(a, b, c);
#elif defined(__FMA__) || defined(__aarch64__)
    return __builtin_fmaf(a, b, c);
#else
    return rdx_fma_emulated_f32(a, b, c);
#endif
}

/* IEEE square roots. gcc needs -fno-math-errno to vectorise loops over them; bits are the same. */

RDX_INLINE float rdx_sqrt_f32(float x)
{
#if defined(__CUDA_ARCH__)
    return __fsqrt_rn(x);
#else
    return __builtin_sqrtf(x);
#endif
}

RDX_INLINE double rdx_sqrt_f64(double x)
{
#if defined(__CUDA_ARCH__)
    return __dsqrt_rn(x);
#else
    return __builtin_sqrt(x);
#endif
}

/* ---- softexp ---- */

RDX_INLINE float rdx_softexp_f32(float d)
{
    d = rdx_select_f32(d > -87.0f, d, -87.0f); /* this way round NaN becomes -87 too */
    float t = rdx_fma_f32(d, 0x1.715476p+0f, 0x1.8p+23f);
    float k = t - 0x1.8p+23f;
    float r = rdx_fma_f32(k, -0x1.62e43p-1f, d);
    float y = 0x1.6859bcp-10f;
    y = rdx_fma_f32(y, r, 0x1.123bdap-7f);
    y = rdx_fma_f32(y, r, 0x1.555b98p-5f);
    y = rdx_fma_f32(y, r, 0x1.55548ep-3f);
    y = rdx_fma_f32(y, r, 0x1.fffff8p-2f);
    y = rdx_fma_f32(y, r, 1.0f);
    y = rdx_fma_f32(y, r, 1.0f);
    return rdx_f32_of_bits(rdx_bits_of_f32(y) + (rdx_bits_of_f32(t) << 23));
}

/* The polynomial of exp(r), |r| <= 0.3467, that rdx_softexp_f64 and rdx_pow_abs_f64 share. */
RDX_INLINE double rdx_exp_reduced_f64(double r)
{
    double y = 0x1.adfe47b24b605p-26;
    y = rdx_fma_f64(y, r, 0x1.28b0ac0a6cc7ep-22);
    y = rdx_fma_f64(y, r, 0x1.71ded4ca0e89ap-19);
    y = rdx_fma_f64(y, r, 0x1.a019960993714p-16);
    y = rdx_fma_f64(y, r, 0x1.a01a014ee7b4bp-13);
    y = rdx_fma_f64(y, r, 0x1.6c16c185ec874p-10);
    y = rdx_fma_f64(y, r, 0x1.1111111120dd7p-7);
    y = rdx_fma_f64(y, r, 0x1.555555554fe5fp-5);
    y = rdx_fma_f64(y, r, 0x1.5555555555516p-3);
    y = rdx_fma_f64(y, r, 0x1.000000000000cp-1);
    y = rdx_fma_f64(y, r, 1.0);
    return rdx_fma_f64(y, r, 1.0);
}

RDX_INLINE double rdx_softexp_f64(double d)
{
    d = rdx_select_f64(d > -708.0, d, -708.0);
    double t = rdx_fma_f64(d, 0x1.71547652b82fep+0, 0x1.8p+52);
    double k = t - 0x1.8p+52;
    double r = rdx_fma_f64(k, -0x1.62e42fefa38p-1, d);
    r = rdx_fma_f64(k, -0x1.ef35793c7673p-45, r);
    double y = rdx_exp_reduced_f64(r);
    return rdx_f64_of_bits(rdx_bits_of_f64(y) + (rdx_bits_of_f64(t) << 52));
}

/* ---- log ---- */

RDX_INLINE float rdx_log_f32(float x)
{
    /* x = 2^k (1 + r), 2/3 <= 1 + r < 4/3; k is read from the low bits of a float near 2^23. */
    int subnormal = x < 0x1p-126f;
    float scaled = x * rdx_select_f32(subnormal, 0x1p+24f, 1.0f);
    uint32_t bits = rdx_bits_of_f32(scaled) + (0x3f800000u - 0x3f2aaaabu);
    float r = rdx_f32_of_bits((bits & 0x007fffffu) + 0x3f2aaaabu) - 1.0f;
    float bias = rdx_select_f32(subnormal, 0x1p+23f + 151.0f, 0x1p+23f + 127.0f);
    float k = rdx_f32_of_bits((bits >> 23) | 0x4b000000u) - bias;
    float q = 0x1.e25ba8p-4f;
    q = rdx_fma_f32(q, r, -0x1.0733e6p-3f);
    q = rdx_fma_f32(q, r, 0x1.baedf4p-4f);
    q = rdx_fma_f32(q, r, -0x1.f37848p-4f);
    q = rdx_fma_f32(q, r, 0x1.24d99ap-3f);
    q = rdx_fma_f32(q, r, -0x1.5599cp-3f);
    q = rdx_fma_f32(q, r, 0x1.99985cp-3f);
    q = rdx_fma_f32(q, r, -0x1.ffff0ap-3f);
    q = rdx_fma_f32(q, r, 0x1.555556p-2f);
    /* k ln2 + r - r^2/2 as high + low without error; k * 0x1.62e4p-1 has 24 bits at most. */
    float base = k * 0x1.62e4p-1f;
    float first = base + r;
    float first_low = (base - first) + r;
    float square = r * r;
    float square_low = rdx_fma_f32(r, r, -square);
    float half = 0.5f * square;
    float high = first - half;
    float high_low = (first - high) - half;
    float low = rdx_fma_f32(-0.5f, square_low, first_low + high_low);
    float tail = rdx_fma_f32(r * square, q, k * 0x1.7f7d1cp-20f);
    float y = high + (low + tail);
    y = rdx_select_f32(x < RDX_REAL_INF_F32, y, x); /* +inf, and NaN */
    y = rdx_select_f32(x == 0.0f, -RDX_REAL_INF_F32, y);
    return rdx_select_f32(x < 0.0f, RDX_REAL_NAN_F32, y);
}

/* log(x) = the result + *low for 0 < x < inf; shared by rdx_log_f64 and rdx_pow_abs_f64. */
RDX_INLINE double rdx_log_split_f64(double x, double *low)
{
    int subnormal = x < 0x1p-1022;
    double scaled = x * rdx_select_f64(subnormal, 0x1p+54, 1.0);
    uint64_t bits = rdx_bits_of_f64(scaled) + (0x3ff0000000000000u - 0x3fe5555555555555u);
    double r = rdx_f64_of_bits((bits & 0x000fffffffffffffu) + 0x3fe5555555555555u) - 1.0;
    double bias = rdx_select_f64(subnormal, 0x1p+52 + 1077.0, 0x1p+52 + 1023.0);
    double k = rdx_f64_of_bits((bits >> 52) | 0x4330000000000000u) - bias;
    double square = r * r;
    double even = 0x1.45072c165d19fp-4;
    even = rdx_fma_f64(even, square, 0x1.2d64ea985e1b1p-5);
    even = rdx_fma_f64(even, square, 0x1.bd8370c752b83p-5);
    even = rdx_fma_f64(even, square, 0x1.e077dc0137d7ap-5);
    even = rdx_fma_f64(even, square, 0x1.111c65818e77fp-4);
    even = rdx_fma_f64(even, square, 0x1.3b133de698085p-4);
    even = rdx_fma_f64(even, square, 0x1.745d1a1267e28p-4);
    even = rdx_fma_f64(even, square, 0x1.c71c71bd91e84p-4);
    even = rdx_fma_f64(even, square, 0x1.2492492498a57p-3);
    even = rdx_fma_f64(even, square, 0x1.99999999999d8p-3);
    even = rdx_fma_f64(even, square, 0x1.5555555555555p-2);
    double odd = -0x1.548b57fe38ecfp-4;
    odd = rdx_fma_f64(odd, square, -0x1.3b7d8724e39ccp-5);
    odd = rdx_fma_f64(odd, square, -0x1.d68abd5a8f2aap-5);
    odd = rdx_fma_f64(odd, square, -0x1.fe73c832269ccp-5);
    odd = rdx_fma_f64(odd, square, -0x1.249f04053aad4p-4);
    odd = rdx_fma_f64(odd, square, -0x1.5554ce535c27p-4);
    odd = rdx_fma_f64(odd, square, -0x1.99999d1e0a062p-4);
    odd = rdx_fma_f64(odd, square, -0x1.fffffff224d63p-4);
    odd = rdx_fma_f64(odd, square, -0x1.55555555637b7p-3);
    odd = rdx_fma_f64(odd, square, -0x1.fffffffffff52p-3);
    double q = rdx_fma_f64(odd, r, even);
    double base = k * 0x1.62e42fefa38p-1; /* exact: 42 bits times 11 */
    double first = base + r;
    double first_low = (base - first) + r;
    double square_low = rdx_fma_f64(r, r, -square);
    double half = 0.5 * square;
    double high = first - half;
    double high_low = (first - high) - half;
    double tail = rdx_fma_f64(r * square, q, k * 0x1.ef35793c7673p-45);
    *low = rdx_fma_f64(-0.5, square_low, first_low + high_low) + tail;
    return high;
}

RDX_INLINE double rdx_log_f64(double x)
{
    double low;
    double high = rdx_log_split_f64(x, &low);
    double y = high + low;
    y = rdx_select_f64(x < RDX_REAL_INF_F64, y, x);
    y = rdx_select_f64(x == 0.0, -RDX_REAL_INF_F64, y);
    return rdx_select_f64(x < 0.0, RDX_REAL_NAN_F64, y);
}

/* ---- pow ---- */

/* a^3 or a^4; p is one of the two. */
RDX_INLINE double rdx_powi_abs_f64(double a, double p)
{
    double square = a * a;
    return square * rdx_select_f64(p == 3.0, a, square);
}

RDX_INLINE double rdx_pow_abs_f64(double ax, double p)
{
    double log_low;
    double log_high = rdx_log_split_f64(ax, &log_low);
    double log_sum = log_high + log_low;
    log_low = (log_high - log_sum) + log_low;

    /* p log(ax) = d + low. Where d had to be clamped its rounding error may be NaN: dropped. */
    double product = p * log_sum;
    double low = rdx_fma_f64(p, log_low, rdx_fma_f64(p, log_sum, -product));
    double d = rdx_select_f64(product > -750.0, product, -750.0);
    d = rdx_select_f64(d < 710.0, d, 710.0);
    low = rdx_select_f64(d == product, low, 0.0);

    double t = rdx_fma_f64(d, 0x1.71547652b82fep+0, 0x1.8p+52);
    double k = t - 0x1.8p+52;
    double r = rdx_fma_f64(k, -0x1.62e42fefa38p-1, d);
    r = r + rdx_fma_f64(k, -0x1.ef35793c7673p-45, low);
    double y = rdx_exp_reduced_f64(r);

    /* y 2^k in two halves: 2^k itself may lie outside f64. The first product is exact, the second
       rounds, overflows or underflows gradually. biased = k + 2048 has 12 bits. */
    uint64_t biased = (rdx_bits_of_f64(t) + 2048u) & 4095u;
    uint64_t half = biased >> 1;
    y = y * rdx_f64_of_bits((half - 1u) << 52);
    y = y * rdx_f64_of_bits((biased - half - 1u) << 52);

    double turned = rdx_select_f64(ax == 0.0, RDX_REAL_INF_F64, 0.0);
    double edge = rdx_select_f64(p > 0.0, ax, rdx_select_f64(p < 0.0, turned, 1.0));
    y = rdx_select_f64(ax == 0.0, edge, y);
    y = rdx_select_f64(ax == RDX_REAL_INF_F64, edge, y);
    y = rdx_select_f64(ax >= 0.0, y, RDX_REAL_NAN_F64);
    return rdx_select_f64(p == p, y, RDX_REAL_NAN_F64);
}

/* ---- Modulus of a complex number ---- */

RDX_INLINE float rdx_abs_c64(float re, float im)
{
    float z = (float)rdx_sqrt_f64((double)re * (double)re + (double)im * (double)im);
    uint32_t a = rdx_bits_of_f32(re) & 0x7fffffffu;
    uint32_t b = rdx_bits_of_f32(im) & 0x7fffffffu;
    return rdx_select_f32((a == 0x7f800000u) | (b == 0x7f800000u), RDX_REAL_INF_F32, z);
}

RDX_INLINE double rdx_abs_c128(double re, double im)
{
    double x = rdx_f64_of_bits(rdx_bits_of_f64(re) & 0x7fffffffffffffffu);
    double y = rdx_f64_of_bits(rdx_bits_of_f64(im) & 0x7fffffffffffffffu);
    double a = rdx_select_f64(x > y, x, y);
    double b = rdx_select_f64(x > y, y, x);
    double r = b / a;
    double z = a * rdx_sqrt_f64(rdx_fma_f64(r, r, 1.0));
    z = rdx_select_f64(a == 0.0, b, z);                          /* 0, or the NaN of (NaN, 0) */
    double larger = rdx_select_f64(y == RDX_REAL_INF_F64, y, x); /* a is not it where x is NaN */
    return rdx_select_f64(larger == RDX_REAL_INF_F64, larger, z);
}

#endif
