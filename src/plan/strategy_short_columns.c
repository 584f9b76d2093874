/* short_columns: at most L elements an output, outputs in many runs, as where a middle axis goes. The runs are too
   short to fill registers, so as many as make a block are copied side by side, an element of each output at a time. */
#include "cpu.h"
#include "strategies.h"

enum {
    BLOCK_BYTES = 32768, /* of a block's elements: with their nodes they stay in the second cache */
    MOST = 2048,         /* outputs of a block */
    LONG_RUN = 128,      /* side by side: columns fold them where they lie */
    RUN_BYTES = 262144,  /* of a run, which a block has whole: 12 of a million f32 each 76 ms, else 29 */
};

const char *rdx_plan_short_columns_applicable(const RdxSituation *situation)
{
    const RdxSpace *space = situation->space;
    if (space->reduce_count == 0)
        return "nothing is reduced";
    if (space->reduce_count > situation->recipe->lanes)
        return "more elements an output than lanes";
    if (space->keep_rank < 2)
        return "the outputs are one run";
    const int64_t run = rdx_space_inner_extent(space);
    if ((rdx_space_inner_stride(space) == space->in_size && run >= LONG_RUN) ||
        run > RUN_BYTES / (space->reduce_count * space->in_size))
        return "the runs are long";
    if (!rdx_space_is_dense(space))
        return "the runs of outputs do not follow each other";
    return NULL;
}

void rdx_plan_short_columns_configure(const RdxSituation *situation, RdxConfig *config)
{
    const RdxSpace *space = situation->space;
    const int64_t run = rdx_space_inner_extent(space), runs = space->keep_count / rdx_max(run, 1);
    const int64_t wanted = rdx_min(BLOCK_BYTES / (space->reduce_count * space->in_size), MOST);
    const int64_t share = rdx_div_up(runs, rdx_cpu_thread_blocks * situation->device->units);
    config->outputs_per_block = run * rdx_max(1, rdx_min(wanted / rdx_max(run, 1), share));
    rdx_cpu_partition(situation, config, false);
}

/* ns: a block 200, each of its n rows 40; a run copied 3, its elements at 32 GB/s, or one by one 6 and 0.5 each; nodes
   at 40 GB/s, of indices at 27. */
double rdx_plan_short_columns_cost(const RdxSituation *situation, RdxConfig *config)
{
    const RdxSpace *space = situation->space;
    const double n = (double)space->reduce_count, elements = (double)space->keep_count * n;
    const double runs = elements / (double)rdx_space_inner_extent(space), blocks = (double)config->grid;
    const bool side_by_side = rdx_space_inner_stride(space) == space->in_size;
    const double copied = side_by_side ? runs * 3 + elements * space->in_size / 32 : runs * 6 + elements * 0.5;
    const double state = rdx_recipe_state_bytes(situation->recipe),
                 node = state / (situation->recipe->indexed ? 27 : 40);
    return rdx_cpu_cost(situation, config,
                        blocks * (200 + n * 40) + copied + elements * (rdx_cpu_element_ns(situation->recipe) + node));
}
