/* straight: contiguous rows of whole, aligned vectors, straight from memory into registers. Warps share rows as in block_x and global
   (rows.cuh), but a thread asks for all its vectors of a chunk before it folds the first, and nothing lies in shared memory but what
   the warps of a block and the parts of an output have to say to each other: a block starts and ends sooner. On an H200, through the
   rings of block_x and this way: 64K f32 in one 6.5 and 3.1 us, 1M 7.4 and 4.6, 4096 x 4096 20.2 and 17.5, 32 x 1M 41.7 and 33.6, 64K x 4K
   239.4 and 237.1.

   While a warp folds, it asks for nothing; where folding takes long and goes on for long, the rings are ahead (cuda_rows.c). Tried and
   lost: the next chunk's vectors in the place of those just folded (max over 64K x 4K 455 us, not 243) or behind the last of them
   (argmax 292, not 277): loads and shuffles wait for each other at six scoreboards; 4 or 8 vectors at a time and up to five blocks a
   multiprocessor (64K x 4K 256 to 276).

   logsumexp, which looks at its vectors twice and folds longest, has a way of its own (straight_twice).

   An output is stored once and is a group of its own, and a block has one item. */
#include "rows.cuh"

namespace rdx
{

static constexpr int chunk_lines = 16;

/* The nodes of a chunk of n elements, of which this thread's first vector lies at `at`; an unmasked map, and indices that ascend. */
template <class K>
RDX_DEVICE void straight_chunk(const Problem &p, const unsigned char *at, int64_t chunk, int n, int thread,
                               typename K::A::Node *node)
{
    typedef Lanes<K, true> Fold;
    typedef typename Fold::First First;
    constexpr int E = K::elements, lanes = 32 * E, log2 = log2_constant(lanes);
    int slot = thread * E, whole = n >> log2, rest = (n & (lanes - 1)) - slot;
    Fold fold = {p};
    typename First::State state[Fold::STATES];
    bool begun = whole > 0;
    Vector<16> got[chunk_lines], last;
#pragma unroll
    for (int line = 0; line < chunk_lines; line++)
        if (line < whole)
            load<16>(got[line].word, at + line * line_bytes);
    if (rest > 0)
        load_vector<K>(last, at + whole * line_bytes, rest < E ? rest : E, p.recipe.in);
    Fold::template clear<First>(state);
    auto count = [&](int e) { return elements_of_lane(n, slot + e, log2); };
    with_unmasked<K>(p.recipe, [&](auto in, auto map) {
#pragma unroll
        for (int line = 0; line < chunk_lines; line++)
            if (line < whole)
                fold.template fold<First, decltype(in), decltype(map)::value, 1>(state, got + line, line);
        if (rest > 0)
            fold.template fold_ends<First, decltype(in), decltype(map)::value>(state, last, whole, count, begun);
    });
    fold.template end<First>(
        state, count, [&](int e, int line) { return (chunk * 16 + line) * lanes + slot + e; }, node);
}

/* The same of logsumexp, which looks at its vectors twice where they lie. Code knows registers by name, so lines come in
   whole groups, each there or not; up to three lines behind them go round in the place of the last group. A group is
   one piece of code, because four vectors hide each other's latency and one does not: 15.2 instructions an element of
   f32 line by line, 13.6 this way, and 1.2 for the first look. `more`: another whole chunk follows. It is brought as far
   as the second cache meanwhile, which takes no registers: a chunk is some 1200 instructions, and a warp that folds asks
   for nothing else. */
template <class K>
RDX_DEVICE void straight_twice(const Problem &p, const unsigned char *at, int n, bool more, int thread,
                               typename K::A::Node *node)
{
    typedef typename K::A A;
    constexpr int E = K::elements, lanes = 32 * E, log2 = log2_constant(lanes), G = group_vectors;
    int whole = n >> log2, groups = (unsigned)whole / G, odd = whole & (G - 1), rest = (n & (lanes - 1)) - thread * E;
    Vector<16> got[chunk_lines], *behind = got + chunk_lines - G, last;
#pragma unroll
    for (int line = 0; line < chunk_lines; line++)
        if (line / G < groups)
            load<16>(got[line].word, at + line * line_bytes);
    if (odd > 0) {
        const unsigned char *line = at + groups * G * line_bytes;
#pragma unroll
        for (int u = 0; u < G - 1; u++)
            if (u < odd)
                load<16>(behind[u].word, line + u * line_bytes);
    }
    if (rest > 0)
        load_vector<K>(last, at + whole * line_bytes, rest < E ? rest : E, p.recipe.in);
    if (more) {
        const unsigned char *next = at + chunk_bytes + thread * (fetched_bytes - 16); /* 16: at is the thread's */
#pragma unroll
        for (int i = 0; i < chunk_bytes; i += 32 * fetched_bytes)
            fetch_ahead(next + i);
    }
    with_input<K>(p.recipe.in, [&](auto in) {
        typedef decltype(in) In;
        typename A::T x, y;
        Greatest<K, In> greatest(p.recipe);
#pragma unroll
        for (int g = 0; g < chunk_lines / G; g++)
            if (g < groups)
                greatest.template look<G>(got + g * G);
        if (odd > 0) {
#pragma unroll
            for (int u = 0; u < G - 1; u++)
                if (u < odd)
                    greatest.template look<1>(behind + u);
        }
        greatest.end(node);
        if (rest > 0) {
#pragma unroll
            for (int e = 0; e < E; e++) {
                read_element<A, In>(p.recipe, last.word, e * K::size, x, y);
                node[e].m = e < rest ? A::greater(node[e].m, x) : node[e].m;
            }
        }
#pragma unroll
        for (int g = 0; g < chunk_lines / G; g++)
            if (g < groups)
                add_vectors<K, In, G>(p.recipe, got + g * G, node);
#pragma unroll 1
        for (int u = 0; u < odd; u++) {
            add_vectors<K, In, 1>(p.recipe, behind, node);
            rotate(behind, G - 1, behind[0]);
        }
        if (rest > 0) {
#pragma unroll
            for (int e = 0; e < E; e++) {
                read_element<A, In>(p.recipe, last.word, e * K::size, x, y);
                node[e].s = e < rest ? A::add(node[e].s, x, node[e].m) : node[e].s;
            }
        }
    });
}

/* The node of `chunks` chunks of a row from `first` on, in every thread of the warp. */
template <class K>
RDX_DEVICE typename K::A::Node straight_run(const Problem &p, const unsigned char *row, int64_t first, int chunks,
                                            int thread)
{
    constexpr int chunk_log2 = log2_constant(chunk_bytes / K::size);
    typename K::A::Node node[Lanes<K, true>::STATES];
    RowTotal<K> total = {thread};
    int whole = K::A::two_passes && chunks > 0 ? (int)(elements_of_chunks(p, first, chunks) >> chunk_log2) : 0;
    auto elements = [&](int at, int count) { return elements_of_chunks(p, first + at, count); };
    const unsigned char *at = row + first * chunk_bytes + thread * 16;
#pragma unroll 1
    for (int i = 0; i < chunks; i++, at += chunk_bytes) {
        int n = i < whole ? 1 << chunk_log2 : elements_of_chunk(p, first + i);
        if constexpr (K::A::two_passes)
            straight_twice<K>(p, at, n, i + 1 < whole, thread, node);
        else
            straight_chunk<K>(p, at, first + i, n, thread, node);
        total.add(node, n, thread * K::elements, chunks, elements);
    }
    return total.finish(elements);
}

/* What target_of and partial_at come to where nothing is copied and a group is one output. Through them f32 sums spill 16 bytes a
   thread, var 176, instead of 0 and 8. */
template <class A> RDX_DEVICE void emit_one(const Problem &p, int64_t output, const typename A::Node &node)
{
    Place place = seek_output(p, output);
    emit<A>(p, {p.out + place.out, p.out2 + place.out2}, node);
}

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) straight_rows_kernel(const __grid_constant__ Problem p)
{
    typedef typename K::A A;
    /* The tables name more than plans give it. */
    if constexpr (K::size > 1 && !(A::two_passes && A::work == RDX_WORK_F64)) {
        RDX_DYNAMIC_SHARED(uint32_t, shared);
        const RdxCudaShape &s = p.shape;
        int thread = thread_of_warp(), member = warp_of_block() & (s.team - 1), mate = warp_of_block() >> s.team_log2;
        bool cut = has_parts(s);
        unsigned part = cut ? (s.groups == 1 ? blockIdx.x : blockIdx.x / (unsigned)s.groups) : 0;
        int64_t output = cut ? blockIdx.x - part * (unsigned)s.groups : blockIdx.x * s.group_outputs + mate;
        int64_t end = output - mate + s.group_outputs < p.outputs ? output - mate + s.group_outputs : p.outputs;
        int64_t first = part * s.part_chunks,
                last = first + s.part_chunks < s.chunks ? first + s.part_chunks : s.chunks;
        int64_t own = first + member * s.warp_chunks, left = last - own;
        int chunks = (int)(left < s.warp_chunks ? left : s.warp_chunks);
        typename A::Node node = unset<A>();
#pragma unroll 1
        for (; output < end; output += RDX_CUDA_THREADS / 32 >> s.team_log2) {
            node = straight_run<K>(p, p.in + seek_output(p, output).in, own, chunks, thread);
            if (s.team > 1)
                break;
            if (thread == 0)
                emit_one<A>(p, output, node);
        }
        if (s.team == 1)
            return;
        node = meet<A>(p, first, last, node, Slots<A>{shared, RDX_CUDA_THREADS / 32}, thread);
        if (cut) {
            if (threadIdx.x == 0)
                put_node<A>(p.partials + (output * s.split + part) * A::words, 1, node);
            if (!is_last_part(p, output))
                return;
            node = join_row<A>(p, output, shared);
        }
        if (member == 0 && thread == 0 && output < end)
            emit_one<A>(p, output, node);
    }
}

} // namespace rdx

#define RDX_KERNEL_NAME straight_rows
#define RDX_ELEMENTS(size, words) (16 / (size))
#include "stamp.inc"
