/* straight_rows: contiguous rows of whole, aligned vectors, straight from memory into registers. Warps share rows as in ring_rows
   (rows.cuh), but a thread asks for all its vectors of a chunk before it folds the first, and nothing lies in shared memory but what
   the warps of a block and the parts of an output have to say to each other: a block starts and ends sooner. On an H200, through the
   rings and this way: 64K f32 in one 6.5 and 3.1 us, 1M 7.4 and 4.6, 4096 x 4096 20.2 and 17.5, 32 x 1M 41.7 and 33.6, 64K x 4K
   239.4 and 237.1.

   While a warp folds, it asks for nothing; where folding takes long and goes on for long, the rings are ahead (cuda_rows.c). Tried and
   lost: the next chunk's vectors in the place of those just folded (max over 64K x 4K 455 us, not 243) or behind the last of them
   (argmax 292, not 277): loads and shuffles wait for each other at six scoreboards; 4 or 8 vectors at a time and up to five blocks a
   multiprocessor (64K x 4K 256 to 276).

   logsumexp, which looks at its vectors twice and folds longest, has a way of its own (straight_twice). */
#include "straight_rows.cuh"

namespace rdx
{

/* A chunk of logsumexp, which looks at its vectors twice where they lie. Code knows registers by name, so lines come in
   whole groups, each there or not; up to three lines behind them go round in the place of the last group. A group is
   one piece of code, because four vectors hide each other's latency and one does not: 15.2 instructions an element of
   f32 line by line, 13.6 this way, and 1.2 for the first look. `more`: another whole chunk follows. It is brought as far
   as the second cache meanwhile, which takes no registers: a chunk is some 1200 instructions, and a warp that folds asks
   for nothing else. */
template <class K>
RDX_DEVICE void straight_twice(const Problem &p, const unsigned char *at, int n, bool more, int thread,
                               typename K::A::Node *node)
{
    typedef typename K::A A;
    constexpr int E = K::elements, lanes = 32 * E, log2 = log2_constant(lanes), G = group_vectors;
    int whole = n >> log2, groups = (unsigned)whole / G, odd = whole & (G - 1), rest = (n & (lanes - 1)) - thread * E;
    Vector<16> got[chunk_lines], *behind = got + chunk_lines - G, last;
#pragma unroll
    for (int line = 0; line < chunk_lines; line++)
        if (line / G < groups)
            load<16>(got[line].word, at + line * line_bytes);
    if (odd > 0) {
        const unsigned char *line = at + groups * G * line_bytes;
#pragma unroll
        for (int u = 0; u < G - 1; u++)
            if (u < odd)
                load<16>(behind[u].word, line + u * line_bytes);
    }
    if (rest > 0)
        load_vector<K>(last, at + whole * line_bytes, rest < E ? rest : E, p.recipe.in);
    if (more) {
        const unsigned char *next = at + chunk_bytes + thread * (fetched_bytes - 16); /* 16: at is the thread's */
#pragma unroll
        for (int i = 0; i < chunk_bytes; i += 32 * fetched_bytes)
            fetch_ahead(next + i);
    }
    with_input<K>(p.recipe.in, [&](auto in) {
        typedef decltype(in) In;
        typename A::T x, y;
        Greatest<K, In> greatest(p.recipe);
#pragma unroll
        for (int g = 0; g < chunk_lines / G; g++)
            if (g < groups)
                greatest.template look<G>(got + g * G);
        if (odd > 0) {
#pragma unroll
            for (int u = 0; u < G - 1; u++)
                if (u < odd)
                    greatest.template look<1>(behind + u);
        }
        greatest.end(node);
        if (rest > 0) {
#pragma unroll
            for (int e = 0; e < E; e++) {
                read_element<A, In>(p.recipe, last.word, e * K::size, x, y);
                node[e].m = e < rest ? A::greater(node[e].m, x) : node[e].m;
            }
        }
#pragma unroll
        for (int g = 0; g < chunk_lines / G; g++)
            if (g < groups)
                add_vectors<K, In, G>(p.recipe, got + g * G, node);
#pragma unroll 1
        for (int u = 0; u < odd; u++) {
            add_vectors<K, In, 1>(p.recipe, behind, node);
            rotate(behind, G - 1, behind[0]);
        }
        if (rest > 0) {
#pragma unroll
            for (int e = 0; e < E; e++) {
                read_element<A, In>(p.recipe, last.word, e * K::size, x, y);
                node[e].s = e < rest ? A::add(node[e].s, x, node[e].m) : node[e].s;
            }
        }
    });
}

/* The node of `chunks` chunks of a row from `first` on, in every thread of the warp. */
template <class K>
RDX_DEVICE typename K::A::Node straight_run_twice(const Problem &p, const unsigned char *row, int64_t first, int chunks,
                                                  int thread)
{
    constexpr int chunk_log2 = log2_constant(chunk_bytes / K::size);
    typename K::A::Node node[K::elements];
    RowTotal<K> total = {thread};
    int whole = chunks > 0 ? (int)(elements_of_chunks(p, chunk_log2, first, chunks) >> chunk_log2) : 0;
    auto elements = [&](int at, int count) { return elements_of_chunks(p, chunk_log2, first + at, count); };
    const unsigned char *at = row + first * chunk_bytes + thread * 16;
#pragma unroll 1
    for (int i = 0; i < chunks; i++, at += chunk_bytes) {
        int n = i < whole ? 1 << chunk_log2 : (int)elements_of_chunks(p, chunk_log2, first + i, 1);
        straight_twice<K>(p, at, n, i + 1 < whole, thread, node);
        total.add(node, n, thread * K::elements, chunks, elements);
    }
    return total.finish(elements);
}

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) straight_rows_kernel(const __grid_constant__ Problem p)
{
    typedef typename K::A A;
    /* The tables name more than plans give it. */
    if constexpr (RDX_CUDA_HAS_STRAIGHT_ROWS(A::algebra, A::work, K::size) &&
                  !(A::two_passes && A::work == RDX_WORK_F64)) {
        RDX_DYNAMIC_SHARED(uint32_t, shared);
        reduce_straight<K>(p, shared, [&](const unsigned char *row, int64_t first, int chunks, int thread) {
            if constexpr (A::two_passes)
                return straight_run_twice<K>(p, row, first, chunks, thread);
            else
                return straight_run<K, ROW_ALIGNED>(p, row, first, chunks, thread);
        });
    }
}

} // namespace rdx

#define RDX_KERNEL_NAME straight_rows
#define RDX_ELEMENTS(size, words) (16 / (size))
#include "stamp.inc"
