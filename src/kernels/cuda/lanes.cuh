/* The lanes that a thread folds from its stream (ring.cuh): whole groups of a frequent map on straight paths, what is ragged or rare on
   general ones. */
#ifndef RDX_KERNELS_CUDA_LANES_CUH
#define RDX_KERNELS_CUDA_LANES_CUH

#include "ring.cuh"

namespace rdx
{

/* Rows that start inside a line: the first `before` bytes of each line belong to the line before (rows.cuh). */
struct Turn {
    bool crooked;
    uint32_t mask[4]; /* of this thread's vectors: what it takes from the next one */

    __device__ __forceinline__ Turn(int before, int thread) : crooked(before > 0)
    {
#pragma unroll
        for (int w = 0; w < 4; w++) {
            int bytes = before - 16 * thread - 4 * w;
            mask[w] = bytes >= 4 ? 0xffffffffu : bytes <= 0 ? 0 : (1u << 8 * bytes) - 1;
        }
    }

    __device__ __forceinline__ Vector<16> line(const Vector<16> &here, const Vector<16> &next) const
    {
        Vector<16> v;
#pragma unroll
        for (int w = 0; w < 4; w++)
            v.word[w] = (here.word[w] & ~mask[w]) | (next.word[w] & mask[w]);
        return v;
    }
};

/* Folds lanes: element e of a thread's vectors, line after line, is a lane. ROWS: they are lanes of one output, else of
   neighbouring ones. RAGGED: vectors may be turned, and lanes of a vector differ in their lines by one where the chunk ends. */
template <class K, bool ROWS, bool RAGGED = ROWS> struct Lanes {
    typedef typename K::A A;
    typedef typename A::T T;
    typedef typename A::Node Node;
    static constexpr int E = K::elements, G = group_vectors;
    /* Of rows, exact ops take all elements of a thread into one state; those that find an index keep lanes apart until they know theirs. */
    static constexpr bool one_state = ROWS && is_exact<A>() && !A::indexed;
    static constexpr int STATES = one_state ? 1 : E;

    const Problem &p;
    const Turn *turn = NULL; /* RAGGED */

    /* lines: of the longest lane; whole: of the shortest lane of the warp; count(e): of lane e; index(e, line): logical. */
    template <class R, class Source, class Count, class Index>
    __device__ __forceinline__ void run(R &ring, Source &source, int lines, int whole, Count count, Index index,
                                        Node *node) const
    {
        if constexpr (A::two_passes)
            fold_twice(ring, source, lines, whole, count, node);
        else if constexpr (!A::indexed)
            fold_once<Step<A>>(ring, source, lines, whole, count, index, node);
        else if (p.shape.ascending)
            fold_once<Winner<A>>(ring, source, lines, whole, count, index, node);
        else
            fold_once<Step<A>>(ring, source, lines, 0, count, index, node);
    }

    /* The same where all lanes have `lines`, a multiple of a group, and no vector is turned; false, and nothing is done, where the recipe
       is a rare one. */
    template <class R, class Source, class Index>
    __device__ __forceinline__ bool run_whole(R &ring, Source &source, int lines, Index index, Node *node) const
    {
        if constexpr (A::two_passes) {
            with_input<K>(p.recipe.in, [&](auto in) { whole_twice<decltype(in)>(ring, source, lines, node); });
            return true;
        } else {
            typedef typename std::conditional<A::indexed, Winner<A>, Step<A>>::type S;
            return is_frequent([&](auto in, auto map) {
                typename S::State state[STATES];
                Vector<16> got[G];
                clear_bytes(state);
                auto step = [&](int v) {
                    ring.next_group(source, false, got);
                    fold<S, decltype(in), decltype(map)::value>(state, got, v);
                };
                if (RAGGED && E <= 4 && lines == 16) {
#pragma unroll
                    for (int v = 0; v < 16; v += G)
                        step(v);
                } else {
#pragma unroll 1
                    for (int v = 0; v < lines; v += G)
                        step(v);
                }
                end<S>(
                    state, [&](int) { return lines; }, index, node);
            });
        }
    }

    /* Columns: a group that holds lanes of LINES lines, all of them there, joined by adjacent pairs; index(e, lane, line). */
    template <int LINES, class R, class Source, class Index>
    __device__ __forceinline__ bool run_few(R &ring, Source &source, Index index, Node *node) const
    {
        if constexpr (A::two_passes) {
            return false;
        } else {
            typedef typename std::conditional<A::indexed, Winner<A>, Step<A>>::type S;
            return is_frequent([&](auto in, auto map) {
                constexpr int LANES = G / LINES;
                Vector<16> got[G];
                Node lane[LANES][E];
                ring.next_group(source, false, got);
#pragma unroll
                for (int l = 0; l < LANES; l++) {
                    typename S::State state[E];
                    fold<S, decltype(in), decltype(map)::value, LINES>(state, got + l * LINES, 0);
                    end<S>(
                        state, [](int) { return LINES; }, [&](int e, int line) { return index(e, l, line); }, lane[l]);
                }
#pragma unroll
                for (int step = 1; step < LANES; step *= 2)
#pragma unroll
                    for (int l = 0; l < LANES; l += 2 * step)
#pragma unroll
                        for (int e = 0; e < E; e++)
                            lane[l][e] = join_full<A>(lane[l][e], lane[l + step][e], step * LINES, step * LINES);
#pragma unroll
                for (int e = 0; e < E; e++)
                    node[e] = lane[0][e];
            });
        }
    }

    /* The same for a lane of few lines, from vector `first` on in a group that is there. */
    template <class Count, class Index>
    __device__ __forceinline__ void run_here(SharedAt group, int first, int lines, Count count, Index index,
                                             Node *node) const
    {
        SharedAt at = group + first * line_bytes;
        if constexpr (A::two_passes) {
            T base[E];
#pragma unroll
            for (int e = 0; e < E; e++)
                node[e] = {A::lowest(), 0};
            each(at, at, lines, 0, 0, count, [&](int e, T x) { node[e].m = A::greater(node[e].m, x); });
#pragma unroll
            for (int e = 0; e < E; e++)
                base[e] = A::base(node[e].m);
            each(at, at, lines, 0, 0, count, [&](int e, T x) { node[e].s = A::add(node[e].s, x, base[e]); });
        } else {
            typename Step<A>::State state[STATES];
            bool begun = false;
            clear_lanes<A>(state, STATES);
            part<Step<A>>(state, at, at, lines, 0, count, index, begun);
            end<Step<A>>(state, count, index, node);
        }
    }

  private:
    /* Calls f with the input's type and a frequent map; false where it is a rare one, or indices have to be compared. */
    template <class F> __device__ __forceinline__ bool is_frequent(F &&f) const
    {
        if (A::indexed && !p.shape.ascending)
            return false;
        return with_map<A>(p.recipe, [&](auto map) { with_input<K>(p.recipe.in, [&](auto in) { f(in, map); }); });
    }

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

    template <class S, class R, class Source, class Count, class Index>
    __device__ __forceinline__ void fold_once(R &ring, Source &source, int lines, int whole, Count count, Index index,
                                              Node *node) const
    {
        typename S::State state[STATES];
        Vector<16> got[G];
        bool begun = false;
        clear_lanes<A>(state, STATES);
        clear_bytes(state);
        if constexpr (S::remembers) { /* an index is made of each lane's line, there or not */
#pragma unroll
            for (int e = 0; e < STATES; e++)
                state[e] = {};
        }
#pragma unroll 1
        for (int v = 0; v < lines; v += G) {
            SharedAt at = ring.next_group(source, is_crooked(), got);
            bool done = false;
            if constexpr (!S::indexed) {
                if (is_crooked())
                    straighten(got, take(ring.peek(0), 0));
                done = is_frequent([&](auto in, auto map) {
                    if (v + G <= whole)
                        fold<S, decltype(in), decltype(map)::value>(state, got, v);
                    else
                        fold_ragged<S, decltype(in), decltype(map)::value>(state, got, v, lines, count, begun);
                });
            }
            if (!done)
                part<S>(state, at, ring.peek(0), lines, v, count, index, begun);
            begun = begun || v + G <= whole;
        }
        end<S>(state, count, index, node);
    }

    template <class R, class Source, class Count>
    __device__ __forceinline__ void fold_twice(R &ring, Source &source, int lines, int whole, Count count,
                                               Node *node) const
    {
        T m[E], base[E];
#pragma unroll
        for (int e = 0; e < E; e++) {
            m[e] = A::lowest();
            node[e].s = 0;
        }
        ring.await_lane();
#pragma unroll 1
        for (int v = 0; v < lines; v += G)
            each(ring.peek(v / G), ring.peek(v / G + 1), lines, v, whole, count,
                 [&](int e, T x) { m[e] = A::greater(m[e], x); });
#pragma unroll
        for (int e = 0; e < E; e++) {
            node[e].m = m[e];
            base[e] = A::base(m[e]);
        }
#pragma unroll 1
        for (int v = 0; v < lines; v += G) {
            SharedAt at = ring.next_group(source, is_crooked());
            each(at, ring.peek(0), lines, v, whole, count,
                 [&](int e, T x) { node[e].s = A::add(node[e].s, x, base[e]); });
        }
    }

    template <class S, class Count, class Index>
    __device__ __forceinline__ void end(const typename S::State *state, Count count, Index index, Node *node) const
    {
#pragma unroll
        for (int e = 0; e < STATES; e++) {
            if constexpr (S::remembers)
                node[e] = A::winner(state[e], index(e, (int)state[e].line));
            else
                node[e] = S::end(state[e], A::counted ? count(e) : 0);
        }
    }

    /* Calls f(e, x, y, line) for the elements that are there, of a group that begins with line v. */
    template <class Count, class F>
    __device__ __forceinline__ void one_by_one(SharedAt group, SharedAt next, int lines, int v, Count count,
                                               F &&f) const
    {
#pragma unroll 1
        for (int u = 0; u < G && v + u < lines; u++) {
            Vector<16> raw = take(group, u);
            if (is_crooked())
                raw = turn->line(raw, u + 1 < G ? take(group, u + 1) : take(next, 0));
            with_input<K>(p.recipe.in, [&](auto in) {
#pragma unroll
                for (int e = 0; e < E; e++) {
                    T x, y;
                    read_element<A, decltype(in)>(p.recipe, raw.word, e * K::size, x, y);
                    if (!RAGGED || v + u < count(e))
                        f(e, x, y, v + u);
                }
            });
        }
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
        one_by_one(group, next, lines, v, count, [&](int e, T x, T, int) { f(e, x); });
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

    /* COUNT vectors of lanes that are all there, and a frequent map: what there is most of. */
    template <class S, class In, int MAP, int COUNT = G>
    __device__ __forceinline__ void fold(typename S::State *state, const Vector<16> *got, int v) const
    {
#pragma unroll
        for (int u = 0; u < COUNT; u++) {
            bool begins = u == 0 && v == 0;
            if constexpr (counts_bytes<A, In, MAP>()) {
                count_bytes<In, MAP>(state, got[u].word);
            } else {
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

    /* A group of which lanes end. */
    template <class S, class In, int MAP, class Count>
    __device__ __forceinline__ void fold_ragged(typename S::State *state, const Vector<16> *got, int v, int lines,
                                                Count count, bool &begun) const
    {
#pragma unroll
        for (int u = 0; u < G; u++) {
            if (v + u >= lines)
                continue;
#pragma unroll
            for (int e = 0; e < E; e++) {
                T x, y;
                if (RAGGED && v + u >= count(e))
                    continue;
                read_element<A, In, MAP>(p.recipe, got[u].word, e * K::size, x, y);
                typename S::State &own = state[one_state ? 0 : e];
                if (one_state ? !begun : u == 0 && v == 0)
                    own = S::begin(x, y, 0);
                else
                    own = S::next(own, x, y, v + u, 0);
                begun = true;
            }
        }
    }

    /* Sums of 8-bit integers and of truth values take four elements at once, and begin with 0. */
    template <class B, class In, int MAP> static __device__ __forceinline__ constexpr bool counts_bytes()
    {
        return ROWS && K::size == 1 && B::algebra == RDX_ALGEBRA_ISUM && In::integral && E == 16;
    }
    template <class State> static __device__ __forceinline__ void clear_bytes(State *state)
    {
        if constexpr (ROWS && K::size == 1 && A::algebra == RDX_ALGEBRA_ISUM) {
            state[0] = A::lift(0, 0);
        }
    }
    template <class In, int MAP>
    static __device__ __forceinline__ void count_bytes(typename Step<A>::State *state, const uint32_t *word)
    {
#pragma unroll
        for (int w = 0; w < 4; w++)
            state[0].s = add_bytes<In, MAP>(word[w], (int)state[0].s);
    }

    /* Any group. */
    template <class S, class Count, class Index>
    __device__ __forceinline__ void part(typename S::State *state, SharedAt group, SharedAt next, int lines, int v,
                                         Count count, Index index, bool &begun) const
    {
        one_by_one(group, next, lines, v, count, [&](int e, T x, T y, int line) {
            int64_t at = S::indexed ? index(e, line) : 0;
            typename S::State &own = state[one_state ? 0 : e];
            own = (one_state ? !begun : line == 0) ? S::begin(x, y, at) : S::next(own, x, y, line, at);
            begun = true;
        });
    }
};

} // namespace rdx
#endif
