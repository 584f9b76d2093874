/* What shapes of rows and of columns have in common; for shape.c and shape_columns.c. */
#ifndef RDX_KERNELS_CUDA_SHAPE_PARTS_H
#define RDX_KERNELS_CUDA_SHAPE_PARTS_H

#include "shape.h"

enum { WARPS = RDX_CUDA_THREADS / 32 };

int rdx_cuda_log2_up(int64_t n);
/* Whether the reduced dims hold the smallest stride. */
bool rdx_cuda_is_row(const RdxSpace *space);
/* A map that straight kernels know (vec.cuh: with_unmasked). */
bool rdx_cuda_has_unmasked_map(const RdxRecipe *recipe);
/* Few rows that fill groups of the ring: 16 x 16M f32 took 383 us in registers, 330 through the ring. */
bool rdx_cuda_is_streamed(const RdxSpace *space, const RdxConfig *config);
/* Of the rings of a block, whose threads have `groups`; 0 where they have none. */
int rdx_cuda_ring_bytes(const RdxRecipe *recipe, int groups);

/* In this order: parts as planned, the division by a run's length, and, once group_outputs and run_outputs stand, groups and items. */
void rdx_cuda_take_parts(RdxCudaShape *shape, const RdxConfig *config);
void rdx_cuda_take_run(RdxCudaShape *shape, const RdxSpace *space);
void rdx_cuda_count_items(RdxCudaShape *shape, const RdxSpace *space, const RdxRecipe *recipe);

#endif
