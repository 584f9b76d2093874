/* iter: build and collapse. What a walk over the collapsed space touches is compared with nested loops over the tensors
   as the caller gave them, over thousands of random views; the invariants of space.h are checked on each; and every way
   in which shapes, strides and axes can be wrong has its status and its numbers in the sentence. */
#include "fuzz.h"
#include "iter/walk.h"
#include "op.h"
#include "task.h"

typedef struct Touch {
    int64_t out, out2, in, index;
} Touch;

static Touch *walked, *wanted;
static int64_t walked_count, wanted_count;
enum { MOST_TOUCHES = 200000 };

static int by_address(const void *left, const void *right)
{
    return memcmp(left, right, sizeof(Touch));
}

static RdxType type_of(const RdxTensor *tensor)
{
    RdxType type = RDX_TYPE_COUNT;
    ck_assert(tensor == NULL || rdx_type_find(&type, tensor->dtype, "tensor") == RDX_OK);
    return type;
}

static RdxStatus build(RdxSpace *space, const RdxProblem *problem, bool indexed)
{
    memset(space, 0x5a, sizeof *space);
    RdxStatus status =
        rdx_space_build(space, problem, type_of(problem->in), type_of(problem->out), type_of(problem->out2));
    space->indexed = indexed;
    return status;
}

/* Nested loops on the original tensors. */
static void want(const RdxTask *task, const bool *reduced, int axis, Touch touch, const int *out_axis)
{
    const RdxProblem *p = &task->problem;
    if (axis == p->in->ndim) {
        DEMAND(wanted_count < MOST_TOUCHES, "too many elements");
        wanted[wanted_count++] = touch;
        return;
    }
    int64_t in_size = rdx_data_type(task->c.dtype)->size;
    for (int64_t i = 0; i < p->in->shape[axis]; i++) {
        Touch next = touch;
        next.in += i * task->strides[RDX_CASE_IN][axis] * in_size;
        if (reduced[axis]) {
            next.index = touch.index * p->in->shape[axis] + i;
        } else {
            next.out +=
                i * task->strides[RDX_CASE_OUT][out_axis[axis]] * rdx_data_type(rdx_data_number(p->out->dtype))->size;
            if (p->out2)
                next.out2 += i * task->strides[RDX_CASE_OUT2][out_axis[axis]] *
                             rdx_data_type(rdx_data_number(p->out2->dtype))->size;
        }
        want(task, reduced, axis + 1, next, out_axis);
    }
}

static void want_all(const RdxTask *task)
{
    const RdxProblem *p = &task->problem;
    bool reduced[RDX_MAX_RANK];
    int out_axis[RDX_MAX_RANK];
    for (int d = 0; d < p->in->ndim; d++)
        reduced[d] = p->naxes == RDX_ALL_AXES;
    for (int i = 0; i < p->naxes; i++)
        reduced[p->axes[i] + (p->axes[i] < 0 ? p->in->ndim : 0)] = true;
    for (int d = 0, next = 0; d < p->in->ndim; d++) {
        out_axis[d] = next;
        next += task->c.keep || !reduced[d];
    }
    wanted_count = 0;
    want(task, reduced, 0, (Touch){0, 0, 0, 0}, out_axis);
}

/* The collapsed space, walked with iter/walk.h; e must ascend in address order within canonical order. */
static void walk_all(const RdxSpace *space)
{
    RdxWalk keep, reduce, copy;
    walked_count = 0;
    for (int64_t k = 0; k < space->keep_count; k++)
        for (int64_t c = 0; c < space->copy_count; c++) {
            rdx_walk_seek(&keep, space->keep, space->keep_rank, k);
            rdx_walk_seek(&copy, space->copy, space->copy_rank, c);
            rdx_walk_seek(&reduce, space->reduce, space->reduce_rank, 0);
            for (int64_t e = 0; e < space->reduce_count; e++) {
                DEMAND(walked_count < MOST_TOUCHES, "too many elements");
                walked[walked_count++] =
                    (Touch){space->out_offset + keep.out + copy.out,
                            space->out2_size ? space->out2_offset + keep.out2 + copy.out2 : 0,
                            space->in_offset + keep.in + reduce.in, space->index_offset + reduce.index};
                rdx_walk_advance(&reduce, 1);
            }
        }
}

static bool can_fuse(const RdxSpace *space, const RdxDim *a, const RdxDim *b, bool reduced)
{
    bool fuses = a->in == b->extent * b->in;
    if (reduced)
        return fuses && (!space->indexed || a->index == b->extent * b->index);
    return fuses && a->out == b->extent * b->out && a->out2 == b->extent * b->out2;
}

static void check_invariants(const RdxSpace *space, const char *line)
{
    int64_t count = 1;
    for (int i = 0; i < space->reduce_rank; i++) {
        const RdxDim *dim = &space->reduce[i];
        count *= dim->extent;
        DEMAND(dim->extent > 1 && dim->in >= 0, "%s: reduced extent %lld step %lld", line, (long long)dim->extent,
               (long long)dim->in);
        if (i > 0) {
            bool tie = space->indexed ? llabs(dim[-1].index) > llabs(dim->index) : dim[-1].extent >= dim->extent;
            DEMAND(dim[-1].in > dim->in || (dim[-1].in == dim->in && tie), "%s: reduced dims out of order", line);
            DEMAND(!can_fuse(space, dim - 1, dim, true), "%s: reduced dims %d and %d fuse", line, i - 1, i);
        }
    }
    DEMAND(space->reduce_count == 0 || space->keep_count == 0 || count == space->reduce_count, "%s: reduce_count",
           line);
    count = 1;
    for (int i = 0; i < space->keep_rank; i++) {
        const RdxDim *dim = &space->keep[i];
        count *= dim->extent;
        DEMAND(dim->extent > 1 && dim->in > 0, "%s: kept extent %lld step %lld", line, (long long)dim->extent,
               (long long)dim->in);
        if (i > 0) {
            DEMAND(dim[-1].in >= dim->in, "%s: kept dims out of order", line);
            DEMAND(!can_fuse(space, dim - 1, dim, false), "%s: kept dims %d and %d fuse", line, i - 1, i);
        }
    }
    DEMAND(space->keep_count == 0 || count == space->keep_count, "%s: keep_count", line);
    count = 1;
    for (int i = 0; i < space->copy_rank; i++) {
        DEMAND(space->copy[i].in == 0 && space->copy[i].extent > 1, "%s: copy dim %d moves", line, i);
        count *= space->copy[i].extent;
    }
    DEMAND(count == space->copy_count, "%s: copy_count", line);
}

static bool same_dims(const RdxDim *a, const RdxDim *b, int rank)
{
    for (int i = 0; i < rank; i++)
        if (a[i].extent != b[i].extent || a[i].in != b[i].in || a[i].out != b[i].out || a[i].out2 != b[i].out2 ||
            a[i].index != b[i].index)
            return false;
    return true;
}

static void check_idempotent(const RdxSpace *space, const char *line)
{
    static RdxSpace again;
    again = *space;
    rdx_space_collapse(&again);
    bool same = again.keep_rank == space->keep_rank && again.reduce_rank == space->reduce_rank &&
                again.copy_rank == space->copy_rank && again.in_offset == space->in_offset &&
                again.out_offset == space->out_offset && again.index_offset == space->index_offset &&
                again.keep_count == space->keep_count && again.copy_count == space->copy_count &&
                same_dims(again.keep, space->keep, space->keep_rank) &&
                same_dims(again.reduce, space->reduce, space->reduce_rank) &&
                same_dims(again.copy, space->copy, space->copy_rank);
    DEMAND(same, "%s: collapsing twice differs from once", line);
}

START_TEST(views)
{
    static RdxTask task;
    static RdxSpace space;
    char line[RDX_CASE_TEXT];
    walked = malloc(MOST_TOUCHES * sizeof *walked);
    wanted = malloc(MOST_TOUCHES * sizeof *wanted);
    ck_assert(walked && wanted);
    for (int64_t i = 0; i < 3000; i++) {
        RdxCase c;
        rdx_fuzz_make(&c, 77, i);
        rdx_case_print(&c, line, sizeof line);
        DEMAND(rdx_case_problem(&c, &task) == RDX_OK, "%s: %s", line, rdx_last_error());
        bool indexed = i % 2;
        DEMAND(build(&space, &task.problem, indexed) == RDX_OK, "%s: %s", line, rdx_last_error());
        rdx_space_collapse(&space);
        check_invariants(&space, line);
        check_idempotent(&space, line);
        if (task.extent[RDX_CASE_IN].elements > 3000)
            continue;
        want_all(&task);
        walk_all(&space);
        for (int64_t k = 0; !indexed && k < wanted_count; k++)
            wanted[k].index = 0;
        for (int64_t k = 0; !indexed && k < walked_count; k++)
            walked[k].index = 0;
        DEMAND(walked_count == wanted_count, "%s: %lld elements, not %lld", line, (long long)walked_count,
               (long long)wanted_count);
        qsort(walked, (size_t)walked_count, sizeof *walked, by_address);
        qsort(wanted, (size_t)wanted_count, sizeof *wanted, by_address);
        DEMAND(memcmp(walked, wanted, (size_t)walked_count * sizeof *walked) == 0, "%s: other elements", line);
        if (walked_count > 0) { /* bounds are exact: byte_offset is not part of a walk's offsets */
            int64_t low = INT64_MAX, high = INT64_MIN;
            for (int64_t k = 0; k < walked_count; k++) {
                low = walked[k].in < low ? walked[k].in : low;
                high = walked[k].in > high ? walked[k].in : high;
            }
            DEMAND(low == space.in_low && high + space.in_size == space.in_high, "%s: touches [%lld, %lld)", line,
                   (long long)space.in_low, (long long)space.in_high);
        }
    }
    free(walked);
    free(wanted);
}
END_TEST

/* Known collapses, spelled out. */
START_TEST(examples)
{
    static const struct {
        const char *text;
        bool indexed;
        int keep_rank, reduce_rank, copy_rank;
        int64_t keep[2], reduce[2]; /* extent and step of the outermost, where there is one */
    } rows[] = {
        {"sum:f32:4x5x6", false, 0, 1, 0, {0, 0}, {120, 4}},
        {"sum:f32:4x5x6/-", false, 1, 0, 0, {120, 4}, {0, 0}},
        {"sum:f32:4x5x6/1", false, 2, 1, 0, {4, 120}, {5, 24}},
        {"sum:f32:4x5x6/0,1", false, 1, 1, 0, {6, 4}, {20, 24}},
        {"sum:f32:4x5x6@1x4x20", false, 0, 1, 0, {0, 0}, {120, 4}},
        {"argmax:f32:4x5x6@1x4x20", true, 0, 3, 0, {0, 0}, {6, 80}},
        {"argmax:f32:4x5x6", true, 0, 1, 0, {0, 0}, {120, 4}},
        {"argmax:f32:34x31x10x33@34x0x0x0", true, 0, 2, 0, {0, 0}, {34, 136}},
        {"argmax:f32:2x4x8@16x16x2", true, 0, 2, 0, {0, 0}, {2, 64}},
        {"sum:f32:7@-1+6", false, 0, 1, 0, {0, 0}, {7, 4}},
        {"argmax:f32:7@-1+6", true, 0, 1, 0, {0, 0}, {7, 4}},
        {"sum:f32:3x8@0x1/1", false, 0, 1, 1, {0, 0}, {8, 4}},
        {"sum:f32:3x8@0x1/0", false, 1, 1, 0, {8, 4}, {3, 0}},
        {"sum:f32:1x1x1", false, 0, 0, 0, {0, 0}, {0, 0}},
        {"sum:f32:-", false, 0, 0, 0, {0, 0}, {0, 0}},
        {"sum:f32:0x3/0", false, 0, 0, 1, {0, 0}, {0, 0}},
        {"sum:f32:0x3/1", false, 0, 0, 0, {0, 0}, {0, 0}},
    };
    static RdxTask task;
    static RdxSpace space;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        RdxCase c;
        char error[512];
        ck_assert_msg(rdx_case_parse(&c, rows[i].text, error, sizeof error), "%s", error);
        ck_assert_int_eq(rdx_case_problem(&c, &task), RDX_OK);
        ck_assert_int_eq(build(&space, &task.problem, rows[i].indexed), RDX_OK);
        rdx_space_collapse(&space);
        char printed[512];
        ck_assert_uint_lt(rdx_space_print(&space, printed, sizeof printed), sizeof printed);
        ck_assert_msg(space.keep_rank == rows[i].keep_rank && space.reduce_rank == rows[i].reduce_rank &&
                          space.copy_rank == rows[i].copy_rank,
                      "%s: collapsed to %s", rows[i].text, printed);
        if (space.keep_rank)
            ck_assert_msg(space.keep[0].extent == rows[i].keep[0] && space.keep[0].in == rows[i].keep[1], "%s: %s",
                          rows[i].text, printed);
        if (space.reduce_rank)
            ck_assert_msg(space.reduce[0].extent == rows[i].reduce[0] && space.reduce[0].in == rows[i].reduce[1],
                          "%s: %s", rows[i].text, printed);
    }
}
END_TEST

/* A tensor that each error changes in one place. */
typedef struct Given {
    int64_t in_shape[3], in_strides[3], out_shape[3], out_strides[3];
    int32_t axes[3];
    RdxTensor in, out;
    RdxProblem problem;
} Given;

static void give(Given *given)
{
    static const RdxProblem defaults = RDX_PROBLEM_INIT;
    memset(given, 0, sizeof *given);
    memcpy(given->in_shape, (int64_t[3]){4, 5, 6}, sizeof given->in_shape);
    memcpy(given->in_strides, (int64_t[3]){30, 6, 1}, sizeof given->in_strides);
    memcpy(given->out_shape, (int64_t[3]){4, 6, 1}, sizeof given->out_shape);
    memcpy(given->out_strides, (int64_t[3]){6, 1, 1}, sizeof given->out_strides);
    given->axes[0] = 1;
    given->in = (RdxTensor){NULL, {1, 0}, 3, {2, 32, 1}, given->in_shape, given->in_strides, 0};
    given->out = (RdxTensor){NULL, {1, 0}, 2, {2, 32, 1}, given->out_shape, given->out_strides, 0};
    given->problem = defaults;
    given->problem.op = RDX_SUM;
    given->problem.axes = given->axes;
    given->problem.naxes = 1;
    given->problem.in = &given->in;
    given->problem.out = &given->out;
}

static void check_refused(const Given *given, RdxStatus status, const char *const words[], int count)
{
    static RdxSpace space;
    RdxStatus got = build(&space, &given->problem, false);
    ck_assert_msg(got == status, "%s, not %s: %s", rdx_status_name(got), rdx_status_name(status), rdx_last_error());
    for (int i = 0; i < count; i++)
        ck_assert_msg(strstr(rdx_last_error(), words[i]) != NULL, "\"%s\" does not say \"%s\"", rdx_last_error(),
                      words[i]);
}

#define REFUSED(given, status, ...)                                                                                    \
    check_refused(given, status, (const char *const[]){__VA_ARGS__},                                                   \
                  (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)))

START_TEST(errors)
{
    Given given;
    static RdxSpace space;
    give(&given);
    ck_assert_int_eq(build(&space, &given.problem, false), RDX_OK);
    give(&given), given.axes[0] = 3;
    REFUSED(&given, RDX_ERR_AXIS, "axis 3", "rank 3");
    give(&given), given.axes[0] = -4;
    REFUSED(&given, RDX_ERR_AXIS, "axis -4", "rank 3");
    give(&given), given.problem.naxes = 2, given.axes[1] = -2;
    REFUSED(&given, RDX_ERR_AXIS, "axis 1", "twice");
    give(&given), given.problem.naxes = 4;
    REFUSED(&given, RDX_ERR_AXIS, "twice", "rank 3");
    give(&given), given.problem.naxes = -2;
    REFUSED(&given, RDX_ERR_AXIS, "naxes is -2");
    give(&given), given.problem.axes = NULL;
    REFUSED(&given, RDX_ERR_NULL, "axes is NULL");
    give(&given), given.in.shape = NULL;
    REFUSED(&given, RDX_ERR_NULL, "in has rank 3", "NULL");
    give(&given), given.out.shape = NULL;
    REFUSED(&given, RDX_ERR_NULL, "out has rank 2", "NULL");
    give(&given), given.in.ndim = 65;
    REFUSED(&given, RDX_ERR_RANK, "rank 65", "64");
    give(&given), given.in.ndim = -1;
    REFUSED(&given, RDX_ERR_RANK, "rank -1");
    give(&given), given.in_shape[2] = -3;
    REFUSED(&given, RDX_ERR_SHAPE, "extent -3", "axis 2");
    give(&given), given.out_shape[1] = 7;
    REFUSED(&given, RDX_ERR_SHAPE, "extent 7", "axis 1", "6");
    give(&given), given.out.ndim = 1;
    REFUSED(&given, RDX_ERR_RANK, "out has rank 1", "rank 2");
    give(&given), given.in_shape[0] = given.in_shape[1] = (int64_t)1 << 32;
    REFUSED(&given, RDX_ERR_OVERFLOW, "4294967296", "axis");
    give(&given), given.in_strides[0] = (int64_t)1 << 61;
    REFUSED(&given, RDX_ERR_OVERFLOW, "stride 2305843009213693952", "axis 0");
    give(&given), given.in_strides[1] = INT64_MIN;
    REFUSED(&given, RDX_ERR_OVERFLOW, "axis 1");
    give(&given), given.in.byte_offset = UINT64_MAX;
    REFUSED(&given, RDX_ERR_OVERFLOW, "18446744073709551615");
    give(&given), given.out_strides[0] = 0;
    REFUSED(&given, RDX_ERR_OVERLAP, "out", "axis 0");
    give(&given), given.out_strides[0] = 5;
    REFUSED(&given, RDX_ERR_OVERLAP, "20 bytes", "24 bytes");
    give(&given), given.out_strides[1] = -1, given.out_strides[0] = -5;
    REFUSED(&given, RDX_ERR_OVERLAP, "out");
    give(&given), given.problem.out2 = &given.out, given.problem.op = RDX_MINMAX;
    ck_assert_int_eq(build(&space, &given.problem, false), RDX_OK);
}
END_TEST

/* What is never walked may have any stride, and an empty tensor any reach. */
START_TEST(harmless)
{
    Given given;
    static RdxSpace space;
    give(&given), given.in_shape[0] = given.out_shape[0] = 1, given.in_strides[0] = INT64_MAX, given.out_strides[0] = 0;
    ck_assert_msg(build(&space, &given.problem, false) == RDX_OK, "%s", rdx_last_error());
    give(&given), given.in_shape[1] = 0, given.in_strides[0] = INT64_MAX / 2;
    ck_assert_msg(build(&space, &given.problem, false) == RDX_OK, "%s", rdx_last_error());
    rdx_space_collapse(&space);
    ck_assert_int_eq(space.reduce_count, 0);
    ck_assert_int_eq(space.keep_count * space.copy_count, 24);
    give(&given), given.in_shape[0] = given.out_shape[0] = 0;
    ck_assert_msg(build(&space, &given.problem, false) == RDX_OK, "%s", rdx_last_error());
    rdx_space_collapse(&space);
    ck_assert_int_eq(space.keep_count * space.copy_count, 0);
    give(&given), given.in_strides[1] = 0, given.in_shape[1] = (int64_t)1 << 40;
    ck_assert_msg(build(&space, &given.problem, false) == RDX_OK, "%s", rdx_last_error());
    rdx_space_collapse(&space);
    ck_assert_int_eq(space.reduce_count, (int64_t)1 << 40);
}
END_TEST

Suite *test_space_suite(void);

Suite *test_space_suite(void)
{
    Suite *suite = suite_create("space");
    TCase *tests = tcase_create("space");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, views);
    tcase_add_test(tests, examples);
    tcase_add_test(tests, errors);
    tcase_add_test(tests, harmless);
    suite_add_tcase(suite, tests);
    return suite;
}
