/* block_x: warps along a contiguous reduced axis, a chunk at a time (rows.cuh). A team of `team` warps shares an output: each takes an
   aligned power-of-two run of chunks, with finished runs on a stack that lies across its threads, and the team's nodes meet in
   shared memory. The grid stays: a block goes on to its next item while what it reads there is already on its way. No barrier where
   a row is one warp's. The same kernel reads the parts of global. */
#include "rows.cuh"

namespace rdx
{

/* The node of a warp's run of chunks, in every thread. */
template <class K, class R>
RDX_DEVICE typename K::A::Node fold_run(const Problem &p, R &ring, RowSource<K> &source, const RowRun &run)
{
    typedef typename K::A A;
    typename A::Node node = {};
    WarpStack<A> stack(source.thread);
    int turn = p.shape.run == 0 ? turn_of<K>(run.row) : 0;
    auto elements = [&](int at, int count) { return elements_of_chunks(p, run.first + at, count); };
#pragma unroll 1
    for (int i = 0; i < run.chunks; i++) {
        int64_t chunk = run.first + i;
        node = fold_chunk<K>(p, ring, source, turn, chunk, elements_of_chunk(p, chunk));
        if (run.chunks > 1)
            stack.push(node, elements);
    }
    return run.chunks > 1 ? stack.finish(elements) : node;
}

/* Two blocks a multiprocessor leave a thread 128 registers; three with 80, spilling, took 323 us for 64K x 4K f32, two 282. */
template <class K> __global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) rows_kernel(const __grid_constant__ Problem p)
{
    typedef typename K::A A;
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    const RdxCudaShape &s = p.shape;
    constexpr int depth = ring_depth<A>();
    int member = warp_of_block() & (s.team - 1), mate = warp_of_block() >> s.team_log2;
    uint32_t *meeting = shared + RDX_CUDA_THREADS * 4 * group_vectors * depth;
    RowSource<K> source(p, kept(thread_of_warp()));
    Ring<depth> ring(shared, source.thread);
    ring.start(source);
#pragma unroll 1
    for (int64_t number = blockIdx.x; number < s.items; number += gridDim.x) {
        typename A::Node node = fold_run<K>(p, ring, source, run_of(p, item_of(p, number)));
        Item item = item_of(p, forgotten(number)); /* made again: eleven registers less while the run is folded */
        if (s.team > 1) {
            Slots<A> slots = {meeting, RDX_CUDA_THREADS / 32};
            if (source.thread == 0)
                slots.put(warp_of_block(), node);
            __syncthreads();
            if (member == 0) {
                int t = source.thread;
                int64_t part = item.part * s.part_chunks;
                node =
                    join_neighbours<A>(slots.get(mate * s.team + (t < s.team ? t : 0)), s.team, [&](int at, int count) {
                        return elements_of_run(p, part + at * s.warp_chunks, count * s.warp_chunks,
                                               end_of_part(s, item));
                    });
                node = shuffle<A>(node, 0);
            }
            __syncthreads();
        }
        /* Every thread of the warp has the node; more than one is of use where there are copies to write. */
        bool alone = p.copies == 1 || has_parts(s);
        if (mate < item.outputs && member == 0 && (!alone || source.thread == 0))
            deliver<A>(p, item, mate, node, alone ? 0 : source.thread, alone ? 1 : 32);
        end_item<A>(p, item, meeting);
    }
}

} // namespace rdx

#define RDX_STRATEGY block_x
#define RDX_KERNEL rdx::rows_kernel
#define RDX_ELEMENTS(size, words) (16 / (size))
#include "stamp.inc"
