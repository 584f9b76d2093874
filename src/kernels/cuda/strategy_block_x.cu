/* block_x: warps along a contiguous reduced axis, a chunk at a time (rows.cuh). A team of `team` warps shares an output: each takes an
   aligned power-of-two run of chunks, with finished runs on a stack that lies across its threads, and the team's nodes meet in
   shared memory. No barrier inside a row. The same kernel reads the parts of global. */
#include "rows.cuh"

namespace rdx
{

template <class K> __global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) rows_kernel(const __grid_constant__ Problem p)
{
    typedef typename K::A A;
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    const RdxCudaShape &s = p.shape;
    int warp = (int)threadIdx.x / 32, member = warp % s.team, mate = warp / s.team;
    int64_t chunks = s.chunks, run = s.warp_chunks;
    for (int64_t number = blockIdx.x; number < s.items; number += gridDim.x) {
        Item item = item_of(p, number);
        int64_t part = item.part * s.part_chunks, end = part + s.part_chunks < chunks ? part + s.part_chunks : chunks;
        int64_t first = part + member * run, last = first + run < end ? first + run : end;
        typename A::Node node = {};
        if (mate < item.outputs && first < last) {
            const unsigned char *row = p.in + seek_output(p, item.first_output + mate).in;
            WarpStack<A> stack;
            auto elements = [&](int64_t at, int64_t count) { return elements_of_chunks(p, first + at, count); };
            for (int64_t chunk = first; chunk < last; chunk++) {
                node = fold_chunk<K>(p, row, chunk, elements_of_chunk(p, chunk));
                if (last - first > 1)
                    stack.push(node, elements);
            }
            if (last - first > 1)
                node = stack.finish(elements);
        }
        if (s.team > 1) {
            Slots<A> slots = {shared, RDX_CUDA_THREADS / 32};
            if (thread_of_warp() == 0)
                slots.put(warp, node);
            __syncthreads();
            if (member == 0) {
                int t = thread_of_warp();
                node =
                    join_neighbours<A>(slots.get(mate * s.team + (t < s.team ? t : 0)), s.team, [&](int at, int count) {
                        return elements_of_run(p, part + at * run, count * run, end);
                    });
                node = shuffle<A>(node, 0);
            }
            __syncthreads();
        }
        /* Every thread of the warp has the node; more than one is of use where there are copies to write. */
        bool alone = p.copies == 1 || has_parts(s);
        if (mate < item.outputs && member == 0 && (!alone || thread_of_warp() == 0))
            deliver<A>(p, item, mate, node, alone ? 0 : thread_of_warp(), alone ? 1 : 32);
        end_item<A>(p, item, shared);
    }
}

} // namespace rdx

#define RDX_STRATEGY block_x
#define RDX_KERNEL rdx::rows_kernel
#define RDX_ELEMENTS(size, words) (16 / (size))
#include "stamp.inc"
