/* gather: everything; each output's elements are copied into scratch chunk by chunk and folded there. */
#include "cpu.h"
#include "strategies.h"

const char *rdx_plan_gather_applicable(const RdxSituation *situation)
{
    (void)situation;
    return NULL;
}

void rdx_plan_gather_configure(const RdxSituation *situation, RdxConfig *config)
{
    rdx_cpu_configure_single(situation, config);
}

/* ns: an output 60, a run 10, an element 0.4 beside its fold; what else lies in its line of memory comes at 16 GB/s. */
double rdx_plan_gather_cost(const RdxSituation *situation, RdxConfig *config)
{
    const RdxSpace *space = situation->space;
    double outputs = (double)space->keep_count, n = (double)space->reduce_count;
    double run = space->reduce_rank ? (double)space->reduce[space->reduce_rank - 1].extent : 1;
    int64_t stride = space->reduce_rank ? space->reduce[space->reduce_rank - 1].in : space->in_size;
    double element = rdx_cpu_element_ns(situation->recipe) + 0.4;
    double lines = stride > 64 ? 64 : (double)stride; /* bytes of memory read for one element */
    double ns = outputs * (60 + n / run * 10 + n * (element + (lines - space->in_size) / 16));
    return rdx_cpu_cost(situation, config, ns);
}
