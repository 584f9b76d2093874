/* A warp reads chunks of a contiguous reduced axis: lines of 512 bytes, 16 a thread (ring.cuh), from the last multiple
   of 128 at or before the row on: copies that meet lines of shared memory askew would read twice the sectors. Thread t
   folds slots t E .. t E + E - 1 of the line.

   A row that starts `turn` elements into its first line has lane q - turn in slot q, and the first `turn` slots hold
   the last lanes of the line before: joining slots by xor gives the tree of the lanes all the same, for any turn. So
   nothing is shifted: the threads of those slots take them from their next vector, one instruction a word.

   runs: two reduced dims, the inner one contiguous and made of whole vectors; then there is no turn. */
#ifndef RDX_KERNELS_CUDA_ROWS_CUH
#define RDX_KERNELS_CUDA_ROWS_CUH

#include "block.cuh"
#include "lanes.cuh"

namespace rdx
{

static constexpr int chunk_lines = RDX_CUDA_CHUNK_LINES, chunk_bytes = chunk_lines * line_bytes;

/* What a warp has of an item: `chunks` of a row, which a team of warps shares; or several rows, each `mates` outputs
   and `step` bytes after the one before. */
struct RowRun {
    const unsigned char *row;
    int64_t first; /* chunk */
    int64_t step;
    int chunks, rows, mate, mates;
};

RDX_DEVICE RowRun run_of(const Problem &p, const Item &item)
{
    const RdxCudaShape &s = p.shape;
    int mates = RDX_CUDA_THREADS / 32 >> s.team_log2, mate = warp_of_block() >> s.team_log2;
    int member = warp_of_block() & (s.team - 1);
    int64_t first = item.part * s.part_chunks + member * s.warp_chunks, left = end_of_part(s, item) - first;
    if (mate >= item.outputs || left <= 0)
        return {p.in, first, 0, 0, 0, mate, mates};
    return {p.in + seek_output(p, item.first_output + mate).in,
            first,
            p.keep_rank == 1 ? mates * p.dims[0].in : 0,
            (int)(left < s.warp_chunks ? left : s.warp_chunks),
            ((int)item.outputs - mate + mates - 1) / mates,
            mate,
            mates};
}

/* The node of chunks first .. end - 1 from those of a team's warps, in the first threads of the team's first warp. */
template <class A>
RDX_DEVICE typename A::Node meet(const Problem &p, int64_t first, int64_t end, typename A::Node node,
                                 const Slots<A> &slots, int thread)
{
    const RdxCudaShape &s = p.shape;
    int warp = warp_of_block();
    if (thread == 0)
        slots.put(warp, node);
    __syncthreads();
    if ((warp & (s.team - 1)) != 0)
        return node;
    int there = ((int)(end - first) + (int)s.warp_chunks - 1) >> log2_of(s.warp_chunks); /* warps that have chunks */
    return join_neighbours<A>(slots.get(warp + (thread & (s.team - 1))), s.team, there, [&](int at, int count) {
        return elements_of_run(p, first + at * s.warp_chunks, count * s.warp_chunks, end);
    });
}

/* The first thread's node in every thread of the block. */
template <class A> RDX_DEVICE typename A::Node shared_node(typename A::Node node, uint32_t *shared)
{
    __syncthreads();
    if (threadIdx.x == 0)
        put_node<A>(shared, 1, node);
    __syncthreads();
    node = get_node<A>(shared, 1);
    __syncthreads();
    return node;
}

/* What every block does with rows: each warp folds those of its run, teams meet, results leave. prepare(run, each_row)
   readies a warp for its run and calls each_row(fold), where fold(row) is the node of the run's chunks of a row, in
   every thread. */
template <class A, class Prepare>
RDX_DEVICE void reduce_rows(const Problem &p, uint32_t *meeting, int thread, Prepare prepare)
{
    const RdxCudaShape &s = p.shape;
    bool leads = (warp_of_block() & (s.team - 1)) == 0;
    /* Every thread of the warp has the node; more than one is of use where there are copies to write. */
    int helpers = p.copies > 1 && !has_parts(s) ? 32 : 1;
#pragma unroll 1
    for (int64_t number = blockIdx.x; number < s.items; number += gridDim.x) {
        RowRun run = run_of(p, item_of(p, number));
        prepare(run, [&](auto &&fold) {
            int i = 0;
#pragma unroll 1
            do {
                typename A::Node node = unset<A>();
                if (i < run.rows)
                    node = fold(run.row + i * run.step);
                Item item = item_of(p, forgotten(number)); /* made again: eleven registers less while rows are folded */
                if (s.team > 1) {
                    Slots<A> slots = {meeting, RDX_CUDA_THREADS / 32};
                    node = meet<A>(p, item.part * s.part_chunks, end_of_part(s, item), node, slots, thread);
                    node = shuffle<A>(node, 0);
                    __syncthreads();
                }
                if (i < run.rows && leads && thread < helpers)
                    deliver<A>(p, item, run.mate + i * run.mates, node, thread, helpers);
            } while (++i < run.rows);
        });
        Item item = item_of(p, forgotten(number));
        if (is_last_part(p, item.group)) {
            typename A::Node node = join_row<A>(p, item.group, meeting);
            if (p.copies > 1)
                node = shared_node<A>(node, meeting);
            int sharing = p.copies > 1 ? RDX_CUDA_THREADS : 1;
            if ((int)threadIdx.x < sharing)
                emit<A>(p, target_of(p, item.first_output, 0, 1, (int)threadIdx.x, sharing), node);
        }
    }
}

/* Bytes of a row's first line that are not the row's. */
RDX_DEVICE int bytes_before(const Problem &p, const unsigned char *row)
{
    return p.shape.run == 0 ? (int)((uintptr_t)row & 127) : 0;
}

/* What a warp reads of a run, in order, row after row. */
template <class K> struct RowSource {
    static constexpr int lanes = 32 * K::elements, group_bytes = group_vectors * line_bytes;

    const Problem &p;
    const RowRun &run;
    const unsigned char *row, *at; /* at: this thread's next vector; of runs, if there were nothing between them */
    int64_t left;                  /* bytes of the row that are the warp's, from its next line on */
    unsigned element;              /* of runs: where this thread's next vector stands */
    int skipped;                   /* vectors of the next line that end before the run */
    int thread /* of the warp */, rows /* that follow */;

    __device__ __forceinline__ RowSource(const Problem &problem, const RowRun &own, int t)
        : p(problem), run(own), row(own.row), thread(t), rows(own.rows)
    {
        open_row();
    }

    __device__ __forceinline__ void issue(SharedAt slot)
    {
        if (p.shape.run > 0) {
            issue_runs(slot);
        } else if (left >= group_bytes && skipped == 0) {
            copy_group(slot, at);
        } else if (left > 0) {
            int64_t own = left - thread * 16;
#pragma unroll
            for (int u = 0; u < group_vectors; u++)
                if (own > u * line_bytes && (u > 0 || thread >= skipped))
                    copy_async(slot + line_bytes * u, at + line_bytes * u,
                               own - u * line_bytes < 16 ? (int)own - u * line_bytes : 16);
            skipped = 0;
        }
        at += group_bytes;
        left -= group_bytes;
        if (left <= 0 && rows > 0) {
            row += run.step;
            open_row();
        }
    }

  private:
    __device__ __forceinline__ void open_row()
    {
        int before = bytes_before(p, row);
        at = row + run.first * chunk_bytes - before + thread * 16;
        skipped = before / 16;
        left = rows-- > 0 ? before + elements_of_chunks(p, run.first, run.chunks) * K::size : 0;
        element = (unsigned)(run.first * 16 * lanes) + thread * K::elements;
    }

    __device__ __forceinline__ void issue_runs(SharedAt slot)
    {
        int64_t own = left - thread * 16; /* vectors are whole */
        int64_t gap = p.shape.run_gap;
#pragma unroll
        for (int u = 0; u < group_vectors; u++)
            if (own > u * line_bytes)
                copy_async(slot + line_bytes * u, at + line_bytes * u + run_of_element(p, element + u * lanes) * gap,
                           16);
        element += group_vectors * lanes;
    }
};

/* What the chunks of a run have come to: for exact ops in each thread, whatever the lanes; the threads meet when the
   run is done. */
template <class K, bool EXACT = is_exact<typename K::A>()> struct RowTotal {
    typedef typename K::A A;
    static constexpr int lanes = 32 * K::elements, STATES = Lanes<K, true>::STATES;

    int thread;
    typename A::Node total = unset<A>();
    bool has = false;

    /* The nodes of one of `chunks`, of n elements: lane (slot + e) mod lanes in node[e], or all of the thread's in
       node[0]. */
    template <class Elements>
    __device__ __forceinline__ void add(typename A::Node *node, int n, int slot, int, Elements)
    {
        bool all = n >= lanes, there = all;
        if (STATES == 1 && !all) {
#pragma unroll
            for (int e = 0; e < K::elements; e++)
                there = there || ((slot + e) & (lanes - 1)) < n;
        }
#pragma unroll
        for (int e = 0; e < STATES; e++) {
            if (STATES > 1)
                there = all || ((slot + e) & (lanes - 1)) < n;
            if (there)
                total = has ? join_full<A>(total, node[e], 0, 0) : node[e];
            has = has || there;
        }
    }

    template <class Elements> __device__ __forceinline__ typename A::Node finish(Elements) const
    {
        return join_any<A>(total, has);
    }
};

/* For others the chunk's node is in every thread, and finished runs of chunks lie on a stack. */
template <class K> struct RowTotal<K, false> {
    typedef typename K::A A;
    static constexpr int lanes = 32 * K::elements;

    int thread;
    typename A::Node node = unset<A>();
    WarpStack<A> stack = WarpStack<A>(thread);
    FourChunks<K> four = FourChunks<K>(thread);

    template <class Elements>
    __device__ __forceinline__ void add(typename A::Node *nodes, int n, int slot, int chunks, Elements elements)
    {
        int off = thread * K::elements - slot;
        if constexpr (A::two_passes) { /* the node of a lane without elements, -inf and 0, changes nothing */
            if ((stack.count | 3) < chunks) {
                if (four.add(nodes))
                    stack.push(nodes[0], elements, 2);
                return;
            }
            node = halve_warp<K, true>(nodes, n, thread, off);
        } else if (A::counted ? n % lanes == 0 && off == 0 : n >= lanes) {
            node = halve_warp<K, true>(nodes, n, thread, off);
        } else {
            node = halve_warp<K, false>(nodes, n, thread, off);
        }
        if (chunks > 1)
            stack.push(node, elements);
    }

    template <class Elements> __device__ __forceinline__ typename A::Node finish(Elements elements) const
    {
        return stack.count > 0 ? stack.finish(elements) : node;
    }
};

/* Folds a chunk of n elements; the row starts `off` elements into its first line. */
template <class K, class R, class Elements>
RDX_DEVICE void fold_chunk(const Problem &p, R &ring, RowSource<K> &source, const Turn &turn, int off, int64_t chunk,
                           int n, RowTotal<K> &total, int chunks, Elements elements)
{
    typedef typename K::A A;
    constexpr int E = K::elements, lanes = 32 * E, log2 = log2_constant(lanes);
    typename A::Node node[Lanes<K, true>::STATES];
    int slot = source.thread * E - off;
    int64_t start = chunk * 16 * lanes;
    auto element = [&](int e, int line) { return start + ((slot + e) & (lanes - 1)) + line * lanes; };
    auto count = [&](int e) { return elements_of_lane(n, (slot + e) & (lanes - 1), log2); };
    Lanes<K, true> fold = {p, &turn};
    bool straight = n % (group_vectors * lanes) == 0 && !turn.crooked;
    if (!straight || !fold.run_whole(ring, source, n >> log2, element, node))
        fold.run(ring, source, (n + lanes - 1) >> log2, n >> log2, count, element, node);
    total.add(node, n, slot, chunks, elements);
}

} // namespace rdx
#endif
