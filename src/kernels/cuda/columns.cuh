/* A warp reads packed columns: `width` vectors side by side, and where the rows are narrower than 512 bytes 32 / width
   rows at once. A thread owns a vector of columns and takes the lanes of one class, j = class (mod classes), one after
   the other in bit-reversed order: up to 16 vectors from its ring (ring.cuh) make a lane, finished lanes meet on a
   stack of the thread's own, so there is no barrier inside a chunk. Classes differ, from the lowest bits of j up, by
   the block (residue), the thread's row among those side by side, and the warp; they are joined in the opposite order,
   as the tree wants: warps in shared memory, then rows by shuffles.

   Ops that are exact and find no index take their class as it comes, through rings element after element of all chunks
   (ClassSource): short lanes and partial lines cost them nothing. H200, us: sum i8 over the middle of 512 x 512 x 1024
   93, 70; max of 1048 x 1000 x 256 143, 72. The threads of row 0 in the warps of class 0 hold the results. */
#ifndef RDX_KERNELS_CUDA_COLUMNS_CUH
#define RDX_KERNELS_CUDA_COLUMNS_CUH

#include "block.cuh"
#include "lanes.cuh"

namespace rdx
{

/* Where a thread stands in its block. */
struct ColumnSeat {
    int vector, row; /* in the warp's row of vectors; among the rows side by side */
    int across;      /* first vector of the warp in the block's tile, and that of this thread */
    int warp_class;

    __device__ __forceinline__ ColumnSeat(const RdxCudaShape &s, int thread)
    {
        int warp = warp_of_block();
        vector = thread & (s.width - 1);
        row = thread >> log2_of(s.width);
        warp_class = warp & (s.class_warps - 1);
        across = (warp >> log2_of(s.class_warps)) * s.width + vector;
    }

    /* The thread's class among s.classes, for a block of this residue. */
    __device__ __forceinline__ int class_of(const RdxCudaShape &s, int residue) const
    {
        return residue + s.residues * (row + s.rows_at_once * warp_class);
    }
};

/* Lane i in the order in which a thread takes the lanes of its class. */
RDX_DEVICE int lane_of(const RdxCudaShape &s, int lane_class, int i)
{
    return lane_class + s.classes * reverse_bits(i, s.lanes_log2);
}

/* Lines of every lane of a chunk of n elements, where they have equally many and fill groups (several groups a lane or
   several lanes a group); else 0. */
RDX_DEVICE int even_lines(const Problem &p, int n)
{
    const RdxCudaShape &s = p.shape;
    int lines = n & (p.recipe.lanes - 1) ? 0 : n >> log2_of(p.recipe.lanes);
    if (n == s.classes << s.lanes_log2)
        lines = 1;
    bool fills = lines < group_vectors ? lines == group_vectors >> s.group_lanes_log2 : lines % group_vectors == 0;
    return fills ? lines : 0;
}

/* Of the vector of which `columns`, at most, lie before the end of a tile; 0 or fewer: none. */
template <class K> RDX_DEVICE int bytes_of_columns(int columns)
{
    int left = columns * K::size;
    return left <= 0 ? 0 : left < 16 ? left : 16;
}

/* A vector, of which the first `bytes` are there, as a whole or in pieces. */
template <int PIECE> RDX_DEVICE void copy_vector(SharedAt slot, const unsigned char *from, int bytes)
{
    if constexpr (PIECE == 16) {
        copy_async(slot, from, bytes);
    } else {
#pragma unroll
        for (int i = 0; i < 16; i += PIECE)
            copy_piece<PIECE>(slot + i, from + i, i < bytes);
    }
}

/* What a thread reads of a tile of an item's columns, in order: chunks, lanes, lines; by vectors or pieces of them. */
template <class K, int PIECE = 16> struct ColumnSource {
    static constexpr int E = K::elements;

    const Problem &p;
    const unsigned char *column; /* this thread's vector of columns */
    const unsigned char *at;     /* its next vector, where there is one reduced dim */
    int64_t far;                 /* from line to line then */
    int64_t chunk, end;
    int even, lane_class, bytes /* of the vector that are columns */, n, i = 0, line = 0;

    __device__ __forceinline__ ColumnSource(const Problem &problem, int64_t first_output, int columns, int64_t first,
                                            int64_t chunks, int own_class)
        : p(problem), chunk(first), end(first + chunks), lane_class(own_class)
    {
        bytes = bytes_of_columns<K>(columns);
        column = p.in + (bytes > 0 ? seek_output(p, first_output).in : 0);
        far = p.reduce_rank == 1 ? p.dims[p.keep_rank].in * p.recipe.lanes : 0;
        if (bytes == 0)
            end = chunk;
        open_chunk();
    }

    __device__ __forceinline__ void issue(SharedAt slot)
    {
        if (chunk >= end)
            return;
        if (even == 0 || p.reduce_rank != 1) {
            issue_part(slot);
        } else if (even < group_vectors) {
            issue_few(slot);
        } else {
#pragma unroll
            for (int u = 0; u < group_vectors; u++, at += far)
                copy(slot + u * line_bytes, at);
            line += group_vectors;
            if (line == even)
                next_lanes(1);
        }
    }

  private:
    __device__ __forceinline__ void copy(SharedAt slot, const unsigned char *from) const
    {
        copy_vector<PIECE>(slot, from, bytes);
    }

    __device__ __forceinline__ int lane(int l) const
    {
        return lane_of(p.shape, lane_class, i + l);
    }

    /* Lanes of one or two lines. */
    __device__ __forceinline__ void issue_few(SharedAt slot)
    {
        const unsigned char *first = column + chunk * 16 * p.recipe.lanes * p.dims[p.keep_rank].in;
#pragma unroll
        for (int u = 0; u < group_vectors; u++) {
            int l = even == 1 ? u : u / 2;
            const unsigned char *from = first + lane(l) * p.dims[p.keep_rank].in + (even == 2 && u % 2 ? far : 0);
            copy(slot + u * line_bytes, from);
        }
        next_lanes(1 << p.shape.group_lanes_log2);
    }

    __device__ __forceinline__ void issue_part(SharedAt slot)
    {
        int lanes = 1 << p.shape.group_lanes_log2, each = group_vectors >> p.shape.group_lanes_log2, lines = 0;
#pragma unroll 1
        for (int l = 0; l < lanes; l++) {
            lines = elements_of_lane(n, lane(l), log2_of(p.recipe.lanes));
            int64_t element = chunk * 16 * p.recipe.lanes + lane(l) + line * p.recipe.lanes;
#pragma unroll 1
            for (int u = 0; u < each && line + u < lines; u++, element += p.recipe.lanes)
                copy(slot + (l * each + u) * line_bytes, column + seek_reduced(p, element).in);
        }
        line += each;
        if (line >= lines)
            next_lanes(lanes);
    }

    __device__ __forceinline__ void next_lanes(int lanes)
    {
        line = 0;
        i += lanes;
        if (i == 1 << p.shape.lanes_log2) {
            i = 0;
            chunk++;
            open_chunk();
        } else {
            open_lane();
        }
    }

    __device__ __forceinline__ void open_chunk()
    {
        n = elements_of_chunk(p, chunk);
        even = even_lines(p, n);
        open_lane();
    }

    __device__ __forceinline__ void open_lane()
    {
        if (p.reduce_rank == 1)
            at = column + (chunk * 16 * p.recipe.lanes + lane(0)) * p.dims[p.keep_rank].in;
    }
};

/* Whether a class is taken as it comes, whatever the lanes and chunks. */
template <class A> RDX_DEVICE constexpr bool takes_any_order()
{
    return is_exact<A>() && !A::indexed;
}

/* What a thread reads of it: element after element of its class, of all chunks. */
template <class K, int PIECE = 16> struct ClassSource {
    const Problem &p;
    const unsigned char *column; /* this thread's vector of columns */
    const unsigned char *at;     /* its next vector, where there is one reduced dim */
    int64_t far;                 /* from element to element then */
    int64_t element;             /* the next one */
    int64_t vectors, left;       /* how many there are; that have not been asked for */
    int bytes;                   /* of the vector that are columns */

    __device__ __forceinline__ ClassSource(const Problem &problem, int64_t first_output, int columns, int64_t first,
                                           int64_t chunks, int own_class)
        : p(problem)
    {
        bytes = bytes_of_columns<K>(columns);
        column = p.in + (bytes > 0 ? seek_output(p, first_output).in : 0);
        element = first * 16 * p.recipe.lanes + own_class;
        int64_t n = elements_of_chunks(p, first, chunks);
        left = vectors = bytes > 0 && own_class < n ? ((n - 1 - own_class) >> log2_of(p.shape.classes)) + 1 : 0;
        far = p.reduce_rank == 1 ? p.dims[p.keep_rank].in * p.shape.classes : 0;
        at = column + (p.reduce_rank == 1 ? element * p.dims[p.keep_rank].in : 0);
    }

    __device__ __forceinline__ void issue(SharedAt slot)
    {
        if (left >= group_vectors && p.reduce_rank == 1) {
#pragma unroll
            for (int u = 0; u < group_vectors; u++, at += far)
                copy_vector<PIECE>(slot + u * line_bytes, at, bytes);
        } else {
#pragma unroll 1
            for (int u = 0; u < group_vectors && u < left; u++, at += far, element += p.shape.classes)
                copy_vector<PIECE>(slot + u * line_bytes,
                                   p.reduce_rank == 1 ? at : column + seek_reduced(p, element).in, bytes);
        }
        left -= group_vectors;
    }
};

/* Nodes of a thread's vector of columns, words apart by 32: level after level of finished runs. */
template <class K> struct ColumnStack {
    typedef typename K::A A;
    typedef typename A::Node Node;
    static constexpr int E = K::elements, words = E * A::words;

    uint32_t *own; /* of this thread */

    __device__ __forceinline__ Node get(int level, int e) const
    {
        return get_node<A>(own + (level * words + e * A::words) * 32, 32);
    }
    __device__ __forceinline__ void put_one(int level, int e, const Node &node) const
    {
        put_node<A>(own + (level * words + e * A::words) * 32, 32, node);
    }
    __device__ __forceinline__ void put(int level, const Node *node) const
    {
#pragma unroll
        for (int e = 0; e < E; e++)
            put_one(level, e, node[e]);
    }

    /* node := join(what lies at `level`, node), of na and nb elements; either may be 0 unless WHOLE. */
    template <bool WHOLE = false>
    __device__ __forceinline__ void join_below(int level, Node *node, int64_t na, int64_t nb) const
    {
        if (!WHOLE && na == 0)
            return;
#pragma unroll
        for (int e = 0; e < E; e++) {
            Node other = get(level, e);
            node[e] = !WHOLE && nb == 0 ? other : join_full<A>(other, node[e], na, nb);
        }
    }

    /* The (i + 1)-th run of its kind, of which the 2^levels-th is the last and stays with the caller; elements(first,
       log2) counts the 2^log2 runs from `first` on. WHOLE: runs of one kind are equally long. */
    template <bool WHOLE = false, class Elements>
    __device__ __forceinline__ void push(int64_t i, int levels, Node *node, Elements elements) const
    {
        int level = 0;
#pragma unroll 1
        for (; i >> level & 1; level++) {
            int64_t right = i + 1 - ((int64_t)1 << level);
            int64_t count = elements(right, level);
            join_below<WHOLE>(level, node, WHOLE ? count : elements(right - ((int64_t)1 << level), level), count);
        }
        if (level < levels)
            put(level, node);
    }

    /* The same for nodes that may be joined in any order: all of them on level 0. */
    template <class Elements>
    __device__ __forceinline__ void add(int64_t i, int levels, Node *node, Elements elements) const
    {
        bool first = i == 0, last = i + 1 == (int64_t)1 << levels;
        int64_t before = first ? 0 : elements(0, 0), here = elements(i, 0);
        join_below(0, node, before, here);
        if (!last && before + here > 0)
            put(0, node);
    }

    /* The same of nodes that are all there, one after the other. */
    __device__ __forceinline__ void gather(bool begins, bool ends, Node *node) const
    {
        if (!begins)
            join_below(0, node, 1, 1);
        if (!ends)
            put(0, node);
    }

    /* Whichever the op allows. */
    template <class Elements>
    __device__ __forceinline__ void take(int64_t i, int levels, Node *node, Elements elements) const
    {
        if constexpr (is_exact<A>())
            add(i, levels, node, elements);
        else
            push(i, levels, node, elements);
    }
};

/* Joins the runs of `chunks` chunks that lie on a stack; the ragged right edge moves up. */
template <class K>
RDX_DEVICE void finish_chunks(const Problem &p, const ColumnStack<K> &stack, int64_t first_chunk, int64_t chunks,
                              typename K::A::Node *node)
{
    int level = __ffsll(chunks) - 1;
    int64_t first = chunks - ((int64_t)1 << level);
#pragma unroll
    for (int e = 0; e < K::elements; e++)
        node[e] = stack.get(level, e);
#pragma unroll 1
    while (first > 0) {
        level = __ffsll(first) - 1;
        int64_t run = (int64_t)1 << level;
        stack.join_below(level, node, elements_of_chunks(p, first_chunk + first - run, run),
                         elements_of_chunks(p, first_chunk + first, chunks - first));
        first -= run;
    }
}

/* T(classes of a row, .) in COUNT nodes of each thread becomes that of the block's residue, by shuffles of rows. */
template <class K, int COUNT>
RDX_DEVICE void join_rows(const Problem &p, const ColumnSeat &seat, int residue, int n, typename K::A::Node *node)
{
    typedef typename K::A A;
    const RdxCudaShape &s = p.shape;
#pragma unroll 1
    for (int half = s.rows_at_once / 2; half >= 1; half /= 2) {
        int r = residue + s.residues * (seat.row & (half - 1)), h = s.residues * half;
#pragma unroll
        for (int e = 0; e < COUNT; e++)
            node[e] = join_halves<A>(node[e], shuffle_xor<A>(node[e], half * s.width), seat.row & half, n, h, r);
    }
}

/* The node of a block's residue of a chunk of n elements from those of its classes, in row 0 of the warps of class 0.
   First warps, then the rows of a warp meet, over the lowest level of their stacks: of the warps that share columns
   each joins some elements of all their vectors. */
template <class K>
RDX_DEVICE void join_classes(const Problem &p, const ColumnStack<K> &stack, const ColumnSeat &seat, int residue, int n,
                             typename K::A::Node *node)
{
    typedef typename K::A A;
    constexpr int E = K::elements;
    const RdxCudaShape &s = p.shape;
    const int warps = forgotten(s.class_warps); /* nothing of what follows is worked out before the first load */
    if (warps == 1) {
        join_rows<K, E>(p, seat, residue, n, node);
        return;
    }
    const int warps_log2 = log2_of(warps), step = s.residues * s.rows_at_once;
    const int row_class = residue + s.residues * seat.row;
    const ColumnStack<K> first = {stack.own - seat.warp_class * s.stack_words};
    auto of_warp = [&](int i) { return ColumnStack<K>{first.own + i * s.stack_words}; };
    stack.put(0, node);
    __syncthreads();
    if constexpr (!joins_briefly<A>()) {
#pragma unroll 1
        for (int half_log2 = warps_log2 - 1; half_log2 >= 0; half_log2--) {
            const int half = 1 << half_log2, log2 = log2_of(2 * half * step);
#pragma unroll 1
            for (int pair = seat.warp_class; pair < half * E; pair += warps) {
                int i = pair & (half - 1), e = pair >> half_log2, own = row_class + step * i, other = own + half * step;
                if (other < n)
                    of_warp(i).put_one(0, e,
                                       join_full<A>(of_warp(i).get(0, e), of_warp(i + half).get(0, e),
                                                    elements_of_lane(n, own, log2), elements_of_lane(n, other, log2)));
            }
            __syncthreads();
        }
    }
#pragma unroll 1
    for (int e = seat.warp_class; e < E; e += warps) {
        typename A::Node joined = first.get(0, e);
        if constexpr (joins_briefly<A>())
            joined = join_few<A>(
                warps, [&](int i) { return of_warp(reverse_bits(i, warps_log2)).get(0, e); },
                [&](int i) { return row_class + step * reverse_bits(i, warps_log2) < n; });
        join_rows<K, 1>(p, seat, residue, n, &joined);
        first.put_one(0, e, joined);
    }
    __syncthreads();
    if (seat.warp_class == 0)
#pragma unroll
        for (int e = 0; e < E; e++)
            node[e] = stack.get(0, e);
}

/* What every block does with an item of columns: tile after tile, each thread folds the chunks of its vector, and
   results leave. prepare(tile, left, first, chunks, each_chunk) readies a thread for its vector of the tile that begins
   `tile` outputs into the item, of which `left` (at most a vector, 0 or fewer: none) are columns, and calls
   each_chunk(fold), where fold(chunk, node) makes the node of the thread's class of a chunk, AT_ONCE: of all chunks. */
template <class K, bool AT_ONCE = false, class Prepare>
RDX_DEVICE void reduce_columns(const Problem &p, const Item &item, const ColumnSeat &seat, const ColumnStack<K> &stack,
                               Prepare prepare)
{
    typedef typename K::A A;
    constexpr int E = K::elements;
    const RdxCudaShape &s = p.shape;
    ColumnStack<K> chunk_stack = {stack.own + s.lane_levels * ColumnStack<K>::words * 32};
    int64_t first = item.part * s.part_chunks, chunks = end_of_part(s, item) - first;
    auto elements = [&](int64_t at, int log2) { return elements_of_chunks(p, first + at, (int64_t)1 << log2); };
#pragma unroll 1
    for (int64_t tile = 0; tile < item.outputs; tile += s.tile_columns) {
        typename A::Node node[E];
#pragma unroll
        for (int i = 0; i < E; i++)
            node[i] = unset<A>();
        int64_t column = tile + seat.across * E;
        int64_t end = tile + s.tile_columns < item.outputs ? tile + s.tile_columns : item.outputs;
        int left = end - column < E ? (int)(end - column) : E;
        prepare(tile, left, first, chunks, [&](auto fold) RDX_INLINED {
            if constexpr (AT_ONCE) {
                int64_t n = elements_of_chunks(p, first, chunks);
                fold(first, node);
                join_classes(p, stack, seat, item.residue, (int)(n < 1 << 30 ? n : 1 << 30), node);
            } else {
#pragma unroll 1
                for (int64_t c = 0; c < chunks; c++) {
                    fold(first + c, node);
                    join_classes(p, stack, seat, item.residue, elements_of_chunk(p, first + c), node);
                    if (chunks > 1)
                        chunk_stack.take(c, 62, node, elements);
                }
            }
        });
        if (!is_exact<A>() && chunks > 1)
            finish_chunks(p, chunk_stack, first, chunks, node);
        if (seat.warp_class == 0 && seat.row == 0 && left > 0)
            deliver_vector<K>(p, item, column, node, left);
    }
}

} // namespace rdx
#endif
