/* byte_columns: extremes of at most eight rows of bytes in aligned vectors of 16 (short_columns.cuh); of integers they
   stay as they are, four to a word. By vectors of eight as in short_columns they took longer (H200, us, by eight and
   so: max u8 over the middle of 64 x 3 x 1048576 83, 72, i8 of 4 rows of 33554432 47, 41, min of 2 of 67108864 67,
   52). */
#include "short_columns.cuh"

namespace rdx
{

template <class K>
constexpr bool comes_in_byte_columns = RDX_CUDA_HAS_BYTE_COLUMNS(K::A::algebra, K::A::work, K::A::unit, K::size);

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 3) byte_columns_kernel(const __grid_constant__ Problem p)
{
    reduce_few<K, SHORT_PIECES>(p);
}

} // namespace rdx

#define RDX_KERNEL_NAME byte_columns
#define RDX_COMES comes_in_byte_columns
#define RDX_ELEMENTS(size, words) (16 / (size))
#include "stamp.inc"
