/* short_rows: rows of at most one chunk, many at once, so that joining lanes is a vector operation over the rows of a block.
   Halves (variant 1): contiguous rows are folded into their lanes, then halved side by side until one node a row is left. Rows of
   at most L elements are one long line; longer ones are folded row by row. Lanes (variant 0): rows that are not contiguous, or
   short and of no power of two, take lane j of all rows at once, like a column; for at most L elements that is one gather. */
#include "worker.h"

static const unsigned char *rows_together(RdxWorker *worker, const RdxBlock *block, int64_t row_bytes)
{
    if (block->in_step == row_bytes || block->outputs == 1)
        return block->in;
    unsigned char *raw = worker->scratch + worker->plan->raw;
    for (int64_t i = 0; i < block->outputs; i++)
        memcpy(raw + i * row_bytes, block->in + i * block->in_step, (size_t)row_bytes);
    return raw;
}

/* The nodes of rows of one line each. An element that is its own node stays where it lies, or is staged. ahead: what to ask for
   while they are read. */
static RdxStrip fold_one_line(RdxWorker *worker, const RdxBlock *block, int64_t n, RdxStrip rows, int64_t *ahead)
{
    int64_t width = block->outputs * n, zero = worker->space->index_offset;
    const int64_t *offset = (const int64_t *)(const void *)(worker->scratch + worker->plan->table);
    const unsigned char *line = rows_together(worker, block, n * worker->space->in_size);
    if (rdx_lifts_to_itself(worker->recipe) && (!worker->code->staged || width <= RDX_LINES * worker->plan->tile) &&
        worker->code->fold == worker->code->algebra->fold) {
        RdxStrip from = rows;
        from.part[0] = (unsigned char *)(uintptr_t)rdx_stage(worker, line, width); /* not written */
        if (!worker->code->staged)
            *ahead = worker->code->load.ahead;
        return from;
    }
    rdx_fold_lines(worker, 1, &line, 0, width, &zero, worker->recipe->indexed ? offset : NULL, rows);
    return rows;
}

/* The logical index of every element of the block's rows, the same for each piece of them. */
static void fill_offsets(RdxWorker *worker, int64_t rows, int64_t n)
{
    int64_t *offset = (int64_t *)(void *)(worker->scratch + worker->plan->table);
    int64_t step = worker->space->reduce_rank ? worker->space->reduce[0].index : 0;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t e = 0; e < n; e++)
            offset[row * n + e] = e * step;
}

static void fold_each_row(RdxWorker *worker, const RdxBlock *block, int64_t n, RdxStrip rows)
{
    const RdxRecipe *recipe = worker->recipe;
    for (int64_t i = 0; i < block->outputs; i++)
        rdx_chunk_lanes(worker, block->in + i * block->in_step, n, 1, worker->space->index_offset,
                        rdx_strip_at(rows, recipe, i * recipe->lanes * recipe->unit));
}

/* Sums that widen: exact, so each run of 8 bytes becomes a node first, and few nodes a row are left to be joined. */
static bool has_words(const RdxWorker *worker, int64_t n)
{
    int size = rdx_work_size((RdxWork)worker->recipe->work);
    return worker->code->algebra->words && n * size % 8 == 0;
}

static int64_t fold_words(RdxWorker *worker, const RdxBlock *block, int64_t n, RdxStrip rows)
{
    int64_t words = n * rdx_work_size((RdxWork)worker->recipe->work) / 8, piece = RDX_LINES * worker->plan->tile / n;
    const unsigned char *line = rows_together(worker, block, n * worker->space->in_size);
    for (int64_t at = 0; at < block->outputs; at += piece) {
        int64_t count = rdx_min(piece, block->outputs - at);
        const unsigned char *from = line + at * n * worker->space->in_size, *bytes = rdx_stage(worker, from, count * n);
        worker->code->algebra->words((int64_t *)(void *)rows.part[0] + at * words, bytes, count * words,
                                     bytes == from ? worker->code->load.ahead : 0);
    }
    return words;
}

void rdx_cpu_short_rows(RdxWorker *worker, const RdxBlock *block, int64_t first, int64_t count, RdxStrip nodes)
{
    const RdxRecipe *recipe = worker->recipe;
    if (worker->config->variant == 0) {
        rdx_cpu_strips(worker, block, first, count, nodes);
        return;
    }
    RdxStrip rows;
    int64_t n = recipe->count, present = rdx_min(n, recipe->lanes);
    int64_t at_once = rdx_rows_at_once(n, worker->space->in_size);
    bool one_line = n <= recipe->lanes;
    if (recipe->indexed && one_line)
        fill_offsets(worker, rdx_min(at_once, block->outputs), n);
    else
        rdx_chunk_offsets(worker, 1);
    if (!one_line && rdx_rows_fit(worker, n)) {
        rdx_rows_fold(worker, block->in, block->in_step, block->outputs, n, worker->space->index_offset, 0, nodes);
        return;
    }
    rdx_strip_lay(&rows, worker->scratch + worker->plan->fold, recipe,
                  rdx_min(at_once, block->outputs) * present * recipe->unit);
    for (int64_t at = 0; at < block->outputs; at += at_once) {
        RdxBlock piece = {block->in + at * block->in_step, block->in_step, rdx_min(at_once, block->outputs - at)};
        if (one_line && has_words(worker, n)) {
            int64_t words = fold_words(worker, &piece, n, rows);
            worker->code->algebra->halve_rows(rows, rows, piece.outputs, words, words, 1, 0);
        } else {
            RdxStrip from = rows;
            int64_t ahead = 0;
            if (one_line)
                from = fold_one_line(worker, &piece, n, rows, &ahead);
            else
                fold_each_row(worker, &piece, n, rows);
            worker->code->algebra->halve_rows(rows, from, piece.outputs, n, recipe->lanes, recipe->unit, ahead);
        }
        rdx_strip_copy(rdx_strip_at(nodes, recipe, at * recipe->unit), rows, recipe, piece.outputs * recipe->unit);
    }
}
