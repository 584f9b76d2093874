/* Few packed columns with nothing between the rows, as one stream: C columns of N rows are read 16 bytes at a time,
   whatever C. A chunk is 16 lines of 512 C bytes, and element q of a line belongs to lane q / C of column q % C. A warp
   has a run of chunks: of each it reads vector after vector of 512 bytes, all 16 lines of it (ring.cuh), which leaves
   the nodes of 512 / size lanes and columns; they lie in shared memory, q after q, where lane j and lane j + h of all
   columns are h C apart, and are halved there. Finished runs of chunks lie on a stack, and the warps of the block meet
   at its end. Or all warps share a chunk, one after the other: each takes every team-th vector, and they halve the
   nodes together. Ops of any order (columns.cuh) fold many chunks as one: 33554432 x 8 i8 took sums 178 us chunk by
   chunk, 74 so, 9586980 x 7 f32 maxima 85 and 75.

   A stream that starts inside a vector is read from that vector's start on: slots are turned by as many elements, and
   those that the first thread finds before the start are the last of the line before (Turn, as in rows.cuh).

   Which thread holds the result: thread c of the first warp that of column c. */
#include "columns.cuh"

namespace rdx
{

/* Chunks that are folded as one. */
template <class A> RDX_DEVICE constexpr int chunks_at_once()
{
    return takes_any_order<A>() ? RDX_CUDA_AT_ONCE / 16 : 1;
}

template <class A> RDX_DEVICE int elements_at_once(const Problem &p, int64_t chunk, int64_t end)
{
    constexpr int most = chunks_at_once<A>();
    return (int)elements_of_chunks(p, chunk, end - chunk < most ? end - chunk : most);
}

/* What a warp reads, in order: chunks, vectors of a line, lines. One of a team takes the vectors from `own` on, `step`
   apart. */
template <class K> struct StreamSource {
    static constexpr int at_once = chunks_at_once<typename K::A>();

    const Problem &p;
    const unsigned char *start, *at; /* of the chunk; this thread's next vector */
    int64_t chunk, end;
    int columns, before, own, step;
    int lines, line = 0, vector = 0, bytes /* of the chunk, and those before it */;

    __device__ __forceinline__ StreamSource(const Problem &problem, const unsigned char *in, int bytes_before,
                                            int64_t first, int64_t chunks, int thread, int own_vector, int team)
        : p(problem), start(in - bytes_before + first * 16 * line_bytes * p.shape.group_outputs + thread * 16),
          chunk(first), end(first + chunks), columns((int)p.shape.group_outputs), before(bytes_before), own(own_vector),
          step(team)
    {
        open_chunk();
    }

    __device__ __forceinline__ void issue(SharedAt slot)
    {
        if (chunk >= end)
            return;
        int left = bytes - (int)(at - start) - thread_of_warp() * 16, pitch = line_bytes * columns;
        if (left >= group_vectors * pitch) {
#pragma unroll
            for (int u = 0; u < group_vectors; u++)
                copy_async(slot + u * line_bytes, at + u * pitch, 16);
        } else {
#pragma unroll
            for (int u = 0; u < group_vectors; u++)
                if (left > u * pitch)
                    copy_async(slot + u * line_bytes, at + u * pitch, left - u * pitch < 16 ? left - u * pitch : 16);
        }
        at += group_vectors * pitch;
        line += group_vectors;
        if (line >= lines + (vector == 0 && before > 0)) /* the line behind, for what was before */
            next_vector();
    }

  private:
    __device__ __forceinline__ void next_vector()
    {
        line = 0;
        vector += step;
        at = start + vector * line_bytes;
        if (vector >= columns) {
            start += (int64_t)at_once * 16 * line_bytes * columns;
            chunk = at_once > 1 && end - chunk < at_once ? end : chunk + at_once;
            open_chunk();
        }
    }

    __device__ __forceinline__ void open_chunk()
    {
        int n = elements_at_once<typename K::A>(p, chunk, end);
        bytes = before + n * columns * K::size;
        lines = (n + p.recipe.lanes - 1) / p.recipe.lanes;
        vector = own;
        at = start + own * line_bytes;
    }
};

/* A barrier of the warps that share a chunk's nodes: a warp or, as a team, the block. */
RDX_DEVICE void meet_sharers(const Problem &p)
{
    if (p.shape.team > 1)
        __syncthreads();
    else
        __syncwarp();
}

/* Halves the nodes of all lanes of a chunk of n elements; column c comes to slot c. */
template <class A> RDX_DEVICE void halve_columns(const Problem &p, const Slots<A> &nodes, int columns, int n)
{
    int lanes = p.recipe.lanes, threads = 32 * p.shape.team, thread = (int)threadIdx.x & (threads - 1);
    unsigned magic = 0xffffffffu / columns + 1; /* slots are fewer than 2^14, columns at most 32 */
#pragma unroll 1
    for (int half = lanes / 2, log2 = log2_of(lanes); half >= 1; half /= 2, log2--) {
        meet_sharers(p);
#pragma unroll 2
        for (int slot = thread; slot < half * columns; slot += threads) {
            int lane = (int)__umulhi(slot, magic), upper = 1, lower = 1;
            if (A::counted || n < lanes) {
                lower = elements_of_lane(n, lane, log2);
                upper = elements_of_lane(n, lane + half, log2);
            }
            if (upper > 0)
                nodes.put(slot, join_full<A>(nodes.get(slot), nodes.get(slot + half * columns), lower, upper));
        }
    }
    meet_sharers(p);
}

/* The node of column `thread` of a chunk of n elements. */
template <class K, class R>
RDX_DEVICE typename K::A::Node fold_stream(const Problem &p, R &ring, StreamSource<K> &source,
                                           const Slots<typename K::A> &nodes, int64_t chunk, int n, const Turn &turn,
                                           int thread)
{
    typedef typename K::A A;
    constexpr int E = K::elements, line = 32 * E;
    int columns = (int)p.shape.group_outputs, lanes = p.recipe.lanes;
    int whole = n / lanes, rest = (n - whole * lanes) * columns; /* slots of the last line */
    int off = source.before / K::size;
    meet_sharers(p); /* the chunk before has been read from its slots */
#pragma unroll 1
    for (int k = source.own; k < columns; k += source.step) {
        typename A::Node node[E];
        int first = k * line + thread * E - off;
        Turn own = turn;
        own.crooked = turn.crooked && k == 0;
        Lanes<K, false, true> fold = {p, &own};
        auto slot = [&](int e) { return first + e < 0 ? first + e + columns * lanes : first + e; };
        auto count = [&](int e) { return whole + (slot(e) < rest); };
        auto element = [&](int e, int l) { return chunk * 16 * lanes + l * lanes + slot(e) / columns; };
        bool even = rest == 0 && whole % group_vectors == 0 && !own.crooked;
        if (!even || !fold.run_whole(ring, source, whole, element, node))
            fold.run(ring, source, whole + (rest > 0), whole, count, element, node);
#pragma unroll
        for (int e = 0; e < E; e++)
            nodes.put(slot(e), node[e]);
        if (own.crooked && (whole + (rest > 0)) % group_vectors == 0) /* the line behind lies in a group of its own */
            ring.next_group(source, false);
    }
    halve_columns<A>(p, nodes, columns, n);
    return nodes.get(thread < columns ? thread : 0);
}

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) few_columns_kernel(const __grid_constant__ Problem p)
{
    typedef typename K::A A;
    typedef Spec<A, K::size, 1> One;
    constexpr int depth = columns_depth<A>(), at_once = chunks_at_once<A>();
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    const RdxCudaShape &s = p.shape;
    int thread = kept(thread_of_warp()), warp = warp_of_block(), columns = (int)s.group_outputs;
    bool team = s.team > 1; /* the warps of the block share chunks and their nodes */
    uint32_t *meeting = shared + s.ring_bytes / 4, *own = team ? meeting : meeting + warp * s.stack_words;
    bool leads = !team || warp == 0; /* has a stack */
    Slots<A> nodes = {own, columns * p.recipe.lanes}, met = {meeting, (int)blockDim.x};
    ColumnStack<One> stack = {own + nodes.count * A::words + thread};
    Ring<depth> ring(shared, thread);
#pragma unroll 1
    for (int64_t number = blockIdx.x; number < s.items; number += gridDim.x) {
        Item item = item_of(p, number);
        int64_t part = item.part * s.part_chunks, end = end_of_part(s, item),
                first = part + (team ? 0 : warp * s.warp_chunks);
        int64_t left = end - first, chunks = left < 0 ? 0 : left < s.warp_chunks ? left : s.warp_chunks;
        const unsigned char *in = p.in + seek_output(p, item.first_output).in;
        int before = (int)((uintptr_t)in & 15);
        Turn turn(before, thread);
        StreamSource<K> source(p, in, before, first, chunks, thread, team ? warp : 0, s.team);
        ring.start(source);
        typename A::Node node = unset<A>();
        auto elements = [&](int64_t at, int log2) { return elements_of_chunks(p, first + at, (int64_t)1 << log2); };
#pragma unroll 1
        for (int64_t c = 0; c < chunks; c += at_once) {
            int n = elements_at_once<A>(p, first + c, first + chunks);
            node = fold_stream<K>(p, ring, source, nodes, first + c, n, turn, thread);
            if (chunks <= at_once || !leads)
                continue;
            if constexpr (takes_any_order<A>())
                stack.gather(c == 0, c + at_once >= chunks, &node);
            else
                stack.push(c, 62, &node, elements);
        }
        if (!takes_any_order<A>() && chunks > 1 && leads)
            finish_chunks<One>(p, stack, first, chunks, &node);
#pragma unroll 1
        for (int step = s.team; step < s.warps; step *= 2) {
            __syncthreads();
            met.put(threadIdx.x, node);
            __syncthreads();
            if (warp % (2 * step) == 0)
                node = join_nodes<A>(node, met.get(threadIdx.x + 32 * step),
                                     elements_of_run(p, first, step * s.warp_chunks, end),
                                     elements_of_run(p, first + step * s.warp_chunks, step * s.warp_chunks, end));
        }
        __syncthreads();
        if (warp == 0 && thread < columns)
            deliver<A>(p, item, thread, node);
        end_item<A>(p, item, meeting);
    }
}

} // namespace rdx

#define RDX_KERNEL_NAME few_columns
#define RDX_ELEMENTS(size, words) (16 / (size))
#include "stamp.inc"
