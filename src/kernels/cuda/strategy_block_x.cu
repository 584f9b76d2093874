/* Rows: warps along a contiguous reduced axis whose runs are aligned to 16 bytes. A warp takes a chunk at a time, each line of 512
   bytes with one 16-byte load a thread; thread t holds lanes t E .. t E + E - 1. A team of `team` warps shares an output: each
   takes an aligned power-of-two run of chunks, with finished runs on a stack that lies across its threads, and the team's nodes meet
   in shared memory. No barrier inside a row. */
#include "block.cuh"

namespace rdx {

static constexpr int line_bytes = 512;

/* Lines of a chunk: 512 bytes apart. */
struct Stream {
    const unsigned char *in;
    int64_t index, index_step, across;

    __device__ __forceinline__ At operator()(int line) const
    {
        return {in + line * line_bytes, index + line * index_step, across};
    }
};

/* The node of a chunk, in every thread. */
template <class K>
RDX_DEVICE typename K::A::Node fold_chunk(const Problem &p, const unsigned char *row, int64_t chunk, int64_t n)
{
    constexpr int E = K::elements, lanes = 32 * E;
    typename K::A::Node node[E];
    int t = thread_of_warp(), lines = (int)(n / lanes), rest = (int)(n % lanes) - t * E;
    int64_t element = chunk * 16 * lanes + t * E, step = p.reduce_rank ? p.dims[p.keep_rank].out : 0;
    Stream stream = {row + element * K::size, p.index_offset + element * step, lanes * step, step};
    Fold<K>::run(p, lines, rest < 0 ? 0 : rest < E ? rest : E, E, stream, node);
    return halve_warp<K>(node, n);
}

template <class K> __global__ void __launch_bounds__(RDX_CUDA_THREADS) rows_kernel(const __grid_constant__ Problem p)
{
    typedef typename K::A A;
    extern __shared__ uint32_t shared[];
    const RdxCudaShape &s = p.shape;
    int warp = (int)threadIdx.x / 32, member = warp % s.team, mate = warp / s.team;
    int64_t chunks = rdx_cuda_chunks(&p.recipe), largest = 1;
    while (largest < chunks && largest < s.part_chunks)
        largest *= 2;
    int64_t run = largest > s.team ? largest / s.team : 1; /* chunks of a warp */
    for (int64_t number = blockIdx.x; number < s.items; number += gridDim.x) {
        Item item = item_of(p, number);
        int64_t part = item.part * s.part_chunks, end = part + s.part_chunks < chunks ? part + s.part_chunks : chunks;
        int64_t first = part + member * run, last = first + run < end ? first + run : end;
        typename A::Node node = {};
        if (mate < item.outputs && first < last) {
            const unsigned char *row = p.in + seek_output(p, item.first_output + mate).in;
            WarpStack<A> stack;
            auto elements = [&](int64_t at, int64_t count) { return elements_of_chunks(p, first + at, count); };
            for (int64_t chunk = first; chunk < last; chunk++)
                stack.push(fold_chunk<K>(p, row, chunk, elements_of_chunks(p, chunk, 1)), elements);
            node = stack.finish(elements);
        }
        if (s.team > 1) {
            Slots<A> slots = {shared, RDX_CUDA_THREADS / 32};
            if (thread_of_warp() == 0)
                slots.put(warp, node);
            __syncthreads();
            if (member == 0) {
                int t = thread_of_warp();
                node = join_neighbours<A>(slots.get(mate * s.team + (t < s.team ? t : 0)), s.team,
                                          [&](int at, int count) { return elements_of_run(p, part + at * run, count * run, end); });
            }
            __syncthreads();
        }
        if (mate < item.outputs && member == 0 && thread_of_warp() == 0)
            deliver<A>(p, item, mate, node);
        end_item<A>(p, item, shared);
    }
}

} // namespace rdx

#define RDX_STRATEGY block_x
#define RDX_KERNEL rdx::rows_kernel
#define RDX_ELEMENTS(size, words) (16 / (size))
#include "stamp.inc"
