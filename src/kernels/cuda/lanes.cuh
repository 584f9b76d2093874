/* The lanes that a thread folds from its stream (ring.cuh): whole groups of a frequent map on straight paths, what is ragged or rare on general ones. */
#ifndef RDX_KERNELS_CUDA_LANES_CUH
#define RDX_KERNELS_CUDA_LANES_CUH

#include "greatest.cuh"
#include "twice.cuh"

namespace rdx
{

/* Folds lanes: element e of a thread's vectors, line after line, is a lane. ROWS: they are lanes of one output, else of neighbouring ones. RAGGED: see LaneReader. */
template <class K, bool ROWS, bool RAGGED = ROWS> struct Lanes : LaneReader<K, RAGGED> {
    typedef LaneReader<K, RAGGED> Reader;
    typedef typename K::A A;
    typedef typename A::T T;
    typedef typename A::Node Node;
    using Reader::E;
    using Reader::G;
    using Reader::p;
    /* Of rows, exact ops take all elements of a thread into one state; those that find an index keep lanes apart until they know theirs. */
    static constexpr bool one_state = ROWS && is_exact<A>() && !A::indexed;
    static constexpr int STATES = one_state ? 1 : E;
    /* Whether vectors are compared before anything is made of an element (greatest.cuh). */
    template <class In> static __device__ __forceinline__ constexpr bool compares_vectors()
    {
        return compares_numbers<A, In>() || compares_both<A, In>() || compares_bytes<A, In>() || ranks_bytes<A, In>();
    }
    /* Of elements in ascending order of their index, where there is one. */
    typedef typename std::conditional<A::indexed, Winner<A>, Step<A>>::type First;
    static constexpr bool few =
        E <= 4; /* loops over vectors of more are not unrolled: so much code is slow to compile */

    /* lines: of the longest lane; whole: of the shortest lane of the warp; count(e): of lane e; element(e, line): which one of the
       output's it is. */
    template <class R, class Source, class Count, class Element>
    __device__ __forceinline__ void run(R &ring, Source &source, int lines, int whole, Count count, Element element,
                                        Node *node) const
    {
        if constexpr (A::two_passes)
            this->fold_twice(ring, source, lines, whole, count, node);
        else if constexpr (!A::indexed)
            fold_once<Step<A>>(ring, source, lines, whole, count, element, node);
        else if (p.shape.ascending)
            fold_once<Winner<A>>(ring, source, lines, whole, count, element, node);
        else
            fold_backwards(ring, source, lines, whole, count, element, node);
    }

    /* The same where all lanes have `lines`, a multiple of a group, and no vector is turned; false, and nothing is done, where the recipe
       is a rare one. */
    template <class R, class Source, class Element>
    __device__ __forceinline__ bool run_whole(R &ring, Source &source, int lines, Element element, Node *node) const
    {
        if constexpr (A::two_passes) {
            with_input<K>(p.recipe.in,
                          [&](auto in) { this->template whole_twice<decltype(in)>(ring, source, lines, node); });
            return true;
        } else {
            if (!is_frequent())
                return false;
            typename First::State state[STATES];
            clear_bytes<First>(state);
            Vector<16> got[G];
            /* What asks for the dtype in every turn is a quarter of the code. Columns of few elements a vector are up to 3% faster
               without. */
            if constexpr (few && !RAGGED) {
                with_frequent<K>(p.recipe, [&](auto in, auto map) {
#pragma unroll 1
                    for (int v = 0; v < lines; v += G) {
                        ring.next_group(source, false, got);
                        fold<First, decltype(in), decltype(map)::value>(state, got, v);
                    }
                });
            } else {
#pragma unroll 1
                for (int v = 0; v < lines; v += G) {
                    ring.next_group(source, false, got);
                    with_frequent<K>(p.recipe, [&](auto in, auto map) {
                        fold<First, decltype(in), decltype(map)::value>(state, got, v);
                    });
                }
            }
            end<First>(
                state, [&](int) { return lines; }, element, node);
            return true;
        }
    }

    /* Columns: a group that holds lanes of LINES lines, all of them there, joined by adjacent pairs; element(lane, line). */
    template <int LINES, class R, class Source, class Element>
    __device__ __forceinline__ bool run_few(R &ring, Source &source, Element element, Node *node) const
    {
        constexpr int LANES = G / LINES;
        static_assert(G == 4, "two levels of joins");
        if constexpr (A::two_passes) {
            return false;
        } else {
            if (!is_frequent())
                return false;
            typename First::State state[E];
            Vector<16> got[G];
            Node held[2][E] = {};
            SharedAt at = ring.next_group(source, false, few ? got : NULL);
            auto keep = [&](int l) {
                end<First>(
                    state, [](int) { return LINES; }, [&](int, int line) { return element(l, line); }, node);
#pragma unroll
                for (int e = 0; e < E; e++) {
                    if (l & 1)
                        node[e] = join_full<A>(held[0][e], node[e], LINES, LINES);
                    else
                        held[0][e] = node[e];
                    if (l == 3)
                        node[e] = join_full<A>(held[1][e], node[e], 2 * LINES, 2 * LINES);
                    else if (l & 1)
                        held[1][e] = node[e];
                }
            };
            if constexpr (few) {
                with_frequent<K>(p.recipe, [&](auto in, auto map) {
#pragma unroll
                    for (int l = 0; l < LANES; l++) {
                        fold<First, decltype(in), decltype(map)::value, LINES>(state, got + l * LINES, 0);
                        keep(l);
                    }
                });
            } else {
#pragma unroll 1
                for (int l = 0; l < LANES; l++) {
#pragma unroll
                    for (int line = 0; line < LINES; line++)
                        got[line] = take(at, l * LINES + line);
                    with_frequent<K>(p.recipe, [&](auto in, auto map) {
                        fold<First, decltype(in), decltype(map)::value, LINES>(state, got, 0);
                    });
                    keep(l);
                }
            }
            return true;
        }
    }

    /* The same for a lane of few lines, from vector `first` on in a group that is there. */
    template <class Count, class Element>
    __device__ __forceinline__ void run_here(SharedAt group, int first, int lines, Count count, Element element,
                                             Node *node) const
    {
        SharedAt at = group + first * line_bytes;
        if constexpr (A::two_passes) {
#pragma unroll
            for (int e = 0; e < E; e++)
                node[e] = {A::lowest(), 0};
            this->each(at, at, lines, 0, 0, count, [&](int e, T x) { node[e].m = A::greater(node[e].m, x); });
            this->each(at, at, lines, 0, 0, count, [&](int e, T x) { node[e].s = A::add(node[e].s, x, node[e].m); });
        } else {
            typename Step<A>::State state[STATES];
            bool begun = false;
            clear_lanes<A>(state, STATES);
            part<Step<A>>(state, at, at, lines, 0, count, element, begun);
            end<Step<A>>(state, count, element, node);
        }
    }

    /* What of the states has to be something before the lanes that are there are folded: see clear_lanes and clear_bytes; an index is made
       of each lane's line, there or not. */
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

    /* What the first `there` of COUNT vectors, one at least, come to where numbers are compared: one vector more, of the greatest. */
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

    /* Lanes that are late have their first line in vector 1. The vector in which that matters: of one state 0, which takes only the others;
       else 1, with which they begin. The last element of a vector never is late. */
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

  private:
    /* Whether the recipe is what nearly all are: a frequent map, and indices that need not be compared. */
    __device__ __forceinline__ bool is_frequent() const
    {
        return (!A::indexed || p.shape.ascending) && with_map<A>(p.recipe, [](auto) {});
    }

    template <class S, class R, class Source, class Count, class Element>
    __device__ __forceinline__ void fold_once(R &ring, Source &source, int lines, int whole, Count count,
                                              Element element, Node *node) const
    {
        typename S::State state[STATES];
        bool begun = false;
        clear<S>(state);
#pragma unroll 1
        for (int v = 0; v < lines; v += G) {
            Vector<16> got[G];
            SharedAt at = ring.next_group(source, this->is_crooked(), got), next = ring.peek(0);
            bool done = false;
            if constexpr (!S::indexed) {
                done = with_frequent<K>(p.recipe, [&](auto in, auto map) {
                    if (v + G > whole) {
                        fold_ragged<S, decltype(in), decltype(map)::value>(state, at, next, v, lines, count, begun);
                        return;
                    }
                    if (this->is_crooked())
                        this->turn->template straighten<G>(got, take(next, 0));
                    fold<S, decltype(in), decltype(map)::value>(state, got, v);
                });
            }
            if constexpr (!S::remembers) { /* indexed ops have no rare maps */
                if (!done)
                    part<S>(state, at, next, lines, v, count, element, begun);
            }
            begun = begun || v + G <= whole;
        }
        end<S>(state, count, element, node);
    }

    /* Of rows whose indices descend the last winner counts; whatever else is indexed is compared with its index. */
    template <class R, class Source, class Count, class Element>
    __device__ __forceinline__ void fold_backwards(R &ring, Source &source, int lines, int whole, Count count,
                                                   Element element, Node *node) const
    {
        if constexpr (ROWS) {
            if (p.shape.descending) {
                fold_once<LatestWinner<A>>(ring, source, lines, whole, count, element, node);
                return;
            }
        }
        fold_once<Step<A>>(ring, source, lines, 0, count, element, node);
    }

    __device__ __forceinline__ int64_t index_of(int64_t element) const
    {
        return p.index_offset + seek_reduced(p, element).out;
    }

    /* A group of which lanes end: a line after the other where it has many elements. */
    template <class S, class In, int MAP, class Count>
    __device__ __forceinline__ void fold_ragged(typename S::State *state, SharedAt group, SharedAt next, int v,
                                                int lines, Count count, bool &begun) const
    {
#pragma unroll(few ? G : 1)
        for (int u = 0; u < G; u++) {
            if (v + u >= lines)
                break;
            fold_ends<S, In, MAP>(state, this->take_straight(group, next, u), v + u, count, begun);
        }
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

    /* Any group: what is rare, so an element after the other. The vector and the states go round, and the code knows the first alone. */
    template <class S, class Count, class Element>
    __device__ __forceinline__ void part(typename S::State *state, SharedAt group, SharedAt next, int lines, int v,
                                         Count count, Element element, bool &begun) const
    {
#pragma unroll 1
        for (int u = 0; u < G && v + u < lines; u++) {
            int line = v + u;
            Vector<16> raw = this->take_straight(group, next, u);
#pragma unroll 1
            for (int e = 0; e < E; e++) {
                if (!RAGGED || line < count(e)) {
                    T x, y;
                    with_input<K>(p.recipe.in,
                                  [&](auto in) { read_element<A, decltype(in)>(p.recipe, raw.word, 0, x, y); });
                    int64_t index = S::indexed ? index_of(element(e, line)) : 0;
                    state[0] =
                        (one_state ? !begun : line == 0) ? S::begin(x, y, index) : S::next(state[0], x, y, line, index);
                    begun = true;
                }
                drop_element<K::size>(raw.word);
                rotate(state, STATES, state[0]);
            }
        }
    }
};

} // namespace rdx
#endif
