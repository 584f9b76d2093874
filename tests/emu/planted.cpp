/* Proves that the emulator sees what it is for. Small kernels, right as they stand, each with bugs that a name switches
   on:

     planted            lists the names
     planted NAME       runs that kernel under many schedules: exit 1 and a word where a result was wrong, another
                        status where the emulator or a sanitizer ended it, 0 if nothing was noticed. `none` must give 0.

   tests/emu/check_planted.sh knows which bug each kind of build has to find. Compiled like a kernel, with device.h in
   front. */
#include "../../src/kernels/cuda/platform.cuh"

#include <stdlib.h>
#include <vector>

enum Bug {
    NONE,
    NO_BARRIER,
    NO_SECOND_BARRIER,
    DIVERGENT_BARRIER,
    DIVERGENT_SHUFFLE,
    FOREIGN_LANE,
    BARRIER_FOR_FEW,
    PAST_SHARED,
    READ_PAST_GLOBAL,
    NO_WARP_BARRIER,
    NO_WRITERS_FENCE,
    NO_READERS_FENCE,
    EARLY_FENCE,
    PLAIN_COUNTER,
    STALE_COUNTER,
    NO_WAIT,
    SHORT_WAIT,
    NO_BARRIER_AFTER_WAIT,
    COPY_PAST_SHARED,
    COPY_PAST_GLOBAL,
    OTHER_DEVICE,
    NO_STREAM_WAIT,
    TOO_MUCH_SHARED,
    BUGS
};

static const char *const names[BUGS] = {"none",
                                        "no-barrier",
                                        "no-second-barrier",
                                        "divergent-barrier",
                                        "divergent-shuffle",
                                        "foreign-lane",
                                        "barrier-for-few",
                                        "past-shared",
                                        "read-past-global",
                                        "no-warp-barrier",
                                        "no-writers-fence",
                                        "no-readers-fence",
                                        "early-fence",
                                        "plain-counter",
                                        "stale-counter",
                                        "no-wait",
                                        "short-wait",
                                        "no-barrier-after-wait",
                                        "copy-past-shared",
                                        "copy-past-global",
                                        "other-device",
                                        "no-stream-wait",
                                        "too-much-shared"};

static int bug;

static const unsigned all_lanes = 0xffffffffu;

/* ---- Rows summed by a block, and all rows by the last block ---- */

static float sum_of_warp(float x, unsigned lanes)
{
    if (bug == DIVERGENT_SHUFFLE && (threadIdx.x & 31) >= lanes)
        return x;
    for (int with = 16; with; with /= 2)
        x += __shfl_xor_sync(all_lanes, x, with);
    return x;
}

static float sum_of_block(float x, float *shared)
{
    unsigned t = threadIdx.x, warp = t / 32, lane = t % 32, warps = blockDim.x / 32;
    x = sum_of_warp(x, 32);
    if (lane == 0)
        shared[warp] = x;
    if (bug != NO_BARRIER)
        __syncthreads();
    if (bug == BARRIER_FOR_FEW && warp == 0)
        __syncthreads();
    if (warp == 0)
        x = sum_of_warp(lane < warps ? shared[lane] : 0, warps);
    if (bug == DIVERGENT_BARRIER && warp == 0)
        __syncthreads();
    if (bug != NO_SECOND_BARRIER)
        __syncthreads(); /* shared is used again */
    return x;
}

__global__ void sum_rows(const float *in, float *out, unsigned *counter, float *total, int rows, int columns)
{
    RDX_DYNAMIC_SHARED(float, shared);
    RDX_SHARED(bool, is_last);
    for (int row = (int)blockIdx.x; row < rows; row += (int)gridDim.x) {
        float x = 0;
        for (int c = (int)threadIdx.x; c < columns + (bug == READ_PAST_GLOBAL); c += (int)blockDim.x)
            x += in[row * columns + c];
        x = sum_of_block(x, shared);
        if (bug == EARLY_FENCE)
            __threadfence();
        if (threadIdx.x == 0)
            out[row] = x;
        if (bug == PAST_SHARED && threadIdx.x == 0)
            shared[blockDim.x / 32] = x;
    }
    if (bug != NO_WRITERS_FENCE && bug != EARLY_FENCE)
        __threadfence();
    if (threadIdx.x == 0) {
        if (bug == PLAIN_COUNTER)
            is_last = ++*counter == gridDim.x;
        else
            is_last = atomicInc(counter, bug == STALE_COUNTER ? ~0u : gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last)
        return;
    if (bug != NO_READERS_FENCE)
        __threadfence();
    float x = 0;
    for (int row = (int)threadIdx.x; row < rows; row += (int)blockDim.x)
        x += out[row];
    x = sum_of_block(x, shared);
    if (threadIdx.x == 0)
        *total = x;
}

/* Each lane takes its neighbour's value through shared memory, then by a shuffle. */
__global__ void turn(const float *in, float *out)
{
    RDX_SHARED_ARRAY(float, shared, 32);
    unsigned lane = threadIdx.x;
    shared[lane] = in[lane];
    if (bug != NO_WARP_BARRIER)
        __syncwarp();
    float x = shared[(lane + 1) % 32];
    unsigned mask = bug == FOREIGN_LANE ? 0xffffu : all_lanes;
    out[lane] = lane < 16 || mask == all_lanes ? __shfl_sync(mask, x, (lane + 1) % 32) : x;
}

/* Three tiles a thread by asynchronous copies, two in flight; each thread reads what its neighbour copied. */
__global__ void stream_tiles(const uint4 *in, unsigned *out, int tiles)
{
    RDX_DYNAMIC_SHARED(uint4, shared);
    int t = (int)threadIdx.x, n = (int)blockDim.x;
    unsigned sum = 0;
    for (int tile = 0; tile < 2; tile++) {
        rdx::copy_async(shared + (tile & 1) * n + t, in + tile * n + t, 16);
        rdx::commit_copies();
    }
    for (int tile = 0; tile < tiles; tile++) {
        if (bug == SHORT_WAIT)
            rdx::wait_copies<2>();
        else if (bug != NO_WAIT)
            rdx::wait_copies<1>();
        if (bug != NO_BARRIER_AFTER_WAIT)
            __syncthreads();
        uint4 got = shared[(tile & 1) * n + (t + 1) % n];
        sum += got.x ^ got.y ^ got.z ^ got.w;
        __syncthreads();
        if (tile + 2 < tiles)
            rdx::copy_async(shared + (tile & 1) * n + t + (bug == COPY_PAST_SHARED ? n : 0),
                            in + (tile + 2) * n + t + (bug == COPY_PAST_GLOBAL && tile + 3 == tiles), 16);
        rdx::commit_copies();
    }
    out[t] = sum;
}

/* ---- The host ---- */

static void demand(bool right, const char *what)
{
    if (right)
        return;
    printf("noticed: %s\n", what);
    exit(1);
}

static void *device_memory(size_t bytes, const void *from)
{
    void *memory = NULL;
    demand(cudaMalloc(&memory, bytes) == cudaSuccess, "no memory");
    if (from)
        cudaMemcpy(memory, from, bytes, cudaMemcpyDefault);
    return memory;
}

static void launch(const void *kernel, int blocks, int threads, void **parameters, size_t shared)
{
    demand(cudaLaunchKernel(kernel, dim3((unsigned)blocks), dim3((unsigned)threads), parameters, shared, NULL) ==
               cudaSuccess,
           "the launch is refused");
}

static void try_rows(int round)
{
    int rows = 1 + round % 7, columns = 1 + round * 37 % 700, threads = 32 * (2 + round % 7), blocks = 1 + round % 4;
    std::vector<float> in((size_t)rows * columns);
    std::vector<float> out((size_t)rows), right((size_t)rows);
    float all = 0, total = 0;
    unsigned zero = 0;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++) {
            in[(size_t)r * columns + c] = (float)((r * 31 + c * 17 + round) % 19 - 9);
            right[(size_t)r] += in[(size_t)r * columns + c];
        }
    for (float sum : right)
        all += sum;
    void *from = device_memory(in.size() * 4, in.data()), *to = device_memory(out.size() * 4, NULL);
    void *counter = device_memory(4, &zero), *result = device_memory(4, NULL);
    void *parameters[] = {&from, &to, &counter, &result, &rows, &columns};
    size_t shared = bug == TOO_MUCH_SHARED ? 64 << 10 : (size_t)threads / 32 * 4;
    for (int again = 0; again < 2; again++) {
        if (bug == OTHER_DEVICE)
            cudaSetDevice(1);
        launch(RDX_CODE(sum_rows), blocks, threads, parameters, shared);
        if (bug == NO_STREAM_WAIT)
            memcpy(&total, result, 4);
        else
            cudaMemcpy(&total, result, 4, cudaMemcpyDefault);
        demand(total == all, "a wrong total");
        cudaMemcpy(out.data(), to, out.size() * 4, cudaMemcpyDefault);
        demand(out == right, "a wrong row");
        cudaMemcpy(result, &zero, 4, cudaMemcpyDefault);
    }
    for (void *memory : {from, to, counter, result})
        cudaFree(memory);
}

static void try_turn()
{
    float in[32], out[32];
    for (int i = 0; i < 32; i++)
        in[i] = (float)i;
    void *from = device_memory(sizeof in, in), *to = device_memory(sizeof out, NULL);
    void *parameters[] = {&from, &to};
    launch(RDX_CODE(turn), 1, 32, parameters, 0);
    cudaMemcpy(out, to, sizeof out, cudaMemcpyDefault);
    for (int i = 0; i < 32; i++)
        demand(out[i] == (float)((i + 2) % 32), "a wrong lane");
    cudaFree(from);
    cudaFree(to);
}

static void try_tiles(int round)
{
    int threads = 32 * (1 + round % 4), tiles = 3 + round % 3;
    std::vector<unsigned> in((size_t)threads * tiles * 4), out((size_t)threads);
    for (size_t i = 0; i < in.size(); i++)
        in[i] = (unsigned)(i * 2654435761u);
    void *from = device_memory(in.size() * 4, in.data()), *to = device_memory(out.size() * 4, NULL);
    void *parameters[] = {&from, &to, &tiles};
    launch(RDX_CODE(stream_tiles), 1, threads, parameters, (size_t)threads * 32);
    cudaMemcpy(out.data(), to, out.size() * 4, cudaMemcpyDefault);
    for (int t = 0; t < threads; t++) {
        unsigned right = 0;
        for (int tile = 0; tile < tiles; tile++) {
            const unsigned *at = &in[(size_t)(tile * threads + (t + 1) % threads) * 4];
            right += at[0] ^ at[1] ^ at[2] ^ at[3];
        }
        demand(out[(size_t)t] == right, "a wrong tile");
    }
    cudaFree(from);
    cudaFree(to);
}

int main(int argc, char **argv)
{
    for (bug = argc > 1 ? 0 : BUGS; bug < BUGS && strcmp(argv[1], names[bug]) != 0; bug++)
        ;
    if (bug == BUGS) {
        for (const char *name : names)
            printf("%s\n", name);
        return argc > 1 ? 2 : 0;
    }
    int rounds = argc > 2 ? atoi(argv[2]) : 40;
    for (int round = 0; round < rounds; round++) {
        try_rows(round);
        try_turn();
        try_tiles(round);
    }
    printf("%s: nothing noticed in %d rounds\n", names[bug], rounds);
    return 0;
}
