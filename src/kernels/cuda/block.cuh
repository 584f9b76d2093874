/* A block's nodes in shared memory: slots of words, one array per word, so that neighbouring threads meet neighbouring
   banks. A tile of `columns` outputs has a batch of lanes, which the block halves in a rolled loop, and a stack above
   it. */
#ifndef RDX_KERNELS_CUDA_BLOCK_CUH
#define RDX_KERNELS_CUDA_BLOCK_CUH

#include "grid.cuh"
#include "warp.cuh"

namespace rdx
{

template <class A> struct Slots {
    uint32_t *words;
    int count; /* slots of this array */

    __device__ __forceinline__ typename A::Node get(int slot) const
    {
        return get_node<A>(words + slot, count);
    }
    __device__ __forceinline__ void put(int slot, const typename A::Node &node) const
    {
        put_node<A>(words + slot, count, node);
    }
};

/* Halves a batch in place: lane i of the batch is lane first + step * i of a chunk of n elements; the answer is in the
   first row. */
template <class A>
RDX_DEVICE void halve_batch(const Slots<A> &slots, int columns, int batch, int first, int step, int n)
{
    int step_log2 = log2_of(step);
    for (int half = batch / 2, log2 = step_log2 + log2_of(batch); half >= 1; half /= 2, log2--) {
        __syncthreads();
        for (int slot = (int)threadIdx.x; slot < half * columns; slot += (int)blockDim.x) {
            int lane = first + step * (slot / columns);
            int lower = elements_of_lane(n, lane, log2), upper = elements_of_lane(n, lane + step * half, log2);
            if (upper > 0)
                slots.put(slot, join_full<A>(slots.get(slot), slots.get(slot + half * columns), lower, upper));
        }
    }
    __syncthreads();
}

} // namespace rdx
#endif
