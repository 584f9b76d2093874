/* What a CUDA kernel is launched with: one struct by value, in constant memory. Made by device.cu from space, recipe, shape and
   pointers; every layer of the device code reads it, none writes it. 2.4 KB, below the 4 KB that every architecture takes. */
#ifndef RDX_KERNELS_CUDA_PROBLEM_H
#define RDX_KERNELS_CUDA_PROBLEM_H

#include "../../recipe.h"

/* One dim of the space. Kept: in, out, out2. Reduced: in, and out is the step of the logical index. Copy: out, out2. */
typedef struct RdxCudaDim {
    int64_t extent, in, out, out2;
} RdxCudaDim;

/* As RdxFinishing. */
enum { RDX_CUDA_WHOLE, RDX_CUDA_LAST_BLOCK, RDX_CUDA_LAUNCH };

enum { RDX_CUDA_THREADS = 256, RDX_CUDA_SHORT_ROWS = 4 };

/* How blocks cut the problem. A group is the outputs of one block; it never crosses a multiple of run_outputs. */
typedef struct RdxCudaShape {
    int64_t groups, group_outputs, run_outputs, groups_per_run;
    int64_t split, part_chunks;  /* parts of the reduced range, aligned power-of-two runs of chunks */
    int64_t slices;              /* parts of the copies */
    int64_t items;               /* groups x split x residues x slices */
    int64_t chunks, warp_chunks; /* of an output; block_x: of a warp's run */
    bool simple;                 /* an item is a group, and groups follow each other through all outputs */
    bool
        direct; /* results are stored as they are: identity finish, output of the working type, one copy, at most one kept dim */
    int finishing; /* RDX_CUDA_WHOLE, ... */
    int residues;  /* blocks that share a chunk */
    /* tile.cuh: a tile of `width` threads along the outputs (each a vector), `height` along the lanes of a chunk. A batch of
       `batch` lanes is halved in shared memory, `batches` of them make a chunk (residue class). */
    int width, height, batch, batches, levels;
    bool rows; /* neighbouring threads take neighbouring lanes, else neighbouring outputs */
    int team;  /* block_x: warps that share an output */
    /* block_x: elements of a run where an output has several, else 0; e / run = (high(e * run_magic) + e) >> run_shift, e < 2^31 */
    uint32_t run, run_magic, run_shift;
    int mates;    /* warp: threads that share an output */
    bool columns; /* thread: a vector of columns each */
} RdxCudaShape;

static inline
#ifdef __CUDACC__
    __host__ __device__
#endif
        int64_t
        rdx_cuda_chunks(const RdxRecipe *recipe)
{
    int64_t chunk = 16 * (int64_t)recipe->lanes;
    return recipe->count / chunk + (recipe->count % chunk != 0);
}

typedef struct RdxCudaProblem {
    const unsigned char *in; /* at the origin of the walk */
    unsigned char *out, *out2;
    unsigned *counters; /* one a group; 0 before and after a launch */
    uint32_t *partials; /* [group][part][word of the node][output of the group] */
    double alpha, beta;
    int64_t outputs, copies, index_offset;
    RdxRecipe recipe;
    RdxCudaShape shape;
    int keep_rank, reduce_rank, copy_rank;
    RdxCudaDim dims[RDX_MAX_RANK]; /* kept, reduced, copy dims, outermost first */
} RdxCudaProblem;

#endif
