/* Sums of short rows of bytes, of which a thread has several to itself (kernel_short_rows.cu): a row's words come from
   its first byte on, each out of two aligned ones, and four bytes are an addition. What sort of bytes they are is asked
   once for TURNS rows, and what their outputs have in common is worked out once. */
#ifndef RDX_KERNELS_CUDA_BYTE_ROWS_CUH
#define RDX_KERNELS_CUDA_BYTE_ROWS_CUH

#include "bytes.cuh"
#include "row_tile.cuh"

namespace rdx
{

template <class K> struct ByteRows {
    typedef typename K::A A;
    typedef typename A::Node Node;
    static constexpr bool exists = A::algebra == RDX_ALGEBRA_ISUM && A::work != RDX_WORK_I32 && K::size == 1;
    enum { TURNS = 4, MOST_WORDS = 8, MOST_BYTES = 4 * MOST_WORDS };
    static_assert((int)MOST_BYTES <= (int)RDX_CUDA_BEHIND_ROWS, "a tile's last row is read from there");

    const Problem &p;
    const Tile &tile;
    int n;

    __device__ __forceinline__ ByteRows(const Problem &problem, const Tile &of_warp)
        : p(problem), tile(of_warp), n((int)problem.recipe.count)
    {
    }

    static __device__ __forceinline__ bool takes(const Problem &p)
    {
        bool known = false;
        if (exists && p.recipe.count <= MOST_BYTES)
            with_frequent<K>(p.recipe,
                             [&](auto in, auto map) { known = adds_words<K, decltype(in), decltype(map)::value>(); });
        return known;
    }

    /* Rows of more than 2 WORDS bytes, and of at most 4 WORDS. */
    template <int WORDS = 1> __device__ __forceinline__ void reduce() const
    {
        if constexpr (WORDS < MOST_WORDS) {
            if (n > 4 * WORDS)
                return reduce<2 * WORDS>();
        }
        const SharedAt last = tile.at + (tile.rows - 1) * tile.pitch;
        SharedAt at = tile.at + tile.thread * tile.pitch;
#pragma unroll 1
        for (int done = tile.thread; done < tile.rows; done += 32 * TURNS, at += 32 * TURNS * tile.pitch) {
            Node node[TURNS];
            with_frequent<K>(p.recipe, [&](auto in, auto map) RDX_INLINED {
#pragma unroll
                for (int turn = 0; turn < TURNS; turn++) {
                    const SharedAt row = at + 32 * turn * tile.pitch;
                    if constexpr (adds_words<K, decltype(in), decltype(map)::value>())
                        node[turn].s = sum<WORDS, decltype(in), decltype(map)::value>(row < last ? row : last);
                }
            });
            store(node, tile.first + done, tile.rows - done);
        }
    }

  private:
    template <int WORDS, class In, int MAP> __device__ __forceinline__ int sum(SharedAt at) const
    {
        const int skip = (int)((uintptr_t)at & 3);
        uint32_t raw[WORDS + 1];
        int sum = 0;
#pragma unroll
        for (int w = 0; w <= WORDS; w++)
            load_shared_element<4>(&raw[w], at - skip + 4 * w, false);
#pragma unroll
        for (int w = 0; w < WORDS; w++) {
            const int left = n - 4 * w; /* bytes of the row */
            const uint32_t keep = left >= 4 || 2 * w + 2 <= WORDS ? 0xffffffffu : left <= 0 ? 0 : (1u << 8 * left) - 1;
            sum = add_bytes<In, MAP>(p.recipe, __funnelshift_r(raw[w], raw[w + 1], 8 * skip), sum, keep);
        }
        return sum;
    }

    /* The outputs of rows 32 apart, the first of which is `output`, one of the last `left` of the tile. */
    __device__ __forceinline__ void store(Node *node, int64_t output, int left) const
    {
        if (p.shape.value_bytes > 0 && p.keep_rank == 1) {
            const int64_t step = p.dims[0].out;
            unsigned char *to = p.out + output * step;
            auto store_each = [&](const auto *x) RDX_INLINED {
#pragma unroll
                for (int turn = 0; turn < TURNS; turn++)
                    if (32 * turn < left)
                        Value<A>::template store_pieces<1>(to + 32 * turn * step, x + turn);
            };
            if (p.shape.value_bytes == 1) {
                uint8_t truth[TURNS];
                Value<A>::template answers<TURNS>(p, node, truth);
                store_each(truth);
            } else {
                typename Value<A>::Type x[TURNS];
                Value<A>::template of<TURNS>(p, node, x);
                store_each(x);
            }
            return;
        }
#pragma unroll 1
        for (int turn = 0; turn < TURNS; turn++) {
            if (32 * turn < left)
                emit_row<K>(p, output + 32 * turn, node[0]);
            rotate(node, TURNS, node[0]);
        }
    }
};

} // namespace rdx
#endif
