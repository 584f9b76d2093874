/* piece_columns: packed columns of rows that start anywhere, of what straight_columns does not take. A vector comes in
   pieces of four or eight bytes, which may start at any element; beside elements of them a load
   (kernel_single_columns.cu), 1001 columns of 256 MB f32 on an H100: var 160 and 189 us, argmax 154 and 290; 33 columns
   170 and 240, 166 and 416. A kernel of its own: asked for in ring_columns, which pieces there are slowed whole vectors
   by 2 to 6%. */
#include "ring_columns.cuh"
#include "straight_columns.cuh"

namespace rdx
{

template <class K> constexpr bool comes_in_pieces = RDX_CUDA_HAS_PIECE_COLUMNS(K::size) && comes_otherwise<K>();

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) piece_columns_kernel(const __grid_constant__ Problem p)
{
    reduce_ring_columns<K, K::size == 4 ? 4 : 8>(p);
}

} // namespace rdx

#define RDX_KERNEL_NAME piece_columns
#define RDX_COMES comes_in_pieces
#define RDX_ELEMENTS(size, words) (16 / (size))
#include "stamp.inc"
