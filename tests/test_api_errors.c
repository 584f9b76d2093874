/* What the API refuses: every status of every function with its numbers in the sentence, and neither out-parameters nor
   any of the caller's memory written. */
#include "given.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>

/* ---- Spoilt problems: X(what, status, word that the sentence holds, whether rdx_infer_outputs sees it) ---- */

#define SPOILT(X)                                                                                                      \
    X(size_0, RDX_ERR_STRUCT_SIZE, "size is 0", true, g->problem.size = 0)                                             \
    X(size_less, RDX_ERR_STRUCT_SIZE, "to 4096 bytes", true, g->problem.size--)                                        \
    X(size_huge, RDX_ERR_STRUCT_SIZE, "to 4096 bytes", true, g->problem.size = (size_t)-1)                             \
    X(op_0, RDX_ERR_OP, "op is 0", true, g->problem.op = 0)                                                            \
    X(op_20, RDX_ERR_OP, "op is 20", true, g->problem.op = 20)                                                         \
    X(op_negative, RDX_ERR_OP, "op is -3", true, g->problem.op = -3)                                                   \
    X(in_null, RDX_ERR_NULL, "in is NULL", true, g->problem.in = NULL)                                                 \
    X(out_null, RDX_ERR_NULL, "out is NULL", false, g->problem.out = NULL)                                             \
    X(axes_null, RDX_ERR_NULL, "axes is NULL", true, g->problem.axes = NULL)                                           \
    X(shape_null, RDX_ERR_NULL, "shape is NULL", true, g->in.shape = NULL)                                             \
    X(out_shape_null, RDX_ERR_NULL, "shape is NULL", false, g->out.shape = NULL)                                       \
    X(minmax_alone, RDX_ERR_NULL, "out2 is NULL", false, g->problem.op = RDX_MINMAX)                                   \
    X(dtype_bits, RDX_ERR_DTYPE, "12 bits", true, g->in.dtype.bits = 12)                                               \
    X(dtype_code, RDX_ERR_DTYPE, "code 99", true, g->in.dtype.code = 99)                                               \
    X(lanes, RDX_ERR_DTYPE, "lanes 4", true, g->in.dtype.lanes = 4)                                                    \
    X(out_dtype, RDX_ERR_DTYPE, "out", false, g->out.dtype.bits = 80)                                                  \
    X(out2_dtype, RDX_ERR_DTYPE, "out2", false, (g->problem.out2 = &g->out2, g->out2.dtype.lanes = 0))                 \
    X(rank_65, RDX_ERR_RANK, "rank 65", true, g->in.ndim = 65)                                                         \
    X(rank_negative, RDX_ERR_RANK, "rank -1", true, g->in.ndim = -1)                                                   \
    X(out_rank, RDX_ERR_RANK, "rank 3", false, g->out.ndim = 3)                                                        \
    X(axis, RDX_ERR_AXIS, "axis 2", true, g->axes[0] = 2)                                                              \
    X(axis_negative, RDX_ERR_AXIS, "axis -3", true, g->axes[0] = -3)                                                   \
    X(axis_twice, RDX_ERR_AXIS, "twice", true, (g->axes[1] = -1, g->problem.naxes = 2))                                \
    X(naxes, RDX_ERR_AXIS, "naxes is -2", true, g->problem.naxes = -2)                                                 \
    X(extent, RDX_ERR_SHAPE, "extent -5", true, g->in_shape[1] = -5)                                                   \
    X(out_extent, RDX_ERR_SHAPE, "extent 7", false, g->out_shape[0] = 7)                                               \
    X(elements, RDX_ERR_OVERFLOW, "overflow", false, g->in_shape[0] = g->in_shape[1] = (int64_t)1 << 40)               \
    X(reach, RDX_ERR_OVERFLOW, "stride", false, g->in_strides[0] = (int64_t)1 << 60)                                   \
    X(device, RDX_ERR_DEVICE, "type 77", false, g->in.device.type = 77)                                                \
    X(out_device, RDX_ERR_DEVICE, "out", false, g->out.device.type = 5)                                                \
    X(devices, RDX_ERR_DEVICE, "out is on device 2", false, g->out.device.type = 2)                                    \
    X(in_align, RDX_ERR_ALIGN, "f32 needs 4", false, g->in.data = (char *)g->in_data + 2)                              \
    X(in_offset, RDX_ERR_ALIGN, "f32 needs 4", false, g->in.byte_offset = 1)                                           \
    X(out_align, RDX_ERR_ALIGN, "out", false, g->out.data = (char *)g->out_data + 1)                                   \
    X(promise, RDX_ERR_ALIGN, "align is 16", false, (g->problem.align = 16, g->in.data = g->in_data + 1))              \
    X(promise_less, RDX_ERR_ALIGN, "keeps 2", false, g->problem.align = 2)                                             \
    X(promise_odd, RDX_ERR_OPTION, "align is 12", false, g->problem.align = 12)                                        \
    X(threads, RDX_ERR_OPTION, "threads is -1", false, g->problem.threads = -1)                                        \
    X(nan, RDX_ERR_OPTION, "nan is 2", false, g->problem.nan = 2)                                                      \
    X(p, RDX_ERR_OPTION, "p is 3", false, g->problem.p = 3)                                                            \
    X(correction, RDX_ERR_OPTION, "correction is 1", false, g->problem.correction = 1)                                 \
    X(alpha, RDX_ERR_OPTION, "alpha 2", false,                                                                         \
      (g->problem.op = RDX_ARGMAX, g->problem.alpha = 2, g->out.dtype = (RdxDtype){0, 64, 1}))                         \
    X(overlap, RDX_ERR_OVERLAP, "out overlaps in", false, g->out.data = g->in_data + 5)                                \
    X(overlap_itself, RDX_ERR_OVERLAP, "itself", false, g->out_strides[0] = 0)                                         \
    X(overlap_out2, RDX_ERR_OVERLAP, "out2 overlaps out", false,                                                       \
      (g->problem.out2 = &g->out2, g->out2.data = g->out_data + 2))                                                    \
    X(overlap_in2, RDX_ERR_OVERLAP, "out2 overlaps in", false,                                                         \
      (g->problem.out2 = &g->out2, g->out2.data = g->in_data + 2))                                                     \
    X(empty, RDX_ERR_EMPTY, "max of no elements", false, g->in_shape[1] = 0)                                           \
    X(tiny_norm, RDX_ERR_OPTION, "1e-310", false, (g->problem.op = RDX_NORM, g->problem.p = 1e-310))                   \
    X(empty_norm, RDX_ERR_EMPTY, "norm of no elements", false,                                                         \
      (g->in_shape[1] = 0, g->problem.op = RDX_NORM, g->problem.p = -1))                                               \
    X(output_dtype, RDX_ERR_UNSUPPORTED, "f64", false, g->out.dtype.bits = 64)                                         \
    X(input_dtype, RDX_ERR_UNSUPPORTED, "c64", true, g->in.dtype = (RdxDtype){5, 64, 1})                               \
    X(second, RDX_ERR_UNSUPPORTED, "second", false, (g->problem.op = RDX_SUM, g->problem.out2 = &g->out2))             \
    X(cuda, RDX_ERR_NO_PLUGIN, "libredax_cuda", false, g->in.device.type = g->out.device.type = 2)                     \
    X(cuda_managed, RDX_ERR_NO_PLUGIN, "libredax_cuda", false, g->in.device.type = g->out.device.type = 13)

#define X(name, status, word, inferred, ...)                                                                           \
    static void spoil_##name(Given *g)                                                                                 \
    {                                                                                                                  \
        (void)(__VA_ARGS__);                                                                                           \
    }
SPOILT(X)
#undef X

static const struct {
    const char *name;
    RdxStatus status;
    const char *word;
    bool inferred;
    void (*spoil)(Given *g);
} spoilt[] = {
#define X(name, status, word, inferred, ...) {#name, status, word, inferred, spoil_##name},
    SPOILT(X)
#undef X
};

enum { SPOILT_COUNT = sizeof spoilt / sizeof spoilt[0] };

static void check_status(size_t i, RdxStatus status, const char *function)
{
    ck_assert_msg(status == spoilt[i].status, "%s, %s: %s, not %s (%s)", function, spoilt[i].name,
                  rdx_status_name(status), rdx_status_name(spoilt[i].status), rdx_last_error());
    ck_assert_msg(strstr(rdx_last_error(), spoilt[i].word) != NULL, "%s, %s: \"%s\" does not say \"%s\"", function,
                  spoilt[i].name, rdx_last_error(), spoilt[i].word);
}

/* Whatever was built beside this program, there is no plugin here. */
static void name_no_plugin(void)
{
    setenv("RDX_CUDA_PLUGIN", "/nowhere/libredax_cuda.so", 1);
}

START_TEST(plan_create_refuses)
{
    static Given given, before;
    RdxPlan *const marker = (RdxPlan *)(uintptr_t)0x1234, *plan = marker;
    give(&given);
    ck_assert_int_eq(rdx_plan_create(NULL, &given.problem), RDX_ERR_NULL);
    ck_assert_int_eq(rdx_plan_create(&plan, NULL), RDX_ERR_NULL);
    ck_assert_ptr_eq(plan, marker);
    for (size_t i = 0; i < SPOILT_COUNT; i++) {
        give(&given);
        spoilt[i].spoil(&given);
        memcpy(&before, &given, sizeof given);
        check_status(i, rdx_plan_create(&plan, &given.problem), "rdx_plan_create");
        ck_assert_msg(plan == marker, "%s: the plan was written", spoilt[i].name);
        ck_assert_msg(memcmp(&before, &given, sizeof given) == 0, "%s: the caller's memory was written",
                      spoilt[i].name);
    }
    give(&given);
    ck_assert_int_eq(rdx_plan_create(&plan, &given.problem), RDX_OK);
    rdx_plan_destroy(plan);
}
END_TEST

START_TEST(reduce_refuses)
{
    static Given given, before;
    give(&given);
    ck_assert_int_eq(rdx_reduce(NULL, NULL), RDX_ERR_NULL);
    for (int round = 0; round < 2; round++) /* with the sound problem's plan in the cache, and without */
        for (size_t i = 0; i < SPOILT_COUNT; i++) {
            give(&given);
            if (round)
                ck_assert_int_eq(rdx_reduce(&given.problem, NULL), RDX_OK);
            give(&given);
            spoilt[i].spoil(&given);
            memcpy(&before, &given, sizeof given);
            check_status(i, rdx_reduce(&given.problem, NULL), "rdx_reduce");
            ck_assert_msg(memcmp(&before, &given, sizeof given) == 0, "%s: memory was written", spoilt[i].name);
        }
    give(&given);
    ck_assert_int_eq(rdx_reduce(&given.problem, (RdxStream)&given), RDX_ERR_STREAM);
    ck_assert(given.out_data[0] == -12345);
    given.in.data = NULL;
    ck_assert_int_eq(rdx_reduce(&given.problem, NULL), RDX_ERR_NULL);
    give(&given);
    given.out.data = NULL;
    ck_assert_int_eq(rdx_reduce(&given.problem, NULL), RDX_ERR_NULL);
}
END_TEST

START_TEST(infer_refuses)
{
    static Given given;
    int64_t shape[RDX_MAX_RANK], shape2[RDX_MAX_RANK];
    for (size_t i = 0; i < SPOILT_COUNT; i++) {
        give(&given);
        spoilt[i].spoil(&given);
        memset(shape, 0x77, sizeof shape);
        RdxTensor out = {(void *)shape2, {9, 9}, 99, {9, 9, 9}, shape, shape2, 9}, before = out;
        RdxStatus status = rdx_infer_outputs(&given.problem, 0, &out, NULL);
        if (!spoilt[i].inferred)
            continue;
        check_status(i, status, "rdx_infer_outputs");
        ck_assert_msg(memcmp(&out, &before, sizeof out) == 0 && shape[0] == 0x7777777777777777, "%s: written",
                      spoilt[i].name);
    }
    give(&given);
    RdxTensor out = {.shape = shape}, out2 = {.shape = shape2}, shapeless = {.shape = NULL};
    ck_assert_int_eq(rdx_infer_outputs(&given.problem, 0, NULL, NULL), RDX_ERR_NULL);
    ck_assert_int_eq(rdx_infer_outputs(&given.problem, 0, &shapeless, NULL), RDX_ERR_NULL);
    ck_assert_int_eq(rdx_infer_outputs(&given.problem, 0, &out, &shapeless), RDX_ERR_NULL);
    ck_assert_int_eq(rdx_infer_outputs(NULL, 0, &out, NULL), RDX_ERR_NULL);
    given.problem.op = RDX_SUM;
    ck_assert_int_eq(rdx_infer_outputs(&given.problem, 0, &out, &out2), RDX_ERR_UNSUPPORTED);
}
END_TEST

START_TEST(execute_refuses)
{
    static Given g;
    RdxPlan *plan = NULL;
    give(&g);
    g.problem.out2 = &g.out2;
    ck_assert_int_eq(rdx_plan_create(&plan, &g.problem), RDX_OK);
    size_t bytes = rdx_plan_workspace(plan);
    void *workspace = bytes ? malloc(bytes) : NULL;
    const struct {
        const char *what, *word;
        RdxStatus status;
        const RdxPlan *plan;
        const void *in;
        void *out, *out2;
        RdxStream stream;
    } rows[] = {
        {"plan", "plan is NULL", RDX_ERR_NULL, NULL, g.in_data, g.out_data, g.out2_data, NULL},
        {"in", "in is NULL", RDX_ERR_NULL, plan, NULL, g.out_data, g.out2_data, NULL},
        {"out", "out is NULL", RDX_ERR_NULL, plan, g.in_data, NULL, g.out2_data, NULL},
        {"out2", "out2 is NULL", RDX_ERR_NULL, plan, g.in_data, g.out_data, NULL, NULL},
        {"in align", "in begins", RDX_ERR_ALIGN, plan, g.in_data + 1, g.out_data, g.out2_data, NULL},
        {"out align", "out begins", RDX_ERR_ALIGN, plan, g.in_data, (char *)g.out_data + 2, g.out2_data, NULL},
        {"out2 align", "out2 begins", RDX_ERR_ALIGN, plan, g.in_data, g.out_data, (char *)g.out2_data + 4, NULL},
        {"out on in", "out overlaps in", RDX_ERR_OVERLAP, plan, g.in_data, g.in_data + 8, g.out2_data, NULL},
        {"out on in's end", "out overlaps in", RDX_ERR_OVERLAP, plan, g.in_data, g.in_data + ROWS * COLUMNS - 1,
         g.out2_data, NULL},
        {"out2 on in", "out2 overlaps in", RDX_ERR_OVERLAP, plan, g.in_data, g.out_data, g.in_data + 8, NULL},
        {"out2 on out", "out2 overlaps out", RDX_ERR_OVERLAP, plan, g.in_data, g.out_data, g.out_data + 4, NULL},
        {"stream", "stream", RDX_ERR_STREAM, plan, g.in_data, g.out_data, g.out2_data, (RdxStream)&g},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        static Given before;
        memcpy(&before, &g, sizeof g);
        RdxStatus status =
            rdx_execute(rows[i].plan, rows[i].in, rows[i].out, rows[i].out2, workspace, bytes, rows[i].stream);
        ck_assert_msg(status == rows[i].status && strstr(rdx_last_error(), rows[i].word) != NULL, "%s: %s: %s",
                      rows[i].what, rdx_status_name(status), rdx_last_error());
        ck_assert_msg(memcmp(&before, &g, sizeof g) == 0, "%s: memory was written", rows[i].what);
    }
    /* just beside the input is fine */
    ck_assert_int_eq(rdx_execute(plan, g.in_data, g.in_data + ROWS * COLUMNS, g.out2_data, workspace, bytes, NULL),
                     RDX_OK);
    ck_assert(g.in_data[ROWS * COLUMNS] == 8 && g.out2_data[0] == 16);
    rdx_plan_destroy(plan);
    free(workspace);
}
END_TEST

Suite *test_api_errors_suite(void);

Suite *test_api_errors_suite(void)
{
    Suite *suite = suite_create("api_errors");
    TCase *tests = tcase_create("api_errors");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, name_no_plugin, NULL);
    tcase_add_test(tests, plan_create_refuses);
    tcase_add_test(tests, reduce_refuses);
    tcase_add_test(tests, infer_refuses);
    tcase_add_test(tests, execute_refuses);
    suite_add_tcase(suite, tests);
    return suite;
}
