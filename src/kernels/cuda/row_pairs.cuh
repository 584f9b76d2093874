/* What a block knows of the joins of its short rows before it looks at the first. */
#ifndef RDX_KERNELS_CUDA_ROW_PAIRS_CUH
#define RDX_KERNELS_CUDA_ROW_PAIRS_CUH

#include "block.cuh"

namespace rdx
{

/* The counts of all joins of a row of n elements, where A::counted: T(2h, r) has as many elements as lanes r, r + 2h,
   ... are there, which is ceil(n / 2h) for r < n mod 2h and floor(n / 2h) for the others, so for each h = 2^k there are
   three kinds of pairs, worked out once for a block (1M x 67 f32 602 us with a division for every join, 568
   without). */
template <class A> struct RowPairs {
    static constexpr int LEVELS = 9, KINDS = 3; /* lanes are at most 512 */

    typename A::Pair *pairs; /* of the block, in shared memory: [level][kind] */

    /* By all threads of the block. */
    __device__ __forceinline__ void fill(int n) const
    {
        int level = (int)threadIdx.x / KINDS, kind = (int)threadIdx.x % KINDS;
        if (level < LEVELS) {
            int least = n >> (level + 1);
            pairs[threadIdx.x] = A::pair(least + (kind < 2), least + (kind < 1));
        }
        __syncthreads();
    }
    /* Of T(2h, lane) and T(2h, lane + h), lane < h. */
    __device__ __forceinline__ const typename A::Pair *of(int n, int lane, int h) const
    {
        int more = n & (2 * h - 1);
        return pairs + (31 - __clz(h)) * KINDS + (lane + h < more ? 0 : lane < more ? 1 : 2);
    }
};

} // namespace rdx
#endif
