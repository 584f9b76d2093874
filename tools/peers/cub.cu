/* One case of CUB: peer_cub.py compiles this file for an op, a dtype and a layout, and calls it through ctypes.

   Macros, in a header of a few lines: IN element type, ACC what is added up, OUT element type of the output, OP the
   functor, INIT its neutral element, LIFT(x) an element as ACC, FINISH(a, n) ACC as OUT, PLAIN 1 where both do nothing
   (CUB then sees bare pointers and loads vectors), SEGMENTS 0: DeviceReduce of everything, 1: DeviceSegmentedReduce,
   ARG 1: OP's name is ArgMin or ArgMax.

   open -> copies of the input in one allocation, every copy reduced once, then a graph of calls over rotated copies;
   replay -> microseconds of the graph. Sizes in elements where not said otherwise. */
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cuda/functional>
#include <cuda/std/functional>
#include <cuda/std/limits>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>

#include <cstdint>
#include <cstdio>

struct Lift {
    __host__ __device__ ACC operator()(IN x) const
    {
        return LIFT(x);
    }
};

struct Finish {
    double n; /* elements of an output */
    __host__ __device__ OUT operator()(ACC a) const
    {
        return FINISH(a, n);
    }
};

struct Or {
    __host__ __device__ bool operator()(bool a, bool b) const
    {
        return a || b;
    }
};

struct And {
    __host__ __device__ bool operator()(bool a, bool b) const
    {
        return a && b;
    }
};

#if !ARG
struct Join { /* in ACC, whatever CUB takes the output's type for */
    __host__ __device__ ACC operator()(ACC a, ACC b) const
    {
        return OP{}(a, b);
    }
};
#endif

/* Where segment i begins, `step` elements behind the one before. */
struct Begin {
    int64_t step, shift;
    __host__ __device__ int64_t operator()(int64_t i) const
    {
        return i * step + shift;
    }
};

#if SEGMENTS && ARG
typedef cub::KeyValuePair<int, IN> Result; /* what CUB writes: the index within the segment, and the value */
#else
typedef OUT Result;
#endif

struct Job {
    int64_t n, segments, step; /* of one output; outputs; from output to output */
    int64_t copies, calls;
    int64_t pitch_bytes, slip_bytes, storage_bytes, output_bytes; /* output_bytes: of one copy; peer_open sets it */
    const void *block;                                            /* host: one period of the input */
    int64_t block_bytes;
    unsigned char *in, *out; /* device */
    void *temp, *extremum;
    size_t temp_bytes;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    cudaEvent_t start, end;
};

static cudaError_t reduce(void *temp, size_t &bytes, const IN *in, Result *out, const Job *job)
{
    cudaStream_t stream = job->stream;
#if SEGMENTS
    auto count = thrust::make_counting_iterator<int64_t>(0);
    auto begin = thrust::make_transform_iterator(count, Begin{job->step, 0});
    auto end = thrust::make_transform_iterator(count, Begin{job->step, job->n});
#if ARG
    return cub::DeviceSegmentedReduce::OP(temp, bytes, in, out, job->segments, begin, end, stream);
#elif PLAIN
    return cub::DeviceSegmentedReduce::Reduce(temp, bytes, in, out, job->segments, begin, end, OP{}, ACC(INIT), stream);
#else
    thrust::transform_iterator<Lift, const IN *, ACC, ACC> lifted(in, Lift{});
    auto finished = thrust::make_transform_output_iterator(out, Finish{(double)job->n});
    return cub::DeviceSegmentedReduce::Reduce(temp, bytes, lifted, finished, job->segments, begin, end, Join{},
                                              ACC(INIT), stream);
#endif
#else
#if ARG
    return cub::DeviceReduce::OP(temp, bytes, in, (IN *)job->extremum, out, job->n, stream);
#elif PLAIN
    return cub::DeviceReduce::Reduce(temp, bytes, in, out, job->n, OP{}, ACC(INIT), stream);
#else
    auto finished = thrust::make_transform_output_iterator(out, Finish{(double)job->n});
    return cub::DeviceReduce::TransformReduce(temp, bytes, in, finished, job->n, Join{}, Lift{}, ACC(INIT), stream);
#endif
#endif
}

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        cudaError_t tried = (call);                                                                                    \
        if (tried != cudaSuccess)                                                                                      \
            return tried;                                                                                              \
    } while (0)

static cudaError_t call(Job *job, int64_t i)
{
    int64_t copy = i % job->copies;
    const IN *in = (const IN *)(job->in + copy * job->pitch_bytes + job->slip_bytes);
    return reduce(job->temp, job->temp_bytes, in, (Result *)(job->out + copy * job->output_bytes), job);
}

/* Copy 0 is filled with periods of the block, by doubling; the others are copies of it. */
static cudaError_t fill(const Job *job)
{
    unsigned char *at = job->in + job->slip_bytes;
    int64_t filled = job->block_bytes < job->storage_bytes ? job->block_bytes : job->storage_bytes;
    TRY(cudaMemcpy(at, job->block, (size_t)filled, cudaMemcpyHostToDevice));
    while (filled < job->storage_bytes) {
        int64_t more = filled < job->storage_bytes - filled ? filled : job->storage_bytes - filled;
        TRY(cudaMemcpy(at + filled, at, (size_t)more, cudaMemcpyDeviceToDevice));
        filled += more;
    }
    for (int64_t copy = 1; copy < job->copies; copy++)
        TRY(cudaMemcpy(at + copy * job->pitch_bytes, at, (size_t)job->storage_bytes, cudaMemcpyDeviceToDevice));
    return cudaSuccess;
}

extern "C" int peer_open(Job *job)
{
    job->output_bytes = (job->segments * (int64_t)sizeof(Result) + 255) / 256 * 256;
    TRY(cudaMalloc(&job->in, (size_t)(job->copies * job->pitch_bytes)));
    TRY(cudaMalloc(&job->out, (size_t)(job->copies * job->output_bytes)));
    TRY(cudaMalloc(&job->extremum, 64));
    TRY(cudaStreamCreateWithFlags(&job->stream, cudaStreamNonBlocking));
    TRY(cudaEventCreate(&job->start));
    TRY(cudaEventCreate(&job->end));
    TRY(fill(job));
    TRY(reduce(nullptr, job->temp_bytes, (const IN *)(job->in + job->slip_bytes), (Result *)job->out, job));
    job->temp_bytes += job->temp_bytes == 0;
    TRY(cudaMalloc(&job->temp, job->temp_bytes));
    TRY(cudaDeviceSynchronize());
    for (int64_t i = 0; i < job->calls; i++)
        TRY(call(job, i));
    TRY(cudaStreamSynchronize(job->stream));
    TRY(cudaStreamBeginCapture(job->stream, cudaStreamCaptureModeThreadLocal));
    cudaError_t status = cudaSuccess;
    for (int64_t i = 0; i < job->calls && status == cudaSuccess; i++)
        status = call(job, i);
    TRY(cudaStreamEndCapture(job->stream, &job->graph));
    TRY(status);
    TRY(cudaGraphInstantiate(&job->run, job->graph, 0));
    return cudaSuccess;
}

extern "C" int peer_replay(Job *job, double *us)
{
    float ms = 0;
    TRY(cudaEventRecord(job->start, job->stream));
    TRY(cudaGraphLaunch(job->run, job->stream));
    TRY(cudaEventRecord(job->end, job->stream));
    TRY(cudaEventSynchronize(job->end));
    TRY(cudaEventElapsedTime(&ms, job->start, job->end));
    *us = 1e3 * ms;
    return cudaSuccess;
}

/* One element of copy 0's output. */
extern "C" int peer_output(const Job *job, int64_t position, OUT *element)
{
    Result result;
    TRY(cudaMemcpy(&result, (const Result *)job->out + position, sizeof result, cudaMemcpyDeviceToHost));
#if SEGMENTS && ARG
    *element = result.key;
#else
    *element = result;
#endif
    return cudaSuccess;
}

extern "C" void peer_close(Job *job)
{
    cudaDeviceSynchronize();
    if (job->run)
        cudaGraphExecDestroy(job->run);
    if (job->graph)
        cudaGraphDestroy(job->graph);
    if (job->start)
        cudaEventDestroy(job->start);
    if (job->end)
        cudaEventDestroy(job->end);
    cudaFree(job->in);
    cudaFree(job->out);
    cudaFree(job->temp);
    cudaFree(job->extremum);
    if (job->stream)
        cudaStreamDestroy(job->stream);
}

extern "C" const char *peer_error(int status)
{
    return cudaGetErrorString((cudaError_t)status);
}
extern "C" int peer_version(void)
{
    return CUB_VERSION;
}
