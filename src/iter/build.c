/* build: tensors and axes -> an uncollapsed space. Every number that a caller can get wrong is checked here, and every
   sum of byte offsets that later code forms is proved to fit int64. */
#include "../error.h"
#include "space.h"

#include <stdlib.h>

/* Offsets stay below 2^62, so that a sum of two of them never wraps. */
static const int64_t largest_offset = INT64_MAX / 2;

typedef struct View {
    const RdxTensor *tensor;
    const char *role;
    int size;
    int64_t stride[RDX_MAX_RANK]; /* bytes */
    int64_t low, high;            /* bytes touched relative to data, byte_offset included */
} View;

static RdxStatus check_rank(const View *view)
{
    const RdxTensor *t = view->tensor;
    RDX_REQUIRE(t->ndim >= 0 && t->ndim <= RDX_MAX_RANK, RDX_ERR_RANK, "%s has rank %d; ranks are 0 to %d", view->role,
                t->ndim, RDX_MAX_RANK);
    RDX_REQUIRE(t->ndim == 0 || t->shape != NULL, RDX_ERR_NULL, "%s has rank %d but shape is NULL", view->role,
                t->ndim);
    for (int d = 0; d < t->ndim; d++)
        RDX_REQUIRE(t->shape[d] >= 0, RDX_ERR_SHAPE, "%s has extent %lld on axis %d; extents are not negative",
                    view->role, (long long)t->shape[d], d);
    return RDX_OK;
}

/* Byte strides and the interval [low, high) of bytes that the view touches. */
static RdxStatus measure(View *view)
{
    const RdxTensor *t = view->tensor;
    RDX_TRY(check_rank(view));
    int64_t count = 1;
    bool empty = false;
    for (int d = 0; d < t->ndim; d++) {
        empty = empty || t->shape[d] == 0;
        int64_t extent = rdx_max(t->shape[d], 1);
        RDX_REQUIRE(!__builtin_mul_overflow(count, extent, &count), RDX_ERR_OVERFLOW,
                    "%s has more than 2^63 - 1 elements: extent %lld on axis %d overflows", view->role,
                    (long long)t->shape[d], d);
    }
    RDX_REQUIRE(t->byte_offset <= (uint64_t)largest_offset, RDX_ERR_OVERFLOW, "%s has byte_offset %llu, past 2^62",
                view->role, (unsigned long long)t->byte_offset);
    int64_t low = (int64_t)t->byte_offset, high = low, row_major = 1;
    for (int d = t->ndim - 1; d >= 0; d--) {
        int64_t stride = t->strides ? t->strides[d] : row_major, span, bytes;
        row_major *= rdx_max(t->shape[d], 1);
        if (t->shape[d] <= 1 && t->strides)
            stride = 0; /* never walked, so any value is fine */
        bool overflow = __builtin_mul_overflow(stride, (int64_t)view->size, &bytes) ||
                        __builtin_mul_overflow(bytes, rdx_max(t->shape[d], 1) - 1, &span) || span > largest_offset ||
                        span < -largest_offset;
        if (!overflow && span >= 0)
            overflow = (high += span) > largest_offset;
        else if (!overflow)
            overflow = (low += span) < -largest_offset;
        RDX_REQUIRE(!overflow || empty, RDX_ERR_OVERFLOW,
                    "%s reaches past 2^62 bytes: extent %lld, stride %lld elements on axis %d", view->role,
                    (long long)t->shape[d], (long long)stride, d);
        view->stride[d] = overflow ? 0 : bytes;
        if (overflow)
            low = high = 0;
    }
    view->low = low;
    view->high = empty ? low : high + view->size;
    return RDX_OK;
}

static RdxStatus read_axes(const RdxProblem *problem, int rank, bool reduced[RDX_MAX_RANK], int *naxes)
{
    for (int d = 0; d < rank; d++)
        reduced[d] = problem->naxes == RDX_ALL_AXES;
    *naxes = problem->naxes == RDX_ALL_AXES ? rank : problem->naxes;
    if (problem->naxes == RDX_ALL_AXES)
        return RDX_OK;
    RDX_REQUIRE(problem->naxes >= 0, RDX_ERR_AXIS, "naxes is %d; it is 0 to %d, or RDX_ALL_AXES", problem->naxes, rank);
    RDX_REQUIRE(problem->naxes == 0 || problem->axes != NULL, RDX_ERR_NULL, "naxes is %d but axes is NULL",
                problem->naxes);
    for (int i = 0; i < problem->naxes; i++) { /* of more axes than the rank one is out of range or given twice */
        int axis = problem->axes[i];
        RDX_REQUIRE(axis >= -rank && axis < rank, RDX_ERR_AXIS, "axis %d is out of range for rank %d", axis, rank);
        axis += axis < 0 ? rank : 0;
        RDX_REQUIRE(!reduced[axis], RDX_ERR_AXIS, "axis %d is given twice (axes[%d] is %d, rank %d)", axis, i,
                    problem->axes[i], rank);
        reduced[axis] = true;
    }
    return RDX_OK;
}

/* The output's axis for each input axis, -1 where it has none. */
static RdxStatus match_output(const View *out, const RdxTensor *in, const bool *reduced, int naxes, int *axis_of)
{
    const RdxTensor *t = out->tensor;
    bool keepdims = t->ndim == in->ndim;
    RDX_REQUIRE(keepdims || t->ndim == in->ndim - naxes, RDX_ERR_RANK,
                "%s has rank %d; reducing %d of %d axes gives rank %d, or %d with kept dims", out->role, t->ndim, naxes,
                in->ndim, in->ndim - naxes, in->ndim);
    int next = 0;
    for (int d = 0; d < in->ndim; d++) {
        axis_of[d] = -1;
        if (reduced[d] && !keepdims)
            continue;
        int64_t expected = reduced[d] ? 1 : in->shape[d];
        RDX_REQUIRE(t->shape[next] == expected, RDX_ERR_SHAPE, "%s has extent %lld on axis %d; the input gives %lld",
                    out->role, (long long)t->shape[next], next, (long long)expected);
        axis_of[d] = next++;
    }
    return RDX_OK;
}

/* An output must be provably disjoint in itself: by ascending stride, each dim steps over all that the smaller ones
   span. */
static RdxStatus check_disjoint(const View *out)
{
    const RdxTensor *t = out->tensor;
    int order[RDX_MAX_RANK], rank = 0;
    for (int d = 0; d < t->ndim; d++) {
        if (t->shape[d] == 0)
            return RDX_OK;
        if (t->shape[d] == 1)
            continue;
        int j = rank++;
        for (; j > 0 && llabs(out->stride[order[j - 1]]) > llabs(out->stride[d]); j--)
            order[j] = order[j - 1];
        order[j] = d;
    }
    int64_t spanned = out->size;
    for (int i = 0; i < rank; i++) {
        int d = order[i];
        int64_t stride = llabs(out->stride[d]);
        RDX_REQUIRE(stride >= spanned, RDX_ERR_OVERLAP,
                    "%s may overlap itself: axis %d steps %lld bytes over %lld bytes that smaller axes span", out->role,
                    d, (long long)stride, (long long)spanned);
        spanned += stride * (t->shape[d] - 1);
    }
    return RDX_OK;
}

static void reverse(RdxDim *dims, int rank)
{
    for (int i = 0, j = rank - 1; i < j; i++, j--) {
        RdxDim dim = dims[i];
        dims[i] = dims[j];
        dims[j] = dim;
    }
}

/* Outermost first, as the tensors have them. */
static RdxStatus add_dims(RdxSpace *space, const View *in, const View *out, const View *out2, const bool *reduced,
                          const int *axis_of, const int *axis_of2)
{
    const RdxTensor *t = in->tensor;
    int64_t index = 1;
    for (int d = t->ndim - 1; d >= 0; d--) {
        int64_t extent = t->shape[d];
        RdxDim dim = {.extent = extent, .in = in->stride[d]};
        int64_t *count = reduced[d] ? &space->reduce_count : &space->keep_count;
        RDX_REQUIRE(!__builtin_mul_overflow(*count, extent, count), RDX_ERR_OVERFLOW,
                    "in has more than 2^63 - 1 elements: extent %lld on axis %d overflows", (long long)extent, d);
        if (reduced[d]) {
            dim.index = index;
            index *= rdx_max(extent, 1);
            space->reduce[space->reduce_rank++] = dim;
        } else {
            dim.out = out->stride[axis_of[d]];
            dim.out2 = out2 ? out2->stride[axis_of2[d]] : 0;
            space->keep[space->keep_rank++] = dim;
        }
    }
    reverse(space->keep, space->keep_rank);
    reverse(space->reduce, space->reduce_rank);
    return RDX_OK;
}

RdxStatus rdx_axes_read(const RdxProblem *problem, bool reduced[RDX_MAX_RANK])
{
    View in = {problem->in, "in", 1, {0}, 0, 0};
    int naxes;
    RDX_TRY(check_rank(&in));
    return read_axes(problem, problem->in->ndim, reduced, &naxes);
}

RdxStatus rdx_space_build(RdxSpace *space, const RdxProblem *problem, RdxType in_type, RdxType out_type,
                          RdxType out2_type)
{
    View in = {problem->in, "in", rdx_types[in_type].size, {0}, 0, 0};
    View out = {problem->out, "out", rdx_types[out_type].size, {0}, 0, 0};
    View out2 = {problem->out2, "out2", 0, {0}, 0, 0};
    bool reduced[RDX_MAX_RANK];
    int naxes, axis_of[RDX_MAX_RANK], axis_of2[RDX_MAX_RANK];
    RDX_TRY(measure(&in));
    RDX_TRY(read_axes(problem, in.tensor->ndim, reduced, &naxes));
    RDX_TRY(measure(&out));
    RDX_TRY(match_output(&out, in.tensor, reduced, naxes, axis_of));
    RDX_TRY(check_disjoint(&out));
    if (problem->out2) {
        out2.size = rdx_types[out2_type].size;
        RDX_TRY(measure(&out2));
        RDX_TRY(match_output(&out2, in.tensor, reduced, naxes, axis_of2));
        RDX_TRY(check_disjoint(&out2));
    }
    space->keep_rank = space->reduce_rank = space->copy_rank = 0;
    space->indexed = false;
    space->keep_count = space->reduce_count = space->copy_count = 1;
    space->in_offset = space->out_offset = space->out2_offset = space->index_offset = 0;
    space->in_low = in.low - (int64_t)in.tensor->byte_offset;
    space->in_high = in.high - (int64_t)in.tensor->byte_offset;
    space->out_low = out.low - (int64_t)out.tensor->byte_offset;
    space->out_high = out.high - (int64_t)out.tensor->byte_offset;
    space->out2_low = out2.tensor ? out2.low - (int64_t)out2.tensor->byte_offset : 0;
    space->out2_high = out2.tensor ? out2.high - (int64_t)out2.tensor->byte_offset : 0;
    space->in_size = in.size;
    space->out_size = out.size;
    space->out2_size = out2.size;
    return add_dims(space, &in, &out, out2.tensor ? &out2 : NULL, reduced, axis_of, axis_of2);
}
