/* short_columns: outputs in short runs, at most a line of elements each. Of a block of whole runs, element e of all
   outputs is copied side by side and folded, e by e: a lane each, joined across the block. */
#include "worker.h"

#include "../../iter/walk.h"

/* From `place` on, which is where a run begins, `outputs` elements to `to`. */
static void take_element(const RdxWorker *worker, RdxWalk place, const unsigned char *in, int64_t outputs,
                         unsigned char *to)
{
    const RdxSpace *space = worker->space;
    const RdxIsa *isa = worker->code->isa;
    const RdxDim *run = &space->keep[space->keep_rank - 1], *next = run - 1;
    const int64_t bytes = run->extent * space->in_size, span = outputs / run->extent * next->in;
    const int64_t ahead = worker->code->load.ahead ? span : 0; /* the next block's */
    for (int64_t left = outputs / run->extent; left > 0;) {
        const int64_t runs = rdx_min(left, rdx_walk_run(&place));
        const unsigned char *from = in + place.in;
        if (run->in == space->in_size)
            isa->copy_runs(to, bytes, from, next->in, bytes, runs, ahead);
        else
            for (int64_t i = 0; i < runs; i++)
                isa->gather(to + i * bytes, from + i * next->in, run->extent, run->in, space->in_size, 0);
        to += runs * bytes;
        left -= runs;
        rdx_walk_advance(&place, runs);
    }
}

void rdx_cpu_short_columns(RdxWorker *worker, const RdxBlock *block, int64_t first, int64_t count, RdxStrip nodes)
{
    (void)first, (void)count; /* there is one chunk */
    const RdxSpace *space = worker->space;
    const RdxRecipe *recipe = worker->recipe;
    const int64_t n = recipe->count, outputs = block->outputs;
    unsigned char *line = worker->scratch + worker->layout->raw;
    RdxStrip lanes;
    rdx_strip_lay(&lanes, worker->scratch + worker->layout->fold, recipe, n * outputs * recipe->unit);
    RdxWalk place, element;
    rdx_walk_seek(&place, space->keep, space->keep_rank - 1, block->first / rdx_space_inner_extent(space));
    rdx_walk_seek(&element, space->reduce, space->reduce_rank, 0);
    const unsigned char *in = block->in - place.in; /* of the first output of all */
    for (int64_t e = 0; e < n; e++) {
        const unsigned char *const lines[] = {line};
        const int64_t index = space->index_offset + element.index;
        const RdxStrip lane = rdx_strip_at(lanes, recipe, e * outputs * recipe->unit);
        take_element(worker, place, in + element.in, outputs, line);
        rdx_fold_lines(worker, 1, lines, 0, outputs, &index, NULL, &lane);
        rdx_walk_advance(&element, 1);
    }
    worker->code->algebra->halve(&lanes, n, recipe->lanes, outputs * recipe->unit);
    rdx_strip_copy(nodes, lanes, recipe, outputs * recipe->unit);
}
