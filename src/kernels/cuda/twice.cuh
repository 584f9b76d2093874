/* How the vectors of lanes come out of a ring (ring.cuh), turned where rows are crooked; and logsumexp, which looks at them twice. */
#ifndef RDX_KERNELS_CUDA_TWICE_CUH
#define RDX_KERNELS_CUDA_TWICE_CUH

#include "ring.cuh"

namespace rdx
{

/* RAGGED: vectors may be turned, and lanes of a vector differ in their lines by one where the chunk ends. */
template <class K, bool RAGGED> struct LaneReader {
    typedef typename K::A A;
    typedef typename A::T T;
    typedef typename A::Node Node;
    static constexpr int E = K::elements, G = group_vectors;

    const Problem &p;
    const Turn *turn = NULL; /* RAGGED */

    __device__ __forceinline__ bool is_crooked() const
    {
        return RAGGED && turn->crooked;
    }

    __device__ __forceinline__ void straighten(Vector<16> *got, const Vector<16> &next) const
    {
#pragma unroll
        for (int u = 0; u < G; u++)
            got[u] = turn->line(got[u], u + 1 < G ? got[u + 1] : next);
    }

    /* Vector u of a group, straightened; `next`: the group behind it. */
    __device__ __forceinline__ Vector<16> take_straight(SharedAt group, SharedAt next, int u) const
    {
        Vector<16> raw = take(group, u);
        return is_crooked() ? turn->line(raw, u + 1 < G ? take(group, u + 1) : take(next, 0)) : raw;
    }

    /* Calls f(e, x) for the elements of a group that begins with line v. */
    template <class Count, class F>
    __device__ __forceinline__ void each(SharedAt group, SharedAt next, int lines, int v, int whole, Count count,
                                         F &&f) const
    {
        if (v + G <= whole) {
            Vector<16> got[G];
#pragma unroll
            for (int u = 0; u < G; u++)
                got[u] = take(group, u);
            if (is_crooked())
                straighten(got, take(next, 0));
            with_input<K>(p.recipe.in, [&](auto in) {
#pragma unroll
                for (int u = 0; u < G; u++) {
#pragma unroll
                    for (int e = 0; e < E; e++) {
                        T x, y;
                        read_element<A, decltype(in)>(p.recipe, got[u].word, e * K::size, x, y);
                        f(e, x);
                    }
                }
            });
            return;
        }
#pragma unroll 1
        for (int u = 0; u < G && v + u < lines; u++) {
            Vector<16> raw = take_straight(group, next, u);
            with_input<K>(p.recipe.in, [&](auto in) {
#pragma unroll
                for (int e = 0; e < E; e++) {
                    T x, y;
                    read_element<A, decltype(in)>(p.recipe, raw.word, e * K::size, x, y);
                    if (!RAGGED || v + u < count(e))
                        f(e, x);
                }
            });
        }
    }

    /* Both passes over whole groups. */
    template <class In, class R, class Source>
    __device__ __forceinline__ void whole_twice(R &ring, Source &source, int lines, Node *node) const
    {
        T base[E], x, y;
#pragma unroll
        for (int e = 0; e < E; e++)
            node[e] = {A::lowest(), 0};
        ring.await_lane();
#pragma unroll 1
        for (int v = 0; v < lines; v += G) {
#pragma unroll
            for (int u = 0; u < G; u++) {
                Vector<16> raw = take(ring.peek(v / G), u);
#pragma unroll
                for (int e = 0; e < E; e++) {
                    read_element<A, In>(p.recipe, raw.word, e * K::size, x, y);
                    node[e].m = A::greater(node[e].m, x);
                }
            }
        }
#pragma unroll
        for (int e = 0; e < E; e++)
            base[e] = A::base(node[e].m);
#pragma unroll 1
        for (int v = 0; v < lines; v += G) {
            SharedAt at = ring.next_group(source, false);
#pragma unroll
            for (int u = 0; u < G; u++) {
                Vector<16> raw = take(at, u);
#pragma unroll
                for (int e = 0; e < E; e++) {
                    read_element<A, In>(p.recipe, raw.word, e * K::size, x, y);
                    node[e].s = A::add(node[e].s, x, base[e]);
                }
            }
        }
    }

    /* Lanes of which some end. */
    template <class R, class Source, class Count>
    __device__ __forceinline__ void fold_twice(R &ring, Source &source, int lines, int whole, Count count,
                                               Node *node) const
    {
        T base[E];
#pragma unroll
        for (int e = 0; e < E; e++)
            node[e] = {A::lowest(), 0};
        ring.await_lane();
#pragma unroll 1
        for (int v = 0; v < lines; v += G)
            each(ring.peek(v / G), ring.peek(v / G + 1), lines, v, whole, count,
                 [&](int e, T x) { node[e].m = A::greater(node[e].m, x); });
#pragma unroll
        for (int e = 0; e < E; e++)
            base[e] = A::base(node[e].m);
#pragma unroll 1
        for (int v = 0; v < lines; v += G) {
            SharedAt at = ring.next_group(source, is_crooked());
            each(at, ring.peek(0), lines, v, whole, count,
                 [&](int e, T x) { node[e].s = A::add(node[e].s, x, base[e]); });
        }
    }
};

} // namespace rdx
#endif
