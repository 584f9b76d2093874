/* columns: outputs side by side, or apart, which are gathered row by row. Lines (variant 1) where the reduced dim is
   contiguous with the kept one and a line of L elements for each column fits in L2; strips (variant 0) otherwise. */
#include "cpu.h"
#include "strategies.h"

enum {
    LINE_BYTES = 262144,   /* nodes of a line: a quarter of L2 */
    PAGE_BYTES = 4096,     /* of a row that a strip has at least, where threads can share its rows instead */
    LEAST_BYTES = 1024,    /* and where they cannot */
    GATHERED_BYTES = 2048, /* of a strip's row whose columns lie apart: 16 of them stay in L1 */
    SPARE_BYTES = 393216,  /* a strip's partial results, all levels: stays in L2 */
};

static int64_t line_bytes(const RdxSituation *situation)
{
    int64_t lanes = rdx_min(situation->space->reduce_count, situation->recipe->lanes);
    return lanes * rdx_space_inner_extent(situation->space) * rdx_recipe_state_bytes(situation->recipe);
}

/* Whether strips have few nodes to join: rows are taken as they come, or lanes are joined as they are folded
   (src/kernels/cpu/joined.inc). */
static bool joins_on_the_way(const RdxSituation *situation)
{
    const RdxRecipe *recipe = situation->recipe;
    const bool sums = recipe->algebra == RDX_ALGEBRA_SUM || recipe->algebra == RDX_ALGEBRA_SUMSQ ||
                      recipe->algebra == RDX_ALGEBRA_VAR;
    return rdx_strip_any_order(situation->space, recipe) ||
           (sums && recipe->map == RDX_MAP_NONE && rdx_types[recipe->in].size >= 2);
}

static bool is_packed(const RdxSpace *space)
{
    return rdx_space_inner_stride(space) == space->in_size;
}

/* Strips of `width` columns, times the chunks that each is split into. */
static double parts_of(const RdxSpace *space, int64_t chunks, int64_t width)
{
    const int64_t extent = rdx_space_inner_extent(space);
    return (double)chunks * (double)rdx_div_up(extent, rdx_max(width, 1)) * (double)(space->keep_count / extent);
}

/* Lines for few columns. One thread from L2, GB/s as strips and as lines: f32 sums of 100 x 256 49 and 25, 32 x 128 57
   and 62, 2048 x 128 64 and 70; argmax of 64 x 16 x 256 over the middle 37 and 8; prod 28 and 52. Threads cannot share
   a line, so not where there are twice as many: 16 of a Xeon, us of prod f32 2000 x 512 190 as lines, 104 as strips,
   logsumexp 305 and 216; 2 threads 184 and 116, 326 and 276. */
static bool has_lines(const RdxSituation *situation)
{
    const RdxSpace *space = situation->space;
    const int64_t columns = rdx_space_inner_extent(space);
    const bool short_lanes = space->reduce_count < rdx_recipe_chunk(situation->recipe);
    if (columns >= (short_lanes ? 128 : 256) && joins_on_the_way(situation))
        return false;
    if (2 * parts_of(space, rdx_recipe_chunks(situation->recipe), columns) <= (double)rdx_cpu_threads(situation))
        return false;
    return space->reduce_rank == 1 && columns <= LINE_BYTES && is_packed(space) &&
           space->reduce[0].in == columns * space->in_size && line_bytes(situation) <= LINE_BYTES;
}

const char *rdx_plan_columns_applicable(const RdxSituation *situation)
{
    const RdxSpace *space = situation->space;
    if (space->keep_rank == 0)
        return "there is one output";
    if (!is_packed(space) && space->reduce_rank > 0) { /* 2000 x 512 x 5 f32 over 0, 2: 12.9 ms, gathered 4.9 */
        const RdxDim *inner = &space->reduce[space->reduce_rank - 1];
        if (inner->extent > 3 && (inner->in < 0 ? -inner->in : inner->in) < rdx_space_inner_stride(space))
            return "outputs lie further apart than their elements";
    }
    return NULL;
}

/* Into how many residues a chunk of rows goes, so that there are `wanted` work items in the place of each. */
static int residues_for(const RdxSpace *space, double wanted)
{
    enum { most = 16, rows = 16 };
    int residues = 1;
    while (space->reduce_rank == 1 && residues < wanted && residues < most &&
           space->reduce_count >= 2 * residues * rows)
        residues *= 2;
    return residues;
}

/* Columns of a strip. Where there are fewer parts than threads, strips are narrower, down to a page of a row; then a
   chunk of each is shared; and what cannot be is narrower still. 16 threads of a Xeon, f32: see "Chunks that threads
   share" in docs/performance/cpu.md. */
static int64_t strip_width(const RdxSituation *situation, int *residues)
{
    const RdxSpace *space = situation->space;
    const RdxRecipe *recipe = situation->recipe;
    const int64_t extent = rdx_space_inner_extent(space), chunks = rdx_recipe_chunks(recipe);
    const int64_t levels = rdx_scratch_levels(chunks) + rdx_strip_levels(space, recipe) + 2;
    const int64_t threads = rdx_cpu_threads(situation), share = rdx_div_up(extent, threads);
    const int64_t most = is_packed(space) ? RDX_STRIP_BYTES : GATHERED_BYTES;
    int64_t width = rdx_min(most / space->in_size, SPARE_BYTES / levels / rdx_recipe_state_bytes(recipe));
    *residues = 1;
    if (parts_of(space, chunks, width) >= (double)threads)
        return width;
    width = rdx_min(width, rdx_max(share, PAGE_BYTES / space->in_size));
    const double parts = parts_of(space, chunks, width);
    if (parts >= (double)threads)
        return width;
    *residues = residues_for(space, 2 * (double)threads / parts);
    return parts * *residues >= (double)threads ? width : rdx_min(width, rdx_max(share, LEAST_BYTES / space->in_size));
}

void rdx_plan_columns_configure(const RdxSituation *situation, RdxConfig *config)
{
    int64_t extent = rdx_space_inner_extent(situation->space);
    config->variant = has_lines(situation);
    if (config->variant == 1) {
        config->outputs_per_block = extent;
    } else {
        int64_t width = strip_width(situation, &config->residues);
        width = rdx_div_up(extent, rdx_div_up(extent, rdx_max(width, 64))); /* strips of one width */
        config->outputs_per_block = rdx_min(extent, rdx_round_up(width, 64));
    }
    rdx_cpu_partition(situation, config, true);
}

/* ns: a chunk 120 as lines, a lane of a chunk 30 as strips, whose rows take 8 each where they are less than a page;
   nodes come and go at 40 GB/s as lines, at 16 as strips, of indices as lines at 20 once more. */
double rdx_plan_columns_cost(const RdxSituation *situation, RdxConfig *config)
{
    const RdxSpace *space = situation->space;
    double elements = (double)space->keep_count * (double)space->reduce_count;
    double element = rdx_cpu_element_ns(situation->recipe), state = rdx_recipe_state_bytes(situation->recipe);
    double lanes = (double)rdx_min(space->reduce_count, situation->recipe->lanes);
    double chunks = (double)rdx_div_up(rdx_max(space->reduce_count, 1), rdx_recipe_chunk(situation->recipe));
    double strips = (double)config->grid / (double)(config->split * config->residues);
    double nodes = (double)space->keep_count * lanes * chunks;
    bool lines = config->variant == 1;
    double node_ns = state / (lines ? 40 : 16) + (lines && situation->recipe->indexed ? state / 20 : 0);
    double row_bytes = (double)config->outputs_per_block * space->in_size;
    double overhead = lines ? strips * chunks * 120 : strips * chunks * lanes * 30;
    double scattered = lines || row_bytes >= 4096 ? 0 : elements / row_bytes * space->in_size * 8;
    if (!is_packed(space)) { /* a line of columns takes a call, and of memory what lies between them too */
        const int64_t apart = rdx_min(rdx_space_inner_stride(space), 64);
        scattered += strips * (double)space->reduce_count * 20;
        scattered += elements * (0.5 + (double)(apart - rdx_min(apart, space->in_size)) / 24);
    }
    if (space->reduce_rank > 1)
        overhead += strips * (double)space->reduce_count * 2; /* the table of a chunk's rows */
    return rdx_cpu_cost(situation, config, elements * element + nodes * node_ns + overhead + scattered);
}
