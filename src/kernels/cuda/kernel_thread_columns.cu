/* thread: few rows of packed, aligned columns. A thread owns a vector of columns and has all its rows in flight, at most 16; each is a
   lane of one element, and the tree is halving in registers, written out by templates: a loop would put the rows in local memory. */
#include "block.cuh"

namespace rdx
{

enum { MOST_ROWS = 16 };

template <class K, class In> struct Column {
    typedef typename K::A A;
    typedef typename A::T T;
    typedef typename A::Node Node;
    static constexpr int E = K::elements;

    const Problem &p;
    const Vector<K::bytes> *raw;
    int n;

    /* T(H, R) of each column of the vector; R < n. */
    template <int H, int R> __device__ __forceinline__ void tree(Node *node) const
    {
        if constexpr (H == MOST_ROWS) {
#pragma unroll
            for (int e = 0; e < E; e++) {
                T x, y;
                read_element<A, In>(p.recipe, raw[R].word, e * K::size, x, y);
                node[e] = node_of_element<A>(x, y, p.index_offset + (p.reduce_rank ? R * p.dims[p.keep_rank].out : 0));
            }
        } else {
            Node right[E];
            tree<2 * H, R>(node);
            if (R + H < n) {
                constexpr int step = log2_constant(2 * H);
                tree<2 * H, R + H>(right);
#pragma unroll
                for (int e = 0; e < E; e++)
                    node[e] =
                        join_full<A>(node[e], right[e], elements_of_lane(n, R, step), elements_of_lane(n, R + H, step));
            }
        }
    }
};

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) thread_columns_kernel(const __grid_constant__ Problem p)
{
    constexpr int E = K::elements;
    typedef typename K::A::Node Node;
    const RdxCudaShape &s = p.shape;
    int n = (int)p.recipe.count;
    int64_t step = p.reduce_rank ? p.dims[p.keep_rank].in : 0;
    for (int64_t number = blockIdx.x; number < s.items; number += gridDim.x) {
        Item item = item_of(p, number);
        int column = (int)threadIdx.x * E, valid = item.outputs - column < E ? (int)item.outputs - column : E;
        if (valid <= 0)
            continue;
        const unsigned char *in = p.in + seek_output(p, item.first_output + column).in;
        Vector<K::bytes> raw[MOST_ROWS];
#pragma unroll
        for (int row = 0; row < MOST_ROWS; row++)
            if (row < n)
                load_vector<K>(raw[row], in + row * step, valid, p.recipe.in);
        Node node[E];
        with_input<K>(p.recipe.in, [&](auto input) {
            Column<K, decltype(input)>{p, raw, n}.template tree<1, 0>(node);
        });
        deliver_vector<K>(p, item, column, node, valid);
    }
}

} // namespace rdx

#define RDX_KERNEL_NAME thread_columns
#define RDX_ELEMENTS(size, words) ((size) == 1 ? 4 : (size) == 2 ? 4 : 16 / (size))
#include "stamp.inc"
