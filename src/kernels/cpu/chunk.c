/* What strategies share: staging and folding of lines, the fold of one contiguous chunk, and the tree over chunks.
   A line that is not of the working type is converted and mapped tile by tile into scratch that stays in L1; one that is goes
   to the fold as it lies. */
#include "worker.h"

enum { PIECE_BYTES = 1024 }; /* staged at once; as much of what comes next is asked for before */

static int64_t converted_size(const RdxRecipe *recipe) /* bytes of one element in one plane */
{
    bool pair = rdx_type_is_complex((RdxType)recipe->in) && !recipe->planar;
    return rdx_work_size((RdxWork)recipe->convert) * (pair ? 2 : 1);
}

static int64_t mapped_size(const RdxRecipe *recipe)
{
    return rdx_work_size((RdxWork)recipe->work) * recipe->unit;
}

void rdx_prefetch(const unsigned char *data, int64_t bytes)
{
    for (int64_t at = 0; at < bytes; at += 64)
        __builtin_prefetch(data + at);
}

/* Brings `width` elements from each line into scratch; sets the fold's lines and plane. more: the lines go on behind. */
static void stage(const RdxWorker *worker, RdxFold *fold, int64_t width, bool more)
{
    const RdxRecipe *recipe = worker->recipe;
    int in_size = rdx_types[recipe->in].size;
    bool mapped = recipe->map != RDX_MAP_NONE;
    int64_t plane_elements = RDX_LINES * worker->plan->tile;
    int64_t from_plane = plane_elements * converted_size(recipe), to_plane = plane_elements * mapped_size(recipe);
    unsigned char *converted = worker->scratch + worker->plan->convert,
                  *mapped_to = worker->scratch + worker->plan->map;
    bool together = true; /* lines that follow each other in memory are one long line */
    for (int k = 1; k < fold->lines; k++)
        together = together && fold->line[k] == fold->line[k - 1] + width * in_size;
    int runs = together ? 1 : fold->lines;
    int64_t length = together ? fold->lines * width : width;
    for (int k = 0; k < runs; k++) {
        int64_t piece = PIECE_BYTES / in_size;
        for (int64_t at = 0; at < length; at += piece) {
            const unsigned char *from = fold->line[k] + at * in_size;
            int64_t n = rdx_min(piece, length - at), place = k * width + at;
            if (together || more) /* what lies behind is what comes next: the line's next tile, the next chunk or row */
                rdx_prefetch(from + length * in_size, n * in_size);
            if (worker->code->convert) {
                unsigned char *to = converted + place * converted_size(recipe);
                worker->code->convert(to, from, n, from_plane);
                from = to;
            }
            if (mapped)
                worker->code->isa->map(mapped_to + place * mapped_size(recipe), to_plane, from, from_plane, n, recipe);
        }
    }
    int64_t size = mapped ? mapped_size(recipe) : converted_size(recipe);
    for (int k = 0; k < fold->lines; k++)
        fold->line[k] = (mapped ? mapped_to : converted) + k * width * size;
    fold->stride = width * size;
    fold->plane = mapped ? to_plane : from_plane;
}

void rdx_fold_lines(RdxWorker *worker, int lines, const unsigned char *const line[], int64_t stride, int64_t width,
                    const int64_t index[], const int64_t *offset, RdxStrip nodes)
{
    const RdxRecipe *recipe = worker->recipe;
    bool staged = worker->code->convert || recipe->map != RDX_MAP_NONE;
    int in_size = rdx_types[recipe->in].size;
    RdxFold fold; /* most of it is for 16 lines; clearing it all costs more than a short fold */
    fold.lines = lines;
    if (recipe->indexed)
        memcpy(fold.index, index, (size_t)lines * sizeof *index);
    if (!staged) {
        memcpy(fold.line, line, (size_t)lines * sizeof *line);
        fold.stride = stride;
        fold.plane = 0;
        fold.width = width * recipe->unit;
        fold.nodes = nodes;
        fold.offset = offset;
        worker->code->algebra->fold(&fold);
        return;
    }
    for (int64_t at = 0; at < width; at += worker->plan->tile) {
        int64_t columns = rdx_min(width - at, worker->plan->tile);
        for (int k = 0; k < lines; k++)
            fold.line[k] = line[k] + at * in_size;
        stage(worker, &fold, columns, at + columns < width);
        fold.width = columns * recipe->unit;
        fold.nodes = rdx_strip_at(nodes, recipe, at * recipe->unit);
        fold.offset = offset ? offset + at : NULL;
        worker->code->algebra->fold(&fold);
    }
}

RdxStrip rdx_worker_spare(const RdxWorker *worker, int level)
{
    RdxStrip strip;
    int64_t values = worker->plan->spare_values;
    rdx_strip_lay(&strip, worker->scratch + worker->plan->spare + level * worker->plan->spare_bytes, worker->recipe,
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
    if (!worker->recipe->indexed)
        return;
    int64_t *offset = (int64_t *)(void *)(worker->scratch + worker->plan->table);
    int64_t lanes = rdx_min(worker->recipe->count, worker->recipe->lanes);
    int64_t step = worker->space->reduce_rank ? worker->space->reduce[worker->space->reduce_rank - 1].index : 0;
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
    const int64_t *offset = (const int64_t *)(const void *)(worker->scratch + worker->plan->table);
    rdx_fold_lines(worker, lines, line, step < 0 ? -line_bytes : line_bytes, (to - from) * columns, index,
                   recipe->indexed ? offset + from * columns : NULL,
                   rdx_strip_at(lanes_strip, recipe, from * columns * recipe->unit));
}

void rdx_chunk_lanes(RdxWorker *worker, const unsigned char *data, int64_t n, int64_t columns, int64_t first_index,
                     RdxStrip lanes_strip)
{
    int64_t lanes = worker->recipe->lanes, rest = n & (lanes - 1);
    int full = (int)(n >> __builtin_ctz((unsigned)lanes));
    bool staged = worker->code->convert || worker->recipe->map != RDX_MAP_NONE;
    int64_t bytes = n * worker->space->in_size;
    if (columns == 1 && !staged) /* what lies behind is what comes next; staging asks for itself, piece by piece */
        rdx_prefetch(data + bytes, bytes);
    fold_lanes(worker, data, full + 1, 0, rest, columns, first_index, lanes_strip);
    fold_lanes(worker, data, full, rest, lanes, columns, first_index, lanes_strip);
}

void rdx_chunk_fold(RdxWorker *worker, const unsigned char *data, int64_t n, int64_t columns, int64_t first_index,
                    RdxStrip nodes)
{
    const RdxRecipe *recipe = worker->recipe;
    RdxStrip strip;
    int64_t lanes = recipe->lanes;
    rdx_strip_lay(&strip, worker->scratch + worker->plan->fold, recipe, rdx_min(n, lanes) * columns * recipe->unit);
    rdx_chunk_lanes(worker, data, n, columns, first_index, strip);
    worker->code->algebra->halve(strip, n, lanes, columns * recipe->unit);
    rdx_strip_copy(nodes, strip, recipe, columns * recipe->unit);
}
