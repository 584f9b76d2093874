/* What a CUDA kernel is launched with: one struct by value, in constant memory. Made by device.cu from space, recipe, shape and
   pointers; every layer of the device code reads it, none writes it. 2.4 KB, below the 4 KB that every architecture takes. */
#ifndef RDX_KERNELS_CUDA_PROBLEM_H
#define RDX_KERNELS_CUDA_PROBLEM_H

#include "../../plan/cuda_launch.h"

/* One dim of the space. Kept: in, out, out2. Reduced: in, and out is the step of the logical index. Copy: out, out2. */
typedef struct RdxCudaDim {
    int64_t extent, in, out, out2;
} RdxCudaDim;

typedef struct RdxCudaProblem {
    const unsigned char *in; /* at the origin of the walk */
    unsigned char *out, *out2;
    unsigned *counters; /* one a group; 0 before and after a launch */
    uint32_t *partials; /* [group][part][word of the node][output of the group] */
    double alpha, beta;
    int64_t outputs, copies, index_offset;
    RdxRecipe recipe;
    RdxCudaShape shape;
    int keep_rank, reduce_rank, copy_rank, unused; /* unused: 0, in the place of padding */
    RdxCudaDim dims[RDX_MAX_RANK];                 /* kept, reduced, copy dims, outermost first */
} RdxCudaProblem;

#endif
