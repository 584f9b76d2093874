/* ring_rows: warps along a contiguous reduced axis, a chunk at a time (rows.cuh). A team of `team` warps shares an
   output: each takes an aligned power-of-two run of chunks, with finished runs on a stack that lies across its threads,
   and the team's nodes meet in shared memory. No barrier where a row is one warp's. The same kernel reads the parts of
   global. */
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
        fold_chunk<K>(p, ring, source, turn, before / K::size, chunk, n, total, run.chunks, elements);
    }
    /* The end of a crooked row may lie in a group of its own, which the last chunk has looked into. */
    if (((n * K::size - 1) ^ (n * K::size - 1 + before)) & -group_bytes)
        ring.next_group(source, false);
    return total.finish(elements);
}

/* Two blocks a multiprocessor leave a thread 128 registers; with three, which spill, 64K x 4K f32 took 259 us, not
   235. */
template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) ring_rows_kernel(const __grid_constant__ Problem p)
{
    typedef typename K::A A;
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    const RdxCudaShape &s = p.shape;
    constexpr int depth = rows_depth<A>();
    uint32_t *meeting = shared + s.ring_bytes / 4;
    int thread = kept(thread_of_warp());
    Ring<depth> ring(shared, thread);
    reduce_rows<A>(p, meeting, thread, [&](const RowRun &run, auto &&each_row) {
        RowSource<K> source(p, run, thread);
        ring.start(source);
        each_row([&](const unsigned char *row) { return fold_row<K>(p, ring, source, run, row); });
    });
}

} // namespace rdx

#define RDX_KERNEL_NAME ring_rows
#define RDX_ELEMENTS(size, words) (16 / (size))
#include "stamp.inc"
