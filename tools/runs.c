/* Walks a part of a dense tensor run by run; see runs.h. */
#include "runs.h"

void rdx_runs_start(RdxRuns *runs, int rank, const int *order, const int64_t *start, const int64_t *extent,
                    const int64_t *stride)
{
    runs->rank = 0;
    runs->elements = 1;
    runs->place = 0;
    for (int i = rank - 1; i >= 0; i--) {
        int d = order[i];
        runs->place += start[d] * stride[d];
        if (extent[d] == 1)
            continue;
        if (runs->rank == 0 && stride[d] == runs->elements) {
            runs->elements *= extent[d];
            continue;
        }
        runs->extent[runs->rank] = extent[d];
        runs->stride[runs->rank] = stride[d];
        runs->at[runs->rank++] = 0;
    }
}

bool rdx_runs_next(RdxRuns *runs)
{
    for (int i = 0; i < runs->rank; i++) {
        runs->place += runs->stride[i];
        if (++runs->at[i] < runs->extent[i])
            return true;
        runs->place -= runs->stride[i] * runs->extent[i];
        runs->at[i] = 0;
    }
    return false;
}
