/* A thread's vector of columns that has all its rows in registers: each row is a lane of one element, and the tree is halving, written
   out by templates: a loop would put the rows in local memory. */
#ifndef RDX_KERNELS_CUDA_COLUMN_TREE_CUH
#define RDX_KERNELS_CUDA_COLUMN_TREE_CUH

#include "bytes.cuh"
#include "thread.cuh"

namespace rdx
{

/* At most ROWS rows, a power of two, of elements In mapped by MAP. */
template <class K, class In, int MAP, int ROWS> struct ColumnTree {
    typedef typename K::A A;
    typedef typename A::T T;
    typedef typename A::Node Node;
    static constexpr int E = K::elements;

    const Problem &p;
    const Vector<K::bytes> *raw;
    int n;

    /* The nodes of the columns. Bytes that may be taken in any order are, four columns an instruction. */
    __device__ __forceinline__ void reduce(Node *node) const
    {
        if constexpr (MAP != RDX_CUDA_ANY_MAP && compares_bytes<A, In>()) {
            with_omit<In>(p.recipe, [&](auto omit) {
                greatest_bytes<In, omit, ROWS>(p.recipe, raw, n, [&](int e, uint32_t top, int) {
                    T x, y;
                    read_top<A, In, MAP>(p.recipe, top, x, y);
                    node[e] = node_of_element<A>(x, y, 0);
                });
            });
        } else if constexpr (MAP != RDX_CUDA_ANY_MAP && adds_bytes<A, In>()) {
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
            join<1, 0>(node);
        }
    }

  private:
    /* T(H, R) of each column of the vector; R < n. */
    template <int H, int R> __device__ __forceinline__ void join(Node *node) const
    {
        if constexpr (H == ROWS) {
#pragma unroll
            for (int e = 0; e < E; e++) {
                T x, y;
                read_element<A, In, MAP>(p.recipe, raw[R].word, e * K::size, x, y);
                node[e] = node_of_element<A>(x, y, p.index_offset + (p.reduce_rank ? R * p.dims[p.keep_rank].out : 0));
            }
        } else {
            Node right[E];
            join<2 * H, R>(node);
            if (R + H < n) {
                constexpr int step = log2_constant(2 * H);
                join<2 * H, R + H>(right);
#pragma unroll
                for (int e = 0; e < E; e++)
                    node[e] =
                        join_full<A>(node[e], right[e], elements_of_lane(n, R, step), elements_of_lane(n, R + H, step));
            }
        }
    }
};

} // namespace rdx
#endif
