/* Shapes of blocks of columns; see shape.h. */
#include "shape_parts.h"

enum { COLUMN_WARPS = 8192, STRAIGHT_COLUMN_WARPS = 16384, FEW_BLOCKS = 256 };

bool rdx_cuda_shape_is_vectors(const RdxSpace *space, const RdxConfig *config, int elements)
{
    return (config->variant == RDX_FORM_COLUMNS || rdx_cuda_is_streamed(space, config)) && config->vector_bytes == 16 &&
           elements * space->in_size == 16 && space->reduce_count > 0 && space->reduce_rank > 0;
}

/* What straight and shifted columns have in common. */
static bool are_straight(const RdxSpace *space, const RdxRecipe *recipe)
{
    return space->reduce_rank == 1 && space->keep_rank > 0 && space->keep[space->keep_rank - 1].in == space->in_size &&
           recipe->count >= 16 && rdx_cuda_has_unmasked_map(recipe);
}

bool rdx_cuda_shape_is_straight_columns(const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config,
                                        int elements)
{
    return rdx_cuda_shape_is_vectors(space, config, elements) && are_straight(space, recipe) &&
           space->keep[space->keep_rank - 1].extent % elements == 0;
}

bool rdx_cuda_shape_is_shifted_columns(const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config,
                                       int elements)
{
    bool columns = config->variant == RDX_FORM_COLUMNS || config->variant == RDX_FORM_SHIFTED_COLUMNS;
    return columns && elements * space->in_size == 16 && are_straight(space, recipe);
}

bool rdx_cuda_shape_is_single_columns(const RdxSpace *space, const RdxRecipe *recipe)
{
    return !rdx_cuda_is_row(space) && space->keep_rank > 0 && space->reduce_count > 0 &&
           rdx_cuda_has_unmasked_map(recipe);
}

/* Warps of the grid if each took all lanes of its columns; classes are split over warps where that is too few. A thread without a ring
   asks for 16 vectors at once, and keeps lanes enough for that: 256 x 1M f32 took 245 us with all lanes in a thread, 243 in two. */
static int class_warps_for(const RdxCudaShape *shape, int64_t column_warps, int64_t lanes, int64_t lines, int groups)
{
    int64_t fewest = groups > 0 ? 1 : 16 / rdx_pow2_ceil(lines), warps = 1;
    int64_t wanted = groups > 0 ? COLUMN_WARPS : STRAIGHT_COLUMN_WARPS;
    int64_t most = rdx_max(rdx_min(lanes / (shape->rows_at_once * fewest), WARPS), 1);
    while (warps < most && column_warps * shape->split * shape->residues * warps < wanted)
        warps *= 2;
    return (int)warps;
}

bool rdx_cuda_shape_vectors(RdxCudaShape *shape, const RdxSpace *space, const RdxRecipe *recipe,
                            const RdxConfig *config, int groups, bool shifted, int elements, int words,
                            int64_t shared_bytes)
{
    rdx_cuda_take_parts(shape, config);
    rdx_cuda_take_run(shape, space);
    shape->ring_bytes = rdx_cuda_ring_bytes(recipe, groups);
    int64_t columns = space->keep_rank ? space->keep[space->keep_rank - 1].extent : 1;
    bool cut = shape->finishing != RDX_FINISHING_NONE;
    shape->shifted = shifted;
    int64_t shift = shifted; /* vectors of a tile that are there for the one before them */
    /* Wide tiles start less often, as long as they are enough to go round; else the plan's. 8192 x 65536 bf16 took 252 us as 256 wide blocks,
       270 as 1024; 128 x 64 x 128 x 256 f32 over 0 and 2 328 as 128 wide ones, 255 as 512. */
    bool few = space->keep_count < FEW_BLOCKS * 32 * elements;
    int64_t tile = cut || (few && !shifted) ? rdx_min(config->outputs_per_block, columns) : columns;
    int64_t lanes = rdx_min(rdx_pow2_ceil(recipe->count), recipe->lanes) / shape->residues;
    shape->width = (int)rdx_min(rdx_pow2_ceil(rdx_div_up(tile, elements) + shift), 32);
    shape->rows_at_once = 32 / shape->width;
    if (lanes < shape->rows_at_once)
        return false;
    int64_t column_warps = space->keep_count / columns * rdx_div_up(columns, (int64_t)shape->width * elements);
    int64_t lines = rdx_min(rdx_div_up(recipe->count, recipe->lanes), 16);
    shape->class_warps = class_warps_for(shape, column_warps, lanes, lines, groups);
    if (shifted) {
        int64_t pitch = space->reduce[0].in,
                alike = pitch ? 16 / rdx_min(pitch & -pitch, 16) : 1; /* rows to the next */
        while (shape->residues * shape->rows_at_once * shape->class_warps < alike)
            shape->class_warps *= 2;
        if (shape->class_warps > WARPS || shape->rows_at_once * shape->class_warps > lanes)
            return false;
    }
    shape->classes = shape->residues * shape->rows_at_once * shape->class_warps;
    shape->lanes_log2 = rdx_cuda_log2_up(lanes / (shape->rows_at_once * shape->class_warps));
    shape->group_lanes_log2 = (int)rdx_min(lines > 2 ? 0 : lines == 2 ? 1 : 2, shape->lanes_log2);
    shape->run_outputs = columns;
    int64_t chunks = rdx_min(rdx_cuda_chunks(recipe), shape->part_chunks);
    int chunk_levels = chunks == 1 ? 0 : recipe->exact ? 1 : rdx_cuda_log2_up(chunks) + 1;
    shape->lane_levels = recipe->exact ? 1 : (int)rdx_max(shape->lanes_log2, 1);
    shape->stack_words = (shape->lane_levels + chunk_levels) * elements * words * 32;
    /* As many warps side by side as there are columns for and shared memory has room for. */
    int64_t warp_ring = shape->ring_bytes / WARPS,
            vectors = rdx_div_up(rdx_div_up(tile, elements) + shift, shape->width);
    for (int64_t side = rdx_min(WARPS / shape->class_warps, rdx_pow2_ceil(vectors)); side > 0; side /= 2) {
        shape->warps = shape->class_warps * (int)side;
        shape->ring_bytes = (int)warp_ring * shape->warps;
        shape->tile_columns = ((int)side * shape->width - (int)shift) * elements;
        shape->group_outputs = cut ? config->outputs_per_block : shape->tile_columns;
        if (rdx_cuda_shape_shared(shape, words) <= shared_bytes) {
            rdx_cuda_count_items(shape, space, recipe);
            return true;
        }
    }
    return false;
}

bool rdx_cuda_shape_is_few(const RdxSpace *space, const RdxConfig *config, int elements)
{
    return config->variant == RDX_FORM_FEW_COLUMNS && config->vector_bytes == 16 && elements * space->in_size == 16 &&
           config->residues <= 1 && space->reduce_rank == 1 && space->reduce_count > 0;
}

bool rdx_cuda_shape_few(RdxCudaShape *shape, const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config,
                        int words, int64_t shared_bytes)
{
    rdx_cuda_take_parts(shape, config);
    int64_t columns = space->keep[space->keep_rank - 1].extent,
            warp_ring = rdx_cuda_ring_bytes(recipe, RDX_CUDA_RING_COLUMNS) / WARPS;
    int64_t chunks = rdx_min(rdx_cuda_chunks(recipe), shape->part_chunks);
    shape->group_outputs = shape->run_outputs = columns;
    /* Fewer warps where the nodes of a chunk, one for each lane and column, leave no room for eight. */
    for (shape->warps = (int)rdx_min(rdx_pow2_ceil(chunks), WARPS); shape->warps > 0; shape->warps /= 2) {
        shape->warp_chunks = rdx_max(rdx_pow2_ceil(chunks) / shape->warps, 1);
        shape->stack_words = (int)(recipe->lanes * columns + (rdx_cuda_log2_up(shape->warp_chunks) + 1) * 32) * words;
        shape->ring_bytes = (int)warp_ring * shape->warps;
        if (rdx_cuda_shape_shared(shape, words) <= shared_bytes) {
            rdx_cuda_count_items(shape, space, recipe);
            return true;
        }
    }
    return false;
}
