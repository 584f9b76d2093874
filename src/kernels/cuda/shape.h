/* How the kernels of kernels/cuda cut a plan into blocks. Pure C: shapes of any plan are made and checked on any machine. */
#ifndef RDX_KERNELS_CUDA_SHAPE_H
#define RDX_KERNELS_CUDA_SHAPE_H

#include "../../plan/layout.h"
#include "problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Columns: a thread a vector of packed, aligned columns of at most 16 rows. */
bool rdx_cuda_shape_is_columns(const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config, int elements);
void rdx_cuda_shape_columns(RdxCudaShape *shape, const RdxSpace *space, const RdxRecipe *recipe,
                            const RdxConfig *config, int elements);

/* Short rows: some threads of a warp an output, 16-byte loads. Contiguous rows of at most four lines. */
bool rdx_cuda_shape_is_short(const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config);
void rdx_cuda_shape_short(RdxCudaShape *shape, const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config,
                          int elements);

/* Rows: a warp a chunk, 16-byte loads. Contiguous runs of whole vectors, or one run of any alignment. */
bool rdx_cuda_shape_is_rows(const RdxSpace *space, const RdxConfig *config);
void rdx_cuda_shape_rows(RdxCudaShape *shape, const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config);

/* Tiles: anything. `elements` of a vector (1: any strides), `words` of a node; false if they do not fit `shared_bytes`. */
bool rdx_cuda_shape_is_vectors(const RdxSpace *space, const RdxConfig *config, int elements);
bool rdx_cuda_shape_tile(RdxCudaShape *shape, const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config,
                         int elements, int words, int64_t shared_bytes);

/* Bytes of dynamic shared memory, for the kernel itself and for the block that joins parts. */
int64_t rdx_cuda_shape_shared(const RdxCudaShape *shape, int elements, int words);
int64_t rdx_cuda_shape_join_shared(const RdxCudaShape *shape, int words);

#ifdef __cplusplus
}
#endif
#endif
