/* straight_columns: vectors of packed columns, aligned or shifted, straight into registers (straight_columns.cuh). */
#include "straight_columns.cuh"

namespace rdx
{

template <class K> constexpr bool comes_in_columns = K::elements > 0 && !is_modulus<K>();

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) straight_columns_kernel(const __grid_constant__ Problem p)
{
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    straight_columns<K>(p, shared);
}

} // namespace rdx

#define RDX_KERNEL_NAME straight_columns
#define RDX_COMES comes_in_columns
#define RDX_ELEMENTS_OF(Algebra, size) rdx::straight_elements<Algebra>(size)
#include "stamp.inc"
