/* thread: few rows of packed, aligned columns. A thread owns a vector of columns and has all its rows in flight, at most 16. Of columns in short
   runs that are no slabs (kernel_slabs.cu), an element at a time: the outputs of a vector may lie in two and more. */
#include "column_tree.cuh"
#include "grid.cuh"

namespace rdx
{

enum { MOST_ROWS = 16 };

/* An element of a vector that is clear there. load_vector has the same for itself: as a function of its own the rows of others spill (run_rows, SUM
   F32 2). */
template <class K> RDX_DEVICE void load_into(Vector<K::bytes> &v, int e, const unsigned char *at, int type)
{
    uint32_t one[K::size < 4 ? 1 : K::size / 4];
    load_element<K::size>(one, at, is_complex(type));
    if constexpr (K::size < 4) {
        v.word[e * K::size / 4] |= one[0] << 8 * (e * K::size % 4);
    } else {
#pragma unroll
        for (int w = 0; w < K::size / 4; w++)
            v.word[e * K::size / 4 + w] = one[w];
    }
}

/* The rows of a vector's outputs, each where its run has it. */
template <class K>
RDX_DEVICE void load_elements(Vector<K::bytes> *raw, const Problem &p, int64_t output, int valid, int n, int64_t step)
{
    const unsigned char *at[K::elements] = {};
#pragma unroll 1
    for (int e = 0; e < K::elements; e++) { /* seeking is long: one copy of it, and the places go round */
        int64_t place = seek_output(p, output + (e < valid ? e : 0)).in;
#pragma unroll
        for (int i = 0; i + 1 < K::elements; i++)
            at[i] = at[i + 1];
        at[K::elements - 1] = p.in + place;
    }
#pragma unroll
    for (int row = 0; row < MOST_ROWS; row++)
        if (row < n) {
            raw[row] = {};
#pragma unroll
            for (int e = 0; e < K::elements; e++)
                load_into<K>(raw[row], e, at[e] + row * step, p.recipe.in);
        }
}

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) thread_columns_kernel(const __grid_constant__ Problem p)
{
    constexpr int E = K::elements;
    typedef typename K::A::Node Node;
    const RdxCudaShape &s = p.shape;
    int n = (int)p.recipe.count;
    int64_t step = p.reduce_rank ? p.dims[p.keep_rank].in : 0;
    const GroupPairs<typename K::A> pairs(n, 0);
    for (int64_t number = blockIdx.x; number < s.items; number += gridDim.x) {
        Item item = item_of(p, number);
        int column = (int)threadIdx.x * E, valid = item.outputs - column < E ? (int)item.outputs - column : E;
        if (valid <= 0)
            continue;
        Vector<K::bytes> raw[MOST_ROWS];
        if (E == 1 || valid < E || s.gathers) {
            load_elements<K>(raw, p, item.first_output + column, valid, n, step);
        } else {
            const unsigned char *in = p.in + seek_output(p, item.first_output + column).in;
#pragma unroll
            for (int row = 0; row < MOST_ROWS; row++)
                if (row < n)
                    load<K::bytes>(raw[row].word, in + row * step);
        }
        Node node[E];
        auto reduce = [&](auto in, auto map) {
            ColumnTree<K, decltype(in), decltype(map)::value, MOST_ROWS>{p, raw, pairs, n}.reduce(node);
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
