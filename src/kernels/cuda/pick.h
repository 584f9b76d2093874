/* Which kernel takes a plan, and how it cuts it. */
#ifndef RDX_KERNELS_CUDA_PICK_H
#define RDX_KERNELS_CUDA_PICK_H

#include "kernels.h"
#include "shape.h"

typedef struct RdxCudaPick {
    const RdxCudaKernel *kernel;
    RdxCudaShape shape;
    int threads; /* of a block */
} RdxCudaPick;

/* The first kind of kernel that takes the plan, in the order of shape.h; false where the tables have none for the recipe. A block may have
   shared_bytes of dynamic shared memory. */
bool rdx_cuda_pick(RdxCudaPick *pick, const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config,
                   int64_t shared_bytes);

/* That of the second launch (RDX_FINISHING_LAUNCH), or NULL. */
const RdxCudaKernel *rdx_cuda_pick_finish(const RdxSpace *space, const RdxRecipe *recipe);

#endif
