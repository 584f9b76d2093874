/* Runs of elements that lie side by side in a part of a dense tensor, in the order of memory: what a part is copied
   by. */
#ifndef RDX_TOOLS_RUNS_H
#define RDX_TOOLS_RUNS_H

#include <redax.h>
#include <stdbool.h>

typedef struct RdxRuns {
    int rank; /* of the steps from run to run, innermost first */
    int64_t extent[RDX_MAX_RANK], stride[RDX_MAX_RANK], at[RDX_MAX_RANK];
    int64_t elements, place; /* of a run; where the present one begins, in elements */
} RdxRuns;

/* The part begins at start and has `extent` elements, at least one, along each dim. order: the dims, outermost in
   memory first; stride: in elements. */
void rdx_runs_start(RdxRuns *runs, int rank, const int *order, const int64_t *start, const int64_t *extent,
                    const int64_t *stride);
bool rdx_runs_next(RdxRuns *runs); /* false: that was the last */

#endif
