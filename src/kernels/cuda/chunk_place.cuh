/* Where a thread's vectors of a chunk of a row lie, which are read straight into registers. */
#ifndef RDX_KERNELS_CUDA_CHUNK_PLACE_CUH
#define RDX_KERNELS_CUDA_CHUNK_PLACE_CUH

#include "rows.cuh"

namespace rdx
{

enum RowForm { ROW_ALIGNED, ROW_SHIFTED, ROW_IN_RUNS };

struct ChunkPlace {
    const unsigned char *at; /* the first one; of several runs, if there were nothing between them */
    int64_t chunk;
    int slot; /* lane of its first element; below 0: that one is the line before's */
};

/* Of a thread's first chunk, `first` of the row. */
template <class K, RowForm FORM> RDX_DEVICE ChunkPlace place_in(const unsigned char *row, int64_t first, int thread)
{
    int before = FORM == ROW_SHIFTED ? (int)((uintptr_t)row & 15) : 0;
    return {row + first * chunk_bytes - before + thread * 16, first, thread * K::elements - before / K::size};
}

/* Its vector of a line; sought for each one on its own, so that none waits for another. */
template <class K, RowForm FORM>
RDX_DEVICE const unsigned char *line_of(const Problem &p, const ChunkPlace &place, int line)
{
    constexpr int lanes = 32 * K::elements;
    int64_t gap = FORM == ROW_IN_RUNS ? p.shape.run_gap : 0;
    const unsigned char *at = place.at + line * line_bytes;
    unsigned element = (unsigned)place.chunk * (chunk_lines * lanes) + place.slot + line * lanes;
    return FORM == ROW_IN_RUNS ? at + run_of_element(p, element) * gap : at;
}

} // namespace rdx
#endif
