/* The folds of the algebras over f32 and f64 at one ISA level (RDX_ISA). The table is dense where the recipe can ask for it. */
#include "folds.h"

#include "../algebra.h"
#include "vector.h"

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

#define REALS(ALGEBRA, algebra)                                                                                        \
    [RDX_ALGEBRA_##ALGEBRA] = {[RDX_WORK_F32] = RDX_CODE(algebra, f32), [RDX_WORK_F64] = RDX_CODE(algebra, f64)}
#define QUICK_REALS(ALGEBRA, algebra)                                                                                  \
    [RDX_ALGEBRA_##ALGEBRA] = {[RDX_WORK_F32] = RDX_QUICK(algebra, f32), [RDX_WORK_F64] = RDX_QUICK(algebra, f64)}

const RdxAlgebraCode RDX_LEVEL(folds_real)[RDX_ALGEBRA_COUNT][RDX_WORK_COUNT] = {
    QUICK_REALS(SUM, sum), REALS(PROD, prod),         REALS(CPROD, cprod),   REALS(CPRODN, cprodn), REALS(SUMN, sumn),
    REALS(CSUMN, csumn),   QUICK_REALS(SUMSQ, sumsq), REALS(CSUMSQ, csumsq), QUICK_REALS(VAR, var), REALS(CVAR, cvar),
    REALS(VARN, varn),     REALS(CVARN, cvarn),       REALS(LSE, lse),       REALS(LSEN, lsen),
};
