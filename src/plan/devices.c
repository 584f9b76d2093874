/* Device presets and cost constants by name, generated from devices.def. A real GPU takes the constants of the newest
   preset that is not newer than itself. */
#include "cost.h"

#include <string.h>

static const RdxDeviceInfo presets[] = {
#define DEVICE(name, is_cuda, units, threads, blocks, registers, compute, shared_unit, shared_block, l1, l2,           \
               bandwidth, cache_bandwidth, launch_us)                                                                  \
    {#name,                                                                                                            \
     is_cuda,                                                                                                          \
     units,                                                                                                            \
     threads,                                                                                                          \
     blocks,                                                                                                           \
     registers,                                                                                                        \
     compute,                                                                                                          \
     shared_unit,                                                                                                      \
     shared_block,                                                                                                     \
     l1,                                                                                                               \
     l2,                                                                                                               \
     bandwidth,                                                                                                        \
     cache_bandwidth,                                                                                                  \
     launch_us,                                                                                                        \
     RDX_CUDA_MANY_BLOCKS,                                                                                             \
     RDX_CUDA_HEAVY_BYTES},
#define COST(...)
#include "devices.def"
#undef DEVICE
#undef COST
};

static const RdxCostTable costs[] = {
#define DEVICE(...)
#define COST(name, compute, busy_bytes, unit_bandwidth, latency_us, ramp_us, finish_us, counter_us, item_us,           \
             clock_ghz, issue_lanes, f64_weight, write_weight, has_async)                                              \
    {#name,      compute, busy_bytes,      unit_bandwidth, latency_us, ramp_us,      finish_us,                        \
     counter_us, item_us, clock_ghz * 1e9, issue_lanes,    f64_weight, write_weight, has_async},
#include "devices.def"
#undef DEVICE
#undef COST
};

const RdxDeviceInfo *rdx_device_preset(const char *name)
{
    for (size_t i = 0; i < RDX_LENGTH(presets); i++)
        if (strcmp(presets[i].name, name) == 0)
            return &presets[i];
    return NULL;
}

const RdxCostTable *rdx_cost_table(const RdxDeviceInfo *device)
{
    for (size_t i = 0; i < RDX_LENGTH(costs); i++)
        if (costs[i].compute <= device->compute)
            return &costs[i];
    return &costs[RDX_LENGTH(costs) - 1];
}
