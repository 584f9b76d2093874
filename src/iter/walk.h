/* Walking a list of dims: from a position in row-major order of the dims to byte offsets, and on to the next run.
   A run is a stretch along the innermost dim; what lies inside a run is affine. */
#ifndef RDX_ITER_WALK_H
#define RDX_ITER_WALK_H

#include "space.h"

typedef struct RdxWalk {
    const RdxDim *dims;
    int rank;
    int64_t in, out, out2, index; /* offsets at the present position */
    int64_t at[RDX_MAX_RANK];     /* the present position, per dim */
} RdxWalk;

/* position: 0 .. product of extents. Past the end gives the origin. */
static inline void rdx_walk_seek(RdxWalk *walk, const RdxDim *dims, int rank, int64_t position)
{
    walk->dims = dims;
    walk->rank = rank;
    walk->in = walk->out = walk->out2 = walk->index = 0;
    for (int d = rank - 1; d >= 0; d--) {
        int64_t at = position % dims[d].extent;
        position /= dims[d].extent;
        walk->at[d] = at;
        walk->in += at * dims[d].in;
        walk->out += at * dims[d].out;
        walk->out2 += at * dims[d].out2;
        walk->index += at * dims[d].index;
    }
}

/* Elements left in the present run, this one included. Rank 0 is one run of one element. */
static inline int64_t rdx_walk_run(const RdxWalk *walk)
{
    return walk->rank ? walk->dims[walk->rank - 1].extent - walk->at[walk->rank - 1] : 1;
}

static inline void rdx_walk_step(RdxWalk *walk, int d, int64_t steps)
{
    walk->at[d] += steps;
    walk->in += steps * walk->dims[d].in;
    walk->out += steps * walk->dims[d].out;
    walk->out2 += steps * walk->dims[d].out2;
    walk->index += steps * walk->dims[d].index;
}

/* Moves on by `steps`, at most to the end of the present run; past the last position it returns to the origin. */
static inline void rdx_walk_advance(RdxWalk *walk, int64_t steps)
{
    int d = walk->rank - 1;
    if (d < 0)
        return;
    rdx_walk_step(walk, d, steps);
    while (d > 0 && walk->at[d] == walk->dims[d].extent) {
        rdx_walk_step(walk, d, -walk->dims[d].extent);
        rdx_walk_step(walk, --d, 1);
    }
    if (d == 0 && walk->at[0] == walk->dims[0].extent)
        rdx_walk_step(walk, 0, -walk->dims[0].extent);
}

#endif
