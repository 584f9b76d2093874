/* What lanes in registers make of vectors that are there: a state for each lane, or one for all. Streams of them are
   lanes.cuh's. */
#ifndef RDX_KERNELS_CUDA_LANE_STATES_CUH
#define RDX_KERNELS_CUDA_LANE_STATES_CUH

#include "greatest.cuh"
#include "twice.cuh"

namespace rdx
{

/* Element e of a thread's vectors, line after line, is a lane. ROWS: they are lanes of one output, else of neighbouring
   ones. RAGGED: see LaneReader. */
template <class K, bool ROWS, bool RAGGED = ROWS> struct LaneStates : LaneReader<K, RAGGED> {
    typedef LaneReader<K, RAGGED> Reader;
    typedef typename K::A A;
    typedef typename A::T T;
    typedef typename A::Node Node;
    using Reader::E;
    using Reader::G;
    using Reader::p;
    /* Of rows, exact ops take all elements of a thread into one state; those that find an index keep lanes apart until
       they know theirs. */
    static constexpr bool one_state = ROWS && is_exact<A>() && !A::indexed;
    static constexpr int STATES = one_state ? 1 : E;
    /* Whether vectors are compared before anything is made of an element (greatest.cuh). */
    template <class In> static __device__ __forceinline__ constexpr bool compares_vectors()
    {
        return compares_numbers<A, In>() || compares_both<A, In>() || compares_bytes<A, In>() || ranks_bytes<A, In>();
    }
    /* Of elements in ascending order of their index, where there is one. */
    typedef typename std::conditional<A::indexed, Winner<A>, Step<A>>::type First;

    /* What of the states has to be something before the lanes that are there are folded: see clear_lanes and
       clear_bytes; an index is made of each lane's line, there or not. */
    template <class S> static __device__ __forceinline__ void clear(typename S::State *state)
    {
        clear_lanes<A>(state, STATES);
        clear_bytes<S>(state);
#pragma unroll
        for (int e = 0; S::remembers && e < STATES; e++)
            state[e] = {};
    }

    /* COUNT vectors of lanes that are all there, and a frequent map: what there is most of. */
    template <class S, class In, int MAP, int COUNT = G>
    __device__ __forceinline__ void fold(typename S::State *state, const Vector<16> *got, int v) const
    {
        if constexpr (COUNT > 1 && compares_vectors<In>()) {
            fold_greatest<S, In, MAP, COUNT>(state, got, v);
        } else if constexpr (adds_bytes<A, In>()) {
            add_vectors_of_bytes<In, MAP, COUNT>(state, got);
        } else {
#pragma unroll
            for (int u = 0; u < COUNT; u++) {
                bool begins = u == 0 && v == 0;
#pragma unroll
                for (int e = 0; e < E; e++) {
                    T x, y;
                    read_element<A, In, MAP>(p.recipe, got[u].word, e * K::size, x, y);
                    typename S::State &own = state[one_state ? 0 : e];
                    if (begins && (!one_state || e == 0))
                        own = S::begin(x, y, 0);
                    else
                        own = S::next(own, x, y, v + u, 0);
                }
            }
        }
    }

    /* What the first `there` of COUNT vectors, one at least, come to where numbers are compared: one vector more, of
       the greatest. */
    template <class S, class In, int MAP, int COUNT>
    __device__ __forceinline__ void fold_greatest(typename S::State *state, const Vector<16> *got, int v,
                                                  int there = COUNT) const
    {
        if constexpr (K::size == 1) {
            auto take = [&](int e, uint32_t top, int u) {
                T x, y;
                read_top<A, In, MAP>(p.recipe, top, x, y);
                state[e] = v == 0 ? begin_at<S>(x, y, u) : S::next(state[e], x, y, v + u, 0);
            };
            with_omit<In>(p.recipe, [&](auto omit) {
                if constexpr (one_state)
                    take(0, greatest_byte<In, omit, COUNT>(p.recipe, got, there), 0);
                else
                    greatest_bytes<In, omit, COUNT, A::indexed, S::latest>(p.recipe, got, there, take);
            });
            return;
        }
        Vector<16> greatest = greatest_of<In, COUNT>(p.recipe, got, there);
        if constexpr (!A::indexed) {
            fold<S, In, MAP, 1>(state, &greatest, v);
            if constexpr (compares_both<A, In>()) {
                Vector<16> least = greatest_of<In, COUNT, true>(p.recipe, got, there);
                fold<S, In, MAP, 1>(state, &least, v + 1);
            }
        } else {
            Vector<16> found = vector_of<In, S::latest, COUNT>(p.recipe, got, greatest, there);
#pragma unroll
            for (int e = 0; e < E; e++) {
                T x, y;
                int line = v + (int)bits_at<K::size>(found.word, e * K::size);
                read_element<A, In, MAP>(p.recipe, greatest.word, e * K::size, x, y);
                state[e] = v == 0 ? begin_at<S>(x, y, line) : S::next(state[e], x, y, line, 0);
            }
        }
    }

    /* A line in which lanes end; `begun`: a state that takes all elements has one. */
    template <class S, class In, int MAP, class Count>
    __device__ __forceinline__ void fold_ends(typename S::State *state, const Vector<16> &raw, int line, Count count,
                                              bool &begun) const
    {
#pragma unroll
        for (int e = 0; e < E; e++) {
            T x, y;
            if (RAGGED && line >= count(e))
                continue;
            read_element<A, In, MAP>(p.recipe, raw.word, e * K::size, x, y);
            typename S::State &own = state[one_state ? 0 : e];
            own = (one_state ? !begun : line == 0) ? S::begin(x, y, 0) : S::next(own, x, y, line, 0);
            begun = true;
        }
    }

    /* What begins in vector v remembers that one. */
    template <class S> static __device__ __forceinline__ typename S::State begin_at(T x, T y, int v)
    {
        typename S::State state = S::begin(x, y, 0);
        if constexpr (S::remembers)
            state.line = (T)v;
        return state;
    }

    /* Lanes that are late have their first line in vector 1. The vector in which that matters: of one state 0, which
       takes only the others; else 1, with which they begin. The last element of a vector never is late. */
    template <class S, class In, int MAP, class Late>
    __device__ __forceinline__ void fold_late(typename S::State *state, const Vector<16> &raw, int v,
                                              Late is_late) const
    {
#pragma unroll
        for (int e = E - 1; e >= 0; e--) {
            T x, y;
            read_element<A, In, MAP>(p.recipe, raw.word, e * K::size, x, y);
            typename S::State &own = state[one_state ? 0 : e];
            if (one_state && e + 1 == E)
                own = S::begin(x, y, 0);
            else if (is_late(e) != one_state)
                own = one_state ? S::next(own, x, y, v, 0) : begin_at<S>(x, y, v);
            else if (!one_state)
                own = S::next(own, x, y, v, 0);
        }
    }

    /* Vector v, in or before which lanes end, some of which may be late. */
    template <class S, class In, int MAP, class Count, class Late>
    __device__ __forceinline__ void fold_late_ends(typename S::State *state, const Vector<16> &raw, int v, Count count,
                                                   Late is_late, bool &begun) const
    {
#pragma unroll
        for (int e = 0; e < E; e++) {
            T x, y;
            int line = v - is_late(e);
            if (line < 0 || line >= count(e))
                continue;
            read_element<A, In, MAP>(p.recipe, raw.word, e * K::size, x, y);
            typename S::State &own = state[one_state ? 0 : e];
            own = (one_state ? !begun : line == 0) ? begin_at<S>(x, y, v) : S::next(own, x, y, v, 0);
            begun = true;
        }
    }

    /* The nodes of the lanes; those of winners are made of which element it was. */
    template <class S, class Count, class Element>
    __device__ __forceinline__ void end(typename S::State *state, Count count, Element element, Node *node) const
    {
        if constexpr (!S::remembers) {
#pragma unroll
            for (int e = 0; e < STATES; e++)
                node[e] = S::end(state[e], A::counted ? count(e) : 0);
        } else if (p.reduce_rank <= 1) {
            int64_t step = p.reduce_rank == 1 ? p.dims[p.keep_rank].out : 0;
#pragma unroll
            for (int e = 0; e < STATES; e++)
                node[e] = A::winner(state[e], p.index_offset + element(e, (int)state[e].line) * step);
        } else {
#pragma unroll 1
            for (int e = 0; e < STATES; e++) {
                Node made = A::winner(state[0], index_of(element(e, (int)state[0].line)));
                rotate(state, STATES, state[0]);
                rotate(node, STATES, made);
            }
        }
    }

  protected:
    __device__ __forceinline__ int64_t index_of(int64_t element) const
    {
        return p.index_offset + seek_reduced(p, element).out;
    }

    /* Sums of 8-bit integers and of truth values take four elements at once, and begin with 0. */
    template <class S> static __device__ __forceinline__ void clear_bytes(typename S::State *state)
    {
        if constexpr (K::size == 1 && A::algebra == RDX_ALGEBRA_ISUM)
#pragma unroll
            for (int e = 0; e < STATES; e++)
                state[e] = S::begin(0, 0, 0);
    }
    template <class In, int MAP, int COUNT, class State>
    __device__ __forceinline__ void add_vectors_of_bytes(State *state, const Vector<16> *got) const
    {
#pragma unroll
        for (int w = 0; w < 4; w++) {
            if constexpr (ROWS) {
#pragma unroll
                for (int u = 0; u < COUNT; u++)
                    state[0].s = add_bytes<In, MAP>(p.recipe, got[u].word[w], (int)state[0].s);
            } else {
                add_lines<In, MAP>(
                    p.recipe, COUNT, [&](int u) { return got[u].word[w]; },
                    [&](int i) -> int & { return state[4 * w + i].s; });
            }
        }
    }
};

} // namespace rdx
#endif
