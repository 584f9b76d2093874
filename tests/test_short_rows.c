/* Short rows of every length at every level: whichever place of a row the greatest element has, which of equal ones or
   of NaN is named, zeros of either sign and NaN at every place, counts, and sums of nothing but -0. */
#include "kernels/cpu/isa.h"
#include "task.h"

#include <check.h>
#include <math.h>
#include <redax.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 140, LONGER = 192 };

static const struct {
    RdxDtype dtype;
    size_t size;
    unsigned char one[8], nan[8], infinity[8]; /* integers have no NaN, and 0 in its place */
} types[] = {
    {{0, 8, 1}, 1, {1}, {0}, {0}},
    {{1, 8, 1}, 1, {1}, {0}, {0}},
    {{4, 16, 1}, 2, {0x80, 0x3f}, {0xc0, 0x7f}, {0x80, 0x7f}},
    {{2, 16, 1}, 2, {0x00, 0x3c}, {0x00, 0x7e}, {0x00, 0x7c}},
    {{2, 32, 1}, 4, {0, 0, 0x80, 0x3f}, {0, 0, 0xc0, 0x7f}, {0, 0, 0x80, 0x7f}},
    {{2, 64, 1}, 8, {0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, {0, 0, 0, 0, 0, 0, 0xf8, 0x7f}, {0, 0, 0, 0, 0, 0, 0xf0, 0x7f}},
};

static void reduce(int op, int nan, RdxTensor *in, RdxTensor *out)
{
    int32_t axes[] = {1};
    RdxProblem problem = RDX_PROBLEM_INIT;
    RdxPlan *plan = NULL;
    problem.op = op;
    problem.nan = nan;
    problem.axes = axes;
    problem.naxes = 1;
    problem.in = in;
    problem.out = out;
    ck_assert_int_eq(rdx_plan_create(&plan, &problem), RDX_OK);
    _Alignas(64) static unsigned char workspace[1 << 20];
    ck_assert_uint_le(rdx_plan_workspace(plan), sizeof workspace);
    ck_assert_int_eq(rdx_execute(plan, in->data, out->data, NULL, workspace, sizeof workspace, NULL), RDX_OK);
    rdx_plan_destroy(plan);
}

/* Row i of n rows of n zeros has its one in place i; or the other way round, for min. */
static void check_places(const char *level, int type, int64_t n)
{
    const size_t size = types[type].size;
    static const unsigned char zero[8];
    int64_t shape[] = {n, n};
    for (int least = 0; least < 2; least++) {
        unsigned char *in = malloc((size_t)(n * n) * size), *out = malloc((size_t)n * size);
        int64_t *index = malloc((size_t)n * sizeof *index);
        ck_assert(in && out && index);
        for (int64_t i = 0; i < n * n; i++)
            memcpy(in + (size_t)i * size, (i % (n + 1) == 0) != least ? types[type].one : zero, size);
        RdxTensor from = {in, {1, 0}, 2, types[type].dtype, shape, NULL, 0},
                  to = {out, {1, 0}, 1, types[type].dtype, shape, NULL, 0},
                  at = {index, {1, 0}, 1, {0, 64, 1}, shape, NULL, 0};
        reduce(least ? RDX_MIN : RDX_MAX, RDX_NAN_PROPAGATE, &from, &to);
        reduce(least ? RDX_ARGMIN : RDX_ARGMAX, RDX_NAN_PROPAGATE, &from, &at);
        for (int64_t i = 0; i < n; i++) {
            DEMAND(memcmp(out + (size_t)i * size, least ? zero : types[type].one, size) == 0,
                   "%s: type %d: the extreme of row %lld of %lld", level, type, (long long)i, (long long)n);
            DEMAND(index[i] == i, "%s: type %d: row %lld of %lld has it in %lld", level, type, (long long)i,
                   (long long)n, (long long)index[i]);
        }
        free(in);
        free(out);
        free(index);
    }
}

/* Row i of n rows is `before` up to place i and from there on `after`, whose first is named. Of one more row, which is
   all `before`, it is the first, or -1 where that is NaN and left out. */
static void check_first(const char *level, int type, int64_t n, int op, int nan, const unsigned char *before,
                        const unsigned char *after)
{
    const size_t size = types[type].size;
    int64_t shape[] = {n + 1, n};
    unsigned char *in = malloc((size_t)((n + 1) * n) * size);
    int64_t *index = malloc((size_t)(n + 1) * sizeof *index);
    ck_assert(in && index);
    for (int64_t i = 0; i < (n + 1) * n; i++)
        memcpy(in + (size_t)i * size, i % n < i / n ? before : after, size);
    RdxTensor from = {in, {1, 0}, 2, types[type].dtype, shape, NULL, 0},
              at = {index, {1, 0}, 1, {0, 64, 1}, shape, NULL, 0};
    reduce(op, nan, &from, &at);
    for (int64_t i = 0; i <= n; i++)
        DEMAND(index[i] == (i < n                 ? i
                            : nan == RDX_NAN_OMIT ? -1
                                                  : 0),
               "%s: type %d: the first in row %lld of %lld is said to be %lld", level, type, (long long)i, (long long)n,
               (long long)index[i]);
    free(in);
    free(index);
}

static void check_firsts(const char *level, int type, int64_t n)
{
    static const unsigned char zero[8];
    const unsigned char *one = types[type].one, *nan = types[type].nan, *infinity = types[type].infinity;
    unsigned char below[8];
    memcpy(below, infinity, sizeof below);
    below[types[type].size - 1] |= 0x80;
    check_first(level, type, n, RDX_ARGMAX, RDX_NAN_PROPAGATE, zero, one);
    check_first(level, type, n, RDX_ARGMIN, RDX_NAN_PROPAGATE, one, zero);
    if (memcmp(nan, zero, sizeof zero) == 0)
        return;
    check_first(level, type, n, RDX_ARGMAX, RDX_NAN_PROPAGATE, one, nan);
    check_first(level, type, n, RDX_ARGMIN, RDX_NAN_PROPAGATE, zero, nan);
    check_first(level, type, n, RDX_ARGMAX, RDX_NAN_OMIT, nan, below);
    check_first(level, type, n, RDX_ARGMIN, RDX_NAN_OMIT, nan, infinity);
}

/* Row i of n rows is `before` but for place i, which is `other` and, `wins`, the extreme. One more row is all
   `before`. */
static void check_extreme(const char *level, int type, int64_t n, int op, int nan, const unsigned char *before,
                          const unsigned char *other, bool wins)
{
    const size_t size = types[type].size;
    int64_t shape[] = {n + 1, n};
    unsigned char *in = malloc((size_t)((n + 1) * n) * size), *out = malloc((size_t)(n + 1) * size);
    ck_assert(in && out);
    for (int64_t i = 0; i < (n + 1) * n; i++)
        memcpy(in + (size_t)i * size, i % n == i / n ? other : before, size);
    RdxTensor from = {in, {1, 0}, 2, types[type].dtype, shape, NULL, 0},
              to = {out, {1, 0}, 1, types[type].dtype, shape, NULL, 0};
    reduce(op, nan, &from, &to);
    for (int64_t i = 0; i <= n; i++)
        DEMAND(memcmp(out + (size_t)i * size, i < n && wins ? other : before, size) == 0,
               "%s: type %d: op %d, nan %d: the extreme of row %lld of %lld", level, type, op, nan, (long long)i,
               (long long)n);
    free(in);
    free(out);
}

/* -0 is less than 0; NaN of either sign is beyond all, or left out. */
static void check_extremes(const char *level, int type, int64_t n)
{
    static const unsigned char zero[8];
    const size_t size = types[type].size;
    const unsigned char *one = types[type].one, *nan = types[type].nan, *infinity = types[type].infinity;
    if (memcmp(nan, zero, sizeof zero) == 0)
        return;
    unsigned char minus_zero[8] = {0}, minus_one[8], minus_nan[8], below[8];
    memcpy(below, infinity, sizeof below);
    below[size - 1] |= 0x80;
    memcpy(minus_one, one, sizeof minus_one);
    memcpy(minus_nan, nan, sizeof minus_nan);
    minus_zero[size - 1] |= 0x80;
    minus_one[size - 1] |= 0x80;
    minus_nan[size - 1] |= 0x80;
    check_extreme(level, type, n, RDX_MAX, RDX_NAN_PROPAGATE, minus_zero, zero, true);
    check_extreme(level, type, n, RDX_MIN, RDX_NAN_PROPAGATE, zero, minus_zero, true);
    check_extreme(level, type, n, RDX_MAX, RDX_NAN_PROPAGATE, minus_one, minus_zero, true);
    check_extreme(level, type, n, RDX_MIN, RDX_NAN_PROPAGATE, one, zero, true);
    check_extreme(level, type, n, RDX_MAX, RDX_NAN_PROPAGATE, one, nan, true);
    check_extreme(level, type, n, RDX_MIN, RDX_NAN_PROPAGATE, zero, nan, true);
    check_extreme(level, type, n, RDX_MAX, RDX_NAN_OMIT, one, minus_nan, false);
    check_extreme(level, type, n, RDX_MAX, RDX_NAN_OMIT, minus_one, nan, false);
    check_extreme(level, type, n, RDX_MIN, RDX_NAN_OMIT, minus_one, nan, false);
    check_extreme(level, type, n, RDX_MIN, RDX_NAN_OMIT, zero, minus_nan, false);
    check_extreme(level, type, n, RDX_MAX, RDX_NAN_OMIT, nan, below, true);
    check_extreme(level, type, n, RDX_MIN, RDX_NAN_OMIT, nan, infinity, true);
}

/* Row i of n + 3, the last block of which is not full, has i ones among its zeros, at its end; behind row n it begins
   again. */
static void check_counts(const char *level, int type, int64_t n)
{
    const size_t size = types[type].size;
    const int64_t rows = n + 3;
    unsigned char zero[8] = {0}, nonzero[8];
    memcpy(nonzero, types[type].one, sizeof nonzero);
    if (memcmp(types[type].nan, zero, sizeof zero) != 0)
        zero[size - 1] |= 0x80, nonzero[size - 1] |= 0x80; /* -0 is a zero too */
    int64_t shape[] = {rows, n};
    unsigned char *in = malloc((size_t)(rows * n) * size);
    int64_t *out = malloc((size_t)rows * sizeof *out);
    ck_assert(in && out);
    for (int64_t i = 0; i < rows * n; i++)
        memcpy(in + (size_t)i * size, n - i % n <= i / n % (n + 1) ? nonzero : zero, size);
    RdxTensor from = {in, {1, 0}, 2, types[type].dtype, shape, NULL, 0},
              to = {out, {1, 0}, 1, {0, 64, 1}, shape, NULL, 0};
    for (int sums = 0; sums <= (size == 1); sums++) {
        reduce(sums ? RDX_SUM : RDX_COUNT_NONZERO, RDX_NAN_PROPAGATE, &from, &to);
        for (int64_t i = 0; i < rows; i++)
            DEMAND(out[i] == i % (n + 1), "%s: type %d: %lld ones of row %lld of %lld are %s as %lld", level, type,
                   (long long)(i % (n + 1)), (long long)i, (long long)n, sums ? "added up" : "counted",
                   (long long)out[i]);
    }
    free(in);
    free(out);
}

static void check_zeros(const char *level, int64_t rows, int64_t n)
{
    int64_t shape[] = {rows, n};
    float *in = malloc((size_t)(rows * n) * sizeof *in), *out = malloc((size_t)rows * sizeof *out);
    ck_assert(in && out);
    for (int64_t i = 0; i < rows * n; i++)
        in[i] = -0.0f;
    RdxTensor from = {in, {1, 0}, 2, {2, 32, 1}, shape, NULL, 0}, to = {out, {1, 0}, 1, {2, 32, 1}, shape, NULL, 0};
    reduce(RDX_SUM, RDX_NAN_PROPAGATE, &from, &to);
    for (int64_t i = 0; i < rows; i++)
        DEMAND(out[i] == 0 && signbit(out[i]), "%s: the sum of row %lld of %lld zeros below", level, (long long)i,
               (long long)n);
    free(in);
    free(out);
}

START_TEST(every_length)
{
    const char *levels[4];
    int count = rdx_cpu_isa_names(levels);
    for (int level = 0; level < count; level++) {
        ck_assert_int_eq(rdx_cpu_set_isa(levels[level]), RDX_OK);
        for (int64_t n = 2; n <= LONGEST; n++) {
            for (int type = 0; type < (int)(sizeof types / sizeof types[0]); type++) {
                check_places(levels[level], type, n);
                check_firsts(levels[level], type, n);
                check_extremes(levels[level], type, n);
                check_counts(levels[level], type, n);
            }
            check_zeros(levels[level], 19, n);
        }
        /* A row that ends with a register that is asked about together with the one before. */
        for (int type = 0; type < (int)(sizeof types / sizeof types[0]); type++) {
            check_firsts(levels[level], type, LONGER);
            check_extremes(levels[level], type, LONGER);
        }
    }
}
END_TEST

Suite *test_short_rows_suite(void);

Suite *test_short_rows_suite(void)
{
    Suite *suite = suite_create("short_rows");
    TCase *tcase = tcase_create("short_rows");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, every_length);
    suite_add_tcase(suite, tcase);
    return suite;
}
