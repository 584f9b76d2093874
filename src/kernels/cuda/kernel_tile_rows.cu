/* warp: contiguous rows of two lines of 512 bytes to four, of logsumexp to eight, packed or aligned, a tile of them a
   warp (row_tile.cuh), of what is asked for often: folded by lines_fold.cuh as rows of a line are. 256 MB on an H200,
   by words and lanes of a thread (short_rows.cuh), by line_rows or by staged_rows and this way, in us: logsumexp over
   1000 f32 103 and 73, over 1024 bf16 209 and 130, var over rows of 129 f32 267 and 72, of 300 bf16 512 and 148, argmax
   over 500 f32 97 and 65, max over 520 bf16 113 and 63. */
#include "lines_fold.cuh"
#include "row_tile.cuh"

namespace rdx
{

template <class K>
constexpr bool comes_in_tiles = RDX_CUDA_HAS_TILE_ROWS(K::A::algebra, K::A::work, K::A::unit, K::size) &&
                                !is_modulus<K>();

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 3) tile_rows_kernel(const __grid_constant__ Problem p)
{
    typedef typename K::A A;
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    RDX_SHARED_ARRAY(LineJoin, joins, FewLines<K>::most_joins);
    constexpr int lines = K::A::two_passes ? RDX_CUDA_TWICE_LINES : RDX_CUDA_TILE_LINES;
    const Tile tile = ask_for_tile<lines>(p, shared);
    FewLines<K>::fill(joins, (int)p.recipe.count);
    if (A::counted)
        __syncthreads();
    if (tile.rows <= 0)
        return;
    wait_copies<0>();
    __syncwarp();
    if constexpr (K::A::two_passes) {
        if (p.shape.lines > RDX_CUDA_TILE_LINES)
            return reduce_tile<K, TwiceLines>(p, tile, joins);
    }
    reduce_tile<K, FewLines>(p, tile, joins);
}

} // namespace rdx

#define RDX_KERNEL_NAME tile_rows
#define RDX_COMES comes_in_tiles
#define RDX_ELEMENTS(size, words) 1
#include "stamp.inc"
