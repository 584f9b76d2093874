/* Shapes of blocks from plans; see shape.h. Where the plan cut an output into parts, groups and their outputs are the plan's, because
   the workspace was sized by them; elsewhere a kernel groups outputs as suits it. */
#include "shape.h"

enum { WARPS = RDX_CUDA_THREADS / 32, WIDE = 32, BATCH = 32, BATCH_BYTES = 32768 };

static int log2_up(int64_t n)
{
    int log2 = 0;
    while ((int64_t)1 << log2 < n)
        log2++;
    return log2;
}

static bool is_row(const RdxSpace *space)
{
    const RdxDim *reduce = space->reduce_rank ? &space->reduce[space->reduce_rank - 1] : NULL;
    const RdxDim *keep = space->keep_rank ? &space->keep[space->keep_rank - 1] : NULL;
    return reduce && (!keep || reduce->in <= keep->in);
}

/* Parts as planned; groups still to come. */
static void take_parts(RdxCudaShape *shape, const RdxConfig *config)
{
    *shape = (RdxCudaShape){.split = rdx_max(config->split, 1),
                            .part_chunks = rdx_max(config->part_chunks, 1),
                            .residues = config->residues > 1 ? config->residues : 1,
                            .slices = rdx_max(config->slices, 1),
                            .finishing = config->finishing};
}

/* e / run by a multiplication, for e < 2^31: run <= 2^shift, magic = 2^32 (2^shift - run) / run + 1. */
static void take_run(RdxCudaShape *shape, const RdxSpace *space)
{
    if (space->reduce_rank != 2 || space->reduce_count > INT32_MAX)
        return;
    shape->run = (uint32_t)space->reduce[1].extent;
    shape->run_shift = (uint32_t)log2_up(shape->run);
    uint64_t gap = ((uint64_t)1 << shape->run_shift) - shape->run;
    shape->run_magic = (uint32_t)((gap << 32) / shape->run + 1);
}

static void count_items(RdxCudaShape *shape, const RdxSpace *space, const RdxRecipe *recipe)
{
    shape->chunks = rdx_cuda_chunks(recipe);
    bool same = (recipe->out == RDX_TYPE_F32 && recipe->work == RDX_WORK_F32) ||
                (recipe->out == RDX_TYPE_F64 && recipe->work == RDX_WORK_F64);
    shape->direct =
        same && recipe->finish == RDX_FINISH_VALUE && !recipe->omit && space->copy_count == 1 && space->keep_rank <= 1;
    shape->run_outputs = rdx_max(shape->run_outputs, 1); /* no outputs: the plan is never launched */
    shape->groups_per_run = rdx_div_up(shape->run_outputs, shape->group_outputs);
    shape->groups = space->keep_count / shape->run_outputs * shape->groups_per_run;
    shape->items = shape->groups * shape->split * shape->residues * shape->slices;
    shape->simple = shape->items == shape->groups && shape->run_outputs >= space->keep_count;
}

bool rdx_cuda_shape_is_columns(const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config, int elements)
{
    return config->variant == RDX_FORM_REGISTERS && config->vector_bytes >= elements * space->in_size &&
           space->reduce_rank <= 1 && recipe->count > 0 && recipe->count <= 16 && space->keep_rank > 0 &&
           config->finishing == RDX_FINISHING_NONE;
}

void rdx_cuda_shape_columns(RdxCudaShape *shape, const RdxSpace *space, const RdxRecipe *recipe,
                            const RdxConfig *config, int elements)
{
    take_parts(shape, config);
    shape->columns = true;
    shape->group_outputs = (int64_t)RDX_CUDA_THREADS * elements;
    shape->run_outputs = space->keep[space->keep_rank - 1].extent;
    count_items(shape, space, recipe);
}

bool rdx_cuda_shape_is_short(const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config)
{
    bool rows =
        config->variant == RDX_FORM_ROWS || config->variant == RDX_FORM_SHIFTED || config->variant == RDX_FORM_TILE;
    return rows && config->vector_bytes == 16 && space->reduce_rank == 1 && space->reduce[0].in == space->in_size &&
           recipe->count <= (space->copy_count > 1 ? 1 : 4) * recipe->lanes && config->finishing == RDX_FINISHING_NONE;
}

void rdx_cuda_shape_short(RdxCudaShape *shape, const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config,
                          int elements)
{
    take_parts(shape, config);
    shape->mates = (int)rdx_min(rdx_pow2_ceil(rdx_div_up(space->reduce_count, elements)), 32);
    shape->group_outputs = RDX_CUDA_THREADS / shape->mates * RDX_CUDA_SHORT_ROWS;
    shape->run_outputs = space->keep_count;
    count_items(shape, space, recipe);
}

bool rdx_cuda_shape_is_rows(const RdxSpace *space, const RdxConfig *config)
{
    int64_t most = (int64_t)1 << 30; /* chunks of a part: finished runs lie across a warp */
    bool one = (config->variant == RDX_FORM_ROWS || config->variant == RDX_FORM_SHIFTED) && space->reduce_rank == 1;
    bool several = config->variant == RDX_FORM_RUNS && space->reduce_rank == 2 && space->reduce_count <= INT32_MAX;
    return (one || several) && config->vector_bytes == 16 && config->residues <= 1 && config->part_chunks <= most &&
           space->reduce_count > 0;
}

void rdx_cuda_shape_rows(RdxCudaShape *shape, const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config)
{
    take_parts(shape, config);
    int64_t chunks = rdx_min(rdx_cuda_chunks(recipe), shape->part_chunks);
    bool cut = shape->finishing != RDX_FINISHING_NONE;
    take_run(shape, space);
    shape->team = cut ? WARPS : (int)rdx_min(rdx_pow2_ceil(chunks), WARPS);
    shape->warp_chunks = rdx_max(rdx_pow2_ceil(chunks) / shape->team, 1);
    shape->group_outputs = cut ? config->outputs_per_block : WARPS / shape->team;
    shape->run_outputs = space->keep_count;
    count_items(shape, space, recipe);
}

bool rdx_cuda_shape_is_vectors(const RdxSpace *space, const RdxConfig *config, int elements)
{
    return config->variant == RDX_FORM_COLUMNS && config->vector_bytes == elements * space->in_size && elements > 1;
}

bool rdx_cuda_shape_tile(RdxCudaShape *shape, const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config,
                         int elements, int words, int64_t shared_bytes)
{
    take_parts(shape, config);
    take_run(shape, space);
    int64_t columns = space->keep_rank ? space->keep[space->keep_rank - 1].extent : 1;
    int64_t lanes = rdx_max(rdx_min(rdx_pow2_ceil(recipe->count), recipe->lanes) / shape->residues, 1);
    bool cut = shape->finishing != RDX_FINISHING_NONE;
    shape->rows = is_row(space) || !space->keep_rank;
    shape->run_outputs = shape->rows && !cut ? space->keep_count : columns;
    if (shape->rows) {
        shape->height = (int)rdx_min(lanes, RDX_CUDA_THREADS);
        shape->width = cut ? 1 : (int)rdx_min(RDX_CUDA_THREADS / shape->height, rdx_pow2_ceil(space->keep_count));
    } else {
        int64_t vectors = rdx_pow2_ceil(rdx_div_up(columns, elements));
        shape->width = (int)rdx_min(vectors, lanes * WIDE < RDX_CUDA_THREADS ? RDX_CUDA_THREADS / lanes : WIDE);
        shape->height = (int)rdx_min(lanes, RDX_CUDA_THREADS / shape->width);
    }
    for (;; shape->width /= 2) {
        int64_t tile = (int64_t)shape->width * elements;
        shape->batch = (int)rdx_min(rdx_max(shape->height, shape->rows ? lanes : BATCH), lanes);
        while (shape->batch > shape->height && shape->batch * tile * words * 4 > BATCH_BYTES)
            shape->batch /= 2;
        shape->batches = (int)(lanes / shape->batch);
        int64_t chunks = rdx_max(rdx_min(rdx_cuda_chunks(recipe), shape->part_chunks), 1);
        shape->levels = log2_up(shape->batches) + 1 + log2_up(chunks) + 1;
        if (rdx_cuda_shape_shared(shape, elements, words) <= shared_bytes)
            break;
        if (shape->width == 1)
            return false;
    }
    shape->group_outputs = cut ? config->outputs_per_block : (int64_t)shape->width * elements;
    count_items(shape, space, recipe);
    return true;
}

int64_t rdx_cuda_shape_shared(const RdxCudaShape *shape, int elements, int words)
{
    if (shape->columns || shape->mates > 0)
        return 0;
    if (shape->team > 0)
        return (int64_t)WARPS * words * 4;
    return (int64_t)(shape->batch + shape->levels) * shape->width * elements * words * 4;
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
