/* block_y: tiles (tile.cuh) of vectors of packed, aligned neighbouring outputs: 16 bytes, or 8 where the states of 16 would fill the
   registers (8-bit elements, and 16-bit ones whose state is more than a word). */
#include "tile.cuh"

#define RDX_STRATEGY block_y
#define RDX_KERNEL rdx::tile_kernel
#define RDX_ELEMENTS(size, words) ((size) == 1 ? 8 : (size) == 2 && (words) > 1 ? 4 : 16 / (size))
#include "stamp.inc"
