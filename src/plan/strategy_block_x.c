/* block_x: a block along the reduced axis. Eight warps, each a chunk at a time with 16 loads of 16 bytes a thread; rows
   of fewer than eight chunks share a block or spread a chunk's lanes over several warps. Takes every space whose
   reduced axis holds the smallest stride and is longer than a line, but for one element over and over: rows, shifted,
   runs, gather, and tile where those are staged (forms.def). */
#include "geometry.h"
#include "strategies.h"

enum { WARPS = 8, WARPS_OF_ONE_CHUNK = 4 };

const char *rdx_plan_block_x_applicable(const RdxSituation *situation)
{
    RdxLayout layout;
    rdx_layout_of(&layout, situation);
    if (layout.count == 0 || layout.outputs == 0)
        return "there is nothing to read";
    if (!layout.row)
        return "a kept axis holds the smallest stride";
    if (rdx_space_is_repeated(situation->space))
        return "every reduced stride is 0: a thread makes the tree of equal elements";
    if (layout.count <= layout.lanes)
        return "one line of 512 bytes or less per output leaves most of a block idle";
    return NULL;
}

/* With and without cutting the copies of few outputs into slices. */
static void try_shape(const RdxSituation *situation, const RdxLayout *layout, int warps, int outputs,
                      const RdxConfig *start, RdxConfig *best)
{
    int64_t slices = rdx_copy_slices(situation, layout, rdx_div_up(layout->outputs, outputs));
    RdxTrial trial = {.form = (int)rdx_layout_row_form(layout),
                      .outputs = outputs,
                      .warps = warps,
                      .residues = 1,
                      .part_chunks = rdx_whole_part(layout),
                      .slices = 1};
    for (int cut = 0; cut <= (slices > 1); cut++) {
        RdxConfig shaped = *start;
        trial.slices = cut ? slices : 1;
        rdx_rows_shape(situation, layout, &trial, &shaped);
        if (shaped.items >= 0)
            shaped.cost_us = rdx_plan_block_x_cost(situation, &shaped);
        rdx_keep_cheaper(best, &shaped);
    }
}

void rdx_plan_block_x_configure(const RdxSituation *situation, RdxConfig *config)
{
    RdxLayout layout;
    rdx_layout_of(&layout, situation);
    config->threads = 0;
    RdxConfig best = *config;
    best.items = -1;
    int fewest = layout.chunks == 1 ? WARPS_OF_ONE_CHUNK : (int)rdx_min(rdx_pow2_ceil(layout.chunks), WARPS);
    for (int warps = fewest; warps <= WARPS; warps *= 2)
        for (int outputs = (int)rdx_min(WARPS / warps, rdx_pow2_ceil(layout.outputs)); outputs >= 1; outputs /= 2)
            try_shape(situation, &layout, warps, outputs, config, &best);
    *config = best;
}

double rdx_plan_block_x_cost(const RdxSituation *situation, RdxConfig *config)
{
    RdxLayout layout;
    RdxDemand demand;
    rdx_layout_of(&layout, situation);
    rdx_rows_demand(situation, &layout, config, &demand);
    return rdx_cost_time(situation, config, &demand);
}
