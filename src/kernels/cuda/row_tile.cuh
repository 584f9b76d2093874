/* Tiles of whole rows in a warp's shared memory: what kernel_short_rows.cu and kernel_tile_rows.cu have in common; of
   slabs, in the place of rows, kernel_slabs.cu. A warp copies one tile, up to 9 KiB, and folds it; there is no barrier
   but the warp's, and what a multiprocessor waits for is hidden by its other blocks.

   packed   rows follow each other without a gap: a tile is one stretch of memory, copied from the last multiple of 16
            on
   apart    rows start at multiples of 16: each is copied by itself to an odd multiple of 16 bytes, for the sake of the
            banks */
#ifndef RDX_KERNELS_CUDA_ROW_TILE_CUH
#define RDX_KERNELS_CUDA_ROW_TILE_CUH

#include "ring.cuh"
#include "row_fold.cuh"

namespace rdx
{

enum { TILE_BYTES = RDX_CUDA_TILE, WARPS = RDX_CUDA_THREADS / 32 };

/* What a warp has: rows from output `first` on, which lie from `at` on in shared memory, `pitch` bytes from each
   other. */
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

    /* Rows that lie `step` bytes from each other: of several lines, LINES at most. */
    template <int LINES>
    __device__ __forceinline__ void copy_lines(const unsigned char *from, int64_t step, int row_bytes) const
    {
        if (row_bytes % line_bytes == 0)
            return copy_whole_lines<LINES>(from + thread * 16, step, row_bytes / line_bytes);
#pragma unroll 1
        for (int row = 0; row < rows; row++, from += step)
            copy_stretch<LINES>(at + row * pitch, from, row_bytes, thread);
    }

    /* From this thread's first vector on. How many lines is asked once: no copy has a condition. */
    template <int LINES>
    __device__ __forceinline__ void copy_whole_lines(const unsigned char *from, int64_t step, int lines) const
    {
        if constexpr (LINES > 1) {
            if (lines < LINES)
                return copy_whole_lines<LINES - 1>(from, step, lines);
        }
        SharedAt to = at + thread * 16;
#pragma unroll 1
        for (int row = 0; row < rows; row++, from += step, to += pitch) {
#pragma unroll
            for (int line = 0; line < LINES; line++)
                copy_async(to + line * line_bytes, from + line * line_bytes, 16);
        }
    }

    /* The same of rows of a line and less, and any others. A thread's next vector is 32 further on: so many rows and
       vectors, and a row more where that passes a row's end. Sums find it in 13 instructions, a division in 31. */
    __device__ __forceinline__ void copy_apart(const unsigned char *from, int64_t step, int row_bytes, int magic) const
    {
        const int each = (row_bytes + 15) / 16, vectors = rows * each;
        const int row = (thread * magic) >> 16, rows_on = (32 * magic) >> 16, more = 32 - rows_on * each;
        int place = thread - row * each;
        SharedAt to = at + row * pitch + place * 16;
        from += row * step + place * 16;
        auto each_vector = [&](auto copy) RDX_INLINED {
#pragma unroll 4
            for (int v = thread; v < vectors; v += 32) {
                copy();
                place += more;
                from += rows_on * step + more * 16;
                to += rows_on * pitch + more * 16;
                if (place >= each) {
                    place -= each;
                    from += step - each * 16;
                    to += pitch - each * 16;
                }
            }
        };
        if (row_bytes % 16 == 0) /* no copy has a condition */
            each_vector([&]() RDX_INLINED { copy_async(to, from, 16); });
        else
            each_vector([&]() RDX_INLINED {
                const int left = row_bytes - place * 16;
                copy_async(to, from, left < 16 ? left : 16);
            });
    }
};

/* Asks for the warp's tile; 0 rows where there is none. LINES: the most that a row has, or 1 for any row. */
template <int LINES> RDX_DEVICE Tile ask_for_tile(const Problem &p, uint32_t *shared)
{
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
        else if (LINES > 1)
            tile.copy_lines<LINES>(from, p.dims[p.keep_rank - 1].in, s.row_bytes);
        else
            tile.copy_apart(from, p.dims[p.keep_rank - 1].in, s.row_bytes, s.row_magic);
    }
    commit_copies();
    return tile;
}

/* What there are many of is stored without being asked what it is: sums of 16 bits, in as many, and variances. */
template <class K> RDX_DEVICE void emit_value(const Problem &p, const Target &target, const typename K::A::Node &node)
{
    typedef typename K::A A;
    constexpr bool sum = K::size == 2 && is_float_sum<A>(), variance = A::algebra == RDX_ALGEBRA_VAR;
    if constexpr ((sum || variance) && A::work == RDX_WORK_F32) {
        if (variance ? p.shape.value_bytes > 0 : p.shape.value_bytes == 2 && p.recipe.finish == RDX_FINISH_VALUE) {
            Value<A>::template store<1, true>(p, target.out, &node);
            return;
        }
    }
    emit<A>(p, target, node);
}
template <class K> RDX_DEVICE void emit_row(const Problem &p, int64_t output, const typename K::A::Node &node)
{
    emit_value<K>(p, target_of(p, output, 0, 1), node);
}

/* Once the tile is there; FOLD: LineRow, FewLines or TwiceLines. */
template <class K, template <class> class FOLD>
RDX_DEVICE void reduce_tile(const Problem &p, const Tile &tile, const LineJoin *joins)
{
    FOLD<K> fold(p, joins, tile.thread, tile.pitch, tile.rows);
    int own = fold.row_of(fold.c, tile.thread);
#pragma unroll 1
    for (int done = 0; done < tile.rows; done += 32) {
        int left = tile.rows - done < 32 ? tile.rows - done : 32;
        typename K::A::Node result = fold.fold_rows(tile.at + done * tile.pitch, tile.thread, tile.pitch, left);
        if (own < left)
            emit_row<K>(p, tile.first + done + own, result);
    }
}

} // namespace rdx
#endif
