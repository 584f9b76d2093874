/* The finishing launch of global: parts that lie in the workspace become outputs, copies spread over the blocks. Where
   the last block of a group finishes (grid.cuh), this kernel has no part. */
#include "grid.cuh"

namespace rdx
{

template <class K> __global__ void __launch_bounds__(RDX_CUDA_THREADS) finish_kernel(const __grid_constant__ Problem p)
{
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    int64_t groups = p.shape.groups, slices = gridDim.x > groups ? gridDim.x / groups : 1;
    for (int64_t item = blockIdx.x; item < groups * slices; item += gridDim.x)
        join_parts<typename K::A, true>(p, item / slices, item % slices, slices, shared);
}

} // namespace rdx

#define RDX_KERNEL_NAME finish
#define RDX_ELEMENTS(size, words) 1
#include "stamp.inc"
