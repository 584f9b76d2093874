/* The parts of block geometry that rows and columns share: cutting an output into parts, workspace, traffic,
   registers. */
#include "geometry.h"

/* SLICE_BYTES: of an output's copies, what a block of its own is worth. */
enum { BASE_REGISTERS = 40, SLICE_BYTES = 2048, SECTOR = 32, LEAST_PARTIAL_BYTES = 4 << 20 };

int64_t rdx_whole_part(const RdxLayout *layout)
{
    return rdx_pow2_ceil(rdx_max(layout->chunks, 1));
}

int rdx_register_budget(const RdxSituation *situation, int loads, int vector_bytes, int64_t elements)
{
    const RdxRecipe *recipe = situation->recipe;
    int64_t words = (rdx_recipe_state_bytes(recipe) + 3) / 4;
    bool pivoted = recipe->algebra == RDX_ALGEBRA_VAR || recipe->algebra == RDX_ALGEBRA_CVAR ||
                   recipe->algebra == RDX_ALGEBRA_VARN || recipe->algebra == RDX_ALGEBRA_CVARN;
    if (pivoted) /* a lane holds its pivot beside the sums */
        words += recipe->planes * rdx_work_size((RdxWork)recipe->work) / 4;
    if (recipe->exact) /* any order will do, so a few accumulators serve all elements */
        elements = rdx_min(elements, 4);
    int64_t registers = BASE_REGISTERS + (int64_t)loads * rdx_max(vector_bytes, 4) / 4 + elements * words;
    return (int)rdx_min(rdx_round_up(registers, 8), RDX_MOST_REGISTERS);
}

static int64_t partial_limit(const RdxLayout *layout)
{
    double input = (double)layout->count * (double)layout->outputs * layout->size / 100;
    return input > LEAST_PARTIAL_BYTES ? (input < 1e15 ? (int64_t)input : (int64_t)1e15) : LEAST_PARTIAL_BYTES;
}

bool rdx_cut(const RdxLayout *layout, const RdxTrial *trial, int64_t groups, int64_t group_outputs, RdxConfig *config)
{
    config->part_chunks = trial->part_chunks;
    config->split = rdx_max(rdx_div_up(layout->chunks, trial->part_chunks), 1);
    config->residues = trial->residues;
    config->slices = trial->slices;
    config->groups = groups;
    config->outputs_per_block = group_outputs;
    config->finishing = RDX_FINISHING_NONE;
    config->workspace_bytes = config->finish_grid = 0;
    int64_t parts = config->split * config->residues;
    if (groups > 0 && (parts > 1 || trial->spread)) {
        double partial = (double)parts * (double)groups * (double)group_outputs * layout->state_bytes;
        if (groups > RDX_COUNTERS || parts > INT32_MAX / groups || partial > (double)partial_limit(layout))
            return false;
        config->workspace_bytes = RDX_WORKSPACE_HEAD + parts * groups * group_outputs * layout->state_bytes;
        config->finishing = RDX_FINISHING_LAST_BLOCK;
    }
    if (groups > 0 && trial->spread) {
        double group_bytes = layout->written / (double)groups;
        int64_t slices = rdx_max((int64_t)(group_bytes < 1e15 ? group_bytes : 1e15) / SLICE_BYTES, 1);
        config->finishing = RDX_FINISHING_LAUNCH;
        config->finish_grid = rdx_min(groups * rdx_min(slices, 4096), 4096);
    }
    config->items = groups * parts * config->slices;
    return true;
}

int64_t rdx_copy_slices(const RdxSituation *situation, const RdxLayout *layout, int64_t groups)
{
    int64_t idle = 2 * situation->device->units / rdx_max(groups, 1);
    double group_bytes = layout->written / (double)rdx_max(groups, 1);
    int64_t useful = group_bytes < 1e9 ? (int64_t)group_bytes / SLICE_BYTES : 1 << 16;
    return situation->space->copy_count > 1 ? rdx_max(rdx_min(idle, useful), 1) : 1;
}

void rdx_demand_traffic(const RdxSituation *situation, const RdxLayout *layout, const RdxConfig *config,
                        RdxDemand *demand)
{
    double elements = (double)layout->count * (double)layout->outputs;
    double repeats = config->slices > 1 ? (double)config->slices : 1;
    bool scalar = config->variant == RDX_FORM_GATHER;
    double each = layout->size;
    if (scalar && layout->fast_stride > layout->size)
        each = (double)rdx_min(rdx_max(SECTOR, layout->size), layout->fast_stride);
    double asked = layout->fast_stride == 0 ? layout->touched : elements * each;
    *demand = (RdxDemand){0};
    demand->read = layout->touched * (layout->touched > (double)situation->device->l2_bytes ? repeats : 1);
    bool staged = config->variant == RDX_FORM_TILE && config->tile_bytes > 0;       /* slabs */
    double slabs = staged ? (double)layout->slabs * (double)layout->slab_bytes : 0; /* gaps within a slab come along */
    demand->read = slabs > demand->read ? slabs : demand->read;
    demand->written = layout->written;
    demand->requested = (asked > layout->touched ? asked : layout->touched) * repeats + layout->written;
}

void rdx_keep_cheaper(RdxConfig *best, const RdxConfig *trial)
{
    if (trial->items >= 0 && (best->items < 0 || trial->cost_us < best->cost_us))
        *best = *trial;
}

double rdx_strided_wavefronts(double loads, int64_t bytes, int64_t stride, int64_t extent)
{
    double together = extent < 32 ? (double)rdx_max(extent, 1) : 32, pieces = 32 / together;
    double lines = stride >= 128 ? together : together * (double)rdx_max(stride, bytes) / 128;
    if (pieces > 1) /* a piece starts anywhere in a line */
        lines = pieces * (lines + 0.75);
    lines = lines > 32 ? 32 : lines;
    double least = 32 * (double)bytes / 128;
    lines = stride > 0 && lines < least ? least : lines;
    return loads / 32 * (lines < 1 ? 1 : lines);
}
