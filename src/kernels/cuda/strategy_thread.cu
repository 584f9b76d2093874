/* thread: tiles (tile.cuh) of one element a load, so of any strides and any alignment. The fallback of every strategy. */
#include "tile.cuh"

#define RDX_STRATEGY thread
#define RDX_KERNEL rdx::tile_kernel
#define RDX_ELEMENTS(size, words) 1
#include "stamp.inc"
