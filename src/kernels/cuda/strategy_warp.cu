/* warp: short contiguous rows. A warp copies tiles of whole rows, up to 4 KiB, into shared memory of its own (platform.cuh), two on
   their way while it folds a third, and there is no barrier but the warp's. `mates` neighbouring threads share a row, so that a
   warp folds 32 / mates rows at once: thread c of them reads the words c, c + mates, c + 2 mates ... of a row, wherever it starts. A
   word has four or two neighbouring lanes of 8 and 16 bits, or one of a wider type, all of it at once. The thread halves its up to
   16 lanes between words, the mates halve what is left by shuffles, and lanes of one word come last. Of integers, which come to the
   same in any order, a thread has up to 32 lanes and one state.

   packed   rows follow each other without a gap: a tile is one stretch of memory, copied from the last multiple of 16 on
   apart    rows start at multiples of 16: each is copied by itself to an odd multiple of 16 bytes, for the sake of the banks

   All mates have the result. */
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

/* Sums of 8-bit integers and of truth values take the elements of a word at once. */
template <class K, class In, int MAP> RDX_DEVICE constexpr bool adds_words()
{
    return K::size == 1 && K::A::algebra == RDX_ALGEBRA_ISUM && In::integral && MAP != RDX_CUDA_ANY_MAP;
}

/* The sum of the first `count` bytes of a word. */
template <class In, int MAP> RDX_DEVICE int sum_of_bytes(uint32_t word, int count)
{
    constexpr bool truth = MAP == RDX_MAP_NONZERO || In::type == RDX_TYPE_BOOL;
    if (count < 4)
        word &= (1u << 8 * count) - 1;
    if constexpr (truth)
        word = __vcmpne4(word, 0) & 0x01010101u;
    return In::type == RDX_TYPE_I8 && !truth ? __dp4a((int)word, 0x01010101, 0) : (int)__dp4a(word, 0x01010101u, 0u);
}

template <class K> struct ShortRow {
    typedef typename K::A A;
    typedef typename A::T T;
    typedef typename A::Node Node;
    static constexpr int J = K::elements;                   /* lanes of a thread */
    static constexpr int W = K::size < 4 ? 4 / K::size : 1; /* of a word */
    static constexpr int load_bytes = K::size * W;
    static constexpr bool any_order = A::work != RDX_WORK_F32 && A::work != RDX_WORK_F64;
    static constexpr int states = any_order ? 1 : J;

    const Problem &p;
    int mates, c;    /* c: this thread's place among them */
    int stride_log2; /* lanes from one word of this thread to its next */
    int there;       /* of its lanes, those that have elements */

    __device__ __forceinline__ ShortRow(const Problem &problem, int thread)
        : p(problem), mates(problem.shape.mates), c(thread & (mates - 1)), stride_log2(log2_of(mates * W)),
          there(count_in_line(0))
    {
    }

    /* Lane j of this thread. */
    __device__ __forceinline__ int lane(int j) const
    {
        return c * W + j % W + (j / W << stride_log2);
    }

    /* How many elements of a line are this thread's: whole words, and what there is of the next. */
    __device__ __forceinline__ int count_in_line(int line) const
    {
        int left = (int)p.recipe.count - line * p.recipe.lanes;
        left = (left < p.recipe.lanes ? left : p.recipe.lanes) - c * W;
        int whole = (left + (1 << stride_log2) - W) >> stride_log2, rest = left - (whole << stride_log2);
        return whole * W + (rest > 0 ? rest : 0);
    }

    /* No thread has an element in lane j or one after it, of a line of `most`; asked where it is worth a branch. */
    __device__ __forceinline__ bool ends_at(int j, int most) const
    {
        return j > 0 && (j & (j - 1)) == 0 && j / W << stride_log2 >= most;
    }

    /* The words of a line of which elements are there; FULL: all of them. Where rows start within words, each is shifted out of two. */
    template <bool FULL>
    __device__ __forceinline__ void load_line(SharedAt at, bool crooked, int count, int most,
                                              uint32_t (*word)[load_bytes / 4]) const
    {
        int step = K::size << stride_log2;
        if (FULL || W == 1 || !crooked) {
            bool parts = is_complex(p.recipe.in);
#pragma unroll
            for (int j = 0; j < J; j += W) {
                if (!FULL && ends_at(j, most))
                    break;
                if (FULL || j < count)
                    load_shared_element<load_bytes>(word[j / W], at + j / W * step, parts);
            }
        } else {
            int skipped = (int)((uintptr_t)at & 3), more = count - (4 - skipped) / K::size;
            at -= skipped;
#pragma unroll
            for (int j = 0; j < J; j += W) {
                uint32_t low, high = 0;
                if (ends_at(j, most))
                    break;
                if (j < count) {
                    load_shared_element<4>(&low, at + j / W * step, false);
                    if (j < more)
                        load_shared_element<4>(&high, at + j / W * step + 4, false);
                    word[j / W][0] = __funnelshift_r(low, high, 8 * skipped);
                }
            }
        }
    }

    /* Which elements of a line are looked at. */
    enum Extent { ALL, WHOLE_WORDS, ONLY_THERE };

    template <Extent EXTENT, class In, int MAP, class F>
    __device__ __forceinline__ void each_of(const uint32_t (*word)[load_bytes / 4], int first, int count, int most,
                                            F &&f) const
    {
#pragma unroll
        for (int j = 0; j < J; j += W) {
            if (EXTENT != ALL && ends_at(j, most))
                break;
            if (EXTENT != ALL && j >= count)
                continue;
            if constexpr (adds_words<K, In, MAP>()) {
                int sum = sum_of_bytes<In, MAP>(word[j / W][0], EXTENT == ALL ? W : count - j);
                f(j, sum, sum, 0);
            } else {
#pragma unroll
                for (int e = 0; e < W; e++) {
                    T x, y;
                    if (EXTENT != ONLY_THERE || j + e < count) {
                        read_element<A, In, MAP>(p.recipe, word[j / W], e * K::size, x, y);
                        f(j + e, x, y, first + lane(j + e));
                    }
                }
            }
        }
    }

    /* Calls f(j, x, y, element) for the elements of a line that are this thread's; EXTENT: and for what else is in their words. All
       are loaded before the first is looked at, and what dtype and map they have is asked once. */
    template <Extent EXTENT, class F>
    __device__ __forceinline__ void each(SharedAt row, bool crooked, int line, F &&f) const
    {
        uint32_t word[J / W][load_bytes / 4];
        int first = line * p.recipe.lanes, count = line == 0 ? there : count_in_line(line);
        int most = (int)p.recipe.count - first; /* of this line and those after it */
        SharedAt at = row + (first + c * W) * K::size;
        bool full = J * mates <= most, done = false;
        if (full && !crooked)
            load_line<true>(at, crooked, count, most, word);
        else
            load_line<false>(at, crooked, count, most, word);
        if (full) {
            with_input<K>(p.recipe.in, [&](auto in) {
                typedef decltype(in) In;
                done = with_map<A>(p.recipe,
                                   [&](auto map) { each_of<ALL, In, decltype(map)::value>(word, first, J, most, f); });
            });
        }
        if (done)
            return;
        with_input<K>(p.recipe.in, [&](auto in) {
            typedef decltype(in) In;
            auto some = [&](auto map) { each_of<EXTENT, In, decltype(map)::value>(word, first, count, most, f); };
            if (!with_map<A>(p.recipe, some))
                some(std::integral_constant<int, RDX_CUDA_ANY_MAP>());
        });
    }

    __device__ __forceinline__ void fold(SharedAt row, bool crooked, Node *node) const
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
                each<ONLY_THERE>(row, crooked, line, [&](int j, T x, T, int) { node[j].m = A::greater(node[j].m, x); });
#pragma unroll
            for (int j = 0; j < J; j++)
                base[j] = A::base(node[j].m);
#pragma unroll 1
            for (int line = 0; line < lines; line++)
                each<ONLY_THERE>(row, crooked, line,
                                 [&](int j, T x, T, int) { node[j].s = A::add(node[j].s, x, base[j]); });
        } else {
            typename Step<A>::State state[states];
            clear_lanes<A>(state, states);
            if constexpr (any_order)
                state[0] = {};
            else
                each<WHOLE_WORDS>(row, crooked, 0, [&](int j, T x, T y, int element) {
                    state[j] = Step<A>::begin(x, y, p.index_offset + element * step);
                });
#pragma unroll 1
            for (int line = any_order ? 0 : 1; line < lines; line++)
                each<ONLY_THERE>(row, crooked, line, [&](int j, T x, T y, int element) {
                    int i = any_order ? 0 : j;
                    int64_t index = p.index_offset + element * step;
                    if (any_order && j == 0 && line == 0)
                        state[i] = Step<A>::begin(x, y, index);
                    else
                        state[i] = Step<A>::next(state[i], x, y, line, index);
                });
#pragma unroll
            for (int i = 0; i < states; i++)
                node[i] = Step<A>::end(state[i], A::counted ? elements_of_lane((int)p.recipe.count, lane(i),
                                                                               stride_log2 + log2_constant(J / W))
                                                            : 0);
        }
    }

    /* T(h, .) of nodes i from T(2h, .) of i and i + H, for H from FROM down to TO: first between words, then within them. By
       templates: with one index that the compiler does not know, all nodes lie in local memory. */
    template <bool FULL, int FROM, int TO> __device__ __forceinline__ void halve_own(Node *node) const
    {
        if constexpr (FROM >= TO) {
            constexpr int H = FROM;
            constexpr bool within = H < W;
            int n = (int)p.recipe.count, h = within ? H : H / W << stride_log2;
#pragma unroll
            for (int i = 0; i < H; i++) {
                int low = within ? i : lane(i), step_log2 = 32 - __clz(h);
                if (FULL || i + H < (within ? n : there))
                    node[i] = join_full<A>(node[i], node[i + H], A::counted ? elements_of_lane(n, low, step_log2) : 0,
                                           A::counted ? elements_of_lane(n, low + h, step_log2) : 0);
            }
            halve_own<FULL, H / 2, TO>(node);
        }
    }

    __device__ __forceinline__ Node halve(Node *node) const
    {
        constexpr int left = any_order ? 1 : W;
        int n = (int)p.recipe.count;
        /* Where there are mates, n is more than half of their lanes: none of them goes without. */
        if constexpr (!any_order) {
            if (A::words == 1 && J * mates <= n)
                halve_own<true, J / 2, W>(node);
            else
                halve_own<false, J / 2, W>(node);
        }
#pragma unroll(A::words == 1 ? 5 : 1)
        for (int bit = 16; bit >= 1; bit /= 2) {
            if (bit >= mates)
                continue;
#pragma unroll
            for (int e = 0; e < left; e++)
                node[e] =
                    join_there<A>(node[e], shuffle_xor<A>(node[e], bit), c & bit, n, bit * W, (c & (bit - 1)) * W + e);
        }
        if constexpr (!any_order)
            halve_own<false, W / 2, 1>(node);
        return node[0];
    }
};

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) short_kernel(const __grid_constant__ Problem p)
{
    typedef typename K::A A;
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    const RdxCudaShape &s = p.shape;
    int thread = kept(thread_of_warp()), warp = warp_of_block();
    int row = thread >> log2_of(s.mates), at_once = 32 >> log2_of(s.mates);
    int64_t number = (int64_t)blockIdx.x * (RDX_CUDA_THREADS / 32) + warp;
    TileSource<K> source = {p, shared_at(shared) + warp * STAGES * TILE_BYTES, thread, number};
    ShortRow<K> fold(p, thread);
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
        int pitch = s.pitch, rows = (int)item.outputs;
        if (pitch == 0) {
            pitch = s.row_bytes;
            tile += (int)((uintptr_t)(p.in + seek_output(p, item.first_output).in) & 15);
        }
        bool crooked = ((uintptr_t)tile | (unsigned)pitch) & 3;
        /* All mates have a row's result, and each keeps that of its turn: results go out by the warp. */
        typename A::Node result = {};
        int turn = 0;
#pragma unroll 1
        for (int first = 0; first < rows; first += at_once) {
            typename A::Node node[ShortRow<K>::states];
            fold.fold(tile + (first + row < rows ? first + row : rows - 1) * pitch, crooked, node);
            typename A::Node folded = fold.halve(node);
            if (fold.c == turn)
                result = folded;
            turn++;
            if (turn == s.mates || first + at_once >= rows) {
                int own = first + row - (turn - 1 - fold.c) * at_once;
                if (fold.c < turn && own < rows)
                    emit<A>(p, target_of(p, item.first_output + own, 0, 1), result);
                turn = 0;
            }
        }
        stage = stage + 1 == STAGES ? 0 : stage + 1;
    }
}

/* Lanes of a thread: as registers allow, but so many that a warp is enough for a row. */
template <class A, int SIZE> constexpr int lanes_of_thread()
{
    constexpr bool real = A::work == RDX_WORK_F32 || A::work == RDX_WORK_F64;
    if (!real && SIZE <= 2 && (A::words == 1 || A::algebra == RDX_ALGEBRA_ISUM))
        return 32;
    return A::words <= 2 || SIZE == 1 ? 16 : A::words <= 4 || SIZE == 2 ? 8 : 4;
}

} // namespace rdx

#define RDX_STRATEGY warp
#define RDX_KERNEL rdx::short_kernel
#define RDX_ELEMENTS_OF(Algebra, size) (rdx::lanes_of_thread<Algebra, size>())
#include "stamp.inc"
