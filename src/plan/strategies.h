/* The three functions of every strategy, declared from strategies.def. */
#ifndef RDX_PLAN_STRATEGIES_H
#define RDX_PLAN_STRATEGIES_H

#include "config.h"

#define X(DEVICE, NAME, name)                                                                                          \
    const char *rdx_plan_##name##_applicable(const RdxSituation *situation);                                           \
    void rdx_plan_##name##_configure(const RdxSituation *situation, RdxConfig *config);                                \
    double rdx_plan_##name##_cost(const RdxSituation *situation, RdxConfig *config);
#include "strategies.def"
#undef X

#endif
