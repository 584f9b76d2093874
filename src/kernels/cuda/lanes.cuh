/* The lanes that a thread folds from its stream (ring.cuh): whole groups of a frequent map on straight paths, what is
   ragged or rare on general ones. */
#ifndef RDX_KERNELS_CUDA_LANES_CUH
#define RDX_KERNELS_CUDA_LANES_CUH

#include "lane_states.cuh"

namespace rdx
{

template <class K, bool ROWS, bool RAGGED = ROWS> struct Lanes : LaneStates<K, ROWS, RAGGED> {
    typedef LaneStates<K, ROWS, RAGGED> States;
    using States::E;
    using States::G;
    using States::one_state;
    using States::p;
    using States::STATES;
    using typename States::A;
    using typename States::First;
    using typename States::Node;
    using typename States::T;
    static constexpr bool few =
        E <= 4; /* loops over vectors of more are not unrolled: so much code is slow to compile */

    /* lines: of the longest lane; whole: of the shortest lane of the warp; count(e): of lane e; element(e, line): which
       one of the output's it is. */
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

    /* The same where all lanes have `lines`, a multiple of a group, and no vector is turned; false, and nothing is
       done, where the recipe is a rare one. */
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
            States::template clear_bytes<First>(state);
            Vector<16> got[G];
            /* What asks for the dtype in every turn is a quarter of the code. Columns of few elements a vector are up
               to 3% faster without. */
            if constexpr (few && !RAGGED) {
                with_frequent<K>(p.recipe, [&](auto in, auto map) {
#pragma unroll 1
                    for (int v = 0; v < lines; v += G) {
                        ring.next_group(source, false, got);
                        this->template fold<First, decltype(in), decltype(map)::value>(state, got, v);
                    }
                });
            } else {
#pragma unroll 1
                for (int v = 0; v < lines; v += G) {
                    ring.next_group(source, false, got);
                    with_frequent<K>(p.recipe, [&](auto in, auto map) {
                        this->template fold<First, decltype(in), decltype(map)::value>(state, got, v);
                    });
                }
            }
            this->template end<First>(
                state, [&](int) { return lines; }, element, node);
            return true;
        }
    }

    /* Columns: a group that holds lanes of LINES lines, all of them there, joined by adjacent pairs; element(lane,
       line). */
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
                this->template end<First>(
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
                        this->template fold<First, decltype(in), decltype(map)::value, LINES>(state, got + l * LINES,
                                                                                              0);
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
                        this->template fold<First, decltype(in), decltype(map)::value, LINES>(state, got, 0);
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
            this->template end<Step<A>>(state, count, element, node);
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
        States::template clear<S>(state);
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
                    this->template fold<S, decltype(in), decltype(map)::value>(state, got, v);
                });
            }
            if constexpr (!S::remembers) { /* indexed ops have no rare maps */
                if (!done)
                    part<S>(state, at, next, lines, v, count, element, begun);
            }
            begun = begun || v + G <= whole;
        }
        this->template end<S>(state, count, element, node);
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

    /* A group of which lanes end: a line after the other where it has many elements. */
    template <class S, class In, int MAP, class Count>
    __device__ __forceinline__ void fold_ragged(typename S::State *state, SharedAt group, SharedAt next, int v,
                                                int lines, Count count, bool &begun) const
    {
#pragma unroll(few ? G : 1)
        for (int u = 0; u < G; u++) {
            if (v + u >= lines)
                break;
            this->template fold_ends<S, In, MAP>(state, this->take_straight(group, next, u), v + u, count, begun);
        }
    }

    /* Any group: what is rare, so an element after the other. The vector and the states go round, and the code knows
       the first alone. */
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
                    int64_t index = S::indexed ? this->index_of(element(e, line)) : 0;
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
