/* shifted: contiguous rows that start anywhere, straight from memory into registers (straight_rows.cuh). */
#include "straight_rows.cuh"

namespace rdx
{

template <class K>
constexpr bool comes_shifted = (K::size > 1 || K::A::indexed) && K::size < 16 && !K::A::two_passes && !is_modulus<K>();

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) shifted_rows_kernel(const __grid_constant__ Problem p)
{
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    reduce_straight<K>(p, shared, [&](const unsigned char *row, int64_t first, int chunks, int thread) {
        return straight_run<K, ROW_SHIFTED>(p, row, first, chunks, thread);
    });
}

} // namespace rdx

#define RDX_KERNEL_NAME shifted_rows
#define RDX_COMES comes_shifted
#define RDX_ELEMENTS(size, words) (16 / (size))
#include "stamp.inc"
