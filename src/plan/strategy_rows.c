/* rows: outputs whose reduced elements are contiguous, folded where they lie, chunk by chunk. */
#include "cpu.h"
#include "strategies.h"

const char *rdx_plan_rows_applicable(const RdxSituation *situation)
{
    const RdxSpace *space = situation->space;
    if (space->reduce_rank && space->reduce[space->reduce_rank - 1].in != space->in_size)
        return "the innermost reduced dim is not contiguous";
    return NULL;
}

void rdx_plan_rows_configure(const RdxSituation *situation, RdxConfig *config)
{
    rdx_cpu_configure_single(situation, config);
}

/* ns: an output 25, a chunk 25. Where chunks cross runs, a run 8, and elements are copied at 60 GB/s. */
double rdx_plan_rows_cost(const RdxSituation *situation, RdxConfig *config)
{
    const RdxSpace *space = situation->space;
    double outputs = (double)space->keep_count, n = (double)space->reduce_count;
    double chunks = (double)rdx_recipe_chunks(situation->recipe);
    double run = space->reduce_rank > 1 ? (double)space->reduce[space->reduce_rank - 1].extent : n;
    double copied = n / run > 1 && run < 8 * (double)rdx_recipe_chunk(situation->recipe)
                        ? n / run * 8 + n * space->in_size / 60.0
                        : 0;
    return rdx_cpu_cost(situation, config,
                        outputs * (25 + chunks * 25 + n * rdx_cpu_element_ns(situation->recipe) + copied));
}
