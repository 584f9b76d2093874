/* From a CASE or a problem to the situation that strategies see, for the tests of planning. Links the internal
   archive. */
#ifndef RDX_TESTS_PLAN_CASES_H
#define RDX_TESTS_PLAN_CASES_H

#include "case.h"

#include <plan/layout.h>

/* Points into itself: do not copy. */
typedef struct PlanCase {
    RdxTask task;
    RdxSpace space;
    RdxRecipe recipe;
    RdxSituation situation;
} PlanCase;

/* False where the library refuses the problem. */
static inline bool plan_case_of(PlanCase *p, const RdxProblem *problem, const RdxDeviceInfo *device, int64_t in_align)
{
    RdxType in, out, out2 = RDX_TYPE_COUNT;
    if (rdx_type_find(&in, problem->in->dtype, "in") || rdx_type_find(&out, problem->out->dtype, "out") ||
        (problem->out2 && rdx_type_find(&out2, problem->out2->dtype, "out2")) ||
        rdx_space_build(&p->space, problem, in, out, out2) ||
        rdx_recipe_resolve(&p->recipe, problem, in, out, out2, p->space.reduce_count))
        return false;
    p->space.indexed = p->recipe.indexed;
    rdx_space_collapse(&p->space);
    p->situation = (RdxSituation){&p->space, &p->recipe, device, in_align};
    return true;
}

static inline bool plan_case(PlanCase *p, const char *text, const char *device)
{
    char error[256];
    RdxCase c;
    return rdx_case_parse(&c, text, error, sizeof error) && rdx_case_problem(&c, &p->task) == RDX_OK &&
           plan_case_of(p, &p->task.problem, rdx_device_preset(device), 256);
}

#endif
