/* A thread's vector of columns that has all its rows in registers: each row is a lane of one element, and the tree is halving, written
   out by templates: a loop would put the rows in local memory. */
#ifndef RDX_KERNELS_CUDA_COLUMN_TREE_CUH
#define RDX_KERNELS_CUDA_COLUMN_TREE_CUH

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
