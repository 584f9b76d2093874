/* What redax stats says about a tensor, computed by the library: everything accumulates in f64, correction 0, NaN
   elements are counted and then left out. mean and norm of floats are the bits of `redax reduce --dtype f64` over all
   axes. */
#ifndef RDX_TOOLS_STATS_H
#define RDX_TOOLS_STATS_H

#include "array.h"
#include "gpu.h"
#include "output.h"

typedef struct RdxStats {
    bool has_range;                           /* false: complex, or no elements that are not NaN */
    _Alignas(8) unsigned char min[8], max[8]; /* of the tensor's dtype */
    double mean, mean_im;                     /* im: complex tensors only */
    double std, norm;                         /* population standard deviation; square root of the sum of squares */
    int64_t nan, inf, zero;
} RdxStats;

/* Of a whole dense array, in slabs that stay in the cache over all passes. `bytes` may be a copy of array->data at an
   aligned address. RDX_OK or the library's refusal. */
RdxStatus rdx_stats_whole(RdxStats *stats, const RdxArray *array, const void *bytes, RdxProgress *progress);
/* The same, bit for bit, on a CUDA device, at any alignment; slabs travel in pieces, so the device's memory is no
   limit. */
RdxStatus rdx_stats_whole_cuda(RdxStats *stats, const RdxArray *array, RdxGpu *gpu, RdxProgress *progress);

enum {
    RDX_STATS_MIN,
    RDX_STATS_MAX,
    RDX_STATS_MEAN,
    RDX_STATS_STD,
    RDX_STATS_NORM,
    RDX_STATS_NAN,
    RDX_STATS_INF,
    RDX_STATS_ZERO,
    RDX_STATS_COUNT
};
extern const char *const rdx_stats_names[RDX_STATS_COUNT];

/* Along axes: one tensor for each. */
typedef struct RdxAxisStats {
    RdxTensor tensor[RDX_STATS_COUNT]; /* data NULL: this dtype or this extent has none */
    int64_t shape[RDX_MAX_RANK];
} RdxAxisStats;

/* After a failure, too, the result is to be freed. `gpu` NULL: on the CPU, and then `in` is aligned. RDX_ERR_MEMORY: no
   room for the results. */
RdxStatus rdx_stats_axes(RdxAxisStats *stats, const RdxTensor *in, const int32_t *axes, int32_t naxes, RdxGpu *gpu,
                         RdxProgress *progress);
void rdx_stats_free(RdxAxisStats *stats);

/* Infinite elements among `count` side by side (complex: an infinite part). */
int64_t rdx_stats_count_inf(int dtype, const void *bytes, int64_t count);

#endif
