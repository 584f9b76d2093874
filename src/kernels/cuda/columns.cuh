/* A warp reads packed columns: `width` vectors side by side, and where the rows are narrower than 512 bytes 32 / width rows at once.
   A thread owns a vector of columns and takes the lanes of one class, j = class (mod classes), one after the other in bit-reversed
   order: up to 16 vectors from its ring (ring.cuh) make a lane, finished lanes meet on a stack of the thread's own, so there is no
   barrier inside a chunk. Classes differ, from the lowest bits of j up, by the block (residue), the thread's row among those side by
   side, and the warp; they are joined in the opposite order, as the tree wants: warps in shared memory, then rows by shuffles.

   Which thread holds the result: those of row 0 in the warps of class 0, a vector of columns each. Ops that are exact take lanes as
   they come and need no stack. */
#ifndef RDX_KERNELS_CUDA_COLUMNS_CUH
#define RDX_KERNELS_CUDA_COLUMNS_CUH

#include "block.cuh"
#include "ring.cuh"

namespace rdx
{

/* Where a thread stands in its block. */
struct ColumnSeat {
    int vector, row; /* in the warp's row of vectors; among the rows side by side */
    int across;      /* first vector of the warp in the block's tile, and that of this thread */
    int warp_class;

    __device__ __forceinline__ ColumnSeat(const RdxCudaShape &s, int thread)
    {
        int warp = warp_of_block();
        vector = thread & (s.width - 1);
        row = thread >> log2_of(s.width);
        warp_class = warp & (s.class_warps - 1);
        across = (warp >> log2_of(s.class_warps)) * s.width + vector;
    }

    /* The thread's class among s.classes, for a block of this residue. */
    __device__ __forceinline__ int class_of(const RdxCudaShape &s, int residue) const
    {
        return residue + s.residues * (row + s.rows_at_once * warp_class);
    }
};

/* Lane i in the order in which a thread takes the lanes of its class. */
RDX_DEVICE int lane_of(const RdxCudaShape &s, int lane_class, int i)
{
    return lane_class + s.classes * reverse_bits(i, s.lanes_log2);
}

/* What a thread reads, in order: items, tiles of an item's columns, chunks, lanes, lines. */
template <class K> struct ColumnSource {
    static constexpr int E = K::elements;

    const Problem &p;
    const ColumnSeat &seat;
    int64_t number = blockIdx.x, tile = 0, chunk = 0; /* chunk: of the part */
    const unsigned char *column;
    int64_t outputs, first_chunk, chunks;
    int lane_class, i = 0, line = 0, bytes, n;
    bool there;

    __device__ __forceinline__ ColumnSource(const Problem &problem, const ColumnSeat &own) : p(problem), seat(own)
    {
        open_item();
    }

    __device__ __forceinline__ void issue(SharedAt slot)
    {
        if (!there)
            return;
        const RdxCudaShape &s = p.shape;
        int lanes = 1 << s.group_lanes_log2, each = group_vectors >> s.group_lanes_log2;
        int lines = 0;
#pragma unroll 1
        for (int l = 0; l < lanes; l++) {
            int lane = lane_of(s, lane_class, i + l);
            lines = elements_of_lane(n, lane, log2_of(p.recipe.lanes));
            issue_lane(slot + l * each * line_bytes, lane + line * p.recipe.lanes,
                       lines - line < each ? lines - line : each);
        }
        line += each;
        if (lanes > 1 || line >= lines)
            next_lane(lanes);
    }

  private:
    __device__ __forceinline__ void issue_lane(SharedAt slot, int element, int count) const
    {
        int64_t first = (first_chunk + chunk) * 16 * p.recipe.lanes + element;
        if (bytes == 0)
            return;
        if (p.reduce_rank == 1) {
            int64_t step = p.dims[p.keep_rank].in, far = step * p.recipe.lanes;
            const unsigned char *at = column + first * step;
#pragma unroll
            for (int u = 0; u < group_vectors; u++)
                if (u < count)
                    copy_async(slot + u * line_bytes, at + u * far, bytes);
        } else {
#pragma unroll 1
            for (int u = 0; u < count; u++) {
                int64_t e = first + u * p.recipe.lanes;
                copy_async(slot + u * line_bytes, column + seek_reduced(p, e).in, bytes);
            }
        }
    }

    __device__ __forceinline__ void next_lane(int lanes)
    {
        line = 0;
        i += lanes;
        if (i < 1 << p.shape.lanes_log2)
            return;
        i = 0;
        if (++chunk < chunks) {
            n = elements_of_chunk(p, first_chunk + chunk);
            return;
        }
        chunk = 0;
        tile += p.shape.tile_columns;
        if (tile < outputs) {
            open_tile(item_of(p, number));
        } else {
            number += gridDim.x;
            tile = 0;
            open_item();
        }
    }

    __device__ __forceinline__ void open_item()
    {
        there = number < p.shape.items;
        if (!there)
            return;
        Item item = item_of(p, number);
        outputs = item.outputs;
        first_chunk = item.part * p.shape.part_chunks;
        chunks = end_of_part(p.shape, item) - first_chunk;
        lane_class = seat.class_of(p.shape, item.residue);
        open_tile(item);
    }

    __device__ __forceinline__ void open_tile(const Item &item)
    {
        int64_t own = tile + seat.across * E, left = (outputs - own) * K::size;
        bytes = left <= 0 ? 0 : left < 16 ? (int)left : 16;
        column = p.in + (bytes > 0 ? seek_output(p, item.first_output + own).in : 0);
        n = elements_of_chunk(p, first_chunk);
    }
};

/* Nodes of a thread's vector of columns, words apart by 32: level after level of finished runs. */
template <class K> struct ColumnStack {
    typedef typename K::A A;
    typedef typename A::Node Node;
    static constexpr int E = K::elements, words = E * A::words;

    uint32_t *own; /* of this thread */

    __device__ __forceinline__ Node get(int level, int e) const
    {
        return get_node<A>(own + (level * words + e * A::words) * 32, 32);
    }
    __device__ __forceinline__ void put(int level, const Node *node) const
    {
#pragma unroll
        for (int e = 0; e < E; e++)
            put_node<A>(own + (level * words + e * A::words) * 32, 32, node[e]);
    }

    /* node := join(what lies at `level`, node), of na and nb elements; either may be 0. */
    __device__ __forceinline__ void join_below(int level, Node *node, int64_t na, int64_t nb) const
    {
        if (na == 0)
            return;
#pragma unroll
        for (int e = 0; e < E; e++) {
            Node other = get(level, e);
            node[e] = nb == 0 ? other : join_full<A>(other, node[e], na, nb);
        }
    }

    /* The (i + 1)-th run of its kind, of which the 2^levels-th is the last and stays with the caller; elements(first, log2) counts the
       2^log2 runs from `first` on. */
    template <class Elements>
    __device__ __forceinline__ void push(int64_t i, int levels, Node *node, Elements elements) const
    {
        int level = 0;
#pragma unroll 1
        for (; i >> level & 1; level++) {
            int64_t right = i + 1 - ((int64_t)1 << level);
            join_below(level, node, elements(right - ((int64_t)1 << level), level), elements(right, level));
        }
        if (level < levels)
            put(level, node);
    }

    /* The same for nodes that may be joined in any order: all of them on level 0. */
    template <class Elements>
    __device__ __forceinline__ void add(int64_t i, int levels, Node *node, Elements elements) const
    {
        bool first = i == 0, last = i + 1 == (int64_t)1 << levels;
        int64_t before = first ? 0 : elements(0, 0), here = elements(i, 0);
        join_below(0, node, before, here);
        if (!last && before + here > 0)
            put(0, node);
    }
};

/* Joins the runs of `chunks` chunks that lie on a stack; the ragged right edge moves up. */
template <class K>
RDX_DEVICE void finish_chunks(const Problem &p, const ColumnStack<K> &stack, int64_t first_chunk, int64_t chunks,
                              typename K::A::Node *node)
{
    int level = __ffsll(chunks) - 1;
    int64_t first = chunks - ((int64_t)1 << level);
#pragma unroll
    for (int e = 0; e < K::elements; e++)
        node[e] = stack.get(level, e);
#pragma unroll 1
    while (first > 0) {
        level = __ffsll(first) - 1;
        int64_t run = (int64_t)1 << level;
        stack.join_below(level, node, elements_of_chunks(p, first_chunk + first - run, run),
                         elements_of_chunks(p, first_chunk + first, chunks - first));
        first -= run;
    }
}

} // namespace rdx
#endif
