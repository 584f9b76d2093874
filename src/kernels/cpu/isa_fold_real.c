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

#define CODE(algebra, suffix)                                                                                          \
    {                                                                                                                  \
        algebra##_fold_##suffix, algebra##_rows_##suffix, algebra##_join_##suffix, algebra##_halve_##suffix,           \
            algebra##_halve_rows_##suffix, NULL                                                                        \
    }
#define REALS(ALGEBRA, algebra)                                                                                        \
    [RDX_ALGEBRA_##ALGEBRA] = {[RDX_WORK_F32] = CODE(algebra, f32), [RDX_WORK_F64] = CODE(algebra, f64)}

const RdxAlgebraCode RDX_LEVEL(folds_real)[RDX_ALGEBRA_COUNT][RDX_WORK_COUNT] = {
    REALS(SUM, sum),     REALS(PROD, prod),   REALS(CPROD, cprod),   REALS(CPRODN, cprodn), REALS(SUMN, sumn),
    REALS(CSUMN, csumn), REALS(SUMSQ, sumsq), REALS(CSUMSQ, csumsq), REALS(VAR, var),       REALS(CVAR, cvar),
    REALS(VARN, varn),   REALS(CVARN, cvarn), REALS(LSE, lse),       REALS(LSEN, lsen),
};
