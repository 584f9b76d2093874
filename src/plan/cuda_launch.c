/* The launch of a CUDA plan: the first kernel of cuda_kernels.def that takes it. Where the plan cuts an output into
   parts, groups and their outputs are the plan's, because the workspace was sized by them; elsewhere a kernel groups
   outputs as suits it. */
#include "cuda_parts.h"

#include <string.h>

enum {
    WIDE = 32,
    BATCH = 32,
    BATCH_BYTES = 32768,
    STATIC_BYTES = 3072, /* of shared memory that a kernel may have declared */
};

int rdx_cuda_log2_up(int64_t n)
{
    int log2 = 0;
    while ((int64_t)1 << log2 < n)
        log2++;
    return log2;
}

bool rdx_cuda_has_unmasked_map(const RdxRecipe *recipe)
{
    int map = recipe->map;
    bool key = map == RDX_MAP_KEY || map == RDX_MAP_KEY_ARG || map == RDX_MAP_KEY_PAIR || map == RDX_MAP_KEY_BOTH;
    bool truth = map == RDX_MAP_NONZERO || map == RDX_MAP_ZERO;
    bool magnitude = map == RDX_MAP_KEY_ABS && rdx_type_is_float((RdxType)recipe->in);
    return map == RDX_MAP_NONE || key || magnitude || (truth && recipe->algebra == RDX_ALGEBRA_ISUM);
}

bool rdx_cuda_has_masked_map(const RdxRecipe *recipe)
{
    bool masks = recipe->algebra == RDX_ALGEBRA_SUM || recipe->algebra == RDX_ALGEBRA_PROD ||
                 recipe->algebra == RDX_ALGEBRA_SUMSQ || recipe->algebra == RDX_ALGEBRA_CSUMSQ;
    bool real = recipe->work == RDX_WORK_F32 || recipe->work == RDX_WORK_F64;
    bool modulus = recipe->algebra == RDX_ALGEBRA_SUM && recipe->unit == 1 && rdx_type_is_complex((RdxType)recipe->in);
    return masks && real && !modulus && (recipe->map == RDX_MAP_ABS || recipe->map == RDX_MAP_OMIT);
}

/* sign: -1 where they are to descend. */
static bool is_ordered(const RdxSpace *space, int sign)
{
    int64_t reach = 0; /* of the dims within */
    for (int d = space->reduce_rank - 1; space->indexed && d >= 0; d--) {
        if (sign * space->reduce[d].index <= reach)
            return false;
        reach += sign * space->reduce[d].index * (space->reduce[d].extent - 1);
    }
    return true;
}

bool rdx_cuda_is_ascending(const RdxSpace *space)
{
    return is_ordered(space, 1);
}

int rdx_cuda_ring_bytes(const RdxRecipe *recipe, int groups)
{
    const int own = groups > 0 && rdx_recipe_is_twice(recipe) ? RDX_CUDA_RING_TWICE : groups;
    return RDX_CUDA_THREADS * 16 * RDX_CUDA_GROUP * own;
}

/* Parts as planned; groups still to come. */
void rdx_cuda_take_parts(RdxCudaShape *shape, const RdxConfig *config)
{
    shape->split = rdx_max(config->split, 1);
    shape->part_chunks = rdx_max(config->part_chunks, 1);
    shape->residues = config->residues > 1 ? config->residues : 1;
    shape->slices = rdx_max(config->slices, 1);
    shape->finishing = config->finishing;
}

/* e / run by a multiplication, for e < 2^31: run <= 2^shift, magic = 2^32 (2^shift - run) / run + 1. */
void rdx_cuda_divide_by(RdxCudaShape *shape, int64_t run)
{
    shape->run = (uint32_t)run;
    shape->run_shift = (uint32_t)rdx_cuda_log2_up(run);
    uint64_t gap = ((uint64_t)1 << shape->run_shift) - shape->run;
    shape->run_magic = (uint32_t)((gap << 32) / shape->run + 1);
}

void rdx_cuda_take_run(RdxCudaShape *shape, const RdxSpace *space)
{
    if (space->reduce_rank != 2 || space->reduce_count > INT32_MAX)
        return;
    rdx_cuda_divide_by(shape, space->reduce[1].extent);
    shape->run_gap = space->reduce[0].in - space->reduce[1].extent * space->reduce[1].in;
}

/* Of an output that is a float's sum, product, mean, variance, root or extreme, a sum or mean of integers up to 32 bits
   (not u32), a truth, an extreme of integers or an index, and nothing else: neither a second output, nor anything for
   omit to mend. */
static uint8_t value_bytes(const RdxRecipe *recipe)
{
    bool wide = recipe->work == RDX_WORK_F64 || recipe->work == RDX_WORK_I64, is_float = false;
    if (recipe->second != RDX_SECOND_NONE || recipe->unit != 1)
        return 0;
    switch ((RdxAlgebra)recipe->algebra) {
    case RDX_ALGEBRA_SUM:
    case RDX_ALGEBRA_PROD:
    case RDX_ALGEBRA_SUMSQ:
        is_float = recipe->work != RDX_WORK_I64 && !recipe->omit &&
                   (recipe->finish == RDX_FINISH_VALUE || recipe->finish == RDX_FINISH_MEAN ||
                    recipe->finish == RDX_FINISH_SQRT);
        break;
    case RDX_ALGEBRA_VAR:
        is_float = true;
        break;
    case RDX_ALGEBRA_MAX:
        if (recipe->result == RDX_WORK_I64)
            return recipe->out == recipe->in ? (uint8_t)rdx_types[recipe->in].size : 0;
        is_float = recipe->result == (wide ? RDX_WORK_F64 : RDX_WORK_F32);
        break;
    case RDX_ALGEBRA_ISUM:
        if (recipe->finish == RDX_FINISH_MEAN)
            return recipe->out == RDX_TYPE_F64 && !recipe->omit && recipe->count > 0 ? 8 : 0;
        if (recipe->finish == RDX_FINISH_ANY || recipe->finish == RDX_FINISH_ALL)
            return (uint8_t)rdx_types[recipe->out].size; /* bool or u8 */
        return recipe->result == RDX_WORK_I64 && (recipe->out == RDX_TYPE_I64 || recipe->out == RDX_TYPE_U64) &&
                       recipe->finish == RDX_FINISH_VALUE && !recipe->omit
                   ? 8
                   : 0;
    case RDX_ALGEBRA_ARGMAX:
    case RDX_ALGEBRA_ARGMAXL:
        return recipe->out == RDX_TYPE_I64 && !recipe->omit ? 8 : 0;
    default:
        break;
    }
    if (!is_float)
        return 0;
    if (recipe->out == (wide ? RDX_TYPE_F64 : RDX_TYPE_F32))
        return wide ? 8 : 4;
    return !wide && (recipe->out == RDX_TYPE_F16 || recipe->out == RDX_TYPE_BF16) ? 2 : 0;
}

int64_t rdx_cuda_chunks(const RdxCudaLaunch *launch, const RdxRecipe *recipe)
{
    return rdx_div_up(recipe->count, RDX_CUDA_CHUNK_LINES * launch->lanes);
}

void rdx_cuda_count_items(RdxCudaLaunch *launch, const RdxSituation *s)
{
    const RdxSpace *space = s->space;
    const RdxRecipe *recipe = s->recipe;
    RdxCudaShape *shape = &launch->shape;
    shape->chunks = rdx_cuda_chunks(launch, recipe);
    shape->ascending = rdx_cuda_is_ascending(space);
    shape->descending = is_ordered(space, -1);
    shape->plain = space->copy_count == 1;
    shape->value_bytes = shape->plain ? value_bytes(recipe) : 0;
    shape->direct = shape->value_bytes >= 4 && recipe->finish == RDX_FINISH_VALUE;
    shape->run_outputs = rdx_max(shape->run_outputs, 1); /* no outputs: the plan is never launched */
    shape->groups_per_run = rdx_div_up(shape->run_outputs, shape->group_outputs);
    shape->groups = space->keep_count / shape->run_outputs * shape->groups_per_run;
    shape->items = shape->groups * shape->split * shape->residues * shape->slices;
    shape->simple = shape->items == shape->groups && shape->run_outputs >= space->keep_count;
}

int64_t rdx_cuda_shared(const RdxCudaShape *shape, int words)
{
    if (shape->columns)
        return 0;
    if (shape->mates > 0)
        return shape->ring_bytes;
    if (shape->stack_words > 0)
        return shape->ring_bytes +
               rdx_max((int64_t)shape->warps * shape->stack_words * 4, rdx_cuda_join_shared(shape, words));
    if (shape->team > 0) /* a node a warp: teams meet there, and parts (join_row) */
        return shape->ring_bytes + (int64_t)RDX_CUDA_WARPS * words * 4;
    return rdx_max((int64_t)(shape->batch + shape->levels) * shape->width * words * 4,
                   rdx_cuda_join_shared(shape, words));
}

int64_t rdx_cuda_join_shared(const RdxCudaShape *shape, int words)
{
    int64_t columns = rdx_min(rdx_pow2_ceil(shape->group_outputs), RDX_CUDA_THREADS);
    int64_t runs = RDX_CUDA_THREADS / columns, each = 0;
    if (shape->finishing == RDX_FINISHING_NONE)
        return 0;
    while (runs << each < shape->split * shape->residues)
        each++;
    return (each + 1) * RDX_CUDA_THREADS * words * 4;
}

bool rdx_cuda_fits_block(int64_t bytes, const RdxSituation *situation)
{
    return bytes <= situation->device->shared_per_block - STATIC_BYTES;
}

bool rdx_cuda_fits(const RdxCudaLaunch *launch, const RdxSituation *situation)
{
    return rdx_cuda_fits_block(rdx_cuda_shared(&launch->shape, launch->words), situation);
}

/* An element over and over. */
bool rdx_cuda_take_repeats(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    RdxCudaShape *shape = &launch->shape;
    if (config->variant != RDX_FORM_REPEATS)
        return false;
    launch->elements = 1;
    rdx_cuda_take_parts(shape, config);
    shape->columns = true;
    shape->width = (int)config->outputs_per_block;
    shape->group_outputs = config->outputs_per_block;
    shape->run_outputs = s->space->keep_count;
    rdx_cuda_count_items(launch, s);
    return true;
}

bool rdx_cuda_take_general(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    const RdxSpace *space = s->space;
    const RdxRecipe *recipe = s->recipe;
    RdxCudaShape *shape = &launch->shape;
    const int words = launch->words;
    launch->elements = 1;
    rdx_cuda_take_parts(shape, config);
    rdx_cuda_take_run(shape, space);
    int64_t columns = rdx_space_inner_extent(space);
    int64_t lanes = rdx_max(rdx_min(rdx_pow2_ceil(recipe->count), recipe->lanes) / shape->residues, 1);
    bool cut = shape->finishing != RDX_FINISHING_NONE;
    if (cut) /* before it is asked what fits: what joins parts takes room for each */
        shape->group_outputs = config->outputs_per_block;
    shape->rows = rdx_layout_is_row(space) || !space->keep_rank;
    const bool runs_on = !cut && (shape->rows || columns < WIDE);
    shape->run_outputs = runs_on ? space->keep_count : columns;
    if (shape->rows) {
        shape->height = (int)rdx_min(lanes, RDX_CUDA_THREADS);
        shape->width = cut ? 1 : (int)rdx_min(RDX_CUDA_THREADS / shape->height, rdx_pow2_ceil(space->keep_count));
    } else {
        shape->width = (int)rdx_min(rdx_pow2_ceil(shape->run_outputs),
                                    lanes * WIDE < RDX_CUDA_THREADS ? RDX_CUDA_THREADS / lanes : WIDE);
        shape->height = (int)rdx_min(lanes, RDX_CUDA_THREADS / shape->width);
    }
    for (;; shape->width /= 2) {
        shape->batch = (int)rdx_min(rdx_max(shape->height, shape->rows ? lanes : BATCH), lanes);
        while (shape->batch > shape->height && (int64_t)shape->batch * shape->width * words * 4 > BATCH_BYTES)
            shape->batch /= 2;
        shape->batches = (int)(lanes / shape->batch);
        int64_t chunks = rdx_max(rdx_min(rdx_recipe_chunks(recipe), shape->part_chunks), 1);
        shape->levels = rdx_cuda_log2_up(shape->batches) + 1 + rdx_cuda_log2_up(chunks) + 1;
        if (rdx_cuda_fits(launch, s))
            break;
        if (shape->width == 1)
            return false;
    }
    if (!cut)
        shape->group_outputs = shape->width;
    rdx_cuda_count_items(launch, s);
    launch->threads = shape->width * shape->height;
    return true;
}

static const struct {
    const char *name;
    bool (*take)(RdxCudaLaunch *launch, const RdxSituation *situation, const RdxConfig *config);
} kernels[RDX_CUDA_KINDS] = {
#define X(NAME, name) [RDX_CUDA_KIND_##NAME] = {#name, rdx_cuda_take_##name},
#include "cuda_kernels.def"
#undef X
};

const char *rdx_cuda_kernel_name(const RdxCudaLaunch *launch)
{
    return launch->kind >= 0 && launch->kind < RDX_CUDA_KINDS ? kernels[launch->kind].name : "none";
}

bool rdx_cuda_launch_of(RdxCudaLaunch *launch, const RdxSituation *situation, const RdxConfig *config)
{
    const int words = (rdx_recipe_state_bytes(situation->recipe) + 3) / 4;
    for (int kind = 0; kind < RDX_CUDA_KINDS; kind++) {
        memset(launch, 0, sizeof *launch); /* padding too: the shape travels to the device */
        launch->kind = kind;
        launch->words = words;
        launch->lanes = situation->recipe->lanes;
        launch->threads = RDX_CUDA_THREADS;
        if (!kernels[kind].take(launch, situation, config))
            continue;
        launch->blocks = rdx_min(rdx_div_up(launch->shape.items, rdx_cuda_items_of_block(kind)), INT32_MAX);
        launch->shared_bytes = rdx_cuda_shared(&launch->shape, words);
        launch->finish_shared_bytes = rdx_cuda_join_shared(&launch->shape, words);
        return true;
    }
    launch->kind = RDX_CUDA_KINDS;
    return false;
}
