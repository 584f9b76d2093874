/* Tiles (tile.cuh) of one element a load, so of any strides and any alignment: what every strategy falls back on. */
#include "tile.cuh"

#define RDX_KERNEL_NAME general
#define RDX_ELEMENTS(size, words) 1
#include "stamp.inc"
