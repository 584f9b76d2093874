/* The folds of the algebras over f32 and f64 at one ISA level (RDX_ISA). The table has what recipes ask for,
   here or at the level below. */
#include "folds.h"

#include "../algebra.h"
#include "groups.h"
#include "vector.h"

#include <string.h>

#define T float
#define RDX_SUFFIX f32
#define GROUP rdx_group_of_f32
#include "fold_real.inc"
#undef T
#undef GROUP
#undef RDX_SUFFIX
#define T double
#define RDX_SUFFIX f64
#define GROUP rdx_group_of_f64
#include "fold_real.inc"
#undef T
#undef GROUP
#undef RDX_SUFFIX

#define REALS(ALGEBRA, algebra)                                                                                        \
    [RDX_ALGEBRA_##ALGEBRA] = {[RDX_WORK_F32] = RDX_CODE(algebra, f32), [RDX_WORK_F64] = RDX_CODE(algebra, f64)}
#define JOINING_REALS(ALGEBRA, algebra)                                                                                \
    [RDX_ALGEBRA_##ALGEBRA] = {[RDX_WORK_F32] = RDX_JOINING(algebra, f32), [RDX_WORK_F64] = RDX_JOINING(algebra, f64)}
#define SHARED_REALS(ALGEBRA, algebra)                                                                                 \
    [RDX_ALGEBRA_##ALGEBRA] = {[RDX_WORK_F32] = RDX_SHARED(algebra, f32), [RDX_WORK_F64] = RDX_SHARED(algebra, f64)}

const RdxAlgebraCode RDX_LEVEL(folds_real)[RDX_ALGEBRA_COUNT][RDX_WORK_COUNT] = {
    JOINING_REALS(SUM, sum),
    JOINING_REALS(SUMSQ, sumsq),
    JOINING_REALS(VAR, var),
    SHARED_REALS(PROD, prod),
    REALS(SUMN, sumn),
    REALS(CSUMSQ, csumsq),
    REALS(LSE, lse),
    [RDX_ALGEBRA_LSEN] = {[RDX_WORK_F32] = RDX_FOLDS(lsen, lse, f32, NULL, NULL),
                          [RDX_WORK_F64] = RDX_FOLDS(lsen, lse, f64, NULL, NULL)},
    SHARED_REALS(CPROD, cprod),
    SHARED_REALS(CPRODN, cprodn),
    SHARED_REALS(CSUMN, csumn),
    SHARED_REALS(CVAR, cvar),
    SHARED_REALS(VARN, varn),
    SHARED_REALS(CVARN, cvarn),
};
