/* Folds that convert and map elements as they load them, at one ISA level, for what is asked for most: sums, sums of
   squares and variances of bf16 and f16, extremes of floats and of narrow integers, predicates of f32 and bool.
   Everything else goes through the stage of chunk.c. */
#include "folds.h"

#include "../algebra.h"
#include "../scalar.h"
#include "groups.h"
#include "narrow.h"
#include "seek.h"
#include "vector.h"
#include "widen.h"

#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#ifdef RDX_ISA_LEAN
const RdxFused RDX_LEVEL(fused)[] = {{0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL}};
#else
#define A sum
#define LIFT_GROUP(x) (x)
#define A_UPPER SUM
#include "fold_bf16.inc"
#define A sumsq
#define LIFT_GROUP(x) RDX_GROUP(mul)(x, x)
#define A_UPPER SUMSQ
#include "fold_bf16.inc"
#define A var
#define A_UPPER VAR
#include "fold_bf16.inc"

#define A sum
#define LIFT_GROUP(x) (x)
#define A_UPPER SUM
#include "fold_f16.inc"
#define A sumsq
#define LIFT_GROUP(x) RDX_GROUP(mul)(x, x)
#define A_UPPER SUMSQ
#include "fold_f16.inc"
#define A var
#define A_UPPER VAR
#include "fold_f16.inc"

#define A max
#define A_UPPER MAX
#define T int32_t
#define RDX_SUFFIX i32
#define FUSED i32_of_f32
#define EXTREMES
#define SEEKS f32
#define SOURCE float
#define ELEMENT(x) rdx_key_f32(x, false, TURN, NAN_KEY)
#include "fold.inc"

#define A max
#define A_UPPER MAX
#define T int32_t
#define RDX_SUFFIX i32
#define FUSED i32_of_bf16
#define PAIRED
#define SHORT_ALONE
#define SOURCE uint16_t
#define ELEMENT(x) rdx_key_f32(rdx_load_bf16(x), false, TURN, NAN_KEY)
#include "fold.inc"

#define A max
#define A_UPPER MAX
#define T int64_t
#define RDX_SUFFIX i64
#define FUSED i64_of_f64
#define EXTREMES
#define SEEKS f64
#define SOURCE double
#define ELEMENT(x) rdx_key_f64(x, false, TURN, NAN_KEY)
#include "fold.inc"

#define A argmax
#define A_UPPER ARGMAX
#define T int32_t
#define RDX_SUFFIX i32
#define FUSED i32_of_f32
#define SEEKS f32
#define SOURCE float
#define ELEMENT(x) rdx_key_f32(x, true, TURN, NAN_KEY)
#define INDEXED 1
#include "fold.inc"

#define A argmax
#define A_UPPER ARGMAX
#define T int32_t
#define RDX_SUFFIX i32
#define FUSED i32_of_bf16
#define PAIRED
#define SHORT_ALONE
#define SOURCE uint16_t
#define ELEMENT(x) rdx_key_f32(rdx_load_bf16(x), true, TURN, NAN_KEY)
#define INDEXED 1
#include "fold.inc"

#define A argmax
#define A_UPPER ARGMAX
#define T int64_t
#define RDX_SUFFIX i64
#define FUSED i64_of_f64
#define SEEKS f64
#define SOURCE double
#define ELEMENT(x) rdx_key_f64(x, true, TURN, NAN_KEY)
#define INDEXED 1
#include "fold.inc"

/* Truth by integers: what lies from TURN on, NAN_KEY values wide, counts. Lanes are as wide as the elements: narrowing
   each line's truths to bytes took more than adding them up (33 GB/s from L2, so 49). */
#define A isum
#define A_UPPER ISUM
#define T int32_t
#define RDX_SUFFIX t32
#define FUSED u8_of_f32
#define SOURCE float
#define ELEMENT(x) ((rdx_bits_of_f32(x) & 0x7fffffff) - (uint32_t)TURN < (uint32_t)NAN_KEY)
#define WIDENS 1
#include "fold.inc"

#define A max
#define A_UPPER MAX
#define EXACT 1
#define T int16_t
#define NODE_T int32_t
#define RDX_SUFFIX k16
#define FUSED k16
#define EXTREMES
#define SHORT 0
#define SOURCE uint16_t
#define ELEMENT(x) rdx_narrow_key_16(x, false, load)
#include "fold.inc"

#define A max
#define A_UPPER MAX
#define EXACT 1
#define T uint8_t
#define NODE_T int32_t
#define RDX_SUFFIX k8
#define FUSED k8
#define EXTREMES
#define SHORT 0
#define SOURCE uint8_t
#define ELEMENT(x) rdx_narrow_key_8(x, load)
#include "fold.inc"

#define A argmax
#define A_UPPER ARGMAX
#define EXACT 1
#define T int16_t
#define NODE_T int32_t
#define RDX_SUFFIX k16
#define FUSED k16
#define SHORT 0
#define SOURCE uint16_t
#define ELEMENT(x) rdx_narrow_key_16(x, true, load)
#define INDEXED 1
#include "fold.inc"

#define A argmax
#define A_UPPER ARGMAX
#define EXACT 1
#define T uint8_t
#define NODE_T int32_t
#define RDX_SUFFIX k8
#define FUSED k8
#define SHORT 0
#define SOURCE uint8_t
#define ELEMENT(x) rdx_narrow_key_8(x, load)
#define INDEXED 1
#include "fold.inc"

#define A isum
#define A_UPPER ISUM
#define T uint8_t
#define RDX_SUFFIX t8
#define FUSED u8_of_bool
#define SOURCE uint8_t
#define ELEMENT(x) ((T)((T)((x) != 0) ^ (T)(TURN ^ 1))) /* == TURN, which compilers would do in 32 bits */
#define WIDENS 1
#include "fold.inc"

#define FUSES_ALL(IN, ALGEBRA, WORK, MAP, algebra, name, short_rows, any_rows, join_lanes)                             \
    {                                                                                                                  \
        RDX_TYPE_##IN, RDX_ALGEBRA_##ALGEBRA, RDX_WORK_##WORK, RDX_MAP_##MAP, algebra##_fold_##name,                   \
            algebra##_rows_##name, short_rows, any_rows, join_lanes                                                    \
    }
#define FUSES(IN, ALGEBRA, WORK, MAP, algebra, name, short_rows)                                                       \
    FUSES_ALL(IN, ALGEBRA, WORK, MAP, algebra, name, short_rows, NULL, NULL)
#define FUSES_MAX(IN, WORK, MAP, name, short_rows)                                                                     \
    FUSES_ALL(IN, MAX, WORK, MAP, max, name, short_rows, max_any_rows_##name, NULL)
#ifdef RDX_HAVE_SEEK
#define SEEKS_ROWS(name) argmax_compared_rows_##name
#else
#define SEEKS_ROWS(name) NULL
#endif
#define FUSES_ARGMAX(IN, WORK, name, short_rows)                                                                       \
    FUSES_ALL(IN, ARGMAX, WORK, KEY_ARG, argmax, name, short_rows, SEEKS_ROWS(name), NULL)
#define FUSES_REAL(IN, ALGEBRA, algebra, name)                                                                         \
    FUSES_ALL(IN, ALGEBRA, F32, NONE, algebra, name, algebra##_short_rows_##name, NULL, algebra##_join_lanes_##name)

const RdxFused RDX_LEVEL(fused)[] = {
    FUSES_REAL(BF16, SUM, sum, f32_of_bf16),
    FUSES_REAL(BF16, SUMSQ, sumsq, f32_of_bf16),
    FUSES_REAL(BF16, VAR, var, f32_of_bf16),
    FUSES_REAL(F16, SUM, sum, f32_of_f16),
    FUSES_REAL(F16, SUMSQ, sumsq, f32_of_f16),
    FUSES_REAL(F16, VAR, var, f32_of_f16),
    FUSES_MAX(F32, I32, KEY, i32_of_f32, max_short_rows_i32_of_f32),
    FUSES_MAX(BF16, I32, KEY, k16, max_short_rows_i32_of_bf16),
    FUSES_MAX(F16, I32, KEY, k16, NULL),
    FUSES_MAX(F64, I64, KEY, i64_of_f64, max_short_rows_i64_of_f64),
    FUSES_ARGMAX(F32, I32, i32_of_f32, argmax_short_rows_i32_of_f32),
    FUSES(BF16, ARGMAX, I32, KEY_ARG, argmax, k16, argmax_short_rows_i32_of_bf16),
    FUSES(F16, ARGMAX, I32, KEY_ARG, argmax, k16, NULL),
    FUSES_ARGMAX(F64, I64, i64_of_f64, argmax_short_rows_i64_of_f64),
    FUSES(F32, ISUM, U8, NONZERO, isum, u8_of_f32, NULL),
    FUSES(F32, ISUM, U8, ZERO, isum, u8_of_f32, NULL),
    FUSES(BOOL, ISUM, U8, NONZERO, isum, u8_of_bool, NULL),
    FUSES(BOOL, ISUM, U8, ZERO, isum, u8_of_bool, NULL),
    FUSES(BOOL, ISUM, U8, NONE, isum, u8_of_bool, NULL),
    FUSES(I8, ISUM, U8, NONZERO, isum, u8_of_bool, NULL),
    FUSES(I8, ISUM, U8, ZERO, isum, u8_of_bool, NULL),
    FUSES(U8, ISUM, U8, NONZERO, isum, u8_of_bool, NULL),
    FUSES(U8, ISUM, U8, ZERO, isum, u8_of_bool, NULL),
    FUSES_MAX(I8, I32, NONE, k8, NULL),
    FUSES_MAX(I8, I32, KEY, k8, NULL),
    FUSES(I8, ARGMAX, I32, NONE, argmax, k8, NULL),
    FUSES(I8, ARGMAX, I32, KEY_ARG, argmax, k8, NULL),
    FUSES_MAX(U8, I32, NONE, k8, NULL),
    FUSES_MAX(U8, I32, KEY, k8, NULL),
    FUSES(U8, ARGMAX, I32, NONE, argmax, k8, NULL),
    FUSES(U8, ARGMAX, I32, KEY_ARG, argmax, k8, NULL),
    FUSES_MAX(BOOL, I32, NONE, k8, NULL),
    FUSES_MAX(BOOL, I32, KEY, k8, NULL),
    FUSES(BOOL, ARGMAX, I32, NONE, argmax, k8, NULL),
    FUSES(BOOL, ARGMAX, I32, KEY_ARG, argmax, k8, NULL),
    {0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL},
};
#endif
