/* What strategies share: staging and folding of lines, the fold of contiguous rows and chunks, and the tree over
   chunks. Elements that are neither of the working type nor fused into the fold are converted and mapped tile by tile
   into scratch that stays in L1; all others go to the fold as they lie. */
#include "worker.h"

enum {
    PIECE_BYTES = 512, /* staged at once */
};

static int64_t converted_size(const RdxRecipe *recipe) /* bytes of one element in one plane */
{
    bool pair = rdx_type_is_complex((RdxType)recipe->in) && !recipe->planar;
    return rdx_work_size((RdxWork)recipe->convert) * (pair ? 2 : 1);
}

static int64_t mapped_size(const RdxRecipe *recipe)
{
    return rdx_work_size((RdxWork)recipe->work) * recipe->unit;
}

typedef struct Stage {
    unsigned char *at; /* the first staged element */
    int64_t size;      /* bytes of one, in one plane */
    int64_t plane;     /* bytes between planes */
    unsigned char *converted;
    int64_t converted_size, converted_plane;
} Stage;

static Stage stage_of(const RdxWorker *worker)
{
    const RdxRecipe *recipe = worker->recipe;
    bool mapped = recipe->map != RDX_MAP_NONE;
    int64_t elements = RDX_LINES * worker->layout->tile;
    Stage stage = {.converted = worker->scratch + worker->layout->convert, .converted_size = converted_size(recipe)};
    stage.converted_plane = elements * stage.converted_size;
    stage.at = mapped ? worker->scratch + worker->layout->map : stage.converted;
    stage.size = mapped ? mapped_size(recipe) : stage.converted_size;
    stage.plane = elements * stage.size;
    return stage;
}

/* Brings n contiguous elements to place `place` of the stage, a piece at a time, asking for what lies ahead. */
static void stage_run(const RdxWorker *worker, const Stage *stage, int64_t place, const unsigned char *data, int64_t n)
{
    int64_t ahead = worker->code->load.ahead, size = rdx_types[worker->recipe->in].size;
    int64_t piece = ahead ? PIECE_BYTES / size : n;
    for (int64_t at = 0; at < n; at += piece) {
        const unsigned char *from = data + at * size;
        int64_t count = rdx_min(piece, n - at), to_place = place + at;
        if (ahead)
            rdx_prefetch(from + ahead, count * size);
        if (worker->code->convert) {
            unsigned char *to = stage->converted + to_place * stage->converted_size;
            worker->code->convert(to, from, count, stage->converted_plane);
            from = to;
        }
        if (worker->recipe->map != RDX_MAP_NONE)
            worker->code->isa->map(stage->at + to_place * stage->size, stage->plane, from, stage->converted_plane,
                                   count, worker->recipe);
    }
}

const unsigned char *rdx_stage(const RdxWorker *worker, const unsigned char *data, int64_t n)
{
    if (!worker->code->convert && worker->recipe->map == RDX_MAP_NONE)
        return data;
    Stage stage = stage_of(worker);
    stage_run(worker, &stage, 0, data, n);
    return stage.at;
}

/* Brings `width` elements from each line into scratch; sets the fold's lines and plane. */
static void stage_lines(const RdxWorker *worker, RdxFold *fold, int64_t width)
{
    Stage stage = stage_of(worker);
    int64_t row_bytes = width * rdx_types[worker->recipe->in].size;
    bool together = true; /* lines that follow each other in memory are one long line */
    for (int k = 1; k < fold->lines; k++)
        together = together && fold->line[k] == fold->line[k - 1] + row_bytes;
    if (together)
        stage_run(worker, &stage, 0, fold->line[0], fold->lines * width);
    else
        for (int k = 0; k < fold->lines; k++)
            stage_run(worker, &stage, k * width, fold->line[k], width);
    for (int k = 0; k < fold->lines; k++)
        fold->line[k] = stage.at + k * width * stage.size;
    fold->stride = width * stage.size;
    fold->plane = stage.plane;
}

void rdx_fold_lines(RdxWorker *worker, int lines, const unsigned char *const line[], int64_t stride, int64_t width,
                    const int64_t index[], const int64_t *offset, const RdxStrip *nodes)
{
    const RdxRecipe *recipe = worker->recipe;
    int in_size = rdx_types[recipe->in].size;
    RdxFold fold; /* most of it is for 16 lines; clearing it all costs more than a short fold */
    fold.lines = lines;
    fold.load = worker->code->load;
    fold.index[0] = 0;
    fold.uneven = false;
    if (recipe->indexed) {
        const int indices = rdx_min(lines, RDX_LINES); /* more are at one distance */
        memcpy(fold.index, index, (size_t)indices * sizeof *index);
        for (int k = 2; k < indices; k++)
            fold.uneven = fold.uneven || index[k] - index[k - 1] != index[1] - index[0];
    }
    if (!worker->code->staged) {
        memcpy(fold.line, line, (size_t)rdx_min(lines, stride ? 1 : RDX_LINES) * sizeof *line);
        fold.stride = stride;
        fold.plane = 0;
        fold.width = width * recipe->unit;
        rdx_strip_set(&fold.nodes, nodes);
        fold.offset = offset;
        worker->code->fold(&fold);
        return;
    }
    for (int64_t at = 0; at < width; at += worker->layout->tile) {
        int64_t columns = rdx_min(width - at, worker->layout->tile);
        for (int k = 0; k < lines; k++)
            fold.line[k] = line[k] + at * in_size;
        stage_lines(worker, &fold, columns);
        rdx_load_near(&fold.load);
        fold.width = columns * recipe->unit;
        fold.nodes = rdx_strip_at(*nodes, recipe, at * recipe->unit);
        fold.offset = offset ? offset + at : NULL;
        worker->code->fold(&fold);
    }
}

/* Rows whose last line is not whole: where that line is the last by its index and, of bf16 that folds take in pairs,
   even. Rows of 1000 f32, 7 lines and the ragged one over columns of 8 and of 7 at once: 10 GB/s of two threads on a
   Zen 4, so 27. */
static bool may_be_ragged(const RdxWorker *worker, int64_t n)
{
    const RdxRecipe *recipe = worker->recipe;
    const bool in_pairs = recipe->in == RDX_TYPE_BF16 && !worker->code->staged;
    return n > recipe->lanes && !rdx_descends(worker) && (n % 2 == 0 || !in_pairs);
}

bool rdx_rows_fit(const RdxWorker *worker, int64_t n)
{
    int64_t lanes = worker->recipe->lanes;
    const bool any = worker->recipe->algebra == RDX_ALGEBRA_ISUM; /* exact: a row has no lanes */
    return n > 0 && n <= RDX_LINES * lanes && (any || n % lanes == 0 || may_be_ragged(worker, n)) &&
           (!worker->code->staged || n <= RDX_LINES * worker->layout->tile);
}

/* Field by field, where the caller has it: clearing all of it takes a string instruction, and copying it waits for its
   stores (rows of 1024 i8, one by one from L2: 22 GB/s, so 11). */
RDX_ALWAYS_INLINE void set_rows(RdxRows *rows, const RdxWorker *worker, const unsigned char *in, int64_t step,
                                int64_t count, int64_t n, int64_t index, const RdxStrip *nodes)
{
    const RdxRecipe *recipe = worker->recipe;
    rows->in = in;
    rows->step = step;
    rows->plane = 0;
    rows->count = count;
    rows->n = n;
    rows->lanes = recipe->lanes;
    rows->unit = recipe->unit;
    rdx_strip_set(&rows->nodes, nodes);
    rows->index = index;
    rows->next_index = rows->index_step = 0;
    rows->offset = NULL;
    rows->from = NULL;
    rows->run = 0;
    rows->algebra = worker->code->algebra;
    rows->load = worker->code->load;
    if (recipe->indexed) {
        rows->index_step = rdx_index_step(worker->space);
        rows->offset = (const int64_t *)(const void *)(worker->scratch + worker->layout->table);
    }
}

void rdx_rows_fold(RdxWorker *worker, const unsigned char *in, int64_t step, int64_t count, int64_t n,
                   int64_t first_index, int64_t next_index, const RdxStrip *nodes)
{
    RdxRows rows;
    set_rows(&rows, worker, in, step, count, n, first_index, nodes);
    rows.next_index = next_index;
    if (!worker->code->staged) {
        worker->code->rows(&rows);
        return;
    }
    rdx_load_near(&rows.load);
    Stage stage = stage_of(worker);
    int64_t at_once = step == n * worker->space->in_size ? RDX_LINES * worker->layout->tile / n : 1;
    rows.step = n * stage.size;
    rows.plane = stage.plane;
    rows.in = stage.at;
    for (int64_t i = 0; i < count; i += at_once) {
        rows.count = rdx_min(at_once, count - i);
        stage_run(worker, &stage, 0, in + i * step, rows.count * n);
        rows.nodes = rdx_strip_at(*nodes, worker->recipe, i * worker->recipe->unit);
        rows.index = first_index + i * next_index;
        worker->code->rows(&rows);
    }
}

/* Sums that widen and logsumexp read a row from where it begins. Where indices descend the first line is the last. */
bool rdx_rows_fit_runs(const RdxWorker *worker)
{
    const RdxRecipe *recipe = worker->recipe;
    const bool whole = recipe->algebra == RDX_ALGEBRA_ISUM || rdx_recipe_is_twice(recipe);
    return !worker->code->staged && !whole && !rdx_descends(worker);
}

void rdx_rows_fold_runs(RdxWorker *worker, const unsigned char *in, int64_t step, int64_t count, int64_t n, int64_t run,
                        const int64_t from[], int64_t first_index, const RdxStrip *nodes)
{
    RdxRows rows;
    set_rows(&rows, worker, in, step, count, n, first_index, nodes);
    rows.run = run;
    rows.from = from;
    worker->code->rows(&rows);
}

RdxStrip rdx_worker_spare(const RdxWorker *worker, int level)
{
    RdxStrip strip;
    int64_t values = worker->layout->spare_values;
    rdx_strip_lay(&strip, worker->scratch + worker->layout->spare + level * worker->layout->spare_bytes, worker->recipe,
                  values);
    return strip;
}

void rdx_tree_fold(const RdxTree *tree, int64_t first, int64_t count, int level, RdxStrip nodes)
{
    if (count == 1) {
        tree->leaf(tree, first, level, nodes);
        return;
    }
    const RdxRecipe *recipe = tree->worker->recipe;
    int64_t left = rdx_pow2_floor(count - 1), end = (first + count) * tree->span;
    int64_t left_elements = left * tree->span;
    int64_t right_elements = rdx_min(recipe->count, end) - (first + left) * tree->span;
    RdxStrip right = rdx_worker_spare(tree->worker, level);
    rdx_tree_fold(tree, first, left, level, nodes);
    rdx_tree_fold(tree, first + left, count - left, level + 1, right);
    tree->worker->code->algebra->join(nodes, nodes, right, tree->outputs * recipe->unit, left_elements, right_elements);
}

void rdx_chunk_offsets(RdxWorker *worker, int64_t columns)
{
    if (!worker->recipe->indexed || worker->table_columns == columns)
        return;
    worker->table_columns = columns;
    int64_t *offset = (int64_t *)(void *)(worker->scratch + worker->layout->table);
    int64_t lanes = rdx_min(worker->recipe->count, worker->recipe->lanes);
    int64_t step = rdx_index_step(worker->space);
    for (int64_t lane = 0; lane < lanes; lane++)
        for (int64_t c = 0; c < columns; c++)
            offset[lane * columns + c] = lane * step;
}

/* Folds lanes [from, to) of a chunk, `lines` elements each. Lines are handed over by ascending logical index. */
static void fold_lanes(RdxWorker *worker, const unsigned char *data, int lines, int64_t from, int64_t to,
                       int64_t columns, int64_t first_index, RdxStrip lanes_strip)
{
    const RdxRecipe *recipe = worker->recipe;
    if (lines == 0 || from == to)
        return;
    int64_t lanes = recipe->lanes, line_bytes = lanes * columns * rdx_types[recipe->in].size;
    const unsigned char *line[RDX_LINES];
    int64_t index[RDX_LINES], step = 0;
    if (recipe->indexed && worker->space->reduce_rank)
        step = lanes * worker->space->reduce[worker->space->reduce_rank - 1].index;
    for (int k = 0; k < lines; k++) {
        int place = step < 0 ? lines - 1 - k : k;
        line[place] = data + k * line_bytes + from * columns * rdx_types[recipe->in].size;
        index[place] = first_index + k * step;
    }
    const int64_t *offset = (const int64_t *)(const void *)(worker->scratch + worker->layout->table);
    const RdxStrip nodes = rdx_strip_at(lanes_strip, recipe, from * columns * recipe->unit);
    rdx_fold_lines(worker, lines, line, step < 0 ? -line_bytes : line_bytes, (to - from) * columns, index,
                   recipe->indexed ? offset + from * columns : NULL, &nodes);
}

void rdx_chunk_lanes(RdxWorker *worker, const unsigned char *data, int64_t n, int64_t columns, int64_t first_index,
                     RdxStrip lanes_strip)
{
    int64_t lanes = worker->recipe->lanes, rest = n & (lanes - 1);
    int full = (int)(n >> __builtin_ctz((unsigned)lanes));
    fold_lanes(worker, data, full + 1, 0, rest, columns, first_index, lanes_strip);
    fold_lanes(worker, data, full, rest, lanes, columns, first_index, lanes_strip);
}

void rdx_chunk_fold(RdxWorker *worker, const unsigned char *data, int64_t n, int64_t columns, int64_t first_index,
                    const RdxStrip *nodes)
{
    const RdxRecipe *recipe = worker->recipe;
    if (columns == 1 && rdx_rows_fit(worker, n)) {
        rdx_rows_fold(worker, data, n * worker->space->in_size, 1, n, first_index, 0, nodes);
        return;
    }
    RdxStrip strip;
    int64_t lanes = recipe->lanes;
    rdx_strip_lay(&strip, worker->scratch + worker->layout->fold, recipe, rdx_min(n, lanes) * columns * recipe->unit);
    const int64_t *offset = (const int64_t *)(const void *)(worker->scratch + worker->layout->table);
    if (n < lanes) /* one line of all columns */
        rdx_fold_lines(worker, 1, &data, 0, n * columns, &first_index, recipe->indexed ? offset : NULL, &strip);
    else
        rdx_chunk_lanes(worker, data, n, columns, first_index, strip);
    worker->code->algebra->halve(&strip, n, lanes, columns * recipe->unit);
    rdx_strip_copy(*nodes, strip, recipe, columns * recipe->unit);
}

void rdx_sort_lines(int lines, const unsigned char *line[], int64_t index[])
{
    for (int i = 1; i < lines; i++) {
        const unsigned char *moved_line = line[i];
        int64_t moved = index[i];
        int j = i;
        for (; j > 0 && index[j - 1] > moved; j--) {
            index[j] = index[j - 1];
            line[j] = line[j - 1];
        }
        index[j] = moved;
        line[j] = moved_line;
    }
}
