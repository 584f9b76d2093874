/* The folds of the algebras over integers and keys at one ISA level, and of sums that widen. The table has what recipes
   ask for, here or at the level below. */
#include "folds.h"

#include "../algebra.h"
#include "vector.h"

#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define T int32_t
#define RDX_SUFFIX i32
#include "fold_int.inc"

#define A moments
#define A_UPPER MOMENTS
#include "fold.inc"

#ifndef RDX_ISA_BELOW
#define A argmaxl
#define LEAN
#define A_UPPER ARGMAXL
#define INDEXED 1
#include "fold.inc"

#define A maxargl
#define LEAN
#define A_UPPER MAXARGL
#define TWO_PLANES 1
#define INDEXED 1
#include "fold.inc"
#endif
#undef T
#undef RDX_SUFFIX

#define T int64_t
#define RDX_SUFFIX i64
#include "fold_int.inc"

#define A sum
#define QUICK
#define A_UPPER SUM
#include "fold.inc"

#ifndef RDX_ISA_BELOW
#define A prod
#define A_UPPER PROD
#include "fold.inc"
#endif
#undef T
#undef RDX_SUFFIX

/* Integers up to 32 bits into i64 sums. */
#define T int8_t
#define RDX_SUFFIX i8
#include "fold_isum.inc"
#undef T
#undef RDX_SUFFIX
#define T uint8_t
#define RDX_SUFFIX u8
#include "fold_isum.inc"
#undef T
#undef RDX_SUFFIX
#define T int16_t
#define RDX_SUFFIX i16
#include "fold_isum.inc"
#undef T
#undef RDX_SUFFIX
#define T uint16_t
#define RDX_SUFFIX u16
#include "fold_isum.inc"
#undef T
#undef RDX_SUFFIX
#define T int32_t
#define RDX_SUFFIX i32
#include "fold_isum.inc"
#undef T
#undef RDX_SUFFIX

#define WIDENING(suffix)                                                                                               \
    {                                                                                                                  \
        isum_fold_##suffix, isum_rows_##suffix, sum_join_i64, sum_halve_i64, sum_halve_rows_i64, NULL, NULL,           \
            isum_words_##suffix, false                                                                                 \
    }
#define INTEGERS(ALGEBRA, algebra)                                                                                     \
    [RDX_ALGEBRA_##ALGEBRA] = {[RDX_WORK_I32] = RDX_CODE(algebra, i32), [RDX_WORK_I64] = RDX_CODE(algebra, i64)}
#define QUICK_INTEGERS(ALGEBRA, algebra)                                                                               \
    [RDX_ALGEBRA_##ALGEBRA] = {[RDX_WORK_I32] = RDX_QUICK(algebra, i32), [RDX_WORK_I64] = RDX_QUICK(algebra, i64)}
#define SHARED_INTEGERS(ALGEBRA, algebra)                                                                              \
    [RDX_ALGEBRA_##ALGEBRA] = {[RDX_WORK_I32] = RDX_SHARED(algebra, i32), [RDX_WORK_I64] = RDX_SHARED(algebra, i64)}

const RdxAlgebraCode RDX_LEVEL(folds_int)[RDX_ALGEBRA_COUNT][RDX_WORK_COUNT] = {
    [RDX_ALGEBRA_SUM] = {[RDX_WORK_I64] = RDX_QUICK(sum, i64)},
    [RDX_ALGEBRA_PROD] = {[RDX_WORK_I64] = RDX_SHARED(prod, i64)},
    [RDX_ALGEBRA_ISUM] = {[RDX_WORK_I8] = WIDENING(i8),
                          [RDX_WORK_U8] = WIDENING(u8),
                          [RDX_WORK_I16] = WIDENING(i16),
                          [RDX_WORK_U16] = WIDENING(u16),
                          [RDX_WORK_I32] = WIDENING(i32)},
    [RDX_ALGEBRA_MOMENTS] = {[RDX_WORK_I32] = RDX_CODE(moments, i32)},
    QUICK_INTEGERS(MAX, max),
    QUICK_INTEGERS(ARGMAX, argmax),
    [RDX_ALGEBRA_ARGMAXL] = {[RDX_WORK_I32] = RDX_SHARED(argmaxl, i32)},
    INTEGERS(MAXARG, maxarg),
    [RDX_ALGEBRA_MAXARGL] = {[RDX_WORK_I32] = RDX_SHARED(maxargl, i32)},
    SHARED_INTEGERS(AND, and),
    SHARED_INTEGERS(OR, or),
    SHARED_INTEGERS(XOR, xor),
};
