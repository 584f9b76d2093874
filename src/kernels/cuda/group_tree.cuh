/* The tree of a group of lanes that a thread has before it, of a column or of a vector of them: written out by
   templates, since a loop would put nodes in local memory. Lanes of a group are 2^step_log2 apart; lane R of it is its
   first lane and R steps. */
#ifndef RDX_KERNELS_CUDA_GROUP_TREE_CUH
#define RDX_KERNELS_CUDA_GROUP_TREE_CUH

#include "thread.cuh"

namespace rdx
{

/* What joins within groups of a chunk ask for where not all lanes have as many elements, worked out once for a chunk:
   for H, the join of T(2h, .) for h = H 2^step_log2. T(2h, r) has floor(n / 2h) elements, the fewest, and one more
   where r < n mod 2h: the upper side of a pair never has more. */
template <class A, bool COUNTED = A::counted> struct GroupPairs {
    __device__ __forceinline__ GroupPairs(int, int)
    {
    }
    template <int H> __device__ __forceinline__ typename A::Pair of(int) const
    {
        return {};
    }
};

template <class A> struct GroupPairs<A, true> {
    typedef typename A::T T;
    static constexpr int LEVELS = 4;
    int n, step_log2;
    T half[LEVELS];   /* of the fewest */
    T weight[LEVELS]; /* the fewest / (twice as many and one) */

    __device__ __forceinline__ GroupPairs(int of_chunk, int log2) : n(of_chunk), step_log2(log2)
    {
#pragma unroll
        for (int level = 0; level < LEVELS; level++) {
            int fewest = n >> (step_log2 + level + 1);
            half[level] = (T)0.5 * (T)fewest;
            weight[level] = (T)fewest / (T)(2 * fewest + 1);
        }
    }
    /* Of T(2h, lane) and T(2h, lane + h). */
    template <int H> __device__ __forceinline__ typename A::Pair of(int lane) const
    {
        constexpr int level = log2_constant(H);
        const int h = H << step_log2, more = n & (2 * h - 1);
        typename A::Pair pair = {};
        pair.equal = (lane < more) == (lane + h < more);
        pair.half = lane < more ? half[level] + (T)0.5 : half[level];
        pair.greater = pair.half + pair.half;
        pair.weight = weight[level];
        return pair;
    }
};

/* Of as many elements on either side. */
template <class A> RDX_DEVICE typename A::Pair pair_of_equals(int count)
{
    typename A::Pair pair = {};
    if constexpr (A::counted) {
        pair.equal = true;
        pair.half = (typename A::T)0.5 * (typename A::T)count;
    }
    return pair;
}

/* Of T(2h, lane) and T(2h, lane + h) of n elements, h = 2^h_log2. */
template <class A> RDX_DEVICE typename A::Pair pair_of_lanes(int n, int lane, int h_log2)
{
    typedef typename A::T T;
    typename A::Pair pair = {};
    if constexpr (A::counted) {
        int h = 1 << h_log2, more = n & (2 * h - 1), fewest = n >> (h_log2 + 1), lower = fewest + (lane < more);
        pair.equal = lower == fewest + (lane + h < more);
        pair.half = (T)0.5 * (T)lower;
        pair.greater = (T)lower;
        if (!pair.equal)
            pair.weight = (T)fewest / (T)(2 * fewest + 1);
    }
    return pair;
}

/* lower := join(lower, upper) of E columns; whether the counts are equal is asked once. */
template <class A, int E>
RDX_DEVICE void join_vectors(typename A::Node *lower, const typename A::Node *upper, typename A::Pair pair)
{
    auto join = [&]() RDX_INLINED {
#pragma unroll
        for (int e = 0; e < E; e++)
            lower[e] = A::join(lower[e], upper[e], &pair);
    };
    if constexpr (A::counted && E > 1) {
        bool equal = pair.equal;
        pair.equal = true;
        if (equal) {
            join();
        } else {
            pair.equal = false;
            join();
        }
    } else {
        join();
    }
}

/* Whether lane R of a group is the upper one of its first join, whose lower one is there too. */
template <class Group, int R> RDX_DEVICE constexpr bool is_upper()
{
    return Group::LANES > 1 && R >= Group::LANES / 2;
}

/* T(H, R) of a Group of LANES lanes, of E columns: lane<R> makes a lane's nodes, is_there(R) says whether the group has
   lane R, pair<H>(R) what their joins ask for; ALONE: a lane is one element. */
template <class Group, int H = 1, int R = 0> RDX_DEVICE void join_group(const Group &group, typename Group::Node *node)
{
    typedef typename Group::A A;
    if constexpr (H == Group::LANES) {
        group.template lane<R>(node);
    } else {
        join_group<Group, 2 * H, R>(group, node);
        if (group.is_there(R + H)) {
            typename Group::Node upper[Group::E];
            join_group<Group, 2 * H, R + H>(group, upper);
            if constexpr (Group::ALONE && 2 * H == Group::LANES)
                join_vectors<A, Group::E>(node, upper, pair_of_equals<A>(1));
            else
                join_vectors<A, Group::E>(node, upper, group.template pair<H>(R));
        }
    }
}

} // namespace rdx
#endif
