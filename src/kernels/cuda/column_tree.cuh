/* A thread's vector of columns that has all its rows in registers: each row is a lane of one element. */
#ifndef RDX_KERNELS_CUDA_COLUMN_TREE_CUH
#define RDX_KERNELS_CUDA_COLUMN_TREE_CUH

#include "greatest.cuh"
#include "group_tree.cuh"

namespace rdx
{

/* At most ROWS rows, a power of two but of those that are compared, of elements In mapped by MAP; SURE: so many are
   there. */
template <class K, class In, int MAP, int ROWS, int SURE = 1> struct ColumnTree {
    typedef typename K::A A;
    typedef typename A::T T;
    typedef typename A::Node Node;
    static constexpr int E = K::elements, LANES = ROWS;
    static constexpr bool ALONE = true;

    const Problem &p;
    const Vector<K::bytes> *raw;
    const GroupPairs<A> &pairs; /* of n, one apart */
    int n;

    /* Extremes that are elements, as they are, where outputs have the input's dtype. */
    static constexpr bool stays = A::algebra == RDX_ALGEBRA_MAX && !In::is_complex && MAP != RDX_CUDA_ANY_MAP &&
                                  (compares_words<A, In>() || (compares_bytes<A, In>() && In::integral));
    __device__ __forceinline__ Vector<K::bytes> extremes() const
    {
        if constexpr (In::size == 1) {
            Vector<K::bytes> top;
#pragma unroll
            for (int w = 0; w < K::bytes / 4; w++)
                top.word[w] = greatest_bytes_of<In, false, ROWS>(p.recipe, raw, n, w).tops();
            return top;
        } else {
            Vector<K::bytes> top = greatest_of<In, ROWS>(p.recipe, raw, n);
            if constexpr (!In::integral) { /* see value_of_key */
                constexpr uint32_t nan = In::size == 4              ? 0x7fc00000u
                                         : In::type == RDX_TYPE_F16 ? 0x7e007e00u
                                                                    : 0x7fc07fc0u;
                const uint32_t none = p.recipe.omit && p.recipe.op == RDX_NORM ? 0 : nan;
#pragma unroll
                for (int w = 0; w < K::bytes / 4; w++) {
                    const uint32_t numbers = where_equal<In>(top.word[w], top.word[w]);
                    top.word[w] = (top.word[w] & numbers) | (none & ~numbers);
                }
            }
            return top;
        }
    }

    /* The nodes of the columns. What may be taken in any order is compared as it is, a word an instruction, and bytes
       are added four columns an instruction. */
    __device__ __forceinline__ void reduce(Node *node) const
    {
        constexpr bool known = MAP != RDX_CUDA_ANY_MAP;
        const int64_t step = A::indexed && p.reduce_rank ? p.dims[p.keep_rank].out : 0;
        auto make = [&](int e, T x, T y, int row) RDX_INLINED {
            const int64_t index = p.index_offset + row * step;
            node[e] = node_of_element<A>(x, y, index);
        };
        if constexpr (known && compares_words<A, In>()) {
            const Vector<K::bytes> greatest = greatest_of<In, ROWS, false, SURE>(p.recipe, raw, n);
            Vector<K::bytes> which = {};
            if constexpr (A::indexed)
                which = step < 0 ? vector_of<In, true, ROWS, SURE>(p.recipe, raw, greatest, n)
                                 : vector_of<In, false, ROWS, SURE>(p.recipe, raw, greatest, n);
#pragma unroll
            for (int e = 0; e < E; e++) {
                T x, y;
                read_element<A, In, MAP>(p.recipe, greatest.word, e * K::size, x, y);
                make(e, x, y, (int)bits_at<K::size>(which.word, e * K::size));
            }
        } else if constexpr (known && ranks_bytes<A, In>()) {
            auto take = [&](int e, uint32_t top, int row) RDX_INLINED {
                T x, y;
                read_top<A, In, MAP>(p.recipe, top, x, y);
                make(e, x, y, row);
            };
            if (step < 0)
                greatest_bytes<In, false, ROWS, true, true>(p.recipe, raw, n, take);
            else
                greatest_bytes<In, false, ROWS, true, false>(p.recipe, raw, n, take);
        } else if constexpr (known && compares_bytes<A, In>()) {
            with_omit<In>(p.recipe, [&](auto omit) {
                greatest_bytes<In, omit, ROWS>(p.recipe, raw, n, [&](int e, uint32_t top, int) {
                    T x, y;
                    read_top<A, In, MAP>(p.recipe, top, x, y);
                    make(e, x, y, 0);
                });
            });
        } else if constexpr (known && adds_bytes<A, In>()) {
            int sums[E] = {};
#pragma unroll
            for (int row = 0; row < ROWS; row += 4) {
                if (row >= n)
                    continue;
#pragma unroll
                for (int w = 0; w < K::bytes / 4; w++)
                    add_lines<In, MAP>(
                        p.recipe, n - row < 4 ? n - row : 4, [&](int u) { return raw[row + u].word[w]; },
                        [&](int i) -> int & { return sums[4 * w + i]; });
            }
#pragma unroll
            for (int e = 0; e < E; e++)
                node[e] = {sums[e]};
        } else {
            join_group(*this, node);
        }
    }

    /* What join_group asks for. */
    template <int R> __device__ __forceinline__ void lane(Node *node) const
    {
#pragma unroll
        for (int e = 0; e < E; e++) {
            T x, y;
            read_element<A, In, MAP>(p.recipe, raw[R].word, e * K::size, x, y);
            node[e] = leaf_node<A, is_upper<ColumnTree, R>()>(
                x, y, p.index_offset + (p.reduce_rank ? R * p.dims[p.keep_rank].out : 0));
        }
    }
    __device__ __forceinline__ bool is_there(int row) const
    {
        return row < n;
    }
    template <int H> __device__ __forceinline__ typename A::Pair pair(int row) const
    {
        return pairs.template of<H>(row);
    }
};

} // namespace rdx
#endif
