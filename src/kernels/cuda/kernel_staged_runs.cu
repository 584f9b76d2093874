/* staged_runs: rows in several short runs, as over the batch and the pixels of 7 x 7 images, where neighbouring outputs
   have neighbouring runs: those of eight outputs at once are whole, aligned vectors, whatever a run is. A block copies
   a chunk of eight to shared memory, where a thread folds one lane of each, of four bytes of half of them, so that
   where an element lies is worked out once for all of them, and a warp joins the lanes of one. H200, sum of bf16 over
   640 x 2048 x 7 x 7 us: element by element from memory 86, a warp an output from shared memory 58, so 41. */
#include "greatest.cuh"
#include "grid.cuh"
#include "rows.cuh"

namespace rdx
{

template <class K> struct StagedRuns {
    typedef typename K::A A;
    typedef typename A::T T;
    typedef typename A::Node Node;
    typedef typename std::conditional<A::indexed, Winner<A>, Step<A>>::type S;
    static constexpr int lanes = line_bytes / K::size, lanes_log2 = log2_constant(lanes), AT_ONCE = 4,
                         OUTPUTS = RDX_CUDA_STAGED_OUTPUTS, OWN = OUTPUTS * lanes / RDX_CUDA_THREADS;
    static_assert(OUTPUTS == RDX_CUDA_THREADS / 32, "a warp has one");

    const Problem &p;
    SharedAt at;   /* the first run of a thread's first output */
    int lane, gap; /* gap: bytes from a run's end to the same output's next one */

    /* The OWN nodes of a thread's lane of n elements from `start` on, `before` of the first run being the chunk's
       before. */
    __device__ __forceinline__ void fold(unsigned start, unsigned before, int n, Node *node) const
    {
        with_known<K>(p.recipe, [&](auto in, auto map) RDX_INLINED {
            fold_known<decltype(in), decltype(map)::value>(start, before, n, node);
        });
    }

  private:
    template <class In, int MAP>
    __device__ __forceinline__ void fold_known(unsigned start, unsigned before, int n, Node *node) const
    {
        constexpr bool numbers = compares_numbers_alone<A, In>();
        const int whole = n >> lanes_log2, mine = whole + (lane < (n & (lanes - 1)));
        typename S::State state[OWN];
        Vector<K::bytes> greatest[OWN];
        auto take = [&](int first, auto count) RDX_INLINED {
            constexpr int COUNT = decltype(count)::value, EACH = COUNT + 1;
            Vector<K::bytes> got[OWN * EACH];
#pragma unroll
            for (int i = 0; i < COUNT; i++)
                ask<EACH>(before + lane + (first + i) * lanes, got + i);
#pragma unroll
            for (int o = 0; o < OWN; o++) {
                Vector<K::bytes> *own = got + o * EACH;
                if constexpr (numbers) {
                    own[COUNT] = first == 0 ? own[0] : greatest[o];
                    greatest[o] = greatest_of<In, EACH>(p.recipe, own);
                } else {
#pragma unroll
                    for (int i = 0; i < COUNT; i++) {
                        T x, y;
                        read_element<A, In, MAP>(p.recipe, own[i].word, 0, x, y);
                        state[o] = first + i == 0 ? S::begin(x, y, 0) : S::next(state[o], x, y, first + i, 0);
                    }
                }
            }
        };
#pragma unroll
        for (int first = 0; first < chunk_lines; first += AT_ONCE)
            if (first + AT_ONCE <= whole)
                take(first, std::integral_constant<int, AT_ONCE>());
#pragma unroll 1
        for (int line = whole & -AT_ONCE; line < mine; line++)
            take(line, std::integral_constant<int, 1>());
#pragma unroll
        for (int o = 0; o < OWN; o++) {
            if constexpr (numbers) {
                T x, y;
                read_element<A, In, MAP>(p.recipe, greatest[o].word, 0, x, y);
                node[o] = node_of_element<A>(x, y, 0);
            } else if constexpr (S::remembers) {
                const unsigned own = mine > 0 ? start + lane + lanes * (unsigned)state[o].line : 0;
                node[o] = A::winner(state[o], p.index_offset + seek_in_runs(p, own).out);
            } else {
                node[o] = S::end(state[o], mine);
            }
        }
    }

    /* An element of each output, EACH places from each other. */
    template <int EACH> __device__ __forceinline__ void ask(unsigned element, Vector<K::bytes> *got) const
    {
        const SharedAt from = at + element * K::size + __umulhi(element, p.shape.inner_magic) * gap;
#pragma unroll
        for (int o = 0; o < OWN; o++)
            load_shared_element<K::size>(got[o * EACH].word, from + o * p.shape.row_bytes, false);
    }
};

/* `runs` of a group, of `bytes` each and `step` bytes from each other, to multiples of 16, by the block. */
RDX_DEVICE void copy_runs(const Problem &p, SharedAt to, const unsigned char *from, int64_t step, int runs, int bytes)
{
    const RdxCudaShape &s = p.shape;
    const unsigned vectors = runs * s.slab_vectors;
    auto each_vector = [&](auto copy) RDX_INLINED {
#pragma unroll 4
        for (unsigned v = threadIdx.x; v < vectors; v += RDX_CUDA_THREADS) {
            const unsigned run = __umulhi(v, s.vectors_magic);
            const int place = 16 * (int)(v - run * s.slab_vectors);
            copy(to + 16 * v, from + run * step + place, bytes - place);
        }
    };
    if (bytes == 16 * s.slab_vectors) /* no copy has a condition */
        each_vector([](SharedAt at, const unsigned char *vector, int) RDX_INLINED { copy_async(at, vector, 16); });
    else
        each_vector([](SharedAt at, const unsigned char *vector, int left) RDX_INLINED {
            if (left > 0)
                copy_async(at, vector, left < 16 ? left : 16);
        });
}

/* T(32, .) from T(64 HALF, .), of which a thread has 2 HALF, 32 lanes from each other. By templates, see halve_from. */
template <class A, bool WHOLE, int HALF> RDX_DEVICE void halve_staged(typename A::Node *node, int n, int thread)
{
    if constexpr (HALF >= 1) {
        constexpr int step = log2_constant(64 * HALF);
        auto elements = [&](int i) { return WHOLE ? n >> step : elements_of_lane(n, thread + 32 * i, step); };
#pragma unroll
        for (int i = 0; i < HALF; i++)
            if (WHOLE)
                node[i] = join_full<A>(node[i], node[i + HALF], elements(i), elements(i + HALF));
            else
                node[i] = join_nodes<A>(node[i], node[i + HALF], elements(i), elements(i + HALF));
        halve_staged<A, WHOLE, HALF / 2>(node, n, thread);
    }
}

/* The node of a chunk of n elements from those of its lanes, which lie in slots, in every thread of the warp. */
template <class K, bool WHOLE>
RDX_DEVICE typename K::A::Node join_staged(const Slots<typename K::A> &slots, int n, int thread)
{
    typedef typename K::A A;
    constexpr int HELD = StagedRuns<K>::lanes / 32;
    typename A::Node node[HELD];
#pragma unroll
    for (int i = 0; i < HELD; i++)
        node[i] = slots.get(thread + 32 * i);
    halve_staged<A, WHOLE, HELD / 2>(node, n, thread);
#pragma unroll(A::words == 1 ? 5 : 1)
    for (int h = 16; h >= 1; h /= 2)
        node[0] = join_slots<A, WHOLE>(node[0], shuffle_xor<A>(node[0], h), n, h, thread);
    return node[0];
}

template <class K>
constexpr bool comes_in_staged_runs = RDX_CUDA_HAS_STAGED_RUNS(K::A::algebra, K::A::work, K::size, K::A::words,
                                                               K::A::unit);

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 3) staged_runs_kernel(const __grid_constant__ Problem p)
{
    typedef typename K::A A;
    typedef StagedRuns<K> Runs;
    RDX_DYNAMIC_SHARED(uint32_t, shared);
    const RdxCudaShape &s = p.shape;
    const int thread = kept(thread_of_warp()), warp = warp_of_block();
    const Item item = item_of<unsigned>(p, blockIdx.x);
    const int64_t first = item.part * s.part_chunks, step = p.dims[p.keep_rank].in;
    const int chunks = (int)(end_of_part(s, item) - first);
    const unsigned char *group = p.in + seek_output(p, item.first_output).in;
    const int own = ((int)threadIdx.x >> Runs::lanes_log2) * Runs::OWN; /* a thread's first output */
    const Runs runs = {p, shared_at(shared) + own * s.row_bytes, (int)threadIdx.x & (Runs::lanes - 1),
                       16 * s.slab_vectors - s.row_bytes};
    const bool works = warp < (int)item.outputs;
    WarpStack<A> stack(thread);
    typename A::Node total = unset<A>();
    auto elements = [&](int at, int count) { return elements_of_chunks(p, first + at, count); };
#pragma unroll 1
    for (int i = 0; i < chunks; i++) {
        const int n = elements_of_chunk(p, first + i);
        const unsigned start = (unsigned)((first + i) * chunk_lines * Runs::lanes), run = run_of_element(p, start),
                       last = run_of_element(p, start + n - 1);
        typename A::Node node[Runs::OWN];
        copy_runs(p, shared_at(shared), group + run * step, step, (int)(last - run) + 1,
                  (int)item.outputs * s.row_bytes);
        commit_copies();
        wait_copies<0>();
        __syncthreads();
        runs.fold(start, start - run * s.run, n, node);
        __syncthreads(); /* the nodes take the place of the runs */
        const Slots<A> slots = {shared, Runs::OUTPUTS * Runs::lanes};
#pragma unroll
        for (int o = 0; o < Runs::OWN; o++)
            slots.put((own + o) * Runs::lanes + runs.lane, node[o]);
        __syncthreads();
        if (works) {
            const Slots<A> lanes = {shared + warp * Runs::lanes, slots.count};
            total = n == chunk_lines * Runs::lanes ? join_staged<K, true>(lanes, n, thread)
                                                   : join_staged<K, false>(lanes, n, thread);
            if (chunks > 1)
                stack.push(total, elements);
        }
        if (i + 1 < chunks)
            __syncthreads();
    }
    if (works) {
        if (chunks > 1)
            total = stack.finish(elements);
        if (thread == 0)
            deliver<A>(p, item, warp, total);
    }
    end_item<A>(p, item, shared);
}

} // namespace rdx

#define RDX_KERNEL_NAME staged_runs
#define RDX_COMES comes_in_staged_runs
#define RDX_ELEMENTS(size, words) 1
#include "stamp.inc"
