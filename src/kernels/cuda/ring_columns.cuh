/* Packed columns through rings (columns.cuh): of rows that lie in aligned vectors (kernel_ring_columns.cu), or start
   anywhere (kernel_piece_columns.cu). */
#ifndef RDX_KERNELS_CUDA_RING_COLUMNS_CUH
#define RDX_KERNELS_CUDA_RING_COLUMNS_CUH

#include "columns.cuh"

namespace rdx
{

/* The node of this thread's class of a chunk. */
template <class K, class R, class Source>
RDX_DEVICE void fold_class(const Problem &p, R &ring, Source &source, const ColumnStack<K> &stack,
                           const ColumnSeat &seat, int residue, int64_t chunk, typename K::A::Node *node)
{
    typedef typename K::A A;
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
        stack.take(i, s.lanes_log2, node, elements);
    }
}

/* The node of this thread's class of all chunks. */
template <class K, class R, class Source>
RDX_DEVICE void fold_any_order(const Problem &p, R &ring, Source &source, const ColumnStack<K> &stack,
                               typename K::A::Node *node)
{
    constexpr int most = RDX_CUDA_AT_ONCE;
    const int64_t vectors = source.vectors;
    Lanes<K, false> fold = {p};
#pragma unroll 1
    for (int64_t first = 0; first < vectors; first += most) {
        int lines = (int)(vectors - first < most ? vectors - first : most);
        auto element = [](int, int) { return 0; };
        if (lines % group_vectors != 0 || !fold.run_whole(ring, source, lines, element, node))
            fold.run(
                ring, source, lines, lines, [&](int) { return lines; }, element, node);
        stack.gather(first == 0, first + most >= vectors, node);
    }
}

/* What every block does. */
template <class K, int PIECE> RDX_DEVICE void reduce_ring_columns(const Problem &p)
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
#pragma unroll 1
    for (int64_t number = blockIdx.x; number < s.items; number += gridDim.x) {
        Item item = item_of(p, number);
        constexpr bool any_order = takes_any_order<A>();
        typedef typename std::conditional<any_order, ClassSource<K, PIECE>, ColumnSource<K, PIECE>>::type Source;
        auto prepare = [&](int64_t tile, int left, int64_t first, int64_t chunks, auto each_chunk) {
            int64_t column = tile + seat.across * K::elements;
            Source source(p, item.first_output + column, left, first, chunks, seat.class_of(s, item.residue));
            ring.start(source);
            each_chunk([&](int64_t chunk, typename A::Node *node) {
                if constexpr (any_order)
                    fold_any_order<K>(p, ring, source, stack, node);
                else
                    fold_class<K>(p, ring, source, stack, seat, item.residue, chunk, node);
            });
        };
        reduce_columns<K, any_order>(p, item, seat, stack, prepare);
        end_item<A>(p, item, stacks);
    }
}

} // namespace rdx
#endif
