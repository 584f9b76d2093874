/* The folds of the algebras over integers and keys at one ISA level, and of sums that widen. */
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
#undef T
#undef RDX_SUFFIX

#define T int64_t
#define RDX_SUFFIX i64
#include "fold_int.inc"
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
        isum_fold_##suffix, isum_rows_##suffix, sum_join_i64, sum_halve_i64, sum_halve_rows_i64, NULL,                 \
            isum_words_##suffix                                                                                        \
    }
#define INTEGERS(ALGEBRA, algebra)                                                                                     \
    [RDX_ALGEBRA_##ALGEBRA] = {[RDX_WORK_I32] = RDX_CODE(algebra, i32), [RDX_WORK_I64] = RDX_CODE(algebra, i64)}
#define QUICK_INTEGERS(ALGEBRA, algebra)                                                                               \
    [RDX_ALGEBRA_##ALGEBRA] = {[RDX_WORK_I32] = RDX_QUICK(algebra, i32), [RDX_WORK_I64] = RDX_QUICK(algebra, i64)}

const RdxAlgebraCode RDX_LEVEL(folds_int)[RDX_ALGEBRA_COUNT][RDX_WORK_COUNT] = {
    QUICK_INTEGERS(SUM, sum),
    INTEGERS(PROD, prod),
    [RDX_ALGEBRA_ISUM] = {[RDX_WORK_I8] = WIDENING(i8),
                          [RDX_WORK_U8] = WIDENING(u8),
                          [RDX_WORK_I16] = WIDENING(i16),
                          [RDX_WORK_U16] = WIDENING(u16),
                          [RDX_WORK_I32] = WIDENING(i32)},
    [RDX_ALGEBRA_MOMENTS] = {[RDX_WORK_I32] = RDX_CODE(moments, i32)},
    QUICK_INTEGERS(MAX, max),
    QUICK_INTEGERS(ARGMAX, argmax),
    INTEGERS(ARGMAXL, argmaxl),
    INTEGERS(MAXARG, maxarg),
    INTEGERS(MAXARGL, maxargl),
    INTEGERS(AND, and),
    INTEGERS(OR, or),
    INTEGERS(XOR, xor),
};
