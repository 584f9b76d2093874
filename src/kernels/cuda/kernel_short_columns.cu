/* short_columns: many packed, aligned columns of at most eight rows. An output takes so few elements that what a thread does for each
   weighs more than what it reads: so a thread has several vectors of columns under way, as few rows as they have, and stores the
   outputs of a vector at once. H200, us, by thread_columns and here: sum f32 2 x 64M 447, 187; 4 x 16M 153, 78; bf16 4 x 32M 425, 91. */
#include "column_tree.cuh"
#include "grid.cuh"

namespace rdx
{

/* What the outputs of a vector are stored as, at once, where they are a float's sum, mean, norm or extreme, a sum of small integers or an
   index, and nothing else is to be done with them: emit takes some 70 instructions for each. */
template <class A> struct Packed {
    typedef typename A::T T;
    static constexpr int algebra = A::algebra;
    static constexpr bool is_extreme = algebra == RDX_ALGEBRA_MAX && A::unit == 1,
                          is_count = algebra == RDX_ALGEBRA_ISUM,
                          is_index = algebra == RDX_ALGEBRA_ARGMAX || algebra == RDX_ALGEBRA_ARGMAXL;
    static constexpr bool exists = may_be_direct<A>() || is_extreme || is_count || is_index;
    typedef typename std::conditional<is_count || is_index, int64_t,
                                      typename std::conditional<sizeof(T) == 4, float, double>::type>::type Value;

    /* Bytes of an output; 0: it is stored otherwise. */
    static __device__ __forceinline__ int size(const Problem &p)
    {
        if constexpr (exists) {
            int size = size_of_value(p);
            return p.dims[p.keep_rank - 1].out == size ? size : 0;
        }
        return 0;
    }
    static __device__ __forceinline__ int size_of_value(const Problem &p)
    {
        const RdxRecipe &r = p.recipe;
        constexpr bool narrow = sizeof(Value) == 4;
        if (!p.shape.plain || r.second != RDX_SECOND_NONE)
            return 0;
        if (is_count)
            return p.shape.direct ? 8 : 0;
        if (is_index)
            return r.out == RDX_TYPE_I64 && !r.omit ? 8 : 0;
        if (is_extreme ? r.result != (narrow ? RDX_WORK_F32 : RDX_WORK_F64)
                       : r.omit || (r.finish > RDX_FINISH_MEAN && r.finish != RDX_FINISH_SQRT))
            return 0;
        if (r.out == (narrow ? RDX_TYPE_F32 : RDX_TYPE_F64))
            return sizeof(Value);
        return narrow && (r.out == RDX_TYPE_F16 || r.out == RDX_TYPE_BF16) ? 2 : 0;
    }

    static __device__ __forceinline__ Value value(const Problem &p, const typename A::Node &node)
    {
        const RdxRecipe &r = p.recipe;
        if constexpr (is_count) {
            return node.s;
        } else if constexpr (is_index) {
            return node.i;
        } else if constexpr (is_extreme) {
            return value_of_key(node.k, r, r.flip);
        } else {
            Value x = node.s;
            if (r.finish == RDX_FINISH_MEAN)
                x = x / (Value)r.count;
            if (r.finish == RDX_FINISH_SQRT)
                x = root_of(x + 0);
            return x == x ? x : nan_of(x);
        }
    }

    /* At once, or by sixteen bytes. */
    template <int E, class X> static __device__ __forceinline__ void store_pieces(unsigned char *to, const X *x)
    {
        constexpr int each = E * sizeof(X) > 16 ? 16 / sizeof(X) : E;
        struct alignas(each * sizeof(X)) Piece {
            X x[each];
        };
#pragma unroll
        for (int first = 0; first < E; first += each) {
            Piece piece;
#pragma unroll
            for (int e = 0; e < each; e++)
                piece.x[e] = x[first + e];
            store_aligned(to + first * sizeof(X), piece);
        }
    }

    template <int E>
    static __device__ __forceinline__ void store(const Problem &p, unsigned char *to, const typename A::Node *node)
    {
        Value x[E];
#pragma unroll
        for (int e = 0; e < E; e++)
            x[e] = value(p, node[e]);
        if constexpr (sizeof(Value) == 4)
            if (p.recipe.out != RDX_TYPE_F32) {
                uint16_t half[E];
#pragma unroll
                for (int e = 0; e < E; e++)
                    half[e] = p.recipe.out == RDX_TYPE_F16 ? rdx_store_f16(x[e]) : rdx_store_bf16(x[e]);
                store_pieces<E>(to, half);
                return;
            }
        store_pieces<E>(to, x);
    }
};

/* `size`: of Packed. */
template <class K>
RDX_DEVICE void store_columns(const Problem &p, const Place &place, int size, typename K::A::Node *node)
{
    typedef typename K::A A;
    constexpr int E = K::elements;
    const RdxCudaDim &kept = p.dims[p.keep_rank - 1];
    Target target = {p.out + place.out, p.out2 + place.out2, 0, p.copies};
    if constexpr (Packed<A>::exists) {
        unsigned bytes = E * size < 16 ? E * size : 16;
        if (size > 0 && ((unsigned)(uintptr_t)target.out & (bytes - 1)) == 0) {
            Packed<A>::template store<E>(p, target.out, node);
            return;
        }
    }
#pragma unroll 1
    for (int e = 0; e < E; e++) { /* what it takes to emit is long: one copy of it, and the nodes go round */
        emit<A>(p, target, node[0]);
        rotate(node, E, node[0]);
        target.out += kept.out;
        target.out2 += kept.out2;
    }
}

/* seek_output of fewer than 2^31 outputs. */
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
    template <int ROWS> __device__ __forceinline__ void reduce_rows(Node *node)
    {
        with_unmasked<K>(p.recipe, [&](auto in, auto map) {
            ColumnTree<K, decltype(in), decltype(map)::value, ROWS>{p, rows, (int)p.recipe.count}.template join<1, 0>(
                node);
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
    int size = Packed<typename K::A>::size(p), vectors = (int)p.shape.group_outputs / Columns::STRIDE;
#pragma unroll 1
    for (int v = 0; v < vectors && columns.has(v);
         v++) { /* trees and stores are long: one copy of them, and the rows go round */
        typename Columns::Node node[Columns::E];
        if (n <= 2)
            columns.template reduce_rows<2>(node);
        else if (n <= 4)
            columns.template reduce_rows<4>(node);
        else
            columns.template reduce_rows<8>(node);
        store_columns<K>(p, seek_column(p, columns.first + v * Columns::STRIDE), size, node);
    }
}

} // namespace rdx

#define RDX_KERNEL_NAME short_columns
#define RDX_ELEMENTS(size, words) RDX_CUDA_THREAD_COLUMNS(size)
#include "stamp.inc"
