/* Statistics of a whole tensor on the CPU; see stats.h, and slabs.h for what is done with the slabs. */
#include "slabs.h"

#include "data.h"

#include <string.h>

const char *const rdx_stats_names[RDX_STATS_COUNT] = {"min", "max", "mean", "std", "norm", "nan", "inf", "zero"};

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

/* Smallest and largest of a real slab; for complex ones of their parts, which serves to look for infinities alone. */
static RdxStatus range_and_count(int dtype, const void *bytes, int64_t count, int nan, RdxSlab *slab)
{
    Pass pass;
    int part = rdx_data_part(dtype);
    pass_over(&pass, part, bytes, part == dtype ? count : 2 * count);
    RdxStatus status = reduce(&pass, RDX_MINMAX, nan, part, slab->min, part, slab->max);
    pass_over(&pass, dtype, bytes, count);
    return status != RDX_OK ? status : reduce(&pass, RDX_COUNT_NONZERO, nan, RDX_I64, &slab->nonzero, 0, NULL);
}

static RdxStatus sums(int dtype, const void *bytes, int64_t count, int nan, RdxSlab *slab)
{
    Pass pass;
    RdxDataKind kind = rdx_data_type(dtype)->kind;
    int wide = kind == RDX_DATA_COMPLEX ? RDX_C128 : RDX_F64;
    pass_over(&pass, dtype, bytes, count);
    RdxStatus status = reduce(&pass, kind < RDX_DATA_FLOAT ? RDX_MEAN : RDX_SUM, nan, wide, slab->sum, 0, NULL);
    if (status == RDX_OK)
        status = reduce(&pass, RDX_SUMSQ, nan, RDX_F64, &slab->squares, 0, NULL);
    if (status == RDX_OK)
        status = reduce(&pass, RDX_VAR, nan, RDX_F64, &slab->variance, wide, slab->mean);
    return status;
}

static RdxStatus one_slab(RdxSlabs *slabs, RdxStats *stats, const unsigned char *bytes, int64_t i)
{
    int dtype = slabs->array->dtype, nan = RDX_NAN_PROPAGATE;
    int64_t count = rdx_slabs_elements(slabs, i);
    RdxSlab seen, kept;
    memset(&seen, 0, sizeof seen);
    RdxStatus status = range_and_count(dtype, bytes, count, nan, &seen);
    kept = seen;
    if (status == RDX_OK && rdx_slabs_has_nan(slabs->array, &seen)) {
        nan = RDX_NAN_OMIT;
        status = range_and_count(dtype, bytes, count, nan, &kept);
    }
    if (status == RDX_OK)
        status = sums(dtype, bytes, count, nan, &kept);
    if (status == RDX_OK)
        rdx_slabs_add(slabs, stats, i, bytes, &seen, &kept);
    return status;
}

RdxStatus rdx_stats_whole(RdxStats *stats, const RdxArray *array, const void *bytes, RdxProgress *progress)
{
    RdxSlabs slabs;
    int64_t size = rdx_data_type(array->dtype)->size;
    RdxStatus status = rdx_slabs_start(&slabs, stats, array);
    if (status != RDX_OK)
        return status;
    for (int64_t i = 0; i < slabs.count && status == RDX_OK; i++) {
        status = one_slab(&slabs, stats, (const unsigned char *)bytes + i * slabs.elements * size, i);
        rdx_progress_advance(progress, (double)(rdx_slabs_elements(&slabs, i) * size));
    }
    return rdx_slabs_finish(&slabs, stats, status);
}
