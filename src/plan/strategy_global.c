/* global: several blocks reduce one output, each an aligned power-of-two run of chunks or a residue class j mod 2^k of
   one chunk's lanes; their states lie in the workspace, and the last block of a group joins them (one counter of the
   4096-byte head each, so at most 1024 groups; with more the output is not cut). A second launch finishes where copies
   of few results have to be spread over many blocks. Reads rows as block_x does and columns as block_y does. The
   general strategy: it takes every space, if need be with one part per output. */
#include "cuda_parts.h"
#include "geometry.h"
#include "strategies.h"

enum { WARPS = 8, SPREAD_BYTES = 65536, MOST_RESIDUES = 64, SMALL_STREAM = 4 << 20 };

const char *rdx_plan_global_applicable(const RdxSituation *situation)
{
    (void)situation;
    return NULL;
}

/* Warps that share a part: one per chunk, all of them where there are fewer chunks. */
static void try_rows(const RdxSituation *situation, const RdxLayout *layout, RdxTrial *trial, const RdxConfig *start,
                     RdxConfig *best)
{
    RdxConfig shaped = *start;
    trial->form = (int)rdx_layout_row_form(layout);
    trial->outputs = 1;
    trial->warps = WARPS;
    trial->residues = 1;
    rdx_rows_shape(situation, layout, trial, &shaped);
    if (shaped.items >= 0)
        shaped.cost_us = rdx_plan_global_cost(situation, &shaped);
    rdx_keep_cheaper(best, &shaped);
}

static void try_form(const RdxSituation *situation, const RdxLayout *layout, int form, RdxTrial *trial,
                     const RdxConfig *start, RdxConfig *best)
{
    trial->form = form;
    int64_t most = trial->part_chunks == 1 && form != RDX_FORM_FEW_COLUMNS ? MOST_RESIDUES : 1;
    most = rdx_min(most, rdx_pow2_floor(rdx_max(rdx_min(layout->count, layout->lanes), 1)));
    for (trial->residues = 1; trial->residues <= most; trial->residues *= 2) {
        RdxConfig shaped = *start;
        rdx_columns_shape(situation, layout, trial, &shaped);
        if (shaped.items >= 0)
            shaped.cost_us = rdx_plan_global_cost(situation, &shaped);
        rdx_keep_cheaper(best, &shaped);
    }
}

/* Whether few packed columns are faster as a stream than by a vector or an element of them a thread, where rows lie
   without a gap: straight_columns reads whole vectors, and of wider rows shifted ones, as fast (H100, us, as a stream
   and so: sum of 8 columns f32 95 and 94, of 13 109 and 131, of 17 108 and 101; bf16 of 24 118 and 113, of 31 131 and
   155). Of more than a chunk other ops had no kernel so fast (var of 12 f32 116 and 154, of 31 114 and 323; not timed
   since straight_columns takes several chunks of it), but sums of 16 i8 212 and 150. A stream starts late, though: sums
   of 128256 rows of 2, 3, 5 and 7 f32 took 7.2, 8.4, 8.6 and 8.8 us as one, 5.5, 5.4, 6.5 and 6.8 by straight_columns,
   16 MB of 2 columns 13.6 and 15.2; of 2 and 4 columns bf16 they took 8.0 either way. */
static bool are_stream(const RdxSituation *situation, const RdxLayout *layout)
{
    bool halves = layout->stream_align < layout->size; /* complex: a part is aligned, an element is not */
    if (!layout->flat || layout->columns > RDX_MOST_FEW_COLUMNS || layout->count <= layout->lanes || halves)
        return false;
    bool straight = rdx_cuda_has_unmasked_map(situation->recipe) &&
                    rdx_cuda_has_small_nodes(situation->recipe, layout->size, (layout->state_bytes + 3) / 4);
    bool whole = layout->column_align >= 16;
    bool small = layout->size == 4 && rdx_space_bytes(situation->space) <= SMALL_STREAM;
    return layout->size == 1 ? !whole : !straight || (!whole && !small && layout->columns * layout->size < 64);
}

static void try_columns(const RdxSituation *situation, const RdxLayout *layout, RdxTrial *trial, const RdxConfig *start,
                        RdxConfig *best)
{
    int form = (int)rdx_layout_column_form(layout);
    if (are_stream(situation, layout)) {
        RdxConfig few = *start;
        few.items = -1;
        try_form(situation, layout, RDX_FORM_FEW_COLUMNS, trial, start, &few);
        rdx_keep_cheaper(best, &few);
        if (few.items >= 0)
            return;
    }
    for (trial->outputs = 32; trial->outputs >= 1; trial->outputs /= 2)
        try_form(situation, layout, form, trial, start, best);
}

void rdx_plan_global_configure(const RdxSituation *situation, RdxConfig *config)
{
    RdxLayout layout;
    rdx_layout_of(&layout, situation);
    config->threads = 0;
    RdxConfig best = *config;
    best.items = -1;
    bool copies = layout.written / (double)rdx_max(layout.outputs, 1) > SPREAD_BYTES;
    for (int64_t part = rdx_whole_part(&layout); part >= 1; part /= 2) {
        for (int spread = 0; spread <= copies; spread++) {
            RdxTrial trial = {.part_chunks = part, .slices = 1, .spread = spread};
            if (layout.row)
                try_rows(situation, &layout, &trial, config, &best);
            else
                try_columns(situation, &layout, &trial, config, &best);
        }
    }
    *config = best;
}

double rdx_plan_global_cost(const RdxSituation *situation, RdxConfig *config)
{
    RdxLayout layout;
    RdxDemand demand;
    rdx_layout_of(&layout, situation);
    if (layout.row)
        rdx_rows_demand(situation, &layout, config, &demand);
    else
        rdx_columns_demand(situation, &layout, config, &demand);
    return rdx_cost_time(situation, config, &demand);
}
