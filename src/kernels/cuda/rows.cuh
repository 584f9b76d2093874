/* A warp reads chunks of a contiguous reduced axis: lines of 512 bytes, 16 a thread (ring.cuh), from the last multiple of 16 at or
   before the row on. Thread t folds slots t E .. t E + E - 1 of the line.

   A row that starts `turn` elements into its first vector has lane q - turn in slot q, and the first `turn` slots, all of them thread
   0's, hold the last lanes of the line before: joining slots by xor gives the tree of the lanes all the same, for any turn. So
   nothing is shifted: a crooked chunk is one vector more of thread 0's, for which its warp takes a fifth group.

   runs: two reduced dims, the inner one contiguous and made of whole vectors; then there is no turn. */
#ifndef RDX_KERNELS_CUDA_ROWS_CUH
#define RDX_KERNELS_CUDA_ROWS_CUH

#include "block.cuh"
#include "ring.cuh"

namespace rdx
{

static constexpr int chunk_bytes = 16 * line_bytes;

/* The chunks that a warp has of an item: a run of one output's. A team of warps shares an output. */
struct RowRun {
    const unsigned char *row;
    int64_t first; /* chunk */
    int chunks;
};

RDX_DEVICE RowRun run_of(const Problem &p, const Item &item)
{
    const RdxCudaShape &s = p.shape;
    int mate = warp_of_block() >> s.team_log2, member = warp_of_block() & (s.team - 1);
    int64_t first = item.part * s.part_chunks + member * s.warp_chunks, left = end_of_part(s, item) - first;
    if (mate >= item.outputs || left <= 0)
        return {p.in, first, 0};
    return {p.in + seek_output(p, item.first_output + mate).in, first,
            (int)(left < s.warp_chunks ? left : s.warp_chunks)};
}

/* Elements by which a row is off the vectors in which it is read. */
template <class K> RDX_DEVICE int turn_of(const unsigned char *row)
{
    return (int)((uintptr_t)row & 15) / K::size;
}

/* Vectors of a thread for a chunk of n elements. */
template <class K> RDX_DEVICE int vectors_of(int turn, int n)
{
    constexpr int lanes = 32 * K::elements;
    return (turn + n + lanes - 1) / lanes;
}

/* What a warp reads, in order. Few fields: they live as long as the kernel, beside those of the fold. */
template <class K> struct RowSource {
    static constexpr int lanes = 32 * K::elements, group_bytes = group_vectors * line_bytes;

    const Problem &p;
    int64_t number = blockIdx.x; /* of the item */
    int64_t chunk;
    const unsigned char *at; /* this thread's next vector; of runs, the row */
    int chunks;              /* of the run, from `chunk` on */
    int left = 0;            /* bytes of the chunk that its warp has still to ask for; 0: there is nothing more */
    int before;              /* bytes of the first vector that are not the row's */
    int thread;              /* of the warp */

    __device__ __forceinline__ RowSource(const Problem &problem, int own) : p(problem), thread(own)
    {
        open_run();
    }

    __device__ __forceinline__ void issue(SharedAt slot)
    {
        if (left >= group_bytes && p.shape.run == 0) {
#pragma unroll
            for (int u = 0; u < group_vectors; u++)
                copy_async(slot + line_bytes * u, at + u * line_bytes, 16);
        } else if (left > 0) {
            issue_part(slot);
        } else {
            return;
        }
        at += p.shape.run == 0 ? group_bytes : 0;
        left -= group_bytes;
        if (left <= 0)
            next_chunk();
    }

  private:
    __device__ __forceinline__ void issue_part(SharedAt slot)
    {
#pragma unroll 1
        for (int u = 0; u < group_vectors; u++) {
            int bytes = left - u * line_bytes - thread * 16;
            const unsigned char *from = at + u * line_bytes;
            if (bytes <= 0)
                return;
            if (p.shape.run > 0) {
                int64_t end = chunk * 16 * lanes + elements_of_chunk(p, chunk);
                from = at + seek_in_runs(p, (unsigned)(end - bytes / K::size)).in;
            }
            copy_async(slot + line_bytes * u, from, bytes < 16 ? bytes : 16);
        }
    }

    /* A whole chunk took four groups, or five where the row is crooked. */
    __device__ __forceinline__ void next_chunk()
    {
        if (--chunks == 0) {
            number += gridDim.x;
            open_run();
            return;
        }
        at -= before > 0 ? group_bytes : 0;
        chunk++;
        left = before + elements_of_chunk(p, chunk) * K::size;
    }

    __device__ __forceinline__ void open_run()
    {
        left = 0;
        for (; number < p.shape.items; number += gridDim.x) {
            RowRun run = run_of(p, item_of(p, number));
            if (run.chunks == 0)
                continue;
            chunk = run.first;
            chunks = run.chunks;
            at = run.row;
            before = 0;
            if (p.shape.run == 0) {
                before = (int)((uintptr_t)run.row & 15);
                at += chunk * chunk_bytes - before + thread * 16;
            }
            left = before + elements_of_chunk(p, chunk) * K::size;
            return;
        }
    }
};

/* The node of a chunk of n elements, in every thread. */
template <class K, class R>
RDX_DEVICE typename K::A::Node fold_chunk(const Problem &p, R &ring, RowSource<K> &source, int turn, int64_t chunk,
                                          int n)
{
    typedef typename K::A A;
    constexpr int E = K::elements, lanes = 32 * E;
    typename A::Node node[E];
    int slot = source.thread * E - turn;
    int64_t start = chunk * 16 * lanes, step = p.reduce_rank == 1 ? p.dims[p.keep_rank].out : 0;
    auto stand = [&](int line) {
        int first = slot + line * lanes;
        if (!A::indexed)
            return Stand{first, 0, 0};
        if (p.shape.run == 0)
            return Stand{first, p.index_offset + (start + first) * step, step};
        return Stand{first, p.index_offset + seek_in_runs(p, (unsigned)(start + first)).out,
                     p.dims[p.keep_rank + 1].out};
    };
    auto count = [&](int e) { return elements_of_lane(n, (slot + e) & (lanes - 1), log2_constant(lanes)); };
    Lanes<K, true>{p, n}.run(ring, source, vectors_of<K>(turn, n), stand, count, node);
    return halve_warp<K>(node, n, source.thread, turn);
}

} // namespace rdx
#endif
