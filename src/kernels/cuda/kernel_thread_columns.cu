/* thread: few rows of packed, aligned columns. A thread owns a vector of columns and has all its rows in flight, at most 16. */
#include "column_tree.cuh"
#include "grid.cuh"

namespace rdx
{

enum { MOST_ROWS = 16 };

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
        auto reduce = [&](auto in, auto map) {
            ColumnTree<K, decltype(in), decltype(map)::value, MOST_ROWS>{p, raw, n}.reduce(node);
        };
        if (K::size > 1 || !with_frequent<K>(p.recipe, reduce)) /* of others one copy of the tree, for all maps */
            with_input<K>(p.recipe.in, [&](auto in) { reduce(in, std::integral_constant<int, RDX_CUDA_ANY_MAP>()); });
        deliver_vector<K>(p, item, column, node, valid);
    }
}

} // namespace rdx

#define RDX_KERNEL_NAME thread_columns
#define RDX_ELEMENTS(size, words) RDX_CUDA_THREAD_COLUMNS(size)
#include "stamp.inc"
