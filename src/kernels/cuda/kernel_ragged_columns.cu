/* ragged_columns: packed columns of fewer rows than a line has lanes, not all of which are there, of what
   straight_columns does not take. A thread has a vector of columns and of its lanes, one element each, four at once
   from its ring; ring_columns, which knows lanes of many elements and whole lines, takes them one after the other
   (H100, us, there and so: var of 100 x 671088 f32 422 and 157, of 640 x 49 x 2048 over the middle 422 and 154). Rows
   may start at any element of four bytes and more: what is no aligned vector comes in pieces.

   Which thread holds the result: as in ring_columns. */
#include "columns.cuh"
#include "straight_columns.cuh"

namespace rdx
{

/* What a thread reads of its vector of columns: group after group, a lane a vector, in the order of the tree. */
template <class K> struct RaggedSource {
    const Problem &p;
    const unsigned char *column;
    int lane_class, bytes /* of the vector that are columns */, n /* rows */, group = 0;

    __device__ __forceinline__ RaggedSource(const Problem &problem, int64_t first_output, int columns, int own_class)
        : p(problem), lane_class(own_class), bytes(columns * K::size), n(columns > 0 ? (int)p.recipe.count : 0)
    {
        column = p.in + (columns > 0 ? seek_output(p, first_output).in : 0);
    }

    /* The l-th lane of a group; n where there is none. */
    __device__ __forceinline__ int lane(int of_group, int l) const
    {
        int i = of_group * group_vectors + l;
        return i < 1 << p.shape.lanes_log2 ? lane_of(p.shape, lane_class, i) : n;
    }

    __device__ __forceinline__ void issue(SharedAt slot)
    {
#pragma unroll
        for (int l = 0; l < group_vectors; l++) {
            int own = lane(group, l);
            if (own < n)
                copy(slot + l * line_bytes, column + seek_reduced(p, own).in);
        }
        group++;
    }

  private:
    __device__ __forceinline__ void copy(SharedAt slot, const unsigned char *from) const
    {
        constexpr int PIECE = K::size < 8 ? 4 : 8;
        if (K::size < 4 || ((uintptr_t)from & 15) == 0)
            copy_async(slot, from, bytes);
        else
            copy_vector<PIECE>(slot, from, bytes);
    }
};

/* What is there of four lanes of an element each, joined by adjacent pairs; lane(l), of which the first is the least
   and the third less than the last, is there if it is below n. */
template <class K, class Lane>
RDX_DEVICE void fold_group(const Problem &p, SharedAt group, int n, Lane lane, typename K::A::Node *node)
{
    typedef typename K::A A;
    typedef typename A::Node Node;
    constexpr int E = K::elements;
    with_known<K>(p.recipe, [&](auto in, auto map) {
        auto lift = [&](int l, Node *own) {
            Vector<16> raw = take(group, l);
            int64_t index = A::indexed ? p.index_offset + seek_reduced(p, lane(l)).out : 0;
#pragma unroll
            for (int e = 0; e < E; e++) {
                typename A::T x, y;
                read_element<A, decltype(in), decltype(map)::value>(p.recipe, raw.word, e * K::size, x, y);
                own[e] = node_of_element<A>(x, y, index);
            }
        };
        auto join = [&](Node *own, const Node *other, int count, int others) {
#pragma unroll
            for (int e = 0; e < E; e++)
                own[e] = join_full<A>(own[e], other[e], count, others);
        };
        Node upper[E], other[E];
        bool second = lane(1) < n, last = lane(3) < n;
        if (lane(0) < n)
            lift(0, node);
        if (second) {
            lift(1, other);
            join(node, other, 1, 1);
        }
        if (lane(2) < n) {
            lift(2, upper);
            if (last) {
                lift(3, other);
                join(upper, other, 1, 1);
            }
            join(node, upper, 1 + second, 1 + last);
        }
    });
}

template <class K>
constexpr bool comes_ragged = comes_otherwise<K>() && RDX_CUDA_HAS_RAGGED_COLUMNS(K::elements, K::A::words) &&
                              (!is_exact<typename K::A>() || K::A::indexed) && !is_modulus<K>() && !is_long<K>();

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) ragged_columns_kernel(const __grid_constant__ Problem p)
{
    typedef typename K::A A;
    constexpr int depth = columns_depth<A>();
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    const RdxCudaShape &s = p.shape;
    int thread = kept(thread_of_warp());
    ColumnSeat seat(s, thread);
    uint32_t *stacks = shared + s.ring_bytes / 4;
    ColumnStack<K> stack = {stacks + warp_of_block() * s.stack_words + thread};
    Ring<depth> ring(shared, thread);
    int levels = s.lanes_log2 > 2 ? s.lanes_log2 - 2 : 0; /* of groups */
#pragma unroll 1
    for (int64_t number = blockIdx.x; number < s.items; number += gridDim.x) {
        Item item = item_of(p, number);
        int own = seat.class_of(s, item.residue);
        reduce_columns<K>(p, item, seat, stack, [&](int64_t tile, int left, int64_t, int64_t, auto each_chunk) {
            RaggedSource<K> source(p, item.first_output + tile + seat.across * K::elements, left, own);
            ring.start(source);
            each_chunk([&](int64_t, typename A::Node *node) {
                auto elements = [&](int64_t first, int log2) {
                    return elements_of_lane((int)p.recipe.count, source.lane((int)first, 0),
                                            log2_of(s.classes) + levels - log2);
                };
#pragma unroll 1
                for (int g = 0; g < 1 << levels; g++) {
                    SharedAt group = ring.next_group(source, false);
                    fold_group<K>(
                        p, group, source.n, [&](int l) { return source.lane(g, l); }, node);
                    stack.take(g, levels, node, elements);
                }
            });
        });
        end_item<A>(p, item, stacks);
    }
}

} // namespace rdx

#define RDX_KERNEL_NAME ragged_columns
#define RDX_COMES comes_ragged
#define RDX_ELEMENTS(size, words) (16 / (size))
#include "stamp.inc"
