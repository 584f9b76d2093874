/* short_rows: rows of at most one chunk, many at once, so that joining lanes is a vector operation over the rows of a
   block. Halves (variant 1): contiguous rows are folded into their lanes, then halved side by side until one node a row
   is left. Rows of at most L elements that have no kernel are turned into columns; longer ones are folded row by row.
   Lanes (variant 0): rows that are not contiguous take lane j of all rows at once, like a column; for at most L
   elements that is one gather. */
#include "worker.h"

static const unsigned char *rows_together(RdxWorker *worker, const RdxBlock *block, int64_t row_bytes)
{
    if (block->in_step == row_bytes || block->outputs == 1)
        return block->in;
    unsigned char *raw = worker->scratch + worker->layout->raw;
    for (int64_t i = 0; i < block->outputs; i++)
        memcpy(raw + i * row_bytes, block->in + i * block->in_step, (size_t)row_bytes);
    return raw;
}

/* Rows of one line whose length is a power of two have a kernel in most algebras, those of some groups in sums. */
static bool has_kernel(const RdxWorker *worker, int64_t n)
{
    const int64_t bytes = n * rdx_work_size((RdxWork)worker->recipe->work);
    const bool crooked =
        worker->code->algebra->crooked && bytes > RDX_GROUP_BYTES && bytes <= RDX_GROUP_BYTES * RDX_GROUPS;
    return worker->code->short_rows && worker->recipe->unit == 1 && n > 1 && (n == rdx_pow2_floor(n) || crooked);
}

static void fold_short(RdxWorker *worker, const RdxBlock *block, int64_t n, int64_t at_once, RdxStrip nodes)
{
    const RdxSpace *space = worker->space;
    const int64_t row_bytes = n * space->in_size;
    const bool staged = worker->code->staged, together = block->in_step == row_bytes;
    RdxRows rows = {.n = n, .at_once = at_once, .algebra = worker->code->algebra, .load = worker->code->load};
    rdx_strip_lay(&rows.room, worker->scratch + worker->layout->fold, worker->recipe, at_once * n);
    rows.index = space->index_offset;
    rows.index_step = rdx_index_step(space);
    if (!together || staged)
        rdx_load_near(&rows.load);
    const int64_t piece = staged     ? rdx_min(at_once, RDX_LINES * worker->layout->tile / n)
                          : together ? block->outputs
                                     : at_once;
    for (int64_t at = 0; at < block->outputs; at += piece) {
        const RdxBlock some = rdx_block_part(block, at, piece);
        rows.count = some.outputs;
        rows.in = rows_together(worker, &some, row_bytes);
        if (staged)
            rows.in = rdx_stage(worker, rows.in, rows.count * n);
        rows.nodes = rdx_strip_at(nodes, worker->recipe, at);
        worker->code->short_rows(&rows);
    }
}

/* Of indices, where they ascend. */
static bool has_any_rows(const RdxWorker *worker, int64_t n)
{
    return worker->code->any_rows && !rdx_descends(worker) && n * worker->space->in_size >= RDX_BLOCK_BYTES;
}

static void fold_any_rows(RdxWorker *worker, const RdxBlock *block, int64_t n, RdxStrip nodes)
{
    RdxRows rows = {.in = block->in, .step = block->in_step, .count = block->outputs, .n = n, .nodes = nodes};
    rows.algebra = worker->code->algebra;
    rows.load = worker->code->load;
    rows.index = worker->space->index_offset;
    rows.index_step = rdx_index_step(worker->space);
    worker->code->any_rows(&rows);
}

/* Rows turned on their side, some at a time, are lines of columns, which join whole registers. The rows two pieces on
   are asked for into the second cache: no load is in flight while columns are folded and joined. */
static void fold_turned(RdxWorker *worker, const RdxBlock *block, int64_t n, int64_t at_once, RdxStrip nodes)
{
    enum { elements = 4096, whole = 16, far = 8192 };
    const RdxSpace *space = worker->space;
    unsigned char *columns = worker->scratch + worker->layout->raw;
    const bool asks = worker->code->load.ahead && block->in_step == n * space->in_size;
    const int64_t wanted = rdx_min(at_once, rdx_max(elements / n, whole));
    const int64_t piece = wanted > whole ? wanted / whole * whole : wanted;
    int64_t count = 0;
    for (int64_t at = 0; at < block->outputs; at += count) {
        const unsigned char *in = block->in + at * block->in_step;
        count = rdx_min(piece, block->outputs - at);
        rdx_chunk_offsets(worker, count);
        if (asks)
            rdx_prefetch_far(in + far, count * block->in_step);
        worker->code->isa->turn(columns, in, block->in_step, count, n, space->in_size);
        const RdxStrip to = rdx_strip_at(nodes, worker->recipe, at * worker->recipe->unit);
        rdx_chunk_fold(worker, columns, n, count, space->index_offset, &to);
    }
}

static void fold_each_row(RdxWorker *worker, const RdxBlock *block, int64_t n, RdxStrip rows)
{
    const RdxRecipe *recipe = worker->recipe;
    for (int64_t i = 0; i < block->outputs; i++)
        rdx_chunk_lanes(worker, block->in + i * block->in_step, n, 1, worker->space->index_offset,
                        rdx_strip_at(rows, recipe, i * recipe->lanes * recipe->unit));
}

/* Sums that widen: exact, so each run of 8 bytes becomes a node first, and few nodes a row are left to be joined. Not
   of elements that are narrowed as they are loaded, counts of f32, which would have to be staged. */
static bool has_words(const RdxWorker *worker, int64_t n)
{
    const int size = rdx_work_size((RdxWork)worker->recipe->work);
    return worker->code->algebra->words && n * size % 8 == 0 &&
           (worker->code->staged || worker->space->in_size == size);
}

static void fold_words(RdxWorker *worker, const RdxBlock *block, int64_t n, RdxStrip room, RdxStrip nodes)
{
    int64_t words = n * rdx_work_size((RdxWork)worker->recipe->work) / 8, piece = RDX_LINES * worker->layout->tile / n;
    const unsigned char *line = rows_together(worker, block, n * worker->space->in_size);
    RdxStrip to = words == 1 ? nodes : room;
    for (int64_t at = 0; at < block->outputs; at += piece) {
        int64_t count = rdx_min(piece, block->outputs - at);
        const unsigned char *from = line + at * n * worker->space->in_size, *bytes = rdx_stage(worker, from, count * n);
        worker->code->algebra->words((int64_t *)(void *)to.part[0] + at * words, bytes, count * words,
                                     bytes == from ? worker->code->load.ahead : 0);
    }
    if (words > 1)
        worker->code->algebra->halve_rows(nodes, room, block->outputs, words, words, 1);
}

/* The same row by row, but for the shortest: 16 i8 from L2 16 GB/s, by words 28; 64 of them 38 and 25. Few elements
   that are no whole vectors are turned: 4 f32 that count 2.1 GB/s, so 7.9, 5 i8 3.3 and 5.1, but 23 i8 6.6 and 3.2. */
static bool sums_rows(const RdxWorker *worker, int64_t n)
{
    enum { shortest = 64, fewest = 16, vector = 32 };
    const int size = worker->code->staged ? rdx_work_size((RdxWork)worker->recipe->work) : worker->space->in_size;
    const bool few = n < fewest && n * size % vector != 0 && !has_words(worker, n);
    const bool short_words = has_words(worker, n) && n == rdx_pow2_floor(n) && n * worker->space->in_size < shortest;
    return worker->recipe->algebra == RDX_ALGEBRA_ISUM && !short_words && !few;
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
    int64_t at_once = rdx_rows_at_once(recipe, n);
    bool one_line = n <= recipe->lanes;
    if (one_line && has_kernel(worker, n)) {
        fold_short(worker, block, n, rdx_min(at_once, block->outputs), nodes);
        return;
    }
    if (!one_line)
        rdx_chunk_offsets(worker, 1);
    if ((!one_line || sums_rows(worker, n)) && rdx_rows_fit(worker, n)) {
        rdx_rows_fold(worker, block->in, block->in_step, block->outputs, n, worker->space->index_offset, 0, &nodes);
        return;
    }
    if (one_line && has_any_rows(worker, n)) {
        fold_any_rows(worker, block, n, nodes);
        return;
    }
    if (one_line && !has_words(worker, n)) {
        fold_turned(worker, block, n, rdx_min(at_once, block->outputs), nodes);
        return;
    }
    rdx_strip_lay(&rows, worker->scratch + worker->layout->fold, recipe,
                  rdx_min(at_once, block->outputs) * present * recipe->unit);
    for (int64_t at = 0; at < block->outputs; at += at_once) {
        RdxBlock piece = rdx_block_part(block, at, at_once);
        RdxStrip to = rdx_strip_at(nodes, recipe, at * recipe->unit);
        if (one_line) {
            fold_words(worker, &piece, n, rows, to);
        } else {
            fold_each_row(worker, &piece, n, rows);
            worker->code->algebra->halve_rows(to, rows, piece.outputs, n, recipe->lanes, recipe->unit);
        }
    }
}
