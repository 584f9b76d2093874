/* What every CUDA plan of every space must keep, and random spaces to hold plans against. Failures name the seed, the
   space and the plan (plan_where). */
#ifndef RDX_TESTS_PLAN_RULES_H
#define RDX_TESTS_PLAN_RULES_H

#include "plan_cases.h"

/* A problem that points into itself: do not copy. */
typedef struct PlanShape {
    RdxTensor in, out, out2;
    int64_t extent[8], stride[8], out_extent[8];
    int32_t axes[8];
    RdxProblem problem;
    int64_t in_align;
} PlanShape;

/* Up to 2^36 elements in up to 6 dims: permuted, stepped, flipped, repeated; empty now and then. Any op, dtype and
   axes. */
void plan_random_shape(PlanShape *shape, uint64_t seed);

extern char plan_where[1024];
void plan_note(const PlanCase *p, const RdxConfig *c, uint64_t seed); /* writes plan_where */

/* No mark where it passes, as ck_assert makes one by a system call: of millions they were nine tenths of the time. */
#define KEEPS(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            ck_abort_msg("%s\n  %s", #condition, plan_where);                                                          \
    } while (0)

/* Limits of the device, parts that cover every chunk and lane once, workspace and counters, index width, aligned
   vectors. */
void plan_keeps_rules(const PlanCase *p, const RdxConfig *c);

/* The chosen plan keeps the chip busy where there is enough to read: a megabyte a multiprocessor, read once and in
   stretches. False where that is not so, and nothing was checked. */
bool plan_keeps_busy(const PlanCase *p, const RdxConfig *c);

#endif
