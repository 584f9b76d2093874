/* stepped: every second element of rows that start at whole vectors. A line of the tree is two of memory, and half of a
   vector is of use. */
#include "sided_rows.cuh"

namespace rdx
{

template <class K> struct Evens {
    static constexpr int at_once = chunk_lines / 2;
    const unsigned char *at; /* this thread's first vector of the chunk */

    __device__ __forceinline__ void ask(Vector<16> &raw, int line, int side) const
    {
        load<16>(raw.word, at + (2 * line + side) * line_bytes);
    }
    /* Every second element, into the first 8 bytes. */
    __device__ __forceinline__ void settle(Vector<16> &raw) const
    {
        if constexpr (K::size == 2) {
            raw.word[0] = __byte_perm(raw.word[0], raw.word[1], 0x5410);
            raw.word[1] = __byte_perm(raw.word[2], raw.word[3], 0x5410);
        } else {
            raw.word[1] = raw.word[2];
        }
    }
};

template <class K> constexpr bool comes_stepped = RDX_CUDA_HAS_STEPPED_ROWS(K::size, K::A::words) && !K::A::two_passes;

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) stepped_rows_kernel(const __grid_constant__ Problem p)
{
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    reduce_straight<K>(p, shared, [&](const unsigned char *row, int64_t first, int chunks, int thread) {
        return sided_run<K>(p, first, chunks, thread,
                            [&](int64_t chunk) { return Evens<K>{row + chunk * (2 * chunk_bytes) + thread * 16}; });
    });
}

} // namespace rdx

#define RDX_KERNEL_NAME stepped_rows
#define RDX_COMES comes_stepped
#define RDX_ELEMENTS(size, words) ((size) < 8 ? 8 / (size) : 1)
#include "stamp.inc"
