/* Plans on presets; see explain.h. This is rdx_plan_create with another device and without a kernel at the end. */
#include "explain.h"

#include "../src/error.h"
#include "../src/kernels/cpu/isa.h"
#include "../src/plan.h"

#include <stdlib.h>
#include <string.h>

static const char *const presets[] = {
#define DEVICE(name, ...) #name,
#define COST(...)
#include "../src/plan/devices.def"
#undef DEVICE
#undef COST
};

const char *rdx_explain_presets(void)
{
#define DEVICE(name, ...) ", " #name
#define COST(...)
    static const char listed[] =
#include "../src/plan/devices.def"
        ;
#undef DEVICE
#undef COST
    return listed + 2; /* behind the first comma */
}

bool rdx_explain_is_preset(const char *name)
{
    for (size_t i = 0; i < RDX_LENGTH(presets); i++)
        if (strcmp(presets[i], name) == 0)
            return true;
    return false;
}

static RdxStatus situate(const RdxTask *task, RdxSpace *space, RdxRecipe *recipe)
{
    const RdxProblem *problem = &task->problem;
    RdxType in, out, out2 = RDX_TYPE_COUNT;
    RDX_TRY(rdx_type_find(&in, problem->in->dtype, "in"));
    RDX_TRY(rdx_type_find(&out, problem->out->dtype, "out"));
    if (problem->out2)
        RDX_TRY(rdx_type_find(&out2, problem->out2->dtype, "out2"));
    return rdx_plan_situate(space, recipe, problem, in, out, out2);
}

RdxStatus rdx_explain_preset(const RdxTask *task, const char *preset, int format, char **text)
{
    const RdxDeviceInfo *device = rdx_explain_is_preset(preset) ? rdx_device_preset(preset) : NULL;
    RDX_REQUIRE(device != NULL, RDX_ERR_DEVICE, "there is no preset \"%.40s\"; there are %s", preset,
                rdx_explain_presets());
    RdxSpace *space = malloc(sizeof *space);
    RDX_REQUIRE(space != NULL, RDX_ERR_MEMORY, "out of memory");
    RdxRecipe recipe;
    RdxCandidate candidates[RDX_STRATEGY_COUNT];
    RdxSituation situation = {space, &recipe, device, 0};
    int count, chosen;
    RdxStatus status = situate(task, space, &recipe);
    if (status == RDX_OK) { /* of an allocation aligned to 64 bytes */
        uint64_t lowest = (task->problem.in->byte_offset + (uint64_t)space->in_offset) | 64;
        situation.in_align = (int64_t)(lowest & -lowest);
    }
    if (status == RDX_OK)
        status = rdx_choose(&situation, candidates, &count, &chosen);
    if (status == RDX_OK) {
        size_t size = rdx_plan_print(&situation, candidates, count, chosen, format, NULL, 0) + 1;
        *text = malloc(size);
        if (*text)
            rdx_plan_print(&situation, candidates, count, chosen, format, *text, size);
        else
            status = rdx_error(RDX_ERR_MEMORY, "out of memory");
    }
    free(space);
    return status;
}

RdxStatus rdx_explain_here(const RdxTask *task, int format, char **text)
{
    RdxPlan *plan;
    size_t needed = 0;
    RDX_TRY(rdx_plan_create(&plan, &task->problem));
    RdxStatus status = rdx_plan_explain(plan, format, NULL, 0, &needed);
    *text = status == RDX_OK ? malloc(needed + 1) : NULL;
    if (*text)
        status = rdx_plan_explain(plan, format, *text, needed + 1, &needed);
    else if (status == RDX_OK)
        status = rdx_error(RDX_ERR_MEMORY, "out of memory");
    rdx_plan_destroy(plan);
    return status;
}

int rdx_explain_isa(const char **used, const char *names[4])
{
    const RdxIsa *isa = NULL;
    *used = rdx_cpu_isa(&isa) == RDX_OK ? isa->name : NULL;
    return rdx_cpu_isa_names(names);
}

int rdx_explain_threads(void)
{
    return rdx_threads();
}
