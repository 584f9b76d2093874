/* short_rows: rows of at most L elements, many at once. Halves (variant 1) for contiguous rows of a power of two, lanes
   (variant 0) for all others. */
#include "cpu.h"
#include "strategies.h"

static bool can_halve(const RdxSpace *space)
{
    int64_t n = space->reduce_count;
    bool contiguous = space->reduce_rank == 0 ? rdx_cpu_inner_stride(space) == space->in_size
                                              : space->reduce_rank == 1 && space->reduce[0].in == space->in_size;
    return contiguous && n == rdx_pow2_floor(n);
}

const char *rdx_plan_short_rows_applicable(const RdxSituation *situation)
{
    if (situation->space->reduce_count > situation->recipe->lanes)
        return "more elements an output than lanes";
    if (situation->space->reduce_count == 0)
        return "nothing is reduced";
    return NULL;
}

void rdx_plan_short_rows_configure(const RdxSituation *situation, RdxConfig *config)
{
    const RdxSpace *space = situation->space;
    int64_t n = space->reduce_count, state = rdx_recipe_state_bytes(situation->recipe);
    config->variant = can_halve(space);
    /* A block's nodes stay in L1: 16 KiB of them. Lanes: enough rows for a vector loop to pay. */
    int64_t rows = config->variant ? 16384 / (n * state) : rdx_min(512, 65536 / (n * space->in_size));
    config->outputs_per_block = rdx_max(1, rdx_min(rdx_cpu_inner_extent(space), rdx_max(rows, 16)));
    rdx_cpu_partition(situation, config, false);
}

double rdx_plan_short_rows_cost(const RdxSituation *situation, RdxConfig *config)
{
    const RdxSpace *space = situation->space;
    double outputs = (double)space->keep_count, n = (double)space->reduce_count;
    double blocks = (double)config->grid, state = rdx_recipe_state_bytes(situation->recipe);
    double element = rdx_cpu_element_ns(situation->recipe);
    if (config->variant == 1) /* a split and a join move every node about twice */
        return rdx_cpu_cost(situation, config, blocks * 150 + outputs * n * (element + state / 24));
    return rdx_cpu_cost(situation, config, blocks * n * 30 + outputs * n * (element + 0.5 + state / 64));
}
