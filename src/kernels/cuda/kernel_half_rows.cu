/* runs of whole, aligned half vectors: rows of 16 bits in several runs that are a multiple of 8 bytes and none of 16,
   as over the batch and the pixels of 14 x 14 images. Loads of 8 bytes, each of one run. */
#include "sided_rows.cuh"

namespace rdx
{

template <class K> struct HalfVectors {
    static constexpr int lanes = 64 * K::elements, at_once = chunk_lines;

    const Problem &p;
    const unsigned char *at; /* this thread's first half vector of the chunk, if there were nothing between runs */
    unsigned element;        /* its first one */

    __device__ __forceinline__ HalfVectors(const Problem &problem, const unsigned char *row, int64_t chunk, int thread)
        : p(problem), at(row + chunk * chunk_bytes + thread * 8),
          element((unsigned)chunk * (chunk_lines * lanes) + thread * K::elements)
    {
    }
    __device__ __forceinline__ void ask(Vector<16> &raw, int line, int side) const
    {
        const int before = (2 * line + side) * (lanes / 2);
        load<8>(raw.word, at + before * K::size + run_of_element(p, element + before) * p.shape.run_gap);
    }
    __device__ __forceinline__ void settle(Vector<16> &) const
    {
    }
};

template <class K>
constexpr bool comes_by_halves = RDX_CUDA_HAS_HALF_ROWS(K::size, K::A::words) && !K::A::two_passes && !is_long<K>();

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) half_rows_kernel(const __grid_constant__ Problem p)
{
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    reduce_straight<K>(p, shared, [&](const unsigned char *row, int64_t first, int chunks, int thread) {
        return sided_run<K>(p, first, chunks, thread,
                            [&](int64_t chunk) { return HalfVectors<K>(p, row, chunk, thread); });
    });
}

} // namespace rdx

#define RDX_KERNEL_NAME half_rows
#define RDX_COMES comes_by_halves
#define RDX_ELEMENTS(size, words) ((size) < 8 ? 8 / (size) : 1)
#include "stamp.inc"
