/* Loads and stores of element types: the one place that knows what the bits of a dtype mean. Loads are exact. Stores
   round once, to nearest even, and write the one NaN pattern of their dtype (sign clear); narrowing from f64 goes
   through f32 rounded to odd, so that the second rounding is that of the exact value. Written with integers and selects
   so that loops over them vectorise. */
#ifndef RDX_KERNELS_SCALAR_H
#define RDX_KERNELS_SCALAR_H

#include "../base.h"
#include "real.h"

/* ---- Loads: to f32, all exact ---- */

/* A binary float of 8 bits: the magnitude's bits, shifted into f32's place, get the bias between them (in f32's place
   too). Subnormals are put behind a leading one, which is subtracted again: exact, and no f32 subnormal is ever an
   operand, which costs some machines 150 cycles. `limit`: magnitudes from here on are infinite or NaN. */
RDX_INLINE float rdx_widen(uint32_t magnitude, uint32_t sign, int shift, uint32_t bias, uint32_t limit)
{
    uint32_t normal = (magnitude << shift) + bias, one = bias + 0x00800000u;
    float tiny = rdx_f32_of_bits((magnitude << shift) + one) - rdx_f32_of_bits(one);
    uint32_t bits = magnitude << shift < 0x00800000u ? rdx_bits_of_f32(tiny) : normal;
    bits = magnitude >= limit ? (magnitude << shift) | 0x7f800000u : bits;
    return rdx_f32_of_bits(bits | sign << 31);
}

/* f16 by one exact product, which puts the exponent right; the sign stays in place through a signed shift. It is in
   every loop over f16, and subnormals are rare there. */
RDX_INLINE float rdx_load_f16(uint16_t x)
{
    uint32_t bits = (uint32_t)(int32_t)(int16_t)x << 13 & 0x8fffe000u;
    float value = rdx_f32_of_bits(bits) * rdx_f32_of_bits(0x77800000u); /* 2^(127 - 15) */
    bool huge = (bits & 0x0f800000u) == 0x0f800000u;
    return rdx_f32_of_bits(rdx_bits_of_f32(value) | (huge ? 0x7f800000u : 0));
}

RDX_INLINE float rdx_load_bf16(uint16_t x)
{
    return rdx_f32_of_bits((uint32_t)x << 16);
}

RDX_INLINE float rdx_load_f8e4m3(uint8_t x)
{
    return rdx_widen(x & 0x7fu, (uint32_t)x >> 7, 20, 120u << 23, 0x7fu); /* 127 - 7 */
}

RDX_INLINE float rdx_load_f8e5m2(uint8_t x)
{
    return rdx_widen(x & 0x7fu, (uint32_t)x >> 7, 21, 112u << 23, 0x7cu); /* 127 - 15 */
}

/* ---- Stores: from f32 ---- */

/* Rounds the f32 magnitude to a float with `cut` fewer significand bits whose bias is smaller by bias >> 23. Below
   min_normal the sum with `magic`, whose unit in the last place is the target's smallest subnormal, does the
   rounding. */
RDX_INLINE uint32_t rdx_narrow(uint32_t magnitude, int cut, uint32_t bias, uint32_t min_normal, uint32_t magic)
{
    uint32_t normal = (magnitude - bias + ((1u << (cut - 1)) - 1) + (magnitude >> cut & 1)) >> cut;
    uint32_t tiny = rdx_bits_of_f32(rdx_f32_of_bits(magnitude) + rdx_f32_of_bits(magic)) - magic;
    return magnitude < min_normal ? tiny : normal;
}

RDX_INLINE uint16_t rdx_store_f16(float x)
{
    uint32_t bits = rdx_bits_of_f32(x), magnitude = bits & 0x7fffffffu;
    uint32_t narrow = rdx_narrow(magnitude, 13, 0x38000000u, 0x38800000u, 0x3f000000u);
    narrow = magnitude >= 0x477ff000u ? 0x7c00u : narrow; /* 65520 and above */
    narrow |= bits >> 16 & 0x8000u;
    return (uint16_t)(magnitude > 0x7f800000u ? 0x7e00u : narrow);
}

RDX_INLINE uint16_t rdx_store_bf16(float x)
{
    uint32_t bits = rdx_bits_of_f32(x);
    uint32_t narrow = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : narrow);
}

RDX_INLINE uint8_t rdx_store_f8e4m3(float x)
{
    uint32_t bits = rdx_bits_of_f32(x), magnitude = bits & 0x7fffffffu;
    uint32_t narrow = rdx_narrow(magnitude, 20, 0x3c000000u, 0x3c800000u, 0x46800000u);
    narrow |= bits >> 24 & 0x80u;
    return (uint8_t)(magnitude > 0x43e80000u ? 0x7fu : narrow); /* past 464, infinities and NaN: there is no infinity */
}

RDX_INLINE uint8_t rdx_store_f8e5m2(float x)
{
    uint32_t bits = rdx_bits_of_f32(x), magnitude = bits & 0x7fffffffu;
    uint32_t narrow = rdx_narrow(magnitude, 21, 0x38000000u, 0x38800000u, 0x43000000u);
    narrow = magnitude >= 0x47700000u ? 0x7cu : narrow; /* 61440 and above */
    narrow |= bits >> 24 & 0x80u;
    return (uint8_t)(magnitude > 0x7f800000u ? 0x7eu : narrow);
}

RDX_INLINE float rdx_store_f32(float x)
{
    return x != x ? RDX_REAL_NAN_F32 : x;
}

RDX_INLINE double rdx_store_f64(double x)
{
    return x != x ? RDX_REAL_NAN_F64 : x;
}

/* ---- Keys: integers that order like the values ---- */

/* -inf < .. < -0 < +0 < .. < inf, NaN as `nan`; zeros_equal: -0 counts as +0. turn is 0, or -1 to turn the order
   round. */
RDX_INLINE int32_t rdx_key_f32(float x, bool zeros_equal, int32_t turn, int32_t nan)
{
    uint32_t bits = rdx_bits_of_f32(x);
    int32_t whole = (int32_t)(zeros_equal && bits == 0x80000000u ? 0 : bits);
    int32_t ordered = whole ^ (int32_t)((uint32_t)(whole >> 31) >> 1);
    return x != x ? nan : ordered ^ turn;
}

RDX_INLINE int64_t rdx_key_f64(double x, bool zeros_equal, int64_t turn, int64_t nan)
{
    uint64_t bits = rdx_bits_of_f64(x);
    int64_t whole = (int64_t)(zeros_equal && bits == 0x8000000000000000u ? 0 : bits);
    int64_t ordered = whole ^ (int64_t)((uint64_t)(whole >> 63) >> 1);
    return x != x ? nan : ordered ^ turn;
}

/* f64 to f32, rounded to odd: cut towards zero, the last bit set if anything was cut. */
RDX_INLINE float rdx_round_to_odd(double x)
{
    float nearest = (float)x;
    double back = (double)nearest;
    uint32_t bits = rdx_bits_of_f32(nearest);
    bool away = (x >= 0 ? back > x : back < x);
    bool exact = back == x || x != x;
    uint32_t odd = (bits - (away ? 1u : 0u)) | 1u;
    return rdx_f32_of_bits(exact ? bits : odd);
}

#endif
