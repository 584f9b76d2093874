/* Columns of few rows, all of which a thread has in flight (kernel_short_columns.cu, kernel_byte_columns.cu). */
#ifndef RDX_KERNELS_CUDA_SHORT_COLUMNS_CUH
#define RDX_KERNELS_CUDA_SHORT_COLUMNS_CUH

#include "column_tree.cuh"
#include "grid.cuh"

namespace rdx
{

enum ShortForm { SHORT_PIECES, SHORT_WORDS, SHORT_SOUGHT };

/* The columns of a block. A tile is E columns a thread, PIECES times EACH neighbours, `step` columns from each
   other. */
template <class K, ShortForm FORM> struct ShortColumns {
    typedef typename K::A A;
    typedef typename A::Node Node;
    static constexpr bool small = RDX_CUDA_HAS_SMALL_COLUMNS(K::size);
    static constexpr int E = K::elements, vector = small ? E : 1, word = small ? 4 / K::size : 1,
                         EACH = FORM == SHORT_PIECES  ? vector
                                : FORM == SHORT_WORDS ? word
                                                      : 1,
                         PIECES = E / EACH, PIECE = EACH * K::size, step = RDX_CUDA_THREADS * EACH;
    /* Vectors of a block may lie in several runs, each in one: a division for each. */
    static constexpr bool by_runs = FORM == SHORT_PIECES && small;
    static_assert(E % EACH == 0, "whole pieces");

    /* Rows that are there, of at most ROWS: of many there is code for every four. */
    template <int ROWS> static constexpr int sure_rows = ROWS > RDX_CUDA_SHORT_ROWS ? ROWS - 3 : 1;

    const Problem &p;
    int left;        /* columns of the block from this thread's first on */
    unsigned output; /* that one, from `base` on */
    Place base;
    int64_t pitch; /* of rows; asked for once, not row by row */

    __device__ __forceinline__ explicit ShortColumns(const Problem &problem)
        : p(problem), pitch(problem.reduce_rank ? problem.dims[problem.keep_rank].in : 0)
    {
        const Item item = item_of(p, blockIdx.x);
        const int first = (int)threadIdx.x * EACH;
        left = (int)item.outputs - first;
        base = {0, 0, 0};
        output = (unsigned)item.first_output + first;
        if (FORM != SHORT_SOUGHT && !(by_runs && p.shape.run < RDX_CUDA_NO_RUN)) {
            base = seek_output(p, item.first_output);
            output = first;
        }
    }

    /* The rows of a thread's COUNT tiles. */
    template <int ROWS, int COUNT> __device__ __forceinline__ void load_rows(Vector<K::bytes> *rows) const
    {
        if constexpr (FORM == SHORT_SOUGHT) {
            load_sought<ROWS>(rows);
        } else if constexpr (FORM == SHORT_WORDS) {
            load_words<ROWS, COUNT>(rows, p.in + place_of(output).in);
        } else if constexpr (by_runs) {
#pragma unroll
            for (int tile = 0; tile < COUNT; tile++)
                load_pieces<ROWS, 1>(rows + tile * ROWS, p.in + place_of(output + tile * columns).in,
                                     left - tile * columns);
        } else {
            load_pieces<ROWS, COUNT>(rows, p.in + place_of(output).in, left);
        }
    }

    __device__ __forceinline__ void go_on()
    {
        left -= columns;
        output += columns;
    }

    /* The outputs of a tile. */
    __device__ __forceinline__ void store(Node *node) const
    {
        const RdxCudaDim &out = p.dims[p.keep_rank - 1];
        const Place place = FORM == SHORT_SOUGHT ? Place{} : place_of(output);
        if constexpr (Value<A>::exists && E > 1) {
            const int size = p.shape.value_bytes;
            if (size > 0 && is_whole() && (FORM == SHORT_SOUGHT || out.out == size)) {
                store_values(size, p.out + place.out, node);
                return;
            }
        }
#pragma unroll 1
        for (int e = 0; e < E; e++) { /* what it takes to emit is long: one copy of it, and the nodes go round */
            const int here = e / EACH * step + e % EACH;
            if (here < left) {
                Place own = FORM == SHORT_SOUGHT ? seek_column(p, output + here) : place;
                if (FORM != SHORT_SOUGHT)
                    walk(own, out, here);
                emit<A>(p, {p.out + own.out, p.out2 + own.out2, 0, p.copies}, node[0]);
            }
            rotate(node, E, node[0]);
        }
    }

    /* The same of outputs as they are in memory, laid out as rows are; false: they cannot be stored so. */
    __device__ __forceinline__ bool stores_vectors() const
    {
        return p.shape.value_bytes == K::size && p.recipe.out == p.recipe.in && is_whole() &&
               p.dims[p.keep_rank - 1].out == K::size && ((uintptr_t)own_outputs() & (PIECE - 1)) == 0;
    }
    __device__ __forceinline__ void store_vector(const Vector<K::bytes> &out) const
    {
        struct alignas(PIECE) Piece {
            uint32_t word[PIECE / 4];
        };
        unsigned char *to = own_outputs();
#pragma unroll
        for (int i = 0; i < PIECES; i++) {
            Piece piece;
#pragma unroll
            for (int w = 0; w < PIECE / 4; w++)
                piece.word[w] = out.word[i * (PIECE / 4) + w];
            store_aligned(to + i * step * K::size, piece);
        }
    }

  private:
    static constexpr int columns = RDX_CUDA_THREADS * E; /* of a tile */

    __device__ __forceinline__ bool is_whole() const
    {
        return left >= E + (PIECES - 1) * (step - EACH);
    }
    __device__ __forceinline__ unsigned char *own_outputs() const
    {
        return p.out + place_of(output).out;
    }

    __device__ __forceinline__ Place place_of(unsigned own) const
    {
        Place place = base;
        if constexpr (by_runs) {
            const unsigned run = run_of_element(p, own);
            walk(place, p.dims[0], run);
            own -= run * p.shape.run;
        }
        walk(place, p.dims[p.keep_rank - 1], own);
        return place;
    }

    /* Where values are stored: see Value. */
    template <int ALIGNED> struct Apart {
        static constexpr int aligned = ALIGNED;
        unsigned char *to;
        __device__ __forceinline__ unsigned char *of(int e, int size) const
        {
            return to + (e / EACH * step + e % EACH) * size;
        }
    };
    struct Sought {
        static constexpr int aligned = 1;
        unsigned char *to[E];
        __device__ __forceinline__ unsigned char *of(int e, int) const
        {
            return to[e];
        }
    };

    __device__ __forceinline__ void store_values(int size, unsigned char *to, const Node *node) const
    {
        constexpr int most = 16 / EACH; /* bytes of an output of those that are stored at once */
        if constexpr (FORM == SHORT_SOUGHT) {
            Sought sought;
#pragma unroll
            for (int e = 0; e < E; e++)
                sought.to[e] = p.out + seek_column(p, output + e * step).out;
            Value<A>::template store<E>(p, sought, node);
        } else if (EACH == 1 || ((int)(uintptr_t)to & ((size < most ? EACH * size : 16) - 1)) == 0) {
            Value<A>::template store<E>(p, Apart<EACH>{to}, node);
        } else {
            Value<A>::template store<E>(p, Apart<1>{to}, node);
        }
    }

    template <int ROWS, int COUNT>
    __device__ __forceinline__ void load_pieces(Vector<K::bytes> *rows, const unsigned char *in, int own) const
    {
        const bool parts = is_complex(p.recipe.in);
#pragma unroll
        for (int row = 0; row < ROWS; row++) {
            const unsigned char *at = in + row * pitch;
            const bool there = row < sure_rows<ROWS> || row < (int)p.recipe.count;
#pragma unroll
            for (int i = 0; i < PIECES * COUNT; i++)
                if (there && own > i * step) {
                    uint32_t *to = rows[i / PIECES * ROWS + row].word + i % PIECES * (PIECE / 4);
                    if constexpr (small)
                        load<PIECE>(to, at + i * RDX_CUDA_THREADS * PIECE);
                    else
                        load_element<K::size>(to, at + i * RDX_CUDA_THREADS * PIECE, parts);
                }
        }
    }

    /* Bytes before an element in its aligned word. */
    static __device__ __forceinline__ int skipped_at(const unsigned char *at)
    {
        return (int)(uintptr_t)at & 3;
    }

    /* A word that holds no element of the columns is not read. */
    template <int ROWS, int COUNT>
    __device__ __forceinline__ void load_words(Vector<K::bytes> *rows, const unsigned char *in) const
    {
        Vector<K::bytes> upper[ROWS * COUNT];
#pragma unroll
        for (int row = 0; row < ROWS; row++) {
            const unsigned char *at = in + row * pitch;
            const unsigned char *word_at = (const unsigned char *)((uintptr_t)at & ~(uintptr_t)3);
            const bool there = row < sure_rows<ROWS> || row < (int)p.recipe.count;
#pragma unroll
            for (int i = 0; i < PIECES * COUNT; i++) {
                const int slot = i / PIECES * ROWS + row, w = i % PIECES, valid = left - i * step;
                if (there && valid > 0)
                    load<4>(rows[slot].word + w, word_at + i * RDX_CUDA_THREADS * 4);
                if (there && (valid < EACH ? valid : EACH) * K::size > 4 - skipped_at(at))
                    load<4>(upper[slot].word + w, word_at + i * RDX_CUDA_THREADS * 4 + 4);
            }
        }
        /* Once all are under way: sum bf16 3 x 22369601 130 us row by row, 70 so. */
#pragma unroll
        for (int slot = 0; slot < ROWS * COUNT; slot++)
#pragma unroll
            for (int w = 0; w < PIECES; w++)
                rows[slot].word[w] =
                    __funnelshift_r(rows[slot].word[w], upper[slot].word[w], 8 * skipped_at(in + slot % ROWS * pitch));
    }

    template <int ROWS> __device__ __forceinline__ void load_sought(Vector<K::bytes> *rows) const
    {
        const bool parts = is_complex(p.recipe.in);
#pragma unroll
        for (int i = 0; i < E; i++) {
            const bool own = left > i * step;
            const unsigned char *at = p.in + (own ? seek_column(p, output + i * step).in : 0);
            constexpr int words = K::size < 4 ? 1 : K::size / 4;
#pragma unroll
            for (int row = 0; row < ROWS; row++) {
                uint32_t one[words] = {}, *to = rows[row].word + i * K::size / 4;
                if (own && row < (int)p.recipe.count)
                    load_element<K::size>(one, at + row * pitch, parts);
#pragma unroll
                for (int w = 0; w < words; w++)
                    to[w] = i * K::size % 4 ? to[w] | one[w] << 8 * (i * K::size % 4) : one[w];
            }
        }
    }
};

/* A thread's tiles of at most ROWS rows, FLIGHT bytes or one. */
template <class K, ShortForm FORM, int ROWS, int FLIGHT = RDX_CUDA_FLIGHT>
RDX_DEVICE void reduce_tiles(const Problem &p)
{
    constexpr int TILES = RDX_CUDA_SHORT_TILES(ROWS, K::bytes, FLIGHT);
    typedef ShortColumns<K, FORM> Columns;
    Columns columns(p);
    const int n = (int)p.recipe.count;
    Vector<K::bytes> rows[TILES * ROWS];
    columns.template load_rows<ROWS, TILES>(rows);
    const GroupPairs<typename K::A> pairs(n, 0);
    /* Trees and stores are long: one copy of them, and the rows go round. That one tile is one turn has to be said, or
       elements are decoded before the loop, and spill. */
#pragma unroll 1
    for (int tile = 0; tile < TILES && columns.left > 0; tile++, columns.go_on()) {
        typename Columns::Node node[K::elements];
        bool stored = false;
        auto reduce = [&](auto in, auto map) RDX_INLINED {
            constexpr int SURE = Columns::template sure_rows<ROWS>;
            const ColumnTree<K, decltype(in), decltype(map)::value, ROWS, SURE> tree{p, rows, pairs, n};
            if constexpr (FORM != SHORT_SOUGHT && decltype(tree)::stays) {
                stored = columns.stores_vectors();
                if (stored)
                    return columns.store_vector(tree.extremes());
            }
            tree.reduce(node);
        };
        if constexpr (FORM == SHORT_SOUGHT) {
            if (!with_frequent<K>(p.recipe, reduce))
                with_input<K>(p.recipe.in, [&](auto in) RDX_INLINED {
                    reduce(in, std::integral_constant<int, RDX_CUDA_ANY_MAP>());
                });
        } else {
            with_known<K, true>(p.recipe, reduce);
        }
#pragma unroll
        for (int slot = 0; slot + ROWS < TILES * ROWS; slot++)
            rows[slot] = rows[slot + ROWS];
        if (!stored)
            columns.store(node);
    }
}

/* Of at most RDX_CUDA_FEW_ROWS rows. */
template <class K, ShortForm FORM> RDX_DEVICE void reduce_few(const Problem &p)
{
    const int n = (int)p.recipe.count;
    if constexpr (FORM == SHORT_PIECES && RDX_CUDA_HAS_DEEP_COLUMNS(K::A::words)) {
        if (p.shape.deep)
            return n <= 2 ? reduce_tiles<K, FORM, 2, RDX_CUDA_DEEP_FLIGHT>(p)
                          : reduce_tiles<K, FORM, RDX_CUDA_DEEP_ROWS, RDX_CUDA_DEEP_FLIGHT>(p);
    }
    if (n <= 2)
        reduce_tiles<K, FORM, 2>(p);
    else if (n <= 4)
        reduce_tiles<K, FORM, 4>(p);
    else
        reduce_tiles<K, FORM, RDX_CUDA_FEW_ROWS>(p);
}

} // namespace rdx
#endif
