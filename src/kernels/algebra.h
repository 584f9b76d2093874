/* The algebras: what one step of a reduction is, written once for the plain reference, the SIMD kernels and CUDA.

   An algebra has a lane (elements folded in order), a node (a state of the tree) and four functions, none of which
   needs an identity:   lane = lift(x)   lane = push(lane, x, line)   node = seal(lane, ..)   node = join(a, b, pair)
   Lanes and nodes are lists of fields; kernels store them as one array per field, so loops over outputs vectorise. `y`
   is the second plane of an element (imaginary part, second key); algebras of one plane ignore it. Every join is
   commutative to the bit. Counts are int64 and converted once, in rdx_pair; nodes carry them only where nan = omit
   makes them unequal.

   The real algebras are defined in algebra_real.inc for f32 and f64, those of integers in algebra_int.inc for i32 and
   i64, and sums that widen in algebra_isum.inc for every integer up to 32 bits. */
#ifndef RDX_KERNELS_ALGEBRA_H
#define RDX_KERNELS_ALGEBRA_H

#include "../base.h"
#include "real.h"

/* Fields: X(type, name) of a lane, X(part, type, name) of a node. T is the working type. */
#define RDX_LANE_SUM(X, T) X(T, s)
#define RDX_NODE_SUM(X, T) X(0, T, s)
#define RDX_LANE_ISUM(X, T) X(RDX_CAT(RdxWide_, RDX_SUFFIX), s)
#define RDX_NODE_ISUM(X, T) X(0, int64_t, s)
#define RDX_LANE_PROD(X, T) X(T, s)
#define RDX_NODE_PROD(X, T) X(0, T, s)
#define RDX_LANE_CPROD(X, T) X(T, re) X(T, im)
#define RDX_NODE_CPROD(X, T) X(0, T, re) X(1, T, im)
#define RDX_LANE_CPRODN(X, T) X(T, re) X(T, im) X(T, n)
#define RDX_NODE_CPRODN(X, T) X(0, T, re) X(1, T, im) X(2, int64_t, n)
#define RDX_LANE_SUMN(X, T) X(T, s) X(T, n)
#define RDX_NODE_SUMN(X, T) X(0, T, s) X(1, int64_t, n)
#define RDX_LANE_CSUMN(X, T) X(T, re) X(T, im) X(T, n)
#define RDX_NODE_CSUMN(X, T) X(0, T, re) X(1, T, im) X(2, int64_t, n)
#define RDX_LANE_SUMSQ(X, T) X(T, s)
#define RDX_NODE_SUMSQ(X, T) X(0, T, s)
#define RDX_LANE_CSUMSQ(X, T) X(T, s)
#define RDX_NODE_CSUMSQ(X, T) X(0, T, s)
#define RDX_LANE_VAR(X, T) X(T, p) X(T, t) X(T, q)
#define RDX_NODE_VAR(X, T) X(0, T, m) X(1, T, q)
#define RDX_LANE_VARN(X, T) X(T, p) X(T, t) X(T, q) X(T, n)
#define RDX_NODE_VARN(X, T) X(0, T, m) X(1, T, q) X(2, int64_t, n)
#define RDX_LANE_CVAR(X, T) X(T, pr) X(T, pi) X(T, tr) X(T, ti) X(T, q)
#define RDX_NODE_CVAR(X, T) X(0, T, mr) X(1, T, mi) X(2, T, q)
#define RDX_LANE_CVARN(X, T) X(T, pr) X(T, pi) X(T, tr) X(T, ti) X(T, q) X(T, n)
#define RDX_NODE_CVARN(X, T) X(0, T, mr) X(1, T, mi) X(2, T, q) X(3, int64_t, n)
#define RDX_NODE_LSE(X, T) X(0, T, m) X(1, T, s)
#define RDX_NODE_LSEN(X, T) RDX_NODE_LSE(X, T)
#define RDX_LANE_MAX(X, T) X(T, k)
#define RDX_NODE_MAX(X, T) X(0, T, k)
#define RDX_LANE_ARGMAX(X, T) X(T, k) X(T, line)
#define RDX_NODE_ARGMAX(X, T) X(0, T, k) X(1, T, i)
#define RDX_LANE_ARGMAXL(X, T) RDX_LANE_ARGMAX(X, T)
#define RDX_NODE_ARGMAXL(X, T) X(0, T, k) X(1, int64_t, i)
#define RDX_LANE_MAXARG(X, T) X(T, v) X(T, k) X(T, line)
#define RDX_NODE_MAXARG(X, T) X(0, T, v) X(1, T, k) X(2, T, i)
#define RDX_LANE_MAXARGL(X, T) RDX_LANE_MAXARG(X, T)
#define RDX_NODE_MAXARGL(X, T) X(0, T, v) X(1, T, k) X(2, int64_t, i)
#define RDX_LANE_MOMENTS(X, T) X(int64_t, s) X(int64_t, t)
#define RDX_NODE_MOMENTS(X, T) X(0, int64_t, s) X(1, int64_t, t)
#define RDX_LANE_AND(X, T) X(T, b)
#define RDX_NODE_AND(X, T) X(0, T, b)
#define RDX_LANE_OR(X, T) X(T, b)
#define RDX_NODE_OR(X, T) X(0, T, b)
#define RDX_LANE_XOR(X, T) X(T, b)
#define RDX_NODE_XOR(X, T) X(0, T, b)

#define RDX_FIELD_(type, name) type name;
#define RDX_PART_(part, type, name) type name;

/* What seal needs to know beside the lane. The lane of a fold has `count` elements. Indexed algebras: the logical index
   of line k's first element is index[k], or first + k * step where index is NULL; a table would keep loops over lanes
   from vectorising. */
typedef struct RdxSeal {
    double count;
    const int64_t *index;
    int64_t first, step;
} RdxSeal;

RDX_INLINE float rdx_infinity_f32(void)
{
    return RDX_REAL_INF_F32;
}

RDX_INLINE double rdx_infinity_f64(void)
{
    return RDX_REAL_INF_F64;
}

#define RDX_REAL float
#define RDX_SUFFIX f32
#include "algebra_real.inc"
#undef RDX_REAL
#undef RDX_SUFFIX
#define RDX_REAL double
#define RDX_SUFFIX f64
#include "algebra_real.inc"
#undef RDX_REAL
#undef RDX_SUFFIX

/* Counts do not matter to integers: their joins take a pair only to be alike. */
#define RDX_NO_COUNTS(suffix)                                                                                          \
    typedef struct RdxPair_##suffix {                                                                                  \
        char unused;                                                                                                   \
    } RdxPair_##suffix;                                                                                                \
    RDX_INLINE RdxPair_##suffix rdx_pair_##suffix(int64_t na, int64_t nb)                                              \
    {                                                                                                                  \
        RdxPair_##suffix pair = {0};                                                                                   \
        (void)na, (void)nb;                                                                                            \
        return pair;                                                                                                   \
    }
RDX_NO_COUNTS(i8)
RDX_NO_COUNTS(u8)
RDX_NO_COUNTS(i16)
RDX_NO_COUNTS(u16)
RDX_NO_COUNTS(i32)
RDX_NO_COUNTS(t32)
RDX_NO_COUNTS(t8)
RDX_NO_COUNTS(i64)

/* 16 elements of the type are exact in it. */
typedef int16_t RdxWide_i8, RdxWide_u8;
typedef int32_t RdxWide_i16, RdxWide_u16;
typedef int64_t RdxWide_i32;
typedef int32_t RdxWide_t32; /* of truth values, 0 or 1 */
typedef uint8_t RdxWide_t8;  /* the same as bytes: a lane has at most 128 lines (columns.c) */

#define RDX_INT int32_t
#define RDX_UINT uint32_t
#define RDX_SUFFIX i32
#include "algebra_int.inc"
#undef RDX_INT
#undef RDX_UINT
#undef RDX_SUFFIX
#define RDX_INT int64_t
#define RDX_UINT uint64_t
#define RDX_SUFFIX i64
#include "algebra_int.inc"
#undef RDX_INT
#undef RDX_UINT
#undef RDX_SUFFIX

#define RDX_INT int8_t
#define RDX_WIDE RdxWide_i8
#define RDX_SUFFIX i8
#include "algebra_isum.inc"
#undef RDX_INT
#undef RDX_WIDE
#undef RDX_SUFFIX
#define RDX_INT uint8_t
#define RDX_WIDE RdxWide_u8
#define RDX_SUFFIX u8
#include "algebra_isum.inc"
#undef RDX_INT
#undef RDX_WIDE
#undef RDX_SUFFIX
#define RDX_INT int16_t
#define RDX_WIDE RdxWide_i16
#define RDX_SUFFIX i16
#include "algebra_isum.inc"
#undef RDX_INT
#undef RDX_WIDE
#undef RDX_SUFFIX
#define RDX_INT uint16_t
#define RDX_WIDE RdxWide_u16
#define RDX_SUFFIX u16
#include "algebra_isum.inc"
#undef RDX_INT
#undef RDX_WIDE
#undef RDX_SUFFIX
#define RDX_INT int32_t
#define RDX_WIDE RdxWide_i32
#define RDX_SUFFIX i32
#include "algebra_isum.inc"
#undef RDX_INT
#undef RDX_WIDE
#undef RDX_SUFFIX
#define RDX_INT int32_t
#define RDX_WIDE RdxWide_t32
#define RDX_SUFFIX t32
#include "algebra_isum.inc"
#undef RDX_INT
#undef RDX_WIDE
#undef RDX_SUFFIX
#define RDX_INT uint8_t
#define RDX_WIDE RdxWide_t8
#define RDX_SUFFIX t8
#include "algebra_isum.inc"
#undef RDX_INT
#undef RDX_WIDE
#undef RDX_SUFFIX

#endif
