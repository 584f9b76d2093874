/* Rows: warps along a contiguous reduced axis. A warp takes a chunk at a time, each line of 512 bytes with one 16-byte load a thread;
   thread t holds lanes t E .. t E + E - 1. A team of `team` warps shares an output: each takes an aligned power-of-two run of
   chunks, with finished runs on a stack that lies across its threads, and the team's nodes meet in shared memory. No barrier inside
   a row.

   rows     one run an output, aligned to 16 bytes
   shifted  the same misaligned: aligned loads, then each thread takes what it misses from its neighbour (thread 31 from thread 0's
            next line) and shifts; 5 shuffles and about 15 selects and funnel shifts a vector
   runs     two reduced dims, the inner one contiguous and made of whole vectors */
#include "block.cuh"

namespace rdx {

static constexpr int line_bytes = 512;

/* Words 0 .. 3 of eight, `shift` bytes further on. */
RDX_DEVICE void shift_words(uint32_t *word, const uint32_t *next, int shift)
{
    uint32_t w[8];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        w[i] = word[i];
        w[4 + i] = next[i];
    }
#pragma unroll
    for (int i = 0; i < 7; i++)
        w[i] = shift & 4 ? w[i + 1] : w[i];
#pragma unroll
    for (int i = 0; i < 5; i++)
        w[i] = shift & 8 ? w[i + 2] : w[i];
#pragma unroll
    for (int i = 0; i < 4; i++)
        word[i] = __funnelshift_r(w[i], w[i + 1], 8 * (shift & 3));
}

/* Lines of a chunk, for this thread's vector. */
struct Stream {
    const Problem &p;
    const unsigned char *in; /* the vector of line 0; of runs, the row */
    int64_t index, index_step, across;
    int element, lanes, shift;

    __device__ __forceinline__ bool crooked() const
    {
        return shift != 0;
    }

    __device__ __forceinline__ At operator()(int line) const
    {
        if (p.shape.run == 0)
            return {in + line * line_bytes, index + line * index_step, across};
        unsigned e = (unsigned)(element + line * lanes), q = (__umulhi(e, p.shape.run_magic) + e) >> p.shape.run_shift;
        const RdxCudaDim *outer = p.dims + p.keep_rank, *inner = outer + 1;
        int64_t rest = e - q * p.shape.run;
        return {in + q * outer->in + rest * inner->in, index + q * outer->out + rest * inner->out, across};
    }

    template <class K, int COUNT> __device__ __forceinline__ void load_lines(Vector<16> *raw, int first) const
    {
        if (shift != 0) {
            load_shifted<COUNT>(raw, first);
        } else if (p.shape.run == 0) {
            const unsigned char *at = in + first * line_bytes;
#pragma unroll
            for (int u = 0; u < COUNT; u++)
                load<16>(raw[u].word, at + u * line_bytes);
        } else {
#pragma unroll
            for (int u = 0; u < COUNT; u++)
                load<16>(raw[u].word, (*this)(first + u).in);
        }
    }

    template <int COUNT> __device__ __forceinline__ void load_shifted(Vector<16> *raw, int first) const
    {
        const unsigned char *aligned = in + first * line_bytes - shift;
        int t = thread_of_warp();
        Vector<16> end = {};
#pragma unroll
        for (int u = 0; u < COUNT; u++)
            load<16>(raw[u].word, aligned + u * line_bytes);
        if (t == 0)
            load<16>(end.word, aligned + COUNT * line_bytes);
#pragma unroll
        for (int u = 0; u < COUNT; u++) {
            const Vector<16> &after = u + 1 < COUNT ? raw[u + 1] : end;
            uint32_t next[4];
#pragma unroll
            for (int k = 0; k < 4; k++)
                next[k] = __shfl_sync(whole_warp, t == 0 ? after.word[k] : raw[u].word[k], (t + 1) & 31);
            shift_words(raw[u].word, next, shift);
        }
    }
};

/* The node of a chunk, in every thread. */
template <class K>
RDX_DEVICE typename K::A::Node fold_chunk(const Problem &p, const unsigned char *row, int64_t chunk, int n)
{
    constexpr int E = K::elements, lanes = 32 * E;
    typename K::A::Node node[E];
    int t = thread_of_warp(), lines = n / lanes, rest = n % lanes - t * E;
    int64_t element = chunk * 16 * lanes + t * E, step = p.reduce_rank == 1 ? p.dims[p.keep_rank].out : 0;
    bool runs = p.shape.run > 0;
    Stream stream = {p,
                     runs ? row : row + element * K::size,
                     p.index_offset + element * step,
                     lanes * step,
                     runs ? p.dims[p.keep_rank + 1].out : step,
                     (int)element,
                     lanes,
                     runs ? 0 : (int)((uintptr_t)row & 15)};
    Fold<K, Stream>{p, stream}.run(lines, rest < 0 ? 0 : rest < E ? rest : E, E, node);
    return halve_warp<K>(node, n);
}

template <class K> __global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) rows_kernel(const __grid_constant__ Problem p)
{
    typedef typename K::A A;
    extern __shared__ uint32_t shared[];
    const RdxCudaShape &s = p.shape;
    int warp = (int)threadIdx.x / 32, member = warp % s.team, mate = warp / s.team;
    int64_t chunks = s.chunks, run = s.warp_chunks;
    for (int64_t number = blockIdx.x; number < s.items; number += gridDim.x) {
        Item item = item_of(p, number);
        int64_t part = item.part * s.part_chunks, end = part + s.part_chunks < chunks ? part + s.part_chunks : chunks;
        int64_t first = part + member * run, last = first + run < end ? first + run : end;
        typename A::Node node = {};
        if (mate < item.outputs && first < last) {
            const unsigned char *row = p.in + seek_output(p, item.first_output + mate).in;
            WarpStack<A> stack;
            auto elements = [&](int64_t at, int64_t count) { return elements_of_chunks(p, first + at, count); };
            for (int64_t chunk = first; chunk < last; chunk++) {
                node = fold_chunk<K>(p, row, chunk, elements_of_chunk(p, chunk));
                if (last - first > 1)
                    stack.push(node, elements);
            }
            if (last - first > 1)
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
