/* Folds rows of at most one line (kernel_short_rows.cu), an element a load, of bytes a word, up to 32 lanes a thread:
   see row_fold.cuh. A thread that has a row of whole, aligned vectors loads those: most are an odd number of them
   apart, so that vectors meet no bank twice where elements meet one of eight. */
#ifndef RDX_KERNELS_CUDA_LINE_FOLD_CUH
#define RDX_KERNELS_CUDA_LINE_FOLD_CUH

#include "ring.cuh"
#include "row_fold.cuh"

namespace rdx
{

template <class K> struct LineRow : RowFold<K, false> {
    typedef RowFold<K, false> Base;
    using Base::any_order;
    using Base::c;
    using Base::joins_counted;
    using Base::mates_log2;
    using Base::p;
    using typename Base::A;
    using typename Base::Node;
    using typename Base::T;
    /* Nodes of at most two words, with counts but for 8-bit floats, and what takes its elements in any order. */
    static constexpr bool plain = !any_order && !A::indexed && A::words <= 2 && (!A::counted || joins_counted);
    static constexpr int V = 16 / K::size;                                           /* elements of a vector */
    static constexpr int LANES = any_order || A::words == 1 || A::counted ? 32 : 16; /* of a thread, at most */
    static constexpr int most_mates = line_bytes / K::size / LANES;
    static constexpr bool exists = plain || any_order;
    static constexpr int blocks =
        exists && A::words <= 2 && LANES == 32 ? 3 : 2; /* of a multiprocessor, as registers allow */
    static constexpr int most_joins = joins_counted ? (LANES / 2 + 3) * most_mates : 1;

    __device__ __forceinline__ LineRow(const Problem &problem, const LineJoin *of_block, int thread, int pitch,
                                       int rows)
        : Base(problem, of_block, log2_of_mates((int)problem.recipe.count), thread, pitch, rows)
    {
    }

    static __device__ __forceinline__ int log2_of_mates(int n)
    {
        return n > LANES ? 32 - log2_constant(LANES) - __clz(n - 1) : 0;
    }

    static __device__ __forceinline__ void fill(LineJoin *joins, int n)
    {
        if constexpr (joins_counted)
            Base::fill_joins(joins, n, log2_of_mates(n), n > LANES ? LANES / 2 : 1 << (31 - __clz(n - 1 | 1)));
    }

    /* Of two lanes of an element each. */
    static __device__ __forceinline__ Node join_elements(const Node &low, const Node &high)
    {
        return join_full<A>(low, high, 1, 1);
    }

    /* The node of a row, an element a load: OWN lanes a thread, of which no thread lacks one of the lower half. FULL:
       none at all, else the first `own`. What a thread lacks is asked once for BREAK lanes. */
    template <bool FULL, int MATES, int OWN, class In, int MAP>
    __device__ __forceinline__ Node fold_line(SharedAt at, int n, int own) const
    {
        constexpr int H = OWN > 1 ? OWN / 2 : 1, step = K::size * MATES, words = K::size < 4 ? 1 : K::size / 4;
        constexpr int BREAK = A::counted ? 4 : 8;
        uint32_t word[H][words];
        Node node[H];
        bool parts = is_complex(p.recipe.in);
#pragma unroll
        for (int j = 0; j < H; j++)
            load_shared_element<K::size>(word[j], at + j * step, parts);
#pragma unroll
        for (int j = 0; j < H; j++)
            node[j] = this->template node_of<In, MAP>(word[j]);
#pragma unroll
        for (int j = H; j < OWN; j++) {
            if (!FULL && (j - H) % BREAK == 0 && j * MATES >= n)
                break;
            /* A word of its own: what a condition may leave as it was is kept from row to row, in registers. */
            if (FULL || j < own) {
                uint32_t more[words];
                load_shared_element<K::size>(more, at + j * step, parts);
                node[j - H] = join_elements(node[j - H], this->template node_of<In, MAP>(more));
            }
        }
        return this->template halve_line<MATES, H>(node);
    }

    /* Whether a thread's rows are made of whole vectors. */
    __device__ __forceinline__ bool has_vectors(SharedAt at, int pitch) const
    {
        return (((unsigned)(uintptr_t)at | (unsigned)pitch) & 15) == 0 && (int)p.recipe.count % V == 0;
    }

    /* The node of a row of whole vectors that one thread has, of more than half of OWN lanes. */
    template <int OWN, class In, int MAP> __device__ __forceinline__ Node fold_vectors(SharedAt at, int n) const
    {
        constexpr int H = OWN / 2;
        Vector<16> raw[H / V];
        Node node[H];
        auto element = [&](const Vector<16> &from, int e) RDX_INLINED {
            T x, y;
            read_element<A, In, MAP>(p.recipe, from.word, e * K::size, x, y);
            return node_of_element<A>(x, y, 0);
        };
#pragma unroll
        for (int v = 0; v < H / V; v++)
            raw[v] = take(at + 16 * v, 0);
#pragma unroll
        for (int j = 0; j < H; j++)
            node[j] = element(raw[j / V], j % V);
#pragma unroll
        for (int v = 0; v < H / V; v++) {
            if (H + v * V >= n)
                break;
            const Vector<16> more = take(at + 16 * (H / V + v), 0);
#pragma unroll
            for (int e = 0; e < V; e++)
                node[v * V + e] = join_elements(node[v * V + e], element(more, e));
        }
        return this->template halve_line<1, H>(node);
    }

    /* The same in any order. */
    template <class In, int MAP> __device__ __forceinline__ Node fold_any_vectors(SharedAt at, int n) const
    {
        if constexpr (compares_words<A, In>() && !A::indexed) {
            Vector<16> raw[LANES / V];
#pragma unroll
            for (int v = 0; v < LANES / V; v++)
                if (v == 0 || v * V < n)
                    raw[v] = take(at + 16 * v, 0);
            uint32_t top = greatest_in<In>(p.recipe, greatest_of<In, LANES / V>(p.recipe, raw, n / V));
            return this->template node_of<In, MAP>(&top);
        } else {
            const int64_t step = A::indexed && p.reduce_rank ? p.dims[p.keep_rank].out : 0;
            int64_t index = A::indexed ? p.index_offset : 0;
            typename Step<A>::State state;
#pragma unroll 1
            for (int first = 0; first < n; first += V, index += V * step) {
                const Vector<16> raw = take(at + first * K::size, 0);
#pragma unroll
                for (int e = 0; e < V; e++) {
                    T x, y;
                    read_element<A, In, MAP>(p.recipe, raw.word, e * K::size, x, y);
                    state = first == 0 && e == 0 ? Step<A>::begin(x, y, index)
                                                 : Step<A>::next(state, x, y, 0, index + e * step);
                }
            }
            return Step<A>::end(state, 0);
        }
    }

    template <int MATES, int OWN, class In, int MAP>
    __device__ __forceinline__ Node fold_with(SharedAt at, int thread, int pitch, int left) const
    {
        constexpr int next_mates = OWN == LANES ? 2 * MATES : MATES, next_own = OWN == LANES ? OWN : 2 * OWN;
        int n = (int)p.recipe.count;
        if constexpr (OWN * MATES * K::size < line_bytes) {
            if (n > OWN * MATES)
                return fold_with<next_mates, next_own, In, MAP>(at, thread, pitch, left);
        }
        auto fold = [&](auto full) {
            int known = forgotten(n); /* lest what is made of it for all the ways is kept in registers */
            int own = (known - c + MATES - 1) >> log2_constant(MATES);
            return this->template fold_turns<MATES>(at + c * K::size, thread, pitch, left, [&](SharedAt row) {
                return fold_line<decltype(full)::value, MATES, OWN, In, MAP>(row, known, own);
            });
        };
        if constexpr (MATES == 1 && V > 1 && OWN >= 2 * V) {
            if (has_vectors(at, pitch))
                return this->template fold_turns<1>(at, thread, pitch, left, [&](SharedAt row) {
                    return fold_vectors<OWN, In, MAP>(row, forgotten(n));
                });
        }
        if constexpr (!A::counted) { /* of those with counts nearly all that are full are packed_rows' */
            if (n == OWN * MATES)
                return fold(std::true_type());
        }
        return fold(std::false_type());
    }

    template <int MATES, class In, int MAP>
    __device__ __forceinline__ Node fold_any(SharedAt at, int thread, int pitch, int left) const
    {
        if constexpr (MATES < most_mates) {
            if (mates_log2 > log2_constant(MATES))
                return fold_any<2 * MATES, In, MAP>(at, thread, pitch, left);
        }
        if constexpr (MATES == 1 && adds_words<K, In, MAP>()) {
            return unset<A>(); /* byte_rows.cuh has those */
        } else {
            if constexpr (MATES == 1 && V > 1 && K::size > 1) {
                if (has_vectors(at, pitch))
                    return this->template fold_turns<1>(at, thread, pitch, left, [&](SharedAt row) {
                        return fold_any_vectors<In, MAP>(row, (int)p.recipe.count);
                    });
            }
            return this->template fold_any_turns<MATES, In, MAP>(at, thread, pitch, left);
        }
    }

    /* What is folded this way: rows of a line under a map that kernels know. */
    static __device__ __forceinline__ bool takes(const Problem &p)
    {
        bool known = false;
        if (exists && p.shape.lines == 1)
            with_frequent<K>(p.recipe, [&](auto in, auto) {
                known = plain || K::size > 1 || decltype(in)::integral || compares_bytes<A, decltype(in)>();
            });
        return known;
    }

    /* The node of row row_of(c, thread) of `left` rows, 32 at most, from `at` on. */
    __device__ __forceinline__ Node fold_rows(SharedAt at, int thread, int pitch, int left) const
    {
        Node own = unset<A>();
        with_frequent<K>(p.recipe, [&](auto in, auto map) {
            typedef decltype(in) In;
            constexpr int MAP = decltype(map)::value;
            if constexpr (plain)
                own = fold_with<1, 1, In, MAP>(at, thread, pitch, left);
            else if constexpr (K::size > 1 || In::integral || compares_bytes<A, In>())
                own = fold_any<1, In, MAP>(at, thread, pitch, left);
        });
        return own;
    }
};

} // namespace rdx
#endif
