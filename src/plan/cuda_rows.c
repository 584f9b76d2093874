/* Kernels of rows: which plans they take and how they cut them; see cuda_parts.h. */
#include "cuda_parts.h"

enum {
    BUSY_WARPS = 8192,
    RUN_BYTES = 32768,
    MOST_CHUNKS = 1 << 30, /* of a part: finished runs lie across a warp */
};

/* ---- Short rows ---- */

/* Rows that start at multiples of 16 bytes, as far as the plan knows. */
static bool are_aligned(const RdxConfig *config, int64_t step)
{
    return config->variant != RDX_FORM_SHIFTED && config->variant != RDX_FORM_TILE && config->vector_bytes == 16 &&
           step % 16 == 0;
}

/* Rows of 1, 2, 4 .. 32 whole, aligned vectors with nothing between them, with a frequent map and one copy of an output; not where a
   vector's nodes take more registers than there are, nor of 8-bit elements but integers that are exact. */
bool rdx_cuda_take_packed_rows(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    const RdxSpace *space = s->space;
    const RdxRecipe *recipe = s->recipe;
    const int elements = 16 / space->in_size;
    const int steps = RDX_CUDA_PACKED_STEPS(recipe->exact ? 1 : elements, launch->words);
    if (config->variant != RDX_FORM_ROWS || config->vector_bytes != 16 || space->reduce_rank != 1 ||
        space->reduce[0].in != space->in_size || space->keep_rank != 1 || recipe->count < elements ||
        recipe->count > recipe->lanes || (recipe->count & (recipe->count - 1)) != 0)
        return false;
    bool narrow = recipe->in == RDX_TYPE_F8E4M3 || recipe->in == RDX_TYPE_F8E5M2;
    if (space->keep[0].in != recipe->count * space->in_size || config->finishing != RDX_FINISHING_NONE ||
        config->slices > 1 || space->copy_count != 1 || !rdx_cuda_has_unmasked_map(recipe) ||
        rdx_cuda_is_twice(recipe) || narrow || (space->in_size == 1 && !recipe->exact) || steps == 0)
        return false;
    launch->elements = elements;
    RdxCudaShape *shape = &launch->shape;
    rdx_cuda_take_parts(shape, config);
    int64_t line = RDX_CUDA_THREADS * elements / recipe->count; /* rows of a line of every warp */
    shape->group_outputs = line << steps;
    shape->run_outputs = space->keep_count;
    rdx_cuda_count_items(shape, space, recipe);
    return true;
}

/* Lanes of a thread: as registers allow, but so many that a warp is enough for a row. */
static int lanes_of_thread(const RdxRecipe *recipe, int size, int words)
{
    bool real = recipe->work == RDX_WORK_F32 || recipe->work == RDX_WORK_F64;
    if (!real && size <= 2 && (words == 1 || recipe->algebra == RDX_ALGEBRA_ISUM))
        return 32;
    return words <= 2 || size == 1 ? 16 : words <= 4 || size == 2 ? 8 : 4;
}

/* Contiguous rows of at most four lines, packed or aligned. */
bool rdx_cuda_take_short_rows(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    const RdxSpace *space = s->space;
    const RdxRecipe *recipe = s->recipe;
    bool rows =
        config->variant == RDX_FORM_ROWS || config->variant == RDX_FORM_SHIFTED || config->variant == RDX_FORM_TILE;
    if (!rows || space->reduce_rank != 1 || space->reduce[0].in != space->in_size || recipe->count == 0 ||
        recipe->count > 4 * recipe->lanes || config->finishing != RDX_FINISHING_NONE || config->slices > 1 ||
        space->keep_rank == 0)
        return false;
    int64_t step = space->keep[space->keep_rank - 1].in;
    bool aligned = are_aligned(config, step);
    if (step != recipe->count * space->in_size && !aligned)
        return false;
    RdxCudaShape *shape = &launch->shape;
    rdx_cuda_take_parts(shape, config);
    launch->elements = lanes_of_thread(recipe, space->in_size, launch->words);
    shape->ring_bytes = RDX_CUDA_WARPS * RDX_CUDA_STAGES * RDX_CUDA_TILE;
    shape->row_bytes = (int)(recipe->count * space->in_size);
    int each = (int)rdx_div_up(shape->row_bytes, 16);
    shape->row_magic = 65536 / each + 1;
    shape->lines = (int)rdx_div_up(recipe->count, recipe->lanes);
    shape->mates = (int)rdx_max(rdx_min(rdx_pow2_ceil(recipe->count), recipe->lanes) / launch->elements, 1);
    /* Rows of an even number of vectors start in the same banks; a pad turns them. Of long ones and those of many threads, few are
       read at once. */
    bool even = shape->row_bytes % 32 == 0 && shape->row_bytes <= 512 && shape->mates < 16;
    if (step != shape->row_bytes || (even && aligned))
        shape->pitch = 16 * (each | 1);
    int64_t in_tile = shape->pitch ? RDX_CUDA_TILE / shape->pitch : (RDX_CUDA_TILE - 15) / shape->row_bytes;
    if (!shape->pitch && aligned)
        in_tile = RDX_CUDA_TILE / shape->row_bytes;
    int at_once = 32 / shape->mates;
    /* Whole turns: 2M x 33 f32 took 72 us in tiles of 24 rows, 76 in tiles of 30. */
    if (in_tile > at_once)
        in_tile = in_tile / at_once * at_once;
    shape->run_outputs = space->keep[space->keep_rank - 1].extent;
    shape->group_outputs = in_tile;
    rdx_cuda_count_items(shape, space, recipe);
    return rdx_cuda_fits(launch, s);
}

/* ---- A warp a chunk ---- */

/* `groups` of a thread's ring; 0: it has none. */
static bool cut_rows(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config, int groups)
{
    const RdxSpace *space = s->space;
    const RdxRecipe *recipe = s->recipe;
    RdxCudaShape *shape = &launch->shape;
    rdx_cuda_take_parts(shape, config);
    shape->ring_bytes = rdx_cuda_ring_bytes(recipe, groups);
    int64_t chunks = rdx_min(rdx_recipe_chunks(recipe), shape->part_chunks);
    bool cut = shape->finishing != RDX_FINISHING_NONE;
    rdx_cuda_take_run(shape, space);
    /* Warps that share a row meet at a barrier, so they do only where rows are too few to keep the chip busy: argmax of 16384 rows of
       4096 f32 took 90 us on an H200 with two warps a row, 74 with one, sums 64 with either. */
    int64_t sharing = rdx_pow2_ceil(rdx_div_up(BUSY_WARPS, rdx_max(space->keep_count, 1)));
    sharing = rdx_min(sharing, RDX_CUDA_WARPS);
    shape->team = cut ? RDX_CUDA_WARPS : (int)rdx_min(rdx_pow2_ceil(chunks), sharing);
    shape->team_log2 = rdx_cuda_log2_up(shape->team);
    shape->warp_chunks = rdx_max(rdx_pow2_ceil(chunks) / shape->team, 1);
    shape->group_outputs = cut ? config->outputs_per_block : RDX_CUDA_WARPS / shape->team;
    /* A warp's start is paid once for RUN_BYTES, as long as blocks are many. */
    int64_t run = RUN_BYTES / (recipe->count * space->in_size), most = s->device->many_blocks;
    bool one_row = cut || shape->team > 1 || space->keep_rank > 1;
    while (!one_row && shape->group_outputs < RDX_CUDA_WARPS * run && space->keep_count > shape->group_outputs * most)
        shape->group_outputs *= 2;
    shape->run_outputs = space->keep_count;
    rdx_cuda_count_items(shape, space, recipe);
    return rdx_cuda_fits(launch, s);
}

static bool are_rows(const RdxSpace *space, const RdxConfig *config)
{
    bool one = (config->variant == RDX_FORM_ROWS || config->variant == RDX_FORM_SHIFTED) && space->reduce_rank == 1;
    bool several = config->variant == RDX_FORM_RUNS && space->reduce_rank == 2 && space->reduce_count <= INT32_MAX;
    return (one || several) && config->vector_bytes == 16 && config->residues <= 1 &&
           config->part_chunks <= MOST_CHUNKS && space->reduce_count > 0;
}

/* Rows of one run of aligned vectors of elements of 2 bytes and more, with a map that the kernels know at compile time, indices, if any,
   that ascend, and one copy of an output. */
bool rdx_cuda_take_straight_rows(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    const RdxSpace *space = s->space;
    const RdxRecipe *recipe = s->recipe;
    /* Nodes of several words take longer to fold and to join, which rings hide: var over 4096 x 4096 f32 took 26.5 us through them and
       23.3 this way, over 16384 x 4096 69 and 73, argmax over 64K x 4K 254 and 277. Elements of two bytes are as much work either way:
       argmax over 32K x 4K bf16 131 and 114. logsumexp asks for the next chunk while it folds. */
    double bytes = (double)space->keep_count * (double)space->reduce_count * space->in_size;
    bool twice = rdx_cuda_is_twice(recipe);
    bool light = launch->words == 1 || space->in_size == 2 || bytes <= (double)s->device->heavy_bytes || twice;
    if (config->variant != RDX_FORM_ROWS || !are_rows(space, config) || space->in_size == 1 || space->copy_count != 1 ||
        config->slices > 1 || space->keep_count > INT32_MAX || !rdx_cuda_has_unmasked_map(recipe) ||
        (twice && recipe->work != RDX_WORK_F32) || !light || !rdx_cuda_is_ascending(space))
        return false;
    launch->elements = 16 / space->in_size;
    return cut_rows(launch, s, config, 0);
}

/* Contiguous runs of whole vectors, or one run of any alignment. */
bool rdx_cuda_take_ring_rows(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    launch->elements = 16 / s->space->in_size;
    return are_rows(s->space, config) && cut_rows(launch, s, config, RDX_CUDA_RING_ROWS);
}

/* Rows of any strides, where lanes fill a warp. */
bool rdx_cuda_take_gather_rows(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    const RdxSpace *space = s->space;
    bool one_row = config->finishing == RDX_FINISHING_NONE || config->outputs_per_block == 1;
    launch->elements = 1;
    return rdx_cuda_is_row(space) && one_row && space->reduce_count >= 32 && config->residues <= 1 &&
           config->part_chunks <= MOST_CHUNKS && cut_rows(launch, s, config, 0);
}
