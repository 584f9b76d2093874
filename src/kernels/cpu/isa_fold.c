/* The fold, join and halve of every algebra at one ISA level (RDX_ISA). The table is dense where the recipe can ask for it. */
#include "folds.h"

#include "../algebra.h"
#include "../scalar.h"
#include "vector.h"

#include <string.h>

#define T float
#define RDX_SUFFIX f32
#include "fold_real.inc"
#undef T
#undef RDX_SUFFIX
#define T double
#define RDX_SUFFIX f64
#include "fold_real.inc"
#undef T
#undef RDX_SUFFIX

#define T int32_t
#define RDX_SUFFIX i32
#include "fold_int.inc"

#define A moments
#define A_UPPER MOMENTS
#define NODE_A moments
#define TWO_PLANES 0
#define HAS_LANE 1
#define INDEXED 0
#define OMIT false
#define WIDENS 0
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

#include "fold_fused.inc"

#define CODE(algebra, suffix)                                                                                          \
    {                                                                                                                  \
        algebra##_fold_##suffix, algebra##_rows_##suffix, algebra##_join_##suffix, algebra##_halve_##suffix,           \
            algebra##_halve_rows_##suffix, NULL                                                                        \
    }
#define WIDENING(suffix)                                                                                               \
    {                                                                                                                  \
        isum_fold_##suffix, isum_rows_##suffix, sum_join_i64, sum_halve_i64, sum_halve_rows_i64, isum_words_##suffix   \
    }
#define REALS(ALGEBRA, algebra)                                                                                        \
    [RDX_ALGEBRA_##ALGEBRA] = {[RDX_WORK_F32] = CODE(algebra, f32), [RDX_WORK_F64] = CODE(algebra, f64)}
#define INTEGERS(ALGEBRA, algebra)                                                                                     \
    [RDX_ALGEBRA_##ALGEBRA] = {[RDX_WORK_I32] = CODE(algebra, i32), [RDX_WORK_I64] = CODE(algebra, i64)}
#define ALL(ALGEBRA, algebra)                                                                                          \
    [RDX_ALGEBRA_##ALGEBRA] = {[RDX_WORK_F32] = CODE(algebra, f32),                                                    \
                               [RDX_WORK_F64] = CODE(algebra, f64),                                                    \
                               [RDX_WORK_I32] = CODE(algebra, i32),                                                    \
                               [RDX_WORK_I64] = CODE(algebra, i64)}

const RdxAlgebraCode RDX_LEVEL(folds)[RDX_ALGEBRA_COUNT][RDX_WORK_COUNT] = {
    ALL(SUM, sum),
    ALL(PROD, prod),
    REALS(CPROD, cprod),
    REALS(CPRODN, cprodn),
    REALS(SUMN, sumn),
    REALS(CSUMN, csumn),
    REALS(SUMSQ, sumsq),
    REALS(CSUMSQ, csumsq),
    REALS(VAR, var),
    REALS(CVAR, cvar),
    REALS(VARN, varn),
    REALS(CVARN, cvarn),
    REALS(LSE, lse),
    REALS(LSEN, lsen),
    [RDX_ALGEBRA_ISUM] = {[RDX_WORK_I8] = WIDENING(i8),
                          [RDX_WORK_U8] = WIDENING(u8),
                          [RDX_WORK_I16] = WIDENING(i16),
                          [RDX_WORK_U16] = WIDENING(u16),
                          [RDX_WORK_I32] = WIDENING(i32)},
    [RDX_ALGEBRA_MOMENTS] = {[RDX_WORK_I32] = CODE(moments, i32)},
    INTEGERS(MAX, max),
    INTEGERS(ARGMAX, argmax),
    INTEGERS(ARGMAXL, argmaxl),
    INTEGERS(MAXARG, maxarg),
    INTEGERS(MAXARGL, maxargl),
    INTEGERS(AND, and),
    INTEGERS(OR, or),
    INTEGERS(XOR, xor),
};
