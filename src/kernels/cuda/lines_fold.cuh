/* Folds rows of two lines to four (kernel_tile_rows.cu), an element a load, of bytes a word: see row_fold.cuh. Whatever its length a row has
   eight threads, of bytes 16, so that all lanes of a thread are there, and of every line but the last all elements. */
#ifndef RDX_KERNELS_CUDA_LINES_FOLD_CUH
#define RDX_KERNELS_CUDA_LINES_FOLD_CUH

#include "row_fold.cuh"

namespace rdx
{

template <class K> struct LinesRow : RowFold<K, true> {
    typedef RowFold<K, true> Base;
    using Base::any_order;
    using Base::c;
    using Base::joins_counted;
    using Base::p;
    using typename Base::A;
    using typename Base::Node;
    using typename Base::T;
    static constexpr int MATES = RDX_CUDA_TILE_MATES(K::size), OWN = line_bytes / K::size / MATES, H = OWN / 2;
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

    /* Which of some neighbouring lanes, and of those H lanes further on, have an element of the last line. */
    enum Extent { NONE, SOME, ALL };

    /* The node of a lane of so many elements; sums do not ask how many. */
    static __device__ __forceinline__ Node seal(const typename A::Lane &lane, int count, T inverse)
    {
        if constexpr (joins_counted)
            return rdx_var_seal_by_f32(lane, inverse);
        else
            return A::seal(lane, count);
    }

    /* The nodes T(H MATES, .) of the AT_ONCE lanes from `first` on; `own`: of the last line. */
    template <int LINES, Extent LAST, int AT_ONCE, class In, int MAP>
    __device__ __forceinline__ void fold_some(SharedAt at, int first, int own, Node *node) const
    {
        constexpr int step = K::size * MATES, words = K::size < 4 ? 1 : K::size / 4;
        constexpr int most = LINES, least = LINES - 1;
        const bool parts = is_complex(p.recipe.in);
        auto push = [&](typename A::Lane &lane, int j, int line) {
            uint32_t word[words];
            T x, y;
            load_shared_element<K::size>(word, at + line * line_bytes + j * step, parts);
            read_element<A, In, MAP>(p.recipe, word, 0, x, y);
            lane = line == 0 ? A::lift(x, y) : A::push(lane, x, y, line);
        };
        typename A::Lane lane[2][AT_ONCE];
#pragma unroll
        for (int side = 0; side < 2; side++)
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++) {
                const int j = side * H + first + i;
#pragma unroll
                for (int line = 0; line < (LAST == ALL ? most : least); line++)
                    push(lane[side][i], j, line);
                if (LAST == SOME && j < own)
                    push(lane[side][i], j, least);
            }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const bool low = LAST == ALL || (LAST == SOME && first + i < own),
                       high = LAST == ALL || (LAST == SOME && H + first + i < own);
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

    /* The node of a row of LINES lines, of which the last has `rest` elements. */
    template <int LINES, class In, int MAP> __device__ __forceinline__ Node fold_lines(SharedAt at, int rest) const
    {
        constexpr int AT_ONCE = K::size == 2 ? 4 : 2; /* of 80 registers */
        const int own = (rest - c + MATES - 1) >> log2_constant(MATES);
        Node node[H];
#pragma unroll
        for (int first = 0; first < H; first += AT_ONCE) {
            if (first * MATES >= rest)
                fold_some<LINES, NONE, AT_ONCE, In, MAP>(at, first, own, node + first);
            else if ((H + first + AT_ONCE) * MATES <= rest)
                fold_some<LINES, ALL, AT_ONCE, In, MAP>(at, first, own, node + first);
            else
                fold_some<LINES, SOME, AT_ONCE, In, MAP>(at, first, own, node + first);
        }
        return this->template halve_line<MATES, H>(node);
    }

    template <int LINES, class In, int MAP>
    __device__ __forceinline__ Node fold_plain(SharedAt at, int thread, int pitch, int left) const
    {
        if constexpr (LINES < 4) {
            if (p.shape.lines > LINES)
                return fold_plain<LINES + 1, In, MAP>(at, thread, pitch, left);
        }
        const int rest = (int)p.recipe.count - (LINES - 1) * (line_bytes / K::size);
        return this->template fold_turns<MATES>(at + c * K::size, thread, pitch, left,
                                                [&](SharedAt row) { return fold_lines<LINES, In, MAP>(row, rest); });
    }

    /* The node of row row_of(c, thread) of `left` rows, 32 at most, from `at` on. */
    __device__ __forceinline__ Node fold_rows(SharedAt at, int thread, int pitch, int left) const
    {
        Node own = unset<A>();
        with_unmasked<K>(p.recipe, [&](auto in, auto map) {
            typedef decltype(in) In;
            constexpr int MAP = decltype(map)::value;
            if constexpr (any_order && (K::size > 1 || In::integral || compares_bytes<A, In>()))
                own = this->template fold_any_turns<MATES, In, MAP>(at, thread, pitch, left);
            else if constexpr (!any_order)
                own = fold_plain<2, In, MAP>(at, thread, pitch, left);
        });
        return own;
    }
};

} // namespace rdx
#endif
