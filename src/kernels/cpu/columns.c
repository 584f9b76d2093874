/* columns: outputs lie side by side, or apart in strips.
   Lines (variant 1): the reduced dim is contiguous with the kept one, so a line of L elements for each of C columns is
   L * C consecutive elements: add 16 such lines, then join lanes. For up to some hundred columns.
   Strips (variant 0): a strip of columns takes one lane after the other, 16 rows at a time, L rows apart; lanes come in
   the order of the halving tree (0, L/2, L/4, 3L/4, ...), so that log2 L strips of partial results are enough; short
   lanes several at once. Measured at 512 MB, f32, two threads, where rows in any order reach 46 to 50 GB/s: strips of 4
   KB 43, of 16 KB 48. */
#include "worker.h"

#include "../../iter/walk.h"

typedef struct Strip {
    const RdxBlock *block;
    int64_t chunk_first, n; /* the present chunk */
    int64_t rows;           /* neighbouring lanes taken as one wide row */
    int64_t joined;         /* lanes that are joined at once, a power of two */
} Strip;

/* Byte offset and logical index of every element of the chunk, where the reduced space is more than one dim. */
static void fill_table(RdxWorker *worker, int64_t e, int64_t n)
{
    const RdxSpace *space = worker->space;
    int64_t *offset = (int64_t *)(void *)(worker->scratch + worker->layout->table), *index = offset + n;
    RdxWalk walk;
    rdx_walk_seek(&walk, space->reduce, space->reduce_rank, e);
    for (int64_t i = 0; i < n; i++) {
        offset[i] = walk.in;
        index[i] = walk.index;
        rdx_walk_advance(&walk, 1);
    }
}

/* Elements of a lane. */
static int lines_of(const RdxWorker *worker, const Strip *strip, int64_t lane)
{
    return (int)((strip->n - 1 - lane) / worker->recipe->lanes + 1);
}

static bool lies_apart(const RdxWorker *worker, const RdxBlock *block)
{
    return block->in_step != worker->space->in_size && block->outputs > 1;
}

/* Columns that lie apart, side by side in scratch. Returns the bytes from line to line, which were `stride`. */
static int64_t gather_lines(RdxWorker *worker, const RdxBlock *block, int lines, const unsigned char *line[],
                            int64_t stride)
{
    const int size = worker->space->in_size;
    const int64_t bytes = block->outputs * size;
    unsigned char *raw = worker->scratch + worker->layout->raw;
    if (!lies_apart(worker, block))
        return stride;
    for (int k = 0; k < lines; k++) {
        worker->code->isa->gather(raw + k * bytes, line[k], block->outputs, block->in_step, size, 0);
        line[k] = raw + k * bytes;
    }
    return bytes;
}

static void fold_lane(RdxWorker *worker, const Strip *strip, int64_t lane, RdxStrip nodes)
{
    const RdxSpace *space = worker->space;
    const RdxRecipe *recipe = worker->recipe;
    const int64_t *offset = (const int64_t *)(const void *)(worker->scratch + worker->layout->table);
    const unsigned char *line[RDX_LINES];
    int64_t index[RDX_LINES], lanes = recipe->lanes;
    int lines = lines_of(worker, strip, lane);
    for (int k = 0; k < lines; k++) {
        int64_t i = lane + k * lanes, e = strip->chunk_first + i;
        bool table = space->reduce_rank > 1;
        int64_t in = space->reduce_rank ? space->reduce[0].in : 0,
                step = space->reduce_rank ? space->reduce[0].index : 0;
        line[k] = strip->block->in + (table ? offset[i] : e * in);
        index[k] = space->index_offset + (table ? offset[strip->n + i] : e * step);
    }
    int64_t stride = space->reduce_rank == 1 ? lanes * space->reduce[0].in : 0;
    if (recipe->indexed) {
        rdx_sort_lines(lines, line, index);
        stride = lines > 1 && stride ? line[1] - line[0] : 0;
    }
    stride = gather_lines(worker, strip->block, lines, line, stride);
    rdx_fold_lines(worker, lines, line, stride, strip->rows * strip->block->outputs, index, NULL, &nodes);
}

/* Lanes r, r + h, ... of a node, RDX_JOINED at most. */
static void fold_joined(RdxWorker *worker, const Strip *strip, int64_t h, int64_t r, RdxStrip nodes)
{
    const int64_t in = worker->space->reduce[0].in, lanes = worker->recipe->lanes, n = strip->n;
    const int lines = lines_of(worker, strip, r);
    const int64_t whole = rdx_min(n - (lines - 1) * lanes, lanes); /* lanes before this one have as many */
    RdxFold fold;
    fold.load = worker->code->load;
    fold.stride = lanes * in;
    fold.width = strip->rows * strip->block->outputs * worker->recipe->unit;
    fold.nodes = nodes;
    fold.lanes = (int)((rdx_min(n, lanes) - 1 - r) / h + 1);
    fold.lane_step = h * in;
    fold.longer = (int)((whole - 1 - r) / h + 1);
    fold.lines = lines;
    fold.line[0] = strip->block->in + (strip->chunk_first + r) * in;
    worker->code->join_lanes(&fold);
}

/* Node (h, r) of the lane tree; r < n. Of a wide row: the nodes of its rows side by side. */
static void fold_node(RdxWorker *worker, const Strip *strip, int64_t h, int64_t r, int level, RdxStrip nodes)
{
    const RdxRecipe *recipe = worker->recipe;
    if (h * strip->joined >= rdx_min(recipe->lanes, strip->n)) { /* what is folded at once: a lane, or several */
        if (strip->joined == 1)
            fold_lane(worker, strip, r, nodes);
        else
            fold_joined(worker, strip, h, r, nodes);
        return;
    }
    fold_node(worker, strip, 2 * h, r, level, nodes);
    if (r + h >= strip->n)
        return;
    RdxStrip right = rdx_worker_spare(worker, level);
    fold_node(worker, strip, 2 * h, r + h, level + 1, right);
    worker->code->algebra->join(nodes, nodes, right, strip->rows * strip->block->outputs * recipe->unit,
                                (strip->n - 1 - r) / (2 * h) + 1, (strip->n - 1 - r - h) / (2 * h) + 1);
}

static RdxStrip wide_nodes(const RdxWorker *worker, const Strip *strip)
{
    RdxStrip wide;
    rdx_strip_lay(&wide, worker->scratch + worker->layout->fold, worker->recipe,
                  strip->rows * strip->block->outputs * worker->recipe->unit);
    return wide;
}

/* The rows of a wide row are joined, of n elements a column: the last levels of the lane tree. */
static void join_wide(RdxWorker *worker, const Strip *strip, RdxStrip wide, int64_t n, RdxStrip nodes)
{
    const RdxRecipe *recipe = worker->recipe;
    const int64_t values = strip->block->outputs * recipe->unit;
    for (int64_t h = strip->rows / 2; h >= 1; h /= 2)
        worker->code->algebra->join(h == 1 ? nodes : wide, wide, rdx_strip_at(wide, recipe, h * values), h * values,
                                    n / (2 * h), n / (2 * h));
}

/* The lane tree down to one wide row, then its rows are joined. */
static void fold_wide(RdxWorker *worker, const Strip *strip, int level, RdxStrip nodes)
{
    const RdxStrip wide = wide_nodes(worker, strip);
    fold_node(worker, strip, strip->rows, 0, level, wide);
    join_wide(worker, strip, wide, strip->n, nodes);
}

enum {
    /* Rows of a power of two of bytes share the sets of L1, which have 12 ways: of 16 KB on two threads of a Xeon, 16
       at once and 8, max f32 27 and 31 GB/s, f64 20 and 28, argmax f32 25 and 28, count 25 and 30. */
    EXACT_LINES = 8,
    NARROW_LINES = 128,
};

/* Lines of `wide` rows each, from row `first` on, in the order of logical indices, some at once; of narrow elements so
   many as a fold holds: 128 u8 add up to what an i16 holds, and 128 truths to what a u8 holds (RdxWide_t8). */
static void fold_in_order(RdxWorker *worker, const Strip *strip, int64_t first, int64_t count, int64_t wide, int level,
                          RdxStrip nodes)
{
    const RdxDim *rows = &worker->space->reduce[0];
    const bool backwards = worker->recipe->indexed && rows->index < 0;
    const bool many = worker->code->many_lines && rows->in != 0 && !lies_apart(worker, strip->block);
    const int64_t at_once = many ? NARROW_LINES : EXACT_LINES, width = wide * strip->block->outputs,
                  step = wide * rows->in;
    for (int64_t at = 0; at < count; at += at_once) {
        const unsigned char *line[RDX_LINES];
        int64_t index[RDX_LINES];
        const int lines = (int)rdx_min(at_once, count - at);
        for (int k = 0; k < rdx_min(lines, RDX_LINES); k++) {
            int64_t row = first + (at + (backwards ? lines - 1 - k : k)) * wide;
            line[k] = strip->block->in + row * rows->in;
            index[k] = worker->space->index_offset + row * rows->index;
        }
        const int64_t stride = gather_lines(worker, strip->block, lines, line, backwards ? -step : step);
        RdxStrip to = at ? rdx_worker_spare(worker, level) : nodes;
        rdx_fold_lines(worker, lines, line, stride, width, index, NULL, &to);
        if (at)
            worker->code->algebra->join(nodes, nodes, to, width * worker->recipe->unit, 1, 1);
    }
}

/* Where any order gives the same bits, rows are taken as they come, and narrow ones that touch some as one wide row:
   sums of 127 columns of i8 6 GB/s one by one, and 22. Where a chunk is shared, the rows of a residue follow each
   other: every fourth KB of i8 took two threads longer than one took all of it (4096 x 1024, 292 and 170 us). */
static void fold_exact(RdxWorker *worker, const Strip *strip, int level, RdxStrip nodes)
{
    const int64_t residue = worker->residue, each = strip->n / worker->config->residues,
                  more = strip->n % worker->config->residues;
    const int64_t first = strip->chunk_first + residue * each + rdx_min(residue, more), n = each + (residue < more);
    const int64_t lines = strip->rows > 1 ? n / strip->rows : 0, rest = n - lines * strip->rows;
    const RdxStrip wide = wide_nodes(worker, strip);
    if (lines > 0) {
        fold_in_order(worker, strip, first, lines, strip->rows, level, wide);
        join_wide(worker, strip, wide, n - rest, rest == 0 ? nodes : wide);
    }
    if (rest > 0)
        fold_in_order(worker, strip, first + n - rest, rest, 1, level, nodes);
    if (lines > 0 && rest > 0)
        worker->code->algebra->join(nodes, nodes, wide, strip->block->outputs * worker->recipe->unit, 1, 1);
}

/* How many lanes are joined at once: as many as have 16 lines, so that no more is read at once than of a long lane. */
static int64_t lanes_joined(const RdxWorker *worker, const Strip *strip)
{
    const RdxSpace *space = worker->space;
    const int64_t lines = rdx_div_up(strip->n, worker->recipe->lanes), width = strip->rows * strip->block->outputs;
    if (!worker->code->join_lanes || space->reduce_rank != 1 || width < RDX_JOINED_WIDTH ||
        lies_apart(worker, strip->block))
        return 1;
    return rdx_min(rdx_pow2_floor(RDX_LINES / lines), RDX_JOINED);
}

static void strip_leaf(const RdxTree *tree, int64_t chunk, int level, RdxStrip nodes)
{
    RdxWorker *worker = tree->worker;
    Strip strip = {tree->context, chunk * tree->span, rdx_chunk_elements(worker->recipe, chunk, 1), 1, 1};
    const RdxSpace *space = worker->space;
    const bool columns = worker->config->strategy == RDX_STRATEGY_CPU_COLUMNS;
    if (columns)
        strip.rows = rdx_strip_rows(space, worker->recipe, worker->config->residues, strip.block->outputs);
    /* short_rows has room for one line that is gathered, not for eight. */
    if (rdx_strip_any_order(space, worker->recipe) && (columns || !lies_apart(worker, strip.block))) {
        fold_exact(worker, &strip, level, nodes);
        return;
    }
    if (space->reduce_rank > 1)
        fill_table(worker, strip.chunk_first, strip.n);
    if (strip.n % worker->recipe->lanes != 0)
        strip.rows = 1;
    strip.joined = lanes_joined(worker, &strip);
    if (strip.rows == 1)
        fold_node(worker, &strip, worker->config->residues, worker->residue, level, nodes);
    else
        fold_wide(worker, &strip, level, nodes);
}

void rdx_cpu_strips(RdxWorker *worker, const RdxBlock *block, int64_t first, int64_t count, RdxStrip nodes)
{
    RdxTree tree = {worker, block->outputs, rdx_recipe_chunk(worker->recipe), strip_leaf, block};
    rdx_tree_fold(&tree, first, count, 0, nodes);
}

static void line_leaf(const RdxTree *tree, int64_t chunk, int level, RdxStrip nodes)
{
    (void)level;
    RdxWorker *worker = tree->worker;
    const RdxBlock *block = tree->context;
    const RdxSpace *space = worker->space;
    int64_t e = chunk * tree->span, step = space->reduce_rank ? space->reduce[0].index : 0;
    rdx_chunk_fold(worker, block->in + e * block->outputs * space->in_size,
                   rdx_chunk_elements(worker->recipe, chunk, 1), block->outputs, space->index_offset + e * step,
                   &nodes);
}

void rdx_cpu_columns(RdxWorker *worker, const RdxBlock *block, int64_t first, int64_t count, RdxStrip nodes)
{
    if (worker->config->variant == 0) {
        rdx_cpu_strips(worker, block, first, count, nodes);
        return;
    }
    RdxTree tree = {worker, block->outputs, rdx_recipe_chunk(worker->recipe), line_leaf, block};
    rdx_chunk_offsets(worker, block->outputs);
    rdx_tree_fold(&tree, first, count, 0, nodes);
}
