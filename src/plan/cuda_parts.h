/* What the kernels' shapes have in common; for cuda_launch.c, cuda_rows.c, cuda_columns.c, cuda_short.c and
   cuda_slabs.c; and what strategies ask of them. */
#ifndef RDX_PLAN_CUDA_PARTS_H
#define RDX_PLAN_CUDA_PARTS_H

#include "cuda_has.h"
#include "layout.h"

enum { RDX_CUDA_WARPS = RDX_CUDA_THREADS / 32 };
/* Columns of a run that is long enough for blocks of its own. */
enum { RDX_CUDA_LONG_RUN = 64 };

/* For each kernel: whether it takes the plan, and the shape of its blocks if so. The launch comes with kind and words,
   the threads of a usual block, and nothing else. False, too, where the shape does not fit the device's shared memory:
   what is in the launch is lost then. */
#define X(NAME, name) bool rdx_cuda_take_##name(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config);
#include "cuda_kernels.def"
#undef X

/* Columns that a thread of short_columns has of a tile of `count` rows, of elements of `size` bytes and nodes of
   `words`; with all its tiles, `deep` or not. */
typedef struct RdxCudaShort {
    int own, all;
} RdxCudaShort;

static inline RdxCudaShort rdx_cuda_cut_short(int size, int words, int64_t count, bool deep)
{
    const int rows = (int)rdx_max(2, rdx_pow2_ceil(count)),
              own = rows <= RDX_CUDA_FEW_ROWS     ? RDX_CUDA_SHORT_COLUMNS(size, words)
                    : rows <= RDX_CUDA_SHORT_ROWS ? RDX_CUDA_MANY_SHORT_COLUMNS(size)
                                                  : RDX_CUDA_SOUGHT_COLUMNS(size),
              flight = RDX_CUDA_HAS_DEEP_COLUMNS(words) && (deep || rows == RDX_CUDA_SHORT_ROWS) ? RDX_CUDA_DEEP_FLIGHT
                                                                                                 : RDX_CUDA_FLIGHT;
    return (RdxCudaShort){own, own * RDX_CUDA_SHORT_TILES(rows, own * size, flight)};
}

/* Whether blocks of columns (cuda_columns.c) take few rows in their place. */
bool rdx_cuda_is_streamed(const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config);
/* The most rows of a column that a thread of it has. */
static inline int rdx_cuda_most_rows(const RdxRecipe *recipe, int size)
{
    return RDX_CUDA_SEEKS_ROWS(recipe->indexed, recipe->work, size) ? RDX_CUDA_SOUGHT_ROWS : RDX_CUDA_SHORT_ROWS;
}

/* A map that the kernels know at compile time (vec.cuh: with_known). */
bool rdx_cuda_has_unmasked_map(const RdxRecipe *recipe);
/* |x|, or a neutral element in place of NaN (vec.cuh: RDX_CUDA_MASKED_MAP). */
bool rdx_cuda_has_masked_map(const RdxRecipe *recipe);
/* Ops whose nodes are small, carry no index and take no counts, over elements of 2 bytes and more: what
   straight_columns takes of any number of rows. */
bool rdx_cuda_has_small_nodes(const RdxRecipe *recipe, int size, int words);
/* Logical indices ascend with the elements of the reduced dims; of a space without indices, always. */
bool rdx_cuda_is_ascending(const RdxSpace *space);
/* Chunks of an output, of 16 lines of the launch's lanes. */
int64_t rdx_cuda_chunks(const RdxCudaLaunch *launch, const RdxRecipe *recipe);
/* Of the rings of a block, whose threads have `groups`; 0 where they have none. */
int rdx_cuda_ring_bytes(const RdxRecipe *recipe, int groups);
int rdx_cuda_log2_up(int64_t n);

/* What divides by a run's length, which is below 2^31 (kernels/cuda/index.cuh: run_of_element). */
void rdx_cuda_divide_by(RdxCudaShape *shape, int64_t run);
/* In this order: parts as the configuration has them, the division by a run's length, and, once group_outputs and
   run_outputs stand, groups and items. */
void rdx_cuda_take_parts(RdxCudaShape *shape, const RdxConfig *config);
void rdx_cuda_take_run(RdxCudaShape *shape, const RdxSpace *space);
void rdx_cuda_count_items(RdxCudaLaunch *launch, const RdxSituation *s);

/* few_columns: warps and teams of a block, and its shared memory but for what joins parts; false: none fits. */
bool rdx_cuda_cut_stream(RdxCudaShape *shape, const RdxSituation *s, int words, int64_t columns, int64_t part_chunks);

/* Bytes of shared memory in which short runs of neighbouring outputs are staged (kernel_staged_runs.cu), 0: they are
   not. */
int64_t rdx_cuda_staged_runs(const RdxSituation *s, const RdxLayout *layout);

/* How slabs (plan/layout.h) lie in shared memory: bytes from one to the next, 0 where they are copied as one stretch;
   the most that a warp's tile has room for, but no more than there are along the dim around them; how many a warp
   has. */
typedef struct RdxCudaSlabs {
    int64_t pitch, of_tile, of_warp;
} RdxCudaSlabs;
/* False: not outputs of at most a line of elements, several to a slab, that follow each other from slab to slab, which
   is what slabs takes. */
bool rdx_cuda_cut_slabs(RdxCudaSlabs *slabs, const RdxSituation *s, const RdxLayout *layout);

/* Bytes of dynamic shared memory, for the kernel itself and for the block that joins parts; whether a block can have
   them. */
int64_t rdx_cuda_shared(const RdxCudaShape *shape, int words);
int64_t rdx_cuda_join_shared(const RdxCudaShape *shape, int words);
bool rdx_cuda_fits_block(int64_t bytes, const RdxSituation *situation);
bool rdx_cuda_fits(const RdxCudaLaunch *launch, const RdxSituation *situation);

#endif
