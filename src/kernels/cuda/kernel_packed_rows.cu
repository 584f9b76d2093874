/* packed: short rows that follow each other without a gap, each of 1, 2, 4 .. 32 whole, aligned vectors or of 2 or 4
   elements of one, straight from memory into registers. A thread asks for 16 vectors, one of each of 16 lines of 512
   bytes, before it looks at the first; no shared memory.

   A row of 2^levels vectors lies in as many neighbouring threads, and has one element a lane. Its tree halves across
   the threads first, then within a vector. Two lines meet at a step: threads half a row apart keep a line each and send
   the other, so a step halves what a thread holds along with the threads that a row is spread over, and costs an
   exchange for every second node (all of them exchanged on their own would take `levels` each). After the last step
   every thread has a row to itself, and a warp has 32 neighbouring outputs; of 32 vectors, where 16 lines are half of
   what that takes, two threads have the same.

   Several rows in a vector need none of that, and their results leave together.

   Of elements of 16 bits the first step exchanges vectors as they are, and they are widened after it.

   How many steps there are is asked as they are made, which all threads answer alike: one piece of code for all
   rows. */
#include "block.cuh"
#include "greatest.cuh"

namespace rdx
{

template <class K> struct PackedRows {
    typedef typename K::A A;
    typedef typename A::T T;
    typedef typename A::Node Node;
    static constexpr bool any_order = is_exact<A>();
    static constexpr int E = K::elements, NODES = any_order ? 1 : E; /* of a vector */
    static constexpr bool narrow = K::size < 4 && !any_order;        /* see exchange */
    static constexpr int STEPS = RDX_CUDA_PACKED_STEPS(NODES, A::words), LINES = 1 << STEPS;

    const Problem &p;
    int thread, levels, spread; /* spread: log2 of the threads that a row is spread over in the end */
    Node result[LINES];         /* of rows 32 outputs apart; the first LINES >> levels are there */

    __device__ __forceinline__ PackedRows(const Problem &problem, int own)
        : p(problem), thread(own), levels(problem.recipe.count > E ? log2_of(problem.recipe.count / E) : 0),
          spread(levels > STEPS ? levels - STEPS : 0)
    {
    }

    /* What is compared before anything is made of it; four elements with their indices one by one (argmax f32 over
       1048576 x 64 85 us, and 95 compared). */
    template <class In> static __device__ constexpr bool compares()
    {
        return (compares_words<A, In>() && (E > 4 || !A::indexed)) || compares_both<A, In>() ||
               (In::size == 1 && In::integral && (compares_bytes<A, In>() || seeks_winners<A>()));
    }

    /* All that the elements of a vector come to; `index`: of the first. */
    template <class In, int MAP>
    __device__ __forceinline__ typename Step<A>::State compare(const Vector<16> &raw, int64_t index, int64_t step) const
    {
        uint32_t top;
        T x, y;
        if constexpr (K::size == 1) {
            top = greatest_byte<In, false, 1>(p.recipe, &raw, 1);
            read_top<A, In, MAP>(p.recipe, top, x, y);
        } else {
            top = greatest_in<In>(p.recipe, raw);
            read_element<A, In, MAP>(p.recipe, &top, 0, x, y);
        }
        if constexpr (A::indexed)
            index += element_like(raw, Sought<In>(p.recipe, top), step < 0) * step;
        typename Step<A>::State state = Step<A>::begin(x, y, index);
        if constexpr (compares_both<A, In>()) {
            top = greatest_in<In, true>(p.recipe, raw);
            read_element<A, In, MAP>(p.recipe, &top, 0, x, y);
            state = Step<A>::next(state, x, y, 0, 0);
        }
        return state;
    }

    /* The lanes of a vector, or all that they come to. */
    template <class In, int MAP> __device__ __forceinline__ void lift(const Vector<16> &raw, Node *node) const
    {
        typename Step<A>::State state[NODES];
        const int64_t step = A::indexed && p.reduce_rank ? p.dims[p.keep_rank].out : 0;
        const int64_t index = A::indexed ? p.index_offset + (thread & ((1 << levels) - 1)) * E * step : 0;
        if constexpr (compares<In>()) {
            state[0] = compare<In, MAP>(raw, index, step);
        } else if constexpr (adds_words<K, In, MAP>()) {
            int sum = 0;
#pragma unroll
            for (int w = 0; w < 4; w++)
                sum = add_bytes<In, MAP>(p.recipe, raw.word[w], sum);
            state[0] = Step<A>::begin(sum, sum, 0);
        } else {
#pragma unroll
            for (int e = 0; e < E; e++) {
                T x, y;
                read_element<A, In, MAP>(p.recipe, raw.word, e * K::size, x, y);
                if (any_order && e > 0)
                    state[0] = Step<A>::next(state[0], x, y, 0, index + e * step);
                else
                    state[e] = Step<A>::begin(x, y, index + e * step);
            }
        }
#pragma unroll
        for (int i = 0; i < NODES; i++)
            node[i] = Step<A>::end(state[i], 1);
    }

    /* T(1, 0) from nodes of `each` elements. */
    static __device__ __forceinline__ Node halve_vector(Node *node, int each)
    {
#pragma unroll
        for (int half = NODES / 2, n = each; half >= 1; half /= 2, n *= 2)
#pragma unroll
            for (int i = 0; i < half; i++)
                node[i] = join_full<A>(node[i], node[i + half], n, n);
        return node[0];
    }

    /* The first step: what is sent are vectors as they lie in memory, where nodes would be twice as many words. */
    template <class In, int MAP>
    __device__ __forceinline__ void exchange(const Vector<16> &line, const Vector<16> &next, Node *node) const
    {
        int bit = 1 << levels >> 1;
        bool upper = thread & bit;
        Vector<16> keep, got;
        Node other[NODES];
#pragma unroll
        for (int w = 0; w < 4; w++) {
            keep.word[w] = upper ? next.word[w] : line.word[w];
            got.word[w] = __shfl_xor_sync(whole_warp, upper ? line.word[w] : next.word[w], bit);
        }
        lift<In, MAP>(keep, node);
        lift<In, MAP>(got, other);
#pragma unroll
        for (int i = 0; i < NODES; i++)
            node[i] = join_full<A>(node[i], other[i], 1, 1);
    }

    /* What lines FIRST .. FIRST + 2^STEP - 1 come to in this thread; rows of fewer levels are done before. */
    template <class In, int MAP, int STEP, int FIRST>
    __device__ __forceinline__ void gather(const Vector<16> *raw, Node *node)
    {
        if constexpr (STEP == 0) {
            lift<In, MAP>(raw[FIRST], node);
        } else if (STEP == 1 && narrow && levels > 0) {
            exchange<In, MAP>(raw[FIRST], raw[FIRST + 1], node);
        } else {
            constexpr int half = 1 << (STEP - 1);
            Node other[NODES];
            gather<In, MAP, STEP - 1, FIRST>(raw, node);
            gather<In, MAP, STEP - 1, FIRST + half>(raw, other);
            if (!(STEP == 1 && narrow) && levels >= STEP) {
                int bit = 1 << levels >> STEP;
                bool upper = thread & bit;
#pragma unroll
                for (int i = 0; i < NODES; i++) {
                    Node keep = upper ? other[i] : node[i], send = upper ? node[i] : other[i];
                    node[i] = join_full<A>(keep, shuffle_xor<A>(send, bit), half, half);
                }
            }
        }
        if (levels == STEP)
            result[FIRST >> STEP] = halve_vector(node, 1 << STEP);
    }

    template <class In, int MAP> __device__ __forceinline__ void fold(const Vector<16> *raw)
    {
        Node node[NODES];
        gather<In, MAP, STEPS, 0>(raw, node);
        if (spread == 0)
            return;
        int each = LINES;
#pragma unroll 1
        for (int bit = 1 << spread >> 1; bit >= 1; bit /= 2, each *= 2)
#pragma unroll
            for (int i = 0; i < NODES; i++)
                node[i] = join_full<A>(node[i], shuffle_xor<A>(node[i], bit), each, each);
        result[0] = halve_vector(node, each);
    }

    /* The results of lines whose first output is `first`. */
    __device__ __forceinline__ void store(int64_t first)
    {
        int steps = levels - spread, line = reverse_bits(thread >> spread, steps), count = LINES >> steps;
        int64_t output = first + ((line << 5) >> levels) + (thread >> levels);
        int64_t left = (p.outputs - output + 31) / 32; /* of its kind, this one too */
        const RdxCudaDim &dim = p.dims[0];
        unsigned char *out = p.out + output * dim.out, *out2 = p.out2 + output * dim.out2;
        if ((thread & ((1 << spread) - 1)) != 0)
            return;
        count = left < count ? (int)left : count;
        if (store_values(out, 32 * dim.out, count))
            return;
        if constexpr (Value<A>::exists && !is_float_sum<A>())
            if (p.shape.value_bytes > 0 && store_alike<LINES>(out, 32 * dim.out, count))
                return;
#pragma unroll 1
        for (int i = 0; i < count; i++) {
            emit<A>(p, {out, out2}, result[0]);
            rotate(result, LINES, result[0]);
            out += 32 * dim.out;
            out2 += 32 * dim.out2;
        }
    }

    /* Vectors that hold rows of COUNT elements each: those of this thread from `vector` + thread on, 32 apart, of which
       there are `left` vectors in all. Folds and stores them. */
    template <int COUNT> __device__ __forceinline__ void store_rows(Vector<16> *raw, int64_t vector, int left)
    {
        constexpr int ROWS = E / COUNT;
        const RdxCudaDim &dim = p.dims[0];
        int64_t output = (vector + thread) * ROWS;
        bool done = with_value([&](auto value) {
            typedef decltype(value(Node())) Out;
            struct alignas(ROWS * sizeof(Out) < 16 ? ROWS * sizeof(Out) : 16) Results {
                Out x[ROWS];
            };
            unsigned char *out = p.out + output * dim.out;
            bool whole = dim.out == sizeof(Out) && (uintptr_t)p.out % alignof(Results) == 0;
            with_known<K>(p.recipe, [&](auto in, auto map) {
#pragma unroll
                for (int l = 0; l < LINES; l++) {
                    if (32 * l >= left)
                        continue;
                    Node node[E];
                    Results results;
                    unsigned char *to = out + 32 * l * ROWS * dim.out;
                    int64_t rows = p.outputs - output - 32 * l * ROWS;
                    fold_rows<COUNT, decltype(in), decltype(map)::value>(raw[l], node);
#pragma unroll
                    for (int k = 0; k < ROWS; k++)
                        results.x[k] = value(node[k]);
                    if (whole && rows >= ROWS) {
                        store_aligned(to, results);
                        continue;
                    }
#pragma unroll
                    for (int k = 0; k < ROWS; k++)
                        if (k < rows)
                            *(Out *)(to + k * dim.out) = results.x[k];
                }
            });
        });
#pragma unroll 1
        for (int l = 0; !done && 32 * l < left; l++, output += 32 * ROWS) {
            Node node[E];
            with_known<K>(p.recipe, [&](auto in, auto map) {
                fold_rows<COUNT, decltype(in), decltype(map)::value>(raw[0], node);
            });
#pragma unroll 1
            for (int k = 0; k < ROWS && output + k < p.outputs; k++) {
                emit<A>(p, {p.out + (output + k) * dim.out, p.out2 + (output + k) * dim.out2}, node[0]);
                rotate(node, ROWS, node[0]);
            }
            rotate(raw, LINES, raw[0]);
        }
    }

  private:
    /* The nodes of a vector's rows. */
    template <int COUNT, class In, int MAP>
    __device__ __forceinline__ void fold_rows(const Vector<16> &raw, Node *node) const
    {
        int64_t step = A::indexed && p.reduce_rank ? p.dims[p.keep_rank].out : 0;
#pragma unroll
        for (int k = 0; k < E / COUNT; k++) {
            Node own[COUNT];
#pragma unroll
            for (int e = 0; e < COUNT; e++) {
                T x, y;
                read_element<A, In, MAP>(p.recipe, raw.word, (k * COUNT + e) * K::size, x, y);
                own[e] = Step<A>::end(Step<A>::begin(x, y, A::indexed ? p.index_offset + e * step : 0), 1);
            }
#pragma unroll
            for (int half = COUNT / 2; half >= 1; half /= 2)
#pragma unroll
                for (int e = 0; e < half; e++)
                    own[e] = join_full<A>(own[e], own[e + half], COUNT / 2 / half, COUNT / 2 / half);
            node[k] = own[0];
        }
    }

    /* Sums and means of the most frequent types, which are asked for once: to emit them takes more than to fold rows of
       a vector or two. Calls f(value) where value(node) is what is stored; false where it is something else. There are
       2^n elements, so that to multiply by their inverse is to divide. */
    template <class F> __device__ __forceinline__ bool with_value(F &&f) const
    {
        if constexpr (is_float_sum<A>()) {
            const RdxRecipe &r = p.recipe;
            bool own = r.out == (sizeof(T) == 4 ? RDX_TYPE_F32 : RDX_TYPE_F64), mean = r.finish == RDX_FINISH_MEAN;
            bool half = sizeof(T) == 4 && r.out == RDX_TYPE_F16, brain = sizeof(T) == 4 && r.out == RDX_TYPE_BF16;
            if (!p.shape.plain || r.omit || !(mean || r.finish == RDX_FINISH_VALUE) || !(own || half || brain))
                return false;
            T factor = mean ? 1 / (T)r.count : (T)1;
            if (own)
                f([=](const Node &node) -> T { return node.s != node.s ? nan_of(node.s) : node.s * factor; });
            else if (half)
                f([=](const Node &node) -> uint16_t {
                    return (uint16_t)narrow_pair<false>((float)(node.s * factor), 0);
                });
            else
                f([=](const Node &node) -> uint16_t {
                    return (uint16_t)narrow_pair<true>((float)(node.s * factor), 0);
                });
            return true;
        }
        return false;
    }

    /* COUNT results or a half, a quarter ... of them, whose kind is asked for once; false: they are of no such
       number. */
    struct Lined {
        static constexpr int aligned = 1;
        unsigned char *to;
        int64_t step;
        __device__ __forceinline__ unsigned char *of(int i, int) const
        {
            return to + i * step;
        }
    };
    template <int COUNT> __device__ __forceinline__ bool store_alike(unsigned char *out, int64_t step, int count) const
    {
        if constexpr (COUNT > 1) {
            if (count < COUNT)
                return store_alike<COUNT / 2>(out, step, count);
        }
        if (count == COUNT)
            Value<A>::template store<COUNT>(p, Lined{out, step}, result);
        return count == COUNT;
    }

    __device__ __forceinline__ bool store_values(unsigned char *out, int64_t step, int count) const
    {
        return with_value([&](auto value) {
#pragma unroll
            for (int i = 0; i < LINES; i++)
                if (i < count)
                    *(decltype(value(Node())) *)(out + i * step) = value(result[i]);
        });
    }
};

template <class K>
constexpr bool comes_packed = !K::A::two_passes && PackedRows<K>::STEPS > 0 &&
                              (K::size > 1 || PackedRows<K>::any_order) && !is_modulus<K>() && !is_long<K>();

template <class K>
__global__ void __launch_bounds__(RDX_CUDA_THREADS, 2) packed_rows_kernel(const __grid_constant__ Problem p)
{
    typedef PackedRows<K> Rows;
    int thread = kept(thread_of_warp());
    Rows rows(p, thread);
    int64_t line = ((int64_t)blockIdx.x * (RDX_CUDA_THREADS / 32) + warp_of_block()) * Rows::LINES;
    int64_t end = (p.outputs * p.recipe.count + K::elements - 1) / K::elements, vector = line * 32; /* of vectors */
    if (vector >= end)
        return;
    const unsigned char *at =
        (const unsigned char *)forgotten((int64_t)(p.in + (vector + thread) * 16)); /* lest each load adds it up */
    int own = end - vector < 32 * Rows::LINES ? (int)(end - vector) - thread : 32 * Rows::LINES;
    Vector<16> raw[Rows::LINES];
#pragma unroll
    for (int l = 0; l < Rows::LINES; l++)
        if (32 * l < own)
            load<16>(raw[l].word, at + l * line_bytes);
    if constexpr (K::elements > 4 && RDX_CUDA_HAS_ROWS_IN_VECTORS(K::size)) {
        if (p.recipe.count == 4) {
            rows.template store_rows<4>(raw, vector, own);
            return;
        }
    }
    if constexpr (RDX_CUDA_HAS_ROWS_IN_VECTORS(K::size)) {
        if (p.recipe.count == 2) {
            rows.template store_rows<2>(raw, vector, own);
            return;
        }
    }
    with_known<K>(p.recipe, [&](auto in, auto map) {
        typedef decltype(in) In;
        constexpr int MAP = decltype(map)::value;
        if constexpr (K::size > 1 || In::integral)
            rows.template fold<In, MAP>(raw);
    });
    rows.store(vector >> rows.levels);
}

} // namespace rdx

#define RDX_KERNEL_NAME packed_rows
#define RDX_COMES comes_packed
#define RDX_ELEMENTS(size, words) (16 / (size))
#include "stamp.inc"
