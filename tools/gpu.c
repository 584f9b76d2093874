/* Devices, lanes and their buffers; see gpu.h. Sweeps are in gpu_sweep.c. */
#include "gpu.h"

#include "../src/error.h"
#include "../src/plugin.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 64 << 20 };

/* A size from the environment; `otherwise` where it is unset or no positive number. */
static size_t size_of_environment(const char *name, size_t otherwise)
{
    const char *text = getenv(name);
    char *end;
    unsigned long long value = text ? strtoull(text, &end, 10) : 0;
    return text && *text != '-' && *end == '\0' && value > 0 ? (size_t)value : otherwise;
}

RdxStatus rdx_gpu_open(RdxGpu *gpu, int id)
{
    RdxDeviceInfo info;
    memset(gpu, 0, sizeof *gpu);
    RDX_TRY(rdx_plugin(&gpu->plugin));
    RDX_TRY(gpu->plugin->device_info(id, &info));
    gpu->id = id;
    gpu->piece_bytes = size_of_environment("RDX_PIECE_BYTES", PIECE_BYTES);
    gpu->most_bytes = size_of_environment("RDX_DEVICE_BYTES", 0);
    for (int i = 0; i < RDX_GPU_LANES; i++)
        RDX_TRY(gpu->plugin->stream_take(&gpu->lane[i].stream, id));
    return RDX_OK;
}

/* Gives a lane's buffers back when nothing uses them any more. */
static void release(const RdxGpu *gpu, RdxGpuLane *lane)
{
    if (lane->stream)
        (void)!gpu->plugin->wait(lane->stream, gpu->id);
    if (lane->pinned)
        (void)!gpu->plugin->pinned_give(lane->pinned, gpu->id);
    if (lane->memory)
        (void)!gpu->plugin->memory_give(lane->memory, gpu->id);
    lane->pinned = lane->memory = NULL;
    lane->pinned_bytes = lane->memory_bytes = 0;
}

void rdx_gpu_close(RdxGpu *gpu)
{
    for (int i = 0; gpu->plugin && i < RDX_GPU_LANES; i++) {
        release(gpu, &gpu->lane[i]);
        if (gpu->lane[i].stream)
            (void)!gpu->plugin->stream_give(gpu->lane[i].stream, gpu->id);
    }
    memset(gpu, 0, sizeof *gpu);
}

RdxStatus rdx_gpu_take(int id, void **memory, size_t bytes)
{
    const RdxPluginTable *plugin;
    size_t room, all;
    RDX_TRY(rdx_plugin(&plugin));
    RdxStatus status = plugin->memory_take(memory, bytes, id);
    if (status != RDX_ERR_DEVICE_MEMORY || plugin->memory_room(&room, &all, id) != RDX_OK)
        return status;
    RDX_FAIL(status, "cuda:%d has no room for %zu bytes: %zu of %zu are free", id, bytes, room, all);
}

RdxStatus rdx_gpu_reserve(RdxGpu *gpu, RdxGpuLane *lane, size_t pinned_bytes, size_t memory_bytes)
{
    void *pinned, *memory;
    if (pinned_bytes <= lane->pinned_bytes && memory_bytes <= lane->memory_bytes)
        return RDX_OK;
    pinned_bytes = pinned_bytes > lane->pinned_bytes ? pinned_bytes : lane->pinned_bytes;
    memory_bytes = memory_bytes > lane->memory_bytes ? memory_bytes : lane->memory_bytes;
    release(gpu, lane);
    RDX_TRY(gpu->plugin->pinned_take(&pinned, pinned_bytes, gpu->id));
    lane->pinned = pinned;
    lane->pinned_bytes = pinned_bytes;
    RDX_TRY(rdx_gpu_take(gpu->id, &memory, memory_bytes));
    lane->memory = memory;
    lane->memory_bytes = memory_bytes;
    return RDX_OK;
}

/* What is free or lies in the lanes, but for an eighth, which is left to workspaces. */
RdxStatus rdx_gpu_room(RdxGpu *gpu, size_t *bytes)
{
    size_t room = 0, all;
    RDX_TRY(gpu->plugin->memory_room(&room, &all, gpu->id));
    for (int i = 0; i < RDX_GPU_LANES; i++)
        room += gpu->lane[i].memory_bytes;
    *bytes = gpu->most_bytes && gpu->most_bytes < room ? gpu->most_bytes : room - room / 8;
    return RDX_OK;
}

RdxStatus rdx_gpu_support(RdxGpuSupport *support)
{
    const RdxPluginTable *plugin;
    RdxCudaBuild build;
    memset(support, 0, sizeof *support);
    RDX_TRY(rdx_plugin(&plugin));
    support->devices = plugin->device_count();
    support->small_tables = plugin->small_tables;
    RDX_TRY(plugin->build(&build));
    support->driver = build.driver;
    support->runtime = build.runtime;
    snprintf(support->architectures, sizeof support->architectures, "%s", build.architectures);
    return RDX_OK;
}

RdxStatus rdx_gpu_facts(int id, RdxGpuFacts *facts)
{
    const RdxPluginTable *plugin;
    RdxDeviceInfo info;
    memset(facts, 0, sizeof *facts);
    RDX_TRY(rdx_plugin(&plugin));
    RDX_TRY(plugin->device_info(id, &info));
    snprintf(facts->name, sizeof facts->name, "%s", info.name);
    facts->units = info.units;
    facts->compute = info.compute;
    return plugin->memory_room(&facts->free_bytes, &facts->memory_bytes, id);
}
