/* thread: outputs of at most a line of elements that share slabs of memory (plan/layout.h), as where an axis goes
   between short runs. A warp copies a tile of whole slabs as they lie, and its threads fold an output each out of it,
   an element a lane; there is no barrier but the warp's. 256 MB on an H200, an element a load from memory and so, in
   us: sums of 3 x 3 f32 257 and 83, 7 x 11 163 and 73, 33 x 7 315 and 67, var of 7 x 11 276 and 79.

   Groups that are whole, and those that lack their upper half, are code of their own, which knows how many lanes there
   are. 128 MB, in us, without and so: sums of 7 x 11 49.9 and 40.6; var of 33 x 7, whose joins asked RowPairs for all
   counts, 75.6 and 55.2. */
#include "greatest.cuh"
#include "group_tree.cuh"
#include "row_pairs.cuh"
#include "row_tile.cuh"

namespace rdx
{

/* An output's tree: a group of ROWS lanes at most, or, GROUPS, as many as it takes, 2^k groups, a subtree each, and
   what they come to on a stack. At least half of a group is there; of eight at most, more than half. */
template <class K, int ROWS, bool GROUPS> struct SlabFold {
    typedef typename K::A A;
    typedef typename A::T T;
    typedef typename A::Node Node;
    static constexpr int LEVELS = GROUPS && !is_exact<A>() ? log2_constant(line_bytes / K::size / ROWS) : 0;

    const Problem &p;
    RowPairs<A> pairs;
    const uint16_t *places; /* bytes from an output's first element to its others, of several reduced dims */
    int n, groups_log2, step;
    GroupPairs<A> within;

    __device__ __forceinline__ SlabFold(const Problem &problem, const RowPairs<A> &of_row, const uint16_t *of_output)
        : p(problem), pairs(of_row), places(of_output), n((int)problem.recipe.count), groups_log2(log2_of_groups(n)),
          step((int)problem.dims[problem.keep_rank].in), within(n, groups_log2)
    {
    }
    static __device__ __forceinline__ int log2_of_groups(int n)
    {
        return GROUPS && n > ROWS ? log2_up(n) - log2_constant(ROWS) : 0;
    }

    /* Of the output whose first element lies at `at`. */
    template <class In, int MAP> __device__ __forceinline__ Node fold(SharedAt at) const
    {
        if constexpr (!GROUPS) {
            return group<In, MAP>(at, 0, n);
        } else {
            Node held[LEVELS + 1], node;
#pragma unroll 1
            for (int i = 0; i < 1 << groups_log2; i++) {
                int first = reverse_bits(i, groups_log2);
                node = group<In, MAP>(at, first, elements_of_lane(n, first, groups_log2));
                if constexpr (is_exact<A>()) { /* in any order */
                    if (i > 0)
                        node = A::join(held[0], node, NULL);
                    held[0] = node;
                } else {
                    node = carry<0>(held, node, i, first, 1 << groups_log2);
                }
            }
            return node;
        }
    }

  private:
    /* The node of T(h, lane), the i-th of its kind, and what it makes whole. */
    template <int LEVEL>
    __device__ __forceinline__ Node carry(Node *held, const Node &node, int i, int lane, int h) const
    {
        if constexpr (LEVEL < LEVELS) {
            if (i & 1) {
                h /= 2;
                lane -= h;
                return carry<LEVEL + 1>(held, A::join(held[LEVEL], node, A::counted ? pairs.of(n, lane, h) : NULL),
                                        i / 2, lane, h);
            }
            held[LEVEL] = node;
        }
        return node;
    }

    /* Lanes `first`, first + 2^groups_log2, ... */
    __device__ __forceinline__ int lane_of(int first, int row) const
    {
        return first + (row << groups_log2);
    }
    template <int MOST, bool WHOLE>
    __device__ __forceinline__ void load(Vector<K::size> *raw, SharedAt at, int first, int there) const
    {
        bool parts = is_complex(p.recipe.in);
        if (p.reduce_rank == 1) {
            at += first * step;
            const int each = forgotten(step << groups_log2); /* lest multiples of it are kept from output to output */
#pragma unroll
            for (int row = 0; row < MOST; row++, at += each)
                if (WHOLE || row < MOST / 2 || row < there)
                    load_shared_element<K::size>(raw[row].word, at, parts);
        } else {
#pragma unroll
            for (int row = 0; row < MOST; row++)
                if (WHOLE || row < MOST / 2 || row < there)
                    load_shared_element<K::size>(raw[row].word, at + places[lane_of(first, row)], parts);
        }
    }

    template <class In, int MAP> __device__ __forceinline__ Node group(SharedAt at, int first, int there) const
    {
        if (there == ROWS)
            return group<In, MAP, ROWS, true>(at, first, ROWS);
        if constexpr (GROUPS || ROWS == 4)
            if (there == ROWS / 2)
                return group<In, MAP, ROWS / 2, true>(at, first, ROWS / 2);
        if constexpr (ROWS > 2)
            return group<In, MAP, ROWS, false>(at, first, there);
        return {};
    }
    /* Of MOST lanes, all of which are there if WHOLE, else more than half of them. */
    template <class In, int MAP, int MOST, bool WHOLE>
    __device__ __forceinline__ Node group(SharedAt at, int first, int there) const
    {
        Vector<K::size> raw[MOST];
        load<MOST, WHOLE>(raw, at, first, there);
        if constexpr (MAP != RDX_CUDA_ANY_MAP && compares_numbers_alone<A, In>()) {
            return leaf<In, MAP>(greatest<In, MOST>(raw, there));
        } else if constexpr (MAP != RDX_CUDA_ANY_MAP && (adds_bytes<A, In>() || compares_bytes<A, In>())) {
            return bytes<In, MAP, MOST>(raw, there);
        } else {
            if constexpr (A::indexed) {
                if (p.shape.ascending)
                    return first_of<In, MAP, MOST>(raw, first, there);
            }
            Node node;
            join_group(Lanes<In, MAP, MOST, WHOLE>{*this, raw, first, there}, &node);
            return node;
        }
    }

    template <class In, int MAP> __device__ __forceinline__ Node leaf(const Vector<K::size> &raw) const
    {
        T x, y;
        read_element<A, In, MAP>(p.recipe, raw.word, 0, x, y);
        return node_of_element<A>(x, y, 0);
    }
    __device__ __forceinline__ int64_t index_of(int lane) const
    {
        return p.index_offset + seek_element(p, lane).out;
    }

    /* The lanes of a group as join_group wants them. */
    template <class In, int MAP, int MOST, bool WHOLE> struct Lanes {
        typedef typename K::A A;
        typedef typename A::Node Node;
        static constexpr int E = 1, LANES = MOST;
        static constexpr bool ALONE = true;

        const SlabFold &fold;
        const Vector<K::size> *raw;
        int first, there;

        __device__ __forceinline__ bool is_there(int row) const
        {
            return WHOLE || row < MOST / 2 || row < there;
        }
        template <int H> __device__ __forceinline__ typename A::Pair pair(int row) const
        {
            if constexpr (WHOLE)
                return pair_of_equals<A>(MOST / (2 * H));
            else
                return fold.within.template of<H>(fold.lane_of(first, row));
        }
        template <int R> __device__ __forceinline__ void lane(Node *node) const
        {
            T x, y;
            read_element<A, In, MAP>(fold.p.recipe, raw[R].word, 0, x, y);
            *node = leaf_node<A, is_upper<Lanes, R>()>(x, y, A::indexed ? fold.index_of(fold.lane_of(first, R)) : 0);
        }
    };

    /* The greatest number; those of 16 bits two at once. */
    template <class In, int MOST>
    __device__ __forceinline__ Vector<K::size> greatest(const Vector<K::size> *raw, int there) const
    {
        if constexpr (K::size == 2 && MOST > 1) {
            Vector<4> pairs[MOST / 2];
#pragma unroll
            for (int i = 0; i < MOST / 2; i++)
                pairs[i].word[0] =
                    raw[2 * i].word[0] | (2 * i + 1 < there ? raw[2 * i + 1].word[0] : raw[2 * i].word[0]) << 16;
            Vector<4> both[2];
            both[0] = greatest_of<In, MOST / 2>(p.recipe, pairs, (there + 1) / 2);
            both[1].word[0] = both[0].word[0] >> 16 | both[0].word[0] << 16;
            return {{greatest_of<In, 2>(p.recipe, both, 2).word[0] & 0xffff}};
        } else {
            return greatest_of<In, MOST>(p.recipe, raw, there);
        }
    }

    /* Bytes, four to a word. */
    template <class In, int MAP, int MOST>
    __device__ __forceinline__ Node bytes(const Vector<K::size> *raw, int there) const
    {
        constexpr int WORDS = MOST < 4 ? 1 : MOST / 4;
        Vector<4> words[WORDS];
#pragma unroll
        for (int w = 0; w < WORDS; w++) {
            uint32_t byte[4];
#pragma unroll
            for (int i = 0; i < 4; i++) /* which is missing is 0, or the first again */
                byte[i] = 4 * w + i < MOST && 4 * w + i < there ? raw[4 * w + i < MOST ? 4 * w + i : 0].word[0]
                          : adds_bytes<A, In>()                 ? 0
                                                                : raw[0].word[0];
            words[w].word[0] =
                __byte_perm(__byte_perm(byte[0], byte[1], 0x40), __byte_perm(byte[2], byte[3], 0x40), 0x5410);
        }
        if constexpr (adds_bytes<A, In>()) {
            int sum = 0;
#pragma unroll
            for (int w = 0; w < WORDS; w++) {
                int left = there - 4 * w;
                if (left > 0)
                    sum = add_bytes<In, MAP>(p.recipe, words[w].word[0], sum,
                                             left < 4 ? (1u << 8 * left) - 1 : 0xffffffffu);
            }
            return {sum};
        } else {
            T x, y;
            with_omit<In>(p.recipe, [&](auto omit) {
                read_top<A, In, MAP>(p.recipe, greatest_byte<In, omit, WORDS>(p.recipe, words, (there + 3) / 4), x, y);
            });
            return node_of_element<A>(x, y, 0);
        }
    }

    /* The greatest of ascending indices: the first of equals. */
    template <class In, int MAP, int MOST>
    __device__ __forceinline__ Node first_of(const Vector<K::size> *raw, int first, int there) const
    {
        typedef Winner<A> First;
        typename First::State state;
#pragma unroll
        for (int row = 0; row < MOST; row++) {
            if (row >= MOST / 2 && row >= there)
                continue;
            T x, y;
            read_element<A, In, MAP>(p.recipe, raw[row].word, 0, x, y);
            state = row == 0 ? First::begin(x, y, 0) : First::next(state, x, y, row, 0);
        }
        return A::winner(state, index_of(lane_of(first, (int)state.line)));
    }
};

/* Slabs one by one, each in the vectors that hold it: those of one never touch those of the next
   (plan/cuda_slabs.c). */
RDX_DEVICE void copy_slabs(const RdxCudaShape &s, const Tile &tile, const unsigned char *from)
{
#pragma unroll 1
    for (int v = tile.thread; v < tile.rows * s.slab_vectors; v += 32) {
        int slab = s.slab_vectors > 1 ? (int)__umulhi((unsigned)v, s.vectors_magic) : v;
        const unsigned char *at = from + slab * s.slab_step;
        int before = (int)((uintptr_t)at & 15), place = (v - slab * s.slab_vectors) * 16 - before;
        int left = s.row_bytes - place;
        if (left > 0)
            copy_async(tile.at + slab * tile.pitch + place, at + place, left < 16 ? left : 16);
    }
}

/* Asks for the warp's tile; 0 slabs where there is none. */
RDX_DEVICE Tile ask_for_slabs(const Problem &p, uint32_t *shared, int *outputs)
{
    const RdxCudaShape &s = p.shape;
    const int warp = warp_of_block();
    const int64_t number = (int64_t)blockIdx.x * WARPS + warp;
    Item item = item_of(p, number);
    *outputs = number < s.items ? (int)item.outputs : 0;
    Tile tile = {item.first_output, shared_at(shared) + warp * TILE_BYTES, *outputs / s.slab_outputs,
                 s.pitch ? s.pitch : s.row_bytes, kept(thread_of_warp())};
    if (tile.rows > 0) {
        const unsigned char *from = p.in + seek_output(p, tile.first).in;
        if (s.pitch == 0) {
            tile.copy_packed(from);
        } else {
            tile.at += (int)((uintptr_t)from & 15);
            copy_slabs(s, tile, from);
        }
    }
    commit_copies();
    return tile;
}

template <class K, int ROWS, bool GROUPS, class In, int MAP>
RDX_DEVICE void reduce_slabs(const Problem &p, const Tile &tile, int outputs, const RowPairs<typename K::A> &pairs,
                             const uint16_t *places)
{
    const RdxCudaShape &s = p.shape;
    const RdxCudaDim &step = p.dims[p.keep_rank - 1];
    SlabFold<K, ROWS, GROUPS> fold(p, pairs, places);
    int64_t first = tile.first + tile.thread;
    Target target = {p.out + first * step.out, p.out2 + first * step.out2};
#pragma unroll 1
    for (int output = tile.thread; output < outputs; output += 32) {
        int slab = (int)__umulhi((unsigned)output, s.inner_magic), column = output - slab * s.slab_outputs;
        int place = s.slab_outputs == step.extent ? column * (int)step.in : (int)seek_output(p, column).in;
        emit_value<K>(p, target, fold.template fold<In, MAP>(tile.at + slab * tile.pitch + place));
        target.out += 32 * step.out;
        target.out2 += 32 * step.out2;
    }
}

/* Ops and inputs that have code of their own for up to 4 rows, 8 and more: that of all others was half of what this
   kernel took of the plugin. */
template <class K, class In> RDX_DEVICE constexpr bool is_usual()
{
    constexpr int a = K::A::algebra;
    constexpr bool wide = K::A::work == RDX_WORK_F64, byte_float = !In::integral && K::size == 1;
    return K::A::unit == 1 && K::size <= 8 && (!wide || K::size == 8) && !byte_float && !In::is_complex &&
           (a == RDX_ALGEBRA_SUM || a == RDX_ALGEBRA_ISUM || a == RDX_ALGEBRA_VAR || a == RDX_ALGEBRA_LSE ||
            a == RDX_ALGEBRA_MAX || a == RDX_ALGEBRA_ARGMAX);
}

template <class K> constexpr bool comes_in_slabs = !is_long<K>();

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, K::A::words <= 2 ? 3 : 2)
    slabs_kernel(const __grid_constant__ Problem p)
{
    typedef typename K::A A;
    typedef RowPairs<A> Pairs;
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    RDX_SHARED_ARRAY(uint16_t, places, line_bytes / K::size);
    RDX_SHARED_ARRAY(typename A::Pair, pairs, A::counted ? Pairs::LEVELS * Pairs::KINDS : 1);
    const int n = (int)p.recipe.count;
    int outputs;
    const Tile tile = ask_for_slabs(p, shared, &outputs);
    if (p.reduce_rank > 1) {
        for (int lane = (int)threadIdx.x; lane < n; lane += RDX_CUDA_THREADS)
            places[lane] = (uint16_t)seek_element(p, lane).in;
        __syncthreads();
    }
    if constexpr (A::counted)
        Pairs{pairs}.fill(n);
    if (outputs <= 0)
        return;
    wait_copies<0>();
    __syncwarp();
    bool known = false;
    with_known<K>(p.recipe, [&](auto in, auto map) RDX_INLINED {
        typedef decltype(in) In;
        constexpr int MAP = decltype(map)::value;
        if constexpr (is_usual<K, In>()) {
            known = true;
            if (n <= 4)
                reduce_slabs<K, 4, false, In, MAP>(p, tile, outputs, {pairs}, places);
            else if (n <= 8)
                reduce_slabs<K, 8, false, In, MAP>(p, tile, outputs, {pairs}, places);
            else
                reduce_slabs<K, 16, true, In, MAP>(p, tile, outputs, {pairs}, places);
        }
    });
    if (!known) /* little code */
        with_input<K>(p.recipe.in, [&](auto in) RDX_INLINED {
            reduce_slabs<K, 2, true, decltype(in), RDX_CUDA_ANY_MAP>(p, tile, outputs, {pairs}, places);
        });
}

} // namespace rdx

#define RDX_KERNEL_NAME slabs
#define RDX_COMES comes_in_slabs
#define RDX_ELEMENTS(size, words) 1
#include "stamp.inc"
