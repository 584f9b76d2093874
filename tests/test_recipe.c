/* recipe: every op on every dtype into every output dtype either resolves to a recipe whose fields fit together, or is
   refused by name; options that an op does not have are refused with their value. Every recipe has code at every level
   of the build, whether this machine runs it or not. */
#include "error.h"
#include "kernels/cpu/isa.h"
#include "recipe.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const RdxProblem defaults = RDX_PROBLEM_INIT;

static RdxStatus resolve(RdxRecipe *recipe, RdxProblem *problem, RdxType in, RdxType out, RdxType out2, int64_t count)
{
    static RdxTensor second;
    problem->out2 = out2 == RDX_TYPE_COUNT ? NULL : &second;
    memset(recipe, 0x5a, sizeof *recipe);
    return rdx_recipe_resolve(recipe, problem, in, out, out2, count);
}

static void check_fields(const RdxRecipe *r, RdxType in, RdxType out, const char *what)
{
    ck_assert_msg(r->in == in && r->out == out, "%s: types", what);
    ck_assert_msg(r->lanes * rdx_types[in].size == 512 && rdx_recipe_chunk(r) == 16 * r->lanes, "%s: lanes %d", what,
                  r->lanes);
    ck_assert_msg(r->algebra < RDX_ALGEBRA_COUNT && r->work < RDX_WORK_COUNT && r->convert < RDX_WORK_COUNT &&
                      r->result < RDX_WORK_COUNT,
                  "%s: out of range", what);
    ck_assert_msg(r->parts >= 1 && r->parts <= RDX_MAX_PARTS && r->work_parts <= r->parts, "%s: %d parts, %d of work",
                  what, r->parts, r->work_parts);
    ck_assert_msg(rdx_recipe_state_bytes(r) ==
                      r->unit * (r->work_parts * rdx_work_size((RdxWork)r->work) + 8 * (r->parts - r->work_parts)),
                  "%s: state bytes", what);
    ck_assert_msg(r->unit == 1 || r->unit == 2, "%s: unit %d", what, r->unit);
    ck_assert_msg(!r->planar || rdx_type_is_complex(in), "%s: planar without complex", what);
    ck_assert_msg(!r->omit || !rdx_type_is_integral(in), "%s: an integer cannot be NaN", what);
    /* an op that rounds works in f64 exactly where the input is an integer, or a part of input or output has 64 bits */
    bool is_wide = rdx_type_is_integral(in) || in == RDX_TYPE_F64 || in == RDX_TYPE_C128 || out == RDX_TYPE_F64 ||
                   out == RDX_TYPE_C128;
    if (!r->exact && (r->work == RDX_WORK_F32 || r->work == RDX_WORK_F64))
        ck_assert_msg(r->work == (is_wide ? RDX_WORK_F64 : RDX_WORK_F32), "%s: accumulator", what);
}

static void check_code(const RdxRecipe *r, const char *what)
{
    static const RdxIsa *const levels[] = {
#ifdef RDX_HAVE_BASELINE
        &rdx_isa_baseline,
#endif
#ifdef RDX_HAVE_NEON
        &rdx_isa_neon,
#endif
#ifdef RDX_HAVE_AVX2
        &rdx_isa_avx2,
#endif
#ifdef RDX_HAVE_AVX512
        &rdx_isa_avx512,
#endif
    };
    for (size_t i = 0; i < RDX_LENGTH(levels); i++) {
        const RdxAlgebraCode *code = rdx_isa_algebra(levels[i], r);
        ck_assert_msg(code->fold && code->rows && code->join && code->halve && code->halve_rows,
                      "%s: no code at level %s", what, levels[i]->name);
    }
}

START_TEST(every_combination)
{
    int resolved = 0, refused = 0;
    for (int op = 1; op < RDX_OP_COUNT; op++)
        for (int in = 0; in < RDX_TYPE_COUNT; in++)
            for (int out = 0; out < RDX_TYPE_COUNT; out++)
                for (int nan = 0; nan < 2; nan++) {
                    RdxProblem problem = defaults;
                    RdxRecipe r;
                    char what[128];
                    problem.op = op;
                    problem.nan = nan && rdx_ops[op].options & RDX_OPTION_NAN;
                    snprintf(what, sizeof what, "%s of %s into %s, nan %d", rdx_ops[op].name, rdx_types[in].name,
                             rdx_types[out].name, problem.nan);
                    bool accepted = rdx_op_accepts(op, (RdxType)in);
                    RdxType out2 = rdx_ops[op].second == RDX_SECOND_SAME ? (RdxType)in : RDX_TYPE_COUNT;
                    RdxStatus status = resolve(&r, &problem, (RdxType)in, (RdxType)out, out2, 1000);
                    if (accepted && rdx_op_allows_out(op, (RdxType)in, (RdxType)out)) {
                        ck_assert_msg(status == RDX_OK, "%s: %s", what, rdx_last_error());
                        check_fields(&r, (RdxType)in, (RdxType)out, what);
                        check_code(&r, what);
                        ck_assert_int_eq(resolve(&r, &problem, (RdxType)in, (RdxType)out, out2, (int64_t)1 << 40),
                                         RDX_OK);
                        check_code(&r, what);
                        resolved++;
                    } else {
                        ck_assert_msg(status == RDX_ERR_UNSUPPORTED, "%s: %s", what, rdx_status_name(status));
                        ck_assert_msg(strstr(rdx_last_error(), rdx_types[in].name) != NULL, "%s: %s", what,
                                      rdx_last_error());
                        refused++;
                    }
                }
    ck_assert_int_gt(resolved, 500);
    ck_assert_int_gt(refused, 500);
}
END_TEST

/* Spec section 2's table of outputs, written out once more. */
START_TEST(outputs)
{
    static const struct {
        int op;
        const char *in, *yes, *no, *usual;
    } rows[] = {
        {RDX_SUM, "i8", "i8 i16 i32 i64 u8 u16 u32 u64 f32 f64", "bool f16 bf16 c64", "i64"},
        {RDX_SUM, "bool", "i64 u64 f32", "bool", "i64"},
        {RDX_SUM, "u16", "u64", "c128", "u64"},
        {RDX_SUM, "f8e4m3", "f8e4m3 f8e5m2 f16 bf16 f32 f64", "i64 c64 bool", "f32"},
        {RDX_PROD, "c64", "c64 c128", "f32", "c64"},
        {RDX_PROD, "u32", "u64 f64", "bf16", "u64"},
        {RDX_MEAN, "i32", "f8e5m2 f16 f32 f64", "i64 c64", "f64"},
        {RDX_MEAN, "c128", "c64 c128", "f64", "c128"},
        {RDX_VAR, "c64", "f32 f64 bf16", "c64", "f32"},
        {RDX_STD, "f8e5m2", "f8e5m2 f32", "i8", "f32"},
        {RDX_NORM, "bool", "f32 f64", "i64", "f64"},
        {RDX_SUMSQ, "c128", "f64 f16", "c128", "f64"},
        {RDX_LOGSUMEXP, "f16", "f16 f64", "c64", "f16"},
        {RDX_MIN, "f16", "f16", "f32 f64", "f16"},
        {RDX_MINMAX, "u64", "u64", "i64", "u64"},
        {RDX_ANY, "c64", "bool u8", "i8 i64", "bool"},
        {RDX_ALL, "f64", "bool u8", "f64", "bool"},
        {RDX_ARGMAX, "bf16", "i64", "i32 u64", "i64"},
        {RDX_COUNT_NONZERO, "c128", "i64", "u64", "i64"},
        {RDX_BIT_XOR, "bool", "bool", "u8", "bool"},
        {RDX_BIT_AND, "i16", "i16", "u16", "i16"},
    };
    for (size_t i = 0; i < RDX_LENGTH(rows); i++) {
        RdxType in = rdx_type_named(rows[i].in);
        ck_assert_int_lt(in, RDX_TYPE_COUNT);
        ck_assert_msg(rdx_op_default_out(rows[i].op, in) == rdx_type_named(rows[i].usual), "%s of %s",
                      rdx_ops[rows[i].op].name, rows[i].in);
        for (int yes = 0; yes < 2; yes++) {
            char words[128];
            snprintf(words, sizeof words, "%s", yes ? rows[i].yes : rows[i].no);
            for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
                ck_assert_msg(rdx_op_allows_out(rows[i].op, in, rdx_type_named(word)) == yes, "%s of %s into %s",
                              rdx_ops[rows[i].op].name, rows[i].in, word);
        }
    }
}
END_TEST

typedef struct Wrong {
    int op, nan;
    double p, correction, alpha, beta;
    const char *in, *out, *word;
} Wrong;

START_TEST(options)
{
    static const Wrong rows[] = {
        {RDX_SUM, 2, 2, 0, 1, 0, "f32", "f32", "nan is 2"},
        {RDX_SUM, -1, 2, 0, 1, 0, "f32", "f32", "nan is -1"},
        {RDX_BIT_OR, 1, 2, 0, 1, 0, "u8", "u8", "bit_or"},
        {RDX_SUM, 0, 3, 0, 1, 0, "f32", "f32", "p is 3"},
        {RDX_NORM, 0, (double)NAN, 0, 1, 0, "f32", "f32", "p is NaN"},
        {RDX_MEAN, 0, 2, 1, 1, 0, "f32", "f32", "correction is 1"},
        {RDX_VAR, 0, 2, (double)INFINITY, 1, 0, "f32", "f32", "correction"},
        {RDX_SUM, 0, 2, 0, 2, 0, "i32", "i64", "alpha 2"},
        {RDX_SUM, 0, 2, 0, 1, 0.5, "i32", "i64", "beta 0.5"},
        {RDX_ANY, 0, 2, 0, 3, 0, "f32", "bool", "bool"},
        {RDX_ARGMAX, 0, 2, 0, 3, 0, "f32", "i64", "i64"},
        {RDX_MAX, 0, 2, 0, 3, 0, "i8", "i8", "i8"},
    };
    for (size_t i = 0; i < RDX_LENGTH(rows); i++) {
        RdxRecipe r;
        RdxProblem problem = defaults;
        problem.op = rows[i].op;
        problem.nan = rows[i].nan;
        problem.p = rows[i].p;
        problem.correction = rows[i].correction;
        problem.alpha = rows[i].alpha;
        problem.beta = rows[i].beta;
        RdxStatus status =
            resolve(&r, &problem, rdx_type_named(rows[i].in), rdx_type_named(rows[i].out), RDX_TYPE_COUNT, 10);
        ck_assert_msg(status == RDX_ERR_OPTION, "row %zu: %s", i, rdx_status_name(status));
        ck_assert_msg(strstr(rdx_last_error(), rows[i].word) != NULL, "row %zu: %s", i, rdx_last_error());
    }
    RdxRecipe r;
    RdxProblem problem = defaults;
    for (int op = -1; op <= RDX_OP_COUNT; op += RDX_OP_COUNT + 1) {
        problem.op = op;
        ck_assert_int_eq(resolve(&r, &problem, RDX_TYPE_F32, RDX_TYPE_F32, RDX_TYPE_COUNT, 10), RDX_ERR_OP);
    }
    problem.op = 0;
    ck_assert_int_eq(resolve(&r, &problem, RDX_TYPE_F32, RDX_TYPE_F32, RDX_TYPE_COUNT, 10), RDX_ERR_OP);
    ck_assert_ptr_nonnull(strstr(rdx_last_error(), "op is 0"));
}
END_TEST

START_TEST(second_outputs)
{
    for (int op = 1; op < RDX_OP_COUNT; op++)
        for (int in = 0; in < RDX_TYPE_COUNT; in++) {
            if (!rdx_op_accepts(op, (RdxType)in))
                continue;
            RdxProblem problem = defaults;
            RdxRecipe r;
            problem.op = op;
            RdxType out = rdx_op_default_out(op, (RdxType)in), out2 = rdx_op_default_out2(op, (RdxType)in);
            if (out2 == RDX_TYPE_COUNT) { /* one may not be asked for */
                ck_assert_int_eq(resolve(&r, &problem, (RdxType)in, out, RDX_TYPE_I64, 10), RDX_ERR_UNSUPPORTED);
                continue;
            }
            ck_assert_msg(resolve(&r, &problem, (RdxType)in, out, out2, 10) == RDX_OK, "%s of %s: %s", rdx_ops[op].name,
                          rdx_types[in].name, rdx_last_error());
            ck_assert_int_eq(r.second, rdx_ops[op].second);
            ck_assert_int_eq(r.indexed, rdx_ops[op].second == RDX_SECOND_INDEX);
            RdxStatus status = resolve(&r, &problem, (RdxType)in, out, RDX_TYPE_COUNT, 10);
            ck_assert_int_eq(status, rdx_ops[op].second == RDX_SECOND_SAME ? RDX_ERR_NULL : RDX_OK);
            ck_assert_int_eq(
                resolve(&r, &problem, (RdxType)in, out, out2 == RDX_TYPE_BOOL ? RDX_TYPE_I8 : RDX_TYPE_BOOL, 10),
                RDX_ERR_UNSUPPORTED);
        }
}
END_TEST

/* Where exactness ends, the f64 tree takes over. */
START_TEST(exact_counts)
{
    RdxProblem problem = defaults;
    RdxRecipe r;
    problem.op = RDX_MEAN;
    const int64_t i32_limit = (int64_t)1 << 31, small_limit = (int64_t)1 << 32;
    ck_assert_int_eq(resolve(&r, &problem, RDX_TYPE_I32, RDX_TYPE_F64, RDX_TYPE_COUNT, i32_limit - 1), RDX_OK);
    ck_assert(r.exact);
    ck_assert_int_eq(resolve(&r, &problem, RDX_TYPE_I32, RDX_TYPE_F64, RDX_TYPE_COUNT, i32_limit), RDX_OK);
    ck_assert(!r.exact && r.work == RDX_WORK_F64);
    ck_assert_int_eq(resolve(&r, &problem, RDX_TYPE_I64, RDX_TYPE_F64, RDX_TYPE_COUNT, 3), RDX_OK);
    ck_assert(!r.exact);
    static const int ops[] = {RDX_VAR, RDX_STD, RDX_SUMSQ};
    for (int i = 0; i < 3; i++) {
        problem.op = ops[i];
        ck_assert_int_eq(resolve(&r, &problem, RDX_TYPE_U16, RDX_TYPE_F64, RDX_TYPE_COUNT, small_limit - 1), RDX_OK);
        ck_assert(r.exact);
        ck_assert_int_eq(resolve(&r, &problem, RDX_TYPE_U16, RDX_TYPE_F64, RDX_TYPE_COUNT, small_limit), RDX_OK);
        ck_assert(!r.exact);
        ck_assert_int_eq(resolve(&r, &problem, RDX_TYPE_I32, RDX_TYPE_F64, RDX_TYPE_COUNT, 3), RDX_OK);
        ck_assert(!r.exact);
    }
}
END_TEST

Suite *test_recipe_suite(void);

Suite *test_recipe_suite(void)
{
    Suite *suite = suite_create("recipe");
    TCase *tests = tcase_create("recipe");
    tcase_add_test(tests, every_combination);
    tcase_add_test(tests, outputs);
    tcase_add_test(tests, options);
    tcase_add_test(tests, second_outputs);
    tcase_add_test(tests, exact_counts);
    suite_add_tcase(suite, tests);
    return suite;
}
