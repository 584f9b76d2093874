/* Columns straight from memory into registers. Threads have classes of lanes as in columns.cuh, but a thread asks for 16 vectors, those of
   one long lane or of several short ones, before it folds the first, and nothing lies in shared memory but the stacks: a block starts and
   ends sooner than one with rings. An item is a block's only one.

   A vector is 4 to 16 bytes of packed columns (kernel_straight_columns.cu), or one element of columns of any strides (kernel_single_columns.cu).

   Shifted: rows of columns start anywhere, but the rows of a class all start as far behind a multiple of 16 bytes: lanes are as many as a
   line has elements, and cuda_columns.c takes enough classes. So threads fold aligned vectors as they lie, and what a class has come to is
   shifted, once a chunk, before classes meet. The last vector of a tile has what the one before it lacks. Every vector holds an element,
   so its 16 bytes are there, though the tensor's last may end among them: to load that one element by element, in a second copy of the
   code or by patching it, made blocks wait for instructions (1000 x 50257 bf16 55 and 38 us, not 33). */
#ifndef RDX_KERNELS_CUDA_STRAIGHT_COLUMNS_CUH
#define RDX_KERNELS_CUDA_STRAIGHT_COLUMNS_CUH

#include "columns.cuh"

namespace rdx
{

/* Ops of which straight_columns takes a chunk at most: of more rows rings are as fast. */
template <class A> constexpr bool one_chunk_alone()
{
    return A::algebra == RDX_ALGEBRA_VAR || (A::algebra == RDX_ALGEBRA_LSE && A::work == RDX_WORK_F32);
}

/* Elements of a vector, for ops whose nodes are small; 0 for others, which rings serve. A thread has registers for the nodes of 8 words, so
   a vector of those may have fewer elements than fill 16 bytes. */
template <class A> constexpr int straight_elements(int size)
{
    constexpr int most = 8 / A::words;
    const int all = 16 / size;
    if (size == 1 || A::unit > 1 || A::indexed)
        return 0;
    if (one_chunk_alone<A>())
        return all < most ? all : most;
    return all <= most && !A::counted && !A::two_passes ? all : 0;
}

/* Whether a kernel for what straight_columns does not take has use for this op. */
template <class K> constexpr bool comes_otherwise()
{
    return straight_elements<typename K::A>(K::size) == 0 || one_chunk_alone<typename K::A>();
}

/* A chunk of a thread's vector of columns: n elements from `start` on, of which `own` is the first of its class. */
struct ColumnChunk {
    const unsigned char *column;
    int64_t start;
    int n, own;
};

/* What joins of runs of 2^level lanes of a group ask for that is a quotient: the lower run has as many elements as the upper, or one more, and
   then the weight is the same for all of them: fewer / (2 fewer + 1), where the upper has n / (the run's step), rounded down. */
template <class T, int LEVELS> struct LevelWeights {
    T weight[LEVELS > 0 ? LEVELS : 1];

    /* Of n elements, lanes of a group `step` apart. */
    __device__ __forceinline__ LevelWeights(int n, int step)
    {
#pragma unroll
        for (int level = 0; level < LEVELS; level++) {
            int fewer = n >> (log2_of(step) + LEVELS - level);
            weight[level] = (T)fewer / (T)(2 * fewer + 1);
        }
    }
};

/* The 16 vectors that a thread asks for at once: `LINES` lines of a lane, then those of the next lane in the order of the tree.

   In the place of elements that are not there it loads the class's first: loads behind predicates made ptxas spill 1200 bytes a thread. */
template <class K, int LINES> struct ColumnGroup {
    typedef typename K::A A;
    typedef typename A::T T;
    typedef typename A::Node Node;
    static constexpr int E = K::elements, VECTORS = 16, LANES = VECTORS / LINES, lanes_log2 = log2_constant(LANES);

    const Problem &p;
    const ColumnChunk &chunk;
    int first_lane, lane_step;
    int64_t pitch;      /* asked for anew by each group: places kept from group to group are 32 registers */
    unsigned there = 0; /* a bit a vector */
    Vector<K::bytes> got[VECTORS];
    /* Joins by LevelWeights: of vectors. Elements alone gain nothing by them, and var of two bytes spilled. */
    static constexpr bool weighted = A::counted && E > 1;
    struct NoWeights {
    };
    typedef typename std::conditional<weighted, LevelWeights<T, lanes_log2>, NoWeights>::type Weights;

    /* Of the lanes from first_lane on. */
    __device__ __forceinline__ ColumnGroup(const Problem &problem, const ColumnChunk &own, int first)
        : p(problem), chunk(own), first_lane(first),
          lane_step((problem.shape.classes << problem.shape.lanes_log2) >> lanes_log2),
          pitch(forgotten(problem.dims[problem.keep_rank].in))
    {
        /* All places first, from one base: computing each before its load was slower where three blocks shared the registers. */
        int64_t places[VECTORS];
        const unsigned char *column = chunk.column;
        if (E > 1 || p.reduce_rank == 1) {
            column = (const unsigned char *)forgotten((int64_t)(column + chunk.start * pitch));
#pragma unroll
            for (int v = 0; v < VECTORS; v++)
                places[v] = (unsigned)within(v) * pitch;
        } else {
#pragma unroll 1
            for (int v = 0; v < VECTORS; v++)
                rotate(places, VECTORS, seek_reduced(p, chunk.start + within(v)).in);
        }
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            there |= (unsigned)(element(v) < chunk.n) << v;
            load_vector<K>(got[v], column + places[v], E, p.recipe.in);
        }
    }

    __device__ __forceinline__ void fold(Node *node) const
    {
        with_known<K>(p.recipe, [&](auto in, auto map) {
            typedef decltype(in) In;
            constexpr int MAP = decltype(map)::value;
            if constexpr (compares_numbers_alone<A, In>()) {
                Vector<K::bytes> greatest = greatest_of<In, VECTORS>(p.recipe, got);
                lift<In, MAP>(greatest, node);
            } else {
                lanes<In, MAP, 0, LANES>(weights(), node);
            }
        });
    }

  private:
    /* Of the chunk, which has fewer where the vector is not there. */
    __device__ __forceinline__ int element(int v) const
    {
        return first_lane + reverse_bits(v / LINES, lanes_log2) * lane_step + v % LINES * p.recipe.lanes;
    }
    __device__ __forceinline__ int within(int v) const
    {
        return element(v) < chunk.n ? element(v) : chunk.own;
    }

    __device__ __forceinline__ bool is_there(int v) const
    {
        return there >> v & 1;
    }

    __device__ __forceinline__ Weights weights() const
    {
        if constexpr (weighted)
            return Weights(chunk.n, lane_step);
        else
            return {};
    }

    /* COUNT lanes from the group's lane FIRST on, and the elements of such a run. */
    template <class In, int MAP, int FIRST, int COUNT>
    __device__ __forceinline__ void lanes(const Weights &weights, Node *node) const
    {
        if constexpr (COUNT == 1) {
            lane<In, MAP, FIRST * LINES>(node);
        } else {
            constexpr int half = COUNT / 2;
            Node upper[E];
            lanes<In, MAP, FIRST, half>(weights, node);
            lanes<In, MAP, FIRST + half, half>(weights, upper);
            if (is_there((FIRST + half) * LINES)) {
                if constexpr (weighted) {
                    join_runs<FIRST, half>(weights, node, upper);
                } else {
                    int lower_count = A::counted ? elements<half>(FIRST) : 0;
                    int upper_count = A::counted ? elements<half>(FIRST + half) : 0;
#pragma unroll
                    for (int e = 0; e < E; e++)
                        node[e] = join_full<A>(node[e], upper[e], lower_count, upper_count);
                }
            }
        }
    }
    template <int FIRST, int COUNT>
    __device__ __forceinline__ void join_runs(const Weights &weights, Node *lower, const Node *upper) const
    {
        const int more = elements<COUNT>(FIRST);
        typename A::Pair pair = {};
        auto join = [&](bool equal) {
            pair.equal = equal;
#pragma unroll
            for (int e = 0; e < E; e++)
                lower[e] = A::join(lower[e], upper[e], &pair);
        };
        pair.half = (T)0.5 * (T)more;
        pair.greater = (T)more;
        pair.weight = weights.weight[log2_constant(COUNT)];
        if (more == elements<COUNT>(FIRST + COUNT)) /* asked once, not for every element */
            join(true);
        else
            join(false);
    }
    template <int COUNT> __device__ __forceinline__ int elements(int first) const
    {
        return elements_of_lane(chunk.n, element(first * LINES),
                                log2_of(lane_step) + lanes_log2 - log2_constant(COUNT));
    }

    template <class In, int MAP> __device__ __forceinline__ void lift(const Vector<K::bytes> &vector, Node *node) const
    {
#pragma unroll
        for (int e = 0; e < E; e++) {
            T x, y;
            read_element<A, In, MAP>(p.recipe, vector.word, e * K::size, x, y);
            node[e] = Step<A>::end(Step<A>::begin(x, y, 0), 1);
        }
    }

    /* Calls f(line, e, x, y) for the elements of the lane whose first vector is FIRST. */
    template <class In, int MAP, int FIRST, class F> __device__ __forceinline__ void each(F f) const
    {
#pragma unroll
        for (int line = 0; line < LINES; line++) {
            if (line > 0 && !is_there(FIRST + line))
                continue;
#pragma unroll
            for (int e = 0; e < E; e++) {
                T x, y;
                read_element<A, In, MAP>(p.recipe, got[FIRST + line].word, e * K::size, x, y);
                f(line, e, x, y);
            }
        }
    }

    template <class In, int MAP, int FIRST> __device__ __forceinline__ void lane(Node *node) const
    {
        if constexpr (LINES == 1 && (weighted || A::two_passes)) {
            each<In, MAP, FIRST>([&](int, int e, T x, T y) { node[e] = node_of_element<A>(x, y, 0); });
        } else if constexpr (A::two_passes) {
#pragma unroll
            for (int e = 0; e < E; e++)
                node[e] = {A::lowest(), 0};
            each<In, MAP, FIRST>([&](int, int e, T x, T) { node[e].m = A::greater(node[e].m, x); });
            each<In, MAP, FIRST>([&](int, int e, T x, T) { node[e].s = A::add(node[e].s, x, node[e].m); });
        } else {
            typename Step<A>::State state[E];
            each<In, MAP, FIRST>([&](int line, int e, T x, T y) {
                int64_t at = A::indexed ? index(FIRST + line) : 0;
                state[e] = line == 0 ? Step<A>::begin(x, y, at) : Step<A>::next(state[e], x, y, line, at);
            });
            int count = A::counted ? elements<1>(FIRST / LINES) : 0;
#pragma unroll
            for (int e = 0; e < E; e++)
                node[e] = Step<A>::end(state[e], count);
        }
    }

    __device__ __forceinline__ int64_t index(int v) const
    {
        return p.index_offset + seek_element(p, chunk.start + element(v)).out;
    }
};

/* The node of a thread's class of a chunk, from groups of LINES lines. */
template <class K, int LINES>
RDX_DEVICE void straight_class(const Problem &p, const ColumnStack<K> &stack, const ColumnChunk &chunk,
                               typename K::A::Node *node)
{
    constexpr int lanes_log2 = log2_constant(16 / LINES);
    const RdxCudaShape &s = p.shape;
    int groups_log2 = s.lanes_log2 - lanes_log2, classes_log2 = log2_of(s.classes);
    auto lane = [&](int64_t group) { return lane_of(s, chunk.own, (int)group << lanes_log2); };
    auto elements = [&](int64_t first, int log2) {
        return elements_of_lane(chunk.n, lane(first), classes_log2 + groups_log2 - log2);
    };
#pragma unroll 1
    for (int i = 0; i < 1 << groups_log2; i++) {
        ColumnGroup<K, LINES>(p, chunk, lane(i)).fold(node);
        stack.take(i, groups_log2, node, elements);
    }
}

/* The same, of as many lines as the longest lane has, but no more lanes a group than the thread has. */
template <class K>
RDX_DEVICE void straight_class(const Problem &p, const ColumnStack<K> &stack, const ColumnChunk &chunk,
                               typename K::A::Node *node)
{
    constexpr bool all = K::elements > 1; /* elements alone are little in flight either way */
    int longest = ((chunk.n - 1) >> log2_of(p.recipe.lanes)) + 1, fewest = 16 >> p.shape.lanes_log2;
    int lines = longest > fewest ? longest : fewest;
    if (chunk.own >= chunk.n)
        return;
    if (lines <= 1)
        straight_class<K, 1>(p, stack, chunk, node);
    else if (all && lines <= 2)
        straight_class<K, 2>(p, stack, chunk, node);
    else if (lines <= 4)
        straight_class<K, 4>(p, stack, chunk, node);
    else if (all && lines <= 8)
        straight_class<K, 8>(p, stack, chunk, node);
    else
        straight_class<K, 16>(p, stack, chunk, node);
}

/* Columns of aligned vectors become those of the tile: element e of a thread is the one `by` elements further on. */
template <class K>
RDX_DEVICE void shift_columns(const RdxCudaShape &s, const ColumnStack<K> &stack, const ColumnSeat &seat, int by,
                              typename K::A::Node *node)
{
    constexpr int E = K::elements;
    bool is_last = seat.vector == s.width - 1;
    ColumnStack<K> next = {stack.own + (is_last ? s.class_warps * s.stack_words - seat.vector : 1)};
    if ((seat.across + 1) * E > s.tile_columns) /* none behind it, and its columns are no one's */
        next = stack;
    stack.put(0, node);
    __syncthreads();
#pragma unroll
    for (int e = 0; e < E; e++)
        node[e] = e + by < E ? stack.get(0, e + by) : next.get(0, e + by - E);
    __syncthreads();
}

template <class K> RDX_DEVICE void straight_columns(const Problem &p, uint32_t *shared)
{
    typedef typename K::A A;
    const RdxCudaShape &s = p.shape;
    int thread = thread_of_warp();
    ColumnSeat seat(s, thread);
    ColumnStack<K> stack = {shared + warp_of_block() * s.stack_words + thread};
    Item item = item_of(p, (unsigned)blockIdx.x);
    int own = seat.class_of(s, item.residue);
    reduce_columns<K>(p, item, seat, stack, [&](int64_t tile, int, int64_t, int64_t, auto each_chunk) {
        const unsigned char *at = p.in + seek_output(p, item.first_output + tile).in;
        int64_t last = item.outputs - tile - 1; /* column of the tile */
        int by = 0;
        if (K::elements > 1 && s.shifted)
            by = (int)((uintptr_t)(at + own * p.dims[p.keep_rank].in) & 15) / K::size;
        /* Threads beyond the last column read the vector that has it. */
        int64_t vector = (last + by) / K::elements;
        vector = (seat.across < vector ? seat.across : vector) * K::elements - by;
        at += K::elements > 1 ? vector * K::size : vector * p.dims[p.keep_rank - 1].in;
        each_chunk([&](int64_t chunk, typename A::Node *node) {
            ColumnChunk here = {at, chunk * 16 * p.recipe.lanes, elements_of_chunk(p, chunk), own};
            straight_class<K>(p, stack, here, node);
            if (K::elements > 1 && s.shifted)
                shift_columns(s, stack, seat, by, node);
        });
    });
    end_item<A>(p, item, shared);
}

} // namespace rdx
#endif
