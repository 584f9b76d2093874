/* Rows straight from memory into registers, a warp a chunk: a thread asks for all its vectors of a chunk before it
   folds the first, and nothing lies in shared memory but what the warps of a block and the parts of an output have to
   say to each other. For rows of one run of aligned vectors (kernel_straight_rows.cu, and several at once
   kernel_line_rows.cu), for those that start anywhere (kernel_shifted_rows.cu), those of several runs
   (kernel_run_rows.cu) and those whose lines come by halves (sided_rows.cuh). What a block does around its chunks
   (reduce_straight) is the same where they lie in shared memory (kernel_staged_rows.cu).

   Rows that start anywhere are read in aligned vectors from the one on in which they start: bytes of a vector that
   holds an element of a row may be read. The first thread's vector of a line holds elements that end the line before.
   They are folded as they come: what is foreign in the first vector is forgotten when the second begins those lanes,
   and a vector more ends them.

   Indices with keys of 32 bits are sought instead (winning_rows.cuh): argmax bf16 over 32768 x 4096 89 us by lanes, 64
   so.

   An output is stored once and is a group of its own, and a block has one item. */
#ifndef RDX_KERNELS_CUDA_STRAIGHT_ROWS_CUH
#define RDX_KERNELS_CUDA_STRAIGHT_ROWS_CUH

#include "winning_rows.cuh"

namespace rdx
{

/* COUNT lines from the `first` on, whose vectors lie in got[]; there are `whole` in all. */
template <class K, class S, class In, int MAP, int COUNT>
RDX_DEVICE void fold_lines(const Lanes<K, true> &fold, const Vector<16> *got, int first, int whole,
                           typename S::State *state)
{
    if constexpr (Lanes<K, true>::template compares_vectors<In>()) {
        if (first < whole)
            fold.template fold_greatest<S, In, MAP, COUNT>(state, got, first, whole - first);
    } else {
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            if (first + i < whole)
                fold.template fold<S, In, MAP, 1>(state, got + i, first + i);
    }
}

/* The nodes of a chunk of n elements; a map that is unmasked or, of aligned rows, masked, and indices that ascend. */
template <class K, RowForm FORM>
RDX_DEVICE void straight_chunk(const Problem &p, const ChunkPlace &place, int n, typename K::A::Node *node)
{
    typedef Lanes<K, true> Fold;
    typedef typename Fold::First First;
    constexpr int E = K::elements, lanes = 32 * E, log2 = log2_constant(lanes);
    constexpr bool SHIFTED = FORM == ROW_SHIFTED;
    int whole = n >> log2, tail = n & (lanes - 1), rest = tail - place.slot;
    const unsigned char *end = line_of<K, FORM>(p, place, whole);
    Fold fold = {p};
    typename First::State state[Fold::STATES];
    bool begun = whole > 0;
    Vector<16> got[chunk_lines], last;
#pragma unroll
    for (int line = 0; line < chunk_lines; line++)
        if (line < whole)
            load<16>(got[line].word, line_of<K, FORM>(p, place, line));
    if (rest > 0) {
        if (SHIFTED)
            load<16>(last.word, end);
        else
            load_vector<K>(last, end, rest < E ? rest : E, p.recipe.in);
    }
    Fold::template clear<First>(state);
    auto is_late = [&](int e) { return SHIFTED && e + 1 < E && place.slot + e < 0; };
    auto lane = [&](int e) { return SHIFTED ? (place.slot + e) & (lanes - 1) : place.slot + e; };
    auto count = [&](int e) { return elements_of_lane(n, lane(e), log2); };
    with_known<K, FORM == ROW_ALIGNED>(p.recipe, [&](auto in, auto map) {
        typedef decltype(in) In;
        constexpr int MAP = decltype(map)::value;
        constexpr int late = SHIFTED ? (Fold::one_state ? 0 : 1) : -1; /* the line in which that matters */
        if constexpr (SHIFTED) {
            if (late > 0 && whole > 0)
                fold.template fold<First, In, MAP, 1>(state, got, 0);
            if (late < whole)
                fold.template fold_late<First, In, MAP>(state, got[late], late, is_late);
        }
        constexpr int next = late + 1;
        fold_lines<K, First, In, MAP, chunk_lines - next>(fold, got + next, next, whole, state);
        if constexpr (SHIFTED) {
            if (tail > 0 || place.slot < 0)
                fold.template fold_late_ends<First, In, MAP>(state, last, whole, count, is_late, begun);
            if (rest > lanes) { /* the ragged line ends with the first thread's next vector */
                load<16>(last.word, end + line_bytes);
                fold.template fold_late_ends<First, In, MAP>(state, last, whole + 1, count, is_late, begun);
            }
        } else if (rest > 0) {
            fold.template fold_ends<First, In, MAP>(state, last, whole, count, begun);
        }
    });
    fold.template end<First>(
        state, count, [&](int e, int line) { return (place.chunk * 16 + line) * lanes + place.slot + e; }, node);
}

/* The node of `chunks` chunks of a row from `first` on, in every thread of the warp. */
template <class K, RowForm FORM>
RDX_DEVICE typename K::A::Node straight_run(const Problem &p, const unsigned char *row, int64_t first, int chunks,
                                            int thread)
{
    if constexpr (seeks_winners<typename K::A>())
        return winning_run<K, FORM>(p, row, first, chunks, thread);
    constexpr int chunk_log2 = log2_constant(chunk_lines * 32 * K::elements);
    typename K::A::Node node[Lanes<K, true>::STATES];
    RowTotal<K> total = {thread};
    auto elements = [&](int at, int count) { return elements_of_chunks(p, chunk_log2, first + at, count); };
    ChunkPlace place = place_in<K, FORM>(row, first, thread);
#pragma unroll 1
    for (int i = 0; i < chunks; i++, place.at += chunk_bytes, place.chunk++) {
        int n = (int)elements_of_chunks(p, chunk_log2, first + i, 1);
        straight_chunk<K, FORM>(p, place, n, node);
        total.add(node, n, place.slot, chunks, elements);
    }
    return total.finish(elements);
}

/* What target_of and partial_at come to where nothing is copied and a group is one output. Through them f32 sums spill
   16 bytes a thread, var 176, instead of 0 and 8. */
template <class A> RDX_DEVICE void emit_one(const Problem &p, int64_t output, const typename A::Node &node)
{
    Place place = seek_row(p, output);
    emit<A>(p, {p.out + place.out, p.out2 + place.out2}, node);
}

/* What every block does: run(row, first, chunks, thread) is the node of a warp's chunks of a row. There are fewer than
   2^31 outputs and at most 2^30 chunks (cuda_rows.c), so their numbers have 32 bits: every instruction here stands
   before the first load. */
template <class K, class Run> RDX_DEVICE void reduce_straight(const Problem &p, uint32_t *shared, Run run)
{
    typedef typename K::A A;
    const RdxCudaShape &s = p.shape;
    int thread = thread_of_warp(), member = warp_of_block() & (s.team - 1), mate = warp_of_block() >> s.team_log2;
    bool cut = has_parts(s);
    unsigned group = blockIdx.x, part = 0;
    if (cut) {
        part = s.groups == 1 ? group : group / (unsigned)s.groups;
        group -= part * (unsigned)s.groups;
    }
    unsigned start = group * (unsigned)s.group_outputs, end = start + (unsigned)s.group_outputs, output = start + mate;
    end = end < (unsigned)p.outputs ? end : (unsigned)p.outputs;
    unsigned first = part * (unsigned)s.part_chunks, last = (unsigned)s.chunks;
    if (cut && first + (unsigned)s.part_chunks < last)
        last = first + (unsigned)s.part_chunks;
    unsigned own = first + member * (unsigned)s.warp_chunks;
    int left = (int)(last - own), chunks = left < (int)s.warp_chunks ? left : (int)s.warp_chunks;
    typename A::Node node = unset<A>();
#pragma unroll 1
    for (; output < end; output += RDX_CUDA_THREADS / 32 >> s.team_log2) {
        node = run(p.in + seek_row(p, output).in, own, chunks, thread);
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

} // namespace rdx
#endif
