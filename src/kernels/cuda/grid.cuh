/* Between blocks: work items, partial nodes in the workspace, the last block of a group, and what becomes of finished nodes.
   An item is (part, residue, group, slice), slices first: blocks that run at once read neighbours. Parts of an output are leaves of one
   tree of adjacent pairs: part times residues, and within a part the residue classes in bit-reversed order, which turns halving
   into adjacent pairs too. */
#ifndef RDX_KERNELS_CUDA_GRID_CUH
#define RDX_KERNELS_CUDA_GRID_CUH

#include "finish.cuh"
#include "warp.cuh"

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

/* The copies of a slice; `helpers` threads that hold the node take them in turns, this one being number `helper`. */
RDX_DEVICE Target target_of(const Problem &p, int64_t output, int64_t slice, int64_t slices, int helper = 0,
                            int helpers = 1)
{
    Place place = seek_output(p, output);
    Target target = {p.out + place.out, p.out2 + place.out2, helper, p.copies, helpers};
    if (slices > 1) {
        int64_t each = divide(p.copies, slices), more = p.copies - each * slices;
        int64_t first = slice * each + (slice < more ? slice : more);
        target.first += first;
        target.end = first + each + (slice < more);
    }
    return target;
}

RDX_DEVICE bool has_parts(const RdxCudaShape &s)
{
    return s.finishing != RDX_FINISHING_NONE;
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

/* A finished node, unset where a part has no elements: to the workspace, or out. Where an output is copied, `helpers` threads that hold
   the node share the copies. */
template <class A>
RDX_DEVICE void deliver(const Problem &p, const Item &item, int64_t column, const typename A::Node &node,
                        int helper = 0, int helpers = 1)
{
    if (has_parts(p.shape))
        put_node<A>(partial_at(p, A::words, item.group, leaf_of(p.shape, item), column), p.shape.group_outputs, node);
    else
        emit<A>(p, target_of(p, item.first_output + column, item.slice, p.shape.slices, helper, helpers), node);
}

/* Bytes that a vector of outputs along a dim is stored by, 0: one output after the other. */
template <class K> RDX_DEVICE int together(const Problem &p, const RdxCudaDim &step)
{
    int size = p.shape.value_bytes, bytes = size * K::elements < 16 ? size * K::elements : 16;
    return Value<typename K::A>::exists && K::elements > 1 && step.out == size ? bytes : 0;
}

/* What a thread's `valid` neighbouring outputs along the innermost kept dim, `step`, come to; `bytes`: of together. */
template <class K>
RDX_DEVICE void store_vector(const Problem &p, Target target, const RdxCudaDim &step, typename K::A::Node *node,
                             int valid, int bytes)
{
    typedef typename K::A A;
    constexpr int E = K::elements;
    if constexpr (Value<A>::exists && E > 1) {
        if (bytes > 0 && valid == E && ((int)(uintptr_t)target.out & (bytes - 1)) == 0) {
            Value<A>::template store<E>(p, target.out, node);
            return;
        }
    }
#pragma unroll 1
    for (int e = 0; e < valid; e++) { /* what it takes to emit is long: one copy of it, and the nodes go round */
        emit<A>(p, target, node[0]);
        rotate(node, E, node[0]);
        target.out += step.out;
        target.out2 += step.out2;
    }
}

/* A node of each of a thread's `valid` neighbouring outputs, from `column` of the item on: to the workspace, or out. */
template <class K>
RDX_DEVICE void deliver_vector(const Problem &p, const Item &item, int64_t column, typename K::A::Node *node, int valid)
{
    typedef typename K::A A;
    constexpr int E = K::elements;
    if (has_parts(p.shape)) {
        uint32_t *to = partial_at(p, A::words, item.group, leaf_of(p.shape, item), column);
#pragma unroll
        for (int e = 0; e < E; e++)
            if (e < valid)
                put_node<A>(to + e, p.shape.group_outputs, node[e]);
        return;
    }
    const RdxCudaDim &step = p.dims[p.keep_rank > 0 ? p.keep_rank - 1 : 0];
    Target target = target_of(p, item.first_output + column, item.slice, p.shape.slices);
    store_vector<K>(p, target, step, node, valid, together<K>(p, step));
}

/* Whether a leaf has elements: parts are all there, but the last one may be a chunk of fewer elements than residues. Of a node of
   several leaves the first one has the most. */
RDX_DEVICE bool is_there(const Problem &p, int64_t leaf)
{
    const RdxCudaShape &s = p.shape;
    return leaf < s.split * s.residues && (s.residues == 1 || elements_of_leaves(p, leaf, 0) > 0);
}

/* The nodes of 2^level leaves from `leaf` on and of as many behind them. */
template <class A>
RDX_DEVICE typename A::Node join_leaves(const Problem &p, const typename A::Node &left, const typename A::Node &right,
                                        int64_t leaf, int level)
{
    int64_t middle = leaf + ((int64_t)1 << level);
    if (!is_there(p, middle))
        return left;
    if constexpr (A::counted)
        return join_full<A>(left, right, elements_of_leaves(p, leaf, level), elements_of_leaves(p, middle, level));
    else
        return join_full<A>(left, right, 0, 0);
}

/* The 2^log2 leaves from `first` on of a column, in this thread: BATCH at a time, asked for together, and what they come to on a stack
   in shared memory. */
template <class A, int BATCH>
RDX_DEVICE typename A::Node join_run(const Problem &p, int64_t group, int64_t column, int64_t first, int log2,
                                     uint32_t *stack)
{
    typedef typename A::Node Node;
    constexpr int batch_log2 = log2_constant(BATCH);
    const RdxCudaShape &s = p.shape;
    int64_t leaves = s.split * s.residues, level_words = (int64_t)A::words * blockDim.x;
    int count = 1 << log2;
    Node node[BATCH];
#pragma unroll
    for (int i = 0; i < BATCH; i++)
        node[i] = unset<A>();
#pragma unroll 1
    for (int i = 0; i < count; i += BATCH) {
        const uint32_t *from = partial_at(p, A::words, group, first + i, column);
#pragma unroll
        for (int b = 0; b < BATCH; b++)
            if (b < count && first + i + b < leaves)
                node[b] = get_node<A>(from + b * A::words * s.group_outputs, s.group_outputs);
#pragma unroll
        for (int step = 1, level = 0; step < BATCH; step *= 2, level++)
#pragma unroll
            for (int b = 0; b < BATCH; b += 2 * step)
                if (step < count)
                    node[b] = join_leaves<A>(p, node[b], node[b + step], first + i + b, level);
        int done = i >> batch_log2, level = 0;
#pragma unroll 1
        for (; done >> level & 1; level++)
            node[0] = join_leaves<A>(p, get_node<A>(stack + level * level_words, blockDim.x), node[0],
                                     first + (int64_t)(done & -(2 << level)) * BATCH, batch_log2 + level);
        if (i + BATCH < count)
            put_node<A>(stack + level * level_words, blockDim.x, node[0]);
    }
    return node[0];
}

/* The parts of a group joined and emitted by the whole block. Threads are (runs of leaves, columns): what a thread makes of its run
   meets others of its warp by shuffles, and warps meet in shared memory. SHARING: all threads of a column have a share of its copies;
   columns whose last block finishes them do without, for the registers; above 64 KB of copies an output, plans finish by a launch. */
template <class A, bool SHARING>
RDX_DEVICE void join_parts(const Problem &p, int64_t group, int64_t slice, int64_t slices, uint32_t *shared)
{
    typedef typename A::Node Node;
    const RdxCudaShape &s = p.shape;
    Item item = group_of(s, group);
    int threads = (int)blockDim.x, t = (int)threadIdx.x, threads_log2 = log2_of(threads);
    int columns_log2 = log2_up(s.group_outputs < threads ? s.group_outputs : threads), columns = 1 << columns_log2;
    int runs_log2 = threads_log2 - columns_log2, leaves_log2 = log2_up(s.split * s.residues);
    int log2 = leaves_log2 > runs_log2 ? leaves_log2 - runs_log2 : 0; /* of the leaves of a run */
    int run = t >> columns_log2, shuffled = threads < 32 ? 0 : 32;
    int64_t first = (int64_t)run << log2;
#pragma unroll 1
    for (int64_t block = 0; block < item.outputs; block += columns) {
        int64_t column = block + (t & (columns - 1));
        bool works = column < item.outputs;
        Node node = unset<A>();
        if (works)
            node = join_run<A, (A::words > 4 ? 2 : 8 / A::words)>(p, group, column, first, log2, shared + t);
        int step = columns, level = log2; /* step: of threads */
#pragma unroll 1
        for (; step < shuffled; step *= 2, level++) {
            Node other = shuffle_xor<A>(node, step);
            bool upper = t & step;
            int64_t left = (int64_t)((t & -2 * step) >> columns_log2) << log2;
            node = join_leaves<A>(p, upper ? other : node, upper ? node : other, left, level);
        }
#pragma unroll 1
        for (; step < threads; step *= 2, level++) {
            put_node<A>(shared + t, threads, node);
            __syncthreads();
            if ((t & (2 * step - 1)) < columns)
                node = join_leaves<A>(p, node, get_node<A>(shared + t + step, threads), first, level);
            __syncthreads();
        }
        bool shared_out = SHARING && p.copies > 1;
        if (shared_out) {
            if (run == 0)
                put_node<A>(shared + t, threads, node);
            __syncthreads();
            node = get_node<A>(shared + (t & (columns - 1)), threads);
            __syncthreads();
        }
        if (works && (run == 0 || shared_out))
            emit<A>(p,
                    target_of(p, item.first_output + column, slice, slices, shared_out ? run : 0,
                              shared_out ? threads >> columns_log2 : 1),
                    p.recipe.count > 0 ? node : node_of_nothing<A>());
    }
}

/* Every thread of the block comes here once its nodes are delivered: whether it is the block that finishes the group. The counter
   wraps to 0 with the last part, so it is ready for the next launch. */
RDX_DEVICE bool is_last_part(const Problem &p, int64_t group)
{
    RDX_SHARED(bool, is_last);
    if (p.shape.finishing != RDX_FINISHING_LAST_BLOCK)
        return false;
    __syncthreads();
    /* One for all: what the barrier showed this thread, it shows the grid, and the other way round. */
    if (threadIdx.x == 0) {
        unsigned parts = (unsigned)(p.shape.split * p.shape.residues);
        is_last = count_in(&p.counters[group], parts - 1) == parts - 1;
    }
    __syncthreads();
    return is_last;
}

template <class A> RDX_DEVICE void end_item(const Problem &p, const Item &item, uint32_t *shared)
{
    if (is_last_part(p, item.group))
        join_parts<A, false>(p, item.group, 0, 1, shared);
}

/* The node of an output that is a group of its own from its at most 8 * 256 parts, in the first warp: threads join up to eight
   neighbours, warps what their threads have, and the first one what the warps have. */
template <class A> RDX_DEVICE typename A::Node join_row(const Problem &p, int64_t output, uint32_t *shared)
{
    constexpr int BATCH = RDX_CUDA_MOST_PARTS / RDX_CUDA_THREADS, WARPS = RDX_CUDA_THREADS / 32;
    const RdxCudaShape &s = p.shape;
    int parts = (int)s.split, t = (int)threadIdx.x;
    int log2 = parts <= RDX_CUDA_THREADS ? 0 : 32 - __clz((parts - 1) / RDX_CUDA_THREADS), first = t << log2;
    auto elements = [&](int64_t part, int64_t count) {
        return elements_of_chunks(p, part * s.part_chunks, count * s.part_chunks);
    };
    const uint32_t *from = p.partials + (output * parts + first) * A::words;
    typename A::Node node[BATCH];
#pragma unroll
    for (int i = 0; i < BATCH; i++)
        node[i] = unset<A>();
#pragma unroll
    for (int b = 0; b < BATCH; b++)
        if (b < 1 << log2 && first + b < parts)
            node[b] = get_node<A>(from + b * A::words, 1);
#pragma unroll
    for (int step = 1; step < BATCH; step *= 2)
#pragma unroll
        for (int b = 0; b < BATCH; b += 2 * step)
            if (step < 1 << log2 && first + b + step < parts)
                node[b] =
                    join_full<A>(node[b], node[b + step], elements(first + b, step), elements(first + b + step, step));
    int runs = (parts + (1 << log2) - 1) >> log2, before = t & ~31; /* of threads; those before this warp's */
    node[0] = join_neighbours<A>(node[0], 32, runs - before, [&](int at, int count) {
        return elements((int64_t)(before + at) << log2, (int64_t)count << log2);
    });
    if (runs <= 32)
        return node[0];
    if ((t & 31) == 0)
        put_node<A>(shared + warp_of_block() * A::words, 1, node[0]);
    __syncthreads();
    return join_neighbours<A>(
        get_node<A>(shared + (t & (WARPS - 1)) * A::words, 1), WARPS, (runs + 31) / 32,
        [&](int at, int count) { return elements((int64_t)at << (log2 + 5), (int64_t)count << (log2 + 5)); });
}

} // namespace rdx
#endif
