/* The problem that a CASE stands for: tensors, options, and where their elements lie. No data yet: case_buffers.c. */
#include "case.h"

#include <string.h>

static void row_major(int64_t *strides, const int64_t *shape, int rank)
{
    int64_t step = 1;
    for (int i = rank - 1; i >= 0; i--) {
        strides[i] = step;
        if (__builtin_mul_overflow(step, shape[i] > 0 ? shape[i] : 1, &step))
            step = INT64_MAX; /* no such tensor can be allocated; the library says so */
    }
}

static RdxCaseExtent extent_of(const int64_t *shape, const int64_t *strides, int rank, int64_t offset)
{
    RdxCaseExtent extent = {offset, offset, 1, 1};
    static const RdxCaseExtent huge = {0, -1, -1, -1};
    bool overflow = false;
    for (int i = 0; i < rank; i++)
        if (shape[i] <= 0)
            return (RdxCaseExtent){offset, offset - 1, 0, 0};
    for (int i = 0; i < rank; i++) {
        int64_t reach;
        overflow |= __builtin_mul_overflow(extent.elements, shape[i], &extent.elements);
        overflow |= __builtin_mul_overflow(strides[i], shape[i] - 1, &reach);
        if (overflow)
            return huge;
        int64_t *end = reach < 0 ? &extent.low : &extent.high;
        overflow |= __builtin_add_overflow(*end, reach, end);
    }
    overflow |= __builtin_sub_overflow(extent.high, extent.low, &extent.count);
    overflow |= __builtin_add_overflow(extent.count, 1, &extent.count);
    return overflow ? huge : extent;
}

static int default_second(const RdxCase *c)
{
    if (c->out2)
        return c->out2;
    if (c->out && (c->op == RDX_VAR || c->op == RDX_STD)) {
        bool is_complex = rdx_data_type(c->dtype)->kind == RDX_DATA_COMPLEX;
        return !is_complex ? c->out : c->out == RDX_F64 ? RDX_C128 : RDX_C64;
    }
    return 0;
}

RdxStatus rdx_case_problem(const RdxCase *c, RdxTask *task)
{
    static const RdxProblem defaults = RDX_PROBLEM_INIT;
    RdxCase own = *c; /* it may be task->c */
    memset(task, 0, sizeof *task);
    task->c = own;
    c = &task->c;
    task->tensors = c->second ? 3 : 2;
    RdxTensor *in = &task->tensor[RDX_CASE_IN], *out = &task->tensor[RDX_CASE_OUT];
    for (int which = 0; which < RDX_CASE_TENSORS; which++) {
        task->tensor[which].device = (RdxDevice){1, 0};
        task->tensor[which].shape = task->shape[which];
    }
    int size = rdx_data_type(c->dtype)->size;
    in->ndim = c->rank;
    in->dtype = rdx_data_dtype(c->dtype);
    memcpy(task->shape[RDX_CASE_IN], c->shape, sizeof c->shape);
    if (c->strided)
        memcpy(task->strides[RDX_CASE_IN], c->strides, sizeof c->strides);
    else
        row_major(task->strides[RDX_CASE_IN], c->shape, c->rank);
    in->strides = c->strided ? task->strides[RDX_CASE_IN] : NULL;
    in->byte_offset = (uint64_t)c->offset * (uint64_t)size;

    task->problem = defaults;
    RdxProblem *problem = &task->problem;
    problem->op = c->op;
    problem->nan = c->nan;
    problem->p = c->p;
    problem->correction = c->correction;
    problem->alpha = c->alpha;
    problem->beta = c->beta;
    problem->axes = c->naxes > 0 ? c->axes : NULL;
    problem->naxes = c->naxes;
    problem->threads = c->threads;
    problem->in = in;
    RdxStatus status = rdx_infer_outputs(problem, c->keep, out, c->second ? &task->tensor[RDX_CASE_OUT2] : NULL);
    if (status != RDX_OK)
        return status;
    problem->out = out;
    problem->out2 = c->second ? &task->tensor[RDX_CASE_OUT2] : NULL;
    if (c->out)
        out->dtype = rdx_data_dtype(c->out);
    if (c->second && default_second(c))
        task->tensor[RDX_CASE_OUT2].dtype = rdx_data_dtype(default_second(c));
    for (int which = RDX_CASE_OUT; which < task->tensors; which++) {
        int rank = task->tensor[which].ndim;
        row_major(task->strides[which], task->shape[which], rank);
        if (c->ostrided) {
            memcpy(task->strides[which], c->ostrides, sizeof c->ostrides);
            task->tensor[which].strides = task->strides[which];
        }
    }
    for (int which = 0; which < task->tensors; which++)
        task->extent[which] = extent_of(task->shape[which], task->strides[which], task->tensor[which].ndim,
                                        which == RDX_CASE_IN ? c->offset : 0);
    return RDX_OK;
}

void *rdx_case_element(const RdxTask *task, int which, int64_t i)
{
    const RdxTensor *tensor = &task->tensor[which];
    int64_t at = 0;
    for (int d = tensor->ndim - 1; d >= 0; d--) {
        at += i % task->shape[which][d] * task->strides[which][d];
        i /= task->shape[which][d];
    }
    int size = rdx_data_type(rdx_data_number(tensor->dtype))->size;
    return (unsigned char *)tensor->data + (int64_t)tensor->byte_offset + at * size;
}
