/* warp: short contiguous rows, packed or aligned, a tile of them a warp (row_tile.cuh). Rows of one line are folded by
   line_fold.cuh, sums of bytes of which a thread can have several by byte_rows.cuh, others, up to four lines, by
   short_rows.cuh: `mates` neighbouring threads share a row, so that a warp folds 32 / mates rows at once. All mates
   have the result, and each keeps that of its turn: results go out by the warp. What is frequent of several lines is
   tile_rows'. */
#include "byte_rows.cuh"
#include "line_fold.cuh"
#include "short_rows.cuh"

namespace rdx
{

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

template <class K> constexpr bool comes_in_short_rows = !is_long<K>();

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, LineRow<K>::blocks)
    short_rows_kernel(const __grid_constant__ Problem p)
{
    typedef typename K::A A;
    typedef RowPairs<A> Pairs;
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    RDX_SHARED_ARRAY(LineJoin, joins, LineRow<K>::most_joins);
    RDX_SHARED_ARRAY(typename A::Pair, pairs, A::counted ? Pairs::LEVELS * Pairs::KINDS : 1);
    const Tile tile = ask_for_tile<1>(p, shared);
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
    if constexpr (ByteRows<K>::exists) {
        static_assert((int)ByteRows<K>::MOST_BYTES == (int)LineRow<K>::LANES,
                      "a thread's own rows are all of one of them");
        if (ByteRows<K>::takes(p))
            return ByteRows<K>(p, tile).reduce();
    }
    if constexpr (LineRow<K>::exists) {
        if (one_line)
            return reduce_tile<K, LineRow>(p, tile, joins);
    }
    if constexpr (!RDX_CUDA_HAS_STAGED_ROWS(A::two_passes, A::work, K::size)) /* else rows here are of one line */
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
#define RDX_COMES comes_in_short_rows
#define RDX_ELEMENTS_OF(Algebra, size) (rdx::lanes_of_thread<Algebra, size>())
#include "stamp.inc"
