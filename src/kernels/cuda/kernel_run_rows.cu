/* runs: rows in several contiguous runs of whole, aligned vectors, straight from memory into registers
   (straight_rows.cuh). A kernel of their own, as shifted rows are: two loops in one spill where nodes have several
   words (var over 1000 x 100003 f32 121 us, 146). */
#include "straight_rows.cuh"

namespace rdx
{

template <class K>
constexpr bool comes_in_runs = (K::size > 1 || K::A::indexed) && !K::A::two_passes && !is_modulus<K>() && !is_long<K>();

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) run_rows_kernel(const __grid_constant__ Problem p)
{
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    reduce_straight<K>(p, shared, [&](const unsigned char *row, int64_t first, int chunks, int thread) {
        return straight_run<K, ROW_IN_RUNS>(p, row, first, chunks, thread);
    });
}

} // namespace rdx

#define RDX_KERNEL_NAME run_rows
#define RDX_COMES comes_in_runs
#define RDX_ELEMENTS(size, words) (16 / (size))
#include "stamp.inc"
