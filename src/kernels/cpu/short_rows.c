/* short_rows: rows of at most L elements, many at once, so that every step is a vector operation over the rows of a block.
   Halves (variant 1): rows of a power of two are lifted as one long line, then halved side by side: split every row into its two
   halves, join them, until one node a row is left. Lanes (variant 0): any other length takes lane j of all rows at once, like a
   column; a row has one element a lane, so that is one gather. */
#include "worker.h"

static const unsigned char *rows_together(RdxWorker *worker, const RdxBlock *block, int64_t row_bytes)
{
    if (block->in_step == row_bytes || block->outputs == 1)
        return block->in;
    unsigned char *raw = worker->scratch + worker->plan.raw;
    for (int64_t i = 0; i < block->outputs; i++)
        memcpy(raw + i * row_bytes, block->in + i * block->in_step, (size_t)row_bytes);
    return raw;
}

static void halve_rows(RdxWorker *worker, RdxStrip rows, int64_t count, int64_t n, RdxStrip nodes)
{
    const RdxRecipe *recipe = worker->recipe;
    RdxStrip left = rdx_worker_spare(worker, 0), right = rdx_worker_spare(worker, 1);
    for (int64_t h = n / 2; h >= 1; h /= 2) {
        for (int part = 0; part < recipe->parts; part++) {
            int64_t half = h * recipe->unit * rdx_strip_part_size(recipe, part);
            worker->code->isa->split(left.part[part], right.part[part], rows.part[part], count, half, half);
        }
        worker->code->algebra->join(h == 1 ? nodes : rows, left, right, count * h * recipe->unit, n / (2 * h),
                                    n / (2 * h));
    }
    if (n == 1)
        rdx_strip_copy(nodes, rows, recipe, count * recipe->unit);
}

void rdx_cpu_short_rows(RdxWorker *worker, const RdxBlock *block, int64_t first, int64_t count, RdxStrip nodes)
{
    const RdxRecipe *recipe = worker->recipe;
    if (worker->config->variant == 0) {
        rdx_cpu_strips(worker, block, first, count, nodes);
        return;
    }
    int64_t n = recipe->count, width = block->outputs * n, zero = worker->space->index_offset;
    int64_t *offset = (int64_t *)(void *)(worker->scratch + worker->plan.table);
    if (recipe->indexed) {
        int64_t step = worker->space->reduce_rank ? worker->space->reduce[0].index : 0;
        for (int64_t i = 0; i < width; i++)
            offset[i] = i % n * step;
    }
    RdxStrip rows;
    rdx_strip_lay(&rows, worker->scratch + worker->plan.fold, recipe, width * recipe->unit);
    rdx_prefetch(block->in + block->outputs * block->in_step, width * worker->space->in_size);
    const unsigned char *line = rows_together(worker, block, n * worker->space->in_size);
    rdx_fold_lines(worker, 1, &line, 0, width, &zero, recipe->indexed ? offset : NULL, rows);
    halve_rows(worker, rows, block->outputs, n, nodes);
}
