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

/* Vectors of a group, and groups in a thread's ring (ring.cuh): of rows, of columns, where lanes are looked at twice. */
enum {
    RDX_CUDA_THREADS = 256,
    RDX_CUDA_GROUP = 4,
    RDX_CUDA_RING_ROWS = 6,
    RDX_CUDA_RING_COLUMNS = 4,
    RDX_CUDA_RING_TWICE = 6
};
/* Parts of a row (grid.cuh: join_row), as RDX_MOST_ROW_PARTS. */
enum { RDX_CUDA_MOST_PARTS = 2048 };
/* Stages of a warp and bytes of each (strategy_warp.cu). */
enum { RDX_CUDA_STAGES = 3, RDX_CUDA_TILE = 4096 };
/* log2 of the lines that a warp asks for at once of packed rows (strategy_packed.cu), by the nodes of a vector and the words of a node:
   what has room beside them in 128 registers; 0: nothing has. */
#define RDX_CUDA_PACKED_STEPS(nodes, words)                                                                            \
    ((nodes) * (words) <= 8 ? ((words) <= 3 ? 4 : 3) : (nodes) * (words) <= 16 && (words) <= 4 ? 3 : 0)

/* How blocks cut the problem. A group is the outputs of one block; it never crosses a multiple of run_outputs. */
typedef struct RdxCudaShape {
    int64_t groups, group_outputs, run_outputs, groups_per_run;
    int64_t split, part_chunks;  /* parts of the reduced range, aligned power-of-two runs of chunks */
    int64_t slices;              /* parts of the copies */
    int64_t items;               /* groups x split x residues x slices */
    int64_t chunks, warp_chunks; /* of an output; block_x: of a warp's run */
    bool simple;                 /* an item is a group, and groups follow each other through all outputs */
    bool plain;                  /* results are stored and nothing more: one copy, no alpha, no beta */
    bool direct; /* plain, and stored as they are: identity finish, output of the working type, i64 of integer sums */
    bool ascending; /* logical indices ascend with the elements of the reduced dims */
    int finishing;  /* RDX_CUDA_WHOLE, ... */
    int residues;   /* blocks that share a chunk */
    /* tile.cuh: a tile of `width` threads along the outputs, `height` along the lanes of a chunk. A batch of
       `batch` lanes is halved in shared memory, `batches` of them make a chunk (residue class). */
    int width, height, batch, batches, levels;
    bool rows;           /* neighbouring threads take neighbouring lanes, else neighbouring outputs */
    int team, team_log2; /* block_x: warps that share an output */
    int ring_bytes;      /* of the rings of a block */
    /* columns.cuh: `warps` of a block, `width` vectors and `rows_at_once` rows of a warp, `class_warps` warps that share columns; `classes` of lanes, each
       of 2^lanes_log2 lanes, 2^group_lanes_log2 of them in a group of vectors; columns of a block's tile; words of a warp's stacks,
       and the levels of its lanes. */
    int warps, rows_at_once, class_warps, classes, lanes_log2, group_lanes_log2, tile_columns, stack_words, lane_levels;
    /* block_x: elements of a run where an output has several, else 0; e / run = (high(e * run_magic) + e) >> run_shift, e < 2^31 */
    uint32_t run, run_magic, run_shift;
    /* warp: threads that share a row; lines and bytes of a row; bytes from row to row of a tile, 0 where rows are packed;
       v / (vectors of a row) = (v * row_magic) >> 16. */
    int mates, lines, row_bytes, pitch, row_magic;
    bool columns; /* thread: a vector of columns each */
    bool shifted; /* straight_columns: rows start anywhere, those of a class alike */
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
    const unsigned char *in;  /* at the origin of the walk */
    const unsigned char *end; /* of the bytes that hold elements */
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
