/* block_y: threads along the kept axis, lanes of a chunk over block y and registers. Outer and middle axes: every space
   whose kept axis holds the smallest stride.

   columns          a warp takes one lane of its columns, 16 loads of 16 bytes a thread; block y are residue classes
                    j mod block y
   shifted_columns  the same where rows of columns are not aligned to 16 bytes
   few_columns      2 to 32 packed columns and nothing between the rows: the flat stream, 32 C threads
   gather           kept neighbours that are not packed */
#include "geometry.h"
#include "strategies.h"

const char *rdx_plan_block_y_applicable(const RdxSituation *situation)
{
    RdxLayout layout;
    rdx_layout_of(&layout, situation);
    if (layout.count == 0 || layout.outputs == 0)
        return "there is nothing to read";
    if (situation->space->keep_rank == 0)
        return "nothing is kept";
    if (layout.row)
        return "the reduced axis holds the smallest stride";
    if (layout.count == 1)
        return "nothing is reduced";
    return NULL;
}

static void try_form(const RdxSituation *situation, const RdxLayout *layout, int form, int width,
                     const RdxConfig *start, RdxConfig *best)
{
    RdxTrial trial = {
        .form = form, .outputs = width, .residues = 1, .part_chunks = rdx_whole_part(layout), .slices = 1};
    RdxConfig shaped = *start;
    rdx_columns_shape(situation, layout, &trial, &shaped);
    if (shaped.items >= 0)
        shaped.cost_us = rdx_plan_block_y_cost(situation, &shaped);
    rdx_keep_cheaper(best, &shaped);
}

void rdx_plan_block_y_configure(const RdxSituation *situation, RdxConfig *config)
{
    RdxLayout layout;
    rdx_layout_of(&layout, situation);
    config->threads = 0;
    RdxConfig best = *config;
    best.items = -1;
    for (int width = 32; width >= 1; width /= 2)
        try_form(situation, &layout, rdx_layout_column_form(&layout), width, config, &best);
    if (layout.flat && layout.columns <= RDX_MOST_FEW_COLUMNS && layout.count > layout.lanes)
        try_form(situation, &layout, RDX_FORM_FEW_COLUMNS, 1, config, &best);
    *config = best;
}

double rdx_plan_block_y_cost(const RdxSituation *situation, RdxConfig *config)
{
    RdxLayout layout;
    RdxDemand demand;
    rdx_layout_of(&layout, situation);
    rdx_columns_demand(situation, &layout, config, &demand);
    return rdx_cost_time(situation, config, &demand);
}
