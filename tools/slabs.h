/* A whole tensor's statistics from those of its slabs. A slab is an aligned run of 2^9 chunks (4 MiB): six reductions
   would read a large tensor six times from memory, so each slab is reduced six times while it is at hand, in the cache
   of a CPU or in the memory of a GPU, and the slabs' results are joined here: sums by adjacent pairs, as the tree
   would, variances by Chan's rule, extremes by the library. Whoever reduced the slabs, the same results give the same
   statistics. */
#ifndef RDX_TOOLS_SLABS_H
#define RDX_TOOLS_SLABS_H

#include "stats.h"

/* What the library says about one slab, NaN elements either propagated or left out. */
typedef struct RdxSlab {
    _Alignas(8) unsigned char min[8], max[8]; /* of the dtype's part; complex: of all parts */
    int64_t nonzero;
    double sum[2]; /* of floats and complex; of ints the mean */
    double squares, variance, mean[2];
} RdxSlab;

/* The results of every slab so far, one entry each. */
typedef struct RdxSlabs {
    const RdxArray *array;
    int64_t count, elements; /* slabs; elements of each but the last */
    double *sum, *sum_im, *squares, *mean, *mean_im, *variance;
    int64_t *present; /* elements that are not NaN */
    unsigned char *min, *max;
} RdxSlabs;

/* Zeroes the statistics. RDX_ERR_MEMORY */
RdxStatus rdx_slabs_start(RdxSlabs *slabs, RdxStats *stats, const RdxArray *array);
int64_t rdx_slabs_elements(const RdxSlabs *slabs, int64_t slab);

/* Does the slab hold NaN? Then all but `seen` counts with NaN left out. NaN wins minima, so the propagated one
   tells. */
bool rdx_slabs_has_nan(const RdxArray *array, const RdxSlab *seen);

/* Takes slab i, whose elements lie at `bytes`: `seen` with NaN propagated (sums need not be there), `kept` what
   counts. */
void rdx_slabs_add(RdxSlabs *slabs, RdxStats *stats, int64_t i, const void *bytes, const RdxSlab *seen,
                   const RdxSlab *kept);

/* All slabs are in: joins and frees them. After a failure of what came before: only frees, and gives its status
   back. */
RdxStatus rdx_slabs_finish(RdxSlabs *slabs, RdxStats *stats, RdxStatus status);

#endif
