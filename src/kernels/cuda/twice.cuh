/* How the vectors of lanes come out of a ring (ring.cuh), turned where rows are crooked; and logsumexp, which looks at
   them twice. */
#ifndef RDX_KERNELS_CUDA_TWICE_CUH
#define RDX_KERNELS_CUDA_TWICE_CUH

#include "ring.cuh"

namespace rdx
{

/* The first look at whole vectors: the greatest element of each lane. Those of two bytes are compared as they are, two
   at a time. */
template <class K, class In> struct Greatest {
    typedef typename K::A A;
    typedef typename A::T T;
    static constexpr bool paired = K::size == 2, brain = In::type == RDX_TYPE_BF16;
    static constexpr int E = K::elements, STATES = paired ? E / 2 : E;

    const RdxRecipe &recipe;
    typename std::conditional<paired, uint32_t, T>::type top[STATES];

    __device__ __forceinline__ explicit Greatest(const RdxRecipe &r) : recipe(r)
    {
#pragma unroll
        for (int i = 0; i < STATES; i++) {
            if constexpr (paired)
                top[i] = brain ? 0xff80ff80u : 0xfc00fc00u; /* -inf */
            else
                top[i] = A::lowest();
        }
    }

    template <int COUNT> __device__ __forceinline__ void look(const Vector<16> *got)
    {
#pragma unroll
        for (int u = 0; u < COUNT; u++) {
#pragma unroll
            for (int i = 0; i < STATES; i++) {
                if constexpr (paired) {
                    top[i] = greater_pair<brain>(top[i], got[u].word[i], A::omit);
                } else {
                    T x, y;
                    read_element<A, In>(recipe, got[u].word, i * K::size, x, y);
                    top[i] = A::greater(top[i], x);
                }
            }
        }
    }

    __device__ __forceinline__ void end(typename A::Node *node) const
    {
#pragma unroll
        for (int e = 0; e < E; e++) {
            if constexpr (paired)
                node[e] = {(T)In::part(top, e * K::size), 0};
            else
                node[e] = {top[e], 0};
        }
    }
};

/* The second look, whose sums are relative to the first. */
template <class K, class In, int COUNT>
RDX_DEVICE void add_vectors(const RdxRecipe &recipe, const Vector<16> *got, typename K::A::Node *node)
{
    typedef typename K::A A;
#pragma unroll
    for (int u = 0; u < COUNT; u++) {
#pragma unroll
        for (int e = 0; e < K::elements; e++) {
            typename A::T x, y;
            read_element<A, In>(recipe, got[u].word, e * K::size, x, y);
            node[e].s = A::add(node[e].s, x, node[e].m);
        }
    }
}

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
                turn->template straighten<G>(got, take(next, 0));
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
        Greatest<K, In> greatest(p.recipe);
        ring.await_lane();
#pragma unroll 1
        for (int v = 0; v < lines; v += G) {
            Vector<16> got[G];
#pragma unroll
            for (int u = 0; u < G; u++)
                got[u] = take(ring.peek(v / G), u);
            greatest.template look<G>(got);
        }
        greatest.end(node);
#pragma unroll 1
        for (int v = 0; v < lines; v += G) {
            Vector<16> got[G];
            ring.next_group(source, false, got);
            add_vectors<K, In, G>(p.recipe, got, node);
        }
    }

    /* Lanes of which some end. */
    template <class R, class Source, class Count>
    __device__ __forceinline__ void fold_twice(R &ring, Source &source, int lines, int whole, Count count,
                                               Node *node) const
    {
#pragma unroll
        for (int e = 0; e < E; e++)
            node[e] = {A::lowest(), 0};
        ring.await_lane();
#pragma unroll 1
        for (int v = 0; v < lines; v += G)
            each(ring.peek(v / G), ring.peek(v / G + 1), lines, v, whole, count,
                 [&](int e, T x) { node[e].m = A::greater(node[e].m, x); });
#pragma unroll 1
        for (int v = 0; v < lines; v += G) {
            SharedAt at = ring.next_group(source, is_crooked());
            each(at, ring.peek(0), lines, v, whole, count,
                 [&](int e, T x) { node[e].s = A::add(node[e].s, x, node[e].m); });
        }
    }
};

} // namespace rdx
#endif
