/* Between blocks: work items, partial nodes in the workspace, the last block of a group, and what becomes of finished nodes.
   An item is (part, residue, group, slice), slices first: blocks that run at once read neighbours. Parts of an output are leaves of one
   tree of adjacent pairs: part times residues, and within a part the residue classes in bit-reversed order, which turns halving
   into adjacent pairs too. */
#ifndef RDX_KERNELS_CUDA_GRID_CUH
#define RDX_KERNELS_CUDA_GRID_CUH

#include "finish.cuh"

namespace rdx
{

struct Item {
    int64_t group, part, slice;
    int residue;
    int64_t first_output, outputs; /* of the group */
};

RDX_DEVICE Item group_of(const RdxCudaShape &s, int64_t group)
{
    Item item = {};
    int64_t run = divide(group, s.groups_per_run), within = (group - run * s.groups_per_run) * s.group_outputs;
    item.group = group;
    item.first_output = run * s.run_outputs + within;
    item.outputs = s.run_outputs - within < s.group_outputs ? s.run_outputs - within : s.group_outputs;
    return item;
}

RDX_DEVICE Item item_of(const Problem &p, int64_t number)
{
    const RdxCudaShape &s = p.shape;
    if (s.simple) {
        int64_t first = number * s.group_outputs, left = p.outputs - first;
        return {number, 0, 0, 0, first, left < s.group_outputs ? left : s.group_outputs};
    }
    int64_t rest = divide(number, s.slices), slice = number - rest * s.slices;
    int64_t leaf = divide(rest, s.groups), part = divide(leaf, s.residues);
    Item item = group_of(s, rest - leaf * s.groups);
    item.part = part;
    item.slice = slice;
    item.residue = (int)(leaf - part * s.residues);
    return item;
}

/* The chunk after the last of an item's part, which begins at part * part_chunks. */
RDX_DEVICE int64_t end_of_part(const RdxCudaShape &s, const Item &item)
{
    int64_t end = (item.part + 1) * s.part_chunks;
    return end < s.chunks ? end : s.chunks;
}

RDX_DEVICE Target target_of(const Problem &p, int64_t output, int64_t slice, int64_t slices)
{
    if (slices == 1)
        return {output, 0, p.copies, false};
    int64_t each = divide(p.copies, slices), more = p.copies - each * slices;
    int64_t first = slice * each + (slice < more ? slice : more);
    return {output, first, each + (slice < more), false};
}

RDX_DEVICE bool has_parts(const RdxCudaShape &s)
{
    return s.finishing != RDX_CUDA_WHOLE;
}

/* Where the node of `leaf` (part * residues + reversed residue) of output `column` of a group lies, and the step of its words. */
RDX_DEVICE uint32_t *partial_at(const Problem &p, int words, int64_t group, int64_t leaf, int64_t column)
{
    int64_t leaves = p.shape.split * p.shape.residues;
    return p.partials + ((group * leaves + leaf) * words) * p.shape.group_outputs + column;
}

RDX_DEVICE int64_t leaf_of(const RdxCudaShape &s, const Item &item)
{
    return item.part * s.residues + reverse_bits(item.residue, log2_of(s.residues));
}

/* Elements below the node of 2^level leaves from `leaf` on. */
RDX_DEVICE int64_t elements_of_leaves(const Problem &p, int64_t leaf, int level)
{
    const RdxCudaShape &s = p.shape;
    int residue_bits = log2_of(s.residues);
    if (level >= residue_bits)
        return elements_of_chunks(p, (leaf >> residue_bits) * s.part_chunks, s.part_chunks << (level - residue_bits));
    int chunk = elements_of_chunk(p, leaf >> residue_bits); /* shared chunks are parts of one chunk */
    return elements_of_lane(chunk, reverse_bits((int)(leaf & (s.residues - 1)), residue_bits), residue_bits - level);
}

/* A finished node: to the workspace, or out. Where an output is copied, `helpers` threads that hold the node share the copies. */
template <class A>
RDX_DEVICE void deliver(const Problem &p, const Item &item, int64_t column, const typename A::Node &node,
                        int helper = 0, int helpers = 1)
{
    if (has_parts(p.shape))
        put_node<A>(partial_at(p, A::words, item.group, leaf_of(p.shape, item), column), p.shape.group_outputs, node);
    else
        emit<A>(p, target_of(p, item.first_output + column, item.slice * helpers + helper, p.shape.slices * helpers),
                node);
}

/* The same for the `valid` neighbouring outputs of a thread; stored at once where they are packed and that is all there is to do. */
template <class K>
RDX_DEVICE void deliver_vector(const Problem &p, const Item &item, int64_t column, const typename K::A::Node *node,
                               int valid)
{
    typedef typename K::A A;
    typedef typename A::T T;
    constexpr int E = K::elements;
    if constexpr (may_be_direct<A>() && E * sizeof(T) == 16) {
        struct alignas(16) Packed {
            T x[E];
        } packed;
        Packed *to = (Packed *)(p.out + (item.first_output + column) * sizeof(T));
        if (p.shape.direct && !has_parts(p.shape) && p.keep_rank == 1 && p.dims[0].out == sizeof(T) && valid == E &&
            (uintptr_t)to % 16 == 0) {
#pragma unroll
            for (int e = 0; e < E; e++)
                packed.x[e] = direct_value<A>(node[e]);
            *to = packed;
            return;
        }
    }
#pragma unroll
    for (int e = 0; e < E; e++)
        if (e < valid)
            deliver<A>(p, item, column + e, node[e]);
}

/* The parts of a group joined and emitted by the whole block. Threads are (columns, runs of leaves): each takes an aligned
   run of leaves one after the other, with a stack in shared memory, then the block joins the runs pair by pair. */
template <class A>
static __device__ __noinline__ void join_parts(const Problem &p, int64_t group, int64_t slice, int64_t slices,
                                               uint32_t *shared)
{
    typedef typename A::Node Node;
    const RdxCudaShape &s = p.shape;
    Item item = group_of(s, group);
    int threads = (int)blockDim.x, t = (int)threadIdx.x, columns = 1, leaves_log2 = 0;
    while (columns < s.group_outputs && columns < threads)
        columns *= 2;
    while ((int64_t)1 << leaves_log2 < s.split * s.residues)
        leaves_log2++;
    int runs = threads / columns, run = t / columns, runs_log2 = log2_of(runs);
    int each_log2 = leaves_log2 > runs_log2 ? leaves_log2 - runs_log2 : 0;
    int64_t first = (int64_t)run << each_log2;
    uint32_t *stack = shared + t, *top = stack + (int64_t)each_log2 * A::words * threads;
    for (int64_t block = 0; block < item.outputs; block += columns) {
        int64_t column = block + (t & (columns - 1));
        bool works = column < item.outputs;
        for (int64_t i = 0; works && i < (int64_t)1 << each_log2; i++) {
            Node node = {};
            if (first + i < s.split * s.residues)
                node = get_node<A>(partial_at(p, A::words, group, first + i, column), s.group_outputs);
            int level = 0;
            for (; i >> level & 1; level++) {
                int64_t right = first + i + 1 - ((int64_t)1 << level), left = right - ((int64_t)1 << level);
                node = join_nodes<A>(get_node<A>(stack + (int64_t)level * A::words * threads, threads), node,
                                     elements_of_leaves(p, left, level), elements_of_leaves(p, right, level));
            }
            put_node<A>(stack + (int64_t)level * A::words * threads, threads, node);
        }
        for (int step = 1, level = each_log2; step < runs; step *= 2, level++) {
            __syncthreads();
            if (works && run % (2 * step) == 0) {
                int64_t right = first + ((int64_t)1 << level);
                Node node = join_nodes<A>(get_node<A>(top, threads), get_node<A>(top + step * columns, threads),
                                          elements_of_leaves(p, first, level), elements_of_leaves(p, right, level));
                put_node<A>(top, threads, node);
            }
        }
        if (works && run == 0) {
            Node node = p.recipe.count > 0 ? get_node<A>(top, threads) : node_of_nothing<A>();
            emit<A>(p, target_of(p, item.first_output + column, slice, slices), node);
        }
        __syncthreads();
    }
}

/* Every thread of the block comes here once its nodes are delivered. Where the last block finishes: the counter of the group
   wraps to 0 with the last part, so it is ready for the next launch. */
template <class A> RDX_DEVICE void end_item(const Problem &p, const Item &item, uint32_t *shared)
{
    RDX_SHARED(bool, is_last);
    if (p.shape.finishing != RDX_CUDA_LAST_BLOCK)
        return;
    __syncthreads();
    if (threadIdx.x == 0) {
        fence_grid(); /* for all of them: what the barrier showed this thread, the fence shows the grid */
        unsigned parts = (unsigned)(p.shape.split * p.shape.residues);
        is_last = atomicInc(&p.counters[item.group], parts - 1) == parts - 1;
    }
    __syncthreads();
    if (is_last) {
        fence_grid();
        join_parts<A>(p, item.group, 0, 1, shared);
    }
}

} // namespace rdx
#endif
