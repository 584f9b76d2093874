/* What a CUDA plan launches: the kernel (cuda_kernels.def) and how its blocks cut the problem. Worked out once, when
   the plan is made, by pure C: the plugin looks the kernel up and launches it so, `explain` prints it on any machine.
   Kernels include this file. */
#ifndef RDX_PLAN_CUDA_LAUNCH_H
#define RDX_PLAN_CUDA_LAUNCH_H

#include "../recipe.h"

/* Of every device, RdxDeviceInfo's many_blocks and heavy_bytes: both measured on an H200. Emulators say otherwise. */
#ifndef RDX_CUDA_MANY_BLOCKS
#define RDX_CUDA_MANY_BLOCKS 4096
#endif
#ifndef RDX_CUDA_HEAVY_BYTES
#define RDX_CUDA_HEAVY_BYTES (128 << 20)
#endif

enum { RDX_CUDA_LEAST_COMPUTE = 80 }; /* asynchronous copies to shared memory */

typedef enum RdxFinishing {
    RDX_FINISHING_NONE,       /* a block holds whole outputs */
    RDX_FINISHING_LAST_BLOCK, /* the last block of a group joins the parts that lie in the workspace */
    RDX_FINISHING_LAUNCH,     /* a second launch of finish_grid blocks does; it also spreads copies over blocks */
} RdxFinishing;

typedef enum RdxCudaKind {
#define X(NAME, name) RDX_CUDA_KIND_##NAME,
#include "cuda_kernels.def"
#undef X
    RDX_CUDA_KINDS
} RdxCudaKind;

/* Vectors of a group, and groups in a thread's ring (ring.cuh): of rows, of columns, where lanes are looked at
   twice. */
enum {
    RDX_CUDA_THREADS = 256,
    RDX_CUDA_GROUP = 4,
    RDX_CUDA_RING_ROWS = 6,
    RDX_CUDA_RING_COLUMNS = 4,
    RDX_CUDA_RING_TWICE = 6
};
/* Parts (grid.cuh: join_row) of an output whose reduced axis is read along: what one block can join. */
enum { RDX_CUDA_MOST_PARTS = 2048 };
enum { RDX_CUDA_CHUNK_LINES = 16 }; /* of a chunk (rdx_recipe_chunk) */

/* How blocks cut the problem. A group is the outputs of one block, of short_rows, tile_rows and slabs those of a warp;
   it never crosses a multiple of run_outputs. What blocks of rows ask for before their first load comes first
   (kernels/cuda/problem.h), then what those of columns do. */
typedef struct RdxCudaShape {
    int64_t groups, group_outputs, part_chunks;
    int64_t chunks, warp_chunks; /* of an output; rows: of a warp's run */
    bool simple;                 /* an item is a group, and groups follow each other through all outputs */
    bool plain;                  /* results are stored and nothing more: one copy, no alpha, no beta */
    uint8_t value_bytes;         /* of an output, where it is plain and a value (kernels/cuda/value.cuh); else 0 */
    bool direct;                 /* and that is the node's, as it is */
    bool ascending;              /* logical indices ascend with the elements of the reduced dims */
    int finishing;               /* RdxFinishing */
    int team, team_log2;         /* rows: warps that share an output; few_columns: chunks */
    int64_t split;               /* parts of the reduced range, aligned power-of-two runs of part_chunks chunks */
    int64_t slices;              /* parts of the copies */
    int64_t run_outputs, groups_per_run;
    int residues; /* blocks that share a chunk */
    /* columns.cuh: `warps` of a block, `width` vectors and `rows_at_once` rows of a warp, `class_warps` warps that
       share columns; `classes` of lanes, each of 2^lanes_log2 lanes, 2^group_lanes_log2 of them in a group of vectors;
       columns of a block's tile; words of a warp's stacks, and the levels of its lanes. */
    int width, rows_at_once, class_warps, classes, lanes_log2, tile_columns, stack_words, lane_levels, warps,
        group_lanes_log2;
    int64_t items; /* groups x split x residues x slices */
    /* tile.cuh: a tile of `width` threads along the outputs, `height` along the lanes of a chunk. A batch of
       `batch` lanes is halved in shared memory, `batches` of them make a chunk (residue class). */
    int height, batch, batches, levels;
    bool rows;      /* neighbouring threads take neighbouring lanes, else neighbouring outputs */
    int line_rows;  /* line_rows: rows of a warp at once */
    int ring_bytes; /* of the rings of a block, or of the chunks that its warps fold */
    /* rows: elements of a run where an output has several, else 0; short_columns: outputs of a run, where blocks cross
       it; e / run = (high(e * run_magic) + e) >> run_shift, e < 2^31 */
    uint32_t run, run_magic, run_shift;
    /* short_rows, tile_rows: threads that share a row of several lines, as thread_rows says 1 (of a line,
       line_fold.cuh); lines and bytes of a row; bytes from row to row of a tile, 0 where rows are packed; v / (vectors
       of a row) = (v * row_magic) >> 16. */
    int mates, lines, row_bytes, pitch, row_magic;
    /* slabs: row_bytes and pitch are theirs, mates is 1, as of staged_runs; bytes from one to the next in memory;
       outputs of one, and the most vectors in which one lies; n / (so many) = high(n * magic). staged_runs: row_bytes
       of a run, whose elements inner_magic divides by; slab_vectors of a group's runs side by side. */
    int64_t slab_step;
    int slab_outputs, slab_vectors;
    uint32_t inner_magic, vectors_magic;
    /* No thread meets another: short_columns, whose threads have columns; repeats, whose blocks have `width`
       outputs. */
    bool columns;
    bool shifted;    /* straight_columns: rows start anywhere; short_columns: those of small elements do */
    bool descending; /* rows: logical indices descend with the elements of the reduced dims; see ascending */
    bool gathers;    /* gather_rows: several lanes at once; short_columns: outputs lie anywhere */
    bool deep;       /* short_columns, byte_columns: RDX_CUDA_DEEP_FLIGHT bytes under way of few rows */
    int64_t run_gap; /* rows in several runs: bytes from the end of one to the next */
} RdxCudaShape;

typedef struct RdxCudaLaunch {
    int kind;                    /* RdxCudaKind; RDX_CUDA_KINDS: none takes the plan */
    int elements, words;         /* of a vector, of a node: what the kernel was stamped for */
    int threads;                 /* of a block */
    int64_t blocks;              /* of the grid */
    int64_t shared_bytes;        /* dynamic, of a block */
    int64_t finish_shared_bytes; /* the same of a block that joins parts */
    int lanes;                   /* of a chunk: the recipe's, or fewer where any order will do */
    RdxCudaShape shape;
} RdxCudaLaunch;

/* Items of a block: one, of short_rows, tile_rows and slabs one for each warp. */
static inline int rdx_cuda_items_of_block(int kind)
{
    return kind == RDX_CUDA_KIND_SHORT_ROWS || kind == RDX_CUDA_KIND_TILE_ROWS || kind == RDX_CUDA_KIND_SLABS
               ? RDX_CUDA_THREADS / 32
               : 1;
}

#endif
