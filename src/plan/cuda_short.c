/* Kernels of columns of few rows, all of which a thread has: which plans they take and how they cut them; see
   cuda_parts.h. */
#include "cuda_parts.h"

static bool has_short_runs(const RdxSpace *space)
{
    return space->keep_rank > 1 && rdx_space_inner_extent(space) < RDX_CUDA_LONG_RUN;
}

/* Sixteen rows, and nine and more of two bytes but for indices, are as fast or faster in blocks of columns. H200, 128
   MB, us, there and in a thread's registers: 12 rows of f32 sum 36.8, 35.3, argmax 56.6, 41.1; of bf16 sum 41.0, 57.8,
   max 42.0, 63.4, var 64.6, 80.7, argmax 83.6, 66.5. */
bool rdx_cuda_is_streamed(const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config)
{
    const bool many = space->reduce_count == RDX_CUDA_SHORT_ROWS ||
                      (space->reduce_count > RDX_CUDA_FEW_ROWS && space->in_size == 2 && !recipe->indexed);
    return config->variant == RDX_FORM_REGISTERS && config->vector_bytes == 16 && many && !has_short_runs(space);
}

/* Columns all of whose rows a thread has, `most` at most. */
static bool holds_columns(const RdxSituation *s, const RdxConfig *config, int64_t most)
{
    const RdxSpace *space = s->space;
    const bool held = config->variant == RDX_FORM_REGISTERS || config->variant == RDX_FORM_GATHER;
    return held && space->reduce_rank <= 1 && space->keep_rank > 0 && !rdx_layout_is_row(space) &&
           s->recipe->count > 0 && s->recipe->count <= most && config->slices <= 1 &&
           config->finishing == RDX_FINISHING_NONE && !rdx_cuda_is_streamed(space, s->recipe, config);
}

/* Whether blocks cross from run to run of packed columns, a thread by whole vectors of so many elements. */
static bool cross_runs(const RdxSituation *s, const RdxConfig *config, int elements)
{
    const RdxSpace *space = s->space;
    const bool known = rdx_cuda_has_unmasked_map(s->recipe) || rdx_cuda_has_masked_map(s->recipe);
    return known && rdx_space_inner_stride(space) == space->in_size && space->keep_count <= INT32_MAX / 2 &&
           space->keep_rank <= 2 && config->vector_bytes >= elements * space->in_size &&
           rdx_space_inner_extent(space) % elements == 0;
}

/* Whether blocks of so many outputs are many, of which a run leaves few others: small inputs have too few of them. */
static bool are_deep(const RdxCudaLaunch *launch, const RdxSituation *s, int64_t outputs)
{
    enum { waves = 6, resident = 3, few_runs = 4 };
    return RDX_CUDA_HAS_DEEP_COLUMNS(launch->words) && s->recipe->count <= RDX_CUDA_DEEP_ROWS &&
           (launch->shape.run_outputs % outputs == 0 || launch->shape.run_outputs >= few_runs * outputs) &&
           s->space->keep_count / outputs >= waves * resident * (int64_t)s->device->units;
}

/* Blocks of so many outputs, which cross runs or keep to one. */
static bool seat_short(RdxCudaLaunch *launch, const RdxSituation *s, int64_t outputs, bool crosses)
{
    RdxCudaShape *shape = &launch->shape;
    shape->columns = true;
    shape->group_outputs = outputs;
    rdx_cuda_divide_by(shape, crosses ? rdx_max(rdx_space_inner_extent(s->space), 1) : RDX_CUDA_NO_RUN);
    rdx_cuda_count_items(launch, s);
    return shape->items <= INT32_MAX;
}

/* Extremes of bytes in aligned vectors of 16. */
bool rdx_cuda_take_byte_columns(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    const RdxRecipe *recipe = s->recipe;
    const int size = s->space->in_size;
    if (!RDX_CUDA_HAS_BYTE_COLUMNS(recipe->algebra, recipe->work, recipe->unit, size) ||
        !holds_columns(s, config, RDX_CUDA_FEW_ROWS))
        return false;
    launch->elements = 16 / size;
    if (!cross_runs(s, config, launch->elements))
        return false;
    RdxCudaShape *shape = &launch->shape;
    rdx_cuda_take_parts(shape, config);
    shape->run_outputs = s->space->keep_count;
    const int64_t tile = (int64_t)RDX_CUDA_THREADS * launch->elements, rows = rdx_max(2, rdx_pow2_ceil(recipe->count)),
                  deep = tile * RDX_CUDA_SHORT_TILES(rows, 16, RDX_CUDA_DEEP_FLIGHT),
                  shallow = tile * RDX_CUDA_SHORT_TILES(rows, 16, RDX_CUDA_FLIGHT);
    shape->deep = recipe->count == 3 && are_deep(launch, s, deep); /* two and four are as fast without */
    return seat_short(launch, s, rdx_min(shape->deep ? deep : shallow, rdx_round_up(shape->run_outputs, tile)), true);
}

/* Groups of a block's tiles of columns, all of whose rows its threads have; of vectors of small elements they cross
   from run to run. Outputs are sought one by one where their columns do not lie side by side, where runs of others
   would leave more than half of a tile's threads idle, and of maps that kernels do not know. */
bool rdx_cuda_take_short_columns(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    const RdxSpace *space = s->space;
    const int size = space->in_size;
    if (!holds_columns(s, config, rdx_cuda_most_rows(s->recipe, size)))
        return false;
    RdxCudaShape *shape = &launch->shape;
    launch->elements = RDX_CUDA_SHORT_COLUMNS(size, launch->words);
    const RdxCudaShort cut = rdx_cuda_cut_short(size, launch->words, s->recipe->count, false),
                       deep = rdx_cuda_cut_short(size, launch->words, s->recipe->count, true);
    const int64_t run = rdx_space_inner_extent(space), tile = (int64_t)RDX_CUDA_THREADS * cut.own;
    const bool known = rdx_cuda_has_unmasked_map(s->recipe) || rdx_cuda_has_masked_map(s->recipe),
               packed = rdx_space_inner_stride(space) == size, few = space->keep_count <= INT32_MAX / 2,
               idle = space->keep_rank > 1 && 2 * run < tile,
               vectors = RDX_CUDA_HAS_SMALL_COLUMNS(size) && config->vector_bytes >= cut.own * size &&
                         run % cut.own == 0 && RDX_CUDA_HAS_SMALL_VECTORS(s->recipe->work),
               crosses = vectors && cross_runs(s, config, cut.own);
    rdx_cuda_take_parts(shape, config);
    shape->gathers = !packed || !known || (idle && few && !crosses);
    shape->shifted = RDX_CUDA_HAS_SMALL_COLUMNS(size) && !vectors;
    if (shape->gathers && (!few || s->recipe->count > RDX_CUDA_SHORT_ROWS))
        return false;
    shape->run_outputs = shape->gathers || crosses ? space->keep_count : run;
    shape->deep = !shape->gathers && !shape->shifted && are_deep(launch, s, (int64_t)RDX_CUDA_THREADS * deep.all);
    const int64_t most =
        rdx_min((int64_t)RDX_CUDA_THREADS * (shape->deep ? deep.all : cut.all), rdx_round_up(shape->run_outputs, tile));
    return seat_short(launch, s, shape->gathers ? (int64_t)RDX_CUDA_THREADS * RDX_CUDA_MANY_SHORT_COLUMNS(size) : most,
                      crosses);
}
