/* warp: short contiguous rows. A warp copies tiles of whole rows, up to 4 KiB, into shared memory of its own (platform.cuh), two on
   their way while it folds a third, and there is no barrier but the warp's. `mates` neighbouring threads share a row, so that a
   warp folds 32 / mates rows at once: thread c of them reads the words c, c + mates, c + 2 mates ... of a row, wherever it starts. A
   word has four or two neighbouring lanes of 8 and 16 bits, or one of a wider type, all of it at once. The thread halves its up to
   16 lanes between words, the mates halve what is left by shuffles, and lanes of one word come last. Of integers, which come to the
   same in any order, a thread has up to 32 lanes and one state.

   packed   rows follow each other without a gap: a tile is one stretch of memory, copied from the last multiple of 16 on
   apart    rows start at multiples of 16: each is copied by itself to an odd multiple of 16 bytes, for the sake of the banks

   Real sums and their like, var, and what comes to the same in any order know a way of their own: rows of one line are folded an element a
   load, with mates and lanes known to the compiler, up to 32 rows between two questions of what the problem is (64M x 4 f32: 184
   instructions a row before).

   All mates have the result. */
#include "short_rows.cuh"

namespace rdx
{

enum { STAGES = RDX_CUDA_STAGES, TILE_BYTES = RDX_CUDA_TILE, WARPS = RDX_CUDA_THREADS / 32 };

/* What a warp reads, in order: tile after tile. */
template <class K> struct TileSource {
    const Problem &p;
    SharedAt stages; /* of the warp */
    int thread;
    int64_t number; /* of the item */

    __device__ __forceinline__ void issue(int stage)
    {
        const RdxCudaShape &s = p.shape;
        if (number < s.items) {
            Item item = item_of(p, number);
            const unsigned char *from = p.in + seek_output(p, item.first_output).in;
            SharedAt to = stages + stage * TILE_BYTES;
            if (s.pitch == 0)
                copy_stretch(to, from, (int)item.outputs * s.row_bytes);
            else
                copy_rows(to, from, (int)item.outputs);
        }
        number += (int64_t)gridDim.x * WARPS;
        commit_copies();
    }

  private:
    __device__ __forceinline__ void copy_stretch(SharedAt to, const unsigned char *from, int bytes) const
    {
        int before = (int)((uintptr_t)from & 15);
        from -= before;
        bytes += before;
        int at = thread * 16, left = bytes - at, last = bytes & ~15;
        const unsigned char *own =
            (const unsigned char *)forgotten((int64_t)(from + at)); /* lest each copy adds it up */
        to += at;
#pragma unroll
        for (int line = 0; line < TILE_BYTES; line += line_bytes)
            if (left >= line + 16)
                copy_async(to + line, own + line, 16);
        if (last < bytes && thread == (last / 16 & 31))
            copy_async(to + (last - at), own + (last - at), bytes - last);
    }

    __device__ __forceinline__ void copy_rows(SharedAt to, const unsigned char *from, int rows) const
    {
        const RdxCudaShape &s = p.shape;
        int each = (s.row_bytes + 15) / 16;
        int64_t step = p.keep_rank ? p.dims[p.keep_rank - 1].in : 0;
#pragma unroll 1
        for (int v = thread; v < rows * each; v += 32) {
            int row = (v * s.row_magic) >> 16, at = (v - row * each) * 16, left = s.row_bytes - at;
            copy_async(to + row * s.pitch + at, from + row * step + at, left < 16 ? left : 16);
        }
    }
};

/* Sums of 16 bits are stored in as many as a rule, and there are many of them. */
template <class K> RDX_DEVICE void emit_row(const Problem &p, int64_t output, const typename K::A::Node &node)
{
    typedef typename K::A A;
    Target target = target_of(p, output, 0, 1);
    if constexpr (K::size == 2 && is_float_sum<A>() && A::work == RDX_WORK_F32) {
        if (p.shape.value_bytes == 2 && p.recipe.finish == RDX_FINISH_VALUE) {
            Value<A>::template store<1, true>(p, target.out, &node);
            return;
        }
    }
    emit<A>(p, target, node);
}

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) short_rows_kernel(const __grid_constant__ Problem p)
{
    typedef typename K::A A;
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    const RdxCudaShape &s = p.shape;
    int thread = kept(thread_of_warp()), warp = warp_of_block();
    int row = thread >> log2_of(s.mates), at_once = 32 >> log2_of(s.mates);
    /* Neighbouring warps take neighbouring tiles; where tiles are fewer than warps, neighbouring blocks do. */
    bool few = s.items < (int64_t)gridDim.x * WARPS;
    int64_t number = few ? (int64_t)warp * gridDim.x + blockIdx.x : (int64_t)blockIdx.x * WARPS + warp;
    TileSource<K> source = {p, shared_at(shared) + warp * STAGES * TILE_BYTES, thread, number};
    typedef RowPairs<A> Pairs;
    RDX_SHARED_ARRAY(typename A::Pair, pairs, A::counted ? Pairs::LEVELS * Pairs::KINDS : 1);
    if constexpr (A::counted)
        Pairs{pairs}.fill((int)p.recipe.count);
    ShortRow<K> fold(p, {pairs}, thread);
    int stage = 0;
    for (int i = 0; i < STAGES - 1; i++)
        source.issue(i);
#pragma unroll 1
    for (; number < s.items; number += (int64_t)gridDim.x * WARPS) {
        wait_copies<STAGES - 2>();
        __syncwarp(); /* others' copies are here, and all have done with the stage that is asked for anew */
        source.issue(stage == 0 ? STAGES - 1 : stage - 1);
        Item item = item_of(p, number);
        SharedAt tile = source.stages + stage * TILE_BYTES;
        int pitch = s.pitch, rows = (int)item.outputs;
        if (pitch == 0) {
            pitch = s.row_bytes;
            tile += (int)((uintptr_t)(p.in + seek_output(p, item.first_output).in) & 15);
        }
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        bool crooked = ((uintptr_t)tile | (unsigned)pitch) & 3;
        /* All mates have a row's result, and each keeps that of its turn: results go out by the warp. */
        if constexpr (ShortRow<K>::knows_lines) {
            SharedAt last = tile + (rows - 1) * pitch;
            int done = 0;
#pragma unroll 1
            for (; done < rows; done += 32) {
                int turns = rows - done < 32 ? (rows - done + at_once - 1) >> log2_of(at_once) : s.mates;
                int own = done + row + fold.c * at_once;
                typename A::Node result = unset<A>();
                if (!fold.fold_lines(tile + (done + row) * pitch, last, at_once * pitch, turns, crooked, result))
                    break;
                if (own < rows)
                    emit_row<K>(p, item.first_output + own, result);
            }
            if (done >= rows)
                continue;
        }
        typename A::Node result = unset<A>();
        int turn = 0;
#pragma unroll 1
        for (int first = 0; first < rows; first += at_once) {
            typename A::Node node[ShortRow<K>::states];
            fold.fold(tile + (first + row < rows ? first + row : rows - 1) * pitch, crooked, node);
            typename A::Node folded = fold.halve(node);
            if (fold.c == turn)
                result = folded;
            turn++;
            if (turn == s.mates || first + at_once >= rows) {
                int own = first + row - (turn - 1 - fold.c) * at_once;
                if (fold.c < turn && own < rows)
                    emit_row<K>(p, item.first_output + own, result);
                turn = 0;
            }
        }
    }
}

/* Lanes of a thread: as registers allow, but so many that a warp is enough for a row. */
template <class A, int SIZE> constexpr int lanes_of_thread()
{
    constexpr bool real = A::work == RDX_WORK_F32 || A::work == RDX_WORK_F64;
    if (!real && SIZE <= 2 && (A::words == 1 || A::algebra == RDX_ALGEBRA_ISUM))
        return 32;
    return A::words <= 2 || SIZE == 1 ? 16 : A::words <= 4 || SIZE == 2 ? 8 : 4;
}

} // namespace rdx

#define RDX_KERNEL_NAME short_rows
#define RDX_ELEMENTS_OF(Algebra, size) (rdx::lanes_of_thread<Algebra, size>())
#include "stamp.inc"
