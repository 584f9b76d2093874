/* Loads and stores of every dtype, through converting copies (naxes = 0) on every instruction set: all bit patterns of
   the narrow dtypes read, and stores at every representable number, every midpoint between neighbours, and one ulp
   beside both, against the converters of tools/data.h, which work on the bits of an f64 in integers. */
#include "kernels/cpu/isa.h"
#include "task.h"

#include <math.h>

enum { MOST = 1 << 20 };

/* Copies `count` elements into another dtype by a sum over no axis. */
static void convert(int from, const void *in, int to, void *out, int64_t count)
{
    static const RdxProblem defaults = RDX_PROBLEM_INIT;
    RdxProblem problem = defaults;
    RdxPlan *plan = NULL;
    RdxTensor source = {NULL, {1, 0}, 1, rdx_data_dtype(from), &count, NULL, 0};
    RdxTensor target = {NULL, {1, 0}, 1, rdx_data_dtype(to), &count, NULL, 0};
    memcpy(&source.data, &in, sizeof in);
    target.data = out;
    problem.op = RDX_SUM;
    problem.naxes = 0;
    problem.in = &source;
    problem.out = &target;
    ck_assert_msg(rdx_plan_create(&plan, &problem) == RDX_OK, "%s", rdx_last_error());
    size_t bytes = rdx_plan_workspace(plan);
    void *workspace = malloc(bytes + 1);
    ck_assert_ptr_nonnull(workspace);
    ck_assert_int_eq(rdx_execute(plan, in, out, NULL, workspace, bytes, NULL), RDX_OK);
    free(workspace);
    rdx_plan_destroy(plan);
}

static bool is_float(int dtype)
{
    return rdx_data_type(dtype)->kind == RDX_DATA_FLOAT;
}

/* ---- Loads ---- */

static void check_loads(int from, const char *level)
{
    int size = rdx_data_type(from)->size;
    int64_t count = (int64_t)1 << (8 * size);
    unsigned char *in = malloc((size_t)(count * size));
    static const int targets[] = {RDX_F32, RDX_F64, RDX_I64, RDX_U8};
    double *out = malloc((size_t)count * sizeof *out);
    ck_assert(in && out);
    for (int64_t i = 0; i < count; i++)
        memcpy(in + i * size, &i, (size_t)size); /* little-endian */
    for (int t = 0; t < 4; t++) {
        int to = targets[t], out_size = rdx_data_type(to)->size;
        if (is_float(from) && !is_float(to))
            continue;
        convert(from, in, to, out, count);
        for (int64_t i = 0; i < count; i++) {
            unsigned char right[8];
            if (is_float(to))
                rdx_data_store(to, right, rdx_data_load(from, in + i * size));
            else
                rdx_data_store_int(to, right, rdx_data_load_int(from, in + i * size));
            DEMAND(memcmp(right, (unsigned char *)out + i * out_size, (size_t)out_size) == 0,
                   "%s pattern %llx into %s on %s", rdx_data_type(from)->name, (unsigned long long)i,
                   rdx_data_type(to)->name, level);
        }
    }
    free(in);
    free(out);
}

/* ---- Stores ---- */

static double values[MOST];
static float narrow_values[MOST];
static unsigned char stored[8 * MOST];
static int64_t value_count;

static void add(double x)
{
    if (value_count + 2 <= MOST) {
        values[value_count++] = x;
        values[value_count++] = -x;
    }
}

/* One ulp of the source beside x, and x. */
static void add_with_neighbours(double x, int from)
{
    add(x);
    if (from == RDX_F32) {
        add((double)nextafterf((float)x, 0));
        add((double)nextafterf((float)x, INFINITY));
    } else {
        add(nextafter(x, 0));
        add(nextafter(x, (double)INFINITY));
    }
}

/* Every number of a narrow format and every midpoint; past the largest, what would come next. */
static void gather_values(int to, int from)
{
    uint64_t largest = 0;
    int bits = rdx_data_type(to)->size * 8;
    value_count = 0;
    while (isfinite(rdx_data_decode(to, largest + 1)) && largest + 1 < (uint64_t)1 << (bits - 1))
        largest++;
    for (uint64_t pattern = 0; pattern <= largest; pattern++) {
        double x = rdx_data_decode(to, pattern);
        double next = pattern < largest ? rdx_data_decode(to, pattern + 1) : 2 * x - rdx_data_decode(to, pattern - 1);
        add_with_neighbours(x, from);
        if (from == RDX_F64 || (double)(float)(x + (next - x) / 2) == x + (next - x) / 2)
            add_with_neighbours(x + (next - x) / 2, from);
    }
    add((double)INFINITY);
    add((double)NAN);
    add(from == RDX_F32 ? 0x1.fffffep127 : 0x1.fffffffffffffp1023);
    add(from == RDX_F32 ? 0x1p-149 : 0x1p-1074);
}

static void check_stores(int from, int to, const char *level)
{
    int size = rdx_data_type(to)->size;
    unsigned char right[8], *out = stored;
    float *narrow = narrow_values;
    if (to == RDX_F32) { /* too many to list: neighbours of f32 numbers all over the range */
        value_count = 0;
        for (uint64_t i = 0; i < MOST / 8; i++) {
            uint64_t pattern = rdx_data_mix(3, i) & 0x7fffffff;
            double x = rdx_data_decode(RDX_F32, pattern), next = rdx_data_decode(RDX_F32, pattern + 1);
            if (isfinite(x) && isfinite(next))
                add_with_neighbours(x + (next - x) / 2, from);
        }
    } else {
        gather_values(to, from);
    }
    ck_assert_int_lt(value_count, MOST - 2);
    for (int64_t i = 0; i < value_count; i++)
        narrow[i] = (float)values[i];
    convert(from, from == RDX_F32 ? (void *)narrow : (void *)values, to, out, value_count);
    for (int64_t i = 0; i < value_count; i++) {
        rdx_data_store(to, right, from == RDX_F32 ? (double)narrow[i] : values[i]);
        DEMAND(memcmp(right, out + i * size, (size_t)size) == 0, "%s %a into %s on %s", rdx_data_type(from)->name,
               values[i], rdx_data_type(to)->name, level);
    }
}

START_TEST(loads)
{
    static const int narrow[] = {RDX_BOOL, RDX_I8, RDX_U8, RDX_I16, RDX_U16, RDX_F16, RDX_BF16, RDX_F8E4M3, RDX_F8E5M2};
    const char *levels[4];
    int count = rdx_cpu_isa_names(levels);
    for (int level = 0; level < count; level++) {
        ck_assert_int_eq(rdx_cpu_set_isa(levels[level]), RDX_OK);
        for (size_t i = 0; i < sizeof narrow / sizeof narrow[0]; i++)
            check_loads(narrow[i], levels[level]);
    }
}
END_TEST

START_TEST(stores)
{
    static const int narrow[] = {RDX_F16, RDX_BF16, RDX_F8E4M3, RDX_F8E5M2, RDX_F32};
    const char *levels[4];
    int count = rdx_cpu_isa_names(levels);
    for (int level = 0; level < count; level++) {
        ck_assert_int_eq(rdx_cpu_set_isa(levels[level]), RDX_OK);
        for (size_t i = 0; i < sizeof narrow / sizeof narrow[0]; i++) {
            check_stores(RDX_F64, narrow[i], levels[level]);
            if (narrow[i] != RDX_F32)
                check_stores(RDX_F32, narrow[i], levels[level]);
        }
    }
}
END_TEST

/* Sums of integers into floats are converted once, from 64 bits. */
START_TEST(wide_integers)
{
    const char *levels[4];
    int count = rdx_cpu_isa_names(levels);
    enum { N = 4096 };
    static int64_t in[N];
    static double out[N];
    for (int i = 0; i < N; i++) { /* ties of f64 and f32, and one beside */
        int shift = i % 63, low = shift > 53 ? shift - 53 : shift > 24 ? shift - 24 : 0;
        in[i] = ((int64_t)1 << shift |
                 (int64_t)(rdx_data_mix(1, (uint64_t)i) >> (64 - shift - 1) & ~(((uint64_t)2 << low) - 1))) +
                ((int64_t)1 << low >> 1) + i / 63 % 3 - 1;
        in[i] = i % 2 ? in[i] : -in[i];
    }
    for (int level = 0; level < count; level++) {
        ck_assert_int_eq(rdx_cpu_set_isa(levels[level]), RDX_OK);
        for (int is_unsigned = 0; is_unsigned < 2; is_unsigned++)
            for (int wide = 0; wide < 2; wide++) {
                convert(is_unsigned ? RDX_U64 : RDX_I64, in, wide ? RDX_F64 : RDX_F32, out, N);
                for (int i = 0; i < N; i++) {
                    long double exact = is_unsigned ? (long double)(uint64_t)in[i] : (long double)in[i];
                    double got = wide ? out[i] : (double)((const float *)(const void *)out)[i];
                    DEMAND(got == (wide ? (double)exact : (double)(float)exact), "%lld into %s on %s", (long long)in[i],
                           wide ? "f64" : "f32", levels[level]);
                }
            }
    }
}
END_TEST

Suite *test_scalar_suite(void);

Suite *test_scalar_suite(void)
{
    Suite *suite = suite_create("scalar");
    TCase *tests = tcase_create("scalar");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, loads);
    tcase_add_test(tests, stores);
    tcase_add_test(tests, wide_integers);
    suite_add_tcase(suite, tests);
    return suite;
}
