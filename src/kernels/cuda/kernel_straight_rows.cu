/* straight_rows: contiguous rows of whole, aligned vectors, straight from memory into registers. Warps share rows as in
   ring_rows (rows.cuh), but a thread asks for all its vectors of a chunk before it folds the first, and nothing lies in
   shared memory but what the warps of a block and the parts of an output have to say to each other: a block starts and
   ends sooner. On an H200, through the rings and this way: 64K f32 in one 6.5 and 3.1 us, 1M 7.4 and 4.6, 4096 x 4096
   20.2 and 17.5, 32 x 1M 41.7 and 33.6, 64K x 4K 239.4 and 237.1.

   While a warp folds, it asks for nothing; where folding takes long and goes on for long, the rings are ahead
   (cuda_rows.c). Tried and lost: the next chunk's vectors in the place of those just folded (max over 64K x 4K 455 us,
   not 243) or behind the last of them (argmax 292, not 277): loads and shuffles wait for each other at six scoreboards;
   4 or 8 vectors at a time and up to five blocks a multiprocessor (64K x 4K 256 to 276). */
#include "straight_rows.cuh"

namespace rdx
{

template <class K>
constexpr bool comes_straight = RDX_CUDA_HAS_STRAIGHT_ROWS(K::A::algebra, K::A::work, K::A::indexed, K::size) &&
                                !K::A::two_passes && !is_modulus<K>();

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) straight_rows_kernel(const __grid_constant__ Problem p)
{
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    reduce_straight<K>(p, shared, [&](const unsigned char *row, int64_t first, int chunks, int thread) {
        return straight_run<K, ROW_ALIGNED>(p, row, first, chunks, thread);
    });
}

} // namespace rdx

#define RDX_KERNEL_NAME straight_rows
#define RDX_COMES comes_straight
#define RDX_ELEMENTS(size, words) (16 / (size))
#include "stamp.inc"
