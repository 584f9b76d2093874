/* Makes a failing CASE small: one change at a time is kept if the CASE still fails, whatever with, until none is. */
#include "fuzz.h"

#include <string.h>

enum { MOST_TRIALS = 600 };

typedef struct Shrink {
    RdxCase *c;
    const RdxFuzzOptions *options;
    RdxFuzzFailure *failure;
    int trials;
} Shrink;

/* Keeps `smaller` if it fails too. */
static bool keeps(Shrink *shrink, const RdxCase *smaller)
{
    if (shrink->trials >= MOST_TRIALS || memcmp(smaller, shrink->c, sizeof *smaller) == 0)
        return false;
    shrink->trials++;
    RdxFuzzFailure failure;
    if (rdx_fuzz_try(smaller, shrink->options, NULL, &failure))
        return false;
    *shrink->c = *smaller;
    memcpy(shrink->failure->what, failure.what, sizeof failure.what);
    memcpy(shrink->failure->plan, failure.plan, sizeof failure.plan);
    return true;
}

/* A dim's strides stay, so the view remains inside what it was; a flipped one would need another offset. */
static bool shrink_extent(Shrink *shrink, int d)
{
    bool any = false;
    int64_t extent = shrink->c->shape[d], candidates[] = {1, extent / 4, extent / 2, extent - 1};
    for (int i = 0; i < 4; i++) {
        RdxCase smaller = *shrink->c;
        if (candidates[i] < 1 || candidates[i] >= smaller.shape[d])
            continue;
        smaller.shape[d] = candidates[i];
        any = keeps(shrink, &smaller) || any;
    }
    return any;
}

static void drop(int64_t *list, int d, int length)
{
    memmove(list + d, list + d + 1, (size_t)(length - d - 1) * sizeof *list);
}

/* Takes a dim of extent 1 away. */
static bool shrink_rank(Shrink *shrink, int d)
{
    RdxCase smaller = *shrink->c;
    if (smaller.shape[d] != 1 || smaller.ostrided)
        return false;
    drop(smaller.shape, d, smaller.rank);
    drop(smaller.strides, d, smaller.rank);
    int naxes = 0;
    for (int i = 0; i < smaller.naxes; i++) {
        int axis = smaller.axes[i] + (smaller.axes[i] < 0 ? smaller.rank : 0);
        if (axis != d)
            smaller.axes[naxes++] = axis - (axis > d);
    }
    smaller.naxes = smaller.naxes == RDX_ALL_AXES ? RDX_ALL_AXES : naxes;
    smaller.rank--;
    return keeps(shrink, &smaller);
}

static bool shrink_options(Shrink *shrink)
{
    bool any = false;
    for (int step = 0; step < 11; step++) {
        RdxCase smaller = *shrink->c;
        switch (step) {
        case 0:
            smaller.strided = false;
            smaller.offset = 0;
            break;
        case 1:
            smaller.ostrided = false;
            smaller.ostrides_rank = 0;
            break;
        case 2:
            smaller.offset = 0;
            break;
        case 3:
            smaller.alpha = 1;
            break;
        case 4:
            smaller.beta = 0;
            break;
        case 5:
            smaller.second = smaller.op == RDX_MINMAX;
            smaller.out2 = 0;
            break;
        case 6:
            smaller.out = 0;
            break;
        case 7:
            smaller.nan = RDX_NAN_PROPAGATE;
            break;
        case 8:
            smaller.keep = smaller.keep && smaller.ostrided;
            break;
        case 9:
            smaller.data = RDX_DATA_EXACT;
            break;
        default:
            smaller.data = RDX_DATA_UNIFORM;
            if (shrink->c->data == RDX_DATA_EXACT)
                continue;
        }
        any = keeps(shrink, &smaller) || any;
    }
    return any;
}

void rdx_fuzz_shrink(RdxCase *c, const RdxFuzzOptions *options, RdxFuzzFailure *failure)
{
    Shrink shrink = {c, options, failure, 0};
    bool any = true;
    while (any && shrink.trials < MOST_TRIALS) {
        any = shrink_options(&shrink);
        for (int d = 0; d < c->rank; d++)
            any = shrink_extent(&shrink, d) || any;
        for (int d = c->rank - 1; d >= 0; d--)
            any = shrink_rank(&shrink, d) || any;
    }
}
