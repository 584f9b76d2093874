/* Statistics of a whole tensor; see stats.h. Six reductions would read a large tensor six times from memory, so it is cut into
   slabs of 4 MiB, each reduced six times while it is in the cache, and the slabs' results are joined here: sums by adjacent
   pairs, as the tree would (a slab is an aligned run of 2^9 chunks), variances by Chan's rule, extremes by the library. */
#include "stats.h"

#include "data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLAB_BYTES = 4 << 20 };

const char *const rdx_stats_names[RDX_STATS_COUNT] = {"min", "max", "mean", "std", "norm", "nan", "inf", "zero"};

/* The results of every slab, one entry each. */
typedef struct Slabs {
    int64_t count;
    double *sum, *sum_im; /* of floats and complex; of ints the mean */
    double *squares, *mean, *mean_im, *variance;
    int64_t *present; /* elements that are not NaN */
    unsigned char *min, *max;
} Slabs;

typedef struct Pass {
    RdxProblem problem;
    RdxTensor in, out, out2;
    int64_t extent, stride;
} Pass;

static void pass_over(Pass *pass, int dtype, const void *bytes, int64_t count)
{
    static const RdxProblem defaults = RDX_PROBLEM_INIT;
    memset(pass, 0, sizeof *pass);
    pass->problem = defaults;
    pass->extent = count;
    pass->stride = 1;
    pass->in = (RdxTensor){(void *)(uintptr_t)bytes, {1, 0}, 1, rdx_data_dtype(dtype), &pass->extent, &pass->stride, 0};
    pass->out.device = pass->out2.device = (RdxDevice){1, 0};
    pass->problem.in = &pass->in;
    pass->problem.out = &pass->out;
}

/* Reduces all of the pass's elements; out2 is NULL where no second output is wanted. */
static RdxStatus reduce(Pass *pass, int op, int nan, int out_dtype, void *out, int out2_dtype, void *out2)
{
    pass->problem.op = op;
    pass->problem.nan = nan;
    pass->out.dtype = rdx_data_dtype(out_dtype);
    pass->out.data = out;
    pass->out2.dtype = rdx_data_dtype(out2_dtype);
    pass->out2.data = out2;
    pass->problem.out2 = out2 ? &pass->out2 : NULL;
    return rdx_reduce(&pass->problem, NULL);
}

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

/* Smallest and largest of a real slab; for complex ones of their parts, which serves to look for infinities alone. */
static RdxStatus range_of_slab(int dtype, const void *bytes, int64_t count, int nan, unsigned char *min,
                               unsigned char *max)
{
    Pass pass;
    int part = rdx_data_part(dtype);
    pass_over(&pass, part, bytes, part == dtype ? count : 2 * count);
    return reduce(&pass, RDX_MINMAX, nan, part, min, part, max);
}

static RdxStatus sums_of_slab(const RdxDataType *type, Pass *pass, int nan, Slabs *slabs, int64_t i)
{
    bool is_complex = type->kind == RDX_DATA_COMPLEX;
    double pair[2] = {0, 0}, mean[2] = {0, 0};
    int wide = is_complex ? RDX_C128 : RDX_F64;
    RdxStatus status;
    if (type->kind < RDX_DATA_FLOAT) { /* sums of ints wrap; their mean does not */
        status = reduce(pass, RDX_MEAN, nan, RDX_F64, pair, 0, NULL);
        pair[0] *= (double)slabs->present[i];
    } else {
        status = reduce(pass, RDX_SUM, nan, wide, pair, 0, NULL);
    }
    if (status == RDX_OK)
        status = reduce(pass, RDX_SUMSQ, nan, RDX_F64, &slabs->squares[i], 0, NULL);
    if (status == RDX_OK)
        status = reduce(pass, RDX_VAR, nan, RDX_F64, &slabs->variance[i], wide, mean);
    slabs->sum[i] = pair[0];
    slabs->sum_im[i] = pair[1];
    slabs->mean[i] = mean[0];
    slabs->mean_im[i] = mean[1];
    return status;
}

static RdxStatus one_slab(RdxStats *stats, const RdxDataType *type, const void *bytes, int64_t count, Slabs *slabs,
                          int64_t i)
{
    Pass pass;
    int64_t nonzero, without_nan;
    int part = rdx_data_part(type->dtype);
    unsigned char *min = slabs->min + i * 8, *max = slabs->max + i * 8;
    bool is_float = type->kind >= RDX_DATA_FLOAT;
    int nan = RDX_NAN_PROPAGATE;
    RdxStatus status = range_of_slab(type->dtype, bytes, count, nan, min, max);
    pass_over(&pass, type->dtype, bytes, count);
    if (status == RDX_OK)
        status = reduce(&pass, RDX_COUNT_NONZERO, nan, RDX_I64, &nonzero, 0, NULL);
    if (status != RDX_OK)
        return status;
    slabs->present[i] = count;
    if (is_float && isnan(rdx_data_load(part, min))) { /* NaN wins minima, so there is one here */
        nan = RDX_NAN_OMIT;
        status = reduce(&pass, RDX_COUNT_NONZERO, nan, RDX_I64, &without_nan, 0, NULL);
        if (status == RDX_OK)
            status = range_of_slab(type->dtype, bytes, count, nan, min, max);
        if (status != RDX_OK)
            return status;
        slabs->present[i] = count - (nonzero - without_nan);
        stats->nan += nonzero - without_nan;
    }
    stats->zero += count - nonzero;
    if (is_float && (is_infinite_at(part, min) || is_infinite_at(part, max)))
        stats->inf += rdx_stats_count_inf(type->dtype, bytes, count);
    return sums_of_slab(type, &pass, nan, slabs, i);
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
static double joined_squares(const Slabs *slabs)
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

static RdxStatus join_slabs(RdxStats *stats, const RdxArray *array, Slabs *slabs)
{
    const RdxDataType *type = rdx_data_type(array->dtype);
    double present = (double)(array->elements - stats->nan);
    stats->mean = paired_sum(slabs->sum, slabs->count) / present;
    stats->mean_im = paired_sum(slabs->sum_im, slabs->count) / present;
    stats->norm = sqrt(paired_sum(slabs->squares, slabs->count));
    stats->std = present > 0 ? sqrt(joined_squares(slabs) / present) : (double)NAN;
    stats->has_range = type->kind != RDX_DATA_COMPLEX && present > 0;
    if (!stats->has_range)
        return RDX_OK;
    for (int64_t i = 0; i < slabs->count; i++) { /* side by side in their own size */
        memmove(slabs->min + i * type->size, slabs->min + i * 8, (size_t)type->size);
        memmove(slabs->max + i * type->size, slabs->max + i * 8, (size_t)type->size);
    }
    Pass pass;
    pass_over(&pass, type->dtype, slabs->min, slabs->count);
    RdxStatus status = reduce(&pass, RDX_MIN, RDX_NAN_OMIT, type->dtype, stats->min, 0, NULL);
    pass_over(&pass, type->dtype, slabs->max, slabs->count);
    return status != RDX_OK ? status : reduce(&pass, RDX_MAX, RDX_NAN_OMIT, type->dtype, stats->max, 0, NULL);
}

RdxStatus rdx_stats_whole(RdxStats *stats, const RdxArray *array, const void *bytes, RdxProgress *progress)
{
    const RdxDataType *type = rdx_data_type(array->dtype);
    int64_t slab = SLAB_BYTES / type->size;
    Slabs slabs = {.count = array->elements / slab + (array->elements % slab != 0)};
    memset(stats, 0, sizeof *stats);
    /* six doubles, one count and two extremes of at most 8 bytes a slab */
    double *room = calloc((size_t)slabs.count + 1, 9 * sizeof(double));
    if (room == NULL)
        return RDX_ERR_MEMORY;
    double **parts[] = {&slabs.sum, &slabs.sum_im, &slabs.squares, &slabs.mean, &slabs.mean_im, &slabs.variance};
    for (int i = 0; i < 6; i++)
        *parts[i] = room + i * slabs.count;
    slabs.present = (int64_t *)(void *)(room + 6 * slabs.count);
    slabs.min = (unsigned char *)(room + 7 * slabs.count);
    slabs.max = (unsigned char *)(room + 8 * slabs.count);
    RdxStatus status = RDX_OK;
    for (int64_t i = 0; i < slabs.count && status == RDX_OK; i++) {
        int64_t count = array->elements - i * slab < slab ? array->elements - i * slab : slab;
        status = one_slab(stats, type, (const unsigned char *)bytes + i * slab * type->size, count, &slabs, i);
        rdx_progress_advance(progress, (double)(count * type->size));
    }
    if (status == RDX_OK)
        status = join_slabs(stats, array, &slabs);
    free(room);
    return status;
}
