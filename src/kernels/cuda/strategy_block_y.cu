/* block_y: packed, aligned neighbouring outputs (columns.cuh). The same kernel reads the parts of global. */
#include "columns.cuh"

namespace rdx
{

/* The node of this block's residue of a chunk, in the threads of row 0 of the warps of class 0. */
template <class K, class R>
RDX_DEVICE void fold_classes(const Problem &p, R &ring, ColumnSource<K> &source, const ColumnStack<K> &stack,
                             const ColumnSeat &seat, int residue, int64_t chunk, typename K::A::Node *node)
{
    typedef typename K::A A;
    constexpr int E = K::elements;
    const RdxCudaShape &s = p.shape;
    int n = elements_of_chunk(p, chunk), own = seat.class_of(s, residue), line_log2 = log2_of(p.recipe.lanes);
    int classes_log2 = log2_of(s.classes), lanes = 1 << s.group_lanes_log2;
    auto elements = [&](int64_t first, int log2) {
        return elements_of_lane(n, lane_of(s, own, (int)first), classes_log2 + s.lanes_log2 - log2);
    };
    auto element_of = [&](int lane, int line) { return chunk * 16 * p.recipe.lanes + lane + line * p.recipe.lanes; };
    /* Lanes i .. i + 2^log2 - 1, all of them of as many lines, have become a node. */
    auto keep_whole = [&](int i, int log2, int lines) {
        if constexpr (is_exact<A>())
            stack.add(i >> log2, s.lanes_log2 - log2, node, [](int64_t, int) { return 1; });
        else
            stack.template push<true>(i >> log2, s.lanes_log2 - log2, node,
                                      [&](int64_t, int above) { return lines << (log2 + above); });
    };
    Lanes<K, false> fold = {p};
    int even = even_lines(p, n);
    SharedAt group = 0;
#pragma unroll 1
    for (int i = 0; i < 1 << s.lanes_log2; i++) {
        int lane = lane_of(s, own, i), lines = elements_of_lane(n, lane, line_log2);
        auto element = [&](int, int line) { return element_of(lane, line); };
        auto count = [&](int) { return lines; };
        if (even > 0 && even < group_vectors) {
            auto element_few = [&](int l, int line) { return element_of(lane_of(s, own, i + l), line); };
            if (even == 1 ? fold.template run_few<1>(ring, source, element_few, node)
                          : fold.template run_few<2>(ring, source, element_few, node)) {
                keep_whole(i, s.group_lanes_log2, even);
                i += lanes - 1;
                continue;
            }
        } else if (even >= group_vectors) {
            if (fold.run_whole(ring, source, even, element, node)) {
                keep_whole(i, 0, even);
                continue;
            }
        }
        if (lanes == 1) {
            fold.run(ring, source, lines > 0 ? lines : 1, lines, count, element, node);
        } else {
            int within = i & (lanes - 1);
            if (within == 0)
                group = ring.next_group(source, false);
            fold.run_here(group, within * (group_vectors >> s.group_lanes_log2), lines, count, element, node);
        }
        if constexpr (is_exact<A>())
            stack.add(i, s.lanes_log2, node, elements);
        else
            stack.push(i, s.lanes_log2, node, elements);
    }
    /* Warps of other classes, over the lowest level of their stacks. */
    uint32_t *level0 = stack.own;
#pragma unroll 1
    for (int half = s.class_warps / 2, step = s.residues * s.rows_at_once; half >= 1; half /= 2) {
        __syncthreads();
        if (seat.warp_class >= half && seat.warp_class < 2 * half)
            stack.put(0, node);
        __syncthreads();
        if (seat.warp_class < half) {
            int log2 = log2_of(2 * half * step), other = own + half * step;
            ColumnStack<K> theirs = {level0 + half * s.stack_words};
            int upper = elements_of_lane(n, other, log2);
            if (upper > 0) {
#pragma unroll
                for (int e = 0; e < E; e++)
                    node[e] = join_full<A>(node[e], theirs.get(0, e), elements_of_lane(n, own, log2), upper);
            }
        }
    }
    if (s.class_warps > 1)
        __syncthreads();
#pragma unroll 1
    for (int half = s.rows_at_once / 2; half >= 1; half /= 2) {
        int r = residue + s.residues * (seat.row & (half - 1)), h = s.residues * half;
#pragma unroll
        for (int e = 0; e < E; e++)
            node[e] = join_halves<A>(node[e], shuffle_xor<A>(node[e], half * s.width), seat.row & half, n, h, r);
    }
}

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) columns_kernel(const __grid_constant__ Problem p)
{
    typedef typename K::A A;
    constexpr int E = K::elements, depth = columns_depth<A>();
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    const RdxCudaShape &s = p.shape;
    int thread = kept(thread_of_warp());
    ColumnSeat seat(s, thread);
    uint32_t *stacks = shared + s.ring_bytes / 4;
    ColumnStack<K> stack = {stacks + warp_of_block() * s.stack_words + thread};
    ColumnStack<K> chunk_stack = {stack.own + s.lane_levels * ColumnStack<K>::words * 32};
    Ring<depth> ring(shared, thread);
#pragma unroll 1
    for (int64_t number = blockIdx.x; number < s.items; number += gridDim.x) {
        Item item = item_of(p, number);
        int64_t first = item.part * s.part_chunks, chunks = end_of_part(s, item) - first;
        bool present = item.residue < elements_of_chunk(p, first);
#pragma unroll 1
        for (int64_t tile = 0; tile < item.outputs; tile += s.tile_columns) {
            typename A::Node node[E];
#pragma unroll
            for (int i = 0; i < E; i++)
                node[i] = unset<A>();
            int64_t column = tile + seat.across * E, left = item.outputs - column;
            ColumnSource<K> source(p, item.first_output + column, left < E ? (int)left : E, first, chunks,
                                   seat.class_of(s, item.residue));
            ring.start(source);
            auto elements = [&](int64_t at, int log2) { return elements_of_chunks(p, first + at, (int64_t)1 << log2); };
#pragma unroll 1
            for (int64_t c = 0; c < chunks; c++) {
                fold_classes<K>(p, ring, source, stack, seat, item.residue, first + c, node);
                if constexpr (is_exact<A>()) {
                    if (chunks > 1)
                        chunk_stack.add(c, 62, node, elements);
                } else if (chunks > 1) {
                    chunk_stack.push(c, 62, node, elements);
                }
            }
            if (!is_exact<A>() && chunks > 1)
                finish_chunks(p, chunk_stack, first, chunks, node);
            if (seat.warp_class == 0 && seat.row == 0 && present && left > 0)
                deliver_vector<K>(p, item, column, node, left < E ? (int)left : E);
        }
        end_item<A>(p, item, stacks);
    }
}

} // namespace rdx

#define RDX_STRATEGY block_y
#define RDX_KERNEL rdx::columns_kernel
#define RDX_ELEMENTS(size, words) (16 / (size))
#include "stamp.inc"
