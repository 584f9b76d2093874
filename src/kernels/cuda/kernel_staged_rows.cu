/* staged_rows: logsumexp in f32 over contiguous rows, a warp a chunk (straight_rows.cuh). It looks at its elements
   twice, so a chunk lies in shared memory meanwhile, each thread's own vectors of it; as soon as a group of them has
   been looked at for the second time, the next chunk's group is asked for in its place. Exponentials take so long that
   nothing more need be on its way: on an H200 32768 x 8192 took 267 us with chunks in registers, two blocks a
   multiprocessor and the next chunk brought as far as the second cache, 241 this way; bf16 4096 x 131072 383 and 334.
   Registers are for three blocks a multiprocessor. There a scheduler issues in nine of ten cycles, and what it waits
   for are its own multipliers.

   Rows that start inside a line are turned as in rings (rows.cuh): the chunk has one line more, whose first vectors end
   it. */
#include "straight_rows.cuh"

namespace rdx
{

/* The chunk that a warp folds, of a row that begins `before` bytes into its first line. */
template <class K> struct Stage {
    typedef typename K::A A;
    static constexpr int E = K::elements, G = group_vectors, lanes = 32 * E, log2 = log2_constant(lanes);

    SharedAt slots; /* of this thread's vectors, a line apart */
    int slot;       /* lane of its first element; below 0: that one is the line before's */
    Turn turn;

    __device__ __forceinline__ Stage(uint32_t *shared, int before, int thread)
        : slots(shared_at(shared) + warp_of_block() * RDX_CUDA_STAGE_BYTES + thread * 16),
          slot(thread * E - before / K::size), turn(before, thread)
    {
    }

    /* Asks for the lines from `first` on, of which this thread's vectors lie at `at`, a line apart; `bytes` are there
       from `at` on. */
    __device__ __forceinline__ void ask(const unsigned char *at, int first, int bytes) const
    {
        int from = first * line_bytes;
#pragma unroll 1
        for (; from + (G - 1) * line_bytes + 16 <= bytes; from += G * line_bytes)
            copy_group(slots + from, at + from);
#pragma unroll 1
        for (; from < bytes; from += line_bytes)
            copy_async(slots + from, at + from, bytes - from < 16 ? bytes - from : 16);
        commit_copies();
    }

    /* COUNT lines, straightened where rows are crooked. */
    template <bool CROOKED, int COUNT> __device__ __forceinline__ void look_at(Vector<16> *got, SharedAt line) const
    {
#pragma unroll
        for (int u = 0; u < COUNT; u++)
            got[u] = take(line, u);
        if constexpr (CROOKED)
            turn.straighten<COUNT>(got, take(line, COUNT));
    }

    /* The nodes of the lanes of a chunk of n elements. `next`: where this thread's vectors of the next chunk lie, if
       that is a whole one, and so this one; else NULL. */
    template <bool CROOKED>
    __device__ __forceinline__ void fold(const Problem &p, int n, const unsigned char *next,
                                         typename A::Node *node) const
    {
        const int whole = n >> log2, tail = n & (lanes - 1);
        const SharedAt groups = slots + whole / G * (G * line_bytes), end = slots + whole * line_bytes;
        auto is_there = [&](int e) { return (CROOKED ? (slot + e) & (lanes - 1) : slot + e) < tail; };
        wait_copies<0>();
        with_input<K>(p.recipe.in, [&](auto in) {
            typedef decltype(in) In;
            typename A::T x, y;
            Vector<16> got[G];
            Greatest<K, In> greatest(p.recipe);
            SharedAt line = slots;
#pragma unroll 2
            for (; line != groups; line += G * line_bytes) {
                look_at<CROOKED, G>(got, line);
                greatest.template look<G>(got);
            }
#pragma unroll 1
            for (; line != end; line += line_bytes) {
                look_at<CROOKED, 1>(got, line);
                greatest.template look<1>(got);
            }
            greatest.end(node);
            if (tail > 0) {
                look_at<CROOKED, 1>(got, end);
#pragma unroll
                for (int e = 0; e < E; e++) {
                    read_element<A, In>(p.recipe, got[0].word, e * K::size, x, y);
                    node[e].m = is_there(e) ? A::greater(node[e].m, x) : node[e].m;
                }
            }
#pragma unroll 1
            for (line = slots; line != groups; line += G * line_bytes) {
                look_at<CROOKED, G>(got, line);
                add_vectors<K, In, G>(p.recipe, got, node);
                if (next) {
                    copy_group(line, next);
                    next += G * line_bytes;
                }
            }
#pragma unroll 1
            for (; line != end; line += line_bytes) {
                look_at<CROOKED, 1>(got, line);
                add_vectors<K, In, 1>(p.recipe, got, node);
            }
            if (tail > 0) {
                look_at<CROOKED, 1>(got, end);
#pragma unroll
                for (int e = 0; e < E; e++) {
                    read_element<A, In>(p.recipe, got[0].word, e * K::size, x, y);
                    node[e].s = is_there(e) ? A::add(node[e].s, x, node[e].m) : node[e].s;
                }
            }
        });
    }
};

/* The node of `chunks` chunks of a row from `first` on, in every thread of the warp. */
template <class K>
RDX_DEVICE typename K::A::Node staged_run(const Problem &p, uint32_t *shared, const unsigned char *row, int64_t first,
                                          int chunks, int thread)
{
    constexpr int chunk_log2 = log2_constant(chunk_bytes / K::size), chunk = 1 << chunk_log2;
    const int before = bytes_before(p, row), own = thread * 16;
    const Stage<K> stage(shared, before, thread);
    typename K::A::Node node[K::elements];
    RowTotal<K> total = {thread};
    auto elements = [&](int at, int count) { return elements_of_chunks(p, chunk_log2, first + at, count); };
    auto bytes = [&](int n) { return n > 0 ? before + n * K::size - own : 0; };
    const unsigned char *at = row + first * chunk_bytes - before + own;
    int64_t left = chunks > 0 ? elements(0, chunks) : 0;
    int n = left < chunk ? (int)left : chunk;
    stage.ask(at, own + 16 <= before ? 1 : 0, bytes(n)); /* of the first line no vector that ends before the chunk */
#pragma unroll 1
    for (int i = 0; i < chunks; i++) {
        left -= n;
        at += chunk_bytes;
        int following = left < chunk ? (int)left : chunk;
        bool whole = following == chunk;
        if (stage.turn.crooked)
            stage.template fold<true>(p, n, whole ? at : NULL, node);
        else
            stage.template fold<false>(p, n, whole ? at : NULL, node);
        /* What is left of it: of a whole one the end of a crooked row's lines. */
        stage.ask(at, whole ? chunk_lines : 0, bytes(following));
        total.add(node, n, stage.slot, chunks, elements);
        n = following;
    }
    return total.finish(elements);
}

template <class K> constexpr bool comes_staged = RDX_CUDA_HAS_STAGED_ROWS(K::A::two_passes, K::A::work, K::size);

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 3) staged_rows_kernel(const __grid_constant__ Problem p)
{
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    reduce_straight<K>(p, shared + p.shape.ring_bytes / 4,
                       [&](const unsigned char *row, int64_t first, int chunks, int thread) {
                           return staged_run<K>(p, shared, row, first, chunks, thread);
                       });
}

} // namespace rdx

#define RDX_KERNEL_NAME staged_rows
#define RDX_COMES comes_staged
#define RDX_ELEMENTS(size, words) (16 / (size))
#include "stamp.inc"
