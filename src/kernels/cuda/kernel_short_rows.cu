/* warp: short contiguous rows. A warp copies a tile of whole rows, up to 9 KiB, into shared memory of its own (platform.cuh) and folds it;
   there is no barrier but the warp's, and what a multiprocessor waits for is hidden by its other blocks. `mates` neighbouring threads share a
   row, so that a warp folds 32 / mates rows at once.

   packed   rows follow each other without a gap: a tile is one stretch of memory, copied from the last multiple of 16 on
   apart    rows start at multiples of 16: each is copied by itself to an odd multiple of 16 bytes, for the sake of the banks

   Rows of one line are folded by line_fold.cuh, others by short_rows.cuh. All mates have the result, and each keeps that of its turn: results go
   out by the warp. */
#include "line_fold.cuh"
#include "ring.cuh"

namespace rdx
{

enum { TILE_BYTES = RDX_CUDA_TILE, WARPS = RDX_CUDA_THREADS / 32 };

/* What a warp has: rows from output `first` on, which lie from `at` on in shared memory, `pitch` bytes from each other. */
struct Tile {
    int64_t first;
    SharedAt at;
    int rows, pitch, thread;

    /* Rows that follow each other. */
    __device__ __forceinline__ void copy_packed(const unsigned char *from)
    {
        int before = (int)((uintptr_t)from & 15);
        copy_stretch<TILE_BYTES / line_bytes>(at, from - before, rows * pitch + before, thread);
        at += before;
    }

    /* Rows that lie `step` bytes from each other. */
    __device__ __forceinline__ void copy_apart(const unsigned char *from, int64_t step, int row_bytes, int magic) const
    {
        int each = (row_bytes + 15) / 16;
#pragma unroll 1
        for (int v = thread; v < rows * each; v += 32) {
            int row = (v * magic) >> 16, place = (v - row * each) * 16, left = row_bytes - place;
            copy_async(at + row * pitch + place, from + row * step + place, left < 16 ? left : 16);
        }
    }
};

/* What there are many of is stored without being asked what it is: sums of 16 bits, in as many, and variances. */
template <class K> RDX_DEVICE void emit_row(const Problem &p, int64_t output, const typename K::A::Node &node)
{
    typedef typename K::A A;
    constexpr bool sum = K::size == 2 && is_float_sum<A>(), variance = A::algebra == RDX_ALGEBRA_VAR;
    Target target = target_of(p, output, 0, 1);
    if constexpr ((sum || variance) && A::work == RDX_WORK_F32) {
        if (variance ? p.shape.value_bytes > 0 : p.shape.value_bytes == 2 && p.recipe.finish == RDX_FINISH_VALUE) {
            Value<A>::template store<1, true>(p, target.out, &node);
            return;
        }
    }
    emit<A>(p, target, node);
}

template <class K> RDX_DEVICE void reduce_lines(const Problem &p, const Tile &tile, const LineJoin *joins)
{
    LineRow<K> fold(p, joins, tile.thread, tile.pitch, (int)p.shape.group_outputs);
    int own = fold.row_of(fold.c, tile.thread);
#pragma unroll 1
    for (int done = 0; done < tile.rows; done += 32) {
        int left = tile.rows - done < 32 ? tile.rows - done : 32;
        typename K::A::Node result = fold.fold_rows(tile.at + done * tile.pitch, tile.thread, tile.pitch, left);
        if (own < left)
            emit_row<K>(p, tile.first + done + own, result);
    }
}

template <class K> RDX_DEVICE void reduce_rows(const Problem &p, const Tile &tile, const RowPairs<typename K::A> &pairs)
{
    typedef typename K::A A;
    const RdxCudaShape &s = p.shape;
    ShortRow<K> fold(p, pairs, tile.thread);
    bool crooked = ((uintptr_t)tile.at | (unsigned)tile.pitch) & 3;
    int row = tile.thread >> log2_of(s.mates), at_once = 32 >> log2_of(s.mates), rows = tile.rows;
    typename A::Node result = unset<A>();
    int turn = 0;
#pragma unroll 1
    for (int first = 0; first < rows; first += at_once) {
        typename A::Node node[ShortRow<K>::states];
        fold.fold(tile.at + (first + row < rows ? first + row : rows - 1) * tile.pitch, crooked, node);
        typename A::Node folded = fold.halve(node);
        if (fold.c == turn)
            result = folded;
        turn++;
        if (turn == s.mates || first + at_once >= rows) {
            int own = first + row - (turn - 1 - fold.c) * at_once;
            if (fold.c < turn && own < rows)
                emit_row<K>(p, tile.first + own, result);
            turn = 0;
        }
    }
}

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, LineRow<K>::blocks)
    short_rows_kernel(const __grid_constant__ Problem p)
{
    typedef typename K::A A;
    typedef RowPairs<A> Pairs;
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    RDX_SHARED_ARRAY(LineJoin, joins, LineRow<K>::most_joins);
    RDX_SHARED_ARRAY(typename A::Pair, pairs, A::counted ? Pairs::LEVELS * Pairs::KINDS : 1);
    const RdxCudaShape &s = p.shape;
    const int warp = warp_of_block();
    const unsigned number = blockIdx.x * WARPS + warp;
    Item item = item_of<unsigned>(p, number);
    Tile tile = {item.first_output, shared_at(shared) + warp * TILE_BYTES, number < s.items ? (int)item.outputs : 0,
                 s.pitch ? s.pitch : s.row_bytes, kept(thread_of_warp())};
    if (tile.rows > 0) {
        const unsigned char *from = p.in + seek_output(p, tile.first).in;
        if (s.pitch == 0)
            tile.copy_packed(from);
        else
            tile.copy_apart(from, p.dims[p.keep_rank - 1].in, s.row_bytes, s.row_magic);
    }
    commit_copies();
    const bool one_line = LineRow<K>::takes(p);
    if constexpr (A::counted) {
        if (one_line) {
            LineRow<K>::fill(joins, (int)p.recipe.count);
            __syncthreads();
        } else {
            Pairs{pairs}.fill((int)p.recipe.count);
        }
    }
    if (tile.rows <= 0)
        return;
    wait_copies<0>();
    __syncwarp();
    if constexpr (LineRow<K>::exists) {
        if (one_line)
            return reduce_lines<K>(p, tile, joins);
    }
    reduce_rows<K>(p, tile, {pairs});
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
