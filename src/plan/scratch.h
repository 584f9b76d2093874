/* The memory that one CPU thread needs for one block, decided when the plan is made and read by the kernels: byte
   offsets into the thread's scratch, all multiples of 64. Widths are in elements. */
#ifndef RDX_PLAN_SCRATCH_H
#define RDX_PLAN_SCRATCH_H

#include "config.h"

enum {
    RDX_SCRATCH_LINES = 16, /* staged or gathered at once */
    RDX_STAGE_BYTES = 16384,
    RDX_STRIP_BYTES = 16384, /* of a strip's row: 4 KiB reads 5% slower, 2 KiB 15%; of the nodes of a wide row */
    RDX_LOCAL_SCRATCH = 49152,
    RDX_ROWS_BYTES = 8192, /* of short rows that are halved side by side: while they are joined no load is in flight */
};

/* Whether any order of a strip's rows gives the same bits, so that they are taken as they come. */
bool rdx_strip_any_order(const RdxSpace *space, const RdxRecipe *recipe);

/* How many rows of a strip are taken as one wide row, a power of two: rows that touch each other, up to what a strip
   reads at once; where a chunk ends within a line or is shared, one, unless any order will do. Narrower ones read at
   two thirds of the speed. */
int64_t rdx_strip_rows(const RdxSpace *space, const RdxRecipe *recipe, int residues, int64_t outputs);

/* Levels of spare strips that the lanes of a strip need. */
int64_t rdx_strip_levels(const RdxSpace *space, const RdxRecipe *recipe);

/* How many outputs have their chunks copied at once, run by run: where a chunk is many runs, those of neighbours follow
   each other. Sums of 7 x 7 images in f32, two threads, share of what memory gives: one output at a time 16%, 800 bytes
   of neighbours 55, 1600 50, 3200 45; of 14 x 14 62, 62 and 52; argmax of bf16 34, 36 and 33. Of gather, where a chunk
   is one strided run, as many outputs as fill 16 KB, so that they are halved side by side: rows of 2048 bf16 of stride
   2 from L2 32 GB/s one by one, so 41. */
int64_t rdx_rows_together(const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config);

/* Elements from one of those copies to the next: not a power of two apart, so that they do not share the sets of a
   cache. */
int64_t rdx_raw_step(const RdxSpace *space, const RdxRecipe *recipe);

/* How many short rows of n elements are folded at once. Half as many of logsumexp, which asks for the piece after next
   while it joins the nodes of one (fold_lse.inc). */
static inline int64_t rdx_rows_at_once(const RdxRecipe *recipe, int64_t n)
{
    return rdx_max(RDX_ROWS_BYTES / (rdx_recipe_is_twice(recipe) ? 2 : 1) / (n * rdx_types[recipe->in].size), 1);
}

/* Outputs of a run, which blocks are cut from: those along the innermost kept dim, or, of short columns, all. */
static inline int64_t rdx_run_outputs(const RdxSpace *space, const RdxConfig *config)
{
    if (config->strategy == RDX_STRATEGY_CPU_SHORT_COLUMNS)
        return space->keep_count;
    return rdx_space_inner_extent(space);
}

typedef struct RdxScratch {
    int64_t tile;    /* elements of a line that are staged at once */
    int64_t convert; /* converted lines: 16 * tile elements, or nothing */
    int64_t map;     /* mapped lines */
    int64_t raw;     /* gathered elements: a chunk of some outputs, or the rows of a block */
    int64_t table;   /* offsets and indices of the rows of a chunk, or indices within a line */
    int64_t fold;    /* strip that folds write to: lanes * columns nodes (rows), or one block of outputs (columns) */
    int64_t spare;   /* strips of partial results, one per level of the tree */
    int64_t spare_bytes, spare_values; /* of one of them */
    int64_t nodes;                     /* strip of finished nodes of a block */
    int64_t bytes;                     /* in all */
} RdxScratch;

/* What a strategy asks for, in elements and levels. */
typedef struct RdxScratchNeeds {
    int64_t line;    /* longest line that is folded at once */
    int64_t raw;     /* gathered elements */
    int64_t table;   /* 8-byte entries */
    int64_t fold;    /* nodes of the fold strip */
    int64_t columns; /* outputs that a spare strip holds */
    int64_t levels;  /* spare strips */
    int64_t nodes;   /* outputs of a block */
} RdxScratchNeeds;

void rdx_scratch_lay(RdxScratch *scratch, const RdxRecipe *recipe, const RdxScratchNeeds *needs);

/* Strip of `values` nodes: bytes when every part is 64-byte aligned. */
int64_t rdx_scratch_strip_bytes(const RdxRecipe *recipe, int64_t outputs);

/* What a CPU configuration needs; the one function that planning and kernels share. */
void rdx_scratch_of(RdxScratch *scratch, const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config);

/* Levels of the tree over `count` chunks: joins on the longest path. */
int64_t rdx_scratch_levels(int64_t count);

#endif
