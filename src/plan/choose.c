/* The walk over the strategy table: every applicable strategy of the device is configured and costed, the cheapest
   wins. */
#include "../error.h"
#include "strategies.h"

enum { ON_CPU = false, ON_CUDA = true };

const RdxStrategyInfo rdx_strategies[RDX_STRATEGY_COUNT] = {
#define X(DEVICE, NAME, name)                                                                                          \
    [RDX_STRATEGY_##DEVICE##_##NAME] = {#name, ON_##DEVICE, rdx_plan_##name##_applicable, rdx_plan_##name##_configure, \
                                        rdx_plan_##name##_cost},
#include "strategies.def"
#undef X
};

static _Thread_local struct {
    RdxChooseHook hook;
    void *user;
} hooked;

void rdx_choose_hook(RdxChooseHook hook, void *user)
{
    hooked.hook = hook;
    hooked.user = user;
}

RdxStatus rdx_choose(const RdxSituation *situation, RdxCandidate *candidates, int *count, int *chosen)
{
    int cheapest = -1;
    *count = 0;
    for (int s = 0; s < RDX_STRATEGY_COUNT; s++) {
        const RdxStrategyInfo *strategy = &rdx_strategies[s];
        if (strategy->cuda != situation->device->cuda)
            continue;
        RdxCandidate *candidate = &candidates[*count];
        *candidate = (RdxCandidate){.refused = strategy->applicable(situation)};
        candidate->config.strategy = s;
        if (!candidate->refused) {
            strategy->configure(situation, &candidate->config);
            RDX_ASSURE(candidate->config.items >= 0); /* a strategy that applies has a form that fits */
            candidate->config.cost_us = strategy->cost(situation, &candidate->config);
            if (strategy->cuda && !rdx_cuda_launch_of(&candidate->config.launch, situation, &candidate->config))
                candidate->refused = "its blocks take more shared memory than the device has";
        }
        if (!candidate->refused && (cheapest < 0 || candidate->config.cost_us < candidates[cheapest].config.cost_us))
            cheapest = *count;
        ++*count;
    }
    RDX_ASSURE(cheapest >= 0);
    *chosen = hooked.hook ? hooked.hook(hooked.user, candidates, *count, cheapest) : cheapest;
    RDX_ASSURE(*chosen >= RDX_CHOOSE_REFERENCE && *chosen < *count);
    RDX_ASSURE(*chosen == RDX_CHOOSE_REFERENCE || !candidates[*chosen].refused);
    return RDX_OK;
}
