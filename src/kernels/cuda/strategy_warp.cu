/* warp: short rows. Up to four lines a row, a warp takes a row (rows.cuh) with few registers, so that many are resident.

   Contiguous, at most one line of 512 bytes (vectors that are misaligned come element by element), so that a lane holds one element and the tree is halving alone.
   `mates` neighbouring threads share a row, one vector each; a warp has 32 / mates rows side by side, and RDX_CUDA_SHORT_ROWS times
   that in flight. Mates halve by butterflies, which leave T(E, e) in every one of them, and each ends alone. */
#include "rows.cuh"

namespace rdx
{

template <class K> struct ShortRows {
    typedef typename K::A A;
    typedef typename A::T T;
    typedef typename A::Node Node;
    static constexpr int E = K::elements;

    const Problem &p;

    __device__ __forceinline__ Node halve(Node *node) const
    {
        int n = (int)p.recipe.count, t = thread_of_warp();
#pragma unroll 1
        for (int bit = p.shape.mates / 2; bit >= 1; bit /= 2) {
#pragma unroll
            for (int e = 0; e < E; e++)
                node[e] =
                    join_halves<A>(node[e], shuffle_xor<A>(node[e], bit), t & bit, n, bit * E, (t & (bit - 1)) * E + e);
        }
#pragma unroll
        for (int h = E / 2; h >= 1; h /= 2) {
#pragma unroll
            for (int e = 0; e < h; e++)
                node[e] = join_halves<A>(node[e], node[e + h], false, n, h, e);
        }
        return node[0];
    }

    __device__ __forceinline__ Node row_of(const Vector<K::bytes> &raw, int element) const
    {
        Node node[E];
        int64_t step = p.dims[p.keep_rank].out, index = p.index_offset + element * step;
        with_input<K>(p.recipe.in, [&](auto in) {
#pragma unroll
            for (int e = 0; e < E; e++) {
                T x, y;
                read_element<A, decltype(in)>(p.recipe, raw.word, e * K::size, x, y);
                node[e] = node_of_element<A>(x, y, index + e * step);
            }
        });
        return halve(node);
    }
};

/* RDX_CUDA_SHORT_ROWS rows of several lines, one after the other. */
template <class K> RDX_DEVICE void long_rows(const Problem &p, const Item &item)
{
    int n = (int)p.recipe.count, t = thread_of_warp();
#pragma unroll 1
    for (int i = 0; i < RDX_CUDA_SHORT_ROWS; i++) {
        int row = i * (RDX_CUDA_THREADS / 32) + (int)threadIdx.x / 32;
        if (row >= item.outputs)
            return;
        const unsigned char *at = p.in + seek_output(p, item.first_output + row).in;
        typename K::A::Node node = fold_chunk<K, 4>(p, at, 0, n);
        if (t == 0)
            deliver<typename K::A>(p, item, row, node);
    }
}

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 3) short_kernel(const __grid_constant__ Problem p)
{
    constexpr int E = K::elements, ROWS = RDX_CUDA_SHORT_ROWS;
    const RdxCudaShape &s = p.shape;
    int mates_log2 = log2_of(s.mates), mine = (int)threadIdx.x >> mates_log2, rows = RDX_CUDA_THREADS >> mates_log2;
    int element = ((int)threadIdx.x & (s.mates - 1)) * E;
    int left = (int)p.recipe.count - element, have = left < 0 ? 0 : left < E ? left : E;
    ShortRows<K> short_rows = {p};
    for (int64_t number = blockIdx.x; number < s.items; number += gridDim.x) {
        Item item = item_of(p, number);
        if (p.recipe.count > 32 * E) {
            long_rows<K>(p, item);
            continue;
        }
        Vector<K::bytes> raw[ROWS];
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            int row = mine + i * rows;
            if (row < item.outputs && have > 0) {
                const unsigned char *at = p.in + seek_output(p, item.first_output + row).in + element * K::size;
                load_vector<K>(raw[i], at, have, p.recipe.in, ((uintptr_t)at & (K::bytes - 1)) == 0);
            }
        }
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            int row = mine + i * rows;
            typename K::A::Node node = short_rows.row_of(raw[i], element);
            if (row < item.outputs && element == 0)
                deliver<typename K::A>(p, item, row, node);
        }
    }
}

} // namespace rdx

#define RDX_STRATEGY warp
#define RDX_KERNEL rdx::short_kernel
#define RDX_ELEMENTS(size, words) (16 / (size))
#include "stamp.inc"
