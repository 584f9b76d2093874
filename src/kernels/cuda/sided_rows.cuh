/* Rows whose lines come by halves, straight from memory into registers (straight_rows.cuh): a thread has E neighbouring
   lanes in the lower half of the tree's lanes and E in the upper one, which are joined first. From there on they are 32
   E lanes of twice as many elements. Of every second element of a row (kernel_stepped_rows.cu), and of runs of whole
   half vectors (kernel_half_rows.cu). */
#ifndef RDX_KERNELS_CUDA_SIDED_ROWS_CUH
#define RDX_KERNELS_CUDA_SIDED_ROWS_CUH

#include "straight_rows.cuh"

namespace rdx
{

/* The nodes of a chunk of n elements, of 32 E lanes. A Source asks for what this thread has of a side of a line,
   at_once lines before the first is folded, and puts its elements in order once it is there; it may ask for elements
   behind the row's last one where that is among them. */
template <class K, class Source>
RDX_DEVICE void sided_chunk(const Problem &p, const Source &source, int64_t chunk, int n, int thread,
                            typename K::A::Node *node)
{
    typedef typename K::A A;
    typedef Lanes<K, true> Fold;
    typedef typename Fold::First First;
    constexpr int E = K::elements, half = 32 * E, lanes = 2 * half, log2 = log2_constant(lanes);
    constexpr int AT_ONCE = Source::at_once, STATES = Fold::STATES;
    int whole = n >> log2, tail = n & (lanes - 1), slot = thread * E;
    Fold fold = {p};
    typename First::State state[2][STATES];
    bool begun[2] = {whole > 0, whole > 0};
    Fold::template clear<First>(state[0]);
    Fold::template clear<First>(state[1]);
    auto lane = [&](int side, int e) { return side * half + slot + e; };
    auto count = [&](int side, int e) { return elements_of_lane(n, lane(side, e), log2); };
#pragma unroll
    for (int first = 0; first < chunk_lines; first += AT_ONCE) {
        Vector<16> got[2][AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
#pragma unroll
            for (int side = 0; side < 2; side++)
                if (first + i < whole)
                    source.ask(got[side][i], first + i, side);
        with_known<K>(p.recipe, [&](auto in, auto map) {
#pragma unroll
            for (int side = 0; side < 2; side++) {
#pragma unroll
                for (int i = 0; i < AT_ONCE; i++)
                    source.settle(got[side][i]);
                fold_lines<K, First, decltype(in), decltype(map)::value, AT_ONCE>(fold, got[side], first, whole,
                                                                                  state[side]);
            }
        });
    }
    if (tail > 0) {
        with_known<K>(p.recipe, [&](auto in, auto map) {
#pragma unroll
            for (int side = 0; side < 2; side++) {
                Vector<16> last;
                if (lane(side, 0) >= tail)
                    continue;
                source.ask(last, whole, side);
                source.settle(last);
                fold.template fold_ends<First, decltype(in), decltype(map)::value>(
                    state[side], last, whole, [&](int e) { return count(side, e); }, begun[side]);
            }
        });
    }
    typename A::Node upper[STATES];
    auto end = [&](int side, typename A::Node *nodes) {
        fold.template end<First>(
            state[side], [&](int e) { return count(side, e); },
            [&](int e, int line) { return (chunk * chunk_lines + line) * lanes + lane(side, e); }, nodes);
    };
    end(0, node);
    end(1, upper);
#pragma unroll
    for (int e = 0; e < STATES; e++) { /* one state takes what there is of all its lanes */
        int lower = Fold::one_state ? begun[0] : count(0, e), higher = Fold::one_state ? begun[1] : count(1, e);
        node[e] = join_nodes<A>(node[e], upper[e], lower, higher);
    }
}

/* The node of `chunks` chunks of a row from `first` on, in every thread of the warp; source_of(chunk): its Source. */
template <class K, class SourceOf>
RDX_DEVICE typename K::A::Node sided_run(const Problem &p, int64_t first, int chunks, int thread, SourceOf source_of)
{
    typename K::A::Node node[Lanes<K, true>::STATES];
    RowTotal<K> total = {thread};
    auto elements = [&](int at, int count) { return elements_of_chunks(p, first + at, count); };
#pragma unroll 1
    for (int i = 0; i < chunks; i++) {
        int n = elements_of_chunk(p, first + i);
        sided_chunk<K>(p, source_of(first + i), first + i, n, thread, node);
        total.add(node, n, thread * K::elements, chunks, elements);
    }
    return total.finish(elements);
}

} // namespace rdx
#endif
