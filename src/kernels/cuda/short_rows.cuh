/* Folds short rows that lie in a warp's shared memory (strategy_warp.cu): `mates` threads a row, word by word. */
#ifndef RDX_KERNELS_CUDA_SHORT_ROWS_CUH
#define RDX_KERNELS_CUDA_SHORT_ROWS_CUH

#include "block.cuh"

namespace rdx
{

/* Sums of 8-bit integers and of truth values take the elements of a word at once. */
template <class K, class In, int MAP> RDX_DEVICE constexpr bool adds_words()
{
    return K::size == 1 && K::A::algebra == RDX_ALGEBRA_ISUM && In::integral && MAP != RDX_CUDA_ANY_MAP;
}

/* The sum of the first `count` bytes of a word. */
template <class In, int MAP> RDX_DEVICE int sum_of_bytes(const RdxRecipe &r, uint32_t word, int count)
{
    return add_bytes<In, MAP>(r, word, 0, count < 4 ? (1u << 8 * count) - 1 : 0xffffffffu);
}

template <class K> struct ShortRow {
    typedef typename K::A A;
    typedef typename A::T T;
    typedef typename A::Node Node;
    static constexpr int J = K::elements;                   /* lanes of a thread */
    static constexpr int W = K::size < 4 ? 4 / K::size : 1; /* of a word */
    static constexpr int load_bytes = K::size * W;
    static constexpr bool any_order = is_exact<A>();
    static constexpr int states = any_order ? 1 : J;
    static constexpr bool plain = !any_order && A::unit == 1 && A::words == 1 && !A::counted && !A::indexed;
    static constexpr bool knows_lines = W == 1 && plain; /* fold_lines */

    const Problem &p;
    int mates, c;    /* c: this thread's place among them */
    int stride_log2; /* lanes from one word of this thread to its next */
    int there;       /* of its lanes, those that have elements */

    __device__ __forceinline__ ShortRow(const Problem &problem, int thread)
        : p(problem), mates(problem.shape.mates), c(thread & (mates - 1)), stride_log2(log2_of(mates * W)),
          there(count_in_line(0))
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

    /* The words of a line of which elements are there; FULL: all of them. Where rows start within words, each is shifted out of two. */
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
            if constexpr (adds_words<K, In, MAP>()) {
                int sum = sum_of_bytes<In, MAP>(p.recipe, word[j / W][0], EXTENT == ALL ? W : count - j);
                f(j, sum, sum, 0);
            } else {
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
    }

    /* Calls f(j, x, y, element) for the elements of a line that are this thread's; EXTENT: and for what else is in their words. All
       are loaded before the first is looked at, and what dtype and map they have is asked once. */
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
            T base[J];
#pragma unroll
            for (int j = 0; j < J; j++)
                node[j] = {A::lowest(), 0};
#pragma unroll 1
            for (int line = 0; line < lines; line++)
                each<ONLY_THERE>(row, crooked, line, [&](int j, T x, T, int) { node[j].m = A::greater(node[j].m, x); });
#pragma unroll
            for (int j = 0; j < J; j++)
                base[j] = A::base(node[j].m);
#pragma unroll 1
            for (int line = 0; line < lines; line++)
                each<ONLY_THERE>(row, crooked, line,
                                 [&](int j, T x, T, int) { node[j].s = A::add(node[j].s, x, base[j]); });
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

    /* T(h, .) of nodes i from T(2h, .) of i and i + H, for H from FROM down to TO: first between words, then within them. By
       templates: with one index that the compiler does not know, all nodes lie in local memory. */
    template <bool FULL, int FROM, int TO> __device__ __forceinline__ void halve_own(Node *node) const
    {
        if constexpr (FROM >= TO) {
            constexpr int H = FROM;
            constexpr bool within = H < W;
            int n = (int)p.recipe.count, h = within ? H : H / W << stride_log2;
#pragma unroll
            for (int i = 0; i < H; i++) {
                int low = within ? i : lane(i), step_log2 = 32 - __clz(h);
                if (FULL || i + H < (within ? n : there))
                    node[i] = join_full<A>(node[i], node[i + H], A::counted ? elements_of_lane(n, low, step_log2) : 0,
                                           A::counted ? elements_of_lane(n, low + h, step_log2) : 0);
            }
            halve_own<FULL, H / 2, TO>(node);
        }
    }

    /* T(1, 0) from all of the T(2 H, .). */
    template <int H> static __device__ __forceinline__ void halve_all(Node *node)
    {
        if constexpr (H >= 1) {
#pragma unroll
            for (int i = 0; i < H; i++)
                node[i] = join_full<A>(node[i], node[i + H], 0, 0);
            halve_all<H / 2>(node);
        }
    }

    template <class In, int MAP> __device__ __forceinline__ Node node_of(const uint32_t *word, int byte) const
    {
        T x, y;
        read_element<A, In, MAP>(p.recipe, word, byte, x, y);
        return Step<A>::end(Step<A>::begin(x, y, 0), 1);
    }

    /* ROWS rows of VECTORS whole vectors, 32 rows apart, a thread each; results are stored as they are. */
    template <class In, int MAP, int VECTORS, int ROWS>
    __device__ __forceinline__ void store_rows(SharedAt at, int pitch, unsigned char *to, int64_t step) const
    {
        constexpr int N = VECTORS * 16 / K::size;
        uint4 vector[ROWS][VECTORS];
#pragma unroll
        for (int row = 0; row < ROWS; row++) {
#pragma unroll
            for (int v = 0; v < VECTORS; v++)
                vector[row][v] = load_shared(at + row * 32 * pitch + v * 16);
        }
#pragma unroll
        for (int row = 0; row < ROWS; row++) {
            uint32_t word[VECTORS * 4];
            Node node[N];
#pragma unroll
            for (int v = 0; v < VECTORS; v++) {
                word[4 * v] = vector[row][v].x, word[4 * v + 1] = vector[row][v].y;
                word[4 * v + 2] = vector[row][v].z, word[4 * v + 3] = vector[row][v].w;
            }
#pragma unroll
            for (int i = 0; i < N; i++)
                node[i] = node_of<In, MAP>(word, i * K::size);
            halve_all<N / 2>(node);
            *(T *)to = direct_value<A>(node[0]);
            to += step;
        }
    }

    template <int VECTORS>
    __device__ __forceinline__ bool store_tile(SharedAt tile, int pitch, int thread, int64_t first_output,
                                               int rows) const
    {
        constexpr int most = VECTORS >= 4 ? 1 : 4 / VECTORS;
        return with_frequent<K>(p.recipe, [&](auto in, auto map) {
            typedef decltype(in) In;
            constexpr int MAP = decltype(map)::value;
            int64_t step = p.dims[p.keep_rank - 1].out;
            unsigned char *to = p.out + seek_output(p, first_output).out + thread * step;
            int apart = VECTORS == 1 ? 16 : pitch, row = 0;
            SharedAt at = tile + thread * apart;
            step *= 32;
            if constexpr (most > 1) {
#pragma unroll 1
                for (; row + 32 * most <= rows; row += 32 * most) {
                    store_rows<In, MAP, VECTORS, most>(at, apart, to, step);
                    at += 32 * most * apart;
                    to += most * step;
                }
            }
#pragma unroll 1
            for (row += thread; row < rows; row += 32) {
                store_rows<In, MAP, VECTORS, 1>(at, apart, to, step);
                at += 32 * apart;
                to += step;
            }
        });
    }

    /* Rows of one, two or four whole vectors that a thread has to itself, where nothing is done with sums but to store them. */
    __device__ __forceinline__ bool store_vectors(SharedAt tile, int pitch, int thread, int64_t first_output,
                                                  int rows) const
    {
        if constexpr (may_be_direct<A>() && K::size >= 2 && K::size <= 8) {
            int bytes = p.shape.row_bytes;
            if (p.shape.direct && mates == 1 && (((uintptr_t)tile | (unsigned)pitch) & 15) == 0) {
                if (bytes == 16)
                    return store_tile<1>(tile, pitch, thread, first_output, rows);
                if constexpr (J * K::size >= 32) {
                    if (bytes == 32)
                        return store_tile<2>(tile, pitch, thread, first_output, rows);
                }
                if constexpr (J * K::size >= 64) {
                    if (bytes == 64)
                        return store_tile<4>(tile, pitch, thread, first_output, rows);
                }
            }
        }
        return false;
    }

    /* The node of a row of one line: LANES a thread, of which no thread lacks one of the lower half. FULL: none at all. */
    template <bool FULL, int MATES, int LANES, class In, int MAP>
    __device__ __forceinline__ Node fold_line(SharedAt at) const
    {
        constexpr int H = LANES > 1 ? LANES / 2 : 1, step = K::size * MATES;
        int n = (int)p.recipe.count;
        uint32_t word[LANES][load_bytes / 4];
        Node node[H];
        bool parts = is_complex(p.recipe.in);
#pragma unroll
        for (int j = 0; j < H; j++)
            load_shared_element<load_bytes>(word[j], at + j * step, parts);
#pragma unroll
        for (int j = H; j < LANES; j++) {
            if (!FULL && ((j - H) & (j - H - 1)) == 0 && j * MATES >= n)
                break;
            if (FULL || j < there)
                load_shared_element<load_bytes>(word[j], at + j * step, parts);
        }
#pragma unroll
        for (int j = 0; j < H; j++)
            node[j] = node_of<In, MAP>(word[j], 0);
#pragma unroll
        for (int j = H; j < LANES; j++) {
            if (!FULL && ((j - H) & (j - H - 1)) == 0 && j * MATES >= n)
                break;
            if (FULL || j < there)
                node[j - H] = join_full<A>(node[j - H], node_of<In, MAP>(word[j], 0), 0, 0);
        }
        halve_all<H / 2>(node);
#pragma unroll
        for (int bit = MATES / 2; bit >= 1; bit /= 2)
            node[0] = join_full<A>(node[0], shuffle_xor<A>(node[0], bit), 0, 0);
        return node[0];
    }

    /* Those of a row a turn, `apart` from each other, the last of them at `last`; a thread keeps that of its own turn. */
    template <bool FULL, int MATES, int LANES, class In, int MAP>
    __device__ __forceinline__ Node fold_turns(SharedAt at, SharedAt last, int apart, int turns) const
    {
        if constexpr (MATES == 1)
            return fold_line<FULL, 1, LANES, In, MAP>(at < last ? at : last);
        Node own = {};
#pragma unroll 1
        for (int turn = 0; turn < turns; turn++) {
            Node folded = fold_line<FULL, MATES, LANES, In, MAP>((at < last ? at : last) + c * K::size);
            if (turn == c)
                own = folded;
            at += apart;
        }
        return own;
    }

    template <int MATES, int LANES, class In, int MAP>
    __device__ __forceinline__ Node fold_with(SharedAt at, SharedAt last, int apart, int turns) const
    {
        constexpr bool more_mates = LANES == J, more = LANES * MATES * K::size < 512; /* bytes of a line */
        int n = (int)p.recipe.count;
        if constexpr (more) {
            if (n > LANES * MATES)
                return fold_with < more_mates ? 2 * MATES : MATES, more_mates ? J : 2 * LANES, In,
                       MAP > (at, last, apart, turns);
        }
        return n == LANES * MATES ? fold_turns<true, MATES, LANES, In, MAP>(at, last, apart, turns)
                                  : fold_turns<false, MATES, LANES, In, MAP>(at, last, apart, turns);
    }

    /* The same, for as many mates and lanes as there are, where rows have one line and the map is one that kernels know. */
    __device__ __forceinline__ bool fold_lines(SharedAt at, SharedAt last, int apart, int turns, Node &own) const
    {
        if constexpr (knows_lines) {
            if (p.shape.lines == 1)
                return with_frequent<K>(p.recipe, [&](auto in, auto map) {
                    own = fold_with<1, 1, decltype(in), decltype(map)::value>(at, last, apart, turns);
                });
        }
        return false;
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
                node[e] =
                    join_there<A>(node[e], shuffle_xor<A>(node[e], bit), c & bit, n, bit * W, (c & (bit - 1)) * W + e);
        }
        if constexpr (!any_order)
            halve_own<false, W / 2, 1>(node);
        return node[0];
    }
};

} // namespace rdx
#endif
