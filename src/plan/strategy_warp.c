/* warp: 2 to 32 lanes of one warp reduce one output, several outputs a warp. For contiguous rows of at most one chunk
   (8 KiB).

   rows     aligned: lanes = the row's 16-byte vectors, at most a warp; the next rows' loads are issued first. Packed
            rows of a power of two of vectors meet in registers (kernels/cuda/kernel_packed_rows.cu)
   shifted  the same misaligned, slots turned
   tile     rows too short or too crooked for that: staged in shared memory, 2 to 8 lanes a row (1M x 67: 64 rows of
            268 bytes, 4 lanes each, 64 us on an H200 where the best of five other libraries took 110) */
#include "geometry.h"
#include "strategies.h"

enum { WARP = 32, TILE_BYTES = 20480, FEWEST_BYTES = 32, MOST_LOADS = 16, TILE_LANES = 8 };

const char *rdx_plan_warp_applicable(const RdxSituation *situation)
{
    RdxLayout layout;
    rdx_layout_of(&layout, situation);
    if (layout.count == 0 || layout.outputs == 0)
        return "there is nothing to read";
    if (layout.run == 1 || !layout.row)
        return "the reduced axis is not contiguous";
    if (layout.runs != 1)
        return "the reduced elements of an output lie in several runs";
    if (layout.chunks > 1)
        return "more elements per output than one chunk of 8192 bytes holds";
    if (layout.count * layout.size < FEWEST_BYTES)
        return "fewer than 32 bytes per output leave lanes of a warp idle";
    return NULL;
}

static void demand_of(const RdxSituation *situation, const RdxLayout *layout, const RdxConfig *config,
                      RdxDemand *demand)
{
    rdx_demand_traffic(situation, layout, config, demand);
    double outputs = (double)layout->outputs * (double)config->slices, count = (double)layout->count * outputs;
    double bytes = count * layout->size, elements = (double)rdx_max(config->vector_bytes / layout->size, 1);
    double join = rdx_cost_join(situation) + 2.0 * layout->state_bytes / 4;
    double held = config->lanes_per_output, vectors = bytes / config->vector_bytes;
    /* Lanes of a row beyond its vectors issue all the same. */
    double per_row = (double)layout->count * layout->size / config->vector_bytes;
    double rounds =
        (double)rdx_div_up(rdx_div_up(layout->count * layout->size, config->vector_bytes), config->lanes_per_output);
    double idle = per_row < rounds * held ? rounds * held / per_row : 1;
    demand->instructions =
        vectors * idle * (3 + elements * rdx_cost_push(situation)) + outputs * held * (elements - 1 + 5) * join;
    demand->wavefronts = bytes / 128;
    demand->block_flight = (double)config->block_x * config->block_y * config->loads * config->vector_bytes;
    if (config->variant == RDX_FORM_ROWS && rdx_rows_are_packed(situation, layout)) {
        double nodes = situation->recipe->exact ? 1 : elements; /* of a vector; each is joined once, sent or not */
        demand->instructions =
            vectors * (6 + elements * rdx_cost_push(situation) + nodes * (join + layout->state_bytes / 4.0)) +
            outputs * elements * join;
        held = 1;
    }
    if (config->variant == RDX_FORM_SHIFTED)
        demand->instructions += vectors * 3;
    if (config->variant == RDX_FORM_TILE) {
        demand->instructions = bytes / 16 * 3 + count * (1 + rdx_cost_push(situation)) + outputs * held * 6 * join;
        demand->wavefronts = bytes / 64 + count / 32;
        demand->block_flight = (double)config->tile_bytes * (config->stages > 1 ? config->stages - 1 : 1);
    }
    demand->instructions += outputs * held * 12;
}

static void finish_shape(const RdxSituation *situation, const RdxLayout *layout, int64_t outputs, RdxConfig *config)
{
    int64_t groups = rdx_div_up(layout->outputs, outputs);
    RdxTrial trial = {.residues = 1, .part_chunks = 1, .slices = rdx_copy_slices(situation, layout, groups)};
    RdxDemand demand;
    rdx_cut(layout, &trial, groups, outputs, config);
    demand_of(situation, layout, config, &demand);
    rdx_cost_occupy(situation, config, &demand);
    config->cost_us = rdx_plan_warp_cost(situation, config);
}

static void shape_rows(const RdxSituation *situation, const RdxLayout *layout, int warps, int loads, RdxConfig *config)
{
    RdxForm form = rdx_layout_row_form(layout);
    config->variant = form;
    config->vector_bytes = rdx_row_vector(layout, form);
    int64_t vectors = rdx_div_up(layout->count * layout->size, config->vector_bytes) + (form == RDX_FORM_SHIFTED);
    int64_t lanes = rdx_min(rdx_max(rdx_pow2_ceil(vectors), 2), WARP);
    int64_t each = rdx_div_up(vectors, lanes);
    config->loads = (int)rdx_min(rdx_max(2 * each, 4), loads);
    if (2 * each < loads) /* several rows at once */
        config->loads = loads;
    int64_t rows = WARP / lanes * rdx_max(config->loads / (2 * each), 1);
    config->block_x = WARP;
    config->block_y = warps;
    config->lanes_per_output = (int)lanes;
    config->registers = rdx_register_budget(situation, config->loads, config->vector_bytes,
                                            rdx_max(config->vector_bytes / layout->size, 1));
    finish_shape(situation, layout, rows * warps, config);
}

static void shape_tile(const RdxSituation *situation, const RdxLayout *layout, RdxConfig *config)
{
    int64_t rows = rdx_pow2_floor(rdx_max(rdx_min(TILE_BYTES / layout->slab_bytes, 128), 1));
    while (rows > 8 && layout->outputs / rows < situation->device->units)
        rows /= 2;
    int64_t lanes = rdx_min(rdx_max(RDX_BLOCK_THREADS / rows, 2), TILE_LANES);
    config->variant = RDX_FORM_TILE;
    config->vector_bytes = 16;
    config->stages = rdx_cost_table(situation->device)->async ? 3 : 2;
    config->tile_bytes = rdx_round_up(rows * layout->slab_bytes + (layout->dense ? 16 : 16 * rows), 16);
    config->block_x = (int)rdx_max(rows * lanes, WARP);
    config->block_y = 1;
    config->lanes_per_output = (int)lanes;
    config->loads = (int)rdx_div_up(config->tile_bytes, 16 * (int64_t)config->block_x);
    config->shared_bytes = config->stages * config->tile_bytes;
    config->registers = rdx_register_budget(situation, config->stages > 2 ? 2 : (int)rdx_min(config->loads, 8), 16, 9);
    finish_shape(situation, layout, rows, config);
}

void rdx_plan_warp_configure(const RdxSituation *situation, RdxConfig *config)
{
    RdxLayout layout;
    rdx_layout_of(&layout, situation);
    config->index_bits = rdx_layout_index_bits(situation);
    config->threads = 0;
    RdxConfig best = *config, trial;
    best.items = -1;
    for (int warps = RDX_BLOCK_THREADS / WARP; warps >= 1; warps /= 2) {
        for (int loads = 4; loads <= MOST_LOADS; loads *= 2) {
            trial = *config;
            shape_rows(situation, &layout, warps, loads, &trial);
            rdx_keep_cheaper(&best, &trial);
        }
    }
    bool crooked = rdx_layout_row_form(&layout) == RDX_FORM_SHIFTED || layout.count <= layout.lanes;
    if (crooked && !rdx_rows_are_packed(situation, &layout) && layout.slab_outputs == 1 && layout.slab_bytes > 0 &&
        layout.slab_bytes <= TILE_BYTES / 8) {
        trial = *config;
        shape_tile(situation, &layout, &trial);
        rdx_keep_cheaper(&best, &trial);
    }
    *config = best;
}

double rdx_plan_warp_cost(const RdxSituation *situation, RdxConfig *config)
{
    RdxLayout layout;
    RdxDemand demand;
    rdx_layout_of(&layout, situation);
    demand_of(situation, &layout, config, &demand);
    return rdx_cost_time(situation, config, &demand);
}
