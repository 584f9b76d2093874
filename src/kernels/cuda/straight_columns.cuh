/* Columns straight from memory into registers. Threads have classes of lanes as in columns.cuh, but a thread asks for 8
   or 16 vectors, those of one long lane or of several short ones, before it folds the first, and nothing lies in shared
   memory but the stacks: a block starts and ends sooner than one with rings. An item is a block's only one.

   A vector is 8 or 16 bytes of packed columns (kernel_straight_columns.cu), or one element of columns of any strides
   (kernel_single_columns.cu).

   Shifted: rows of columns start anywhere, but the rows of a class all start as far behind a multiple of 16 bytes:
   lanes are as many as a line has elements, and cuda_columns.c takes enough classes. So threads fold aligned vectors as
   they lie, and what a class has come to is shifted, once a chunk, before classes meet. The last vector of a tile has
   what the one before it lacks. Every vector holds an element, so its 16 bytes are there, though the tensor's last may
   end among them: to load that one element by element, in a second copy of the code or by patching it, made blocks wait
   for instructions (1000 x 50257 bf16 55 and 38 us, not 33). */
#ifndef RDX_KERNELS_CUDA_STRAIGHT_COLUMNS_CUH
#define RDX_KERNELS_CUDA_STRAIGHT_COLUMNS_CUH

#include "columns.cuh"
#include "group_tree.cuh"

namespace rdx
{

/* Ops of which straight_columns takes chunks that fill their lanes: an only one, or several of a line at least. */
template <class A> constexpr bool fills_lanes()
{
    return A::algebra == RDX_ALGEBRA_VAR || (A::algebra == RDX_ALGEBRA_LSE && A::work == RDX_WORK_F32);
}

/* Elements of a vector, for ops whose nodes are small; 0 for others, which rings serve. */
template <class A> constexpr int straight_elements(int size)
{
    const int all = 16 / size;
    if (size == 1 || A::unit > 1 || A::indexed)
        return 0;
    if (fills_lanes<A>())
        return all < 16 / A::words ? all : 16 / A::words;
    return all * A::words <= 8 && !A::counted && !A::two_passes ? all : 0;
}

/* Whether a kernel for what straight_columns does not take has use for this op. */
template <class K> constexpr bool comes_otherwise()
{
    return straight_elements<typename K::A>(K::size) == 0 || fills_lanes<typename K::A>();
}

/* A chunk of a thread's vector of columns: n elements from `start` on, of which `own` is the first of its class. */
struct ColumnChunk {
    const unsigned char *column;
    int64_t start;
    int n, own;
};

/* Of its longest lane. */
RDX_DEVICE int lines_of_chunk(const Problem &p, int n)
{
    return ((n - 1) >> log2_of(p.recipe.lanes)) + 1;
}

/* What a chunk's lanes and joins ask for that is a quotient, worked out once. */
template <class A, bool COUNTED = A::counted> struct ChunkCounts {
    GroupPairs<A> pairs;
    __device__ __forceinline__ ChunkCounts(const Problem &, int n, int step_log2) : pairs(n, step_log2)
    {
    }
};
template <class A> struct ChunkCounts<A, true> {
    GroupPairs<A> pairs;
    int longest;           /* lines of a lane */
    typename A::T inverse, /* of as many; of one fewer */
        inverse_of_fewer;
    __device__ __forceinline__ ChunkCounts(const Problem &p, int n, int step_log2) : pairs(n, step_log2)
    {
        longest = lines_of_chunk(p, n);
        inverse = (typename A::T)1 / (typename A::T)longest;
        inverse_of_fewer = (typename A::T)1 / (typename A::T)(longest > 1 ? longest - 1 : 1);
    }
};

/* The vectors that a thread asks for at once, 8 or 16: `LINES` lines of a lane, then those of the next lane of the
   group.

   In the place of elements that are not there it loads others: loads behind predicates made ptxas spill 1200 bytes a
   thread. */
template <class K, int LINES> struct ColumnGroup {
    typedef typename K::A A;
    typedef typename A::T T;
    typedef typename A::Node Node;
    static constexpr int E = K::elements, FEWEST = RDX_CUDA_STRAIGHT_VECTORS(E, K::A::words),
                         VECTORS = FEWEST > LINES ? FEWEST : LINES, LANES = VECTORS / LINES,
                         lanes_log2 = log2_constant(LANES);
    /* A chunk has more than half of the lanes of a group: an only one, as a plan has the least power of two of them
       that is enough. */
    static constexpr bool half_there = E > 1 && fills_lanes<A>();

    const Problem &p;
    const ColumnChunk &chunk;
    const ChunkCounts<A> &counts;
    int first_lane, step_log2;
    int there; /* how many lanes are, the first ones */
    Vector<K::bytes> got[VECTORS];

    /* Of the lanes `first`, first + 2^step_log2, ... */
    __device__ __forceinline__ ColumnGroup(const Problem &problem, const ColumnChunk &own,
                                           const ChunkCounts<A> &of_chunk, int first, int log2)
        : p(problem), chunk(own), counts(of_chunk), first_lane(first), step_log2(log2),
          there(((own.n - 1 - first) >> log2) + 1)
    {
        if (E > 1 || p.reduce_rank == 1)
            load_along();
        else
            load_anywhere();
    }

    __device__ __forceinline__ void fold(Node *node) const
    {
        with_known<K>(p.recipe, [&](auto in, auto map) RDX_INLINED {
            typedef decltype(in) In;
            constexpr int MAP = decltype(map)::value;
            if constexpr (compares_numbers_alone<A, In>()) {
                Vector<K::bytes> greatest = greatest_of<In, VECTORS>(p.recipe, got);
                lift<In, MAP>(greatest, node);
            } else {
                join_group(Lanes<In, MAP>{*this}, node);
            }
        });
    }

  private:
    /* All from one base, in the order in which join_group takes lanes. What is not there is the last that is. */
    __device__ __forceinline__ void load_along()
    {
        const int64_t pitch = forgotten(p.dims[p.keep_rank].in), each = pitch << step_log2,
                      line = LINES > 1 ? pitch << log2_of(p.recipe.lanes) : 0;
        const unsigned char *first =
            chunk.column + (chunk.start + (half_there || there > 0 ? first_lane : chunk.own)) * pitch;
        const unsigned last = there > 0 ? there - 1 : 0;
#pragma unroll
        for (int i = 0; i < LANES; i++) {
            const int r = reverse_bits(i, lanes_log2);
            const unsigned char *lane = first + (is_surely_there(r) || r < last ? r : last) * each;
            const int lines = lines_of(r);
            const unsigned last_line = lines > 0 ? lines - 1 : 0;
#pragma unroll
            for (int l = 0; l < LINES; l++)
                load_vector<K>(got[r * LINES + l], lane + (l < last_line ? l : last_line) * line, E, p.recipe.in);
        }
    }
    __device__ __forceinline__ void load_anywhere()
    {
        int64_t places[VECTORS];
#pragma unroll 1
        for (int v = 0; v < VECTORS; v++) {
            int element = element_of(v / LINES, v % LINES);
            rotate(places, VECTORS, seek_reduced(p, chunk.start + (element < chunk.n ? element : chunk.own)).in);
        }
#pragma unroll
        for (int v = 0; v < VECTORS; v++)
            load_vector<K>(got[v], chunk.column + places[v], E, p.recipe.in);
    }

    /* Of the chunk. */
    __device__ __forceinline__ int element_of(int r, int line) const
    {
        return first_lane + (r << step_log2) + line * p.recipe.lanes;
    }
    __device__ __forceinline__ int lines_of(int r) const
    {
        return LINES > 1 ? ((chunk.n - 1 - element_of(r, 0)) >> log2_of(p.recipe.lanes)) + 1 : 1;
    }
    /* Of logsumexp all are asked about: without branches ptxas puts loads of other lanes behind its joins (1024 x 64 x
       1024 f32 104 us, and 85). */
    static __device__ __forceinline__ constexpr bool is_surely_there(int r)
    {
        return half_there && A::counted && r < LANES / 2;
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

    /* The lanes as join_group wants them. */
    template <class In, int MAP> struct Lanes {
        typedef typename K::A A;
        typedef typename A::Node Node;
        static constexpr int E = K::elements, LANES = ColumnGroup::LANES;
        static constexpr bool ALONE = LINES == 1;
        /* Of more lines few lanes are so short, and loads of the others would wait behind the question. */
        static constexpr bool alone_is_less = LINES <= 2 && (A::counted || A::two_passes);

        const ColumnGroup &group;

        __device__ __forceinline__ bool is_there(int r) const
        {
            return is_surely_there(r) || r < group.there;
        }
        template <int H> __device__ __forceinline__ typename A::Pair pair(int r) const
        {
            return group.counts.pairs.template of<H>(group.element_of(r, 0));
        }

        /* Nodes that counts or exponentials go into are made of an element alone where a lane is no more. */
        template <int R> __device__ __forceinline__ void lane(Node *node) const
        {
            if constexpr (alone_is_less) {
#pragma unroll
                for (int e = 0; e < E; e++) {
                    T x, y;
                    element<R>(0, e, x, y);
                    node[e] = leaf_node<A, is_upper<Lanes, R>()>(x, y, 0);
                }
                if (LINES > 1 && group.lines_of(R) > 1)
                    fold_lines<R>(node);
            } else {
                fold_lines<R>(node);
            }
        }

      private:
        template <int R> __device__ __forceinline__ void element(int line, int e, T &x, T &y) const
        {
            read_element<A, In, MAP>(group.p.recipe, group.got[R * LINES + line].word, e * K::size, x, y);
        }
        template <int R> __device__ __forceinline__ void fold_lines(Node *node) const
        {
            if constexpr (A::two_passes) {
#pragma unroll
                for (int e = 0; e < E; e++)
                    node[e] = {A::lowest(), 0};
                each<R>([&](int, int e, T x, T) RDX_INLINED { node[e].m = A::greater(node[e].m, x); });
                each<R>([&](int, int e, T x, T) RDX_INLINED { node[e].s = A::add(node[e].s, x, node[e].m); });
            } else {
                typename Step<A>::State state[E];
                each<R>([&](int line, int e, T x, T y) RDX_INLINED {
                    int64_t at = A::indexed ? index(R, line) : 0;
                    state[e] = line == 0 ? Step<A>::begin(x, y, at) : Step<A>::next(state[e], x, y, line, at);
                });
                end<R>(state, node);
            }
        }
        /* Calls f(line, e, x, y) for the elements of a lane. */
        template <int R, class F> __device__ __forceinline__ void each(F f) const
        {
            const int lines = group.lines_of(R);
#pragma unroll
            for (int line = 0; line < LINES; line++) {
                if (line > (alone_is_less ? 1 : 0) && line >= lines)
                    continue;
#pragma unroll
                for (int e = 0; e < E; e++) {
                    T x, y;
                    element<R>(line, e, x, y);
                    f(line, e, x, y);
                }
            }
        }
        template <int R> __device__ __forceinline__ void end(const typename Step<A>::State *state, Node *node) const
        {
            if constexpr (A::counted) {
                const ChunkCounts<A> &counts = group.counts;
                T inverse = group.lines_of(R) < counts.longest ? counts.inverse_of_fewer : counts.inverse;
#pragma unroll
                for (int e = 0; e < E; e++)
                    node[e] = A::seal_by(state[e], inverse);
            } else {
#pragma unroll
                for (int e = 0; e < E; e++)
                    node[e] = Step<A>::end(state[e], 0);
            }
        }
        __device__ __forceinline__ int64_t index(int r, int line) const
        {
            return group.p.index_offset + seek_element(group.p, group.chunk.start + group.element_of(r, line)).out;
        }
    };
};

/* A thread's runs, each of which has a lane, meet on its stack: `node` is the (i + 1)-th of 2^levels, of lanes `lane`,
   lane + 2^step_log2, ... */
template <class K>
RDX_DEVICE void push_lanes(const ColumnStack<K> &stack, int n, int i, int levels, int lane, int step_log2,
                           typename K::A::Node *node)
{
    typedef typename K::A A;
    int level = 0;
#pragma unroll 1
    for (; i >> level & 1; level++) {
        typename A::Node lower[K::elements];
#pragma unroll
        for (int e = 0; e < K::elements; e++)
            lower[e] = stack.get(level, e);
        lane -= 1 << --step_log2;
        join_vectors<A, K::elements>(lower, node, pair_of_lanes<A>(n, lane, step_log2));
#pragma unroll
        for (int e = 0; e < K::elements; e++)
            node[e] = lower[e];
    }
    if (level < levels)
        stack.put(level, node);
}

/* The node of a thread's class of a chunk, from groups of LINES lines. */
template <class K, int LINES>
RDX_DEVICE void straight_class(const Problem &p, const ColumnStack<K> &stack, const ColumnChunk &chunk,
                               typename K::A::Node *node)
{
    typedef typename K::A A;
    typedef ColumnGroup<K, LINES> Group;
    const RdxCudaShape &s = p.shape;
    int groups_log2 = s.lanes_log2 - Group::lanes_log2, step_log2 = log2_of(s.classes) + groups_log2;
    const ChunkCounts<A> counts(p, chunk.n, step_log2);
    auto lane = [&](int64_t group) { return lane_of(s, chunk.own, (int)group << Group::lanes_log2); };
#pragma unroll 1
    for (int i = 0; i < 1 << groups_log2; i++) {
        int first = lane(i);
        Group(p, chunk, counts, first, step_log2).fold(node);
        if constexpr (Group::half_there)
            push_lanes(stack, chunk.n, i, groups_log2, first, step_log2, node);
        else
            stack.take(i, groups_log2, node,
                       [&](int64_t run, int log2) { return elements_of_lane(chunk.n, lane(run), step_log2 - log2); });
    }
}

/* The same, of as many lines as the longest lane has, but no more lanes a group than the thread has. */
template <class K>
RDX_DEVICE void straight_class(const Problem &p, const ColumnStack<K> &stack, const ColumnChunk &chunk,
                               typename K::A::Node *node)
{
    constexpr bool all = K::elements > 1; /* elements alone are little in flight either way */
    constexpr int vectors = RDX_CUDA_STRAIGHT_VECTORS(K::elements, K::A::words);
    int longest = lines_of_chunk(p, chunk.n), fewest = vectors >> p.shape.lanes_log2;
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
    reduce_columns<K>(p, item, seat, stack, [&](int64_t tile, int, int64_t, int64_t, auto each_chunk) RDX_INLINED {
        const unsigned char *at = p.in + seek_output(p, item.first_output + tile).in;
        int64_t last = item.outputs - tile - 1; /* column of the tile */
        int by = 0;
        if (K::elements > 1 && s.shifted)
            by = (int)((uintptr_t)(at + own * p.dims[p.keep_rank].in) & 15) / K::size;
        /* Threads beyond the last column read the vector that has it. */
        int64_t vector = (last + by) / K::elements;
        vector = (seat.across < vector ? seat.across : vector) * K::elements - by;
        at += K::elements > 1 ? vector * K::size : vector * p.dims[p.keep_rank - 1].in;
        each_chunk([&](int64_t chunk, typename A::Node *node) RDX_INLINED {
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
