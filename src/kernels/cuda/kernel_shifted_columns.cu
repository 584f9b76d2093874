/* shifted_columns: packed columns of rows that start anywhere, straight into registers (straight_columns.cuh). A kernel of its own, because what
   it does at the tensor's end costs aligned columns registers: bf16 over 8192 x 65536 took 333 us, not 250. */
#include "straight_columns.cuh"

namespace rdx
{

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) shifted_columns_kernel(const __grid_constant__ Problem p)
{
    if constexpr (K::elements > 0) {
        RDX_DYNAMIC_SHARED(uint32_t, shared);
        straight_columns<K, true>(p, shared);
    }
}

} // namespace rdx

#define RDX_KERNEL_NAME shifted_columns
#define RDX_ELEMENTS_OF(Algebra, size) rdx::straight_elements<Algebra>(size)
#include "stamp.inc"
