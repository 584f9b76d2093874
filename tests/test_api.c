/* The public API as a caller meets it: what its functions answer, structs that grow, DLPack's layout, and what may be
   NULL. What it refuses: test_api_errors.c; threads, forks and floating-point modes: test_api_state.c. */
#include "given.h"
#include "task.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#if defined __has_include
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#define HAVE_DLPACK 1
#endif
#endif

START_TEST(infer_answers)
{
    static Given given;
    int64_t shape[RDX_MAX_RANK], shape2[RDX_MAX_RANK];
    int marker;
    RdxTensor out = {.data = &marker, .shape = shape}, out2 = {.data = &marker, .shape = shape2};
    give(&given);
    given.in.byte_offset = 64;
    ck_assert_int_eq(rdx_infer_outputs(&given.problem, 0, &out, &out2), RDX_OK);
    ck_assert(out.ndim == 1 && shape[0] == ROWS && out.strides == NULL && out.byte_offset == 0 && out.data == &marker);
    ck_assert(out.dtype.code == 2 && out.dtype.bits == 32 && out.dtype.lanes == 1 && out.device.type == 1);
    ck_assert(out2.ndim == 1 && shape2[0] == ROWS && out2.dtype.code == 0 && out2.dtype.bits == 64);
    ck_assert_int_eq(rdx_infer_outputs(&given.problem, 1, &out, NULL), RDX_OK);
    ck_assert(out.ndim == 2 && shape[0] == ROWS && shape[1] == 1);
    given.problem.naxes = RDX_ALL_AXES;
    ck_assert_int_eq(rdx_infer_outputs(&given.problem, 0, &out, NULL), RDX_OK);
    ck_assert_int_eq(out.ndim, 0);
    given.problem.naxes = 0;
    given.problem.axes = NULL;
    ck_assert_int_eq(rdx_infer_outputs(&given.problem, 0, &out, NULL), RDX_OK);
    ck_assert(out.ndim == 2 && shape[1] == COLUMNS);
}
END_TEST

/* Long runs of outputs that lie apart: a block of short columns, which has whole runs, would take as much as the
   input. */
START_TEST(workspace_of_long_runs)
{
    static RdxTask task;
    task_open(&task, "sum:f32:2x3x100000x4/1,3:threads=2");
    RdxPlan *plan = task_plan(&task);
    ck_assert_uint_le(rdx_plan_workspace(plan), 1 << 20);
    rdx_plan_destroy(plan);
    rdx_case_release(&task);
}
END_TEST

/* A plan that needs a workspace wants all of it. */
START_TEST(workspaces)
{
    static RdxTask task;
    task_open(&task, "sum:f32:4000000:threads=2");
    RdxPlan *plan = task_plan(&task);
    size_t bytes = rdx_plan_workspace(plan);
    const RdxProblem *p = &task.problem;
    ck_assert_uint_eq(rdx_plan_workspace(NULL), 0);
    ck_assert_int_eq(rdx_workspace_init(NULL, NULL, NULL), RDX_ERR_NULL);
    ck_assert_uint_gt(bytes, 0);
    unsigned char *workspace = aligned_alloc(64, (bytes + 127) / 64 * 64);
    float right, got;
    ck_assert_int_eq(rdx_execute(plan, p->in->data, p->out->data, NULL, workspace, bytes - 1, NULL), RDX_ERR_WORKSPACE);
    char number[32];
    snprintf(number, sizeof number, "needs %zu", bytes);
    ck_assert_msg(strstr(rdx_last_error(), number) != NULL, "%s", rdx_last_error());
    ck_assert_int_eq(rdx_execute(plan, p->in->data, p->out->data, NULL, NULL, bytes, NULL), RDX_ERR_NULL);
    ck_assert_int_eq(rdx_execute(plan, p->in->data, p->out->data, NULL, NULL, 0, NULL), RDX_ERR_WORKSPACE);
    ck_assert_int_eq(*(unsigned char *)p->out->data, 0xff); /* as rdx_case_reset left it */
    ck_assert_int_eq(rdx_workspace_init(plan, NULL, NULL), RDX_ERR_NULL);
    ck_assert_int_eq(rdx_workspace_init(plan, workspace, (RdxStream)&task), RDX_ERR_STREAM);
    ck_assert_int_eq(rdx_workspace_init(plan, workspace, NULL), RDX_OK);
    ck_assert_int_eq(rdx_execute(plan, p->in->data, p->out->data, NULL, workspace, bytes, NULL), RDX_OK);
    memcpy(&right, p->out->data, sizeof right);
    for (size_t slip = 1; slip < 64; slip += 9) { /* any alignment, any contents */
        memset(workspace, 0xff, bytes + slip < (bytes + 127) / 64 * 64 ? bytes + slip : bytes);
        if (bytes + slip > (bytes + 127) / 64 * 64)
            break;
        ck_assert_int_eq(rdx_execute(plan, p->in->data, p->out->data, NULL, workspace + slip, bytes, NULL), RDX_OK);
        memcpy(&got, p->out->data, sizeof got);
        ck_assert(memcmp(&got, &right, sizeof got) == 0);
    }
    free(workspace);
    rdx_plan_destroy(plan);
    rdx_plan_destroy(NULL);
    rdx_case_release(&task);
}
END_TEST

START_TEST(explain)
{
    static RdxTask task;
    task_open(&task, "var:f32:64x1024x40/1");
    RdxPlan *plan = task_plan(&task);
    static char whole[16384], part[16384];
    size_t needed = 0;
    ck_assert_int_eq(rdx_plan_explain(NULL, RDX_TEXT, whole, sizeof whole, &needed), RDX_ERR_NULL);
    ck_assert_int_eq(rdx_plan_explain(plan, 3, whole, sizeof whole, &needed), RDX_ERR_OPTION);
    ck_assert_int_eq(rdx_plan_explain(plan, -1, whole, sizeof whole, &needed), RDX_ERR_OPTION);
    ck_assert_int_eq(rdx_plan_explain(plan, RDX_TEXT, NULL, 10, &needed), RDX_ERR_NULL);
    ck_assert_uint_eq(needed, 0);
    for (int format = RDX_TEXT; format <= RDX_JSON; format++) {
        ck_assert_int_eq(rdx_plan_explain(plan, format, NULL, 0, &needed), RDX_OK);
        ck_assert_uint_gt(needed, 20);
        ck_assert_uint_lt(needed, sizeof whole);
        ck_assert_int_eq(rdx_plan_explain(plan, format, whole, sizeof whole, NULL), RDX_OK);
        ck_assert_uint_eq(strlen(whole) + 1, needed);
        for (size_t size = 1; size <= needed; size += 1 + size / 3) { /* never a byte past the buffer */
            memset(part, 'z', sizeof part);
            ck_assert_int_eq(rdx_plan_explain(plan, format, part, size, &needed), RDX_OK);
            ck_assert(strlen(part) == size - 1 && memcmp(part, whole, size - 1) == 0 && part[size] == 'z');
        }
        ck_assert_ptr_nonnull(strstr(whole, "gather"));
    }
    rdx_plan_destroy(plan);
    rdx_case_release(&task);
}
END_TEST

/* ---- What is small ---- */

START_TEST(names_and_versions)
{
#define X(NAME, number)                                                                                                \
    ck_assert_str_eq(rdx_status_name(RDX_##NAME), "RDX_" #NAME);                                                       \
    ck_assert_int_eq(RDX_##NAME, number);
#include "status.def"
#undef X
    ck_assert_ptr_nonnull(rdx_status_name((RdxStatus)12345));
    ck_assert_int_eq(rdx_tree_version(), RDX_TREE_VERSION);
    ck_assert_int_ge(rdx_version(), 0);
}
END_TEST

static void *first_sentence(void *unused)
{
    (void)unused;
    static char seen[16];
    snprintf(seen, sizeof seen, "%s", rdx_last_error());
    return seen;
}

START_TEST(sentences_are_per_thread)
{
    pthread_t thread;
    void *seen;
    ck_assert_int_eq(rdx_reduce(NULL, NULL), RDX_ERR_NULL);
    ck_assert(rdx_last_error()[0] != '\0');
    ck_assert_int_eq(pthread_create(&thread, NULL, first_sentence, NULL), 0);
    pthread_join(thread, &seen);
    ck_assert_str_eq(seen, "");
    static Given given;
    give(&given);
    ck_assert_int_eq(rdx_reduce(&given.problem, NULL), RDX_OK);
    ck_assert(rdx_last_error()[0] != '\0'); /* until the next failing call */
}
END_TEST

/* A caller compiled against a later header, whose struct has grown. */
START_TEST(grown_structs)
{
    static Given given;
    _Alignas(RdxProblem) static unsigned char grown[sizeof(RdxProblem) + 32];
    give(&given);
    given.problem.size = sizeof grown;
    memcpy(grown, &given.problem, sizeof given.problem);
    ck_assert_msg(rdx_reduce((const RdxProblem *)(void *)grown, NULL) == RDX_OK, "%s", rdx_last_error());
    ck_assert(given.out_data[0] == 8);
    grown[sizeof grown - 1] = 1; /* a member that this library does not know, and that matters */
    ck_assert_int_eq(rdx_reduce((const RdxProblem *)(void *)grown, NULL), RDX_ERR_STRUCT_SIZE);
}
END_TEST

START_TEST(nothing_to_do)
{
    static Given given;
    RdxPlan *plan = NULL;
    give(&given);
    given.in_shape[0] = given.out_shape[0] = 0; /* no output element: nothing is read, NULL is fine, even for max */
    given.in.data = given.out.data = NULL;
    ck_assert_int_eq(rdx_plan_create(&plan, &given.problem), RDX_OK);
    _Alignas(64) static unsigned char workspace[1 << 20];
    ck_assert_uint_le(rdx_plan_workspace(plan), sizeof workspace);
    ck_assert_int_eq(rdx_execute(plan, NULL, NULL, NULL, workspace, sizeof workspace, NULL), RDX_OK);
    rdx_plan_destroy(plan);
    ck_assert_int_eq(rdx_reduce(&given.problem, NULL), RDX_OK);
    give(&given);
    given.in_shape[1] = 0; /* outputs of nothing: in may be NULL */
    given.in.data = NULL;
    given.problem.op = RDX_SUM;
    ck_assert_int_eq(rdx_reduce(&given.problem, NULL), RDX_OK);
    ck_assert(given.out_data[0] == 0 && given.out_data[ROWS - 1] == 0 && given.out_data[ROWS] == -12345);
}
END_TEST

/* A plan made without data, for an alignment that is promised; and one that owns copies of all it was given. */
START_TEST(plans_stand_alone)
{
    static Given given;
    RdxPlan *plan = NULL;
    give(&given);
    given.in.data = given.out.data = NULL;
    given.problem.align = 4;
    ck_assert_int_eq(rdx_plan_create(&plan, &given.problem), RDX_OK);
    memset(&given.problem, 0xee, sizeof given.problem);
    memset(&given.in, 0xee, sizeof given.in);
    memset(&given.out, 0xee, sizeof given.out);
    memset(given.in_shape, 0xee, sizeof given.in_shape);
    memset(given.in_strides, 0xee, sizeof given.in_strides);
    memset(given.out_shape, 0xee, sizeof given.out_shape);
    memset(given.out_strides, 0xee, sizeof given.out_strides);
    memset(given.axes, 0xee, sizeof given.axes);
    size_t bytes = rdx_plan_workspace(plan);
    void *workspace = bytes ? malloc(bytes) : NULL;
    ck_assert_int_eq(rdx_execute(plan, given.in_data + 1, given.out_data, NULL, workspace, bytes, NULL), RDX_OK);
    free(workspace);
    ck_assert(given.out_data[0] == 8 && given.out_data[ROWS] == -12345);
    rdx_plan_destroy(plan);
}
END_TEST

/* An output whose place is not known yet may begin anywhere. */
START_TEST(place_to_come)
{
    static Given given;
    static int64_t index[2 * ROWS];
    RdxPlan *plan = NULL;
    give(&given);
    given.out2.dtype = (RdxDtype)RDX_DTYPE(RDX_I64);
    given.out2.data = NULL;
    given.out2.byte_offset = 4;
    given.problem.out2 = &given.out2;
    ck_assert_int_eq(rdx_plan_create(&plan, &given.problem), RDX_OK);
    size_t bytes = rdx_plan_workspace(plan);
    void *workspace = bytes ? malloc(bytes) : NULL;
    ck_assert_int_eq(rdx_execute(plan, given.in_data, given.out_data, (char *)index + 4, workspace, bytes, NULL),
                     RDX_OK);
    ck_assert_int_eq(rdx_execute(plan, given.in_data, given.out_data, index, workspace, bytes, NULL), RDX_ERR_ALIGN);
    free(workspace);
    rdx_plan_destroy(plan);
}
END_TEST

/* Rows backwards: what a plan needs is where their lowest element lies, whether data was there when it was made or
   not. */
START_TEST(backwards)
{
    static Given given;
    for (int has_data = 0; has_data < 2; has_data++) {
        RdxPlan *plan = NULL;
        give(&given);
        given.in_strides[1] = -1;
        given.in.byte_offset = (COLUMNS - 1) * sizeof(float);
        if (!has_data)
            given.in.data = given.out.data = NULL;
        ck_assert_int_eq(rdx_plan_create(&plan, &given.problem), RDX_OK);
        ck_assert_int_eq(rdx_plan_workspace(plan), 0);
        ck_assert_int_eq(rdx_execute(plan, given.in_data, given.out_data, NULL, NULL, 0, NULL), RDX_OK);
        ck_assert(given.out_data[0] == 8 && given.out_data[ROWS - 1] == 8 && given.out_data[ROWS] == -12345);
        ck_assert_int_eq(rdx_execute(plan, given.in_data + 1, given.out_data, NULL, NULL, 0, NULL), RDX_ERR_ALIGN);
        ck_assert_msg(
            strstr(rdx_last_error(), "in's lowest element begins at an address of 4 modulo 16; the plan needs 16"),
            "%s", rdx_last_error());
        rdx_plan_destroy(plan);
    }
}
END_TEST

#if HAVE_DLPACK
#define SAME_MEMBER(ours, theirs)                                                                                      \
    _Static_assert(offsetof(RdxTensor, ours) == offsetof(DLTensor, theirs), #ours " lies elsewhere");                  \
    _Static_assert(sizeof(((RdxTensor *)0)->ours) == sizeof(((DLTensor *)0)->theirs), #ours " has another size")
_Static_assert(sizeof(RdxTensor) == sizeof(DLTensor), "RdxTensor is no DLTensor");
SAME_MEMBER(data, data);
SAME_MEMBER(ndim, ndim);
SAME_MEMBER(dtype, dtype);
SAME_MEMBER(shape, shape);
SAME_MEMBER(strides, strides);
SAME_MEMBER(byte_offset, byte_offset);
_Static_assert(offsetof(RdxDtype, code) == offsetof(DLDataType, code) &&
                   offsetof(RdxDtype, bits) == offsetof(DLDataType, bits) &&
                   offsetof(RdxDtype, lanes) == offsetof(DLDataType, lanes) && sizeof(RdxDtype) == sizeof(DLDataType),
               "RdxDtype is no DLDataType");
_Static_assert(RDX_I8 == (kDLInt << 8 | 8) && RDX_U64 == (kDLUInt << 8 | 64) && RDX_F16 == (kDLFloat << 8 | 16) &&
                   RDX_BF16 == (kDLBfloat << 8 | 16) && RDX_C64 == (kDLComplex << 8 | 64),
               "dtype codes differ from DLPack's");

START_TEST(dlpack)
{
    static Given g;
    give(&g);
    DLTensor in = {g.in_data, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, g.in_shape, NULL, 0};
    DLTensor out = {g.out_data, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, g.out_shape, NULL, 0};
    g.problem.in = (const RdxTensor *)&in;
    g.problem.out = (const RdxTensor *)&out;
    ck_assert_int_eq(rdx_reduce(&g.problem, NULL), RDX_OK);
    ck_assert(g.out_data[0] == 8);
    ck_assert_uint_eq(sizeof(RdxTensor), 48);
}
END_TEST
#else
START_TEST(dlpack) /* without dlpack.h: the published layout, spelled out */
{
    ck_assert_uint_eq(sizeof(RdxTensor), 48);
    ck_assert(offsetof(RdxTensor, device) == 8 && offsetof(RdxTensor, ndim) == 16 && offsetof(RdxTensor, dtype) == 20 &&
              offsetof(RdxTensor, shape) == 24 && offsetof(RdxTensor, strides) == 32 &&
              offsetof(RdxTensor, byte_offset) == 40);
}
END_TEST
#endif

Suite *test_api_suite(void);

Suite *test_api_suite(void)
{
    Suite *suite = suite_create("api");
    TCase *tests = tcase_create("api");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, infer_answers);
    tcase_add_test(tests, workspaces);
    tcase_add_test(tests, workspace_of_long_runs);
    tcase_add_test(tests, explain);
    tcase_add_test(tests, names_and_versions);
    tcase_add_test(tests, sentences_are_per_thread);
    tcase_add_test(tests, grown_structs);
    tcase_add_test(tests, nothing_to_do);
    tcase_add_test(tests, plans_stand_alone);
    tcase_add_test(tests, place_to_come);
    tcase_add_test(tests, backwards);
    tcase_add_test(tests, dlpack);
    suite_add_tcase(suite, tests);
    return suite;
}
