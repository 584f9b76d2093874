/* Folds that convert and map elements as they load them, at one ISA level, for what is asked for most: sums, sums of squares and
   variances of 16-bit floats, extremes of floats and bytes, predicates of f32 and bool. Everything else goes through the stage of
   chunk.c. */
#include "folds.h"

#include "../algebra.h"
#include "../scalar.h"
#include "vector.h"

#include <string.h>

#define A sum
#define A_UPPER SUM
#define T float
#define RDX_SUFFIX f32
#define FUSED f32_of_bf16
#define SOURCE uint16_t
#define ELEMENT(x) rdx_load_bf16(x)
#include "fold.inc"

#define A sum
#define A_UPPER SUM
#define T float
#define RDX_SUFFIX f32
#define FUSED f32_of_f16
#define SOURCE uint16_t
#define ELEMENT(x) rdx_load_f16(x)
#include "fold.inc"

#define A sumsq
#define A_UPPER SUMSQ
#define T float
#define RDX_SUFFIX f32
#define FUSED f32_of_bf16
#define SOURCE uint16_t
#define ELEMENT(x) rdx_load_bf16(x)
#include "fold.inc"

#define A sumsq
#define A_UPPER SUMSQ
#define T float
#define RDX_SUFFIX f32
#define FUSED f32_of_f16
#define SOURCE uint16_t
#define ELEMENT(x) rdx_load_f16(x)
#include "fold.inc"

#define A var
#define A_UPPER VAR
#define T float
#define RDX_SUFFIX f32
#define FUSED f32_of_bf16
#define SOURCE uint16_t
#define ELEMENT(x) rdx_load_bf16(x)
#include "fold.inc"

#define A var
#define A_UPPER VAR
#define T float
#define RDX_SUFFIX f32
#define FUSED f32_of_f16
#define SOURCE uint16_t
#define ELEMENT(x) rdx_load_f16(x)
#include "fold.inc"

#define A max
#define A_UPPER MAX
#define T int32_t
#define RDX_SUFFIX i32
#define FUSED i32_of_f32
#define SOURCE float
#define ELEMENT(x) rdx_key_f32(x, false, TURN, NAN_KEY)
#include "fold.inc"

#define A max
#define A_UPPER MAX
#define T int32_t
#define RDX_SUFFIX i32
#define FUSED i32_of_bf16
#define SOURCE uint16_t
#define ELEMENT(x) rdx_key_f32(rdx_load_bf16(x), false, TURN, NAN_KEY)
#include "fold.inc"

#define A max
#define A_UPPER MAX
#define T int32_t
#define RDX_SUFFIX i32
#define FUSED i32_of_f16
#define SOURCE uint16_t
#define ELEMENT(x) rdx_key_f32(rdx_load_f16(x), false, TURN, NAN_KEY)
#include "fold.inc"

#define A max
#define A_UPPER MAX
#define T int64_t
#define RDX_SUFFIX i64
#define FUSED i64_of_f64
#define SOURCE double
#define ELEMENT(x) rdx_key_f64(x, false, TURN, NAN_KEY)
#include "fold.inc"

#define A argmax
#define A_UPPER ARGMAX
#define T int32_t
#define RDX_SUFFIX i32
#define FUSED i32_of_f32
#define SOURCE float
#define ELEMENT(x) rdx_key_f32(x, true, TURN, NAN_KEY)
#define INDEXED 1
#include "fold.inc"

#define A argmax
#define A_UPPER ARGMAX
#define T int32_t
#define RDX_SUFFIX i32
#define FUSED i32_of_bf16
#define SOURCE uint16_t
#define ELEMENT(x) rdx_key_f32(rdx_load_bf16(x), true, TURN, NAN_KEY)
#define INDEXED 1
#include "fold.inc"

#define A argmax
#define A_UPPER ARGMAX
#define T int32_t
#define RDX_SUFFIX i32
#define FUSED i32_of_f16
#define SOURCE uint16_t
#define ELEMENT(x) rdx_key_f32(rdx_load_f16(x), true, TURN, NAN_KEY)
#define INDEXED 1
#include "fold.inc"

#define A argmax
#define A_UPPER ARGMAX
#define T int64_t
#define RDX_SUFFIX i64
#define FUSED i64_of_f64
#define SOURCE double
#define ELEMENT(x) rdx_key_f64(x, true, TURN, NAN_KEY)
#define INDEXED 1
#include "fold.inc"

/* Truth by integers: what lies from TURN on, NAN_KEY values wide, counts. Lanes are as wide as the elements: narrowing each
   line's truths to bytes took more than adding them up (33 GB/s from L2, now TODO). */
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
#define T int32_t
#define RDX_SUFFIX i32
#define FUSED i32_of_i8
#define SOURCE int8_t
#define ELEMENT(x) ((int32_t)x ^ TURN)
#include "fold.inc"

#define A max
#define A_UPPER MAX
#define T int32_t
#define RDX_SUFFIX i32
#define FUSED i32_of_u8
#define SOURCE uint8_t
#define ELEMENT(x) ((int32_t)x ^ TURN)
#include "fold.inc"

#define A isum
#define A_UPPER ISUM
#define T uint8_t
#define RDX_SUFFIX u8
#define FUSED u8_of_bool
#define SOURCE uint8_t
#define ELEMENT(x) ((x != 0) == TURN)
#define WIDENS 1
#include "fold.inc"

const RdxFused RDX_LEVEL(fused)[] = {
    {RDX_TYPE_BF16, RDX_ALGEBRA_SUM, RDX_WORK_F32, RDX_MAP_NONE, sum_fold_f32_of_bf16, sum_rows_f32_of_bf16},
    {RDX_TYPE_F16, RDX_ALGEBRA_SUM, RDX_WORK_F32, RDX_MAP_NONE, sum_fold_f32_of_f16, sum_rows_f32_of_f16},
    {RDX_TYPE_BF16, RDX_ALGEBRA_SUMSQ, RDX_WORK_F32, RDX_MAP_NONE, sumsq_fold_f32_of_bf16, sumsq_rows_f32_of_bf16},
    {RDX_TYPE_F16, RDX_ALGEBRA_SUMSQ, RDX_WORK_F32, RDX_MAP_NONE, sumsq_fold_f32_of_f16, sumsq_rows_f32_of_f16},
    {RDX_TYPE_BF16, RDX_ALGEBRA_VAR, RDX_WORK_F32, RDX_MAP_NONE, var_fold_f32_of_bf16, var_rows_f32_of_bf16},
    {RDX_TYPE_F16, RDX_ALGEBRA_VAR, RDX_WORK_F32, RDX_MAP_NONE, var_fold_f32_of_f16, var_rows_f32_of_f16},
    {RDX_TYPE_F32, RDX_ALGEBRA_MAX, RDX_WORK_I32, RDX_MAP_KEY, max_fold_i32_of_f32, max_rows_i32_of_f32},
    {RDX_TYPE_BF16, RDX_ALGEBRA_MAX, RDX_WORK_I32, RDX_MAP_KEY, max_fold_i32_of_bf16, max_rows_i32_of_bf16},
    {RDX_TYPE_F16, RDX_ALGEBRA_MAX, RDX_WORK_I32, RDX_MAP_KEY, max_fold_i32_of_f16, max_rows_i32_of_f16},
    {RDX_TYPE_F64, RDX_ALGEBRA_MAX, RDX_WORK_I64, RDX_MAP_KEY, max_fold_i64_of_f64, max_rows_i64_of_f64},
    {RDX_TYPE_F32, RDX_ALGEBRA_ARGMAX, RDX_WORK_I32, RDX_MAP_KEY_ARG, argmax_fold_i32_of_f32, argmax_rows_i32_of_f32},
    {RDX_TYPE_BF16, RDX_ALGEBRA_ARGMAX, RDX_WORK_I32, RDX_MAP_KEY_ARG, argmax_fold_i32_of_bf16,
     argmax_rows_i32_of_bf16},
    {RDX_TYPE_F16, RDX_ALGEBRA_ARGMAX, RDX_WORK_I32, RDX_MAP_KEY_ARG, argmax_fold_i32_of_f16, argmax_rows_i32_of_f16},
    {RDX_TYPE_F64, RDX_ALGEBRA_ARGMAX, RDX_WORK_I64, RDX_MAP_KEY_ARG, argmax_fold_i64_of_f64, argmax_rows_i64_of_f64},
    {RDX_TYPE_F32, RDX_ALGEBRA_ISUM, RDX_WORK_U8, RDX_MAP_NONZERO, isum_fold_u8_of_f32, isum_rows_u8_of_f32},
    {RDX_TYPE_F32, RDX_ALGEBRA_ISUM, RDX_WORK_U8, RDX_MAP_ZERO, isum_fold_u8_of_f32, isum_rows_u8_of_f32},
    {RDX_TYPE_BOOL, RDX_ALGEBRA_ISUM, RDX_WORK_U8, RDX_MAP_NONZERO, isum_fold_u8_of_bool, isum_rows_u8_of_bool},
    {RDX_TYPE_BOOL, RDX_ALGEBRA_ISUM, RDX_WORK_U8, RDX_MAP_ZERO, isum_fold_u8_of_bool, isum_rows_u8_of_bool},
    {RDX_TYPE_I8, RDX_ALGEBRA_MAX, RDX_WORK_I32, RDX_MAP_NONE, max_fold_i32_of_i8, max_rows_i32_of_i8},
    {RDX_TYPE_I8, RDX_ALGEBRA_MAX, RDX_WORK_I32, RDX_MAP_KEY, max_fold_i32_of_i8, max_rows_i32_of_i8},
    {RDX_TYPE_U8, RDX_ALGEBRA_MAX, RDX_WORK_I32, RDX_MAP_NONE, max_fold_i32_of_u8, max_rows_i32_of_u8},
    {RDX_TYPE_U8, RDX_ALGEBRA_MAX, RDX_WORK_I32, RDX_MAP_KEY, max_fold_i32_of_u8, max_rows_i32_of_u8},
    {0, 0, 0, 0, NULL, NULL},
};
