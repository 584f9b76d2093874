/* The oracle's walk and judgement; see oracle.h. For every output element the reduced axes are walked in ascending
   order over the original tensor, the elements handed to oracle_answer(), and the interval it gives taken through the
   rest of the way: rounding to the accumulator, alpha, beta, and the store. Each of these is monotone, so the ends of
   the interval stay its ends, and where it is a point the stored bytes must be exactly right. */
#include "oracle_ops.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the elements from `at` on. */
typedef struct Answer {
    bool known;
    const unsigned char *at;
    OracleRange ranges[2][2];
} Answer;

typedef struct Walk {
    const RdxProblem *problem;
    const void *before;
    OracleReport *report;
    OracleElements elements;
    bool reduced[RDX_MAX_RANK];
    int rank;
    int64_t stride[RDX_MAX_RANK];        /* of the input, in elements */
    int64_t out_stride[2][RDX_MAX_RANK]; /* by input axis, 0 on reduced ones */
    int64_t at[RDX_MAX_RANK];
    Answer answers[64]; /* by the place of their first element: outputs along a kept stride of 0 have the same one */
} Walk;

static bool complain(const Walk *walk, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool complain(const Walk *walk, const char *format, ...)
{
    char *sentence = walk->report->sentence;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(sentence, sizeof walk->report->sentence, format, arguments);
    va_end(arguments);
    for (int d = 0; d < walk->rank && length > 0 && (size_t)length < sizeof walk->report->sentence; d++)
        if (!walk->reduced[d])
            length += snprintf(sentence + length, sizeof walk->report->sentence - (size_t)length, "%s%lld",
                               d ? "," : " at ", (long long)walk->at[d]);
    return false;
}

static void strides_of(const RdxTensor *tensor, int64_t *stride)
{
    int64_t step = 1;
    for (int d = tensor->ndim - 1; d >= 0; d--) {
        stride[d] = tensor->strides ? tensor->strides[d] : step;
        step *= tensor->shape[d];
    }
}

static void prepare(Walk *walk)
{
    const RdxProblem *problem = walk->problem;
    walk->rank = problem->in->ndim;
    for (int d = 0; d < walk->rank; d++)
        walk->reduced[d] = problem->naxes == RDX_ALL_AXES;
    for (int i = 0; i < problem->naxes; i++)
        walk->reduced[problem->axes[i] + (problem->axes[i] < 0 ? walk->rank : 0)] = true;
    strides_of(problem->in, walk->stride);
    const RdxTensor *outputs[2] = {problem->out, problem->out2};
    for (int o = 0; o < 2 && outputs[o]; o++) {
        int64_t stride[RDX_MAX_RANK];
        strides_of(outputs[o], stride);
        bool keep = outputs[o]->ndim == walk->rank;
        for (int d = 0, next = 0; d < walk->rank; d++) {
            walk->out_stride[o][d] = walk->reduced[d] ? 0 : stride[next];
            next += keep || !walk->reduced[d];
        }
    }
    OracleElements *e = &walk->elements;
    e->dtype = rdx_data_number(problem->in->dtype);
    e->out = rdx_data_number(problem->out->dtype);
    const RdxDataType *type = rdx_data_type(e->dtype);
    e->is_complex = type->kind == RDX_DATA_COMPLEX;
    e->is_integral = type->kind <= RDX_DATA_UINT;
    e->is_unsigned = type->kind == RDX_DATA_UINT;
    e->omit = problem->nan == RDX_NAN_OMIT;
    e->lanes = 512 / type->size;
    bool is_wide = e->is_integral || rdx_data_part(e->dtype) == RDX_F64 || rdx_data_part(e->out) == RDX_F64;
    e->u = is_wide ? 0x1p-53 : 0x1p-24;
    e->smallest = is_wide ? 0x1p-1074 : 0x1p-149;
    e->largest = is_wide ? 0x1.fffffffffffffp1023 : 0x1.fffffep127;
}

static bool allocate(OracleElements *e, int64_t n)
{
    size_t count = (size_t)(n > 0 ? n : 1);
    e->re = malloc(count * sizeof *e->re);
    e->im = e->is_complex ? malloc(count * sizeof *e->im) : NULL;
    e->whole = e->is_integral ? malloc(count * sizeof *e->whole) : NULL;
    e->index = malloc(count * sizeof *e->index);
    return e->re && e->index && (e->im || !e->is_complex) && (e->whole || !e->is_integral);
}

static void take(OracleElements *e, const unsigned char *at, int64_t index)
{
    int64_t i = e->count;
    int part = rdx_data_part(e->dtype);
    if (e->is_integral) {
        e->whole[i] = rdx_data_load_int(e->dtype, at);
        e->re[i] = e->is_unsigned ? (double)(uint64_t)e->whole[i] : (double)e->whole[i];
    } else {
        e->re[i] = rdx_data_load(part, at);
        if (e->is_complex)
            e->im[i] = rdx_data_load(part, at + rdx_data_type(e->dtype)->size / 2);
        if (e->omit && (isnan(e->re[i]) || (e->is_complex && isnan(e->im[i])))) {
            e->holes++;
            return;
        }
    }
    e->index[i] = index;
    e->count++;
}

static void gather(Walk *walk, int axis, const unsigned char *at, int64_t index)
{
    const RdxTensor *in = walk->problem->in;
    int64_t size = rdx_data_type(walk->elements.dtype)->size;
    while (axis < walk->rank && !walk->reduced[axis])
        axis++;
    if (axis == walk->rank) {
        take(&walk->elements, at, index);
        return;
    }
    for (int64_t i = 0; i < in->shape[axis]; i++)
        gather(walk, axis + 1, at + i * walk->stride[axis] * size, index * in->shape[axis] + i);
}

/* ---- From the interval to the stored bytes ---- */

static double rounded(const OracleElements *e, const RdxProblem *problem, long double x)
{
    bool narrow = e->u > 1e-10 || (problem->op == RDX_SUM && e->is_integral && e->out == RDX_F32);
    return narrow ? (double)(float)x : (double)x;
}

/* alpha * r + beta * old, each step rounded to the accumulator. In f64 throughout: exact for products of f32, and
   rounding a sum of two f32 twice is harmless, as 53 >= 2 * 24 + 2. */
static double scaled(const OracleElements *e, const RdxProblem *problem, double r, double old)
{
    volatile double total = r, term;
    if (problem->alpha != 1)
        total = rounded(e, problem, problem->alpha) * r;
    total = rounded(e, problem, total);
    if (problem->beta == 0)
        return total;
    term = rounded(e, problem, problem->beta) * old;
    term = rounded(e, problem, term);
    total = total + term;
    return rounded(e, problem, total);
}

static bool judge_float(Walk *walk, int o, int part, const OracleRange *range, int dtype, const unsigned char *at,
                        double old)
{
    const RdxProblem *problem = walk->problem;
    const OracleElements *e = &walk->elements;
    bool plain = o == 1 || (problem->alpha == 1 && problem->beta == 0);
    uint64_t stored = 0;
    memcpy(&stored, at, (size_t)rdx_data_type(dtype)->size);
    double value = rdx_data_decode(dtype, stored);
    walk->report->loose += range->loose;
    if (isnan(value) && stored != rdx_data_encode(dtype, (double)NAN))
        return complain(walk, "NaN stored as %llx", (unsigned long long)stored);
    double low = rounded(e, problem, range->low), high = rounded(e, problem, range->high);
    bool may_nan = range->may_nan, must_nan = range->must_nan;
    if (!plain && !must_nan) {
        double a = scaled(e, problem, low, old), b = scaled(e, problem, high, old);
        must_nan = isnan(a) && isnan(b) && low == high;
        may_nan = may_nan || isnan(a) || isnan(b);
        low = isnan(a) || isnan(b) ? -(double)INFINITY : fmin(a, b);
        high = isnan(a) || isnan(b) ? (double)INFINITY : fmax(a, b);
    }
    double low_stored = rdx_data_decode(dtype, rdx_data_encode(dtype, low));
    double high_stored = rdx_data_decode(dtype, rdx_data_encode(dtype, high));
    if (isnan(low_stored) || isnan(high_stored)) { /* f8e4m3 has no infinity */
        may_nan = true;
        low_stored = isnan(low_stored) ? copysign((double)INFINITY, low) : low_stored;
        high_stored = isnan(high_stored) ? copysign((double)INFINITY, high) : high_stored;
    }
    bool right = isnan(value) ? may_nan || must_nan : !must_nan && value >= low_stored && value <= high_stored;
    if (right && value == 0 && plain && low == 0 && high == 0 && range->zero != 0)
        right = (signbit(value) ? -1 : 1) == range->zero;
    if (!right)
        return complain(walk, "output %d part %d is %.17g, right is %s[%.17g, %.17g]%s", o, part, value,
                        must_nan ? "NaN, not " : "", low_stored, high_stored, may_nan && !must_nan ? " or NaN" : "");
    bool as_wide = dtype == (e->u > 1e-10 ? RDX_F32 : RDX_F64);
    long double error = range->high - range->middle;
    if (plain && as_wide && !range->loose && error > 0 && isfinite(value) && isfinite((double)range->high)) {
        double ratio = (double)(fabsl(value - range->middle) / error);
        if (ratio > walk->report->ratio[problem->op])
            walk->report->ratio[problem->op] = ratio;
    }
    return true;
}

static bool judge_int(Walk *walk, int o, const OracleRange *range, int dtype, const unsigned char *at)
{
    unsigned char right[8];
    rdx_data_store_int(dtype, right, (int64_t)range->whole);
    if (memcmp(at, right, (size_t)rdx_data_type(dtype)->size) == 0)
        return true;
    return complain(walk, "output %d is %lld, right is %lld", o, (long long)rdx_data_load_int(dtype, at),
                    (long long)rdx_data_load_int(dtype, right));
}

static bool judge(Walk *walk, int o, OracleRange range[2])
{
    const RdxTensor *tensor = o ? walk->problem->out2 : walk->problem->out;
    int dtype = rdx_data_number(tensor->dtype), part_dtype = rdx_data_part(dtype);
    const RdxDataType *type = rdx_data_type(dtype);
    int64_t offset = (int64_t)tensor->byte_offset;
    for (int d = 0; d < walk->rank; d++)
        offset += walk->at[d] * walk->out_stride[o][d] * type->size;
    const unsigned char *at = (const unsigned char *)tensor->data + offset;
    const unsigned char *old = walk->before && o == 0 ? (const unsigned char *)walk->before + offset : NULL;
    walk->report->values++;
    if (type->kind <= RDX_DATA_UINT) {
        if (!range[0].is_whole) /* an integer NaN: nothing but holes */
            return complain(walk, "output %d: the oracle has no integer for it", o);
        return judge_int(walk, o, &range[0], dtype, at);
    }
    int size = rdx_data_type(part_dtype)->size;
    for (int part = 0; part < (type->kind == RDX_DATA_COMPLEX ? 2 : 1); part++) {
        double held = old ? rdx_data_load(part_dtype, old + part * size) : 0;
        if (!judge_float(walk, o, part, &range[part], part_dtype, at + part * size, held))
            return false;
    }
    return true;
}

static bool check_outputs(Walk *walk, int axis, const unsigned char *at)
{
    const RdxTensor *in = walk->problem->in;
    int64_t size = rdx_data_type(walk->elements.dtype)->size;
    while (axis < walk->rank && walk->reduced[axis])
        axis++;
    if (axis < walk->rank) {
        for (int64_t i = 0; i < in->shape[axis]; i++) {
            walk->at[axis] = i;
            if (!check_outputs(walk, axis + 1, at + i * walk->stride[axis] * size))
                return false;
        }
        return true;
    }
    Answer *answer = &walk->answers[(uintptr_t)at / (uintptr_t)size % (sizeof walk->answers / sizeof walk->answers[0])];
    if (!answer->known || answer->at != at) {
        memset(answer, 0, sizeof *answer);
        walk->elements.count = walk->elements.holes = 0;
        gather(walk, 0, at, 0);
        oracle_answer(walk->problem, &walk->elements, answer->ranges);
        answer->known = true;
        answer->at = at;
    }
    return judge(walk, 0, answer->ranges[0]) && (!walk->problem->out2 || judge(walk, 1, answer->ranges[1]));
}

bool oracle_check(const RdxProblem *problem, const void *before, OracleReport *report)
{
    Walk *walk = calloc(1, sizeof *walk);
    bool right = false;
    if (walk) {
        walk->problem = problem;
        walk->before = before;
        walk->report = report;
        prepare(walk);
        int64_t n = 1;
        for (int d = 0; d < walk->rank; d++)
            n *= walk->reduced[d] ? problem->in->shape[d] : 1;
        const unsigned char *base = problem->in->data;
        right = allocate(&walk->elements, n) && check_outputs(walk, 0, base ? base + problem->in->byte_offset : NULL);
        free(walk->elements.re);
        free(walk->elements.im);
        free(walk->elements.whole);
        free(walk->elements.index);
    }
    if (!right && !report->sentence[0])
        snprintf(report->sentence, sizeof report->sentence, "the oracle is out of memory");
    free(walk);
    return right;
}

bool oracle_check_task(const RdxTask *task, OracleReport *report)
{
    const RdxCaseExtent *extent = &task->extent[RDX_CASE_OUT];
    if (task->c.beta == 0 || extent->count <= 0)
        return oracle_check(&task->problem, NULL, report);
    int dtype = rdx_data_number(task->problem.out->dtype), size = rdx_data_type(dtype)->size;
    unsigned char *storage = malloc((size_t)(extent->count * size));
    if (!storage) {
        snprintf(report->sentence, sizeof report->sentence, "the oracle is out of memory");
        return false;
    }
    rdx_data_fill(dtype, RDX_DATA_EXACT, task->c.seed + 1, 0, extent->count, storage);
    /* element `low` lies at storage; data + byte_offset is element 0 */
    int64_t back = extent->low * size;
    bool right = oracle_check(&task->problem, storage - back, report);
    free(storage);
    return right;
}
