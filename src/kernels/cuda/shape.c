/* Shapes of blocks from plans; see shape.h. Where the plan cut an output into parts, groups and their outputs are the plan's, because
   the workspace was sized by them; elsewhere a kernel groups outputs as suits it. */
#include "shape_parts.h"

#include <string.h>

#ifndef RDX_CUDA_MANY_BLOCKS
#define RDX_CUDA_MANY_BLOCKS 4096 /* the emulator says otherwise */
#endif
#ifndef RDX_CUDA_HEAVY_BYTES
#define RDX_CUDA_HEAVY_BYTES (128 << 20)
#endif

enum {
    WIDE = 32,
    BATCH = 32,
    BATCH_BYTES = 32768,
    BUSY_WARPS = 8192,
    MANY_BLOCKS = RDX_CUDA_MANY_BLOCKS,
    RUN_BYTES = 32768,
    HEAVY_BYTES = RDX_CUDA_HEAVY_BYTES
};

int rdx_cuda_log2_up(int64_t n)
{
    int log2 = 0;
    while ((int64_t)1 << log2 < n)
        log2++;
    return log2;
}

bool rdx_cuda_is_row(const RdxSpace *space)
{
    const RdxDim *reduce = space->reduce_rank ? &space->reduce[space->reduce_rank - 1] : NULL;
    const RdxDim *keep = space->keep_rank ? &space->keep[space->keep_rank - 1] : NULL;
    return reduce && (!keep || reduce->in <= keep->in);
}

/* Parts as planned; groups still to come. Padding travels to the device too, and is not to be whatever lay on the stack. */
void rdx_cuda_take_parts(RdxCudaShape *shape, const RdxConfig *config)
{
    memset(shape, 0, sizeof *shape);
    shape->split = rdx_max(config->split, 1);
    shape->part_chunks = rdx_max(config->part_chunks, 1);
    shape->residues = config->residues > 1 ? config->residues : 1;
    shape->slices = rdx_max(config->slices, 1);
    shape->finishing = config->finishing;
}

/* logsumexp looks at its elements twice. */
static bool is_twice(const RdxRecipe *recipe)
{
    return recipe->algebra == RDX_ALGEBRA_LSE || recipe->algebra == RDX_ALGEBRA_LSEN;
}

bool rdx_cuda_has_unmasked_map(const RdxRecipe *recipe)
{
    int map = recipe->map;
    bool key = map == RDX_MAP_KEY || map == RDX_MAP_KEY_ARG || map == RDX_MAP_KEY_PAIR || map == RDX_MAP_KEY_BOTH;
    return map == RDX_MAP_NONE || key || (map == RDX_MAP_NONZERO && recipe->algebra == RDX_ALGEBRA_ISUM);
}

int rdx_cuda_ring_bytes(const RdxRecipe *recipe, int groups)
{
    if (groups == 0)
        return 0;
    return RDX_CUDA_THREADS * 16 * RDX_CUDA_GROUP * (is_twice(recipe) ? RDX_CUDA_RING_TWICE : groups);
}

/* e / run by a multiplication, for e < 2^31: run <= 2^shift, magic = 2^32 (2^shift - run) / run + 1. */
void rdx_cuda_take_run(RdxCudaShape *shape, const RdxSpace *space)
{
    if (space->reduce_rank != 2 || space->reduce_count > INT32_MAX)
        return;
    shape->run = (uint32_t)space->reduce[1].extent;
    shape->run_shift = (uint32_t)rdx_cuda_log2_up(shape->run);
    uint64_t gap = ((uint64_t)1 << shape->run_shift) - shape->run;
    shape->run_magic = (uint32_t)((gap << 32) / shape->run + 1);
}

static bool is_ascending(const RdxSpace *space)
{
    int64_t reach = 0; /* of the dims within */
    for (int d = space->reduce_rank - 1; d >= 0; d--) {
        if (space->reduce[d].index <= reach)
            return false;
        reach += space->reduce[d].index * (space->reduce[d].extent - 1);
    }
    return true;
}

void rdx_cuda_count_items(RdxCudaShape *shape, const RdxSpace *space, const RdxRecipe *recipe)
{
    shape->chunks = rdx_cuda_chunks(recipe);
    shape->ascending = is_ascending(space);
    bool same = (recipe->out == RDX_TYPE_F32 && recipe->work == RDX_WORK_F32) ||
                (recipe->out == RDX_TYPE_F64 && recipe->work == RDX_WORK_F64) ||
                (recipe->algebra == RDX_ALGEBRA_ISUM && recipe->result == RDX_WORK_I64 &&
                 (recipe->out == RDX_TYPE_I64 || recipe->out == RDX_TYPE_U64));
    shape->plain = space->copy_count == 1;
    shape->direct = shape->plain && same && recipe->finish == RDX_FINISH_VALUE && !recipe->omit;
    shape->run_outputs = rdx_max(shape->run_outputs, 1); /* no outputs: the plan is never launched */
    shape->groups_per_run = rdx_div_up(shape->run_outputs, shape->group_outputs);
    shape->groups = space->keep_count / shape->run_outputs * shape->groups_per_run;
    shape->items = shape->groups * shape->split * shape->residues * shape->slices;
    shape->simple = shape->items == shape->groups && shape->run_outputs >= space->keep_count;
}

bool rdx_cuda_is_streamed(const RdxSpace *space, const RdxConfig *config)
{
    bool groups = space->reduce_count == 4 || space->reduce_count == 8 || space->reduce_count == 16;
    return config->variant == RDX_FORM_REGISTERS && config->vector_bytes == 16 && groups;
}

bool rdx_cuda_shape_is_columns(const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config, int elements)
{
    return config->variant == RDX_FORM_REGISTERS && config->vector_bytes >= elements * space->in_size &&
           space->reduce_rank <= 1 && recipe->count > 0 && recipe->count <= 16 && space->keep_rank > 0 &&
           config->finishing == RDX_FINISHING_NONE && !rdx_cuda_is_streamed(space, config);
}

void rdx_cuda_shape_columns(RdxCudaShape *shape, const RdxSpace *space, const RdxRecipe *recipe,
                            const RdxConfig *config, int elements)
{
    rdx_cuda_take_parts(shape, config);
    shape->columns = true;
    shape->group_outputs = (int64_t)RDX_CUDA_THREADS * elements;
    shape->run_outputs = space->keep[space->keep_rank - 1].extent;
    rdx_cuda_count_items(shape, space, recipe);
}

/* Rows that start at multiples of 16 bytes, as far as the plan knows. */
static bool are_aligned(const RdxConfig *config, int64_t step)
{
    return config->variant != RDX_FORM_SHIFTED && config->variant != RDX_FORM_TILE && config->vector_bytes == 16 &&
           step % 16 == 0;
}

static int nodes_of_vector(const RdxRecipe *recipe, int elements)
{
    return recipe->exact ? 1 : elements;
}

bool rdx_cuda_shape_is_packed(const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config, int elements,
                              int words)
{
    if (config->variant != RDX_FORM_ROWS || config->vector_bytes != 16 || space->reduce_rank != 1 ||
        space->reduce[0].in != space->in_size || space->keep_rank != 1 || recipe->count < elements ||
        recipe->count > recipe->lanes || (recipe->count & (recipe->count - 1)) != 0)
        return false;
    bool small = recipe->in == RDX_TYPE_F8E4M3 || recipe->in == RDX_TYPE_F8E5M2;
    return space->keep[0].in == recipe->count * space->in_size && config->finishing == RDX_FINISHING_NONE &&
           config->slices <= 1 && space->copy_count == 1 && rdx_cuda_has_unmasked_map(recipe) && !is_twice(recipe) &&
           !small && (space->in_size > 1 || recipe->exact) &&
           RDX_CUDA_PACKED_STEPS(nodes_of_vector(recipe, elements), words) > 0;
}

void rdx_cuda_shape_packed(RdxCudaShape *shape, const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config,
                           int elements, int words)
{
    rdx_cuda_take_parts(shape, config);
    int64_t line = RDX_CUDA_THREADS * elements / recipe->count; /* rows of a line of every warp */
    shape->group_outputs = line << RDX_CUDA_PACKED_STEPS(nodes_of_vector(recipe, elements), words);
    shape->run_outputs = space->keep_count;
    rdx_cuda_count_items(shape, space, recipe);
}

bool rdx_cuda_shape_is_short(const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config)
{
    bool rows =
        config->variant == RDX_FORM_ROWS || config->variant == RDX_FORM_SHIFTED || config->variant == RDX_FORM_TILE;
    if (!rows || space->reduce_rank != 1 || space->reduce[0].in != space->in_size || recipe->count == 0 ||
        recipe->count > 4 * recipe->lanes || config->finishing != RDX_FINISHING_NONE || config->slices > 1 ||
        space->keep_rank == 0)
        return false;
    int64_t step = space->keep[space->keep_rank - 1].in;
    return step == recipe->count * space->in_size || are_aligned(config, step);
}

bool rdx_cuda_shape_short(RdxCudaShape *shape, const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config,
                          int lanes, int64_t shared_bytes)
{
    rdx_cuda_take_parts(shape, config);
    int64_t step = space->keep[space->keep_rank - 1].in;
    shape->ring_bytes = WARPS * RDX_CUDA_STAGES * RDX_CUDA_TILE;
    shape->row_bytes = (int)(recipe->count * space->in_size);
    int each = (int)rdx_div_up(shape->row_bytes, 16);
    shape->row_magic = 65536 / each + 1;
    shape->lines = (int)rdx_div_up(recipe->count, recipe->lanes);
    shape->mates = (int)rdx_max(rdx_min(rdx_pow2_ceil(recipe->count), recipe->lanes) / lanes, 1);
    /* Rows of an even number of vectors start in the same banks; a pad turns them. Of long ones and those of many threads, few are
       read at once. */
    bool even = shape->row_bytes % 32 == 0 && shape->row_bytes <= 512 && shape->mates < 16;
    if (step != shape->row_bytes || (even && are_aligned(config, step)))
        shape->pitch = 16 * (each | 1);
    int64_t rows = shape->pitch ? RDX_CUDA_TILE / shape->pitch : (RDX_CUDA_TILE - 15) / shape->row_bytes;
    int64_t aligned = RDX_CUDA_TILE / shape->row_bytes;
    if (!shape->pitch && are_aligned(config, step))
        rows = aligned;
    int at_once = 32 / shape->mates;
    /* Whole turns: 2M x 33 f32 took 72 us in tiles of 24 rows, 76 in tiles of 30. */
    if (rows > at_once)
        rows = rows / at_once * at_once;
    shape->run_outputs = space->keep[space->keep_rank - 1].extent;
    shape->group_outputs = rows;
    rdx_cuda_count_items(shape, space, recipe);
    return shape->ring_bytes <= shared_bytes;
}

enum { MOST_CHUNKS = 1 << 30 }; /* of a part: finished runs lie across a warp */

bool rdx_cuda_shape_is_rows(const RdxSpace *space, const RdxConfig *config)
{
    bool one = (config->variant == RDX_FORM_ROWS || config->variant == RDX_FORM_SHIFTED) && space->reduce_rank == 1;
    bool several = config->variant == RDX_FORM_RUNS && space->reduce_rank == 2 && space->reduce_count <= INT32_MAX;
    return (one || several) && config->vector_bytes == 16 && config->residues <= 1 &&
           config->part_chunks <= MOST_CHUNKS && space->reduce_count > 0;
}

bool rdx_cuda_shape_is_straight(const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config, int words)
{
    /* Nodes of several words take longer to fold and to join, which rings hide: var over 4096 x 4096 f32 took 26.5 us through them and
       23.3 this way, over 16384 x 4096 69 and 73, argmax over 64K x 4K 254 and 277. Elements of two bytes are as much work either way:
       argmax over 32K x 4K bf16 131 and 114. logsumexp asks for the next chunk while it folds. */
    double bytes = (double)space->keep_count * (double)space->reduce_count * space->in_size;
    bool light = words == 1 || space->in_size == 2 || bytes <= HEAVY_BYTES || is_twice(recipe);
    return config->variant == RDX_FORM_ROWS && rdx_cuda_shape_is_rows(space, config) && space->in_size > 1 &&
           space->copy_count == 1 && config->slices <= 1 && space->keep_count <= INT32_MAX &&
           rdx_cuda_has_unmasked_map(recipe) && !(is_twice(recipe) && recipe->work != RDX_WORK_F32) && light &&
           is_ascending(space);
}

bool rdx_cuda_shape_is_gather(const RdxSpace *space, const RdxConfig *config)
{
    bool one_row = config->finishing == RDX_FINISHING_NONE || config->outputs_per_block == 1;
    return rdx_cuda_is_row(space) && one_row && space->reduce_count >= 32 && config->residues <= 1 &&
           config->part_chunks <= MOST_CHUNKS;
}

bool rdx_cuda_shape_rows(RdxCudaShape *shape, const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config,
                         int groups, int words, int64_t shared_bytes)
{
    rdx_cuda_take_parts(shape, config);
    shape->ring_bytes = rdx_cuda_ring_bytes(recipe, groups);
    int64_t chunks = rdx_min(rdx_cuda_chunks(recipe), shape->part_chunks);
    bool cut = shape->finishing != RDX_FINISHING_NONE;
    rdx_cuda_take_run(shape, space);
    /* Warps that share a row meet at a barrier, so they do only where rows are too few to keep the chip busy: argmax of 16384 rows of
       4096 f32 took 90 us on an H200 with two warps a row, 74 with one, sums 64 with either. */
    int64_t sharing = rdx_min(rdx_pow2_ceil(rdx_div_up(BUSY_WARPS, rdx_max(space->keep_count, 1))), WARPS);
    shape->team = cut ? WARPS : (int)rdx_min(rdx_pow2_ceil(chunks), sharing);
    shape->team_log2 = rdx_cuda_log2_up(shape->team);
    shape->warp_chunks = rdx_max(rdx_pow2_ceil(chunks) / shape->team, 1);
    shape->group_outputs = cut ? config->outputs_per_block : WARPS / shape->team;
    /* A warp's start is paid once for RUN_BYTES, as long as blocks are many. */
    int64_t run = RUN_BYTES / (recipe->count * space->in_size);
    bool one_row = cut || shape->team > 1 || space->keep_rank > 1;
    while (!one_row && shape->group_outputs < WARPS * run && space->keep_count > shape->group_outputs * MANY_BLOCKS)
        shape->group_outputs *= 2;
    shape->run_outputs = space->keep_count;
    rdx_cuda_count_items(shape, space, recipe);
    return rdx_cuda_shape_shared(shape, words) <= shared_bytes;
}

bool rdx_cuda_shape_tile(RdxCudaShape *shape, const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config,
                         int words, int64_t shared_bytes)
{
    rdx_cuda_take_parts(shape, config);
    rdx_cuda_take_run(shape, space);
    int64_t columns = space->keep_rank ? space->keep[space->keep_rank - 1].extent : 1;
    int64_t lanes = rdx_max(rdx_min(rdx_pow2_ceil(recipe->count), recipe->lanes) / shape->residues, 1);
    bool cut = shape->finishing != RDX_FINISHING_NONE;
    shape->rows = rdx_cuda_is_row(space) || !space->keep_rank;
    shape->run_outputs = shape->rows && !cut ? space->keep_count : columns;
    if (shape->rows) {
        shape->height = (int)rdx_min(lanes, RDX_CUDA_THREADS);
        shape->width = cut ? 1 : (int)rdx_min(RDX_CUDA_THREADS / shape->height, rdx_pow2_ceil(space->keep_count));
    } else {
        shape->width =
            (int)rdx_min(rdx_pow2_ceil(columns), lanes * WIDE < RDX_CUDA_THREADS ? RDX_CUDA_THREADS / lanes : WIDE);
        shape->height = (int)rdx_min(lanes, RDX_CUDA_THREADS / shape->width);
    }
    for (;; shape->width /= 2) {
        shape->batch = (int)rdx_min(rdx_max(shape->height, shape->rows ? lanes : BATCH), lanes);
        while (shape->batch > shape->height && (int64_t)shape->batch * shape->width * words * 4 > BATCH_BYTES)
            shape->batch /= 2;
        shape->batches = (int)(lanes / shape->batch);
        int64_t chunks = rdx_max(rdx_min(rdx_cuda_chunks(recipe), shape->part_chunks), 1);
        shape->levels = rdx_cuda_log2_up(shape->batches) + 1 + rdx_cuda_log2_up(chunks) + 1;
        if (rdx_cuda_shape_shared(shape, words) <= shared_bytes)
            break;
        if (shape->width == 1)
            return false;
    }
    shape->group_outputs = cut ? config->outputs_per_block : shape->width;
    rdx_cuda_count_items(shape, space, recipe);
    return true;
}

int64_t rdx_cuda_shape_shared(const RdxCudaShape *shape, int words)
{
    if (shape->columns)
        return 0;
    if (shape->mates > 0)
        return shape->ring_bytes;
    if (shape->stack_words > 0)
        return shape->ring_bytes +
               rdx_max((int64_t)shape->warps * shape->stack_words * 4, rdx_cuda_shape_join_shared(shape, words));
    if (shape->team > 0)
        return shape->ring_bytes + rdx_max((int64_t)WARPS * words * 4, rdx_cuda_shape_join_shared(shape, words));
    return rdx_max((int64_t)(shape->batch + shape->levels) * shape->width * words * 4,
                   rdx_cuda_shape_join_shared(shape, words));
}

int64_t rdx_cuda_shape_join_shared(const RdxCudaShape *shape, int words)
{
    int64_t columns = rdx_min(rdx_pow2_ceil(shape->group_outputs), RDX_CUDA_THREADS);
    int64_t runs = RDX_CUDA_THREADS / columns, each = 0;
    if (shape->finishing == RDX_FINISHING_NONE)
        return 0;
    while (runs << each < shape->split * shape->residues)
        each++;
    return (each + 1) * RDX_CUDA_THREADS * words * 4;
}
