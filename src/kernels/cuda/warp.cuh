/* A warp joins nodes by shuffles: the lanes of a chunk by halving, runs of neighbours by adjacent pairs, and chunk
   after chunk on a stack that lies across its threads. All 32 threads take part in every call and all of them get the
   result. */
#ifndef RDX_KERNELS_CUDA_WARP_CUH
#define RDX_KERNELS_CUDA_WARP_CUH

#include "thread.cuh"

namespace rdx
{

static constexpr unsigned whole_warp = 0xffffffffu;

RDX_DEVICE int thread_of_warp()
{
    return (int)(threadIdx.x & 31);
}

RDX_DEVICE int warp_of_block()
{
    return (int)threadIdx.x / 32;
}

/* The greatest number of a warp, in every thread. */
RDX_DEVICE int32_t greatest_in_warp(int32_t x)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(whole_warp, x);
#else
#pragma unroll
    for (int bit = 16; bit >= 1; bit /= 2) {
        int32_t other = __shfl_xor_sync(whole_warp, x, bit);
        x = x > other ? x : other;
    }
    return x;
#endif
}

/* What a warp reads at once, 16 bytes a thread. */
static constexpr int line_bytes = 512;

template <class A> RDX_DEVICE typename A::Node shuffle_xor(const typename A::Node &node, int mask)
{
    uint32_t words[A::words];
    A::pack(node, words);
#pragma unroll
    for (int k = 0; k < A::words; k++)
        words[k] = __shfl_xor_sync(whole_warp, words[k], mask);
    typename A::Node other;
    A::unpack(other, words);
    return other;
}

template <class A> RDX_DEVICE typename A::Node shuffle(const typename A::Node &node, int from)
{
    uint32_t words[A::words];
    A::pack(node, words);
#pragma unroll
    for (int k = 0; k < A::words; k++)
        words[k] = __shfl_sync(whole_warp, words[k], from);
    typename A::Node other;
    A::unpack(other, words);
    return other;
}

/* T(h, r) from this thread's node and its partner's, T(2h, r) and T(2h, r + h), both of which have elements; n elements
   in the chunk. Joins commute to the bit where counts play no part, so only counted ones and ragged chunks mind which
   side is which. */
template <class A>
RDX_DEVICE typename A::Node join_there(const typename A::Node &mine, const typename A::Node &other, bool mine_is_upper,
                                       int n, int h, int r)
{
    if constexpr (A::counted) {
        int step = 32 - __clz(h); /* log2 of 2h */
        return join_full<A>(mine_is_upper ? other : mine, mine_is_upper ? mine : other, elements_of_lane(n, r, step),
                            elements_of_lane(n, r + h, step));
    } else {
        return join_full<A>(mine, other, 0, 0);
    }
}

/* The same where the upper one may have none. */
template <class A>
RDX_DEVICE typename A::Node join_halves(const typename A::Node &mine, const typename A::Node &other, bool mine_is_upper,
                                        int n, int h, int r)
{
    typename A::Node joined = join_there<A>(mine, other, mine_is_upper, n, h, r);
    return r + h < n ? joined : mine_is_upper ? other : mine;
}

/* T(h, .) of the lane that this thread's node is named after, from it and its partner's, T(2h, .) both; n elements in
   the chunk, WHOLE: all of its lanes are there and, if counts matter, equally long. */
template <class A, bool WHOLE>
RDX_DEVICE typename A::Node join_slots(const typename A::Node &mine, const typename A::Node &other, int n, int h,
                                       int lane)
{
    int64_t each = n >> (32 - __clz(h)); /* elements of either side, if all lanes are as long */
    if constexpr (WHOLE)
        return join_full<A>(mine, other, each, each);
    else
        return join_halves<A>(mine, other, lane & h, n, h, lane & (h - 1));
}

/* Whether nodes may be joined in any order. */
template <class A> RDX_DEVICE constexpr bool is_exact()
{
    return A::work == RDX_WORK_I32 || A::work == RDX_WORK_I64 || A::work == RDX_WORK_I16;
}

/* A step while a thread of the warp holds HELD nodes, and those after it: it sends half of them and keeps the other
   half. By templates: of loops within loops whose lengths are not known at once the nodes would lie in local memory. */
template <class K, bool WHOLE, int ROWS, int HELD>
RDX_DEVICE int halve_from(typename K::A::Node *node, int n, int t, int turn, int base)
{
    typedef typename K::A A;
    constexpr int E = K::elements, bit = 16 * HELD / (ROWS * E), half = HELD / 2;
    if constexpr (HELD == 1) {
        return base;
    } else {
        bool upper = t & bit;
        base += upper && HELD <= E ? half : 0;
#pragma unroll
        for (int i = 0; i < half; i++) {
            typename A::Node keep = upper ? node[i + half] : node[i], send = upper ? node[i] : node[i + half];
            node[i] = join_slots<A, WHOLE>(keep, shuffle_xor<A>(send, bit), n, bit * E, t * E + base + i % E - turn);
        }
        return halve_from<K, WHOLE, ROWS, HELD / 2>(node, n, t, turn, base);
    }
}

/* Lane t * E + e - turn (mod L) in node[e] of thread t becomes T(32, .) of lane t * E + result - turn in node[0].

   ROWS, of n elements each, are halved together: E nodes for each of them, and T(32 / ROWS, .) of row t / (32 / ROWS)
   in thread t. */
template <class K, bool WHOLE, int ROWS = 1>
RDX_DEVICE int halve_held(typename K::A::Node *node, int n, int t, int turn)
{
    static_assert(ROWS * K::elements <= 32, "a step for each");
    return halve_from<K, WHOLE, ROWS, ROWS * K::elements>(node, n, t, turn, 0);
}

/* How far apart threads are whose nodes T(2h, .) are joined to T(h, .), h < 32 / ROWS, once each has one: first the
   rest of the threads' bits, then those of e, which halve_held moved to threads. */
template <class K, int ROWS = 1> RDX_DEVICE constexpr int partner_of(int h)
{
    return h >= K::elements ? h / K::elements : 32 / ROWS / K::elements * h;
}

/* The chunk's node from its L = 32 E lanes: E - 1 + 5 exchanges in all; of ROWS, ROWS E - 1 + 5 - log2(ROWS). */
template <class K, bool WHOLE, int ROWS = 1>
RDX_DEVICE typename K::A::Node halve_warp(typename K::A::Node *node, int n, int t, int turn)
{
    typedef typename K::A A;
    constexpr int E = K::elements;
    int base = halve_held<K, WHOLE, ROWS>(node, n, t, turn);
#pragma unroll(A::words == 1 || (WHOLE && A::two_passes) ? 5 : 1)
    for (int h = 16 / ROWS; h >= 1; h /= 2)
        node[0] =
            join_slots<A, WHOLE>(node[0], shuffle_xor<A>(node[0], partner_of<K, ROWS>(h)), n, h, t * E + base - turn);
    return node[0];
}

/* Four chunks halved together, where joins are long, as those of logsumexp are: what each of the last steps does in
   pairs of threads twice over, two chunks share. 8 joins of T(32, .) where one chunk after the other takes 20, and 3
   for the four of them. */
template <class K> struct FourChunks {
    typedef typename K::A A;
    typedef typename A::Node Node;
    static constexpr int E = K::elements;

    int thread, count = 0;
    Node one, two; /* the chunk before, the two before that */

    __device__ __forceinline__ explicit FourChunks(int own) : thread(own)
    {
    }

    /* A chunk, its lanes in node[]. True where it is the fourth: their node, in every thread, is node[0]. */
    __device__ __forceinline__ bool add(Node *node)
    {
        halve_held<K, true>(node, 0, thread, 0);
        count = (count + 1) & 3;
        if (count & 1) {
            one = node[0];
            return false;
        }
        node[0] = share(one, node[0], partner_of<K>(16));
        if (count == 2) {
            two = node[0];
            return false;
        }
        node[0] = share(two, node[0], partner_of<K>(8));
#pragma unroll
        for (int step = 0; step < 5; step++) {
            int bit = partner_of<K>(step < 3 ? 4 >> step : 16 >> (step - 3));
            node[0] = join_full<A>(node[0], shuffle_xor<A>(node[0], bit), 0, 0);
        }
        return true;
    }

  private:
    /* A step for the first in one thread of a pair, for the second in the other. */
    __device__ __forceinline__ Node share(Node first, Node second, int bit) const
    {
        Node keep = first, send = second;
        if (thread & bit)
            keep = second, send = first;
        return join_full<A>(keep, shuffle_xor<A>(send, bit), 0, 0);
    }
};

/* The nodes of the threads that have one, in any order, in every thread. */
template <class A> RDX_DEVICE typename A::Node join_any(typename A::Node node, bool has)
{
#pragma unroll(A::words == 1 ? 5 : 1)
    for (int bit = 16; bit >= 1; bit /= 2) {
        typename A::Node other = shuffle_xor<A>(node, bit);
        bool there = __shfl_xor_sync(whole_warp, has, bit);
        node = has && there ? join_full<A>(node, other, 0, 0) : has ? node : other;
        has = has || there;
    }
    return node;
}

/* The nodes of threads 0 .. `neighbours` - 1, of which the first `there` have elements, joined by adjacent pairs;
   elements(first, count) counts those of so many. */
template <class A, class Elements>
RDX_DEVICE typename A::Node join_neighbours(typename A::Node node, int neighbours, int there, Elements elements)
{
    int t = thread_of_warp();
#pragma unroll 1
    for (int bit = 1; bit < neighbours; bit *= 2) {
        typename A::Node other = shuffle_xor<A>(node, bit);
        bool upper = t & bit;
        int first = t & ~(2 * bit - 1), second = first + bit;
        typename A::Node left = upper ? other : node, right = upper ? node : other;
        node = second < there ? join_full<A>(left, right, elements(first, bit), elements(second, bit)) : left;
    }
    return node;
}

/* Whether one thread joins several nodes, where that takes few instructions. Code that a block runs once is fetched
   while it waits: eight nodes of var joined so took blocks of 64 columns over 32 x 112 x 112 rows 52 us, where rounds
   take 40. */
template <class A> RDX_DEVICE constexpr bool joins_briefly()
{
    return A::words <= 2 && !A::counted && !A::two_passes;
}

static constexpr int most_few = RDX_CUDA_THREADS / 32;

/* `few`, most_few at most, nodes joined by adjacent pairs: get(i), of which the first is there, and of others those
   that is_there(i) says. */
template <class A, class Get, class IsThere> RDX_DEVICE typename A::Node join_few(int few, Get get, IsThere is_there)
{
    typename A::Node node[most_few];
#pragma unroll
    for (int i = 0; i < most_few; i++)
        node[i] = i < few ? get(i) : unset<A>();
#pragma unroll
    for (int step = 1; step < most_few; step *= 2)
#pragma unroll
        for (int i = 0; i < most_few; i += 2 * step)
            if (i + step < few && is_there(i + step))
                node[i] = join_full<A>(node[i], node[i + step], 0, 0);
    return node[0];
}

/* Finished runs of 1, 2, 4, ... chunks: the run of 2^k lies with thread k. */
template <class A> struct WarpStack {
    int thread; /* of the warp */
    typename A::Node held;
    int count = 0; /* chunks pushed, at most 2^30 */

    __device__ __forceinline__ explicit WarpStack(int own) : thread(own)
    {
    }

    /* The node of 2^from chunks. */
    template <class Elements>
    __device__ __forceinline__ void push(typename A::Node node, Elements elements, int from = 0)
    {
        int level = from;
#pragma unroll 1
        for (; count >> level & 1; level++) {
            int run = 1 << level, end = count + (1 << from);
            node = join_full<A>(shuffle<A>(held, level), node, elements(end - 2 * run, run), elements(end - run, run));
        }
        if (thread == level)
            held = node;
        count += 1 << from;
    }

    /* The ragged right edge moves up. */
    template <class Elements> __device__ __forceinline__ typename A::Node finish(Elements elements) const
    {
        int level = __ffs(count) - 1;
        typename A::Node node = shuffle<A>(held, level);
        int first = count - (1 << level);
#pragma unroll 1
        while (first > 0) {
            level = __ffs(first) - 1;
            int run = 1 << level;
            node =
                join_full<A>(shuffle<A>(held, level), node, elements(first - run, run), elements(first, count - first));
            first -= run;
        }
        return node;
    }
};

} // namespace rdx
#endif
