/* Which algebra answers which op for which dtypes: the one place where ops turn into arithmetic (spec: recipe.h). Two
   widths decide most: the accumulator is f64 if the input or the first output is 64 bits wide a part, else f32;
   integers are exact in i64 wherever the definition allows it. */
#include "recipe.h"

#include "error.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const struct {
    uint8_t planes, work_parts, i64_parts;
} algebras[RDX_ALGEBRA_COUNT] = {
#define X(NAME, name, planes, work_parts, i64_parts) [RDX_ALGEBRA_##NAME] = {planes, work_parts, i64_parts},
    RDX_ALGEBRAS(X)
#undef X
};

int rdx_recipe_state_bytes(const RdxRecipe *recipe)
{
    int i64_parts = recipe->parts - recipe->work_parts;
    return (recipe->work_parts * rdx_work_size(recipe->work) + i64_parts * 8) * recipe->unit;
}

static bool is_wide(RdxType type) /* 64 bits a part */
{
    return type == RDX_TYPE_F64 || type == RDX_TYPE_C128;
}

static bool is_small(RdxType type) /* integers whose sums of squares are exact */
{
    return rdx_type_is_integral(type) && rdx_types[type].size <= 2;
}

/* Where sums S, T and A of small integers stay exact. */
static bool is_exact_count(int64_t count)
{
    return count < (int64_t)1 << 32;
}

/* The accumulator of an op that rounds. */
static RdxWork accumulator(RdxType in, RdxType out)
{
    return rdx_type_is_integral(in) || is_wide(in) || is_wide(out) ? RDX_WORK_F64 : RDX_WORK_F32;
}

/* Integers in the narrowest working type that holds them; u32 needs i64 unless only its bits matter. */
static RdxWork integer_work(RdxType in, bool bits_only)
{
    int size = rdx_types[in].size;
    return size <= 2 || (size == 4 && (bits_only || rdx_types[in].kind == RDX_KIND_INT)) ? RDX_WORK_I32 : RDX_WORK_I64;
}

/* Integers up to 16 bits as they are, for sums that widen and for predicates; bool becomes 0 or 1. */
static RdxWork narrow_work(RdxType in)
{
    bool is_signed = rdx_types[in].kind == RDX_KIND_INT;
    return rdx_types[in].size == 1 ? (is_signed ? RDX_WORK_I8 : RDX_WORK_U8)
                                   : (is_signed ? RDX_WORK_I16 : RDX_WORK_U16);
}

/* Elements as they are for predicates and keys: integers as integers, floats in their own width. */
static RdxWork native_work(RdxType in, bool bits_only)
{
    if (rdx_type_is_integral(in))
        return integer_work(in, bits_only);
    return is_wide(in) ? RDX_WORK_F64 : RDX_WORK_F32;
}

static void set(RdxRecipe *r, RdxAlgebra algebra, RdxWork work, RdxMap map, RdxFinish finish)
{
    r->algebra = (uint8_t)algebra;
    r->work = r->convert = r->result = (uint8_t)work;
    r->map = (uint8_t)map;
    r->finish = (uint8_t)finish;
}

/* Integer sums: exact, modulo 2^64. */
static void set_integer_sum(RdxRecipe *r, RdxFinish finish)
{
    RdxWork work = rdx_types[r->in].size <= 2 ? narrow_work(r->in) : integer_work(r->in, false);
    set(r, work != RDX_WORK_I64 ? RDX_ALGEBRA_ISUM : RDX_ALGEBRA_SUM, work, RDX_MAP_NONE, finish);
    r->result = rdx_type_is_integral(r->out) ? RDX_WORK_I64 : r->out == RDX_TYPE_F32 ? RDX_WORK_F32 : RDX_WORK_F64;
    r->is_unsigned = rdx_types[r->in].kind == RDX_KIND_UINT;
    r->exact = true;
}

static void set_sum(RdxRecipe *r)
{
    if (rdx_type_is_integral(r->in)) {
        set_integer_sum(r, RDX_FINISH_VALUE);
        return;
    }
    set(r, RDX_ALGEBRA_SUM, accumulator(r->in, r->out), r->omit ? RDX_MAP_OMIT : RDX_MAP_NONE, RDX_FINISH_VALUE);
    r->neutral = -0.0;
    r->unit = rdx_type_is_complex(r->in) ? 2 : 1;
}

static void set_prod(RdxRecipe *r)
{
    if (rdx_type_is_integral(r->in) && rdx_type_is_integral(r->out)) {
        set(r, RDX_ALGEBRA_PROD, RDX_WORK_I64, RDX_MAP_NONE, RDX_FINISH_VALUE);
        r->is_unsigned = rdx_types[r->in].kind == RDX_KIND_UINT;
        r->exact = true;
        return;
    }
    bool is_complex = rdx_type_is_complex(r->in);
    RdxAlgebra algebra = is_complex ? (r->omit ? RDX_ALGEBRA_CPRODN : RDX_ALGEBRA_CPROD) : RDX_ALGEBRA_PROD;
    set(r, algebra, accumulator(r->in, r->out), r->omit && !is_complex ? RDX_MAP_OMIT : RDX_MAP_NONE, RDX_FINISH_VALUE);
    r->neutral = 1;
    r->planar = is_complex;
}

static void set_mean(RdxRecipe *r)
{
    bool is_complex = rdx_type_is_complex(r->in);
    if (rdx_type_is_integral(r->in)) {
        int size = rdx_types[r->in].size;
        if (size <= 2 ? is_exact_count(r->count) : size == 4 && r->count < (int64_t)1 << 31) {
            set_integer_sum(r, RDX_FINISH_MEAN);
            r->is_unsigned = false; /* the sum is below 2^63 */
            r->result = RDX_WORK_F64;
        } else {
            set(r, RDX_ALGEBRA_SUM, RDX_WORK_F64, RDX_MAP_NONE, RDX_FINISH_MEAN);
        }
        return;
    }
    RdxWork work = accumulator(r->in, r->out);
    if (r->omit)
        set(r, is_complex ? RDX_ALGEBRA_CSUMN : RDX_ALGEBRA_SUMN, work, RDX_MAP_NONE, RDX_FINISH_MEAN);
    else
        set(r, RDX_ALGEBRA_SUM, work, RDX_MAP_NONE, RDX_FINISH_MEAN);
    r->planar = is_complex && r->omit;
    r->unit = is_complex && !r->omit ? 2 : 1;
}

static void set_moments(RdxRecipe *r, RdxFinish finish)
{
    set(r, RDX_ALGEBRA_MOMENTS, RDX_WORK_I32, RDX_MAP_NONE, finish);
    r->result = RDX_WORK_F64;
    r->exact = true;
}

static void set_spread(RdxRecipe *r, bool root)
{
    if (is_small(r->in) && is_exact_count(r->count)) {
        set_moments(r, root ? RDX_FINISH_MOMENTS_STD : RDX_FINISH_MOMENTS_VAR);
        return;
    }
    bool is_complex = rdx_type_is_complex(r->in);
    RdxAlgebra algebra =
        is_complex ? (r->omit ? RDX_ALGEBRA_CVARN : RDX_ALGEBRA_CVAR) : (r->omit ? RDX_ALGEBRA_VARN : RDX_ALGEBRA_VAR);
    set(r, algebra, accumulator(r->in, r->out), RDX_MAP_NONE, root ? RDX_FINISH_STD : RDX_FINISH_VAR);
    r->planar = is_complex;
}

/* min, max and their indices compare integers: floats are mapped onto keys of the same order. */
static void set_extremum(RdxRecipe *r, RdxAlgebra algebra, RdxMap map, RdxFinish finish)
{
    RdxWork native = native_work(r->in, false);
    bool narrow = native == RDX_WORK_F32 || native == RDX_WORK_I32;
    bool plain = rdx_type_is_integral(r->in) && !r->flip && r->in != RDX_TYPE_U64 &&
                 (map == RDX_MAP_KEY || map == RDX_MAP_KEY_ARG); /* an integer is its own key */
    if (narrow && r->count > INT32_MAX)                          /* an index no longer fits beside the key */
        algebra = algebra == RDX_ALGEBRA_ARGMAX   ? RDX_ALGEBRA_ARGMAXL
                  : algebra == RDX_ALGEBRA_MAXARG ? RDX_ALGEBRA_MAXARGL
                                                  : algebra;
    set(r, algebra, narrow ? RDX_WORK_I32 : RDX_WORK_I64, plain ? RDX_MAP_NONE : map, finish);
    r->convert = (uint8_t)native;
    r->result = rdx_type_is_integral(r->in) ? RDX_WORK_I64 : (uint8_t)native;
    r->is_unsigned = r->in == RDX_TYPE_U64;
    r->exact = true;
}

static void set_predicate(RdxRecipe *r, RdxMap map, RdxFinish finish)
{
    set(r, RDX_ALGEBRA_ISUM, RDX_WORK_U8, map, finish);
    r->convert = (uint8_t)(is_small(r->in) ? narrow_work(r->in) : native_work(r->in, true));
    r->result = RDX_WORK_I64;
    r->planar = rdx_type_is_complex(r->in);
    r->exact = true;
}

static void set_norm2(RdxRecipe *r, bool root)
{
    if (is_small(r->in) && is_exact_count(r->count)) {
        set_moments(r, root ? RDX_FINISH_MOMENTS_SQRT : RDX_FINISH_MOMENTS_SUMSQ);
        return;
    }
    bool is_complex = rdx_type_is_complex(r->in);
    set(r, is_complex ? RDX_ALGEBRA_CSUMSQ : RDX_ALGEBRA_SUMSQ, accumulator(r->in, r->out),
        r->omit ? RDX_MAP_OMIT : RDX_MAP_NONE, root ? RDX_FINISH_SQRT : RDX_FINISH_VALUE);
    r->planar = is_complex;
}

static void set_norm(RdxRecipe *r)
{
    RdxWork work = accumulator(r->in, r->out);
    if (r->p == 0) {
        set_predicate(r, RDX_MAP_NONZERO, RDX_FINISH_VALUE);
        r->result = (uint8_t)work;
    } else if (r->p == 2) {
        set_norm2(r, true);
    } else if (isinf(r->p)) {
        set(r, RDX_ALGEBRA_MAX, work == RDX_WORK_F64 ? RDX_WORK_I64 : RDX_WORK_I32, RDX_MAP_KEY_ABS, RDX_FINISH_KEY);
        r->convert = r->result = (uint8_t)work;
        r->flip = r->p < 0;
        r->planar = rdx_type_is_complex(r->in);
        r->exact = true;
    } else if (r->p == 1 && is_small(r->in) && is_exact_count(r->count)) {
        set(r, RDX_ALGEBRA_ISUM, RDX_WORK_I32, RDX_MAP_ABS, RDX_FINISH_VALUE);
        r->result = RDX_WORK_F64;
        r->exact = true;
    } else {
        bool counted = r->omit && r->p < 0; /* all infinite and all NaN both sum to 0 */
        RdxMap map = r->p == 1 ? RDX_MAP_ABS : r->p == 3 || r->p == 4 ? RDX_MAP_POWI : RDX_MAP_POW;
        set(r, counted ? RDX_ALGEBRA_SUMN : RDX_ALGEBRA_SUM, work, map, r->p == 1 ? RDX_FINISH_VALUE : RDX_FINISH_ROOT);
        r->neutral = counted ? NAN : 0;
        r->planar = rdx_type_is_complex(r->in);
    }
}

static void set_bits(RdxRecipe *r, RdxAlgebra algebra)
{
    set(r, algebra, integer_work(r->in, true), RDX_MAP_NONE, RDX_FINISH_VALUE);
    r->result = RDX_WORK_I64;
    r->exact = true;
}

static void decide(RdxRecipe *r)
{
    switch (r->op) {
    case RDX_SUM:
        set_sum(r);
        break;
    case RDX_PROD:
        set_prod(r);
        break;
    case RDX_MEAN:
        set_mean(r);
        break;
    case RDX_VAR:
    case RDX_STD:
        set_spread(r, r->op == RDX_STD);
        break;
    case RDX_MIN:
    case RDX_MAX:
        r->flip = r->op == RDX_MIN;
        if (r->second == RDX_SECOND_INDEX)
            set_extremum(r, RDX_ALGEBRA_MAXARG, RDX_MAP_KEY_BOTH, RDX_FINISH_KEY);
        else
            set_extremum(r, RDX_ALGEBRA_MAX, RDX_MAP_KEY, RDX_FINISH_KEY);
        break;
    case RDX_ARGMIN:
    case RDX_ARGMAX:
        r->flip = r->op == RDX_ARGMIN;
        set_extremum(r, RDX_ALGEBRA_ARGMAX, RDX_MAP_KEY_ARG, RDX_FINISH_INDEX);
        break;
    case RDX_MINMAX:
        set_extremum(r, RDX_ALGEBRA_MAX, RDX_MAP_KEY_PAIR, RDX_FINISH_KEY);
        r->unit = 2;
        break;
    case RDX_ANY:
        set_predicate(r, RDX_MAP_NONZERO, RDX_FINISH_ANY);
        break;
    case RDX_ALL:
        set_predicate(r, RDX_MAP_ZERO, RDX_FINISH_ALL);
        break;
    case RDX_COUNT_NONZERO:
        set_predicate(r, RDX_MAP_NONZERO, RDX_FINISH_VALUE);
        break;
    case RDX_NORM:
        set_norm(r);
        break;
    case RDX_SUMSQ:
        set_norm2(r, false);
        break;
    case RDX_LOGSUMEXP:
        set(r, r->omit ? RDX_ALGEBRA_LSEN : RDX_ALGEBRA_LSE, accumulator(r->in, r->out), RDX_MAP_NONE, RDX_FINISH_LSE);
        break;
    case RDX_BIT_AND:
        set_bits(r, RDX_ALGEBRA_AND);
        break;
    case RDX_BIT_OR:
        set_bits(r, RDX_ALGEBRA_OR);
        break;
    case RDX_BIT_XOR:
        set_bits(r, RDX_ALGEBRA_XOR);
        break;
    }
}

/* By the bits: arithmetic that flushes such numbers would take them for 0. */
static bool is_subnormal(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits &= UINT64_MAX >> 1;
    return bits != 0 && bits < (uint64_t)1 << 52;
}

static RdxStatus check_options(const RdxProblem *problem, RdxType out)
{
    const RdxOpInfo *op = &rdx_ops[problem->op];
    RDX_REQUIRE(problem->nan == RDX_NAN_PROPAGATE || problem->nan == RDX_NAN_OMIT, RDX_ERR_OPTION,
                "nan is %d; it is RDX_NAN_PROPAGATE (0) or RDX_NAN_OMIT (1)", problem->nan);
    RDX_REQUIRE(problem->nan == RDX_NAN_PROPAGATE || (op->options & RDX_OPTION_NAN), RDX_ERR_OPTION,
                "%s has no option nan (nan is %d)", op->name, problem->nan);
    RDX_REQUIRE(problem->p == 2 || (op->options & RDX_OPTION_P), RDX_ERR_OPTION, "%s has no option p (p is %g)",
                op->name, problem->p);
    RDX_REQUIRE(!isnan(problem->p), RDX_ERR_OPTION, "p is NaN");
    RDX_REQUIRE(!is_subnormal(problem->p), RDX_ERR_OPTION, "p is %g; it is 0 or at least %g, lest 1 / p overflow",
                problem->p, DBL_MIN);
    RDX_REQUIRE(problem->correction == 0 || (op->options & RDX_OPTION_CORRECTION), RDX_ERR_OPTION,
                "%s has no option correction (correction is %g)", op->name, problem->correction);
    RDX_REQUIRE(isfinite(problem->correction), RDX_ERR_OPTION, "correction is %g; it is a finite number",
                problem->correction);
    RDX_REQUIRE((problem->alpha == 1 && problem->beta == 0) || !rdx_type_is_integral(out), RDX_ERR_OPTION,
                "alpha %g and beta %g need a floating or complex output; %s gives %s", problem->alpha, problem->beta,
                op->name, rdx_types[out].name);
    return RDX_OK;
}

static RdxStatus check_types(const RdxProblem *problem, RdxType in, RdxType out, RdxType out2)
{
    const RdxOpInfo *op = &rdx_ops[problem->op];
    static const char *const accepted[] = {"every dtype", "every dtype but the complex ones", "floating dtypes",
                                           "integers and bool"};
    RDX_REQUIRE(rdx_op_accepts(problem->op, in), RDX_ERR_UNSUPPORTED, "%s does not take %s input; it takes %s",
                op->name, rdx_types[in].name, accepted[op->inputs]);
    RDX_REQUIRE(rdx_op_allows_out(problem->op, in, out), RDX_ERR_UNSUPPORTED, "%s of %s does not give %s; allowed: %s",
                op->name, rdx_types[in].name, rdx_types[out].name, rdx_op_allowed_words(problem->op, in));
    RDX_REQUIRE(problem->out2 || op->second != RDX_SECOND_SAME, RDX_ERR_NULL, "%s needs a second output; out2 is NULL",
                op->name);
    RDX_REQUIRE(!problem->out2 || op->second != RDX_SECOND_NONE, RDX_ERR_UNSUPPORTED, "%s has no second output",
                op->name);
    RDX_REQUIRE(!problem->out2 || rdx_op_allows_out2(problem->op, in, out2), RDX_ERR_UNSUPPORTED,
                "%s of %s does not give %s as second output", op->name, rdx_types[in].name, rdx_types[out2].name);
    return RDX_OK;
}

RdxStatus rdx_recipe_resolve(RdxRecipe *recipe, const RdxProblem *problem, RdxType in, RdxType out, RdxType out2,
                             int64_t count)
{
    RDX_TRY(rdx_op_check(problem->op));
    RDX_TRY(check_types(problem, in, out, out2));
    RDX_TRY(check_options(problem, out));
    *recipe = (RdxRecipe){
        .op = (uint8_t)problem->op,
        .in = (uint8_t)in,
        .out = (uint8_t)out,
        .out2 = problem->out2 ? (uint8_t)out2 : RDX_TYPE_COUNT,
        .second = problem->out2 ? rdx_ops[problem->op].second : RDX_SECOND_NONE,
        .unit = 1,
        .omit = problem->nan == RDX_NAN_OMIT && !rdx_type_is_integral(in),
        .lanes = (uint16_t)(512 / rdx_types[in].size),
        .p = problem->p,
        .correction = problem->correction,
        .count = count,
    };
    decide(recipe);
    recipe->planes = algebras[recipe->algebra].planes;
    recipe->work_parts = algebras[recipe->algebra].work_parts;
    recipe->parts = (uint8_t)(recipe->work_parts + algebras[recipe->algebra].i64_parts);
    recipe->indexed = recipe->finish == RDX_FINISH_INDEX || recipe->second == RDX_SECOND_INDEX;
    return RDX_OK;
}
