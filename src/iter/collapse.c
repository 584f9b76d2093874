/* collapse: an uncollapsed space -> the canonical space (invariants in space.h). Offsets move to the lowest input
   address, dims are sorted into canonical order and fused. Nothing here can fail. */
#include "space.h"

#include <stdlib.h>

static void turn_round(RdxSpace *space, RdxDim *dim)
{
    int64_t last = dim->extent - 1;
    space->in_offset += last * dim->in;
    space->out_offset += last * dim->out;
    space->out2_offset += last * dim->out2;
    space->index_offset += last * dim->index;
    dim->in = -dim->in;
    dim->out = -dim->out;
    dim->out2 = -dim->out2;
    dim->index = -dim->index;
}

/* Whether a belongs outside b. Of equal input stride, kept and copy dims go by output stride, which bits never see, and
   indexed dims by index step, whose answers need no order: by extent, dims of stride 0 that fuse would not all be
   neighbours. */
static bool outside(const RdxSpace *space, const RdxDim *a, const RdxDim *b, bool reduced)
{
    if (a->in != b->in)
        return a->in > b->in;
    if (reduced && space->indexed)
        return llabs(a->index) > llabs(b->index);
    if (!reduced && llabs(a->out) != llabs(b->out))
        return llabs(a->out) > llabs(b->out);
    return a->extent > b->extent;
}

static void sort(const RdxSpace *space, RdxDim *dims, int rank, bool reduced)
{
    for (int i = 1; i < rank; i++) {
        RdxDim dim = dims[i];
        int j = i;
        for (; j > 0 && outside(space, &dim, &dims[j - 1], reduced); j--)
            dims[j] = dims[j - 1];
        dims[j] = dim;
    }
}

static bool follows(int64_t outer, int64_t extent, int64_t inner)
{
    int64_t span;
    return !__builtin_mul_overflow(extent, inner, &span) && span == outer;
}

static int fuse(const RdxSpace *space, RdxDim *dims, int rank, bool reduced)
{
    int fused = 0;
    for (int i = 0; i < rank; i++) {
        RdxDim *outer = &dims[fused - 1], dim = dims[i];
        bool joins = fused > 0 && follows(outer->in, dim.extent, dim.in);
        if (joins && reduced && space->indexed)
            joins = follows(outer->index, dim.extent, dim.index);
        if (joins && !reduced)
            joins = follows(outer->out, dim.extent, dim.out) && follows(outer->out2, dim.extent, dim.out2);
        if (joins) {
            dim.extent *= outer->extent;
            *outer = dim;
        } else {
            dims[fused++] = dim;
        }
    }
    return fused;
}

void rdx_space_collapse(RdxSpace *space)
{
    if (space->keep_count == 0 || space->copy_count == 0) { /* no output element: nothing to walk */
        space->keep_rank = space->copy_rank = space->reduce_rank = 0;
        space->keep_count = 0;
        space->copy_count = 1;
        return;
    }
    if (space->reduce_count == 0)
        space->reduce_rank = 0;
    int kept = 0, reduced = 0, copies = space->copy_rank;
    for (int i = 0; i < space->reduce_rank; i++) {
        RdxDim dim = space->reduce[i];
        if (dim.extent == 1)
            continue;
        if (dim.in < 0)
            turn_round(space, &dim);
        space->reduce[reduced++] = dim;
    }
    for (int i = 0; i < space->keep_rank; i++) {
        RdxDim dim = space->keep[i];
        if (dim.extent == 1)
            continue;
        if (space->reduce_count == 0) /* every result is that of nothing */
            dim.in = 0;
        if (dim.in < 0 || (dim.in == 0 && dim.out < 0))
            turn_round(space, &dim);
        if (dim.in == 0) {
            space->keep_count /= dim.extent;
            space->copy_count *= dim.extent;
            space->copy[copies++] = dim;
        } else {
            space->keep[kept++] = dim;
        }
    }
    sort(space, space->reduce, reduced, true);
    sort(space, space->keep, kept, false);
    sort(space, space->copy, copies, false);
    space->reduce_rank = fuse(space, space->reduce, reduced, true);
    space->keep_rank = fuse(space, space->keep, kept, false);
    space->copy_rank = fuse(space, space->copy, copies, false);
}
