/* What one thread holds while it works on a launch, and the pieces that strategies share. A strategy is one function
   that reduces a run of chunks for a block of outputs into nodes; everything before (threads, parts) and after (finish,
   store) is run.c. */
#ifndef RDX_KERNELS_CPU_WORKER_H
#define RDX_KERNELS_CPU_WORKER_H

#include "../../plan/scratch.h"
#include "../kernel.h"
#include "strip.h"

_Static_assert((int)RDX_SCRATCH_LINES == (int)RDX_LINES, "room for what is folded at once");

typedef struct RdxWorker RdxWorker;

/* Consecutive outputs of a run (rdx_run_outputs). */
typedef struct RdxBlock {
    const unsigned char *in; /* element 0 of the first output */
    int64_t in_step;         /* bytes to the next output's, along the innermost kept dim */
    int64_t outputs;
    int64_t first; /* the first one's number in its run */
} RdxBlock;

/* Outputs at .. of a block, `most` at most. */
static inline RdxBlock rdx_block_part(const RdxBlock *block, int64_t at, int64_t most)
{
    return (RdxBlock){block->in + at * block->in_step, block->in_step, rdx_min(most, block->outputs - at),
                      block->first + at};
}

/* Nodes of the block's outputs over chunks first .. first + count - 1 (an aligned run, or the ragged end), or over
   worker->residue of the one chunk. */
typedef void (*RdxReduce)(RdxWorker *worker, const RdxBlock *block, int64_t first, int64_t count, RdxStrip nodes);

typedef struct RdxCpuCode {
    const RdxIsa *isa;
    const RdxAlgebraCode *algebra;
    void (*fold)(const RdxFold *fold); /* the algebra's, or fused with convert and map */
    void (*rows)(const RdxRows *rows);
    void (*short_rows)(const RdxRows *rows); /* may be NULL, as the next two */
    void (*any_rows)(const RdxRows *rows);
    void (*join_lanes)(const RdxFold *fold);
    RdxLoad load;
    bool many_lines;    /* exact folds in narrow lanes: 128 lines at one distance go into one */
    bool half_keys;     /* keys of f16 were made of its bits (narrow.h) */
    int32_t key_offset; /* what keys of bytes lack */
    bool staged;        /* elements are converted and mapped before they are folded */
    RdxConvert convert; /* NULL: elements are of the working type already */
    RdxConvert old;     /* out elements -> result type, for beta; NULL: they are of it already */
    RdxStore store, store2;
    bool streams; /* outputs are so many that no cache keeps them */
    RdxReduce reduce;
    RdxScratch scratch; /* laid out once, when the plan is bound */
} RdxCpuCode;

struct RdxWorker {
    const RdxSpace *space;
    const RdxRecipe *recipe;
    const RdxConfig *config;
    const RdxCpuCode *code;
    const RdxScratch *layout; /* of what lies at scratch */
    unsigned char *scratch;
    double alpha, beta;
    int residue;           /* of config->residues: whose share of each chunk is folded (config.h) */
    int64_t table_columns; /* whose offsets the table has (rdx_chunk_offsets); 0: no one's */
};

/* From the logical index of an element to the next one's, along the innermost reduced dim. */
static inline int64_t rdx_index_step(const RdxSpace *space)
{
    return space->reduce_rank ? space->reduce[space->reduce_rank - 1].index : 0;
}

/* Whether indices fall there where addresses rise. */
static inline bool rdx_descends(const RdxWorker *worker)
{
    return worker->recipe->indexed && rdx_index_step(worker->space) < 0;
}

/* Elements of chunks first .. first + count - 1. */
static inline int64_t rdx_chunk_elements(const RdxRecipe *recipe, int64_t first, int64_t count)
{
    int64_t chunk = rdx_recipe_chunk(recipe);
    return rdx_min(recipe->count - first * chunk, count * chunk);
}

/* Stages and folds `lines` lines of `width` elements each into nodes. stride: bytes from line to line, 0 if uneven;
   where nothing is staged and it is not 0, line[0] is enough and there may be more than 16. index: logical index of
   every line's first element, offset: that of each element within its line or NULL (indexed algebras only; index in
   ascending order). */
void rdx_fold_lines(RdxWorker *worker, int lines, const unsigned char *const line[], int64_t stride, int64_t width,
                    const int64_t index[], const int64_t *offset, const RdxStrip *nodes);

/* The tree over leaves first .. first + count - 1, each of `span` elements: adjacent pairs, a ragged edge moves up. */
typedef struct RdxTree {
    RdxWorker *worker;
    int64_t outputs; /* nodes side by side */
    int64_t span;
    void (*leaf)(const struct RdxTree *tree, int64_t leaf, int level, RdxStrip nodes);
    const void *context;
} RdxTree;

void rdx_tree_fold(const RdxTree *tree, int64_t first, int64_t count, int level, RdxStrip nodes);

/* The spare strip of a level of the tree. */
RdxStrip rdx_worker_spare(const RdxWorker *worker, int level);

/* n contiguous elements of the working type, mapped: where they lie, or in the stage, which holds 16 tiles. */
const unsigned char *rdx_stage(const RdxWorker *worker, const unsigned char *data, int64_t n);

/* Lines by ascending logical index: the first of equals must be the one with the lowest. */
void rdx_sort_lines(int lines, const unsigned char *line[], int64_t index[]);

/* Rows of n contiguous elements, `step` bytes apart, where rdx_rows_fit: a whole line and more, at most a chunk. A node
   for each. Logical indices: of the first row's first element, and from there to the next row's. */
bool rdx_rows_fit(const RdxWorker *worker, int64_t n);
void rdx_rows_fold(RdxWorker *worker, const unsigned char *in, int64_t step, int64_t count, int64_t n,
                   int64_t first_index, int64_t next_index, const RdxStrip *nodes);

/* The same for rows of whole lines in several runs of `run` elements, where rdx_rows_fit_runs: from: where each run
   begins, in bytes from the row's start. All have the same logical indices, which go on from run to run. */
bool rdx_rows_fit_runs(const RdxWorker *worker);
void rdx_rows_fold_runs(RdxWorker *worker, const unsigned char *in, int64_t step, int64_t count, int64_t n, int64_t run,
                        const int64_t from[], int64_t first_index, const RdxStrip *nodes);

/* One chunk of `columns` outputs that lie side by side, lanes * columns elements a line, contiguous from `data`. */
void rdx_chunk_fold(RdxWorker *worker, const unsigned char *data, int64_t n, int64_t columns, int64_t first_index,
                    const RdxStrip *nodes);

/* Its lanes alone, min(n, L) * columns nodes, not yet joined. */
void rdx_chunk_lanes(RdxWorker *worker, const unsigned char *data, int64_t n, int64_t columns, int64_t first_index,
                     RdxStrip lanes_strip);

/* Fills the table with the logical indices of a line's elements relative to its first: w / columns * step. A launch
   that asks for them has no other use for the table: once filled, it stays. */
void rdx_chunk_offsets(RdxWorker *worker, int64_t columns);

/* Strips of outputs side by side, one lane of 16 elements at a time; a kept dim that is not contiguous is gathered. */
void rdx_cpu_strips(RdxWorker *worker, const RdxBlock *block, int64_t first, int64_t count, RdxStrip nodes);

void rdx_cpu_short_rows(RdxWorker *worker, const RdxBlock *block, int64_t first, int64_t count, RdxStrip nodes);
void rdx_cpu_columns(RdxWorker *worker, const RdxBlock *block, int64_t first, int64_t count, RdxStrip nodes);
void rdx_cpu_short_columns(RdxWorker *worker, const RdxBlock *block, int64_t first, int64_t count, RdxStrip nodes);
void rdx_cpu_rows(RdxWorker *worker, const RdxBlock *block, int64_t first, int64_t count, RdxStrip nodes);
void rdx_cpu_gather(RdxWorker *worker, const RdxBlock *block, int64_t first, int64_t count, RdxStrip nodes);
void rdx_cpu_reference(RdxWorker *worker, const RdxBlock *block, int64_t first, int64_t count, RdxStrip nodes);

#endif
