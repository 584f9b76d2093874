/* Folds rows of two lines to four, of what is looked at twice to eight (kernel_tile_rows.cu), an element a load, of
   bytes a word: see row_fold.cuh. Whatever its length a row has eight threads, of bytes and of more than four lines 16,
   so that all lanes of a thread are there, and of every line but the last all elements. */
#ifndef RDX_KERNELS_CUDA_LINES_FOLD_CUH
#define RDX_KERNELS_CUDA_LINES_FOLD_CUH

#include "row_fold.cuh"

namespace rdx
{

/* Of FEWEST lines and more. */
template <class K, int FEWEST> struct LinesRow : RowFold<K, true> {
    typedef RowFold<K, true> Base;
    using Base::any_order;
    using Base::c;
    using Base::joins_counted;
    using Base::p;
    using typename Base::A;
    using typename Base::Node;
    using typename Base::T;
    typedef typename Step<A>::State State; /* of a lane */
    static constexpr int MOST = FEWEST > RDX_CUDA_TILE_LINES ? RDX_CUDA_TWICE_LINES : RDX_CUDA_TILE_LINES;
    static constexpr int MATES = RDX_CUDA_TILE_MATES(K::size, FEWEST), OWN = line_bytes / K::size / MATES, H = OWN / 2;
    static constexpr int most_joins = joins_counted ? (H + 3) * MATES : 1;

    __device__ __forceinline__ LinesRow(const Problem &problem, const LineJoin *of_block, int thread, int pitch,
                                        int rows)
        : Base(problem, of_block, log2_constant(MATES), thread, pitch, rows)
    {
    }

    static __device__ __forceinline__ void fill(LineJoin *joins, int n)
    {
        if constexpr (joins_counted)
            Base::fill_joins(joins, n, log2_constant(MATES), H);
    }

    /* Which of some neighbouring lanes have an element of the last line. */
    enum Extent { NONE, SOME, ALL };

    /* The node of a lane of so many elements; sums do not ask how many. */
    static __device__ __forceinline__ Node seal(const State &lane, int count, T inverse)
    {
        if constexpr (joins_counted)
            return A::seal_by(lane, inverse);
        else
            return A::seal(lane, count);
    }

    /* Lane j of a thread. */
    template <int LINES, Extent LAST, class In, int MAP>
    __device__ __forceinline__ State fold_lane(SharedAt at, int j, int own) const
    {
        constexpr int step = K::size * MATES, words = K::size < 4 ? 1 : K::size / 4;
        const bool parts = is_complex(p.recipe.in);
        State lane;
        auto push = [&](int line) {
            uint32_t word[words];
            T x, y;
            load_shared_element<K::size>(word, at + line * line_bytes + j * step, parts);
            read_element<A, In, MAP>(p.recipe, word, 0, x, y);
            lane = line == 0 ? A::lift(x, y) : A::push(lane, x, y, line);
        };
#pragma unroll
        for (int line = 0; line < LINES - 1; line++)
            push(line);
        if (LAST == ALL || (LAST == SOME && j < own))
            push(LINES - 1);
        return lane;
    }

    /* The nodes T(H MATES, .) of the AT_ONCE lanes from `first` on, LOW of which have an element of the last line, and
       HIGH of those H lanes further on; `own`: of the last line. */
    template <int LINES, Extent LOW, Extent HIGH, int AT_ONCE, class In, int MAP>
    __device__ __forceinline__ void fold_some(SharedAt at, int first, int own, Node *node) const
    {
        constexpr int most = LINES, least = LINES - 1;
        State lane[2][AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            lane[0][i] = fold_lane<LINES, LOW, In, MAP>(at, first + i, own);
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            lane[1][i] = fold_lane<LINES, HIGH, In, MAP>(at, H + first + i, own);
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const bool low = LOW == ALL || (LOW == SOME && first + i < own),
                       high = HIGH == ALL || (HIGH == SOME && H + first + i < own);
            constexpr T by_most = (T)1 / most, by_least = (T)1 / least;
            const Node below = seal(lane[0][i], most, low ? by_most : by_least),
                       above = seal(lane[1][i], most, high ? by_most : by_least);
            if constexpr (joins_counted) {
                const LineJoin both = Base::join_of(most, most), neither = Base::join_of(least, least),
                               unequal = Base::join_of(most, least);
                node[i] = Base::join_counted(below, above, high ? both : low ? unequal : neither);
            } else {
                node[i] = A::join(below, above, NULL);
            }
        }
    }

    /* Of JOINS neighbouring joins of a thread and its mates, a bit each, in the order of their numbers (fill_joins):
       whether all have equal counts, or all unequal ones; these have the same then. */
    static constexpr int JOINS = 4;
    static_assert(!joins_counted || H >= JOINS, "a level of joins fills a group");
    struct Groups {
        unsigned equal, unequal;
    };

    static __device__ __forceinline__ Groups groups_of(int n, int thread)
    {
        bool equal = false, unequal = false;
        if (joins_counted && JOINS * (thread + 1) < H) {
            int level = 1 << (31 - __clz(thread + 1)), h = level * JOINS * MATES, step = log2_of(h) + 1;
            int first = (thread + 1 - level) * JOINS * MATES, last = first + JOINS * MATES - 1;
            auto are_equal = [&](int lane) {
                return elements_of_lane(n, lane, step) == elements_of_lane(n, lane + h, step);
            };
            equal = are_equal(first) && are_equal(last);
            unequal = !are_equal(first) && !are_equal(last);
        }
        return {__ballot_sync(0xffffffffu, equal), __ballot_sync(0xffffffffu, unequal)};
    }

    /* JOINS joins from join `number` on, of nodes that lie M from each other. */
    template <int M> __device__ __forceinline__ void join_group(Node *node, int number, Groups groups) const
    {
        const unsigned bit = 1u << ((number + 1) / JOINS - 1);
        auto join_alike = [&](auto equal) {
            LineJoin counts = Base::template load_join<MATES>(number);
            counts.equal = decltype(equal)::value;
#pragma unroll
            for (int i = 0; i < JOINS; i++)
                node[i] = Base::join_counted(node[i], node[i + M], counts);
        };
        if (groups.equal & bit) {
            join_alike(std::true_type());
        } else if (groups.unequal & bit) {
            join_alike(std::false_type());
        } else {
#pragma unroll
            for (int i = 0; i < JOINS; i++)
                node[i] = this->template join<MATES>(node[i], node[i + M], number + i);
        }
    }

    /* T(JOINS MATES, .) from all of the T(2 M MATES, .). */
    template <int M> __device__ __forceinline__ void halve_groups(Node *node, Groups groups) const
    {
        if constexpr (M >= JOINS) {
#pragma unroll
            for (int i = 0; i < M; i += JOINS)
                join_group<M>(node + i, M - 1 + i, groups);
            halve_groups<M / 2>(node, groups);
        }
    }

    /* The nodes of the EACH lanes from `first` on of what is looked at twice. An element that is not there is -inf,
       which changes nothing (algebra.cuh); two of a lane are joined, which takes one exponential, not two. WHOLE: the
       last line is; without questions about it logsumexp of 262144 x 512 bf16 takes 395 instructions for 16 elements,
       not 455. */
    static constexpr int EACH = H / 4;
    template <int LINES, bool WHOLE, class In, int MAP>
    __device__ __forceinline__ void look_twice(SharedAt at, int first, int rest, int own, Node *node) const
    {
        constexpr int step = K::size * MATES, last = LINES - 1;
        const bool more = WHOLE || rest > first * MATES; /* of the last line, for any of the mates */
        T x[EACH][LINES];
        auto take = [&](int e, int line) RDX_INLINED {
            uint32_t word;
            T y;
            load_shared_element<K::size>(&word, at + line * line_bytes + (first + e) * step, false);
            read_element<A, In, MAP>(p.recipe, &word, 0, x[e][line], y);
        };
#pragma unroll
        for (int e = 0; e < EACH; e++) {
#pragma unroll
            for (int line = 0; line < last; line++)
                take(e, line);
            if (!WHOLE)
                x[e][last] = A::lowest();
            if (WHOLE || first + e < own)
                take(e, last);
        }
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            if constexpr (LINES == 2) {
                node[e] = node_of_element<A>(x[e][0], 0, 0);
                if (more)
                    node[e] = A::join(node[e], node_of_element<A>(x[e][1], 0, 0), NULL);
                continue;
            }
            /* From what a first look and a first addition leave as it is: no instruction. */
            node[e] = {first_of<A>(x[e][0]), (T)-0.0};
#pragma unroll
            for (int line = 1; line < LINES; line++)
                node[e].m = A::greater(node[e].m, x[e][line]);
#pragma unroll
            for (int line = 0; line < last; line++)
                node[e].s = A::add(node[e].s, x[e][line], node[e].m);
            if (more)
                node[e].s = A::add(node[e].s, x[e][last], node[e].m);
        }
    }

    /* The node of such a row: a quarter of a thread's lanes at once, in bit-reversed order, by one copy of what is
       long. */
    template <int LINES, bool WHOLE, class In, int MAP>
    __device__ __forceinline__ Node fold_twice(SharedAt at, int rest) const
    {
        const int own = (rest - c + MATES - 1) >> log2_constant(MATES);
        Node node[EACH], upper[EACH], held[2][EACH];
        auto join = [&](const Node *lower, const Node *higher) RDX_INLINED {
#pragma unroll
            for (int e = 0; e < EACH; e++)
                node[e] = A::join(lower[e], higher[e], NULL);
        };
#pragma unroll 1
        for (int i = 0; i < 4; i++) {
            const int first = reverse_bits(i, 2) * EACH;
            look_twice<LINES, WHOLE, In, MAP>(at, first, rest, own, node);
            look_twice<LINES, WHOLE, In, MAP>(at, H + first, rest, own, upper);
            join(node, upper);
            if (i & 1)
                join(held[0], node);
            if (i == 3)
                join(held[1], node);
#pragma unroll
            for (int e = 0; e < EACH; e++) {
                held[0][e] = i & 1 ? held[0][e] : node[e];
                held[1][e] = i & 1 ? node[e] : held[1][e];
            }
        }
        return this->template halve_line<MATES, H, EACH>(node);
    }

    /* The node of a row of LINES lines, of which the last has `rest` elements. */
    template <int LINES, class In, int MAP>
    __device__ __forceinline__ Node fold_lines(SharedAt at, int rest, Groups groups) const
    {
        constexpr int AT_ONCE = K::size == 2 ? 4 : 2; /* of 80 registers */
        const int own = (rest - c + MATES - 1) >> log2_constant(MATES);
        Node node[H];
#pragma unroll
        for (int first = 0; first < H; first += AT_ONCE) {
            const int low = first * MATES, high = (H + first) * MATES, some = AT_ONCE * MATES;
            if (rest <= low)
                fold_some<LINES, NONE, NONE, AT_ONCE, In, MAP>(at, first, own, node + first);
            else if (rest >= high + some)
                fold_some<LINES, ALL, ALL, AT_ONCE, In, MAP>(at, first, own, node + first);
            else if (rest >= low + some && rest <= high)
                fold_some<LINES, ALL, NONE, AT_ONCE, In, MAP>(at, first, own, node + first);
            else
                fold_some<LINES, SOME, SOME, AT_ONCE, In, MAP>(at, first, own, node + first);
        }
        if constexpr (joins_counted) {
            halve_groups<H / 2>(node, groups);
            return this->template halve_line<MATES, H, JOINS>(node);
        } else {
            return this->template halve_line<MATES, H>(node);
        }
    }

    template <int LINES, class In, int MAP>
    __device__ __forceinline__ Node fold_plain(SharedAt at, int thread, int pitch, int left) const
    {
        if constexpr (LINES < MOST) {
            if (p.shape.lines > LINES)
                return fold_plain<LINES + 1, In, MAP>(at, thread, pitch, left);
        }
        const int n = (int)p.recipe.count, rest = n - (LINES - 1) * (line_bytes / K::size);
        at += c * K::size;
        if constexpr (A::two_passes) {
            auto fold = [&](auto whole) RDX_INLINED {
                return this->template fold_turns<MATES>(at, thread, pitch, left, [&](SharedAt row) {
                    return fold_twice<LINES, decltype(whole)::value, In, MAP>(row, rest);
                });
            };
            /* As often as it happens: of powers of two, with NaN. */
            if constexpr (!A::omit && (LINES & (LINES - 1)) == 0) {
                if (rest * K::size == line_bytes)
                    return fold(std::true_type());
            }
            return fold(std::false_type());
        } else {
            const Groups groups = groups_of(n, thread);
            return this->template fold_turns<MATES>(
                at, thread, pitch, left, [&](SharedAt row) { return fold_lines<LINES, In, MAP>(row, rest, groups); });
        }
    }

    /* The node of row row_of(c, thread) of `left` rows, 32 at most, from `at` on. */
    __device__ __forceinline__ Node fold_rows(SharedAt at, int thread, int pitch, int left) const
    {
        Node own = unset<A>();
        with_known<K>(p.recipe, [&](auto in, auto map) RDX_INLINED {
            typedef decltype(in) In;
            constexpr int MAP = decltype(map)::value;
            if constexpr (any_order && (K::size > 1 || In::integral || compares_bytes<A, In>()))
                own = this->template fold_any_turns<MATES, In, MAP>(at, thread, pitch, left);
            else if constexpr (!any_order)
                own = fold_plain<FEWEST, In, MAP>(at, thread, pitch, left);
        });
        return own;
    }
};

template <class K> using FewLines = LinesRow<K, 2>;
template <class K> using TwiceLines = LinesRow<K, RDX_CUDA_TILE_LINES + 1>;

} // namespace rdx
#endif
