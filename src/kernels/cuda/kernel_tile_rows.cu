/* warp: contiguous rows of two lines of 512 bytes to four, packed or aligned, a tile of them a warp (row_tile.cuh), of what is asked for
   often: folded by lines_fold.cuh as rows of a line are. 256 MB on an H200, by words and lanes of a thread (short_rows.cuh) or by line_rows and this
   way, in us: var over rows of 129 f32 267 and 72, of 300 bf16 512 and 148, argmax over 500 f32 97 and 65, max over 520 bf16 113 and 63. */
#include "lines_fold.cuh"
#include "row_tile.cuh"

namespace rdx
{

template <class K>
constexpr bool comes_in_tiles = RDX_CUDA_HAS_TILE_ROWS(K::A::algebra, K::A::work, K::A::unit, K::size);

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 3) tile_rows_kernel(const __grid_constant__ Problem p)
{
    typedef typename K::A A;
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    RDX_SHARED_ARRAY(LineJoin, joins, LinesRow<K>::most_joins);
    const Tile tile = ask_for_tile<true>(p, shared);
    LinesRow<K>::fill(joins, (int)p.recipe.count);
    if (A::counted)
        __syncthreads();
    if (tile.rows <= 0)
        return;
    wait_copies<0>();
    __syncwarp();
    reduce_tile<K, LinesRow>(p, tile, joins);
}

} // namespace rdx

#define RDX_KERNEL_NAME tile_rows
#define RDX_COMES comes_in_tiles
#define RDX_ELEMENTS(size, words) 1
#include "stamp.inc"
