/* block_y: packed, aligned neighbouring outputs (columns.cuh). The same kernel reads the parts of global. */
#include "ring_columns.cuh"

namespace rdx
{

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) ring_columns_kernel(const __grid_constant__ Problem p)
{
    reduce_ring_columns<K, 16>(p);
}

} // namespace rdx

#define RDX_KERNEL_NAME ring_columns
#define RDX_ELEMENTS(size, words) (16 / (size))
#include "stamp.inc"
