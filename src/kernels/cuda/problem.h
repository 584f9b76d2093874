/* What a CUDA kernel is launched with: one struct by value, in constant memory. Made by device.cu from space, recipe,
   shape and pointers; every layer of the device code reads it, none writes it. 2.4 KB, below the 4 KB that every
   architecture takes. */
#ifndef RDX_KERNELS_CUDA_PROBLEM_H
#define RDX_KERNELS_CUDA_PROBLEM_H

#include "../../plan/cuda_has.h"

/* One dim of the space. Kept: in, out, out2. Reduced: in, and out is the step of the logical index. Copy: out, out2. */
typedef struct RdxCudaDim {
    int64_t extent, in, out, out2;
} RdxCudaDim;

/* In the order in which a block asks for it: what it reads before its first load lies in three lines of 64 bytes, since
   a line that another launch has left takes 90 cycles, and blocks of small inputs do little else. Sums of 1 KB to 16 MB
   of f32 over rows took 0.04 to 0.2 us more on an H200 when these members lay among the others. */
typedef struct __attribute__((aligned(64))) RdxCudaProblem {
    const unsigned char *in; /* at the origin of the walk */
    unsigned char *out;
    int64_t in_step, out_step; /* of the kept dim, where there is one at most; else not looked at */
    int64_t outputs;
    uint32_t *partials;                            /* [group][part][word of the node][output of the group] */
    int keep_rank, reduce_rank, copy_rank, unused; /* unused: 0, in the place of padding */
    RdxRecipe recipe;
    RdxCudaShape shape;
    unsigned char *out2;
    unsigned *counters; /* one a group; 0 before and after a launch */
    double alpha, beta;
    int64_t copies, index_offset;
    RdxCudaDim dims[RDX_MAX_RANK]; /* kept, reduced, copy dims, outermost first */
} RdxCudaProblem;

#endif
