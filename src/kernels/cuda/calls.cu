/* Counting, naming and failing of calls into CUDA, and what becomes of their errors; see calls.h. */
#include "calls.h"

enum { NAMES = 4096 };

int rdx_cuda_watched;

static long long calls, fail_first, fail_end;
static int planned;
static unsigned errors;
static const char *names[NAMES];

bool rdx_cuda_admit(const char *name)
{
    long long call = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    if (call <= NAMES)
        __atomic_store_n(&names[call - 1], name, __ATOMIC_RELAXED);
    return call < __atomic_load_n(&fail_first, __ATOMIC_RELAXED) ||
           call >= __atomic_load_n(&fail_end, __ATOMIC_RELAXED);
}

cudaError_t rdx_cuda_planned(void)
{
    return (cudaError_t)__atomic_load_n(&planned, __ATOMIC_RELAXED);
}

void rdx_cuda_watch(int64_t k, int64_t failing, int error)
{
    int64_t end = k > 0 && failing < INT64_MAX - k ? k + failing : k > 0 ? INT64_MAX : 0;
    __atomic_store_n(&calls, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&planned, error, __ATOMIC_RELAXED);
    __atomic_store_n(&fail_first, k, __ATOMIC_RELAXED);
    __atomic_store_n(&fail_end, end, __ATOMIC_RELAXED);
    __atomic_store_n(&rdx_cuda_watched, 1, __ATOMIC_SEQ_CST);
}

void rdx_cuda_unwatch(void)
{
    __atomic_store_n(&rdx_cuda_watched, 0, __ATOMIC_SEQ_CST);
}

int64_t rdx_cuda_calls(void)
{
    return __atomic_load_n(&calls, __ATOMIC_RELAXED);
}

const char *rdx_cuda_call(int64_t k)
{
    return k >= 1 && k <= rdx_cuda_calls() && k <= NAMES ? __atomic_load_n(&names[k - 1], __ATOMIC_RELAXED) : NULL;
}

int rdx_cuda_pending(void)
{
    return (int)cudaPeekAtLastError();
}

/* ---- Errors ---- */

unsigned rdx_cuda_errors(void)
{
    return __atomic_load_n(&errors, __ATOMIC_RELAXED);
}

static RdxStatus status_of(cudaError_t error)
{
    if (error == cudaErrorMemoryAllocation)
        return RDX_ERR_DEVICE_MEMORY;
    if (error == cudaErrorNoDevice || error == cudaErrorInvalidDevice || error == cudaErrorInsufficientDriver)
        return RDX_ERR_NO_DEVICE;
    bool capturing = (int)error >= 900 && (int)error <= 908; /* cudaErrorStreamCaptureUnsupported to .. WrongThread */
    return capturing ? RDX_ERR_STREAM : RDX_ERR_CUDA;
}

RdxStatus rdx_cuda_status(cudaError_t error, const char *what)
{
    if (RDX_LIKELY(error == cudaSuccess))
        return RDX_OK;
    __atomic_add_fetch(&errors, 1, __ATOMIC_RELAXED);
    return rdx_cuda_host->error(status_of(error), "%s: %s (%s)", what, cudaGetErrorString(error),
                                cudaGetErrorName(error));
}
