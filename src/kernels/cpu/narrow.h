/* Extremes of elements of 8 and 16 bits in lanes as narrow as they are, two or four times as many to a vector as of
   i32. The lanes are sealed into nodes of i32 (algebra_int.inc), which know nothing of it.
   Suffix k16: keys of i16, stretched to those of f32 with the same upper half; k8: of u8, off by RdxCpuCode's
   key_offset. */
#ifndef RDX_KERNELS_CPU_NARROW_H
#define RDX_KERNELS_CPU_NARROW_H

#include "../algebra.h"
#include "isa.h"

/* A 16-bit float to a key that orders like it: the upper half of what rdx_key_f32 makes of a bf16, but where zeros are
   equal of the negated magnitude, one comparison less. */
RDX_INLINE int16_t rdx_narrow_key_16(uint16_t bits, const bool zeros_equal, const RdxLoad load)
{
    const int16_t magnitude = (int16_t)(bits & 0x7fff);
    const int16_t turn = (int16_t)((int16_t)((int16_t)bits >> 15) ^ (int16_t)load.turn);
    const int16_t key = (int16_t)((magnitude ^ turn) - (zeros_equal ? turn : 0));
    return magnitude > (int16_t)load.limit ? (int16_t)(load.nan >> 16) : key;
}

/* An integer of 8 bits, or a bool of any byte, whose limit is 1. */
RDX_INLINE uint8_t rdx_narrow_key_8(uint8_t bits, const RdxLoad load)
{
    const uint8_t limit = (uint8_t)load.limit;
    return (uint8_t)((bits > limit ? limit : bits) ^ (uint8_t)load.turn);
}

/* What the rest of an f32 of these upper bits would give; the ends, which stand for NaN, go to the ends. */
RDX_INLINE int32_t rdx_narrow_wide_k16(int16_t key)
{
    const int32_t wide = key, sign = wide >> 31, end = (wide ^ sign) == 0x7fff ? 0xffff : 0;
    return (int32_t)((uint32_t)wide << 16) | ((sign & 0xffff) ^ end);
}

RDX_INLINE int32_t rdx_narrow_wide_k8(uint8_t key)
{
    return key;
}

#define RDX_NARROW(T, suffix)                                                                                          \
    typedef struct RdxLane_max_##suffix {                                                                              \
        RDX_LANE_MAX(RDX_FIELD_, T)                                                                                    \
    } RdxLane_max_##suffix;                                                                                            \
    typedef RdxNode_max_i32 RdxNode_max_##suffix;                                                                      \
    typedef struct RdxLane_argmax_##suffix {                                                                           \
        RDX_LANE_ARGMAX(RDX_FIELD_, T)                                                                                 \
    } RdxLane_argmax_##suffix;                                                                                         \
    typedef RdxNode_argmax_i32 RdxNode_argmax_##suffix;                                                                \
    RDX_INLINE RdxLane_max_##suffix rdx_max_lift_##suffix(T x, T y)                                                    \
    {                                                                                                                  \
        (void)y;                                                                                                       \
        RdxLane_max_##suffix lane = {x};                                                                               \
        return lane;                                                                                                   \
    }                                                                                                                  \
    RDX_INLINE RdxLane_max_##suffix rdx_max_push_##suffix(RdxLane_max_##suffix lane, T x, T y, int line)               \
    {                                                                                                                  \
        (void)y, (void)line;                                                                                           \
        lane.k = x > lane.k ? x : lane.k;                                                                              \
        return lane;                                                                                                   \
    }                                                                                                                  \
    RDX_INLINE RdxNode_max_i32 rdx_max_seal_##suffix(RdxLane_max_##suffix lane, const RdxSeal *seal)                   \
    {                                                                                                                  \
        RdxLane_max_i32 wide = {rdx_narrow_wide_##suffix(lane.k)};                                                     \
        return rdx_max_seal_i32(wide, seal);                                                                           \
    }                                                                                                                  \
    RDX_INLINE RdxLane_argmax_##suffix rdx_argmax_lift_##suffix(T x, T y)                                              \
    {                                                                                                                  \
        (void)y;                                                                                                       \
        RdxLane_argmax_##suffix lane = {x, 0};                                                                         \
        return lane;                                                                                                   \
    }                                                                                                                  \
    RDX_INLINE RdxLane_argmax_##suffix rdx_argmax_push_##suffix(RdxLane_argmax_##suffix lane, T x, T y, int line)      \
    {                                                                                                                  \
        (void)y;                                                                                                       \
        bool wins = x > lane.k;                                                                                        \
        lane.k = wins ? x : lane.k;                                                                                    \
        lane.line = wins ? (T)line : lane.line;                                                                        \
        return lane;                                                                                                   \
    }                                                                                                                  \
    RDX_INLINE RdxNode_argmax_i32 rdx_argmax_seal_##suffix(RdxLane_argmax_##suffix lane, const RdxSeal *seal)          \
    {                                                                                                                  \
        RdxLane_argmax_i32 wide = {rdx_narrow_wide_##suffix(lane.k), lane.line};                                       \
        return rdx_argmax_seal_i32(wide, seal);                                                                        \
    }
RDX_NARROW(int16_t, k16)
RDX_NARROW(uint8_t, k8)
#undef RDX_NARROW

#endif
