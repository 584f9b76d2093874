/* The table of one ISA level, from what its files contribute. */
#include "folds.h"

#define TEXT_(level) #level
#define TEXT(level) TEXT_(level)
#define TABLE_(level) rdx_isa_##level
#define TABLE(level) TABLE_(level)

const RdxIsa TABLE(RDX_ISA) = {
    .name = TEXT(RDX_ISA),
#ifdef RDX_ISA_BELOW
    .below = &TABLE(RDX_ISA_BELOW),
#endif
    .reals = RDX_LEVEL(folds_real),
    .integers = RDX_LEVEL(folds_int),
    .fused = RDX_LEVEL(fused),
    .convert = RDX_LEVEL(convert),
    .convert_planar = RDX_LEVEL(convert_planar),
    .store = RDX_LEVEL(store),
    .map = RDX_LEVEL(map),
    .finish = RDX_LEVEL(finish),
    .widen_keys = RDX_LEVEL(widen_keys),
    .scale = RDX_LEVEL(scale),
    .gather = RDX_LEVEL(gather),
    .copy_runs = RDX_LEVEL(copy_runs),
    .scatter = RDX_LEVEL(scatter),
    .turn = RDX_LEVEL(turn),
    .stream = RDX_LEVEL(stream),
};
