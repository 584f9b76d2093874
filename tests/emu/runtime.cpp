/* Devices, memory and launches of the emulated run-time.

   Two devices: one with the numbers of an H200, one small with little shared memory, so that plans differ and a kernel
   that is given the other device's memory is noticed. Launches check what hardware would refuse. */
#include "runtime.h"

#include <map>
#include <memory>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <vector>

namespace emu
{

std::recursive_mutex lock;
static thread_local int current;

int current_device()
{
    return current;
}

struct Model {
    const char *name;
    int units, threads, blocks, registers, major, minor, l2, clock_khz, bus_bits;
    size_t shared_per_unit, shared_per_block, memory;
};

static const Model models[DEVICES] = {
    {"emulated", 132, 2048, 32, 65536, 9, 0, 60 << 20, 3201000, 6144, 228 << 10, 227 << 10, (size_t)64 << 30},
    {"emulated small", 6, 1024, 16, 65536, 7, 5, 4 << 20, 5001000, 256, 64 << 10, 64 << 10, (size_t)1 << 30},
};

/* ---- Memory ---- */

struct Allocation {
    size_t bytes;
    int device;
};

static std::map<uintptr_t, Allocation> allocations;
static size_t taken[DEVICES];

enum { UNSET = 0xff, LARGE = 256 << 20 };

cudaError_t take_memory(void **memory, size_t bytes, int device)
{
    if (bytes > models[device].memory - taken[device])
        return cudaErrorMemoryAllocation;
    /* Aligned as a device's memory is, and not a byte longer than asked for: AddressSanitizer watches both ends. */
    if (bytes > LARGE) { /* few elements far apart, we hope: only pages that are touched are there */
        *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (*memory == MAP_FAILED)
            return cudaErrorMemoryAllocation;
    } else {
        if (posix_memalign(memory, 256, bytes ? bytes : 1) != 0)
            return cudaErrorMemoryAllocation;
        memset(*memory, UNSET, bytes);
    }
    allocations[(uintptr_t)*memory] = {bytes, device};
    taken[device] += bytes;
    return cudaSuccess;
}

bool give_memory(void *memory)
{
    auto found = allocations.find((uintptr_t)memory);
    if (found == allocations.end())
        return false;
    size_t bytes = found->second.bytes;
    taken[found->second.device] -= bytes;
    allocations.erase(found);
    if (bytes > LARGE)
        munmap(memory, bytes);
    else
        free(memory);
    return true;
}

static const std::pair<const uintptr_t, Allocation> *find(const void *place)
{
    auto after = allocations.upper_bound((uintptr_t)place);
    if (after == allocations.begin())
        return NULL;
    auto found = std::prev(after);
    return (uintptr_t)place < found->first + found->second.bytes ? &*found : NULL;
}

int owner_of(const void *place)
{
    auto found = find(place);
    return found ? found->second.device : -1;
}

void check_range(const void *place, size_t bytes, const char *what)
{
    auto found = find(place);
    if (found && (uintptr_t)place + bytes > found->first + found->second.bytes)
        fault({}, "%s of %zu bytes at %p runs out of its %zu bytes of device memory", what, bytes, place,
              found->second.bytes);
}

/* ---- Seeds ---- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

uint64_t next_seed()
{
    static const uint64_t seed = setting("RDX_EMU_SEED", 1), fixed = setting("RDX_EMU_LAUNCH", 0);
    static uint64_t launches;
    launches++;
    return fixed ? fixed : mix(seed * 0x9e3779b97f4a7c15u + launches) | 1;
}

/* Half of what is put into a stream waits there until somebody needs it. */
bool launch_is_late()
{
    static uint64_t calls;
    return mix(++calls + setting("RDX_EMU_SEED", 1)) & 1;
}

/* ---- Launches ---- */

static std::map<const void *, size_t> dynamic_limits; /* of kernels that may have more than the usual 48 KiB */

enum { USUAL_SHARED = 48 << 10, STATIC_SHARED = 64, MOST_THREADS = 1024 };

/* A pointer to another device's memory would be a fault on hardware. */
static void check_parameters(const Kernel *kernel, void *const *parameters, int device)
{
    for (size_t p = 0; p < kernel->count; p++)
        for (size_t at = 0; at + sizeof(void *) <= kernel->sizes[p]; at += sizeof(void *)) {
            const void *word;
            memcpy(&word, (const char *)parameters[p] + at, sizeof word);
            int owner = owner_of(word);
            if (owner >= 0 && owner != device)
                fault({}, "a kernel on device %d is given memory of device %d: %s", device, owner, kernel->name());
        }
}

static cudaError_t launch_kernel(const Kernel *kernel, dim3 grid, dim3 block, void *const *parameters,
                                 size_t shared_bytes, cudaStream_t stream)
{
    const Model &model = models[current];
    auto limit = dynamic_limits.find(kernel);
    size_t threads = (size_t)block.x * block.y * block.z;
    if (threads == 0 || threads > MOST_THREADS || grid.x == 0 || grid.x > 0x7fffffffu || grid.y == 0 ||
        grid.y > 65535 || grid.z == 0 || grid.z > 65535)
        return cudaErrorInvalidConfiguration;
    if (shared_bytes > (limit == dynamic_limits.end() ? USUAL_SHARED - STATIC_SHARED : limit->second) ||
        shared_bytes > model.shared_per_block)
        return cudaErrorInvalidValue;
    check_parameters(kernel, parameters, current);
    /* Parameters are taken now, whenever the grid runs. */
    std::vector<std::vector<char>> taken_parameters;
    for (size_t p = 0; p < kernel->count; p++) {
        const char *from = (const char *)parameters[p];
        taken_parameters.emplace_back(from, from + kernel->sizes[p]);
    }
    return put(stream, [=]() mutable {
        std::vector<void *> places;
        for (auto &parameter : taken_parameters)
            places.push_back(parameter.data());
        run_grid(
            {kernel, places.data(), {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared_bytes, next_seed()});
    });
}

} // namespace emu

using namespace emu;

extern "C" {

const char *cudaGetErrorName(cudaError_t error)
{
    switch (error) {
#define X(name, number, sentence)                                                                                      \
    case name:                                                                                                         \
        return #name;
        EMU_CUDA_ERRORS(X)
#undef X
    }
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
#define X(name, number, sentence)                                                                                      \
    case name:                                                                                                         \
        return sentence;
        EMU_CUDA_ERRORS(X)
#undef X
    }
    return "unrecognized error code";
}

/* What fails says so at once, and nothing is left pending. */
cudaError_t cudaPeekAtLastError(void)
{
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = DEVICES;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *id)
{
    *id = current;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int id)
{
    if (id < 0 || id >= DEVICES)
        return cudaErrorInvalidDevice;
    current = id;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr which, int id)
{
    if (id < 0 || id >= DEVICES)
        return cudaErrorInvalidDevice;
    *value = which == cudaDevAttrMultiProcessorCount ? models[id].units
             : which == cudaDevAttrMemoryClockRate   ? models[id].clock_khz
                                                     : models[id].bus_bits;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int id)
{
    if (id < 0 || id >= DEVICES)
        return cudaErrorInvalidDevice;
    const Model &model = models[id];
    *properties = {};
    snprintf(properties->name, sizeof properties->name, "%s", model.name);
    properties->sharedMemPerMultiprocessor = model.shared_per_unit;
    properties->sharedMemPerBlockOptin = model.shared_per_block;
    properties->major = model.major;
    properties->minor = model.minor;
    properties->multiProcessorCount = model.units;
    properties->maxThreadsPerMultiProcessor = model.threads;
    properties->maxBlocksPerMultiProcessor = model.blocks;
    properties->regsPerMultiprocessor = model.registers;
    properties->l2CacheSize = model.l2;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    Locked locked(lock);
    *total_bytes = models[current].memory;
    *free_bytes = models[current].memory - taken[current];
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    Locked locked(lock);
    return spoils_capture() ? cudaErrorStreamCaptureUnsupported : take_memory(memory, bytes, current);
}

cudaError_t cudaFree(void *memory)
{
    Locked locked(lock);
    if (spoils_capture())
        return cudaErrorStreamCaptureUnsupported;
    if (!memory)
        return cudaSuccess;
    int owner = owner_of(memory);
    if (owner >= 0)
        finish_device(owner);
    return give_memory(memory) ? cudaSuccess : cudaErrorInvalidDevicePointer;
}

cudaError_t cudaMallocAsync(void **memory, size_t bytes, cudaStream_t)
{
    Locked locked(lock);
    return take_memory(memory, bytes, current);
}

cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream)
{
    Locked locked(lock);
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    if (owner_of(memory) < 0)
        return cudaErrorInvalidValue;
    if (cudaStreamIsCapturing(stream, &capture) == cudaSuccess && capture != cudaStreamCaptureStatusNone) {
        /* The graph's: there at every replay, gone with the last copy of this work. */
        std::shared_ptr<void> owned(memory, give_memory);
        return put(stream, [owned] {});
    }
    return put(stream, [=] { give_memory(memory); });
}

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned)
{
    *memory = malloc(bytes ? bytes : 1);
    return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaFreeHost(void *memory)
{
    free(memory);
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind)
{
    Locked locked(lock);
    if (spoils_capture())
        return cudaErrorStreamCaptureUnsupported;
    check_range(to, bytes, "a copy to");
    check_range(from, bytes, "a copy from");
    cudaError_t error = cudaStreamSynchronize(NULL);
    if (bytes)
        memcpy(to, from, bytes);
    return error;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t stream)
{
    Locked locked(lock);
    check_range(to, bytes, "a copy to");
    check_range(from, bytes, "a copy from");
    return put(stream, [=] {
        if (bytes)
            memcpy(to, from, bytes);
    });
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    Locked locked(lock);
    check_range(to, bytes, "a memset");
    return put(stream, [=] { memset(to, value, bytes); });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *)
{
    attributes->sharedSizeBytes = STATIC_SHARED;
    attributes->maxThreadsPerBlock = MOST_THREADS;
    return cudaSuccess;
}

cudaError_t cudaGetKernel(cudaKernel_t *handle, const void *kernel)
{
    *handle = kernel;
    return cudaSuccess;
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute, int value, int device)
{
    Locked locked(lock);
    if (value < 0 || (size_t)value > models[device].shared_per_block)
        return cudaErrorInvalidValue;
    dynamic_limits[kernel] = (size_t)value;
    return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **parameters, size_t shared_bytes,
                             cudaStream_t stream)
{
    Locked locked(lock);
    return launch_kernel((const Kernel *)kernel, grid, block, parameters, shared_bytes, stream);
}
}
