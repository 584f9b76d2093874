/* The canonical space of one reduction: what is left of shapes, strides and axes once they are checked, sorted and
   fused. build() makes it from tensors and axes; collapse() brings it into the form below. Plans and kernels see
   nothing else.

   Invariants after collapse:
   - no dim has extent 1; an extent of 0 appears only as reduce_count == 0 or keep_count == 0, with no dims on that side
   - reduced dims: in >= 0, by descending in (ties: larger extent first), the canonical order e = 0 .. n-1; where
     indexed, which needs no order, ties go by descending step of the logical index
   - kept dims: in > 0, by descending in; their out and out2 strides may have any sign
   - copy dims: kept dims of input stride 0; they leave the loop and each result is stored copy_count times
   - no two neighbours of a list can be fused: a.stride != b.extent * b.stride for at least one operand
   - collapse is idempotent. Strides and offsets are in bytes; index is in elements of the reduced axes. */
#ifndef RDX_ITER_SPACE_H
#define RDX_ITER_SPACE_H

#include "../dtype.h"

typedef struct RdxDim {
    int64_t extent;
    int64_t in;        /* bytes from one element to the next in the input */
    int64_t out, out2; /* kept and copy dims: bytes in the outputs */
    int64_t index;     /* reduced dims: step of the logical index (row-major within the reduced axes) */
} RdxDim;

typedef struct RdxSpace {
    int keep_rank, reduce_rank, copy_rank;
    bool indexed; /* the logical index is an operand: dims fuse only where its steps fuse too */
    int64_t keep_count, reduce_count, copy_count; /* products of extents; 1 for no dims */
    int64_t in_offset, out_offset, out2_offset;   /* bytes from data to the element at the origin of the walk */
    int64_t index_offset;                         /* logical index of the element at the origin */
    int64_t in_low, in_high;                      /* bytes touched relative to data + byte_offset, [low, high): input */
    int64_t out_low, out_high, out2_low, out2_high; /* the same for the outputs; low == high: nothing */
    int in_size, out_size, out2_size;               /* bytes of one element; out2_size 0: no second output */
    RdxDim keep[RDX_MAX_RANK], reduce[RDX_MAX_RANK], copy[RDX_MAX_RANK]; /* outermost first */
} RdxSpace;

/* Checks tensors and axes of `problem` (types are already known) and fills an uncollapsed space that is not indexed.
   RDX_ERR_RANK, _AXIS, _SHAPE, _OVERFLOW, _OVERLAP (an output that overlaps itself), _NULL. */
RdxStatus rdx_space_build(RdxSpace *space, const RdxProblem *problem, RdxType in, RdxType out, RdxType out2);

/* Which axes of problem->in are reduced, checked. RDX_ERR_RANK, _AXIS, _SHAPE, _NULL. */
RdxStatus rdx_axes_read(const RdxProblem *problem, bool reduced[RDX_MAX_RANK]);

void rdx_space_collapse(RdxSpace *space);

/* Bytes that a walk over the space reads: an element of stride 0 as often as it comes. */
static inline double rdx_space_bytes(const RdxSpace *space)
{
    return (double)space->keep_count * (double)space->reduce_count * space->in_size;
}

/* The innermost kept dim, along which outputs lie side by side or nearest: its extent, 1 where there is none; its input
   stride, the size of an element where there is none. */
static inline int64_t rdx_space_inner_extent(const RdxSpace *space)
{
    return space->keep_rank ? space->keep[space->keep_rank - 1].extent : 1;
}
static inline int64_t rdx_space_inner_stride(const RdxSpace *space)
{
    return space->keep_rank ? space->keep[space->keep_rank - 1].in : space->in_size;
}

/* Whether an output's elements are one over and over: reduced dims come by descending stride. */
static inline bool rdx_space_is_repeated(const RdxSpace *space)
{
    return space->reduce_rank > 0 && space->reduce[0].in == 0;
}

/* Whether the outputs of all runs along the innermost kept dim follow each other at one distance, the second ones
   too. */
static inline bool rdx_space_is_dense(const RdxSpace *space)
{
    for (int d = 1; d < space->keep_rank; d++) {
        const RdxDim *outer = &space->keep[d - 1], *inner = &space->keep[d];
        if (outer->out != inner->extent * inner->out || outer->out2 != inner->extent * inner->out2)
            return false;
    }
    return true;
}

/* One line, e.g. "keep [65536:16384] reduce [4096:4]"; at most size bytes, returns the length it wants. */
size_t rdx_space_print(const RdxSpace *space, char *buffer, size_t size);

#endif
