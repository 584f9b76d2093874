/* block_x: warps along a contiguous reduced axis, a chunk at a time (rows.cuh). A team of `team` warps shares an output: each takes an
   aligned power-of-two run of chunks, with finished runs on a stack that lies across its threads, and the team's nodes meet in
   shared memory. No barrier where a row is one warp's. The same kernel reads the parts of global. */
#include "rows.cuh"

namespace rdx
{

/* The node of a row's chunks, in every thread. */
template <class K, class R>
RDX_DEVICE typename K::A::Node fold_row(const Problem &p, R &ring, RowSource<K> &source, const RowRun &run,
                                        const unsigned char *row)
{
    constexpr int group_bytes = RowSource<K>::group_bytes;
    int before = bytes_before(p, row), n = 0;
    Turn turn(before, source.thread);
    RowTotal<K> total = {source.thread};
    auto elements = [&](int at, int count) { return elements_of_chunks(p, run.first + at, count); };
#pragma unroll 1
    for (int i = 0; i < run.chunks; i++) {
        int64_t chunk = run.first + i;
        n = elements_of_chunk(p, chunk);
        fold_chunk<K>(p, ring, source, turn, before / K::size, chunk, n, total, run.chunks > 1, elements);
    }
    /* The end of a crooked row may lie in a group of its own, which the last chunk has looked into. */
    if (((n * K::size - 1) ^ (n * K::size - 1 + before)) & -group_bytes)
        ring.next_group(source, false);
    return total.finish(elements);
}

/* The node of an output from those of its team's warps, in every thread of the team's first warp. */
template <class A>
RDX_DEVICE typename A::Node meet(const Problem &p, const Item &item, typename A::Node node, const Slots<A> &slots,
                                 int thread)
{
    const RdxCudaShape &s = p.shape;
    int warp = warp_of_block();
    if (thread == 0)
        slots.put(warp, node);
    __syncthreads();
    if ((warp & (s.team - 1)) == 0) {
        int64_t part = item.part * s.part_chunks, end = end_of_part(s, item);
        node = slots.get(warp + (thread < s.team ? thread : 0));
        node = join_neighbours<A>(node, s.team, [&](int at, int count) {
            return elements_of_run(p, part + at * s.warp_chunks, count * s.warp_chunks, end);
        });
        node = shuffle<A>(node, 0);
    }
    __syncthreads();
    return node;
}

/* Two blocks a multiprocessor leave a thread 128 registers; with three, which spill, 64K x 4K f32 took 259 us, not 235. */
template <class K> __global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) rows_kernel(const __grid_constant__ Problem p)
{
    typedef typename K::A A;
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    const RdxCudaShape &s = p.shape;
    constexpr int depth = rows_depth<A>();
    uint32_t *meeting = shared + s.ring_bytes / 4;
    int thread = kept(thread_of_warp());
    bool leads = (warp_of_block() & (s.team - 1)) == 0;
    /* Every thread of the warp has the node; more than one is of use where there are copies to write. */
    bool alone = p.copies == 1 || has_parts(s);
    Ring<depth> ring(shared, thread);
#pragma unroll 1
    for (int64_t number = blockIdx.x; number < s.items; number += gridDim.x) {
        RowRun run = run_of(p, item_of(p, number));
        RowSource<K> source(p, run, thread);
        ring.start(source);
        int i = 0;
#pragma unroll 1
        do {
            typename A::Node node = {};
            if (i < run.rows)
                node = fold_row<K>(p, ring, source, run, run.row + i * run.step);
            Item item = item_of(p, forgotten(number)); /* made again: eleven registers less while rows are folded */
            if (s.team > 1)
                node = meet<A>(p, item, node, Slots<A>{meeting, RDX_CUDA_THREADS / 32}, thread);
            if (i < run.rows && leads && (!alone || thread == 0))
                deliver<A>(p, item, run.mate + i * run.mates, node, alone ? 0 : thread, alone ? 1 : 32);
        } while (++i < run.rows);
        end_item<A>(p, item_of(p, forgotten(number)), meeting);
    }
}

} // namespace rdx

#define RDX_STRATEGY block_x
#define RDX_KERNEL rdx::rows_kernel
#define RDX_ELEMENTS(size, words) (16 / (size))
#include "stamp.inc"
