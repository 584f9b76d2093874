/* From positions to byte offsets. Positions are row-major in a list of dims; the innermost ones come last. */
#ifndef RDX_KERNELS_CUDA_INDEX_CUH
#define RDX_KERNELS_CUDA_INDEX_CUH

#include "platform.cuh"
#include "problem.h"

namespace rdx
{

typedef RdxCudaProblem Problem;

struct Place {
    int64_t in, out, out2;
};

/* A 64-bit division takes about 70 instructions, a 32-bit one 20. */
RDX_DEVICE int64_t divide(int64_t a, int64_t b)
{
    if (b == 1)
        return a;
    if (((uint64_t)a | (uint64_t)b) >> 32 == 0)
        return (uint32_t)a / (uint32_t)b;
    return a / b;
}

RDX_DEVICE unsigned divide(unsigned a, unsigned b)
{
    return b == 1 ? a : a / b;
}

RDX_DEVICE void walk(Place &place, const RdxCudaDim &dim, int64_t steps)
{
    place.in += steps * dim.in;
    place.out += steps * dim.out;
    place.out2 += steps * dim.out2;
}

/* In dims `first` to `first + rank - 1`. Inlined where it is hot: behind a call the problem is no longer constant
   memory, and each member takes some 500 cycles to read. */
RDX_DEVICE Place seek(const Problem &p, int first, int rank, int64_t position)
{
    Place place = {0, 0, 0};
#pragma unroll 1
    for (int d = first + rank - 1; d > first; d--) {
        int64_t rest = divide(position, p.dims[d].extent);
        walk(place, p.dims[d], position - rest * p.dims[d].extent);
        position = rest;
    }
    if (rank > 0)
        walk(place, p.dims[first], position);
    return place;
}

RDX_DEVICE Place seek_output(const Problem &p, int64_t output)
{
    return seek(p, 0, p.keep_rank, output);
}

/* The same of at most 2^30 outputs. */
RDX_DEVICE Place seek_column(const Problem &p, unsigned output)
{
    Place place = {0, 0, 0};
#pragma unroll 1
    for (int d = p.keep_rank - 1; d > 0; d--) {
        unsigned extent = (unsigned)p.dims[d].extent, rest = output / extent;
        walk(place, p.dims[d], output - rest * extent);
        output = rest;
    }
    walk(place, p.dims[0], output);
    return place;
}

/* seek_output from the lines of the problem that a block asks for first: for rows that go straight into registers.
   Others gain nothing by it, and columns are slower (256 KB of 1024 2.75 and 2.82 us). */
RDX_DEVICE Place seek_row(const Problem &p, int64_t output)
{
    if (p.keep_rank <= 1)
        return {output * p.in_step, output * p.out_step, output * p.dims[0].out2};
    return seek_output(p, output);
}

static __device__ __noinline__ Place seek_far(const Problem &p, int64_t element)
{
    return seek(p, p.keep_rank, p.reduce_rank, element);
}

/* .in: bytes; .out: logical index. */
RDX_DEVICE Place seek_element(const Problem &p, int64_t element)
{
    if (p.reduce_rank > 1)
        return seek_far(p, element);
    Place place = {0, 0, 0};
    if (p.reduce_rank == 1)
        walk(place, p.dims[p.keep_rank], element);
    return place;
}

/* Which run an element is in, by a multiplication, for two reduced dims whose elements are fewer than 2^31 (shape.run >
   0). The factors are 0 where it is not: every element is a run of its own then. */
RDX_DEVICE unsigned run_of_element(const Problem &p, unsigned element)
{
    return (__umulhi(element, p.shape.run_magic) + element) >> p.shape.run_shift;
}

/* The same as seek_element for those. */
RDX_DEVICE Place seek_in_runs(const Problem &p, unsigned element)
{
    unsigned run = run_of_element(p, element);
    const RdxCudaDim *outer = p.dims + p.keep_rank, *inner = outer + 1;
    int64_t rest = element - run * p.shape.run;
    return {run * outer->in + rest * inner->in, run * outer->out + rest * inner->out, 0};
}

/* An element of the reduced dims, by the cheaper way that there is. */
RDX_DEVICE Place seek_reduced(const Problem &p, int64_t element)
{
    return p.shape.run > 0 ? seek_in_runs(p, (unsigned)element) : seek_element(p, element);
}

static __device__ __noinline__ Place seek_far_copy(const Problem &p, int64_t copy)
{
    return seek(p, p.keep_rank + p.reduce_rank, p.copy_rank, copy);
}

RDX_DEVICE Place seek_copy(const Problem &p, int64_t copy)
{
    if (p.copy_rank > 1 && copy > 0) /* copy is a constant 0 where a target is one place: no call is left there */
        return seek_far_copy(p, copy);
    Place place = {0, 0, 0};
    if (p.copy_rank == 1)
        walk(place, p.dims[p.keep_rank + p.reduce_rank], copy);
    return place;
}

/* The lowest `bits` bits of i in reverse order. */
RDX_DEVICE int reverse_bits(int i, int bits)
{
    return bits == 0 ? 0 : (int)(__brev((unsigned)i) >> (32 - bits));
}

RDX_DEVICE int log2_of(int64_t power_of_two)
{
    return 63 - __clzll(power_of_two);
}

RDX_DEVICE int log2_of(int power_of_two)
{
    return 31 - __clz(power_of_two);
}

RDX_DEVICE int log2_up(int n)
{
    return n <= 1 ? 0 : 32 - __clz(n - 1);
}

RDX_DEVICE constexpr int log2_constant(int power_of_two)
{
    return power_of_two <= 1 ? 0 : 1 + log2_constant(power_of_two / 2);
}

/* ---- Elements of a node of the tree ---- */

/* T(step, lane) of a chunk of n elements: lane, lane + step, ... */
RDX_DEVICE int elements_of_lane(int n, int lane, int step_log2)
{
    return lane < n ? ((n - 1 - lane) >> step_log2) + 1 : 0;
}

/* Chunks first .. first + count - 1, of 2^chunk_log2 elements each. */
RDX_DEVICE int64_t elements_of_chunks(const Problem &p, int chunk_log2, int64_t first, int64_t count)
{
    int64_t left = p.recipe.count - (first << chunk_log2);
    return left <= 0 ? 0 : left >> chunk_log2 < count ? left : count << chunk_log2;
}

RDX_DEVICE int64_t elements_of_chunks(const Problem &p, int64_t first, int64_t count)
{
    return elements_of_chunks(p, 35 - __clz((int)p.recipe.lanes), first, count); /* 16 lines */
}

RDX_DEVICE int elements_of_chunk(const Problem &p, int64_t chunk)
{
    return (int)elements_of_chunks(p, chunk, 1);
}

/* The same, cut at chunk `end`. */
RDX_DEVICE int64_t elements_of_run(const Problem &p, int64_t first, int64_t count, int64_t end)
{
    return first >= end ? 0 : elements_of_chunks(p, first, end - first < count ? end - first : count);
}

} // namespace rdx
#endif
