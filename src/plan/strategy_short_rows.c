/* short_rows: rows of at most one chunk, many at once. Halves (variant 1) for contiguous rows, lanes (variant 0) for
   rows of at most L elements that are not contiguous. */
#include "cpu.h"
#include "strategies.h"

enum {
    BLOCK_BYTES = 65536, /* of a block's rows: what a block costs to begin is spread */
    WHOLE = 16,          /* rows that are turned on their side fill registers */
};

static bool is_contiguous(const RdxSpace *space)
{
    if (space->reduce_rank == 0)
        return rdx_space_inner_stride(space) == space->in_size;
    return space->reduce_rank == 1 && space->reduce[0].in == space->in_size;
}

/* Sums that widen have no order that shows: a row is added up straight. */
static bool is_exact(const RdxSituation *situation)
{
    return situation->recipe->algebra == RDX_ALGEBRA_ISUM;
}

const char *rdx_plan_short_rows_applicable(const RdxSituation *situation)
{
    int64_t n = situation->space->reduce_count;
    if (n == 0)
        return "nothing is reduced";
    if (n > rdx_recipe_chunk(situation->recipe))
        return "more elements an output than one chunk";
    if (n > situation->recipe->lanes && !is_contiguous(situation->space))
        return "more elements an output than lanes, and not contiguous";
    return NULL;
}

void rdx_plan_short_rows_configure(const RdxSituation *situation, RdxConfig *config)
{
    const RdxSpace *space = situation->space;
    int64_t n = space->reduce_count;
    config->variant = is_contiguous(space);
    int64_t rows = rdx_min(config->variant ? 1024 : 512, BLOCK_BYTES / (n * space->in_size));
    if (rows > WHOLE)
        rows = rows / WHOLE * WHOLE;
    config->outputs_per_block = rdx_max(1, rdx_min(rdx_space_inner_extent(space), rdx_max(rows, 4)));
    rdx_cpu_partition(situation, config, false);
}

/* ns: as lanes a line of a block 30, an element gathered 0.5, nodes at 64 GB/s. As halves a block 100; a row that is
   added up straight 3; else a row of more than a line 15, and an uneven one what it takes to be turned on its side, at
   40 GB/s. */
double rdx_plan_short_rows_cost(const RdxSituation *situation, RdxConfig *config)
{
    const RdxSpace *space = situation->space;
    double outputs = (double)space->keep_count, n = (double)space->reduce_count;
    double blocks = (double)config->grid, state = rdx_recipe_state_bytes(situation->recipe);
    double element = rdx_cpu_element_ns(situation->recipe);
    if (config->variant == 0)
        return rdx_cpu_cost(situation, config, blocks * n * 30 + outputs * n * (element + 0.5 + state / 64));
    if (is_exact(situation))
        return rdx_cpu_cost(situation, config, blocks * 100 + outputs * (3 + n * element));
    double present = (double)rdx_min(space->reduce_count, situation->recipe->lanes);
    bool even = space->reduce_count == rdx_pow2_floor(space->reduce_count) || n > present;
    double row = (n > present ? 15 : 0) + (even ? 0 : n * space->in_size / 40);
    return rdx_cpu_cost(situation, config, blocks * 100 + outputs * (row + n * element + present * state / 64));
}
