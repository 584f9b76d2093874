/* short_columns: many packed, aligned columns of at most eight rows. An output takes so few elements that what a thread does for each
   weighs more than what it reads: so a thread has several vectors of columns under way where they have fewer rows, none of them ragged,
   and stores the outputs of a vector at once. H200, us, by thread_columns and here: sum f32 2 x 64M 447, 205; 4 x 16M 153, 85;
   bf16 4 x 32M 425, 89. */
#include "column_tree.cuh"
#include "grid.cuh"

namespace rdx
{

/* seek_output of at most 2^30 outputs. */
RDX_DEVICE Place seek_column(const Problem &p, unsigned output)
{
    Place place = {0, 0, 0};
#pragma unroll 1
    for (int d = p.keep_rank - 1; d > 0; d--) {
        unsigned extent = (unsigned)p.dims[d].extent, rest = output / extent;
        walk(place, p.dims[d], output - rest * extent);
        output = rest;
    }
    walk(place, p.dims[0], output);
    return place;
}

/* A thread's vectors of columns, which lie a block's width apart: the rows of one after those of the other. */
template <class K> struct ShortColumns {
    static constexpr int E = K::elements, STRIDE = RDX_CUDA_THREADS * E;
    typedef typename K::A::Node Node;

    const Problem &p;
    unsigned first; /* output */
    template <int ROWS> static constexpr int vectors = RDX_CUDA_SHORT_VECTORS(ROWS, K::bytes);
    static constexpr int SLOTS = RDX_CUDA_SHORT_ROWS > 2 * vectors<2> ? RDX_CUDA_SHORT_ROWS : 2 * vectors<2>;
    Vector<K::bytes> rows[SLOTS];

    __device__ __forceinline__ bool has(int vector) const
    {
        return first + vector * STRIDE < (unsigned)p.outputs;
    }

    template <int ROWS> __device__ __forceinline__ void load_rows()
    {
        int64_t step = p.reduce_rank ? p.dims[p.keep_rank].in : 0;
#pragma unroll
        for (int v = 0; v < vectors<ROWS>; v++)
            if (has(v)) {
                const unsigned char *in = p.in + seek_column(p, first + v * STRIDE).in;
#pragma unroll
                for (int row = 0; row < ROWS; row++)
                    if (row < (int)p.recipe.count)
                        load<K::bytes>(rows[v * ROWS + row].word, in + row * step);
            }
    }

    /* The nodes of the first vector, in whose place comes the next. */
    template <int ROWS> __device__ __forceinline__ void reduce_rows(const GroupPairs<typename K::A> &pairs, Node *node)
    {
        with_known<K>(p.recipe, [&](auto in, auto map) {
            ColumnTree<K, decltype(in), decltype(map)::value, ROWS>{p, rows, pairs, (int)p.recipe.count}.reduce(node);
        });
#pragma unroll
        for (int slot = 0; slot + ROWS < ROWS * vectors<ROWS>; slot++)
            rows[slot] = rows[slot + ROWS];
    }
};

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 3) short_columns_kernel(const __grid_constant__ Problem p)
{
    typedef ShortColumns<K> Columns;
    int n = (int)p.recipe.count;
    Columns columns = {p, blockIdx.x * (unsigned)p.shape.group_outputs + threadIdx.x * Columns::E};
    if (n <= 2)
        columns.template load_rows<2>();
    else if (n <= 4)
        columns.template load_rows<4>();
    else
        columns.template load_rows<8>();
    const GroupPairs<typename K::A> pairs(n, 0);
    const RdxCudaDim &step = p.dims[p.keep_rank - 1];
    int vectors = (int)p.shape.group_outputs / Columns::STRIDE, bytes = kept(together<K>(p, step));
    /* Trees and stores are long: one copy of them, and the rows go round. */
#pragma unroll 1
    for (int v = 0; v < vectors && columns.has(v); v++) {
        typename Columns::Node node[Columns::E];
        if (n <= 2)
            columns.template reduce_rows<2>(pairs, node);
        else if (n <= 4)
            columns.template reduce_rows<4>(pairs, node);
        else
            columns.template reduce_rows<8>(pairs, node);
        Place place = seek_column(p, columns.first + v * Columns::STRIDE);
        store_vector<K>(p, {p.out + place.out, p.out2 + place.out2, 0, p.copies}, step, node, Columns::E, bytes);
    }
}

} // namespace rdx

#define RDX_KERNEL_NAME short_columns
#define RDX_ELEMENTS(size, words) RDX_CUDA_SHORT_COLUMNS(size, words)
#include "stamp.inc"
