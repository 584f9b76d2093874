/* Folds short rows that lie in a warp's shared memory (kernel_short_rows.cu): `mates` threads a row, word by word. */
#ifndef RDX_KERNELS_CUDA_SHORT_ROWS_CUH
#define RDX_KERNELS_CUDA_SHORT_ROWS_CUH

#include "row_pairs.cuh"

namespace rdx
{

template <class K> struct ShortRow {
    typedef typename K::A A;
    typedef typename A::T T;
    typedef typename A::Node Node;
    static constexpr int J = K::elements;                   /* lanes of a thread */
    static constexpr int W = K::size < 4 ? 4 / K::size : 1; /* of a word */
    static constexpr int load_bytes = K::size * W;
    static constexpr bool any_order = is_exact<A>();
    static constexpr int states = any_order ? 1 : J;

    const Problem &p;
    RowPairs<A> pairs;
    int mates, c;    /* c: this thread's place among them */
    int stride_log2; /* lanes from one word of this thread to its next */
    int there;       /* of its lanes, those that have elements */

    __device__ __forceinline__ ShortRow(const Problem &problem, const RowPairs<A> &of_row, int thread)
        : p(problem), pairs(of_row), mates(problem.shape.mates), c(thread & (mates - 1)),
          stride_log2(log2_of(mates * W)), there(count_in_line(0))
    {
    }

    /* Lane j of this thread. */
    __device__ __forceinline__ int lane(int j) const
    {
        return c * W + j % W + (j / W << stride_log2);
    }

    /* How many elements of a line are this thread's: whole words, and what there is of the next. */
    __device__ __forceinline__ int count_in_line(int line) const
    {
        int left = (int)p.recipe.count - line * p.recipe.lanes;
        left = (left < p.recipe.lanes ? left : p.recipe.lanes) - c * W;
        int whole = (left + (1 << stride_log2) - W) >> stride_log2, rest = left - (whole << stride_log2);
        return whole * W + (rest > 0 ? rest : 0);
    }

    /* No thread has an element in lane j or one after it, of a line of `most`; asked where it is worth a branch. */
    __device__ __forceinline__ bool ends_at(int j, int most) const
    {
        return j > 0 && (j & (j - 1)) == 0 && j / W << stride_log2 >= most;
    }

    /* The words of a line of which elements are there; FULL: all of them. Where rows start within words, each is
       shifted out of two. */
    template <bool FULL>
    __device__ __forceinline__ void load_line(SharedAt at, bool crooked, int count, int most,
                                              uint32_t (*word)[load_bytes / 4]) const
    {
        int step = K::size << stride_log2;
        if (FULL || W == 1 || !crooked) {
            bool parts = is_complex(p.recipe.in);
#pragma unroll
            for (int j = 0; j < J; j += W) {
                if (!FULL && ends_at(j, most))
                    break;
                if (!FULL) /* else what was there before is kept, in registers */
                    for (int w = 0; w < load_bytes / 4; w++)
                        word[j / W][w] = 0;
                if (FULL || j < count)
                    load_shared_element<load_bytes>(word[j / W], at + j / W * step, parts);
            }
        } else {
            int skipped = (int)((uintptr_t)at & 3), more = count - (4 - skipped) / K::size;
            at -= skipped;
#pragma unroll
            for (int j = 0; j < J; j += W) {
                uint32_t low, high = 0;
                if (ends_at(j, most))
                    break;
                word[j / W][0] = 0;
                if (j < count) {
                    load_shared_element<4>(&low, at + j / W * step, false);
                    if (j < more)
                        load_shared_element<4>(&high, at + j / W * step + 4, false);
                    word[j / W][0] = __funnelshift_r(low, high, 8 * skipped);
                }
            }
        }
    }

    /* Which elements of a line are looked at. */
    enum Extent { ALL, WHOLE_WORDS, ONLY_THERE };

    template <Extent EXTENT, class In, int MAP, class F>
    __device__ __forceinline__ void each_of(const uint32_t (*word)[load_bytes / 4], int first, int count, int most,
                                            F &&f) const
    {
#pragma unroll
        for (int j = 0; j < J; j += W) {
            if (EXTENT != ALL && ends_at(j, most))
                break;
            if (EXTENT != ALL && j >= count)
                continue;
#pragma unroll
            for (int e = 0; e < W; e++) {
                T x, y;
                if (EXTENT != ONLY_THERE || j + e < count) {
                    read_element<A, In, MAP>(p.recipe, word[j / W], e * K::size, x, y);
                    f(j + e, x, y, first + lane(j + e));
                }
            }
        }
    }

    /* Calls f(j, x, y, element) for the elements of a line that are this thread's; EXTENT: and for what else is in
       their words. All are loaded before the first is looked at, and what dtype and map they have is asked once. */
    template <Extent EXTENT, class F>
    __device__ __forceinline__ void each(SharedAt row, bool crooked, int line, F &&f) const
    {
        uint32_t word[J / W][load_bytes / 4];
        int first = line * p.recipe.lanes, count = line == 0 ? there : count_in_line(line);
        int most = (int)p.recipe.count - first; /* of this line and those after it */
        SharedAt at = row + (first + c * W) * K::size;
        bool full = J * mates <= most, done = false;
        if (full && !crooked)
            load_line<true>(at, crooked, count, most, word);
        else
            load_line<false>(at, crooked, count, most, word);
        if (full)
            done = with_frequent<K>(p.recipe, [&](auto in, auto map) {
                each_of<ALL, decltype(in), decltype(map)::value>(word, first, J, most, f);
            });
        if (done)
            return;
        auto some = [&](auto in, auto map) {
            each_of<EXTENT, decltype(in), decltype(map)::value>(word, first, count, most, f);
        };
        if (!with_frequent<K>(p.recipe, some))
            with_input<K>(p.recipe.in, [&](auto in) { some(in, std::integral_constant<int, RDX_CUDA_ANY_MAP>()); });
    }

    __device__ __forceinline__ void fold(SharedAt row, bool crooked, Node *node) const
    {
        int lines = p.shape.lines;
        int64_t step = p.reduce_rank ? p.dims[p.keep_rank].out : 0;
        if constexpr (A::two_passes) {
            /* Of one line E(x - m) is 1, or m is infinite or NaN and the answer (algebra.cuh). */
            const bool alone = lines == 1;
#pragma unroll
            for (int j = 0; j < J; j++)
                node[j] = {A::lowest(), alone ? (T)1 : (T)0};
#pragma unroll 1
            for (int line = 0; line < lines; line++)
                each<ONLY_THERE>(row, crooked, line, [&](int j, T x, T, int) { node[j].m = A::greater(node[j].m, x); });
#pragma unroll 1
            for (int line = alone ? 1 : 0; line < lines; line++)
                each<ONLY_THERE>(row, crooked, line,
                                 [&](int j, T x, T, int) { node[j].s = A::add(node[j].s, x, node[j].m); });
        } else {
            typename Step<A>::State state[states];
            clear_lanes<A>(state, states);
            if constexpr (any_order)
                state[0] = {};
            else
                each<WHOLE_WORDS>(row, crooked, 0, [&](int j, T x, T y, int element) {
                    state[j] = Step<A>::begin(x, y, p.index_offset + element * step);
                });
#pragma unroll 1
            for (int line = any_order ? 0 : 1; line < lines; line++)
                each<ONLY_THERE>(row, crooked, line, [&](int j, T x, T y, int element) {
                    int i = any_order ? 0 : j;
                    int64_t index = p.index_offset + element * step;
                    if (any_order && j == 0 && line == 0)
                        state[i] = Step<A>::begin(x, y, index);
                    else
                        state[i] = Step<A>::next(state[i], x, y, line, index);
                });
#pragma unroll
            for (int i = 0; i < states; i++)
                node[i] = Step<A>::end(state[i], A::counted ? elements_of_lane((int)p.recipe.count, lane(i),
                                                                               stride_log2 + log2_constant(J / W))
                                                            : 0);
        }
    }

    /* T(h, lane) from T(2h, lane) and T(2h, lane + h), both of which have elements. */
    __device__ __forceinline__ Node join_lanes(const Node &low, const Node &high, int lane, int h) const
    {
        return A::join(low, high, A::counted ? pairs.of((int)p.recipe.count, lane, h) : NULL);
    }

    /* T(h, .) of nodes i from T(2h, .) of i and i + H, for H from FROM down to TO: first between words, then within
       them. By templates: with one index that the compiler does not know, all nodes lie in local memory. */
    template <bool FULL, int FROM, int TO> __device__ __forceinline__ void halve_own(Node *node) const
    {
        if constexpr (FROM >= TO) {
            constexpr int H = FROM;
            constexpr bool within = H < W;
            int n = (int)p.recipe.count, h = within ? H : H / W << stride_log2;
#pragma unroll
            for (int i = 0; i < H; i++) {
                if (FULL || i + H < (within ? n : there))
                    node[i] = join_lanes(node[i], node[i + H], within ? i : lane(i), h);
            }
            halve_own<FULL, H / 2, TO>(node);
        }
    }

    /* The same from this thread's and that of the mate which has the other one. */
    __device__ __forceinline__ Node join_mates(const Node &node, int bit, int lane, int h) const
    {
        Node other = shuffle_xor<A>(node, bit);
        bool swaps = A::counted && c & bit; /* else sides do not matter */
        return join_lanes(swaps ? other : node, swaps ? node : other, lane, h);
    }

    __device__ __forceinline__ Node halve(Node *node) const
    {
        constexpr int left = any_order ? 1 : W;
        int n = (int)p.recipe.count;
        /* Where there are mates, n is more than half of their lanes: none of them goes without. */
        if constexpr (!any_order) {
            if (A::words == 1 && J * mates <= n)
                halve_own<true, J / 2, W>(node);
            else
                halve_own<false, J / 2, W>(node);
        }
#pragma unroll(A::words == 1 ? 5 : 1)
        for (int bit = 16; bit >= 1; bit /= 2) {
            if (bit >= mates)
                continue;
#pragma unroll
            for (int e = 0; e < left; e++)
                node[e] = join_mates(node[e], bit, (c & (bit - 1)) * W + e, bit * W);
        }
        if constexpr (!any_order)
            halve_own<false, W / 2, 1>(node);
        return node[0];
    }
};

} // namespace rdx
#endif
