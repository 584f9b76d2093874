/* Slabs into statistics; see slabs.h. */
#include "slabs.h"

#include "data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLAB_BYTES = 4 << 20 };

static bool is_infinite_at(int dtype, const void *at)
{
    return isinf(rdx_data_load(dtype, at));
}

int64_t rdx_stats_count_inf(int dtype, const void *bytes, int64_t count)
{
    const RdxDataType *type = rdx_data_type(dtype);
    const unsigned char *at = bytes;
    int part = rdx_data_part(dtype);
    int64_t found = 0;
    if (type->kind < RDX_DATA_FLOAT || dtype == RDX_F8E4M3)
        return 0;
    for (int64_t i = 0; i < count; i++, at += type->size)
        found +=
            is_infinite_at(part, at) || (type->kind == RDX_DATA_COMPLEX && is_infinite_at(part, at + type->size / 2));
    return found;
}

RdxStatus rdx_slabs_start(RdxSlabs *slabs, RdxStats *stats, const RdxArray *array)
{
    int64_t elements = SLAB_BYTES / rdx_data_type(array->dtype)->size;
    memset(stats, 0, sizeof *stats);
    *slabs = (RdxSlabs){.array = array, .elements = elements};
    slabs->count = array->elements / elements + (array->elements % elements != 0);
    /* six doubles, one count and two extremes of at most 8 bytes a slab */
    double *room = calloc((size_t)slabs->count + 1, 9 * sizeof(double));
    if (room == NULL)
        return RDX_ERR_MEMORY;
    double **parts[] = {&slabs->sum, &slabs->sum_im, &slabs->squares, &slabs->mean, &slabs->mean_im, &slabs->variance};
    for (int i = 0; i < 6; i++)
        *parts[i] = room + i * slabs->count;
    slabs->present = (int64_t *)(void *)(room + 6 * slabs->count);
    slabs->min = (unsigned char *)(room + 7 * slabs->count);
    slabs->max = (unsigned char *)(room + 8 * slabs->count);
    return RDX_OK;
}

int64_t rdx_slabs_elements(const RdxSlabs *slabs, int64_t slab)
{
    int64_t left = slabs->array->elements - slab * slabs->elements;
    return left < slabs->elements ? left : slabs->elements;
}

bool rdx_slabs_has_nan(const RdxArray *array, const RdxSlab *seen)
{
    return rdx_data_type(array->dtype)->kind >= RDX_DATA_FLOAT &&
           isnan(rdx_data_load(rdx_data_part(array->dtype), seen->min));
}

void rdx_slabs_add(RdxSlabs *slabs, RdxStats *stats, int64_t i, const void *bytes, const RdxSlab *seen,
                   const RdxSlab *kept)
{
    const RdxDataType *type = rdx_data_type(slabs->array->dtype);
    int part = rdx_data_part(type->dtype);
    int64_t count = rdx_slabs_elements(slabs, i), nans = seen->nonzero - kept->nonzero; /* NaN is not zero */
    bool is_float = type->kind >= RDX_DATA_FLOAT;
    slabs->present[i] = count - nans;
    stats->nan += nans;
    stats->zero += count - seen->nonzero;
    if (is_float && (is_infinite_at(part, kept->min) || is_infinite_at(part, kept->max)))
        stats->inf += rdx_stats_count_inf(type->dtype, bytes, count);
    memcpy(slabs->min + i * 8, kept->min, 8);
    memcpy(slabs->max + i * 8, kept->max, 8);
    /* sums of ints wrap; their mean does not */
    slabs->sum[i] = is_float ? kept->sum[0] : kept->sum[0] * (double)slabs->present[i];
    slabs->sum_im[i] = kept->sum[1];
    slabs->squares[i] = kept->squares;
    slabs->variance[i] = kept->variance;
    slabs->mean[i] = kept->mean[0];
    slabs->mean_im[i] = kept->mean[1];
}

/* Adjacent pairs, then pairs of pairs; an odd last one moves up. */
static double paired_sum(double *values, int64_t count)
{
    for (; count > 1; count = (count + 1) / 2)
        for (int64_t i = 0; 2 * i < count; i++)
            values[i] = 2 * i + 1 < count ? values[2 * i] + values[2 * i + 1] : values[2 * i];
    return count ? values[0] : 0;
}

/* The sum of squared distances from the mean of the slabs together. */
static double joined_squares(const RdxSlabs *slabs)
{
    double n = 0, mean = 0, mean_im = 0, squares = 0;
    for (int64_t i = 0; i < slabs->count; i++) {
        double here = (double)slabs->present[i], both = n + here;
        if (here == 0)
            continue;
        if (n == 0) { /* not through the rule: 0 times an overflowed square is NaN */
            squares = slabs->variance[i] * here;
            mean = slabs->mean[i];
            mean_im = slabs->mean_im[i];
            n = here;
            continue;
        }
        double d = slabs->mean[i] - mean, d_im = slabs->mean_im[i] - mean_im, weight = here / both;
        squares += slabs->variance[i] * here + (d * d + d_im * d_im) * n * weight;
        mean += d * weight;
        mean_im += d_im * weight;
        n = both;
    }
    return squares;
}

/* The extreme of the slabs' extremes, NaN left out. */
static RdxStatus extreme(int dtype, const unsigned char *of_slabs, int64_t count, int op, unsigned char *result)
{
    RdxProblem problem = RDX_PROBLEM_INIT;
    int64_t size = rdx_data_type(dtype)->size, stride = 8 / size;
    RdxTensor in = {(void *)(uintptr_t)of_slabs, {1, 0}, 1, rdx_data_dtype(dtype), &count, &stride, 0};
    RdxTensor out = {result, {1, 0}, 0, rdx_data_dtype(dtype), NULL, NULL, 0};
    problem.op = op;
    problem.nan = RDX_NAN_OMIT;
    problem.naxes = RDX_ALL_AXES;
    problem.in = &in;
    problem.out = &out;
    return rdx_reduce(&problem, NULL);
}

static RdxStatus join(RdxSlabs *slabs, RdxStats *stats)
{
    const RdxDataType *type = rdx_data_type(slabs->array->dtype);
    double present = (double)(slabs->array->elements - stats->nan);
    stats->mean = paired_sum(slabs->sum, slabs->count) / present;
    stats->mean_im = paired_sum(slabs->sum_im, slabs->count) / present;
    stats->norm = sqrt(paired_sum(slabs->squares, slabs->count));
    stats->std = present > 0 ? sqrt(joined_squares(slabs) / present) : (double)NAN;
    stats->has_range = type->kind != RDX_DATA_COMPLEX && present > 0;
    if (!stats->has_range)
        return RDX_OK;
    RdxStatus status = extreme(type->dtype, slabs->min, slabs->count, RDX_MIN, stats->min);
    return status != RDX_OK ? status : extreme(type->dtype, slabs->max, slabs->count, RDX_MAX, stats->max);
}

RdxStatus rdx_slabs_finish(RdxSlabs *slabs, RdxStats *stats, RdxStatus status)
{
    if (status == RDX_OK)
        status = join(slabs, stats);
    free(slabs->sum);
    return status;
}
