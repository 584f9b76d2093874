/* What folds of rows that lie in a warp's shared memory have in common (line_fold.cuh, lines_fold.cuh): `mates`
   neighbouring threads have a row, thread c its elements c, c + mates, c + 2 mates ...; how many mates is known to the
   compiler, and what a row's joins need of counts is worked out once for a block. All mates have the result.

   A warp folds 32 / mates rows at once, 2^apart_log2 rows from each other, so that threads meet different banks: of
   rows of 127 f32, four threads each, eight neighbours would lie in 11 of the 32. */
#ifndef RDX_KERNELS_CUDA_ROW_FOLD_CUH
#define RDX_KERNELS_CUDA_ROW_FOLD_CUH

#include "greatest.cuh"
#include "row_pairs.cuh"

namespace rdx
{

/* The counts of a join of a row, as its thread needs them. */
struct alignas(16) LineJoin {
    float scale;   /* half of either count, where they are equal, else the weight of the smaller one */
    float greater; /* count */
    uint32_t equal, unused;
};

/* SEVERAL: of more than one line. */
template <class K, bool SEVERAL> struct RowFold {
    typedef typename K::A A;
    typedef typename A::T T;
    typedef typename A::Node Node;
    static constexpr int W = K::size < 4 ? 4 / K::size : 1;
    static constexpr bool any_order = is_exact<A>();
    /* Nodes of two words at most, whose joins ask for counts. */
    static constexpr bool joins_counted = A::counted && A::unit == 1 && A::words <= 2 && K::size > 1;

    const Problem &p;
    SharedAt joins;    /* of this thread, where counts matter: see fill_joins */
    int mates_log2, c; /* c: this thread's place among its mates */
    int apart_log2;

    /* Of tiles of `rows` rows, `pitch` bytes from each other. */
    __device__ __forceinline__ RowFold(const Problem &problem, const LineJoin *of_block, int log2_of_mates, int thread,
                                       int pitch, int rows)
        : p(problem), mates_log2(log2_of_mates), c(thread & ((1 << mates_log2) - 1))
    {
        int banks = mates_log2 + log2_constant(K::size) - (__ffs(pitch) - 1),
            turns = 31 - __clz(rows >> (5 - mates_log2));
        banks = banks < turns ? banks : turns;
        apart_log2 = banks > 0 ? banks : 0;
        joins = joins_counted ? shared_at(of_block + c) : 0;
    }

    /* Which row of 32 the first of a thread's mates folds in turn `turn`. */
    __device__ __forceinline__ int row_of(int turn) const
    {
        int together = 5 - mates_log2;
        return (turn & ((1 << apart_log2) - 1)) + (turn >> apart_log2 << (apart_log2 + together));
    }
    __device__ __forceinline__ int row_of(int turn, int thread) const
    {
        return row_of(turn) + (thread >> mates_log2 << apart_log2);
    }

    /* By the threads of a block, before any of them folds a row of n elements: the joins of the `own` nodes that a
       thread has once its lanes have met in pairs, T(h MATES, c + i MATES) in place h - 1 + i, then those of mates;
       mate by mate. */
    static __device__ __forceinline__ void fill_joins(LineJoin *joins, int n, int mates_log2, int own)
    {
        int mates = 1 << mates_log2, number = (int)threadIdx.x >> mates_log2, c = (int)threadIdx.x & (mates - 1);
        int h, lane;
        if (number >= own - 1 + mates_log2)
            return;
        if (number < own - 1) {
            int first = 1 << (31 - __clz(number + 1));
            h = first * mates, lane = c + (number + 1 - first) * mates;
        } else {
            h = 1 << (number - (own - 1)), lane = c & (h - 1);
        }
        int step = log2_of(h) + 1;
        joins[threadIdx.x] = join_of(elements_of_lane(n, lane, step), elements_of_lane(n, lane + h, step));
    }

    static __device__ __forceinline__ LineJoin join_of(int low, int high)
    {
        typename A::Pair pair = A::pair(low, high);
        return {pair.equal ? pair.half : pair.weight, pair.greater, pair.equal, 0};
    }

    /* T(h, .) from T(2h, .) of the lower and the higher lane; `number`: see fill_joins. */
    template <int MATES> __device__ __forceinline__ Node join(Node low, Node high, int number) const
    {
        if constexpr (joins_counted) {
            return join_counted(low, high, load_join<MATES>(number));
        } else {
            return A::join(low, high, NULL);
        }
    }

    /* For every row: there are no registers for all of them. */
    template <int MATES> __device__ __forceinline__ LineJoin load_join(int number) const
    {
        uint4 raw = load_shared(joins + number * MATES * (int)sizeof(LineJoin));
        return {__uint_as_float(raw.x), __uint_as_float(raw.y), raw.z, 0};
    }

    /* rdx_var_join_f32 without its branch: both ways are gone, which takes 13 instructions, and a branch 17 and its
       waiting. The lower lane has no fewer elements. */
    static __device__ __forceinline__ Node join_counted(Node low, Node high, LineJoin join)
    {
        bool equal = join.equal != 0;
        T d = high.m - low.m, scaled = d * join.scale, middle = (T)0.5 * (low.m + high.m), shifted = low.m + scaled;
        T square = d * scaled;
        Node node;
        node.m = equal ? middle : shifted;
        node.q = rdx_fma_f32(equal ? d : square, equal ? scaled : join.greater, low.q + high.q);
        return node;
    }

    /* The same from this thread's and that of the mate which has the other one. */
    template <int MATES> __device__ __forceinline__ Node join_mates(Node node, int bit, int number) const
    {
        Node low = node, high = shuffle_xor<A>(node, bit);
        if (A::counted && c & bit) { /* else sides do not matter */
            low = high;
            high = node;
        }
        return join<MATES>(low, high, number);
    }

    /* T(MATES, c) from all of the T(2 H MATES, .). */
    template <int MATES, int H> __device__ __forceinline__ void halve_all(Node *node) const
    {
        if constexpr (H >= 1) {
#pragma unroll
            for (int i = 0; i < H; i++)
                node[i] = join<MATES>(node[i], node[i + H], H - 1 + i);
            halve_all<MATES, H / 2>(node);
        }
    }

    /* T(1, 0) from all of the T(LEFT MATES, .), of H nodes that a thread had: see fill_joins. */
    template <int MATES, int H, int LEFT = H> __device__ __forceinline__ Node halve_line(Node *node) const
    {
        halve_all<MATES, LEFT / 2>(node);
#pragma unroll
        for (int bit = MATES / 2; bit >= 1; bit /= 2)
            node[0] = join_mates<MATES>(node[0], bit, H - 1 + log2_constant(bit));
        return node[0];
    }

    template <class In, int MAP> __device__ __forceinline__ Node node_of(const uint32_t *word) const
    {
        T x, y;
        read_element<A, In, MAP>(p.recipe, word, 0, x, y);
        return node_of_element<A>(x, y, 0);
    }

    template <class In, int MAP> static __device__ constexpr bool by_words()
    {
        return adds_words<K, In, MAP>() || compares_bytes<A, In>();
    }

    /* The node of a row in any order, an element a load, eight at a time; no thread goes without. */
    template <int MATES, class In, int MAP> __device__ __forceinline__ Node fold_pieces(SharedAt at) const
    {
        constexpr int BYTES = K::size, step = BYTES * MATES;
        constexpr bool numbers = compares_numbers<A, In>();
        int pieces = (int)p.recipe.count, left = (pieces >> log2_constant(MATES)) - 1;
        bool more = c < (pieces & (MATES - 1)), parts = is_complex(p.recipe.in);
        int64_t step_index = A::indexed && p.reduce_rank ? p.dims[p.keep_rank].out : 0;
        int64_t index = A::indexed ? p.index_offset + c * step_index : 0;
        typename Step<A>::State state;
        Vector<BYTES> greatest;
        auto fold = [&](auto count, bool begins) {
            constexpr int COUNT = decltype(count)::value;
            Vector<BYTES> got[COUNT + 1];
#pragma unroll
            for (int i = 0; i < COUNT; i++)
                load_shared_element<BYTES>(got[i].word, at + i * step, parts);
            if constexpr (numbers && !A::indexed) {
                got[COUNT] = begins ? got[0] : greatest;
                greatest = greatest_of<In, COUNT + 1>(p.recipe, got);
            } else if constexpr (numbers) {
                T x, y;
                Vector<BYTES> which = {};
                greatest = greatest_of<In, COUNT>(p.recipe, got);
                if (COUNT > 1)
                    which = step_index < 0 ? vector_of<In, true, COUNT>(p.recipe, got, greatest)
                                           : vector_of<In, false, COUNT>(p.recipe, got, greatest);
                int64_t here = index + (int64_t)(int)(which.word[0] & 0xffff) * (MATES * step_index);
                read_element<A, In, MAP>(p.recipe, greatest.word, 0, x, y);
                state = begins ? Step<A>::begin(x, y, here) : Step<A>::next(state, x, y, 0, here);
            } else {
#pragma unroll
                for (int i = 0; i < COUNT; i++) {
                    T x, y;
                    int64_t here = index + i * MATES * step_index;
                    read_element<A, In, MAP>(p.recipe, got[i].word, 0, x, y);
                    state = begins && i == 0 ? Step<A>::begin(x, y, here) : Step<A>::next(state, x, y, 0, here);
                }
            }
            at += COUNT * step;
            index += COUNT * MATES * step_index;
        };
        fold(std::integral_constant<int, 1>(), true);
#pragma unroll 1
        for (; left >= 8; left -= 8)
            fold(std::integral_constant<int, 8>(), false);
        if (left & 4)
            fold(std::integral_constant<int, 4>(), false);
        if (left & 2)
            fold(std::integral_constant<int, 2>(), false);
        if (left & 1)
            fold(std::integral_constant<int, 1>(), false);
        if (more)
            fold(std::integral_constant<int, 1>(), false);
        Node node;
        if constexpr (numbers && !A::indexed)
            node = node_of<In, MAP>(greatest.word);
        else
            node = Step<A>::end(state, 0);
#pragma unroll
        for (int bit = MATES / 2; bit >= 1; bit /= 2)
            node = join_full<A>(node, shuffle_xor<A>(node, bit), 0, 0);
        return node;
    }

    /* take(word, mask, number) of the words of a row of bytes that a thread has, wherever the row starts, but for the
       last one; the mask has the bits of the row, which of all but the first are all. */
    template <int MATES, class F>
    __device__ __forceinline__ void each_word(SharedAt at, int skip, int last, F &&take) const
    {
        constexpr int MOST = 32 / W; /* of a thread, of a line */
        int own = (last - c + MATES - 1) >> log2_constant(MATES);
        uint32_t first = c == 0 ? 0xffffffffu << 8 * skip : 0xffffffffu;
        int number = c;
        at += 4 * c;
#pragma unroll 1
        do {
#pragma unroll
            for (int i = 0; i < MOST; i++) {
                if (i % 2 == 0 && i * MATES >= last)
                    break;
                if (i < own) {
                    uint32_t word;
                    load_shared_element<4>(&word, at + 4 * i * MATES, false);
                    take(word, i == 0 ? first : 0xffffffffu, number + i * MATES);
                }
            }
            first = 0xffffffffu;
            own -= MOST;
            last -= MOST * MATES;
            number += MOST * MATES;
            at += MOST * MATES * 4;
        } while (SEVERAL && last > 0);
    }

    /* Sums and extremes of bytes. The last word comes first. Of extremes a byte may count twice: all mates have the
       last word, and what is not of the row is another byte of it. */
    template <int MATES, class In, int MAP> __device__ __forceinline__ Node fold_bytes(SharedAt at) const
    {
        int skip = (int)((uintptr_t)at & 3), end = skip + (int)p.recipe.count, last = (end - 1) >> 2;
        uint32_t word, within = 0xffffffffu >> 8 * (-end & 3);
        T x = 0, y = 0;
        at -= skip;
        load_shared_element<4>(&word, at + 4 * last, false);
        within &= last == 0 ? 0xffffffffu << 8 * skip : 0xffffffffu;
        if constexpr (adds_words<K, In, MAP>()) {
            int sum = add_bytes<In, MAP>(p.recipe, word, 0, c == 0 ? within : 0);
            each_word<MATES>(at, skip, last, [&](uint32_t word, uint32_t mask, int) {
                sum = add_bytes<In, MAP>(p.recipe, word, sum, mask);
            });
            x = y = sum;
        } else {
            const bool omit = !In::integral && p.recipe.omit;
            GreatestBytes<In> bytes(p.recipe,
                                    (word & within) | (__byte_perm(word, 0, last == 0 ? 0x1111u * skip : 0) & ~within));
            auto take = [&](uint32_t word, uint32_t mask, bool omits) {
                bytes.take((word & mask) | (__byte_perm(word, 0, 0x3333) & ~mask), omits);
            };
            if (omit)
                each_word<MATES>(at, skip, last, [&](uint32_t word, uint32_t mask, int) { take(word, mask, true); });
            else
                each_word<MATES>(at, skip, last, [&](uint32_t word, uint32_t mask, int) { take(word, mask, false); });
            read_top<A, In, MAP>(p.recipe, bytes.top(omit), x, y);
        }
        Node node = Step<A>::end(Step<A>::begin(x, y, 0), 0);
#pragma unroll
        for (int bit = MATES / 2; bit >= 1; bit /= 2)
            node = join_full<A>(node, shuffle_xor<A>(node, bit), 0, 0);
        return node;
    }

    /* The index of the greatest of 8-bit integers and truth values: what is the greatest by the word, then where the
       first of those that are like it stands, or of descending indices the last. Bytes of a word that are not the row's
       are copies of its first one that is. */
    template <int MATES, class In, int MAP> __device__ __forceinline__ Node seek_bytes(SharedAt at) const
    {
        int skip = (int)((uintptr_t)at & 3), end = skip + (int)p.recipe.count, last = (end - 1) >> 2;
        int64_t step = p.reduce_rank ? p.dims[p.keep_rank].out : 0;
        const bool latest = step < 0;
        const uint32_t foremost = 0x1111u * skip;
        uint32_t word, within = 0xffffffffu >> 8 * (-end & 3);
        T x, y;
        at -= skip;
        load_shared_element<4>(&word, at + 4 * last, false);
        within &= last == 0 ? 0xffffffffu << 8 * skip : 0xffffffffu;
        GreatestBytes<In> bytes(p.recipe, (word & within) | (__byte_perm(word, 0, last == 0 ? foremost : 0) & ~within));
        each_word<MATES>(at, skip, last, [&](uint32_t word, uint32_t mask, int) {
            bytes.take((word & mask) | (__byte_perm(word, 0, foremost) & ~mask), false);
        });
        uint32_t top = bytes.top(false);
        read_top<A, In, MAP>(p.recipe, top, x, y);
        const Sought<In> sought(p.recipe, top);
        /* All mates have the last word. */
        uint32_t where = sought.template where_in<false>(word) & within;
        int number = last;
        bool found = latest && where != 0;
        each_word<MATES>(at, skip, last, [&](uint32_t word, uint32_t mask, int own) {
            uint32_t here = sought.template where_in<false>(word) & mask;
            bool takes = here != 0 && !found;
            where = takes ? here : where;
            number = takes ? own : number;
            found = found || (takes && !latest);
        });
        int place = 4 * number - skip + (latest ? 31 - __clz(where) : __ffs(where) - 1) / 8;
        Node node = A::element(x, y, p.index_offset + place * step);
#pragma unroll
        for (int bit = MATES / 2; bit >= 1; bit /= 2)
            node = join_full<A>(node, shuffle_xor<A>(node, bit), 0, 0);
        return node;
    }

    /* fold(row) of `left` rows, 32 at most, from `at` on, some a turn; a thread keeps that of its own turn. */
    template <int MATES, class F>
    __device__ __forceinline__ Node fold_turns(SharedAt at, int thread, int pitch, int left, F &&fold) const
    {
        SharedAt last = at + (left - 1) * pitch;
        at += row_of(0, thread) * pitch;
        if constexpr (MATES == 1)
            return fold(at < last ? at : last);
        Node own = {};
#pragma unroll 1
        for (int turn = 0; turn < MATES && row_of(turn) < left; turn++) {
            SharedAt row = at + row_of(turn) * pitch;
            Node folded = fold(row < last ? row : last);
            if (turn == c)
                own = folded;
        }
        return own;
    }

    template <int MATES, class In, int MAP>
    __device__ __forceinline__ Node fold_any_turns(SharedAt at, int thread, int pitch, int left) const
    {
        if constexpr (by_words<In, MAP>())
            return fold_turns<MATES>(at, thread, pitch, left,
                                     [&](SharedAt row) { return fold_bytes<MATES, In, MAP>(row); });
        else if constexpr (seeks_winners<A>() && K::size == 1 && In::integral)
            return fold_turns<MATES>(at, thread, pitch, left,
                                     [&](SharedAt row) { return seek_bytes<MATES, In, MAP>(row); });
        else
            return fold_turns<MATES>(at + c * K::size, thread, pitch, left,
                                     [&](SharedAt row) { return fold_pieces<MATES, In, MAP>(row); });
    }
};

} // namespace rdx
#endif
