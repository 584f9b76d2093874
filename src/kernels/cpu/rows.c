/* rows: each output's elements lie in one contiguous run, chunk after chunk; a chunk is folded where it lies, 16 lines
   of L lanes. Several runs (of several reduced dims) that are whole lines are folded where they lie too; else a chunk
   that meets the end of one is gathered, of some neighbouring outputs at once.
   gather: elements lie anywhere; each chunk is copied into scratch, run by run, and folded there. Index ops whose chunk
   is not affine in the logical index fold line by line, each with its own table of indices; their joins are exact, so
   the order is free. */
#include "worker.h"

#include "../../iter/walk.h"

/* One run of n elements, `step` bytes apart; steps of 2 elements, where every line is needed, are asked for by the copy
   itself. */
static void copy_run(const RdxWorker *worker, unsigned char *to, const unsigned char *from, int64_t n, int64_t step)
{
    const int size = worker->space->in_size;
    const int64_t ahead = rdx_ahead_in_order(&worker->code->load);
    const bool asks = ahead && step > 2 * size && step <= 256;
    int64_t piece = asks ? rdx_max(256 / step, 1) : n;
    for (int64_t at = 0; at < n; at += piece) {
        int64_t count = rdx_min(piece, n - at);
        if (asks)
            rdx_prefetch(from + at * step + ahead, count * step);
        worker->code->isa->gather(to + at * size, from + at * step, count, step, size, ahead);
    }
}

/* What to ask for while runs of neighbouring outputs are copied: those that come some 3 KB later, or nothing where one
   run is as long itself. */
static int64_t ahead_of(const RdxWorker *worker, int64_t outputs)
{
    const RdxSpace *space = worker->space;
    int64_t ahead = worker->code->load.ahead;
    if (ahead == 0 || space->reduce_rank < 2)
        return ahead;
    const RdxDim *inner = &space->reduce[space->reduce_rank - 1];
    int64_t run_bytes = inner->extent * space->in_size;
    return run_bytes >= ahead ? 0 : inner[-1].in * rdx_div_up(ahead, outputs * run_bytes);
}

/* Copies n elements from e on, of each of some neighbouring outputs, into the raw scratch, and their logical indices
   into the table. */
static void copy_elements(RdxWorker *worker, const RdxBlock *some, int64_t e, int64_t n, bool indices)
{
    const RdxSpace *space = worker->space;
    const int size = space->in_size;
    const int64_t raw_bytes = rdx_raw_step(space, worker->recipe) * size;
    unsigned char *raw = worker->scratch + worker->layout->raw;
    int64_t *table = (int64_t *)(void *)(worker->scratch + worker->layout->table);
    const RdxDim *inner = space->reduce_rank ? &space->reduce[space->reduce_rank - 1] : NULL;
    const bool contiguous = !inner || inner->in == size;
    const int64_t ahead = ahead_of(worker, some->outputs);
    RdxWalk walk;
    rdx_walk_seek(&walk, space->reduce, space->reduce_rank, e);
    for (int64_t done = 0; done < n;) {
        int64_t run = rdx_min(rdx_walk_run(&walk), n - done);
        if (contiguous)
            worker->code->isa->copy_runs(raw + done * size, raw_bytes, some->in + walk.in, some->in_step, run * size,
                                         some->outputs, ahead);
        else
            for (int64_t i = 0; i < some->outputs; i++)
                copy_run(worker, raw + i * raw_bytes + done * size, some->in + i * some->in_step + walk.in, run,
                         inner->in);
        if (indices)
            for (int64_t i = 0; i < run; i++)
                table[done + i] = space->index_offset + walk.index + i * inner->index;
        rdx_walk_advance(&walk, run);
        done += run;
    }
}

/* A chunk in scratch with an index for every element: one line at a time. */
static void fold_indexed(RdxWorker *worker, const unsigned char *raw, int64_t n, RdxStrip nodes)
{
    const RdxRecipe *recipe = worker->recipe;
    const int64_t *table = (const int64_t *)(const void *)(worker->scratch + worker->layout->table), zero = 0;
    int64_t lanes = rdx_min(n, recipe->lanes);
    RdxStrip all, line_nodes;
    unsigned char *after = rdx_strip_lay(&all, worker->scratch + worker->layout->fold, recipe, lanes);
    rdx_strip_lay(&line_nodes, after, recipe, lanes);
    for (int64_t e = 0; e < n; e += lanes) {
        const unsigned char *line = raw + e * worker->space->in_size;
        int64_t width = rdx_min(n - e, lanes);
        rdx_fold_lines(worker, 1, &line, 0, width, &zero, table + e, e ? &line_nodes : &all);
        if (e)
            worker->code->algebra->join(all, all, line_nodes, width, 1, 1);
    }
    worker->code->algebra->halve(&all, n, recipe->lanes, 1);
    rdx_strip_copy(nodes, all, recipe, 1);
}

/* A sum that widens, whose order does not show: each run is added up straight, wherever it begins and ends, whole ones
   at one distance some at once. */
static int64_t sum_of_runs(RdxWorker *worker, const unsigned char *in, int64_t e, int64_t n)
{
    const RdxSpace *space = worker->space;
    const bool spaced = space->reduce_rank == 2;
    int64_t sum[RDX_LINES], total = 0;
    const RdxStrip strip = {.part = {(unsigned char *)sum}};
    for (int64_t done = 0; done < n;) {
        RdxWalk walk;
        rdx_walk_seek(&walk, space->reduce, space->reduce_rank, e + done);
        const int64_t run = rdx_min(rdx_walk_run(&walk), n - done);
        const int64_t runs = spaced && run == space->reduce[1].extent ? rdx_min(RDX_LINES, (n - done) / run) : 1;
        rdx_rows_fold(worker, in + walk.in, space->reduce[0].in, runs, run, 0, 0, &strip);
        for (int64_t i = 0; i < runs; i++)
            total += sum[i];
        done += runs * run;
    }
    return total;
}

static void add_up(RdxWorker *worker, const RdxBlock *block, int64_t first, int64_t count, RdxStrip nodes)
{
    const RdxRecipe *recipe = worker->recipe;
    const int64_t chunk = rdx_recipe_chunk(recipe), begin = first * chunk;
    const int64_t end = rdx_min(recipe->count, begin + count * chunk);
    if (worker->space->reduce_rank < 2) {
        rdx_rows_fold(worker, block->in + begin * worker->space->in_size, block->in_step, block->outputs, end - begin,
                      0, 0, &nodes);
        return;
    }
    /* Chunk by chunk: the runs of neighbours follow each other. */
    int64_t *sum = (int64_t *)(void *)nodes.part[0];
    for (int64_t e = begin; e < end; e += chunk)
        for (int64_t i = 0; i < block->outputs; i++)
            sum[i] = (e > begin ? sum[i] : 0) +
                     sum_of_runs(worker, block->in + i * block->in_step, e, rdx_min(chunk, end - e));
}

/* Whether the logical index does not go on from run to run as it does within one: then elements that are copied from
   several have each their index in the table, else the table holds the indices within a line, the same for every
   line. */
static bool has_index_table(const RdxWorker *worker)
{
    const RdxSpace *space = worker->space;
    bool goes_on = true;
    for (int d = 1; d < space->reduce_rank; d++)
        goes_on = goes_on && space->reduce[d - 1].index == space->reduce[d].extent * space->reduce[d].index;
    return worker->recipe->indexed && !goes_on;
}

/* A chunk over several runs, each a whole number of lines, of some outputs that are rows alike. */
static void fold_row_runs(RdxWorker *worker, const RdxBlock *some, int64_t e, int64_t n, RdxStrip nodes)
{
    const RdxSpace *space = worker->space;
    const int64_t lanes = worker->recipe->lanes, lines = n / lanes;
    /* The greatest power of two that divides all three, so what comes before this chunk too. */
    const int64_t both = lines | space->reduce[space->reduce_rank - 1].extent / lanes | RDX_LINES;
    const int64_t run = (both & -both) * lanes;
    int64_t from[RDX_LINES];
    RdxWalk walk;
    rdx_walk_seek(&walk, space->reduce, space->reduce_rank, e);
    const int64_t index = space->index_offset + walk.index;
    for (int64_t k = 0; k < n / run; k++) {
        from[k] = walk.in;
        rdx_walk_advance(&walk, run);
    }
    rdx_rows_fold_runs(worker, some->in, some->in_step, some->outputs, n, run, from, index, &nodes);
}

/* The same with lines that are converted first, or of indices in any order: the lines are folded where they lie, by
   ascending logical index. */
static void fold_scattered(RdxWorker *worker, const RdxBlock *some, int64_t e, int64_t n, RdxStrip nodes)
{
    const RdxRecipe *recipe = worker->recipe;
    const RdxSpace *space = worker->space;
    int64_t lanes = recipe->lanes;
    const unsigned char *line[RDX_LINES];
    int64_t index[RDX_LINES];
    RdxWalk walk;
    RdxStrip strip;
    int lines = (int)(n / lanes);
    rdx_walk_seek(&walk, space->reduce, space->reduce_rank, e);
    for (int k = 0; k < lines; k++) {
        line[k] = some->in + walk.in;
        index[k] = space->index_offset + walk.index;
        rdx_walk_advance(&walk, lanes);
    }
    if (recipe->indexed)
        rdx_sort_lines(lines, line, index);
    const int64_t *offset = (const int64_t *)(const void *)(worker->scratch + worker->layout->table);
    rdx_strip_lay(&strip, worker->scratch + worker->layout->fold, recipe, lanes * recipe->unit);
    for (int64_t i = 0; i < some->outputs; i++) {
        rdx_fold_lines(worker, lines, line, 0, lanes, index, recipe->indexed ? offset : NULL, &strip);
        worker->code->algebra->halve(&strip, n, lanes, recipe->unit);
        rdx_strip_copy(rdx_strip_at(nodes, recipe, i * recipe->unit), strip, recipe, recipe->unit);
        for (int k = 0; i + 1 < some->outputs && k < lines; k++)
            line[k] += some->in_step;
    }
}

/* How a chunk is reached. */
typedef enum Reach {
    IN_PLACE,  /* one contiguous run holds it, or copies do where it meets the end of one */
    SCATTERED, /* every line lies in one run */
    COPIED,    /* its elements are brought together */
} Reach;

static Reach reach_of(const RdxWorker *worker, bool copy)
{
    const RdxSpace *space = worker->space;
    int64_t lanes = worker->recipe->lanes;
    if (copy || space->reduce_rank < 2)
        return copy ? COPIED : IN_PLACE;
    if ((space->reduce[space->reduce_rank - 1].extent | worker->recipe->count) % lanes == 0)
        return SCATTERED;
    return has_index_table(worker) ? COPIED : IN_PLACE;
}

/* A chunk of some neighbouring outputs, copied. */
static void fold_copies(RdxWorker *worker, const RdxBlock *some, int64_t e, int64_t n, RdxStrip nodes)
{
    const RdxRecipe *recipe = worker->recipe;
    const RdxSpace *space = worker->space;
    const bool table = has_index_table(worker);
    const int64_t raw_bytes = rdx_raw_step(space, recipe) * space->in_size;
    const int64_t step = rdx_index_step(space);
    const unsigned char *raw = worker->scratch + worker->layout->raw;
    copy_elements(worker, some, e, n, table);
    if (!table && rdx_rows_fit(worker, n)) {
        rdx_rows_fold(worker, raw, raw_bytes, some->outputs, n, space->index_offset + e * step, 0, &nodes);
        return;
    }
    for (int64_t i = 0; i < some->outputs; i++) {
        RdxStrip to = rdx_strip_at(nodes, recipe, i * recipe->unit);
        if (table)
            fold_indexed(worker, raw + i * raw_bytes, n, to);
        else
            rdx_chunk_fold(worker, raw + i * raw_bytes, n, 1, space->index_offset + e * step, &to);
    }
}

/* A chunk of some neighbouring outputs: of those that are copied, at most as many as are at once. */
static void fold_some(RdxWorker *worker, const RdxBlock *some, Reach reach, int64_t e, int64_t n, RdxStrip nodes)
{
    const RdxRecipe *recipe = worker->recipe;
    const RdxSpace *space = worker->space;
    const RdxDim *inner = space->reduce_rank ? &space->reduce[space->reduce_rank - 1] : NULL;
    int64_t offset = e * space->in_size, index = space->index_offset + (inner ? e * inner->index : 0);
    bool in_one_run = reach != COPIED;
    if (space->reduce_rank > 1 && reach != COPIED) {
        int64_t run = e / inner->extent, at = e % inner->extent;
        RdxWalk walk;
        rdx_walk_seek(&walk, space->reduce, space->reduce_rank - 1, run);
        offset = walk.in + at * space->in_size;
        index = space->index_offset + walk.index + at * inner->index;
        in_one_run = at + n <= inner->extent;
    }
    if (!in_one_run && reach != SCATTERED) {
        fold_copies(worker, some, e, n, nodes);
        return;
    }
    if (!in_one_run) {
        if (rdx_rows_fit_runs(worker) && !has_index_table(worker))
            fold_row_runs(worker, some, e, n, nodes);
        else
            fold_scattered(worker, some, e, n, nodes);
        return;
    }
    for (int64_t i = 0; i < some->outputs; i++) {
        const RdxStrip to = rdx_strip_at(nodes, recipe, i * recipe->unit);
        rdx_chunk_fold(worker, some->in + i * some->in_step + offset, n, 1, index, &to);
    }
}

enum { RUN = 8 };

typedef struct Rows {
    const RdxBlock *block;
    Reach reach;
    int64_t run; /* chunks of a leaf that fold_runs takes, 0: a leaf is a chunk, wherever it lies */
    int64_t end; /* the chunk behind the last one */
} Rows;

/* How many outputs are folded in one go, `chunks` chunks of each: up to RUN chunks that follow each other in memory
   (rows of 4096 f32 from L2: 61 GB/s row by row, 85 so). */
static int64_t outputs_a_run(const RdxWorker *worker, const RdxBlock *block, int64_t chunks)
{
    const RdxRecipe *recipe = worker->recipe;
    bool follow = block->in_step == chunks * rdx_recipe_chunk(recipe) * worker->space->in_size;
    return follow && !recipe->indexed ? RUN / chunks : 1;
}

/* `chunks` chunks, a power of two, from element e on of all outputs of the leaf: the lanes of some outputs' are joined
   side by side, then they themselves by adjacent pairs. */
static void fold_runs(const RdxTree *tree, int64_t e, int64_t chunks, RdxStrip nodes)
{
    RdxWorker *worker = tree->worker;
    const RdxBlock *block = ((const Rows *)tree->context)->block;
    const RdxRecipe *recipe = worker->recipe;
    const RdxSpace *space = worker->space;
    const int64_t chunk = rdx_recipe_chunk(recipe), at_once = outputs_a_run(worker, block, chunks);
    const int64_t index_step = space->reduce[space->reduce_rank - 1].index;
    RdxStrip strip;
    RdxWalk walk;
    rdx_strip_lay(&strip, worker->scratch + worker->layout->fold, recipe, RUN * recipe->unit);
    rdx_walk_seek(&walk, space->reduce, space->reduce_rank, e);
    for (int64_t i = 0; i < tree->outputs; i += at_once) {
        int64_t outputs = rdx_min(at_once, tree->outputs - i), all = outputs * chunks;
        rdx_rows_fold(worker, block->in + i * block->in_step + walk.in, chunk * space->in_size, all, chunk,
                      space->index_offset + walk.index, chunk * index_step, &strip);
        for (int64_t pairs = all / 2; pairs >= outputs; pairs /= 2)
            worker->code->algebra->halve_rows(strip, strip, pairs, all / pairs * chunk, 2, recipe->unit);
        rdx_strip_copy(rdx_strip_at(nodes, recipe, i * recipe->unit), strip, recipe, outputs * recipe->unit);
    }
}

static void leaf(const RdxTree *tree, int64_t number, int level, RdxStrip nodes)
{
    const Rows *rows = tree->context;
    const RdxRecipe *recipe = tree->worker->recipe;
    const RdxSpace *space = tree->worker->space;
    const int64_t e = number * tree->span;
    if (rows->run == 0) {
        int64_t n = rdx_chunk_elements(recipe, number, 1);
        int64_t at_once =
            rows->reach == SCATTERED ? tree->outputs : rdx_rows_together(space, recipe, tree->worker->config);
        for (int64_t i = 0; i < tree->outputs; i += at_once) {
            RdxBlock some = rdx_block_part(rows->block, i, at_once);
            fold_some(tree->worker, &some, rows->reach, e, n, rdx_strip_at(nodes, recipe, i * recipe->unit));
        }
        return;
    }
    int64_t first = number * rows->run, left = rdx_min(rows->end - first, rows->run);
    if (left == rows->run && e + tree->span <= recipe->count) {
        fold_runs(tree, e, rows->run, nodes);
    } else { /* the ragged end, chunk by chunk */
        Rows single = {rows->block, rows->reach, 0, rows->end};
        RdxTree chunks = {tree->worker, tree->outputs, tree->span / rows->run, leaf, &single};
        rdx_tree_fold(&chunks, first, left, level, nodes);
    }
}

/* Chunks of a leaf, a power of two, that lie in one run: all `count` of a short row, RUN of a long one, as many of each
   of several runs as divide them; 0: chunks are folded one by one. */
static int64_t run_of(const RdxWorker *worker, Reach reach, int64_t first, int64_t count)
{
    const RdxSpace *space = worker->space;
    const int64_t chunk = rdx_recipe_chunk(worker->recipe);
    if (reach == COPIED || !rdx_rows_fit(worker, chunk))
        return 0;
    if (space->reduce_rank > 1) {
        const int64_t extent = space->reduce[space->reduce_rank - 1].extent, all = extent / chunk | first | count | RUN;
        return reach == SCATTERED && extent % chunk == 0 ? all & -all : 0;
    }
    /* A leaf of its own is whole: several outputs at once have spare strips for none that is not. */
    int64_t run = count < RUN ? count : RUN;
    bool whole = count > RUN || (first + count) * chunk <= worker->recipe->count;
    return whole && (run & (run - 1)) == 0 && first % run == 0 ? run : 0;
}

static void reduce(RdxWorker *worker, const RdxBlock *block, int64_t first, int64_t count, RdxStrip nodes, bool copy)
{
    const RdxRecipe *recipe = worker->recipe;
    if (recipe->algebra == RDX_ALGEBRA_ISUM && !worker->code->staged && !copy) {
        add_up(worker, block, first, count, nodes);
        return;
    }
    const Reach reach = reach_of(worker, copy);
    RdxBlock one = *block;
    Rows rows = {&one, reach, run_of(worker, reach, first, count), first + count};
    if (!(reach == COPIED && has_index_table(worker)))
        rdx_chunk_offsets(worker, 1);
    /* Chunks of many runs take all outputs in turn: the runs of neighbours follow each other. So do rows of one
       leaf. */
    bool in_turn =
        rows.run == count || reach == SCATTERED || rdx_rows_together(worker->space, recipe, worker->config) > 1;
    const int64_t together = in_turn ? block->outputs : 1, leaf_chunks = rdx_max(rows.run, 1);
    for (int64_t i = 0; i < block->outputs; i += together) {
        one.in = block->in + i * block->in_step;
        RdxTree tree = {worker, together, leaf_chunks * rdx_recipe_chunk(recipe), leaf, &rows};
        rdx_tree_fold(&tree, first / leaf_chunks, rdx_div_up(count, leaf_chunks), 0,
                      rdx_strip_at(nodes, recipe, i * recipe->unit));
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
