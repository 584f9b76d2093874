/* Statistics along axes; see stats.h. One reduction of the whole tensor for each, into arrays of the output's shape. */
#include "stats.h"

#include "data.h"

#include <stdlib.h>
#include <string.h>

static int64_t count_of(const RdxTensor *tensor)
{
    int64_t count = 1;
    for (int d = 0; d < tensor->ndim; d++)
        count *= tensor->shape[d];
    return count;
}

static RdxStatus prepare(RdxAxisStats *stats, const RdxProblem *problem, int which, int dtype)
{
    RdxTensor *tensor = &stats->tensor[which];
    RdxStatus status = rdx_infer_outputs(problem, 0, tensor, NULL);
    if (status != RDX_OK)
        return status;
    tensor->dtype = rdx_data_dtype(dtype);
    tensor->data = calloc((size_t)count_of(tensor) + 1, (size_t)rdx_data_type(dtype)->size);
    return tensor->data ? RDX_OK : RDX_ERR_MEMORY;
}

/* Goes over the elements of `in` in logical order with the position of each one's output. */
static void count_inf(const RdxTensor *in, const bool *reduced, int64_t *counts)
{
    int64_t at[RDX_MAX_RANK] = {0}, step[RDX_MAX_RANK] = {0}, out = 0, place = 0, width = 1;
    int dtype = rdx_data_number(in->dtype), size = rdx_data_type(dtype)->size;
    for (int d = in->ndim - 1; d >= 0; d--) {
        step[d] = reduced[d] ? 0 : width;
        width *= reduced[d] ? 1 : in->shape[d];
    }
    for (;;) {
        counts[out] += rdx_stats_count_inf(dtype, (const unsigned char *)in->data + place * size, 1);
        int d = in->ndim - 1;
        for (; d >= 0; d--) {
            place += in->strides[d];
            out += step[d];
            if (++at[d] < in->shape[d])
                break;
            place -= in->strides[d] * in->shape[d];
            out -= step[d] * in->shape[d];
            at[d] = 0;
        }
        if (d < 0)
            return;
    }
}

static void mark(bool *reduced, const RdxTensor *in, const int32_t *axes, int32_t naxes)
{
    for (int d = 0; d < in->ndim; d++)
        reduced[d] = naxes == RDX_ALL_AXES;
    for (int i = 0; i < naxes; i++)
        reduced[axes[i] < 0 ? axes[i] + in->ndim : axes[i]] = true;
}

typedef struct Pass {
    int op, nan, which, dtype;
} Pass;

/* Makes room for the result of each pass and reduces: here, or on the device all of them together. */
static RdxStatus reduce(RdxAxisStats *stats, RdxProblem *problem, const Pass *pass, int passes, RdxGpu *gpu)
{
    RdxSweepPass swept[RDX_STATS_COUNT];
    RdxStatus status = RDX_OK;
    for (int i = 0; i < passes && status == RDX_OK; i++) {
        problem->op = pass[i].op;
        problem->nan = pass[i].nan;
        status = prepare(stats, problem, pass[i].which, pass[i].dtype);
        problem->out = &stats->tensor[pass[i].which];
        swept[i] = (RdxSweepPass){.op = problem->op, .nan = problem->nan, .p = problem->p, .out = problem->out};
        if (status == RDX_OK && !gpu)
            status = rdx_reduce(problem, NULL);
    }
    RdxSweep sweep = {problem->in, problem->axes, problem->naxes, swept, passes, NULL};
    return status == RDX_OK && gpu ? rdx_gpu_sweep(gpu, &sweep) : status;
}

static bool has_infinite(const RdxTensor *tensor)
{
    return tensor->data && rdx_stats_count_inf(rdx_data_number(tensor->dtype), tensor->data, count_of(tensor)) > 0;
}

RdxStatus rdx_stats_axes(RdxAxisStats *stats, const RdxTensor *in, const int32_t *axes, int32_t naxes, RdxGpu *gpu,
                         RdxProgress *progress)
{
    RdxProblem problem = RDX_PROBLEM_INIT;
    bool reduced[RDX_MAX_RANK];
    int dtype = rdx_data_number(in->dtype);
    const RdxDataType *type = rdx_data_type(dtype);
    int nan = type->kind >= RDX_DATA_FLOAT ? RDX_NAN_OMIT : RDX_NAN_PROPAGATE;
    bool is_complex = type->kind == RDX_DATA_COMPLEX;
    memset(stats, 0, sizeof *stats);
    for (int which = 0; which < RDX_STATS_COUNT; which++)
        stats->tensor[which].shape = stats->shape;
    problem.op = RDX_COUNT_NONZERO;
    problem.in = in;
    problem.axes = axes;
    problem.naxes = naxes;
    RdxStatus status = prepare(stats, &problem, RDX_STATS_INF, RDX_I64); /* and the axes are looked at */
    if (status != RDX_OK)
        return status;
    mark(reduced, in, axes, naxes);
    int64_t outputs = count_of(&stats->tensor[RDX_STATS_INF]), each = 1;
    for (int d = 0; d < in->ndim; d++)
        each *= reduced[d] ? in->shape[d] : 1;
    const Pass passes[] = {{RDX_MIN, nan, RDX_STATS_MIN, dtype},
                           {RDX_MAX, nan, RDX_STATS_MAX, dtype},
                           {RDX_MEAN, nan, RDX_STATS_MEAN, is_complex ? RDX_C128 : RDX_F64},
                           {RDX_STD, nan, RDX_STATS_STD, RDX_F64},
                           {RDX_NORM, nan, RDX_STATS_NORM, RDX_F64},
                           {RDX_COUNT_NONZERO, RDX_NAN_PROPAGATE, RDX_STATS_ZERO, RDX_I64},
                           {RDX_COUNT_NONZERO, nan, RDX_STATS_NAN, RDX_I64}};
    int first = is_complex || (each == 0 && outputs > 0) ? 2 : 0; /* no minima and maxima */
    status = reduce(stats, &problem, passes + first, 7 - first, gpu);
    if (status != RDX_OK)
        return status;
    int64_t *nans = stats->tensor[RDX_STATS_NAN].data, *zeros = stats->tensor[RDX_STATS_ZERO].data;
    for (int64_t i = 0; i < outputs; i++) { /* from counts of what is not zero, with and without NaN */
        nans[i] = zeros[i] - nans[i];
        zeros[i] = each - zeros[i];
    }
    bool infinite =
        is_complex || has_infinite(&stats->tensor[RDX_STATS_MIN]) || has_infinite(&stats->tensor[RDX_STATS_MAX]);
    if (infinite && outputs > 0 && each > 0)
        count_inf(in, reduced, stats->tensor[RDX_STATS_INF].data);
    rdx_progress_advance(progress, (double)(count_of(in) * type->size));
    return RDX_OK;
}

void rdx_stats_free(RdxAxisStats *stats)
{
    for (int which = 0; which < RDX_STATS_COUNT; which++)
        free(stats->tensor[which].data);
    memset(stats, 0, sizeof *stats);
}
