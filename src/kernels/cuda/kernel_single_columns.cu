/* single_columns: columns of any strides and any alignment, an element a load, straight into registers
   (straight_columns.cuh): neighbouring threads take neighbouring columns, and 16 loads of each are under way. Two
   blocks a multiprocessor: where three or four had to share its registers, 4096 x 16384 f32 of stride 2 took 191 and
   316 us, not 147. */
#include "straight_columns.cuh"

namespace rdx
{

template <class K> constexpr bool comes_singly = !is_modulus<K>();

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) single_columns_kernel(const __grid_constant__ Problem p)
{
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    straight_columns<K>(p, shared);
}

} // namespace rdx

#define RDX_KERNEL_NAME single_columns
#define RDX_COMES comes_singly
#define RDX_ELEMENTS(size, words) 1
#include "stamp.inc"
