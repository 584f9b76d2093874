/* warp: short contiguous rows. A warp copies tiles of whole rows, up to 4 KiB, into shared memory of its own (platform.cuh), two on
   their way while it folds a third, and there is no barrier but the warp's. `mates` neighbouring threads share a row, so that a
   warp folds 32 / mates rows at once: thread c of them reads the lanes c, c + mates, c + 2 mates ... element by element, wherever
   rows start; halves its up to 16 lanes in registers; the mates halve the rest by shuffles.

   packed   rows follow each other without a gap: a tile is one stretch of memory, copied from the last multiple of 16 on
   apart    rows start at multiples of 16: each is copied by itself to an odd multiple of 16 bytes, for the sake of the banks

   Thread 0 of the mates has the result. */
#include "block.cuh"

namespace rdx
{

enum { STAGES = RDX_CUDA_STAGES, TILE_BYTES = RDX_CUDA_TILE };

/* What a warp reads, in order: tile after tile. */
template <class K> struct TileSource {
    const Problem &p;
    SharedAt stages; /* of the warp */
    int thread;
    int64_t number; /* of the item */

    __device__ __forceinline__ void issue(int stage)
    {
        const RdxCudaShape &s = p.shape;
        if (number < s.items) {
            Item item = item_of(p, number);
            const unsigned char *from = p.in + seek_output(p, item.first_output).in;
            SharedAt to = stages + stage * TILE_BYTES;
            if (s.pitch == 0)
                copy_stretch(to, from, (int)item.outputs * s.row_bytes);
            else
                copy_rows(to, from, (int)item.outputs);
        }
        number += (int64_t)gridDim.x * (RDX_CUDA_THREADS / 32);
        commit_copies();
    }

  private:
    __device__ __forceinline__ void copy_stretch(SharedAt to, const unsigned char *from, int bytes) const
    {
        int before = (int)((uintptr_t)from & 15);
        from -= before;
        bytes += before;
#pragma unroll 4
        for (int at = thread * 16; at < bytes; at += line_bytes)
            copy_async(to + at, from + at, bytes - at < 16 ? bytes - at : 16);
    }

    __device__ __forceinline__ void copy_rows(SharedAt to, const unsigned char *from, int rows) const
    {
        const RdxCudaShape &s = p.shape;
        int each = (s.row_bytes + 15) / 16;
        int64_t step = p.keep_rank ? p.dims[p.keep_rank - 1].in : 0;
#pragma unroll 1
        for (int v = thread; v < rows * each; v += 32) {
            int row = (v * s.row_magic) >> 16, at = (v - row * each) * 16, left = s.row_bytes - at;
            copy_async(to + row * s.pitch + at, from + row * step + at, left < 16 ? left : 16);
        }
    }
};

template <class K> struct ShortRow {
    typedef typename K::A A;
    typedef typename A::T T;
    typedef typename A::Node Node;
    static constexpr int J = K::elements; /* lanes of a thread */

    const Problem &p;
    int mates, c; /* c: this thread's place among them */

    /* Calls f(j, x, y, element) for the elements of a line that are this thread's. All are loaded before the first is looked at, and
       what dtype and map they have is asked once. */
    template <class F> __device__ __forceinline__ void each(SharedAt row, int line, F &&f) const
    {
        constexpr int words = (K::size + 3) / 4;
        uint32_t word[J][words];
        int n = (int)p.recipe.count, first = line * p.recipe.lanes + c, left = n - first, step = mates * K::size;
        bool whole = line * p.recipe.lanes + J * mates <= n, parts = is_complex(p.recipe.in);
        SharedAt at = row + first * K::size;
#pragma unroll
        for (int j = 0; j < J; j++)
            if (whole || j * mates < left)
                load_shared_element<K::size>(word[j], at + j * step, parts);
        with_input<K>(p.recipe.in, [&](auto in) {
            auto all = [&](auto map) {
#pragma unroll
                for (int j = 0; j < J; j++) {
                    T x, y;
                    if (whole || j * mates < left) {
                        read_element<A, decltype(in), decltype(map)::value>(p.recipe, word[j], 0, x, y);
                        f(j, x, y, first + j * mates);
                    }
                }
            };
            if (!with_map<A>(p.recipe, all))
                all(std::integral_constant<int, RDX_CUDA_ANY_MAP>());
        });
    }

    __device__ __forceinline__ void fold(SharedAt row, Node *node) const
    {
        int lines = p.shape.lines;
        int64_t step = p.reduce_rank ? p.dims[p.keep_rank].out : 0;
        if constexpr (A::two_passes) {
            T base[J];
#pragma unroll
            for (int j = 0; j < J; j++)
                node[j] = {A::lowest(), 0};
#pragma unroll 1
            for (int line = 0; line < lines; line++)
                each(row, line, [&](int j, T x, T, int) { node[j].m = A::greater(node[j].m, x); });
#pragma unroll
            for (int j = 0; j < J; j++)
                base[j] = A::base(node[j].m);
#pragma unroll 1
            for (int line = 0; line < lines; line++)
                each(row, line, [&](int j, T x, T, int) { node[j].s = A::add(node[j].s, x, base[j]); });
        } else {
            typename Step<A>::State state[J];
            clear_lanes<A>(state, J);
            each(row, 0, [&](int j, T x, T y, int element) {
                state[j] = Step<A>::begin(x, y, p.index_offset + element * step);
            });
#pragma unroll 1
            for (int line = 1; line < lines; line++)
                each(row, line, [&](int j, T x, T y, int element) {
                    state[j] = Step<A>::next(state[j], x, y, line, p.index_offset + element * step);
                });
#pragma unroll
            for (int j = 0; j < J; j++)
                node[j] = Step<A>::end(state[j], A::counted ? lane_count(c + j * mates, J) : 0);
        }
    }

    /* Elements of lane `lane` among those a multiple of h * mates apart. */
    __device__ __forceinline__ int lane_count(int lane, int h) const
    {
        return elements_of_lane((int)p.recipe.count, lane, log2_of(h * mates));
    }

    /* T(H mates, .) of all lanes from T(2 H mates, .), for H = J / 2 down to 1. By templates: with one index that the compiler does
       not know, all nodes lie in local memory. */
    template <int H> __device__ __forceinline__ void halve_lanes(Node *node) const
    {
        if constexpr (H >= 1) {
            int n = (int)p.recipe.count;
#pragma unroll
            for (int j = 0; j < H; j++) {
                int lane = c + j * mates;
                if (H * mates < n && lane + H * mates < n)
                    node[j] = join_full<A>(node[j], node[j + H], A::counted ? lane_count(lane, 2 * H) : 0,
                                           A::counted ? lane_count(lane + H * mates, 2 * H) : 0);
            }
            halve_lanes<H / 2>(node);
        }
    }

    __device__ __forceinline__ Node halve(Node *node) const
    {
        halve_lanes<J / 2>(node);
#pragma unroll 1
        for (int bit = mates / 2; bit >= 1; bit /= 2)
            node[0] =
                join_halves<A>(node[0], shuffle_xor<A>(node[0], bit), c & bit, (int)p.recipe.count, bit, c & (bit - 1));
        return node[0];
    }
};

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) short_kernel(const __grid_constant__ Problem p)
{
    typedef typename K::A A;
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    const RdxCudaShape &s = p.shape;
    int thread = kept(thread_of_warp()), warp = warp_of_block(), mates_log2 = log2_of(s.mates);
    int64_t number = (int64_t)blockIdx.x * (RDX_CUDA_THREADS / 32) + warp;
    TileSource<K> source = {p, shared_at(shared) + warp * STAGES * TILE_BYTES, thread, number};
    ShortRow<K> fold = {p, s.mates, thread & (s.mates - 1)};
    int stage = 0;
    source.issue(0);
    source.issue(1);
#pragma unroll 1
    for (; number < s.items; number += (int64_t)gridDim.x * (RDX_CUDA_THREADS / 32)) {
        wait_copies<STAGES - 2>();
        __syncwarp(); /* others' copies are here, and all have done with the stage that is asked for anew */
        source.issue(stage == 0 ? STAGES - 1 : stage - 1);
        Item item = item_of(p, number);
        SharedAt tile = source.stages + stage * TILE_BYTES;
        int pitch = s.pitch, row = thread >> mates_log2, rows = (int)item.outputs;
        if (pitch == 0) {
            pitch = s.row_bytes;
            tile += (int)((uintptr_t)(p.in + seek_output(p, item.first_output).in) & 15);
        }
#pragma unroll 1
        for (int first = 0; first < rows; first += 32 >> mates_log2) {
            typename A::Node node[ShortRow<K>::J];
            int own = first + row < rows ? first + row : rows - 1; /* all threads stay for the shuffles */
            fold.fold(tile + own * pitch, node);
            typename A::Node result = fold.halve(node);
            if (first + row < rows && fold.c == 0)
                deliver<A>(p, item, own, result);
        }
        stage = stage + 1 == STAGES ? 0 : stage + 1;
    }
}

} // namespace rdx

#define RDX_STRATEGY warp
#define RDX_KERNEL rdx::short_kernel
/* Lanes of a thread: as registers allow, but so many that a warp is enough for a row. */
#define RDX_ELEMENTS(size, words) ((words) <= 2 || (size) == 1 ? 16 : (words) <= 4 || (size) == 2 ? 8 : 4)
#include "stamp.inc"
