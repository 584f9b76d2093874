/* What timing compares with: three plain reads, of which the best is the ceiling, and a launch that does nothing. They
   differ in what a block takes: 64 KiB with 16 loads of 16 bytes a thread in flight is best from 256 MB on, 16 KiB
   fills the multiprocessors more evenly below, and a grid that stays and walks has no blocks to start. Sums are kept
   alive by a store that never happens. Where a reduction writes more than a little, each block also fills its share of
   as many bytes, whole lines of 128. */
#include "device.h"
#include "platform.cuh"

enum { READ_THREADS = 256, WALKING_BLOCKS = 8, WALKING_LOADS = 8 };

RDX_DEVICE unsigned mix(uint4 got)
{
    return got.x ^ got.y ^ got.z ^ got.w;
}

RDX_DEVICE void keep_alive(const uint4 *from, size_t vectors, unsigned sum)
{
    if (sum == 0x9e3779b9u && vectors == 0)
        *(unsigned *)from = sum;
}

typedef struct Written {
    uint4 *to;
    size_t vectors, share; /* of all blocks, of one */
} Written;

RDX_DEVICE void fill_share(const Written &written)
{
    size_t first = blockIdx.x * written.share;
    for (size_t i = threadIdx.x; i < written.share; i += READ_THREADS)
        if (first + i < written.vectors)
            written.to[first + i] = make_uint4(0, 0, 0, 0);
}

/* Block b reads vectors b * LOADS * READ_THREADS on, once. */
template <int LOADS>
__global__ void __launch_bounds__(READ_THREADS) read_once(const uint4 *from, size_t vectors, const Written written)
{
    size_t first = (size_t)blockIdx.x * (LOADS * READ_THREADS) + threadIdx.x;
    uint4 got[LOADS];
    unsigned sum = 0;
#pragma unroll
    for (int i = 0; i < LOADS; i++) {
        size_t at = first + (size_t)i * READ_THREADS;
        got[i] = at < vectors ? __ldg(from + at) : make_uint4(0, 0, 0, 0);
    }
    fill_share(written);
#pragma unroll
    for (int i = 0; i < LOADS; i++)
        sum += mix(got[i]);
    keep_alive(from, vectors, sum);
}

__global__ void __launch_bounds__(READ_THREADS) read_walking(const uint4 *from, size_t vectors, const Written written)
{
    size_t tile = (size_t)WALKING_LOADS * READ_THREADS;
    unsigned sum = 0;
    for (size_t first = blockIdx.x * tile; first < vectors; first += gridDim.x * tile) {
        uint4 got[WALKING_LOADS];
#pragma unroll
        for (int i = 0; i < WALKING_LOADS; i++) {
            size_t at = first + (size_t)i * READ_THREADS + threadIdx.x;
            got[i] = at < vectors ? __ldg(from + at) : make_uint4(0, 0, 0, 0);
        }
#pragma unroll
        for (int i = 0; i < WALKING_LOADS; i++)
            sum += mix(got[i]);
    }
    fill_share(written);
    keep_alive(from, vectors, sum);
}

__global__ void nothing(void)
{
}

static size_t tiles_of(size_t vectors, size_t tile)
{
    return (vectors + tile - 1) / tile;
}

static cudaError_t launch_read(int kernel, const void *from, size_t vectors, Written written, cudaStream_t stream,
                               int id)
{
    static const void *const kernels[RDX_PLUGIN_READS] = {RDX_CODE(read_once<16>), RDX_CODE(read_once<4>),
                                                          RDX_CODE(read_walking)};
    static const int loads[RDX_PLUGIN_READS] = {16, 4, WALKING_LOADS};
    size_t tile = (size_t)loads[kernel] * READ_THREADS, blocks = tiles_of(vectors, tile);
    size_t filling = tiles_of(written.vectors, tile);
    void *arguments[] = {&from, &vectors, &written};
    blocks = blocks > filling ? blocks : filling;
    if (blocks == 0)
        return cudaSuccess;
    if (kernel == 2) {
        int units = 0;
        cudaError_t error = RDX_CUDA_CALL(cudaDeviceGetAttribute, &units, cudaDevAttrMultiProcessorCount, id);
        if (error != cudaSuccess)
            return error;
        size_t resident = (size_t)units * WALKING_BLOCKS;
        blocks = blocks < resident ? blocks : resident;
    }
    written.share = tiles_of(tiles_of(written.vectors, 8), blocks) * 8;
    return RDX_CUDA_CALL(cudaLaunchKernel, kernels[kernel], dim3((unsigned)blocks), dim3(READ_THREADS), arguments, 0,
                         stream);
}

RdxStatus rdx_cuda_read(int kernel, const void *from, size_t bytes, void *to, size_t written, RdxStream stream, int id)
{
    RdxCudaVisit visit;
    RDX_TRY(rdx_cuda_enter(&visit, id));
    Written filled = {(uint4 *)to, written / 16, 0};
    cudaError_t error = launch_read(kernel, from, bytes / 16, filled, (cudaStream_t)stream, id);
    return rdx_cuda_leave(&visit, rdx_cuda_status(error, "launching a read"));
}

RdxStatus rdx_cuda_launch_nothing(int times, RdxStream stream, int id)
{
    RdxCudaVisit visit;
    RDX_TRY(rdx_cuda_enter(&visit, id));
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < times && error == cudaSuccess; i++)
        error = RDX_CUDA_CALL(cudaLaunchKernel, RDX_CODE(nothing), dim3(1), dim3(32), NULL, 0, (cudaStream_t)stream);
    return rdx_cuda_leave(&visit, rdx_cuda_status(error, "launching nothing"));
}
