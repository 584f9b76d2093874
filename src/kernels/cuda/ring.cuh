/* A thread's stream of vectors: the ring in shared memory through which everything is read that lies in vectors of 16
   bytes. What comes out of it is folded by lanes.cuh.

   A source knows which vector comes next: source.issue(slot) asks for it and moves on. The ring is the thread's own:
   slots of its warp lie side by side, so that 32 threads read 512 bytes without bank conflicts, but no thread reads
   what another copied, and there is no barrier. DEPTH - 1 groups are on their way all the time, from the first chunk of
   a warp's run to its last, and need no registers. Between runs the other warps of the multiprocessor keep the memory
   busy: blocks are short and the hardware deals them out. A grid that stayed, with rings that ran on from item to item,
   took 239 us for 64K x 4K f32, 357 for 800K x 256 columns and 300 for 256 channels of 3136, on an H200; this one 235,
   221 and 198.

   A multiprocessor has 104 instructions for a vector of 32 threads before the memory would wait for it: what is not
   arithmetic is done once for a group of four vectors. */
#ifndef RDX_KERNELS_CUDA_RING_CUH
#define RDX_KERNELS_CUDA_RING_CUH

#include "warp.cuh"

/* Lines, in sixteens, that a thread folds without a stack where any order will do: sums of bytes have 32 bits. */
#ifndef RDX_CUDA_AT_ONCE
#define RDX_CUDA_AT_ONCE 1024
#endif

namespace rdx
{

/* Vectors of a group: they are asked for, waited for and folded together. */
static constexpr int group_vectors = RDX_CUDA_GROUP;

/* Groups of a ring; logsumexp looks at the up to five of a lane twice, and more than six would leave no room for a
   second block. Crooked rows wait for one more (64K x 4001 f32: four 258 us, six 234); columns keep their stacks beside
   the ring. */
template <class A> RDX_DEVICE constexpr int rows_depth()
{
    return A::two_passes ? RDX_CUDA_RING_TWICE : RDX_CUDA_RING_ROWS;
}
template <class A> RDX_DEVICE constexpr int columns_depth()
{
    return A::two_passes ? RDX_CUDA_RING_TWICE : RDX_CUDA_RING_COLUMNS;
}

/* Asks for a thread's vectors of a group, all of which are there, a line apart on both sides. */
RDX_DEVICE void copy_group(SharedAt group, const unsigned char *at)
{
#pragma unroll
    for (int u = 0; u < group_vectors; u++)
        copy_async(group + line_bytes * u, at + line_bytes * u, 16);
}

/* The first `bytes` of a stretch of memory, LINES lines at most, by a warp; `from` is a multiple of 16. */
template <int LINES> RDX_DEVICE void copy_stretch(SharedAt to, const unsigned char *from, int bytes, int thread)
{
    constexpr int AT_ONCE = 4;
    int left = bytes - thread * 16, last = bytes & ~15;
    if (last < bytes && thread == (last / 16 & 31))
        copy_async(to + last, from + last, bytes - last);
    to += thread * 16;
    from += thread * 16;
#pragma unroll
    for (int line = 0; line < LINES; line++) {
        if (line > 0 && line % AT_ONCE == 0) /* lest each copy adds up a place of its own */
            from = (const unsigned char *)forgotten((int64_t)(from + AT_ONCE * line_bytes));
        if (left >= line * line_bytes + 16)
            copy_async(to + line * line_bytes, from + line % AT_ONCE * line_bytes, 16);
    }
}

/* Vector u of a group. */
RDX_DEVICE Vector<16> take(SharedAt group, int u)
{
    uint4 v = load_shared(group + u * line_bytes);
    return {{v.x, v.y, v.z, v.w}};
}

/* Rows that start inside a line: the first `before` bytes of each line belong to the line before (rows.cuh). */
struct Turn {
    bool crooked;
    uint32_t mask[4]; /* of this thread's vectors: what it takes from the next one */

    __device__ __forceinline__ Turn(int before, int thread) : crooked(before > 0)
    {
#pragma unroll
        for (int w = 0; w < 4; w++) {
            int bytes = before - 16 * thread - 4 * w;
            mask[w] = bytes >= 4 ? 0xffffffffu : bytes <= 0 ? 0 : (1u << 8 * bytes) - 1;
        }
    }

    __device__ __forceinline__ Vector<16> line(const Vector<16> &here, const Vector<16> &next) const
    {
        Vector<16> v;
#pragma unroll
        for (int w = 0; w < 4; w++)
            v.word[w] = (here.word[w] & ~mask[w]) | (next.word[w] & mask[w]);
        return v;
    }

    /* COUNT lines, of which `next` is the one behind. */
    template <int COUNT> __device__ __forceinline__ void straighten(Vector<16> *got, const Vector<16> &next) const
    {
#pragma unroll
        for (int u = 0; u < COUNT; u++)
            got[u] = line(got[u], u + 1 < COUNT ? got[u + 1] : next);
    }
};

template <int DEPTH> struct Ring {
    static constexpr int group_bytes = line_bytes * group_vectors;

    SharedAt slots; /* of this thread */
    int group = 0;

    /* `shared`: the rings of a block, one warp after the other. */
    __device__ __forceinline__ Ring(uint32_t *shared, int thread)
        : slots(kept(shared_at(shared) + warp_of_block() * group_bytes * DEPTH + thread * 16))
    {
    }

    template <class Source> __device__ __forceinline__ void start(Source &source)
    {
        group = 0;
#pragma unroll 1
        for (int i = 0; i < DEPTH - 1; i++) {
            source.issue(slots + i * group_bytes);
            commit_copies();
        }
    }

    /* The next group: where it lies until the call after. The one that is asked for takes the place of the group before
       it, whose vectors have been used. `more`: the group behind it is there too. With `got`, its vectors, loaded
       before the copies are asked for. */
    template <class Source>
    __device__ __forceinline__ SharedAt next_group(Source &source, bool more, Vector<16> *got = NULL)
    {
        SharedAt at = slots + group * group_bytes;
        if (more)
            wait_copies<DEPTH - 3>();
        else
            wait_copies<DEPTH - 2>();
        if (got) {
#pragma unroll
            for (int u = 0; u < group_vectors; u++)
                got[u] = take(at, u);
        }
        source.issue(slots + (group == 0 ? DEPTH - 1 : group - 1) * group_bytes);
        commit_copies();
        group = group + 1 == DEPTH ? 0 : group + 1;
        return at;
    }

    /* The groups of a lane are there to be peeked at, before next gives them out: all that the ring holds. */
    __device__ __forceinline__ void await_lane() const
    {
        static_assert(DEPTH - 1 <= 16 / group_vectors + 1, "waits for no more than is peeked at");
        wait_copies<0>();
    }
    __device__ __forceinline__ SharedAt peek(int ahead) const
    {
        return slots + (group + ahead < DEPTH ? group + ahead : group + ahead - DEPTH) * group_bytes;
    }
};

} // namespace rdx
#endif
