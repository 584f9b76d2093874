/* gather_rows: rows whose elements do not lie in vectors, by any stride and over any number of reduced dims. A warp
   takes a chunk as ring_rows does (rows.cuh), but an element a load: thread t folds lanes t, t + 32, ... of 16 elements
   each, whose loads are all on their way before the first is used. Lanes of a thread are halved by it, in bit-reversed
   order, those of the warp by shuffles.

   Which thread holds the result: all of the warp, as in ring_rows. */
#include "rows.cuh"
#include "tile.cuh"

namespace rdx
{

/* The i-th of a thread's 2^log2 lanes. */
RDX_DEVICE int lane_of_turn(int thread, int i, int log2)
{
    return thread + 32 * reverse_bits(i, log2);
}

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
                int half = 32 << (log2 - level - 1), lane = lane_of_turn(thread, i & -(2 << level), log2);
                node = join_nodes<A>(held[level], node, elements_of_lane(n, lane, log2_of(2 * half)),
                                     elements_of_lane(n, lane + half, log2_of(2 * half)));
            } else if (climbs) {
                held[level] = node;
                climbs = false;
            }
        }
    }
};

/* Rows whose elements lie a step apart, in one run or in several: gathered_at_once of a thread's lanes of one chunk,
   whose elements are all on their way before the first is folded. WHOLE: each has 16. Beside one lane after the other
   through Reach (H100, us): 640x2048x7x7 over 0, 2, 3, sum of f32 107 and 156, max of bf16 112 and 196; sum over 32768
   rows of every second of 3000 f32 133 and 206. Two lanes spill a little, four too much: that max 140. */
static constexpr int gathered_at_once = 2;
template <class K, bool WHOLE> struct Gather {
    typedef typename K::A A;
    typedef typename A::T T;
    typedef typename std::conditional<A::indexed, Winner<A>, Step<A>>::type S;

    const Problem &p;
    const unsigned char *row;
    unsigned start;         /* the chunk's first element */
    int n;                  /* its elements */
    int thread, turns_log2; /* lanes of a thread */

    __device__ __forceinline__ void push_lanes(int first, LaneStack<A> &stack, typename A::Node &node) const
    {
        Vector<K::bytes> got[gathered_at_once][16];
#pragma unroll
        for (int i = 0; i < gathered_at_once; i++)
            ask(got[i], lane_of_turn(thread, first + i, turns_log2));
        with_known<K>(p.recipe, [&](auto in, auto map) {
#pragma unroll
            for (int i = 0; i < gathered_at_once; i++) {
                node = fold<decltype(in), decltype(map)::value>(got[i], lane_of_turn(thread, first + i, turns_log2));
                stack.push(first + i, turns_log2, node, n, thread);
            }
        });
    }

  private:
    __device__ __forceinline__ int lines_of(int lane) const
    {
        return WHOLE ? 16 : elements_of_lane(n, lane, turns_log2 + 5);
    }

    __device__ __forceinline__ void ask(Vector<K::bytes> *got, int lane) const
    {
        int64_t step = p.dims[p.keep_rank + p.reduce_rank - 1].in;
        int lines = lines_of(lane);
        unsigned own = start + lane;
        const unsigned char *at = row + own * step;
#pragma unroll
        for (int line = 0; line < 16; line++, own += p.recipe.lanes, at += p.recipe.lanes * step)
            if (line < lines)
                load_vector<K>(got[line], at + run_of_element(p, own) * p.shape.run_gap, 1, p.recipe.in);
    }

    template <class In, int MAP>
    __device__ __forceinline__ typename A::Node fold(const Vector<K::bytes> *got, int lane) const
    {
        typename S::State state;
        clear_lanes<A>(&state, 1);
        int lines = lines_of(lane);
#pragma unroll
        for (int line = 0; line < 16; line++) {
            if (line < lines) {
                T x, y;
                read_element<A, In, MAP>(p.recipe, got[line].word, 0, x, y);
                state = line == 0 ? S::begin(x, y, 0) : S::next(state, x, y, line, 0);
            }
        }
        if constexpr (S::remembers) {
            unsigned own = lines > 0 ? start + lane + p.recipe.lanes * (unsigned)state.line : 0;
            return A::winner(state, p.index_offset + seek_reduced(p, own).out);
        } else {
            return S::end(state, lines);
        }
    }
};

/* The node of a chunk of n elements, in every thread. */
template <class K>
RDX_DEVICE typename K::A::Node gather_chunk(const Problem &p, const unsigned char *row, int64_t chunk, int n,
                                            int thread)
{
    typedef typename K::A A;
    int lanes = p.recipe.lanes, log2 = log2_of(lanes), turns_log2 = log2 - 5, done = 0;
    typename A::Node node = unset<A>();
    LaneStack<A> stack;
    if constexpr (RDX_CUDA_GATHERS_LANES(K::size, A::words, A::unit) && !A::two_passes) {
        auto gather = [&](auto whole) {
#pragma unroll 1
            for (; done < lanes / 32; done += gathered_at_once)
                Gather<K, decltype(whole)::value>{p, row, (unsigned)(chunk * 16 * lanes), n, thread, turns_log2}
                    .push_lanes(done, stack, node);
        };
        if (p.shape.gathers && n == 16 * lanes)
            gather(std::true_type());
        else if (p.shape.gathers)
            gather(std::false_type());
    }
#pragma unroll 1
    for (; done < lanes / 32; done++) {
        int lane = lane_of_turn(thread, done, turns_log2);
        Reach reach(p, row, chunk * 16 * lanes + lane);
        node = Fold<K, Reach>{p, reach}.run(elements_of_lane(n, lane, log2));
        stack.push(done, turns_log2, node, n, thread);
    }
#pragma unroll(A::words == 1 ? 5 : 1)
    for (int h = 16; h >= 1; h /= 2)
        node = join_halves<A>(node, shuffle_xor<A>(node, h), thread & h, n, h, thread & (h - 1));
    return node;
}

/* With three blocks a multiprocessor 32768 rows of every second of 8192 f32 took 276 us, with four 306, with two
   248. */
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
