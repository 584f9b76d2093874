/* A warp reads a chunk of a contiguous reduced axis: lines of 512 bytes, one 16-byte load a thread; thread t holds lanes t E ..
   t E + E - 1.

   rows     one run an output, aligned to 16 bytes
   shifted  the same misaligned: aligned loads, then each thread takes what it misses from its neighbour (thread 31 from thread 0's
            next line) and shifts; 4 shuffles and about 15 selects and funnel shifts a vector
   runs     two reduced dims, the inner one contiguous and made of whole vectors */
#ifndef RDX_KERNELS_CUDA_ROWS_CUH
#define RDX_KERNELS_CUDA_ROWS_CUH

#include "block.cuh"

namespace rdx
{

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
        Place place = seek_in_runs(p, (unsigned)(element + line * lanes));
        return {in + place.in, index + place.out, across};
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
template <class K, int BATCH = 16>
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
    Fold<K, Stream, BATCH>{p, stream}.run(lines, rest < 0 ? 0 : rest < E ? rest : E, E, node);
    return halve_warp<K>(node, n);
}

} // namespace rdx
#endif
