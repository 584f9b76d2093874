/* How outputs that lie side by side are staged in shared memory, for test_shape.c: slabs in tiles of a warp, short runs
   of a block's eight. */
#ifndef RDX_TESTS_SHAPE_SLABS_H
#define RDX_TESTS_SHAPE_SLABS_H

#include "plan_rules.h"

#include <check.h>
#include <plan/cuda_parts.h>

/* Whole slabs in a tile of a warp, vectors of one apart from those of the next. */
void shape_keeps_slabs(const PlanCase *p, const RdxCudaLaunch *cut);

/* Runs of eight neighbouring outputs in whole, aligned vectors; all that a chunk touches, and then the nodes of its
   lanes, have room. */
void shape_keeps_staged_runs(const PlanCase *p, const RdxCudaLaunch *cut);

#endif
