/* Looks recipes up in the tables of kernels and asks shape.c, kind by kind. */
#include "pick.h"

#include <string.h>

#define COUNT(family) +1
enum { FAMILIES = 0 RDX_CUDA_FAMILIES(COUNT) };
#define TABLES(strategy) static const RdxCudaKernel *const strategy##_tables[] = {RDX_CUDA_FAMILIES(strategy##_TABLE)};
#define general_TABLE(family) rdx_cuda_general_##family,
#define thread_TABLE(family) rdx_cuda_thread_##family,
#define warp_TABLE(family) rdx_cuda_warp_##family,
#define block_x_TABLE(family) rdx_cuda_block_x_##family,
#define block_y_TABLE(family) rdx_cuda_block_y_##family,
#define few_columns_TABLE(family) rdx_cuda_few_columns_##family,
#define straight_TABLE(family) rdx_cuda_straight_##family,
#define straight_columns_TABLE(family) rdx_cuda_straight_columns_##family,
#define shifted_columns_TABLE(family) rdx_cuda_shifted_columns_##family,
#define single_columns_TABLE(family) rdx_cuda_single_columns_##family,
#define packed_TABLE(family) rdx_cuda_packed_##family,
#define gather_TABLE(family) rdx_cuda_gather_##family,
#define global_TABLE(family) rdx_cuda_global_##family,
TABLES(general)
TABLES(thread)
TABLES(warp)
TABLES(block_x)
TABLES(block_y)
TABLES(few_columns)
TABLES(straight)
TABLES(straight_columns)
TABLES(shifted_columns)
TABLES(single_columns)
TABLES(packed)
TABLES(gather)
TABLES(global)

/* Sums of integers run on lanes of I64 or, up to 16 bits and for truth values, of I32, which the tables call I16. */
static int work_of(const RdxSpace *space, const RdxRecipe *recipe)
{
    if (recipe->algebra != RDX_ALGEBRA_ISUM)
        return recipe->work;
    return space->in_size == 4 && recipe->map == RDX_MAP_NONE ? RDX_WORK_I32 : RDX_WORK_I16;
}

static const RdxCudaKernel *find(const RdxCudaKernel *const *tables, const RdxSpace *space, const RdxRecipe *recipe)
{
    int work = work_of(space, recipe);
    for (int family = 0; family < FAMILIES; family++)
        for (const RdxCudaKernel *kernel = tables[family]; kernel->code; kernel++)
            if (kernel->algebra == recipe->algebra && kernel->work == work && kernel->unit == recipe->unit &&
                kernel->size == space->in_size)
                return kernel;
    return NULL;
}

static bool take_columns(RdxCudaPick *pick, const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config,
                         int groups, bool shifted, const RdxCudaKernel *kernel, int64_t most_shared)
{
    bool taken = rdx_cuda_shape_vectors(&pick->shape, space, recipe, config, groups, shifted, kernel->elements,
                                        kernel->words, most_shared);
    pick->threads = 32 * pick->shape.warps;
    return taken && (groups > 0 || pick->shape.items <= INT32_MAX); /* without rings a block has one item */
}

static const RdxCudaKernel *shape_kernel(RdxCudaPick *pick, const RdxSpace *space, const RdxRecipe *recipe,
                                         const RdxConfig *config, int64_t most_shared)
{
    pick->threads = RDX_CUDA_THREADS;
    const RdxCudaKernel *column = find(thread_tables, space, recipe);
    if (column && rdx_cuda_shape_is_columns(space, recipe, config, column->elements)) {
        rdx_cuda_shape_columns(&pick->shape, space, recipe, config, column->elements);
        return column;
    }
    const RdxCudaKernel *packed = find(packed_tables, space, recipe);
    if (packed && rdx_cuda_shape_is_packed(space, recipe, config, packed->elements, packed->words)) {
        rdx_cuda_shape_packed(&pick->shape, space, recipe, config, packed->elements, packed->words);
        return packed;
    }
    const RdxCudaKernel *row = find(warp_tables, space, recipe), *rows = find(block_x_tables, space, recipe);
    if (row && rdx_cuda_shape_is_short(space, recipe, config) &&
        rdx_cuda_shape_short(&pick->shape, space, recipe, config, row->elements, most_shared))
        return row;
    const RdxCudaKernel *straight = find(straight_tables, space, recipe);
    if (straight && rdx_cuda_shape_is_straight(space, recipe, config, straight->words) &&
        rdx_cuda_shape_rows(&pick->shape, space, recipe, config, 0, straight->words, most_shared))
        return straight;
    if (rows && rdx_cuda_shape_is_rows(space, config) &&
        rdx_cuda_shape_rows(&pick->shape, space, recipe, config, RDX_CUDA_RING_ROWS, rows->words, most_shared))
        return rows;
    const RdxCudaKernel *gather = find(gather_tables, space, recipe);
    if (gather && rdx_cuda_shape_is_gather(space, config) &&
        rdx_cuda_shape_rows(&pick->shape, space, recipe, config, 0, gather->words, most_shared))
        return gather;
    const RdxCudaKernel *few = find(few_columns_tables, space, recipe);
    if (few && rdx_cuda_shape_is_few(space, config, few->elements) &&
        rdx_cuda_shape_few(&pick->shape, space, recipe, config, few->words, most_shared)) {
        pick->threads = 32 * pick->shape.warps;
        return few;
    }
    const RdxCudaKernel *straight_columns = find(straight_columns_tables, space, recipe);
    if (straight_columns && rdx_cuda_shape_is_straight_columns(space, recipe, config, straight_columns->elements) &&
        take_columns(pick, space, recipe, config, 0, false, straight_columns, most_shared))
        return straight_columns;
    const RdxCudaKernel *shifted_columns = find(shifted_columns_tables, space, recipe);
    if (shifted_columns && rdx_cuda_shape_is_shifted_columns(space, recipe, config, shifted_columns->elements) &&
        take_columns(pick, space, recipe, config, 0, true, shifted_columns, most_shared))
        return shifted_columns;
    const RdxCudaKernel *vectors = find(block_y_tables, space, recipe);
    if (vectors && rdx_cuda_shape_is_vectors(space, config, vectors->elements) &&
        take_columns(pick, space, recipe, config, RDX_CUDA_RING_COLUMNS, false, vectors, most_shared))
        return vectors;
    const RdxCudaKernel *single_columns = find(single_columns_tables, space, recipe);
    if (single_columns && rdx_cuda_shape_is_single_columns(space, recipe) &&
        take_columns(pick, space, recipe, config, 0, false, single_columns, most_shared))
        return single_columns;
    const RdxCudaKernel *general = find(general_tables, space, recipe);
    if (!general || !rdx_cuda_shape_tile(&pick->shape, space, recipe, config, general->words, most_shared))
        return NULL;
    pick->threads = pick->shape.width * pick->shape.height;
    return general;
}

bool rdx_cuda_pick(RdxCudaPick *pick, const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config,
                   int64_t shared_bytes)
{
    memset(pick, 0, sizeof *pick);
    pick->kernel = shape_kernel(pick, space, recipe, config, shared_bytes);
    return pick->kernel != NULL;
}

const RdxCudaKernel *rdx_cuda_pick_finish(const RdxSpace *space, const RdxRecipe *recipe)
{
    return find(global_tables, space, recipe);
}
