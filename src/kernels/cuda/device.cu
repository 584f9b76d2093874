/* The plugin: devices, binding and launching. execute launches and does nothing else: it asks for the current device,
   changes it only where it differs, and gives it back. Calls into CUDA go through calls.h. */
#include "../../plugin.h"
#include "device.h"
#include "kernels.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

const RdxHostTable *rdx_cuda_host;
#define host rdx_cuda_host

enum { MOST_DEVICES = 64 };

/* ---- Visits ---- */

RdxStatus rdx_cuda_enter(RdxCudaVisit *visit, int id)
{
    visit->moved = visit->relaxed = false;
    RDX_TRY(rdx_cuda_status(RDX_CUDA_CALL(cudaGetDevice, &visit->callers), "cudaGetDevice"));
    if (visit->callers == id)
        return RDX_OK;
    RDX_TRY(rdx_cuda_status(RDX_CUDA_CALL(cudaSetDevice, id), "cudaSetDevice"));
    visit->moved = true;
    return RDX_OK;
}

RdxStatus rdx_cuda_enter_relaxed(RdxCudaVisit *visit, int id)
{
    RDX_TRY(rdx_cuda_enter(visit, id));
    visit->mode = cudaStreamCaptureModeRelaxed;
    RdxStatus status = rdx_cuda_status(RDX_CUDA_CALL(cudaThreadExchangeStreamCaptureMode, &visit->mode),
                                       "cudaThreadExchangeStreamCaptureMode");
    if (status != RDX_OK)
        return rdx_cuda_leave(visit, status);
    visit->relaxed = true;
    return RDX_OK;
}

RdxStatus rdx_cuda_leave(const RdxCudaVisit *visit, RdxStatus status)
{
    if (visit->relaxed) {
        enum cudaStreamCaptureMode mode = visit->mode;
        RdxStatus strict = rdx_cuda_status(RDX_CUDA_CALL(cudaThreadExchangeStreamCaptureMode, &mode),
                                           "cudaThreadExchangeStreamCaptureMode");
        status = status != RDX_OK ? status : strict;
    }
    if (!visit->moved)
        return status;
    RdxStatus back = rdx_cuda_status(RDX_CUDA_CALL(cudaSetDevice, visit->callers), "cudaSetDevice");
    return status != RDX_OK ? status : back;
}

/* ---- Devices ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static RdxDeviceInfo known[MOST_DEVICES]; /* name empty: not asked yet */

static int device_count(void)
{
    int count = 0; /* 0 where CUDA fails, too; rdx_last_error then quotes it */
    return rdx_cuda_status(RDX_CUDA_CALL(cudaGetDeviceCount, &count), "counting CUDA devices") == RDX_OK ? count : 0;
}

static RdxStatus attribute(int *value, enum cudaDeviceAttr which, int id)
{
    return rdx_cuda_status(RDX_CUDA_CALL(cudaDeviceGetAttribute, value, which, id), "cudaDeviceGetAttribute");
}

/* Bandwidth of a plain read: 95% of what clock and width of the memory allow (H200: 4.69 of 4.92 TB/s measured). */
static RdxStatus read_device(RdxDeviceInfo *info, int id)
{
    struct cudaDeviceProp properties;
    int clock_khz, width_bits;
    RDX_TRY(rdx_cuda_status(RDX_CUDA_CALL(cudaGetDeviceProperties, &properties, id), "cudaGetDeviceProperties"));
    RDX_TRY(attribute(&clock_khz, cudaDevAttrMemoryClockRate, id));
    RDX_TRY(attribute(&width_bits, cudaDevAttrGlobalMemoryBusWidth, id));
    memset(info, 0, sizeof *info);
    memcpy(info->name, properties.name, sizeof info->name - 1);
    info->cuda = true;
    info->units = properties.multiProcessorCount;
    info->threads_per_unit = properties.maxThreadsPerMultiProcessor;
    info->blocks_per_unit = properties.maxBlocksPerMultiProcessor;
    info->registers_per_unit = properties.regsPerMultiprocessor;
    info->compute = 10 * properties.major + properties.minor;
    info->shared_per_unit = (int64_t)properties.sharedMemPerMultiprocessor;
    info->shared_per_block = (int64_t)properties.sharedMemPerBlockOptin;
    info->l2_bytes = properties.l2CacheSize;
    info->bandwidth = 0.95 * 2e3 * clock_khz * (width_bits / 8.0);
    info->cache_bandwidth = 1.7 * info->bandwidth;
    info->launch_us = 1.3;
    info->many_blocks = RDX_CUDA_MANY_BLOCKS;
    info->heavy_bytes = RDX_CUDA_HEAVY_BYTES;
    return RDX_OK;
}

RdxStatus rdx_cuda_check_device(int id)
{
    int count = 0;
    RDX_TRY(rdx_cuda_status(RDX_CUDA_CALL(cudaGetDeviceCount, &count), "counting CUDA devices"));
    if (id < 0 || id >= count || id >= MOST_DEVICES)
        return host->error(RDX_ERR_NO_DEVICE, "there is no CUDA device %d; there %s %d", id, count == 1 ? "is" : "are",
                           count);
    return RDX_OK;
}

static RdxStatus device_info(int id, RdxDeviceInfo *info)
{
    RDX_TRY(rdx_cuda_check_device(id));
    pthread_mutex_lock(&lock);
    RdxStatus status = known[id].name[0] ? RDX_OK : read_device(&known[id], id);
    *info = known[id];
    pthread_mutex_unlock(&lock);
    return status;
}

static RdxStatus current_device(int *id)
{
    return rdx_cuda_status(RDX_CUDA_CALL(cudaGetDevice, id), "cudaGetDevice");
}

static RdxStatus select_device(int id)
{
    return rdx_cuda_status(RDX_CUDA_CALL(cudaSetDevice, id), "cudaSetDevice");
}

/* ---- Binding ---- */

/* What bind leaves in RdxKernel.code. */
typedef struct Code {
    const void *kernel, *finish;
    int64_t grid;
    int id;
} Code;

static_assert(sizeof(Code) <= sizeof(((RdxKernel *)0)->code), "RdxKernel has too little room");

#define COUNT(kernel, family) +1
#define TABLE(kernel, family) rdx_cuda_##kernel##_##family,
#define X(NAME, name) {RDX_CUDA_FAMILIES(TABLE, name)},
enum { FAMILIES = 0 RDX_CUDA_FAMILIES(COUNT, any) };
static const RdxCudaKernel *const tables[RDX_CUDA_KINDS][FAMILIES] = {
#include "../../plan/cuda_kernels.def"
};
static const RdxCudaKernel *const finish_tables[FAMILIES] = {RDX_CUDA_FAMILIES(TABLE, finish)};
#undef X
#undef TABLE
#undef COUNT

/* Sums of integers run on lanes of I64 or, up to 16 bits and for truth values, of I32, which the tables call I16. */
static int work_of(const RdxSpace *space, const RdxRecipe *recipe)
{
    if (recipe->algebra != RDX_ALGEBRA_ISUM)
        return recipe->work;
    return space->in_size == 4 && recipe->map == RDX_MAP_NONE ? RDX_WORK_I32 : RDX_WORK_I16;
}

static const RdxCudaKernel *find(const RdxCudaKernel *const *families, const RdxSpace *space, const RdxRecipe *recipe)
{
    int work = work_of(space, recipe);
    for (int family = 0; family < FAMILIES; family++)
        for (const RdxCudaKernel *kernel = families[family]; kernel->words; kernel++)
            if (kernel->algebra == recipe->algebra && kernel->work == work && kernel->unit == recipe->unit &&
                kernel->size == space->in_size)
                return kernel;
    return NULL;
}

#ifdef RDX_CUDA_SMALL_TABLES
enum { SMALL_TABLES = true };
#else
enum { SMALL_TABLES = false };
#endif

static RdxStatus missing(const RdxRecipe *recipe)
{
    if (SMALL_TABLES)
        return host->error(RDX_ERR_UNSUPPORTED,
                           "this debug build of the CUDA plugin has no kernel for algebra %d, dtype %d",
                           recipe->algebra, recipe->in);
    return host->error(RDX_ERR_INTERNAL, "the CUDA plugin has no kernel for algebra %d, work %d, unit %d, dtype %d",
                       recipe->algebra, recipe->work, recipe->unit, recipe->in);
}

/* Loads the kernel now, not inside a capture, and allows it all the shared memory that a block can have: the allowance
   is the kernel's, not the plan's, and plans of other sizes share it. cudaFuncSetAttribute would clear an error that
   the caller has pending (CUDA 13.0). */
static RdxStatus ready(const void *kernel, const RdxDeviceInfo *device, int id)
{
    struct cudaFuncAttributes attributes;
    cudaKernel_t handle;
    RDX_TRY(rdx_cuda_status(RDX_CUDA_CALL(cudaFuncGetAttributes, &attributes, kernel), "cudaFuncGetAttributes"));
    int most = (int)(device->shared_per_block - (int64_t)attributes.sharedSizeBytes);
    RDX_TRY(rdx_cuda_status(RDX_CUDA_CALL(cudaGetKernel, &handle, kernel), "cudaGetKernel"));
    return rdx_cuda_status(
        RDX_CUDA_CALL(cudaKernelSetAttributeForDevice, handle, cudaFuncAttributeMaxDynamicSharedMemorySize, most, id),
        "cudaKernelSetAttributeForDevice");
}

static RdxStatus launch(const RdxLaunch *launch);

static RdxStatus bind_here(RdxKernel *kernel, const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config,
                           int id)
{
    Code code;
    RdxDeviceInfo info;
    memset(&code, 0, sizeof code);
    if (config->strategy < 0)
        return host->error(RDX_ERR_UNSUPPORTED, "the reference runs on the CPU only");
    RDX_TRY(device_info(id, &info));
    const RdxCudaLaunch *plan = &config->launch;
    const RdxCudaKernel *found = find(tables[plan->kind], space, recipe);
    if (!found)
        return missing(recipe);
    if (!found->code)
        return host->error(RDX_ERR_INTERNAL,
                           "no plan for algebra %d, work %d, unit %d, dtype %d comes to kernel %d of the CUDA plugin",
                           recipe->algebra, recipe->work, recipe->unit, recipe->in, plan->kind);
    if (found->elements != plan->elements || found->words != plan->words)
        return host->error(RDX_ERR_INTERNAL,
                           "the plan is for vectors of %d and nodes of %d words, its kernel for %d and %d",
                           plan->elements, plan->words, found->elements, found->words);
    code.kernel = found->code;
    code.id = id;
    RDX_TRY(ready(code.kernel, &info, id));
    code.grid = plan->blocks;
    if (config->finishing == RDX_FINISHING_LAUNCH) {
        const RdxCudaKernel *finish = find(finish_tables, space, recipe);
        if (!finish)
            return missing(recipe);
        code.finish = finish->code;
        RDX_TRY(ready(code.finish, &info, id));
    }
    kernel->launch = launch;
    memcpy(kernel->code, &code, sizeof code);
    return RDX_OK;
}

static RdxStatus bind(RdxKernel *kernel, const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config,
                      int id)
{
    RdxCudaVisit visit;
    RDX_TRY(rdx_cuda_enter_relaxed(&visit, id));
    return rdx_cuda_leave(&visit, bind_here(kernel, space, recipe, config, id));
}

/* ---- Launching ---- */

static_assert(offsetof(RdxCudaProblem, shape.split) <= 192, "three lines hold what blocks ask for first (problem.h)");

static void take_dims(RdxCudaProblem *problem, const RdxSpace *space)
{
    RdxCudaDim *dim = problem->dims;
    for (int d = 0; d < space->keep_rank; d++, dim++)
        *dim = {space->keep[d].extent, space->keep[d].in, space->keep[d].out, space->keep[d].out2};
    for (int d = 0; d < space->reduce_rank; d++, dim++)
        *dim = {space->reduce[d].extent, space->reduce[d].in, space->reduce[d].index, 0};
    for (int d = 0; d < space->copy_rank; d++, dim++)
        *dim = {space->copy[d].extent, 0, space->copy[d].out, space->copy[d].out2};
    /* What lies behind travels too, and is not to be whatever lay on the stack. */
    memset(dim, 0, (size_t)(problem->dims + RDX_MAX_RANK - dim) * sizeof *dim);
    problem->keep_rank = space->keep_rank;
    problem->reduce_rank = space->reduce_rank;
    problem->copy_rank = space->copy_rank;
    problem->unused = 0;
    problem->in_step = space->keep_rank == 1 ? space->keep[0].in : 0;
    problem->out_step = space->keep_rank == 1 ? space->keep[0].out : 0;
}

static RdxStatus run(const Code *code, const RdxConfig *config, RdxCudaProblem *problem, cudaStream_t stream)
{
    void *arguments[] = {problem};
    const RdxCudaLaunch *plan = &config->launch;
    RDX_TRY(rdx_cuda_status(RDX_CUDA_CALL(cudaLaunchKernel, code->kernel, dim3((unsigned)code->grid),
                                          dim3((unsigned)plan->threads), arguments, (size_t)plan->shared_bytes, stream),
                            "launching a reduction"));
    if (!code->finish)
        return RDX_OK;
    return rdx_cuda_status(RDX_CUDA_CALL(cudaLaunchKernel, code->finish,
                                         dim3((unsigned)rdx_max(config->finish_grid, 1)), dim3(RDX_CUDA_THREADS),
                                         arguments, (size_t)plan->finish_shared_bytes, stream),
                           "launching the end of a reduction");
}

static RdxStatus launch(const RdxLaunch *launch)
{
    const Code *code = (const Code *)launch->code;
    const RdxSpace *space = launch->space;
    RdxCudaProblem problem;
    problem.in = launch->in + space->in_offset;
    problem.out = launch->out + space->out_offset;
    problem.out2 = launch->out2 ? launch->out2 + space->out2_offset : NULL;
    bool has_parts = launch->config->finishing != RDX_FINISHING_NONE; /* else the workspace may be any pointer */
    problem.counters = has_parts ? (unsigned *)launch->workspace : NULL;
    problem.partials = has_parts ? (uint32_t *)(launch->workspace + RDX_WORKSPACE_HEAD) : NULL;
    problem.alpha = launch->alpha;
    problem.beta = launch->beta;
    problem.outputs = space->keep_count;
    problem.copies = space->copy_count;
    problem.index_offset = space->index_offset;
    problem.recipe = *launch->recipe;
    problem.recipe.lanes = (uint16_t)launch->config->launch.lanes;
    problem.shape = launch->config->launch.shape;
    bool scaled = launch->alpha != 1 || launch->beta != 0;
    problem.shape.plain = problem.shape.plain && !scaled;
    problem.shape.value_bytes = scaled ? 0 : problem.shape.value_bytes;
    problem.shape.direct = problem.shape.direct && !scaled;
    take_dims(&problem, space);
    RdxCudaVisit visit;
    RDX_TRY(rdx_cuda_enter(&visit, code->id));
    rdx_cuda_range_open(launch->text);
    RdxStatus status = run(code, launch->config, &problem, (cudaStream_t)launch->stream);
    rdx_cuda_range_close();
    return rdx_cuda_leave(&visit, status);
}

extern "C" __attribute__((visibility("default"))) const RdxPluginTable *rdx_cuda_plugin(const RdxHostTable *table)
{
    static const RdxPluginTable own = {
        RDX_PLUGIN_VERSION,
        sizeof(RdxPluginTable),
        SMALL_TABLES,
        device_count,
        device_info,
        bind,
        rdx_cuda_workspace_init,
        rdx_cuda_workspace_take,
        rdx_cuda_workspace_give,
        rdx_cuda_is_capturing,
        rdx_cuda_shutdown,
        rdx_cuda_range_open,
        rdx_cuda_range_close,
        rdx_cuda_memory_take,
        rdx_cuda_memory_give,
        rdx_cuda_copy,
        rdx_cuda_wait,
        current_device,
        select_device,
        rdx_cuda_record,
        rdx_cuda_replay,
        rdx_cuda_forget,
        rdx_cuda_read,
        rdx_cuda_launch_nothing,
        rdx_cuda_stream_take,
        rdx_cuda_stream_give,
        rdx_cuda_pinned_take,
        rdx_cuda_pinned_give,
        rdx_cuda_copy_queued,
        rdx_cuda_memory_room,
        rdx_cuda_build,
        rdx_cuda_watch,
        rdx_cuda_unwatch,
        rdx_cuda_calls,
        rdx_cuda_call,
        rdx_cuda_pending,
    };
    if (table->version != RDX_PLUGIN_VERSION || table->size != sizeof *table || table->library != RDX_VERSION)
        return NULL;
    host = table;
    return &own;
}
