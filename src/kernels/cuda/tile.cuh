/* Tiles of outputs and lanes, for any strides and any alignment: what takes everything that has no kernel of its own.

   A tile is `width` neighbouring outputs. Thread (w, g) folds lanes of its output, 16 lines each, and leaves their
   nodes in shared memory; the block halves a batch of lanes, batches in bit-reversed order meet on a stack, chunks on
   the same stack above them. Thread c of the tile holds the stack of output c, so no barrier is needed there.

   rows: neighbouring threads take neighbouring lanes (the reduced axis is the contiguous one), else neighbouring
   outputs. */
#ifndef RDX_KERNELS_CUDA_TILE_CUH
#define RDX_KERNELS_CUDA_TILE_CUH

#include "block.cuh"

namespace rdx
{

/* Address of line l of a lane: e = element + L * line. */
struct Reach {
    const Problem &p;
    At start;
    int64_t element, step, index_step; /* step < 0: lines do not lie at one distance */

    __device__ __forceinline__ Reach(const Problem &problem, const unsigned char *in, int64_t first)
        : p(problem), element(first)
    {
        int rank = p.reduce_rank, lanes = p.recipe.lanes;
        step = rank > 1 ? -1 : rank == 0 ? 0 : lanes * p.dims[p.keep_rank].in;
        index_step = rank == 1 ? lanes * p.dims[p.keep_rank].out : 0;
        start = {in, p.index_offset};
        if (rank == 1) {
            start.in += first * p.dims[p.keep_rank].in;
            start.index += first * p.dims[p.keep_rank].out;
        }
    }

    template <class K, int COUNT> __device__ __forceinline__ void load_lines(Vector<K::bytes> *raw, int first) const
    {
        if (step >= 0) {
            const unsigned char *at = start.in + first * step;
#pragma unroll
            for (int u = 0; u < COUNT; u++, at += step)
                load_vector<K>(raw[u], at, K::elements, p.recipe.in);
        } else {
#pragma unroll
            for (int u = 0; u < COUNT; u++)
                load_vector<K>(raw[u], (*this)(first + u).in, K::elements, p.recipe.in);
        }
    }

    __device__ __forceinline__ At operator()(int line) const
    {
        if (step >= 0)
            return {start.in + line * step, start.index + line * index_step};
        Place place = seek_reduced(p, element + (int64_t)p.recipe.lanes * line);
        return {start.in + place.in, start.index + place.out};
    }
};

template <class K> struct Tile {
    typedef typename K::A A;
    typedef typename A::Node Node;

    const Problem &p;
    const Item &item;
    Slots<A> batch, stack; /* stack: level * columns + column */
    int columns, batches_log2;

    /* Joins `node`, the (count + 1)-th of its kind, with finished runs; elements(first, log2) counts the run of 2^log2
       from first. */
    template <bool MISSING, class Elements>
    __device__ __forceinline__ int climb(int column, int base, int64_t count, Node &node, Elements elements) const
    {
        int level = 0;
        for (; count >> level & 1; level++) {
            int64_t right = count + 1 - ((int64_t)1 << level), left = right - ((int64_t)1 << level);
            Node other = stack.get((base + level) * columns + column);
            if (!MISSING || elements(right, level) > 0)
                node = join_full<A>(other, node, elements(left, level), elements(right, level));
            else
                node = other;
        }
        return base + level;
    }

    /* The batch at `number` of a chunk of n elements, from its first row onto the stack. Batches come in bit-reversed
       order; the last one completes the chunk, `chunk` of this part, which goes onto the stack above. */
    __device__ __forceinline__ void push_batch(int number, int n, int64_t first_chunk, int64_t chunk) const
    {
        const RdxCudaShape &s = p.shape;
        int step_log2 = log2_of(s.residues) + batches_log2;
        for (int column = (int)threadIdx.x; column < columns; column += (int)blockDim.x) {
            Node node = batch.get(column);
            int level = climb<true>(column, 0, number, node, [&](int64_t first, int log2) {
                return elements_of_lane(n, item.residue + s.residues * reverse_bits((int)first, batches_log2),
                                        step_log2 - log2);
            });
            if (number == s.batches - 1)
                level = climb<false>(column, batches_log2 + 1, chunk, node, [&](int64_t first, int log2) {
                    return elements_of_chunks(p, first_chunk + first, (int64_t)1 << log2);
                });
            stack.put(level * columns + column, node);
        }
    }

    /* Joins the runs of `count` chunks; the ragged right edge moves up. */
    __device__ __forceinline__ Node finish(int64_t first_chunk, int64_t count, int column) const
    {
        int base = batches_log2 + 1, level = __ffsll(count) - 1;
        Node node = stack.get((base + level) * columns + column);
        int64_t first = count - ((int64_t)1 << level);
        while (first > 0) {
            level = __ffsll(first) - 1;
            int64_t run = (int64_t)1 << level;
            node = join_full<A>(stack.get((base + level) * columns + column), node,
                                elements_of_chunks(p, first_chunk + first - run, run),
                                elements_of_chunks(p, first_chunk + first, count - first));
            first -= run;
        }
        return node;
    }

    /* Lane j of a chunk for the output at `in`; slot: where its node goes. */
    __device__ __forceinline__ void fold_lane(const unsigned char *in, int64_t chunk, int n, int lane, int slot) const
    {
        int64_t element = chunk * 16 * p.recipe.lanes + lane;
        Reach reach(p, in, element);
        batch.put(slot, Fold<K, Reach>{p, reach}.run(elements_of_lane(n, lane, log2_of(p.recipe.lanes))));
    }

    __device__ __forceinline__ void fold_chunk(const unsigned char *in, bool there, int64_t first_chunk,
                                               int64_t in_part, int w, int g) const
    {
        const RdxCudaShape &s = p.shape;
        int64_t chunk = first_chunk + in_part;
        int n = elements_of_chunk(p, chunk);
        for (int number = 0; number < s.batches; number++) {
            int first = item.residue + s.residues * reverse_bits(number, batches_log2), step = s.residues * s.batches;
            for (int i = g; i < s.batch && there; i += s.height)
                if (first + step * i < n)
                    fold_lane(in, chunk, n, first + step * i, i * columns + w);
            halve_batch(batch, columns, s.batch, first, step, n);
            push_batch(number, n, first_chunk, in_part);
            __syncthreads();
        }
    }
};

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) general_kernel(const __grid_constant__ Problem p)
{
    typedef typename K::A A;
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    const RdxCudaShape &s = p.shape;
    int t = (int)threadIdx.x, w = s.rows ? t / s.height : t % s.width, g = s.rows ? t % s.height : t / s.width;
    int columns = s.width;
    for (int64_t number = blockIdx.x; number < s.items; number += gridDim.x) {
        Item item = item_of(p, number);
        Slots<A> batch = {shared, s.batch * columns};
        Slots<A> stack = {shared + s.batch * columns * A::words, s.levels * columns};
        Tile<K> tile = {p, item, batch, stack, columns, log2_of(s.batches)};
        int64_t first_chunk = item.part * s.part_chunks, count = end_of_part(s, item) - first_chunk;
        for (int64_t at = 0; at < item.outputs; at += columns) {
            bool there = at + w < item.outputs;
            const unsigned char *in = p.in + (there ? seek_output(p, item.first_output + at + w).in : 0);
            for (int64_t c = 0; c < count; c++)
                tile.fold_chunk(in, there, first_chunk, c, w, g);
            bool present = count > 0 && item.residue < elements_of_chunk(p, first_chunk);
            int helpers = has_parts(s) || p.copies == 1   ? 1
                          : (int)blockDim.x / columns > 1 ? (int)blockDim.x / columns
                                                          : 1;
            for (int i = t; i < columns * helpers && at + i % columns < item.outputs; i += (int)blockDim.x) {
                typename A::Node node = p.recipe.count > 0 ? unset<A>() : node_of_nothing<A>();
                if (present)
                    node = tile.finish(first_chunk, count, i % columns);
                deliver<A>(p, item, at + i % columns, node, i / columns, helpers);
            }
            __syncthreads();
        }
        end_item<A>(p, item, shared);
    }
}

} // namespace rdx
#endif
