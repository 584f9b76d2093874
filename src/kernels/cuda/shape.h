/* How the kernels of kernels/cuda cut a plan into blocks. Pure C: shapes of any plan are made and checked on any machine. */
#ifndef RDX_KERNELS_CUDA_SHAPE_H
#define RDX_KERNELS_CUDA_SHAPE_H

#include "../../plan/layout.h"
#include "problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Each kind of kernel: whether it takes a plan, and the shape of its blocks, false where that does not fit `shared_bytes`. `elements`:
   of a vector, as the kernel was stamped; `words`: of a node. Asked in this order; the last takes anything. */

/* thread: few rows of packed, aligned columns; a thread has all the rows, at most 16, of a vector of them. */
bool rdx_cuda_shape_is_columns(const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config, int elements);
void rdx_cuda_shape_columns(RdxCudaShape *shape, const RdxSpace *space, const RdxRecipe *recipe,
                            const RdxConfig *config, int elements);

/* packed: rows of 1, 2, 4 .. 32 whole, aligned vectors with nothing between them, with a frequent map and one copy of an output; not
   where a vector's nodes take more registers than there are, nor of 8-bit elements but integers that are exact. */
bool rdx_cuda_shape_is_packed(const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config, int elements,
                              int words);
void rdx_cuda_shape_packed(RdxCudaShape *shape, const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config,
                           int elements, int words);

/* warp: contiguous rows of at most four lines, packed or aligned; `lanes` of a thread. */
bool rdx_cuda_shape_is_short(const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config);
bool rdx_cuda_shape_short(RdxCudaShape *shape, const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config,
                          int lanes, int64_t shared_bytes);

/* block_x: contiguous runs of whole vectors, or one run of any alignment. */
bool rdx_cuda_shape_is_rows(const RdxSpace *space, const RdxConfig *config);
/* straight: the same where a row is one run of aligned vectors of elements of 2 bytes and more, with a map that the kernels know at
   compile time (vec.cuh: with_unmasked), indices that ascend, and one copy of an output. */
bool rdx_cuda_shape_is_straight(const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config, int words);
/* gather: rows of any strides, where lanes fill a warp. Both are cut alike; `groups` of a thread's ring, 0 for gather. */
bool rdx_cuda_shape_is_gather(const RdxSpace *space, const RdxConfig *config);
bool rdx_cuda_shape_rows(RdxCudaShape *shape, const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config,
                         int groups, int words, int64_t shared_bytes);

/* block_y: packed columns, aligned to 16 bytes. */
bool rdx_cuda_shape_is_vectors(const RdxSpace *space, const RdxConfig *config, int elements);
/* straight_columns: the same where they are whole vectors of 16 rows and more along one dim, with a map as for straight. */
bool rdx_cuda_shape_is_straight_columns(const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config,
                                        int elements);
/* shifted_columns: the same where rows start anywhere. */
bool rdx_cuda_shape_is_shifted_columns(const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config,
                                       int elements);
/* single_columns: columns of any strides, with a map as for straight. */
bool rdx_cuda_shape_is_single_columns(const RdxSpace *space, const RdxRecipe *recipe);
/* All four are cut alike; `groups` of a thread's ring, 0 but for block_y. */
bool rdx_cuda_shape_vectors(RdxCudaShape *shape, const RdxSpace *space, const RdxRecipe *recipe,
                            const RdxConfig *config, int groups, bool shifted, int elements, int words,
                            int64_t shared_bytes);

/* block_y: 2 to 32 packed columns with nothing between the rows, aligned to 16 bytes, as one stream. */
bool rdx_cuda_shape_is_few(const RdxSpace *space, const RdxConfig *config, int elements);
bool rdx_cuda_shape_few(RdxCudaShape *shape, const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config,
                        int words, int64_t shared_bytes);

/* general: anything, an element a load. */
bool rdx_cuda_shape_tile(RdxCudaShape *shape, const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config,
                         int words, int64_t shared_bytes);

/* Bytes of dynamic shared memory, for the kernel itself and for the block that joins parts. */
int64_t rdx_cuda_shape_shared(const RdxCudaShape *shape, int words);
int64_t rdx_cuda_shape_join_shared(const RdxCudaShape *shape, int words);

#ifdef __cplusplus
}
#endif
#endif
