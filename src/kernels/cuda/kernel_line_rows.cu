/* line_rows: many contiguous rows of two lines of 512 bytes to eight, aligned to 16 bytes, straight from memory into
   registers. A warp reads four rows at once, or two longer ones, 16 vectors a thread, and each thread folds its lanes
   of every one of them, as in straight_rows.cuh. All rows have the same tree, so they are halved together: threads half
   a warp apart keep half of the rows each and send the other half, and so on, until a thread has one node; thread t
   ends with row t / (32 / ROWS). That is 15 exchanges for four rows of four lanes a thread and 3 more, where one after
   the other takes 32.

   262144 rows of 512 f32 through shared memory (short_rows) and this way, in us on an H200: var 358 and 164, argmax 356
   and 163, max 247 and 125, sum 131 and 123; 65536 of 256 f64 57.8 and 33.3. Rows of a line and a bit keep half of the
   threads busy: 262144 of 160 f32 49 and 59. Few rows are faster one at a time, with every warp busy (straight_rows):
   1024 of 512 f32 3.7 through shared memory, 2.8 so. Rows of 4096 bytes, one at a time and two at once: any of 65536 79
   and 62, sum of 32768 38 and 33, of 65536 of 3008 80 and 48. */
#include "straight_rows.cuh"

namespace rdx
{

template <class K, int ROWS> struct LineRows {
    typedef typename K::A A;
    typedef typename A::Node Node;
    typedef Lanes<K, true> Fold;
    typedef typename Fold::First First;
    static constexpr int LINES = chunk_lines / ROWS, E = K::elements, lanes = 32 * E;
    static constexpr int STATES = Fold::STATES, lanes_log2 = log2_constant(lanes);

    const Problem &p;
    int thread, n, whole, rest; /* whole: lines; rest: elements of the ragged one from this thread's first on */
    Vector<16> got[ROWS * LINES];

    __device__ __forceinline__ LineRows(const Problem &problem, int own)
        : p(problem), thread(own), n((int)p.recipe.count), whole(n >> lanes_log2),
          rest(A::counted ? 0 : (n & (lanes - 1)) - thread * E)
    {
    }

    /* Rows `row`, `step` bytes apart; beyond the last one that again. The ragged line, if any, takes the last place of
       its row; elements that share a vector with the row's end are read, and not looked at. */
    __device__ __forceinline__ void load_rows(const unsigned char *row, int64_t step, int last)
    {
        row += thread * 16;
        each_constant<ROWS>([&](auto r) {
            constexpr int own = decltype(r)::value, first = own * LINES;
            const unsigned char *at = row + (own < last ? own : last) * step;
#pragma unroll
            for (int line = 0; line + 1 < LINES; line++)
                if (line < whole)
                    load<16>(got[first + line].word, at + line * line_bytes);
            if (whole == LINES || rest > 0)
                load<16>(got[first + LINES - 1].word, at + (whole == LINES ? LINES - 1 : whole) * line_bytes);
        });
    }

    /* The node of row thread / (32 / ROWS). */
    __device__ __forceinline__ Node fold_rows() const
    {
        Node node[ROWS * STATES];
        Fold fold = {p};
        auto count = [&](int e) { return A::counted ? whole : elements_of_lane(n, thread * E + e, lanes_log2); };
        with_known<K>(p.recipe, [&](auto in, auto map) {
            typedef decltype(in) In;
            constexpr int MAP = decltype(map)::value;
            each_constant<ROWS>([&](auto r) {
                constexpr int own = decltype(r)::value, first = own * LINES;
                typename First::State state[STATES];
                bool begun = true;
                Fold::template clear<First>(state);
                fold_lines<K, First, In, MAP, LINES>(fold, got + first, 0, whole, state);
                if (rest > 0)
                    fold.template fold_ends<First, In, MAP>(state, got[first + LINES - 1], whole, count, begun);
                fold.template end<First>(
                    state, count, [&](int e, int line) { return line * lanes + thread * E + e; }, node + own * STATES);
            });
        });
        if constexpr (is_exact<A>()) {
            Node one[ROWS];
            each_constant<ROWS>([&](auto r) {
                constexpr int own = decltype(r)::value;
                one[own] = node[own * STATES];
#pragma unroll
                for (int e = 1; e < STATES; e++)
                    one[own] = join_full<A>(one[own], node[own * STATES + e], 0, 0);
            });
            return halve_warp<Spec<A, K::size, 1>, true, ROWS>(one, n, thread, 0);
        } else {
            return halve_warp<K, true, ROWS>(node, n, thread, 0);
        }
    }
};

/* The same of indices: of rows as of chunks, each in a warp (winning_rows.cuh). */
template <class K, int ROWS>
RDX_DEVICE typename K::A::Node winning_rows(const Problem &p, const unsigned char *row, int last, int thread)
{
    typedef typename K::A::T T;
    Winners<K, ROW_ALIGNED, ROWS> winners(p);
    each_constant<ROWS>([&](auto r) RDX_INLINED {
        constexpr int R = decltype(r)::value;
        const unsigned char *at = row + (R < last ? R : last) * p.dims[0].in;
        winners.part[R].ask(p, place_in<K, ROW_ALIGNED>(at, 0, thread), (int)p.recipe.count);
    });
    T best = 0, value = 0;
    int winner = 0, own = thread / (32 / ROWS);
    winners.decide([](int, T) { return true; }, [&](int r, int found) { winner = r == own ? found : winner; });
    each_constant<ROWS>([&](auto r) RDX_INLINED {
        constexpr int R = decltype(r)::value;
        best = R == own ? winners.y[R] : best;
        value = R == own ? winners.x[R] : value;
    });
    return node_of_winner<typename K::A>(p, value, best, winner);
}

template <class K, int ROWS, class A = typename K::A>
constexpr bool comes_in_lines_of =
    !A::two_passes && RDX_CUDA_HAS_LINE_ROWS(ROWS, A::algebra, is_exact<A>(), A::indexed, K::size, A::words);
template <class K>
constexpr bool comes_in_lines =
    !is_modulus<K>() && !is_long<K>() &&
    (comes_in_lines_of<K, RDX_CUDA_LINE_ROWS> || comes_in_lines_of<K, RDX_CUDA_LINE_ROWS / 2>);

template <class K, int ROWS> RDX_DEVICE void reduce_line_rows(const Problem &p)
{
    typedef typename K::A A;
    if constexpr (comes_in_lines_of<K, ROWS>) {
        int thread = kept(thread_of_warp()), own = thread / (32 / ROWS);
        int64_t first = blockIdx.x * p.shape.group_outputs, end = first + p.shape.group_outputs;
        end = end < p.outputs ? end : p.outputs;
#pragma unroll 1
        for (int64_t output = first + warp_of_block() * ROWS; output < end; output += RDX_CUDA_THREADS / 32 * ROWS) {
            int last = (int)(end - output < ROWS ? end - output : ROWS) - 1;
            const unsigned char *row = p.in + seek_output(p, output).in;
            typename A::Node node;
            if constexpr (seeks_winners<A>()) {
                node = winning_rows<K, ROWS>(p, row, last, thread);
            } else {
                LineRows<K, ROWS> rows(p, thread);
                rows.load_rows(row, p.dims[0].in, last);
                node = rows.fold_rows();
            }
            if (thread % (32 / ROWS) == 0 && own <= last)
                emit_one<A>(p, output + own, node);
        }
    }
}

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) line_rows_kernel(const __grid_constant__ Problem p)
{
    if (p.shape.line_rows == RDX_CUDA_LINE_ROWS)
        reduce_line_rows<K, RDX_CUDA_LINE_ROWS>(p);
    else
        reduce_line_rows<K, RDX_CUDA_LINE_ROWS / 2>(p);
}

} // namespace rdx

#define RDX_KERNEL_NAME line_rows
#define RDX_COMES comes_in_lines
#define RDX_ELEMENTS(size, words) (16 / (size))
#include "stamp.inc"
