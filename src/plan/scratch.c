/* How the CPU strategies lay out a thread's scratch. Staged lines stay within L1 (RDX_STAGE_BYTES a stage). */
#include "scratch.h"

int64_t rdx_scratch_strip_bytes(const RdxRecipe *recipe, int64_t outputs)
{
    int64_t values = outputs * recipe->unit;
    int64_t work = rdx_round_up(values * rdx_work_size((RdxWork)recipe->work), 64);
    return recipe->work_parts * work + (recipe->parts - recipe->work_parts) * rdx_round_up(values * 8, 64);
}

int64_t rdx_scratch_levels(int64_t count)
{
    int64_t levels = 0;
    while (levels < 62 && (int64_t)1 << levels < count)
        levels++;
    return levels;
}

static int64_t converted_bytes(const RdxRecipe *recipe) /* of one element */
{
    bool two = rdx_type_is_complex((RdxType)recipe->in);
    return rdx_work_size((RdxWork)recipe->convert) * (two ? 2 : 1);
}

static int64_t mapped_bytes(const RdxRecipe *recipe)
{
    return rdx_work_size((RdxWork)recipe->work) * rdx_max(recipe->unit, recipe->planes);
}

static int64_t take(int64_t *bytes, int64_t amount)
{
    int64_t at = *bytes;
    *bytes += rdx_round_up(amount, 64);
    return at;
}

void rdx_scratch_lay(RdxScratch *scratch, const RdxRecipe *recipe, const RdxScratchNeeds *needs)
{
    int64_t element = rdx_max(converted_bytes(recipe), mapped_bytes(recipe));
    int64_t tile = rdx_min(needs->line, RDX_STAGE_BYTES / (RDX_SCRATCH_LINES * element) / 64 * 64);
    bool mapped = recipe->map != RDX_MAP_NONE;
    scratch->tile = rdx_round_up(rdx_max(tile, 1), 64);
    scratch->bytes = 0;
    scratch->convert = take(&scratch->bytes, RDX_SCRATCH_LINES * scratch->tile * converted_bytes(recipe));
    scratch->map = take(&scratch->bytes, mapped ? RDX_SCRATCH_LINES * scratch->tile * mapped_bytes(recipe) : 0);
    scratch->raw = take(&scratch->bytes, needs->raw * rdx_types[recipe->in].size);
    scratch->table = take(&scratch->bytes, needs->table * 8);
    scratch->fold = take(&scratch->bytes, rdx_scratch_strip_bytes(recipe, needs->fold));
    scratch->spare_bytes = rdx_scratch_strip_bytes(recipe, needs->columns);
    scratch->spare_values = needs->columns * recipe->unit;
    scratch->spare = take(&scratch->bytes, needs->levels * scratch->spare_bytes);
    scratch->nodes = take(&scratch->bytes, rdx_scratch_strip_bytes(recipe, needs->nodes));
}

bool rdx_strip_any_order(const RdxSpace *space, const RdxRecipe *recipe)
{
    return recipe->exact && space->reduce_rank == 1;
}

int64_t rdx_strip_rows(const RdxSpace *space, const RdxRecipe *recipe, int residues, int64_t outputs)
{
    int64_t row_bytes = outputs * space->in_size, lanes = recipe->lanes,
            node_bytes = outputs * rdx_max(rdx_recipe_state_bytes(recipe), space->in_size);
    if (space->reduce_rank != 1 || space->reduce[0].in != row_bytes ||
        rdx_space_inner_stride(space) != space->in_size || recipe->indexed)
        return 1;
    /* A last block of rows that overlap may be as wide as they are apart. */
    if (outputs != rdx_space_inner_extent(space))
        return 1;
    if (!rdx_strip_any_order(space, recipe) && (space->reduce_count < lanes || residues > 1))
        return 1;
    return rdx_pow2_floor(rdx_max(rdx_min(RDX_STRIP_BYTES / node_bytes, lanes), 1));
}

int64_t rdx_strip_levels(const RdxSpace *space, const RdxRecipe *recipe)
{
    return rdx_strip_any_order(space, recipe)
               ? 1
               : rdx_scratch_levels(rdx_min(rdx_max(space->reduce_count, 1), recipe->lanes));
}

int64_t rdx_rows_together(const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config)
{
    enum { bytes = 1024, most = 32, raw_bytes = 16384 };
    int64_t run = space->reduce_rank > 0 ? space->reduce[space->reduce_rank - 1].extent : 0;
    if (run == 0 || run >= rdx_recipe_chunk(recipe))
        return 1;
    if (space->reduce_rank == 1) { /* copied whole, so halved side by side */
        int64_t some = rdx_min(raw_bytes / (run * space->in_size), most);
        return config->strategy == RDX_STRATEGY_CPU_GATHER ? rdx_max(rdx_min(config->outputs_per_block, some), 1) : 1;
    }
    int64_t wanted = rdx_max(rdx_min(rdx_div_up(bytes, run * space->in_size), most), 2);
    return rdx_min(config->outputs_per_block, wanted);
}

int64_t rdx_raw_step(const RdxSpace *space, const RdxRecipe *recipe)
{
    enum { line_bytes = 64 };
    const int64_t n = rdx_min(rdx_max(space->reduce_count, 1), rdx_recipe_chunk(recipe));
    return ((rdx_div_up(n * space->in_size, line_bytes) + 1) | 1) * line_bytes / space->in_size;
}

void rdx_scratch_of(RdxScratch *scratch, const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config)
{
    int64_t n = rdx_max(space->reduce_count, 1), lanes = recipe->lanes;
    int64_t chunk = rdx_min(n, rdx_recipe_chunk(recipe)), outputs = config->outputs_per_block;
    int64_t chunks = rdx_min(config->part_chunks, rdx_div_up(n, rdx_recipe_chunk(recipe)));
    int64_t levels = rdx_scratch_levels(chunks),
            part_levels = config->split > 1 ? rdx_scratch_levels(config->split) : 0;
    RdxScratchNeeds needs = {.columns = outputs, .nodes = outputs};
    switch (config->strategy) {
    case RDX_STRATEGY_CPU_SHORT_ROWS:
        if (config->variant == 0) { /* strips of gathered lanes */
            needs.line = outputs;
            needs.raw = outputs;
            needs.table = space->reduce_rank > 1 ? 2 * chunk : 0;
            needs.levels = rdx_scratch_levels(n);
        } else { /* rows halved side by side */
            bool one_line = n <= lanes;
            int64_t rows = rdx_min(outputs, rdx_rows_at_once(recipe, n));
            needs.line = one_line ? rows * n : lanes;
            needs.raw = one_line ? rows * n : 0;
            needs.table = recipe->indexed ? needs.line : 0;
            needs.fold = rows * rdx_min(n, lanes);
        }
        break;
    case RDX_STRATEGY_CPU_COLUMNS:
        if (config->variant == 0) { /* strips */
            int64_t rows = rdx_strip_rows(space, recipe, config->residues, outputs);
            needs.line = rows * outputs;
            needs.raw = rdx_space_inner_stride(space) == space->in_size ? 0 : RDX_SCRATCH_LINES * outputs;
            needs.table = space->reduce_rank > 1 ? 2 * chunk : 0;
            needs.fold = rows > 1 ? rows * outputs : 0;
            needs.columns = rows * outputs;
            needs.levels = levels + rdx_strip_levels(space, recipe);
        } else { /* whole lines of all columns */
            needs.line = rdx_min(n, lanes) * outputs;
            needs.table = recipe->indexed ? needs.line : 0;
            needs.fold = needs.line;
            needs.levels = levels;
        }
        break;
    case RDX_STRATEGY_CPU_SHORT_COLUMNS:
        needs.line = needs.raw = outputs;
        needs.fold = n * outputs;
        break;
    default: /* rows, gather */
        needs.line = rdx_min(n, lanes);
        needs.raw = rdx_rows_together(space, recipe, config) * rdx_raw_step(space, recipe);
        needs.table = recipe->indexed ? rdx_max(chunk, lanes) : 0;
        /* Indices: the nodes of a line beside those of all before (fold_indexed), each from a multiple of 64 bytes on,
           where an element has one at least. */
        needs.fold = recipe->indexed ? 2 * needs.line + 2 * 64 : needs.line;
        needs.levels = levels;
        needs.columns = space->reduce_rank > 1 ? outputs : 1;
        break;
    }
    needs.levels = rdx_max(needs.levels, 1);
    if (part_levels > needs.levels || config->split > 1) {
        needs.levels = rdx_max(needs.levels, part_levels);
        needs.columns = rdx_max(needs.columns, outputs);
    }
    rdx_scratch_lay(scratch, recipe, &needs);
}
