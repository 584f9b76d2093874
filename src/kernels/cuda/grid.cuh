/* Between blocks: work items, partial nodes in the workspace, the last block of a group, and what becomes of finished
   nodes. An item is (part, residue, group, slice), slices first: blocks that run at once read neighbours. Parts of an
   output are leaves of one tree of adjacent pairs: part times residues, and within a part the residue classes in
   bit-reversed order, which turns halving into adjacent pairs too. */
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

/* N: int64_t, or unsigned where there are fewer than 2^31 items and a block or warp has one: what it works out stands
   before its first load then. */
template <class N> RDX_DEVICE Item group_of(const RdxCudaShape &s, N group)
{
    Item item = {};
    N run = divide(group, (N)s.groups_per_run);
    int64_t within = (int64_t)(group - run * (N)s.groups_per_run) * s.group_outputs;
    item.group = group;
    item.first_output = (int64_t)run * s.run_outputs + within;
    item.outputs = s.run_outputs - within < s.group_outputs ? s.run_outputs - within : s.group_outputs;
    return item;
}

template <class N> RDX_DEVICE Item item_of(const Problem &p, N number)
{
    const RdxCudaShape &s = p.shape;
    if (s.simple) {
        int64_t first = (int64_t)number * s.group_outputs, left = p.outputs - first;
        return {(int64_t)number, 0, 0, 0, first, left < s.group_outputs ? left : s.group_outputs};
    }
    N rest = divide(number, (N)s.slices), leaf = divide(rest, (N)s.groups), part = leaf >> log2_of(s.residues);
    Item item = group_of(s, rest - leaf * (N)s.groups);
    item.part = part;
    item.slice = number - rest * (N)s.slices;
    item.residue = (int)leaf & (s.residues - 1);
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

/* Where the node of `leaf` (part * residues + reversed residue) of output `column` of a group lies, and the step of its
   words. */
RDX_DEVICE uint32_t *partial_at(const Problem &p, int words, int64_t group, int64_t leaf, int64_t column)
{
    int64_t leaves = p.shape.split * p.shape.residues;
    return p.partials + ((group * leaves + leaf) * words) * p.shape.group_outputs + column;
}

RDX_DEVICE int64_t leaf_of(const RdxCudaShape &s, const Item &item)
{
    return item.part * s.residues + reverse_bits(item.residue, log2_of(s.residues));
}

/* A finished node, unset where a part has no elements: to the workspace, or out. Where an output is copied, `helpers`
   threads that hold the node share the copies. */
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

/* The leaves of an output's tree: its parts, and of each the residue classes. There are fewer than 2^31. */
template <class A> struct Leaves {
    typedef typename A::Node Node;

    const Problem &p;
    int count, residues, residues_log2;
    int last; /* elements of the last chunk, which may be fewer than there are residues */

    __device__ __forceinline__ explicit Leaves(const Problem &problem)
        : p(problem), count((int)problem.shape.split * problem.shape.residues), residues(problem.shape.residues),
          residues_log2(log2_of(residues)),
          last(problem.shape.chunks > 0 ? elements_of_chunk(problem, problem.shape.chunks - 1) : 0)
    {
    }

    /* Elements below the node of 2^level leaves from `leaf` on. */
    __device__ __forceinline__ int64_t elements(int leaf, int level) const
    {
        if (level >= residues_log2)
            return elements_of_chunks(p, (leaf >> residues_log2) * p.shape.part_chunks,
                                      p.shape.part_chunks << (level - residues_log2));
        int chunk = elements_of_chunk(p, leaf >> residues_log2); /* shared chunks are parts of one chunk */
        return elements_of_lane(chunk, residue_of(leaf), residues_log2 - level);
    }

    __device__ __forceinline__ int residue_of(int leaf) const
    {
        return reverse_bits(leaf & (residues - 1), residues_log2);
    }

    /* Of a node of several leaves the first one has the most elements. */
    __device__ __forceinline__ bool is_there(int leaf) const
    {
        return (leaf < count - residues) |
               ((leaf < count) & (residue_of(leaf) < last)); /* without a branch: many ask */
    }

    /* The nodes of 2^level leaves from `leaf` on and of as many behind them. */
    __device__ __forceinline__ Node join(const Node &left, const Node &right, int leaf, int level) const
    {
        int middle = leaf + (1 << level);
        if (!is_there(middle))
            return left;
        if constexpr (A::counted)
            return join_full<A>(left, right, elements(leaf, level), elements(middle, level));
        else
            return join_full<A>(left, right, 0, 0);
    }
};

/* The 2^log2 leaves from `first` on of the column whose first leaf lies at `column`, leaf after leaf `pitch` words
   apart, in this thread: BATCH at a time, asked for together, and what they come to on a stack in shared memory. */
template <class A, int BATCH>
RDX_DEVICE typename A::Node join_run(const Leaves<A> &leaves, const uint32_t *column, int pitch, int first, int log2,
                                     uint32_t *stack)
{
    typedef typename A::Node Node;
    constexpr int batch_log2 = log2_constant(BATCH);
    const int level_words = A::words * (int)blockDim.x, count = 1 << log2;
    Node node[BATCH];
#pragma unroll
    for (int i = 0; i < BATCH; i++)
        node[i] = unset<A>();
#pragma unroll 1
    for (int i = 0; i < count; i += BATCH) {
        const uint32_t *from = column + (int64_t)(first + i) * pitch;
#pragma unroll
        for (int b = 0; b < BATCH; b++)
            if (b < count && first + i + b < leaves.count)
                node[b] = get_node<A>(from + b * pitch, pitch / A::words);
#pragma unroll
        for (int step = 1, level = 0; step < BATCH; step *= 2, level++)
#pragma unroll
            for (int b = 0; b < BATCH; b += 2 * step)
                if (step < count)
                    node[b] = leaves.join(node[b], node[b + step], first + i + b, level);
        int done = i >> batch_log2, level = 0;
#pragma unroll 1
        for (; done >> level & 1; level++)
            node[0] = leaves.join(get_node<A>(stack + level * level_words, blockDim.x), node[0],
                                  first + (done & -(2 << level)) * BATCH, batch_log2 + level);
        if (i + BATCH < count)
            put_node<A>(stack + level * level_words, blockDim.x, node[0]);
    }
    return node[0];
}

/* The parts of a group joined and emitted by the whole block. Threads are (runs of leaves, columns): what a thread
   makes of its run meets others of its warp by shuffles, and warps meet in shared memory. SHARING: all threads of a
   column have a share of its copies; columns whose last block finishes them do without, for the registers; above 64 KB
   of copies an output, plans finish by a launch. */
template <class A, bool SHARING, class N>
RDX_DEVICE void join_parts(const Problem &p, N group, int64_t slice, int64_t slices, uint32_t *shared)
{
    typedef typename A::Node Node;
    const RdxCudaShape &s = p.shape;
    const Item item = group_of(s, group);
    const Leaves<A> leaves(p);
    const int threads = (int)blockDim.x, t = (int)threadIdx.x, outputs = (int)s.group_outputs;
    const int columns_log2 = log2_up(outputs < threads ? outputs : threads), columns = 1 << columns_log2;
    const int runs_log2 = log2_of(threads) - columns_log2, leaves_log2 = log2_up(leaves.count);
    const int log2 = leaves_log2 > runs_log2 ? leaves_log2 - runs_log2 : 0; /* of the leaves of a run */
    const int run = t >> columns_log2, shuffled = threads < 32 ? 0 : 32;
    const uint32_t *first_leaf = partial_at(p, A::words, group, 0, 0);
#pragma unroll 1
    for (int block = 0; block < (int)item.outputs; block += columns) {
        int column = block + (t & (columns - 1));
        bool works = column < (int)item.outputs;
        Node node = unset<A>();
        if (works)
            node = join_run<A, (A::words > 4 ? 2 : 8 / A::words)>(leaves, first_leaf + column, A::words * outputs,
                                                                  run << log2, log2, shared + t);
        int step = columns, level = log2; /* step: of threads */
#pragma unroll 1
        for (; step < shuffled; step *= 2, level++) {
            Node other = shuffle_xor<A>(node, step);
            bool upper = t & step;
            node =
                leaves.join(upper ? other : node, upper ? node : other, (t & -2 * step) >> columns_log2 << log2, level);
        }
        const int few = threads >> log2_of(step);
        if (joins_briefly<A>() && few > 1 && few <= most_few) { /* more, of blocks of less than a warp */
            put_node<A>(shared + t, threads, node);
            __syncthreads();
            if (t < columns)
                node = join_few<A>(
                    few, [&](int i) { return get_node<A>(shared + t + i * step, threads); },
                    [&](int i) { return leaves.is_there(i << level); });
            __syncthreads();
            step = threads;
        }
#pragma unroll 1
        for (; step < threads; step *= 2, level++) {
            put_node<A>(shared + t, threads, node);
            __syncthreads();
            if ((t & (2 * step - 1)) < columns)
                node = leaves.join(node, get_node<A>(shared + t + step, threads), run << log2, level);
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

/* Every thread of the block comes here once its nodes are delivered: whether it is the block that finishes the group.
   The counter wraps to 0 with the last part, so it is ready for the next launch. */
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
        join_parts<A, false>(p, (unsigned)item.group, 0, 1, shared); /* groups are as many as counters at most */
}

/* The node of an output that is a group of its own from its at most 8 * 256 parts, in the first warp: threads join up
   to eight neighbours, warps what their threads have, and the first one what the warps have. */
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
