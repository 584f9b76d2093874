/* warp: short contiguous rows. A warp copies tiles of whole rows, up to 4 KiB, into shared memory of its own (platform.cuh), two on
   their way while it folds a third, and there is no barrier but the warp's. `mates` neighbouring threads share a row, so that a
   warp folds 32 / mates rows at once: thread c of them reads the words c, c + mates, c + 2 mates ... of a row, wherever it starts. A
   word has four or two neighbouring lanes of 8 and 16 bits, or one of a wider type, all of it at once. The thread halves its up to
   16 lanes between words, the mates halve what is left by shuffles, and lanes of one word come last. Of integers, which come to the
   same in any order, a thread has up to 32 lanes and one state.

   packed   rows follow each other without a gap: a tile is one stretch of memory, copied from the last multiple of 16 on
   apart    rows start at multiples of 16: each is copied by itself to an odd multiple of 16 bytes, for the sake of the banks

   Real sums and their like, a word a lane, know ways of their own: rows of one line are folded with mates and lanes known to the
   compiler, up to 32 rows between two questions of what the problem is (64M x 4 f32: 184 instructions a row before), and rows of
   one, two or four whole vectors are loaded as such, a thread each, and stored at once.

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
        int at = thread * 16, left = bytes - at, last = bytes & ~15;
        const unsigned char *own =
            (const unsigned char *)forgotten((int64_t)(from + at)); /* lest each copy adds it up */
        to += at;
#pragma unroll
        for (int line = 0; line < TILE_BYTES; line += line_bytes)
            if (left >= line + 16)
                copy_async(to + line, own + line, 16);
        if (last < bytes && thread == (last / 16 & 31))
            copy_async(to + (last - at), own + (last - at), bytes - last);
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
    static constexpr bool plain = !any_order && A::unit == 1 && A::words == 1 && !A::counted && !A::indexed;
    static constexpr bool knows_lines = W == 1 && plain; /* fold_lines */
    /* emit has but to store. */
    static constexpr bool stores =
        !any_order && A::unit == 1 &&
        (A::algebra == RDX_ALGEBRA_SUM || A::algebra == RDX_ALGEBRA_PROD || A::algebra == RDX_ALGEBRA_SUMSQ);

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

    /* T(1, 0) from all of the T(2 H, .). */
    template <int H> static __device__ __forceinline__ void halve_all(Node *node)
    {
        if constexpr (H >= 1) {
#pragma unroll
            for (int i = 0; i < H; i++)
                node[i] = join_full<A>(node[i], node[i + H], 0, 0);
            halve_all<H / 2>(node);
        }
    }

    template <class In, int MAP> __device__ __forceinline__ Node node_of(const uint32_t *word, int byte) const
    {
        T x, y;
        read_element<A, In, MAP>(p.recipe, word, byte, x, y);
        return Step<A>::end(Step<A>::begin(x, y, 0), 1);
    }

    /* ROWS rows of VECTORS whole vectors, 32 rows apart, a thread each; results are stored as they are. */
    template <class In, int MAP, int VECTORS, int ROWS>
    __device__ __forceinline__ void store_rows(SharedAt at, int pitch, unsigned char *to, int64_t step) const
    {
        constexpr int N = VECTORS * 16 / K::size;
        uint4 vector[ROWS][VECTORS];
#pragma unroll
        for (int row = 0; row < ROWS; row++) {
#pragma unroll
            for (int v = 0; v < VECTORS; v++)
                vector[row][v] = load_shared(at + row * 32 * pitch + v * 16);
        }
#pragma unroll
        for (int row = 0; row < ROWS; row++) {
            uint32_t word[VECTORS * 4];
            Node node[N];
#pragma unroll
            for (int v = 0; v < VECTORS; v++) {
                word[4 * v] = vector[row][v].x, word[4 * v + 1] = vector[row][v].y;
                word[4 * v + 2] = vector[row][v].z, word[4 * v + 3] = vector[row][v].w;
            }
#pragma unroll
            for (int i = 0; i < N; i++)
                node[i] = node_of<In, MAP>(word, i * K::size);
            halve_all<N / 2>(node);
            *(T *)to = node[0].s != node[0].s ? nan_of(node[0].s) : node[0].s;
            to += step;
        }
    }

    template <int VECTORS>
    __device__ __forceinline__ bool store_tile(SharedAt tile, int pitch, int thread, int64_t first_output,
                                               int rows) const
    {
        constexpr int most = VECTORS >= 4 ? 1 : 4 / VECTORS;
        bool done = false;
        with_input<K>(p.recipe.in, [&](auto in) {
            typedef decltype(in) In;
            done = with_map<A>(p.recipe, [&](auto map) {
                constexpr int MAP = decltype(map)::value;
                int64_t step = p.dims[0].out;
                unsigned char *to = p.out + (first_output + thread) * step;
                int apart = VECTORS == 1 ? 16 : pitch, row = 0;
                SharedAt at = tile + thread * apart;
                step *= 32;
                if constexpr (most > 1) {
#pragma unroll 1
                    for (; row + 32 * most <= rows; row += 32 * most) {
                        store_rows<In, MAP, VECTORS, most>(at, apart, to, step);
                        at += 32 * most * apart;
                        to += most * step;
                    }
                }
#pragma unroll 1
                for (row += thread; row < rows; row += 32) {
                    store_rows<In, MAP, VECTORS, 1>(at, apart, to, step);
                    at += 32 * apart;
                    to += step;
                }
            });
        });
        return done;
    }

    /* Rows of one, two or four whole vectors that a thread has to itself, where nothing is done with sums but to store them. */
    __device__ __forceinline__ bool store_vectors(SharedAt tile, int pitch, int thread, int64_t first_output,
                                                  int rows) const
    {
        if constexpr (stores && K::size >= 2 && K::size <= 8) {
            int bytes = p.shape.row_bytes;
            if (p.shape.direct && mates == 1 && (((uintptr_t)tile | (unsigned)pitch) & 15) == 0) {
                if (bytes == 16)
                    return store_tile<1>(tile, pitch, thread, first_output, rows);
                if constexpr (J * K::size >= 32) {
                    if (bytes == 32)
                        return store_tile<2>(tile, pitch, thread, first_output, rows);
                }
                if constexpr (J * K::size >= 64) {
                    if (bytes == 64)
                        return store_tile<4>(tile, pitch, thread, first_output, rows);
                }
            }
        }
        return false;
    }

    /* The node of a row of one line: LANES a thread, of which no thread lacks one of the lower half. FULL: none at all. */
    template <bool FULL, int MATES, int LANES, class In, int MAP>
    __device__ __forceinline__ Node fold_line(SharedAt at) const
    {
        constexpr int H = LANES > 1 ? LANES / 2 : 1, step = K::size * MATES;
        int n = (int)p.recipe.count;
        uint32_t word[LANES][load_bytes / 4];
        Node node[H];
        bool parts = is_complex(p.recipe.in);
#pragma unroll
        for (int j = 0; j < H; j++)
            load_shared_element<load_bytes>(word[j], at + j * step, parts);
#pragma unroll
        for (int j = H; j < LANES; j++) {
            if (!FULL && ((j - H) & (j - H - 1)) == 0 && j * MATES >= n)
                break;
            if (FULL || j < there)
                load_shared_element<load_bytes>(word[j], at + j * step, parts);
        }
#pragma unroll
        for (int j = 0; j < H; j++)
            node[j] = node_of<In, MAP>(word[j], 0);
#pragma unroll
        for (int j = H; j < LANES; j++) {
            if (!FULL && ((j - H) & (j - H - 1)) == 0 && j * MATES >= n)
                break;
            if (FULL || j < there)
                node[j - H] = join_full<A>(node[j - H], node_of<In, MAP>(word[j], 0), 0, 0);
        }
        halve_all<H / 2>(node);
#pragma unroll
        for (int bit = MATES / 2; bit >= 1; bit /= 2)
            node[0] = join_full<A>(node[0], shuffle_xor<A>(node[0], bit), 0, 0);
        return node[0];
    }

    /* Those of a row a turn, `apart` from each other, the last of them at `last`; a thread keeps that of its own turn. */
    template <bool FULL, int MATES, int LANES, class In, int MAP>
    __device__ __forceinline__ Node fold_turns(SharedAt at, SharedAt last, int apart, int turns) const
    {
        if constexpr (MATES == 1)
            return fold_line<FULL, 1, LANES, In, MAP>(at < last ? at : last);
        Node own = {};
#pragma unroll 1
        for (int turn = 0; turn < turns; turn++) {
            Node folded = fold_line<FULL, MATES, LANES, In, MAP>((at < last ? at : last) + c * K::size);
            if (turn == c)
                own = folded;
            at += apart;
        }
        return own;
    }

    template <int MATES, int LANES, class In, int MAP>
    __device__ __forceinline__ Node fold_with(SharedAt at, SharedAt last, int apart, int turns) const
    {
        constexpr bool more_mates = LANES == J, more = LANES * MATES * K::size < 512; /* bytes of a line */
        int n = (int)p.recipe.count;
        if constexpr (more) {
            if (n > LANES * MATES)
                return fold_with < more_mates ? 2 * MATES : MATES, more_mates ? J : 2 * LANES, In,
                       MAP > (at, last, apart, turns);
        }
        return n == LANES * MATES ? fold_turns<true, MATES, LANES, In, MAP>(at, last, apart, turns)
                                  : fold_turns<false, MATES, LANES, In, MAP>(at, last, apart, turns);
    }

    /* The same, for as many mates and lanes as there are, where rows have one line and the map is one that kernels know. */
    __device__ __forceinline__ bool fold_lines(SharedAt at, SharedAt last, int apart, int turns, Node &own) const
    {
        bool done = false;
        if constexpr (knows_lines) {
            if (p.shape.lines == 1)
                with_input<K>(p.recipe.in, [&](auto in) {
                    typedef decltype(in) In;
                    done = with_map<A>(p.recipe, [&](auto map) {
                        own = fold_with<1, 1, In, decltype(map)::value>(at, last, apart, turns);
                    });
                });
        }
        return done;
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
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        if (fold.store_vectors(tile, pitch, thread, item.first_output, rows))
            continue;
        bool crooked = ((uintptr_t)tile | (unsigned)pitch) & 3;
        /* All mates have a row's result, and each keeps that of its turn: results go out by the warp. */
        if constexpr (ShortRow<K>::knows_lines) {
            SharedAt last = tile + (rows - 1) * pitch;
            int done = 0;
#pragma unroll 1
            for (; done < rows; done += 32) {
                int turns = rows - done < 32 ? (rows - done + at_once - 1) >> log2_of(at_once) : s.mates;
                int own = done + row + fold.c * at_once;
                typename A::Node result = {};
                if (!fold.fold_lines(tile + (done + row) * pitch, last, at_once * pitch, turns, result))
                    break;
                if (own < rows)
                    emit<A>(p, target_of(p, item.first_output + own, 0, 1), result);
            }
            if (done >= rows)
                continue;
        }
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
