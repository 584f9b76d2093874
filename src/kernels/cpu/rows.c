/* rows: each output's elements lie in one contiguous run, chunk after chunk; a chunk is folded where it lies, 16 lines of L lanes.
   gather: elements lie anywhere; each chunk is copied into scratch, run by run, and folded there. A chunk of rows that meets the
   end of a run (several reduced dims) is gathered too. Index ops whose chunk is not affine in the logical index fold line by
   line, each with its own table of indices; their joins are exact, so the order is free. */
#include "worker.h"

#include "../../iter/walk.h"

typedef struct Row {
    const unsigned char *in;
    bool always_copy;
} Row;

/* Copies n elements from e on into the raw scratch, and their logical indices into the table. */
static const unsigned char *copy_elements(RdxWorker *worker, const unsigned char *in, int64_t e, int64_t n)
{
    const RdxSpace *space = worker->space;
    int size = space->in_size;
    unsigned char *raw = worker->scratch + worker->plan->raw;
    int64_t *table = (int64_t *)(void *)(worker->scratch + worker->plan->table);
    RdxWalk walk;
    rdx_walk_seek(&walk, space->reduce, space->reduce_rank, e);
    for (int64_t done = 0; done < n;) {
        const RdxDim *inner = space->reduce_rank ? &space->reduce[space->reduce_rank - 1] : NULL;
        int64_t run = rdx_min(rdx_walk_run(&walk), n - done);
        worker->code->isa->gather(raw + done * size, in + walk.in, run, inner ? inner->in : size, size);
        if (worker->recipe->indexed)
            for (int64_t i = 0; i < run; i++)
                table[done + i] = space->index_offset + walk.index + i * (inner ? inner->index : 0);
        rdx_walk_advance(&walk, run);
        done += run;
    }
    return raw;
}

/* A chunk in scratch with an index for every element: one line at a time. */
static void fold_indexed(RdxWorker *worker, const unsigned char *raw, int64_t n, RdxStrip nodes)
{
    const RdxRecipe *recipe = worker->recipe;
    const int64_t *table = (const int64_t *)(const void *)(worker->scratch + worker->plan->table), zero = 0;
    int64_t lanes = rdx_min(n, recipe->lanes);
    RdxStrip all, line_nodes;
    unsigned char *after = rdx_strip_lay(&all, worker->scratch + worker->plan->fold, recipe, lanes);
    rdx_strip_lay(&line_nodes, after, recipe, lanes);
    for (int64_t e = 0; e < n; e += lanes) {
        const unsigned char *line = raw + e * worker->space->in_size;
        int64_t width = rdx_min(n - e, lanes);
        rdx_fold_lines(worker, 1, &line, 0, width, &zero, table + e, e ? line_nodes : all);
        if (e)
            worker->code->algebra->join(all, all, line_nodes, width, 1, 1);
    }
    worker->code->algebra->halve(all, n, recipe->lanes, 1);
    rdx_strip_copy(nodes, all, recipe, 1);
}

/* A chunk over several runs, each a whole number of lines: the lines are folded where they lie. */
static void fold_scattered(RdxWorker *worker, const unsigned char *in, int64_t e, int64_t n, RdxStrip nodes)
{
    const RdxRecipe *recipe = worker->recipe;
    const RdxSpace *space = worker->space;
    int64_t lanes = recipe->lanes, line_bytes = lanes * space->in_size;
    const unsigned char *line[RDX_LINES];
    RdxWalk walk;
    RdxStrip strip;
    int lines = (int)(n / lanes);
    rdx_walk_seek(&walk, space->reduce, space->reduce_rank, e);
    for (int k = 0; k < lines; k++) {
        line[k] = in + walk.in;
        rdx_walk_advance(&walk, lanes);
    }
    for (int k = 0; k < lines;
         k++) { /* the next chunk; past the last one the walk is back at the first, which does no harm */
        rdx_prefetch(in + walk.in, line_bytes);
        rdx_walk_advance(&walk, lanes);
    }
    rdx_strip_lay(&strip, worker->scratch + worker->plan->fold, recipe, lanes * recipe->unit);
    rdx_fold_lines(worker, lines, line, 0, lanes, NULL, NULL, strip);
    worker->code->algebra->halve(strip, n, lanes, recipe->unit);
    rdx_strip_copy(nodes, strip, recipe, recipe->unit);
}

static void leaf(const RdxTree *tree, int64_t chunk, int level, RdxStrip nodes)
{
    (void)level;
    RdxWorker *worker = tree->worker;
    const Row *row = tree->context;
    const RdxSpace *space = worker->space;
    int64_t e = chunk * tree->span, n = rdx_chunk_elements(worker->recipe, chunk, 1);
    const RdxDim *inner = space->reduce_rank ? &space->reduce[space->reduce_rank - 1] : NULL;
    int64_t offset = e * space->in_size, index = space->index_offset + (inner ? e * inner->index : 0);
    bool in_one_run = true;
    if (space->reduce_rank > 1) {
        int64_t run = e / inner->extent, at = e % inner->extent;
        RdxWalk walk;
        rdx_walk_seek(&walk, space->reduce, space->reduce_rank - 1, run);
        offset = walk.in + at * space->in_size;
        in_one_run = at + n <= inner->extent;
    }
    if (in_one_run && !row->always_copy) {
        rdx_chunk_fold(worker, row->in + offset, n, 1, index, nodes);
        return;
    }
    bool whole_lines = inner && (inner->extent | n) % worker->recipe->lanes == 0;
    if (whole_lines && !row->always_copy && !worker->recipe->indexed) {
        fold_scattered(worker, row->in, e, n, nodes);
        return;
    }
    const unsigned char *raw = copy_elements(worker, row->in, e, n);
    if (worker->recipe->indexed)
        fold_indexed(worker, raw, n, nodes);
    else
        rdx_chunk_fold(worker, raw, n, 1, 0, nodes);
}

static void reduce(RdxWorker *worker, const RdxBlock *block, int64_t first, int64_t count, RdxStrip nodes, bool copy)
{
    const RdxRecipe *recipe = worker->recipe;
    /* The table holds either the indices of a line, the same for every chunk, or those of a copied chunk. */
    bool always_copy = copy || (recipe->indexed && worker->space->reduce_rank > 1);
    if (!always_copy)
        rdx_chunk_offsets(worker, 1);
    for (int64_t i = 0; i < block->outputs; i++) {
        Row row = {block->in + i * block->in_step, always_copy};
        RdxTree tree = {worker, 1, rdx_recipe_chunk(recipe), leaf, &row};
        rdx_tree_fold(&tree, first, count, 0, rdx_strip_at(nodes, recipe, i * recipe->unit));
    }
}

void rdx_cpu_rows(RdxWorker *worker, const RdxBlock *block, int64_t first, int64_t count, RdxStrip nodes)
{
    reduce(worker, block, first, count, nodes, false);
}

void rdx_cpu_gather(RdxWorker *worker, const RdxBlock *block, int64_t first, int64_t count, RdxStrip nodes)
{
    reduce(worker, block, first, count, nodes, true);
}
