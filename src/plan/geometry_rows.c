/* Blocks that read along the reduced axis: 256 threads, a warp to a chunk where an output has enough of them, else a
   chunk's lanes spread over several warps. 16 loads of 16 bytes in flight a thread is a chunk a warp. */
#include "cuda_parts.h"
#include "geometry.h"

enum { WARP = 32, LINES = 16, WIDEST = 16, STAGED_REGISTERS = 80 };

int rdx_row_vector(const RdxLayout *layout, int form)
{
    switch (form) {
    case RDX_FORM_GATHER:
        return (int)rdx_min(layout->size, rdx_min(layout->run_align, layout->column_align));
    case RDX_FORM_ROWS:
    case RDX_FORM_RUNS:
        return (int)rdx_min(layout->run_align, 16);
    default:
        return 16;
    }
}

/* Addresses and carried words beyond those of plain rows. */
static int form_registers(int form)
{
    switch (form) {
    case RDX_FORM_GATHER:
        return 16;
    case RDX_FORM_SHIFTED:
    case RDX_FORM_RUNS:
        return 8;
    default:
        return 0;
    }
}

bool rdx_rows_are_packed(const RdxSituation *situation, const RdxLayout *layout)
{
    const RdxRecipe *recipe = situation->recipe;
    bool light = !rdx_recipe_is_twice(recipe) && rdx_cuda_has_unmasked_map(recipe);
    bool decoded = layout->size > 1 || (recipe->exact && rdx_type_is_integral((RdxType)recipe->in));
    int64_t bytes = layout->slab_bytes;
    int nodes = recipe->exact ? 1 : WIDEST / layout->size;
    bool vectors = rdx_layout_row_form(layout) == RDX_FORM_ROWS && rdx_row_vector(layout, RDX_FORM_ROWS) == WIDEST &&
                   layout->count <= layout->lanes && bytes >= WIDEST;
    bool in_vectors = layout->count > 1 && bytes < WIDEST && RDX_CUDA_HAS_ROWS_IN_VECTORS(layout->size) &&
                      situation->space->keep_rank == 1 && layout->stream_align >= WIDEST &&
                      RDX_CUDA_PACKED_STEPS(nodes, (layout->state_bytes + 3) / 4) > 0;
    return light && decoded && rdx_layout_packs_rows(layout) && (vectors || in_vectors) &&
           rdx_pow2_floor(bytes) == bytes;
}

/* Whether chunks lie in shared memory while they are folded (kernel_staged_rows.cu). */
static bool is_staged(const RdxSituation *situation, const RdxLayout *layout, const RdxConfig *config)
{
    const RdxRecipe *recipe = situation->recipe;
    return (config->variant == RDX_FORM_ROWS || config->variant == RDX_FORM_SHIFTED) &&
           config->vector_bytes == WIDEST &&
           RDX_CUDA_HAS_STAGED_ROWS(rdx_recipe_is_twice(recipe), recipe->work, layout->size) &&
           rdx_cuda_fits_block(config->shared_bytes + RDX_CUDA_WARPS * RDX_CUDA_STAGE_BYTES, situation);
}

/* Whether runs are read by half vectors (kernel_half_rows.cu). */
static bool have_halves(const RdxSituation *situation, const RdxLayout *layout)
{
    const RdxSpace *space = situation->space;
    return layout->runs > 1 && space->reduce_rank == 2 && space->reduce_count <= INT32_MAX &&
           layout->run_align >= RDX_CUDA_HALF_VECTOR && layout->run * layout->size % RDX_CUDA_HALF_VECTOR == 0 &&
           RDX_CUDA_HAS_HALF_ROWS(layout->size, (layout->state_bytes + 3) / 4) &&
           !rdx_recipe_is_twice(situation->recipe) && rdx_cuda_has_unmasked_map(situation->recipe);
}

/* Bytes of shared memory in which runs are staged (kernel_staged_runs.cu), 0: they are not. All that is else gathered;
   and of runs that come by vectors or half vectors those of var, whose joins are few so, but where there is little to
   read (H200, us, by vectors and so: bf16 640 x 1024 x 14 x 14 over 0, 2, 3 108, 82, x 8 x 8 42, 33, 1000 x 2048 x 4 x
   4 41, 29, f32 320 x 1024 x 14 x 14 75, 68; but 32 x 1024 x 14 x 14 13.5, 15.5, and sums of those before 61, 64 and
   28, 28). */
static int64_t staged_runs_bytes(const RdxSituation *situation, const RdxLayout *layout, const RdxConfig *config)
{
    const bool var = situation->recipe->algebra == RDX_ALGEBRA_VAR,
               little = rdx_space_bytes(situation->space) < situation->device->heavy_bytes / 4.0;
    return config->variant == RDX_FORM_GATHER || (config->variant == RDX_FORM_RUNS && var && !little)
               ? rdx_cuda_staged_runs(situation, layout)
               : 0;
}

void rdx_rows_shape(const RdxSituation *situation, const RdxLayout *layout, const RdxTrial *trial, RdxConfig *config)
{
    config->variant = trial->form;
    config->vector_bytes = rdx_row_vector(layout, trial->form);
    if (trial->form == RDX_FORM_GATHER && have_halves(situation, layout)) {
        config->variant = RDX_FORM_RUNS;
        config->vector_bytes = RDX_CUDA_HALF_VECTOR;
    }
    int warps = trial->warps, outputs = trial->outputs;
    int64_t groups = rdx_div_up(layout->outputs, outputs);
    const int64_t staged = staged_runs_bytes(situation, layout, config);
    if (staged > 0) {
        config->variant = RDX_FORM_TILE;
        config->vector_bytes = WIDEST;
        warps = 1;
        outputs = RDX_CUDA_STAGED_OUTPUTS;
        groups = layout->outputs / layout->columns * rdx_div_up(layout->columns, outputs);
    }
    config->block_x = warps * WARP;
    config->block_y = outputs;
    config->lanes_per_output = config->block_x;
    int64_t elements = rdx_max(config->vector_bytes / layout->size, 1);
    /* As min(count, part): a part may be larger than int64 where the count is near it. */
    int64_t span = trial->part_chunks > layout->count / layout->chunk ? rdx_max(layout->count, 1)
                                                                      : trial->part_chunks * layout->chunk;
    int64_t loads = rdx_div_up(span, elements * config->block_x);
    config->loads = (int)rdx_max(rdx_min(loads, LINES), 1);
    config->shared_bytes = warps * outputs * layout->state_bytes * 2 + staged;
    config->stages = 0;
    config->tile_bytes = 0;
    int registers = rdx_register_budget(situation, config->loads, config->vector_bytes, elements);
    config->registers = (int)rdx_min(registers + form_registers(trial->form), RDX_MOST_REGISTERS);
    if (is_staged(situation, layout, config)) {
        config->registers = STAGED_REGISTERS;
        config->shared_bytes += warps * outputs * RDX_CUDA_STAGE_BYTES;
    }
    if (staged > 0)
        config->registers = STAGED_REGISTERS;
    config->index_bits = rdx_layout_index_bits(situation);
    if (!rdx_cut(layout, trial, groups, outputs, config) || config->split > RDX_CUDA_MOST_PARTS) {
        config->items = -1;
        return;
    }
    RdxDemand demand;
    rdx_rows_demand(situation, layout, config, &demand);
    rdx_cost_occupy(situation, config, &demand);
}

/* Beyond the load itself, per vector: turning, division by the run's length, funnel shifts, gathering from shared
   memory. */
static double form_instructions(int form, double elements)
{
    switch (form) {
    case RDX_FORM_SHIFTED:
        return 3;
    case RDX_FORM_RUNS:
        return 6;
    case RDX_FORM_GATHER:
        return 8 * elements;
    case RDX_FORM_TILE:
        return 5 * elements;
    default:
        return 0;
    }
}

void rdx_rows_demand(const RdxSituation *situation, const RdxLayout *layout, const RdxConfig *config, RdxDemand *demand)
{
    rdx_demand_traffic(situation, layout, config, demand);
    double repeats = (double)config->slices, outputs = (double)layout->outputs * repeats;
    double count = (double)layout->count * outputs, elements = (double)rdx_max(config->vector_bytes / layout->size, 1);
    double join = rdx_cost_join(situation) + 2.0 * layout->state_bytes / 4;
    double vectors = count / elements;
    demand->instructions =
        vectors * (3 + form_instructions(config->variant, elements) + elements * rdx_cost_push(situation));
    double lanes = (double)rdx_min(layout->lanes, rdx_max(layout->count, 1));
    double held = lanes / elements < 32 ? lanes / elements : 32;
    demand->instructions += (double)rdx_max(layout->chunks, 1) * outputs * held * (elements - 1 + 5) * join;
    demand->instructions += outputs * (double)config->split * config->lanes_per_output * 30;
    double bytes = count * layout->size;
    double each = config->vector_bytes;
    demand->wavefronts = bytes / 128;
    if (config->variant == RDX_FORM_GATHER) {
        demand->wavefronts = rdx_strided_wavefronts(count, layout->size, layout->fast_stride, layout->fast_extent);
        each = (double)rdx_max(rdx_min(layout->fast_stride, 32), config->vector_bytes);
    }
    demand->block_flight = (double)config->block_x * config->block_y * config->loads * each;
    /* A warp gathers whole chunks: of a part of fewer chunks than warps some go without. */
    if (config->variant == RDX_FORM_GATHER) {
        const double warps = config->block_x / (double)WARP,
                     chunks = (double)rdx_min(config->part_chunks, rdx_max(layout->chunks, 1)),
                     busy = chunks < warps ? chunks / warps : 1;
        demand->block_flight *= busy;
        demand->instructions /= busy;
    }
}
