/* stepped: every second element of rows that start at whole vectors, straight from memory into registers (straight_rows.cuh). A line of
   the tree is two of memory, and half of a vector is of use: a thread has E neighbouring lanes in the lower half of the tree's lanes and E in
   the upper one, which are joined first. From there on they are 32 E lanes of twice as many elements. */
#include "straight_rows.cuh"

namespace rdx
{

/* Every second element of 16 bytes, packed into the first 8. */
template <int SIZE> RDX_DEVICE void pack_evens(Vector<16> &v)
{
    if constexpr (SIZE == 2) {
        v.word[0] = __byte_perm(v.word[0], v.word[1], 0x5410);
        v.word[1] = __byte_perm(v.word[2], v.word[3], 0x5410);
    } else {
        v.word[1] = v.word[2];
    }
}

/* The nodes of a chunk of n elements, whose first vector of this thread lies at `at`: of 32 E lanes. */
template <class K>
RDX_DEVICE void stepped_chunk(const Problem &p, const unsigned char *at, int64_t chunk, int n, int thread,
                              typename K::A::Node *node)
{
    typedef typename K::A A;
    typedef Lanes<K, true> Fold;
    typedef typename Fold::First First;
    constexpr int E = K::elements, half = 32 * E, lanes = 2 * half, log2 = log2_constant(lanes);
    constexpr int AT_ONCE = chunk_lines / 2, STATES = Fold::STATES;
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
                    load<16>(got[side][i].word, at + (2 * (first + i) + side) * line_bytes);
        with_known<K>(p.recipe, [&](auto in, auto map) {
#pragma unroll
            for (int side = 0; side < 2; side++) {
#pragma unroll
                for (int i = 0; i < AT_ONCE; i++)
                    pack_evens<K::size>(got[side][i]);
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
                load<16>(last.word, at + (2 * whole + side) * line_bytes);
                pack_evens<K::size>(last);
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

/* The node of `chunks` chunks of a row from `first` on, in every thread of the warp. */
template <class K>
RDX_DEVICE typename K::A::Node stepped_run(const Problem &p, const unsigned char *row, int64_t first, int chunks,
                                           int thread)
{
    typename K::A::Node node[Lanes<K, true>::STATES];
    RowTotal<K> total = {thread};
    auto elements = [&](int at, int count) { return elements_of_chunks(p, first + at, count); };
    const unsigned char *at = row + first * (2 * chunk_bytes) + thread * 16;
#pragma unroll 1
    for (int i = 0; i < chunks; i++, at += 2 * chunk_bytes) {
        int n = elements_of_chunk(p, first + i);
        stepped_chunk<K>(p, at, first + i, n, thread, node);
        total.add(node, n, thread * K::elements, chunks, elements);
    }
    return total.finish(elements);
}

template <class K> constexpr bool comes_stepped = RDX_CUDA_HAS_STEPPED_ROWS(K::size, K::A::words) && !K::A::two_passes;

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) stepped_rows_kernel(const __grid_constant__ Problem p)
{
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    reduce_straight<K>(p, shared, [&](const unsigned char *row, int64_t first, int chunks, int thread) {
        return stepped_run<K>(p, row, first, chunks, thread);
    });
}

} // namespace rdx

#define RDX_KERNEL_NAME stepped_rows
#define RDX_COMES comes_stepped
#define RDX_ELEMENTS(size, words) ((size) < 8 ? 8 / (size) : 1)
#include "stamp.inc"
