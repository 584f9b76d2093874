/* gather: rows whose elements do not lie in vectors, by any stride and over any number of reduced dims. A warp takes a chunk as block_x
   does (rows.cuh), but an element a load: thread t folds lanes t, t + 32, ... of 16 elements each, whose loads are all on their way
   before the first is used. Lanes of a thread are halved by it, in bit-reversed order, those of the warp by shuffles.

   Which thread holds the result: all of the warp, as in block_x. */
#include "rows.cuh"
#include "tile.cuh"

namespace rdx
{

/* Nodes of a thread's lanes in bit-reversed order, at most 2^LEVELS: finished runs of 1, 2, 4, ... in registers. */
template <class A> struct LaneStack {
    static constexpr int LEVELS = 4;
    typename A::Node held[LEVELS];

    /* node := the run that ends with it, the (i + 1)-th of 2^log2 of this thread; n: elements of the chunk. */
    __device__ __forceinline__ void push(int i, int log2, typename A::Node &node, int n, int thread)
    {
        bool climbs = true;
#pragma unroll
        for (int level = 0; level < LEVELS; level++) {
            if (climbs && (i >> level & 1)) {
                int half = 32 << (log2 - level - 1), lane = thread + 32 * reverse_bits(i & -(2 << level), log2);
                node = join_nodes<A>(held[level], node, elements_of_lane(n, lane, log2_of(2 * half)),
                                     elements_of_lane(n, lane + half, log2_of(2 * half)));
            } else if (climbs) {
                held[level] = node;
                climbs = false;
            }
        }
    }
};

/* The node of a chunk of n elements, in every thread. */
template <class K>
RDX_DEVICE typename K::A::Node gather_chunk(const Problem &p, const unsigned char *row, int64_t chunk, int n,
                                            int thread)
{
    typedef typename K::A A;
    int lanes = p.recipe.lanes, log2 = log2_of(lanes);
    typename A::Node node = unset<A>();
    LaneStack<A> stack;
#pragma unroll 1
    for (int i = 0; i < lanes / 32; i++) {
        int lane = thread + 32 * reverse_bits(i, log2 - 5);
        Reach reach(p, row, chunk * 16 * lanes + lane);
        node = Fold<K, Reach>{p, reach}.run(elements_of_lane(n, lane, log2));
        stack.push(i, log2 - 5, node, n, thread);
    }
#pragma unroll(A::words == 1 ? 5 : 1)
    for (int h = 16; h >= 1; h /= 2)
        node = join_halves<A>(node, shuffle_xor<A>(node, h), thread & h, n, h, thread & (h - 1));
    return node;
}

/* With three blocks a multiprocessor 32768 rows of every second of 8192 f32 took 276 us, with four 306, with two 248. */
template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) gather_rows_kernel(const __grid_constant__ Problem p)
{
    typedef typename K::A A;
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    int thread = kept(thread_of_warp());
    reduce_rows<A>(p, shared, thread, [&](const RowRun &run, auto &&each_row) {
        each_row([&](const unsigned char *row) {
            WarpStack<A> stack(thread);
            typename A::Node node = unset<A>();
            auto elements = [&](int at, int count) { return elements_of_chunks(p, run.first + at, count); };
#pragma unroll 1
            for (int i = 0; i < run.chunks; i++) {
                node = gather_chunk<K>(p, row, run.first + i, elements_of_chunk(p, run.first + i), thread);
                if (run.chunks > 1)
                    stack.push(node, elements);
            }
            return run.chunks > 1 ? stack.finish(elements) : node;
        });
    });
}

} // namespace rdx

#define RDX_KERNEL_NAME gather_rows
#define RDX_ELEMENTS(size, words) 1
#include "stamp.inc"
