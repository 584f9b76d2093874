/* A stand-in for the CUDA plugin, for tests of what is around the kernels: "device" memory is host memory, a launch is
   done by the CPU's kernels, linked in here. What is queued on a stream happens as late as it may, when somebody waits
   for the stream; so whoever reuses a buffer too early, or reads a result before it is there, gets wrong bytes, every
   time. Memory that is given back while work is queued ends the program.

   RDX_STAND_IN_DEVICES (1)   how many devices there are
   RDX_STAND_IN_BYTES (2^30)  memory of each
   RDX_STAND_IN_LARGEST       the largest piece of it that can be had
   RDX_STAND_IN_READ_NS (0)   what a plain read of the bench takes
   RDX_STAND_IN_LACKS         a dtype: a debug build, which has no kernels for it */
#include "../src/error.h"
#include "../src/kernels/cpu/run.h"
#include "../src/plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MARGIN = 256 };

typedef struct Step {
    struct Step *next;
    RdxLaunch launch;
    RdxSpace space;
    RdxRecipe recipe;
    RdxDeviceInfo cpu;
    void *to; /* NULL: a launch; else a copy */
    const void *from;
    size_t bytes;
} Step;

typedef struct Stream {
    Step *first, **last;
} Stream;

typedef struct Recording {
    RdxStatus (*calls)(void *context, RdxStream stream);
    void *context;
    int id;
} Recording;

static const RdxHostTable *host;
static size_t taken_bytes;
static int64_t queued_steps;
static double reading_ns;

static long long number(const char *name, long long otherwise)
{
    const char *text = getenv(name);
    return text ? atoll(text) : otherwise;
}

/* The library in here has sentences of its own. */
static RdxStatus pass_on(RdxStatus status)
{
    return status == RDX_OK ? status : host->error(status, "%s", rdx_last_error());
}

static int device_count(void)
{
    return (int)number("RDX_STAND_IN_DEVICES", 1);
}

static RdxStatus device_info(int id, RdxDeviceInfo *info)
{
    if (device_count() == 0)
        return host->error(RDX_ERR_NO_DEVICE, "cudaGetDeviceCount: no CUDA-capable device is detected");
    if (id < 0 || id >= device_count())
        return host->error(RDX_ERR_NO_DEVICE, "there is no CUDA device %d; there are %d", id, device_count());
    *info = *rdx_device_preset("h200");
    snprintf(info->name, sizeof info->name, "stand-in %d", id);
    return RDX_OK;
}

/* ---- Launches, and streams of them ---- */

/* Plans the step's space for the CPU and runs it. */
static RdxStatus run_launch(Step *step)
{
    RdxLaunch *launch = &step->launch;
    RdxCandidate candidates[RDX_STRATEGY_COUNT];
    RdxKernel kernel;
    int count, chosen;
    uintptr_t at = (uintptr_t)launch->in | 16;
    RdxSituation situation = {&step->space, &step->recipe, &step->cpu, (int64_t)(at & -at)};
    RDX_TRY(rdx_choose(&situation, candidates, &count, &chosen));
    const RdxConfig *config = &candidates[chosen].config;
    RDX_TRY(rdx_cpu_bind(&kernel, &step->space, &step->recipe, config));
    launch->space = &step->space;
    launch->recipe = &step->recipe;
    launch->config = config;
    launch->code = kernel.code;
    launch->workspace = aligned_alloc(64, (size_t)config->workspace_bytes / 64 * 64 + 64);
    RdxStatus status = kernel.launch(launch);
    free(launch->workspace);
    return status;
}

static RdxStatus run_step(Step *step)
{
    if (!step->to)
        return run_launch(step);
    memcpy(step->to, step->from, step->bytes);
    return RDX_OK;
}

/* On the default stream at once. */
static RdxStatus queue(const Step *step, RdxStream stream)
{
    Stream *on = (Stream *)(void *)stream;
    Step *copy = malloc(sizeof *copy);
    if (!copy)
        return host->error(RDX_ERR_MEMORY, "no memory for a step");
    *copy = *step;
    copy->next = NULL;
    if (!on) {
        RdxStatus status = run_step(copy);
        free(copy);
        return pass_on(status);
    }
    *on->last = copy;
    on->last = &copy->next;
    queued_steps++;
    return RDX_OK;
}

static RdxStatus wait_for(RdxStream stream, int id)
{
    Stream *on = (Stream *)(void *)stream;
    RdxStatus status = RDX_OK;
    (void)id;
    while (on && on->first) {
        Step *step = on->first;
        on->first = step->next;
        queued_steps--;
        if (status == RDX_OK)
            status = run_step(step);
        free(step);
    }
    if (on)
        on->last = &on->first;
    return pass_on(status);
}

static RdxStatus stream_take(RdxStream *stream, int id)
{
    Stream *made = calloc(1, sizeof *made);
    (void)id;
    if (!made)
        return host->error(RDX_ERR_MEMORY, "no memory for a stream");
    made->last = &made->first;
    *stream = (RdxStream)(void *)made;
    return RDX_OK;
}

static RdxStatus stream_give(RdxStream stream, int id)
{
    RdxStatus status = wait_for(stream, id);
    free(stream);
    return status;
}

static RdxStatus launch(const RdxLaunch *launched)
{
    Step step;
    memset(&step, 0, sizeof step);
    step.launch = *launched;
    step.space = *launched->space;
    step.recipe = *launched->recipe;
    step.cpu = *rdx_device_preset("cpu");
    step.cpu.units = 1;
    return queue(&step, launched->stream);
}

static RdxStatus bind(RdxKernel *kernel, const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config,
                      int id)
{
    const char *lacks = getenv("RDX_STAND_IN_LACKS");
    (void)space, (void)config, (void)id;
    if (lacks && strcmp(lacks, rdx_types[recipe->in].name) == 0)
        return host->error(RDX_ERR_UNSUPPORTED, "the stand-in has no kernel for %s", lacks);
    kernel->launch = launch;
    return RDX_OK;
}

static RdxStatus copy_queued(void *to, const void *from, size_t bytes, RdxStream stream, int id)
{
    Step step;
    (void)id;
    memset(&step, 0, sizeof step);
    step.to = to;
    step.from = from;
    step.bytes = bytes;
    return queue(&step, stream);
}

/* ---- Memory ---- */

static void refuse_while_queued(const char *what)
{
    if (queued_steps == 0)
        return;
    fprintf(stderr, "stand-in: %s is given back while work is queued\n", what);
    abort();
}

static RdxStatus host_take(void **memory, size_t bytes, int id)
{
    unsigned char *made = aligned_alloc(MARGIN, (bytes / MARGIN + 2) * MARGIN);
    (void)id;
    if (!made)
        return host->error(RDX_ERR_MEMORY, "no memory");
    memcpy(made, &bytes, sizeof bytes);
    memset(made + MARGIN, 0x5b, bytes);
    *memory = made + MARGIN;
    return RDX_OK;
}

static RdxStatus host_give(void *memory, int id)
{
    (void)id;
    refuse_while_queued("pinned memory");
    free((unsigned char *)memory - MARGIN);
    return RDX_OK;
}

static RdxStatus memory_room(size_t *free_bytes, size_t *total_bytes, int id)
{
    (void)id;
    *total_bytes = (size_t)number("RDX_STAND_IN_BYTES", 1 << 30);
    *free_bytes = *total_bytes - taken_bytes;
    return RDX_OK;
}

static RdxStatus memory_take(void **memory, size_t bytes, int id)
{
    size_t room, all;
    RDX_TRY(memory_room(&room, &all, id));
    if (bytes > room || bytes > (size_t)number("RDX_STAND_IN_LARGEST", INT64_MAX))
        return host->error(RDX_ERR_DEVICE_MEMORY, "allocating device memory: out of memory");
    RDX_TRY(host_take(memory, bytes, id));
    taken_bytes += bytes;
    return RDX_OK;
}

static RdxStatus memory_give(void *memory, int id)
{
    size_t bytes;
    (void)id;
    refuse_while_queued("device memory");
    memcpy(&bytes, (unsigned char *)memory - MARGIN, sizeof bytes);
    taken_bytes -= bytes;
    free((unsigned char *)memory - MARGIN);
    return RDX_OK;
}

static RdxStatus copy(void *to, const void *from, size_t bytes, int id)
{
    (void)id;
    memcpy(to, from, bytes);
    return RDX_OK;
}

/* A launch here brings a workspace of its own, so the plan's is never looked at. */
static RdxStatus workspace_init(void *workspace, size_t bytes, RdxStream stream, int id)
{
    (void)stream, (void)id;
    memset(workspace, 0, bytes < RDX_WORKSPACE_HEAD ? bytes : RDX_WORKSPACE_HEAD);
    return RDX_OK;
}

static RdxStatus workspace_take(void **workspace, size_t bytes, RdxStream stream, int id)
{
    static _Alignas(MARGIN) unsigned char nowhere[MARGIN];
    (void)bytes, (void)stream, (void)id;
    *workspace = nowhere;
    return RDX_OK;
}

static RdxStatus workspace_give(void *workspace, size_t bytes, RdxStream stream, int id)
{
    (void)workspace, (void)bytes, (void)stream, (void)id;
    return RDX_OK;
}

static RdxStatus is_capturing(bool *capturing, RdxStream stream, int id)
{
    (void)stream, (void)id;
    *capturing = false;
    return RDX_OK;
}

static void nothing(void)
{
}

static void open_nothing(const char *name)
{
    (void)name;
}

/* ---- The bench ---- */

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static RdxStatus record(void **recording, RdxStatus (*calls)(void *context, RdxStream stream), void *context, int id)
{
    Recording *made = malloc(sizeof *made);
    if (!made)
        return host->error(RDX_ERR_MEMORY, "no memory for a recording");
    *made = (Recording){calls, context, id};
    *recording = made;
    return RDX_OK;
}

/* What the calls took, but for plain reads, which take what they are told to. */
static RdxStatus replay(void *recording, double *us)
{
    const Recording *recorded = recording;
    RdxStream stream = NULL;
    RDX_TRY(stream_take(&stream, recorded->id));
    double start = now_ns();
    reading_ns = 0;
    RdxStatus status = recorded->calls(recorded->context, stream), waited = stream_give(stream, recorded->id);
    *us = (reading_ns > 0 ? reading_ns : now_ns() - start) / 1e3;
    return status != RDX_OK ? status : waited;
}

static RdxStatus read_plain(int kernel, const void *from, size_t bytes, void *to, size_t written, RdxStream stream,
                            int id)
{
    (void)kernel, (void)from, (void)bytes, (void)to, (void)written, (void)stream, (void)id;
    reading_ns += 1 + (double)number("RDX_STAND_IN_READ_NS", 0);
    return RDX_OK;
}

static RdxStatus launch_nothing(int times, RdxStream stream, int id)
{
    (void)times, (void)stream, (void)id;
    return RDX_OK;
}

static RdxStatus build(RdxCudaBuild *built)
{
    *built = (RdxCudaBuild){12080, 12040, "sm_80 sm_90"};
    return RDX_OK;
}

__attribute__((visibility("default"))) const RdxPluginTable *rdx_cuda_plugin(const RdxHostTable *table);

const RdxPluginTable *rdx_cuda_plugin(const RdxHostTable *table)
{
    static RdxPluginTable own = {
        .version = RDX_PLUGIN_VERSION,
        .size = sizeof own,
        .device_count = device_count,
        .device_info = device_info,
        .bind = bind,
        .workspace_init = workspace_init,
        .workspace_take = workspace_take,
        .workspace_give = workspace_give,
        .is_capturing = is_capturing,
        .shutdown = nothing,
        .range_open = open_nothing,
        .range_close = nothing,
        .memory_take = memory_take,
        .memory_give = memory_give,
        .copy = copy,
        .wait = wait_for,
        .record = record,
        .replay = replay,
        .forget = free,
        .read = read_plain,
        .launch_nothing = launch_nothing,
        .stream_take = stream_take,
        .stream_give = stream_give,
        .pinned_take = host_take,
        .pinned_give = host_give,
        .copy_queued = copy_queued,
        .memory_room = memory_room,
        .build = build,
    };
    if (table->version != RDX_PLUGIN_VERSION || table->size != sizeof *table)
        return NULL;
    own.small_tables = getenv("RDX_STAND_IN_LACKS") != NULL;
    host = table;
    return &own;
}
