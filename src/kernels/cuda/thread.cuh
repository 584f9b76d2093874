/* One thread folds lanes: the at most 16 elements of each, line 0 first, for a vector of neighbouring lanes or of neighbouring
   outputs. Whole lines come in batches whose loads are all issued before the first is folded: 16 vectors of up to 4 elements, 8 of
   8, 4 of 16, so that a batch is never more than 64 elements of code; then four, then one at a time. Kernels have to stay small: with one
   predicated piece for whole and ragged lines alike, 64K x 4K f32 rows took 804 us on an H200 and 414 so; without the branch for
   |x| and |x|^p in each element, 340. */
#ifndef RDX_KERNELS_CUDA_THREAD_CUH
#define RDX_KERNELS_CUDA_THREAD_CUH

#include "vec.cuh"

namespace rdx
{

/* Where a line's vector lies, and the logical index of its first element. */
struct At {
    const unsigned char *in;
    int64_t index, across;
};

/* lift and push, or for indexed algebras the join of elements as nodes. */
template <class A, bool INDEXED = A::indexed, bool TWO_PASSES = A::two_passes> struct Step {
    typedef typename A::Lane State;
    typedef typename A::T T;
    static __device__ __forceinline__ State begin(T x, T y, int64_t)
    {
        return A::lift(x, y);
    }
    static __device__ __forceinline__ State next(const State &state, T x, T y, int line, int64_t)
    {
        return A::push(state, x, y, line);
    }
    static __device__ __forceinline__ typename A::Node end(const State &state, int count)
    {
        return A::seal(state, (double)count);
    }
};

template <class A> struct Step<A, true, false> {
    typedef typename A::Node State;
    typedef typename A::T T;
    static __device__ __forceinline__ State begin(T x, T y, int64_t index)
    {
        return A::element(x, y, index);
    }
    static __device__ __forceinline__ State next(const State &state, T x, T y, int, int64_t index)
    {
        return A::join(state, A::element(x, y, index), NULL);
    }
    static __device__ __forceinline__ State end(const State &state, int)
    {
        return state;
    }
};

/* logsumexp folds otherwise. */
template <class A> struct Step<A, false, true> {
    typedef typename A::Node State;
};

/* The node of a lane of one element. */
template <class A> RDX_DEVICE typename A::Node node_of_element(typename A::T x, typename A::T y, int64_t index)
{
    if constexpr (A::two_passes) {
        typename A::T m = A::greater(A::lowest(), x);
        return {m, A::add((typename A::T)0, x, A::base(m))};
    } else {
        return Step<A>::end(Step<A>::begin(x, y, index), 1);
    }
}

/* address(line) gives the At of a line; address.load_lines<K, COUNT>(raw, first) loads whole ones; address.crooked() says that vectors
   are misaligned and only load_lines can bring them. The first `lines` lines have `valid` elements, the next has `extra` (the ragged end of rows). */
template <class K, class Address, int BATCH = 16> struct Fold {
    typedef typename K::A A;
    typedef typename A::T T;
    typedef typename A::Node Node;
    static constexpr int E = K::elements, batch = 64 / E < BATCH ? 64 / E : BATCH;

    const Problem &p;
    const Address &address;

    __device__ __forceinline__ void run(int lines, int extra, int valid, Node *node) const
    {
        if constexpr (A::two_passes)
            two_passes(lines, extra, valid, node);
        else
            one_pass(lines, extra, valid, node);
    }

  private:
    template <int COUNT> __device__ __forceinline__ void whole(typename Step<A>::State *state, int first) const
    {
        Vector<K::bytes> raw[COUNT];
        address.template load_lines<K, COUNT>(raw, first);
        with_input<K>(p.recipe.in, [&](auto in) {
            if (has_special_maps<A>() && p.recipe.map >= RDX_MAP_ABS)
                fold_lines<COUNT, decltype(in), true>(state, raw, first);
            else
                fold_lines<COUNT, decltype(in), false>(state, raw, first);
        });
    }

    template <int COUNT, class In, bool SPECIAL>
    __device__ __forceinline__ void fold_lines(typename Step<A>::State *state, const Vector<K::bytes> *raw,
                                               int first) const
    {
#pragma unroll
        for (int u = 0; u < COUNT; u++) {
            At at = A::indexed ? address(first + u) : At();
#pragma unroll
            for (int e = 0; e < E; e++) {
                T x, y;
                read_element<A, In, SPECIAL>(p.recipe, raw[u].word, e * K::size, x, y);
                int64_t index = at.index + e * at.across;
                if (u == 0 && first == 0)
                    state[e] = Step<A>::begin(x, y, index);
                else
                    state[e] = Step<A>::next(state[e], x, y, first + u, index);
            }
        }
    }

    /* A line of which `have` elements are there. */
    __device__ __forceinline__ void part(typename Step<A>::State *state, int line, int have) const
    {
        Vector<K::bytes> raw;
        At at = address(line);
        load_vector<K>(raw, at.in, have, p.recipe.in, !address.crooked());
        with_input<K>(p.recipe.in, [&](auto in) {
#pragma unroll
            for (int e = 0; e < E; e++) {
                T x, y;
                read_element<A, decltype(in)>(p.recipe, raw.word, e * K::size, x, y);
                int64_t index = at.index + e * at.across;
                if (e < have)
                    state[e] = line == 0 ? Step<A>::begin(x, y, index) : Step<A>::next(state[e], x, y, line, index);
            }
        });
    }

    __device__ __forceinline__ void one_pass(int lines, int extra, int valid, Node *node) const
    {
        typename Step<A>::State state[E];
        int line = 0;
        if (valid == E) {
#pragma unroll 1
            for (; lines - line >= batch; line += batch)
                whole<batch>(state, line);
            if constexpr (batch > 4) {
#pragma unroll 1
                for (; lines - line >= 4; line += 4)
                    whole<4>(state, line);
            }
#pragma unroll 1
            for (; lines - line >= 2; line += 2)
                whole<2>(state, line);
            if (line < lines) {
                whole<1>(state, line);
                line++;
            }
        }
#pragma unroll 1
        for (; line < lines + (extra > 0); line++)
            part(state, line, line < lines ? valid : extra);
#pragma unroll
        for (int e = 0; e < E; e++)
            node[e] = Step<A>::end(state[e], lines + (e < extra));
    }

    /* logsumexp: the maximum, then the sum. A chunk's whole lane is loaded once, anything else twice. */
    __device__ __forceinline__ void two_passes(int lines, int extra, int valid, Node *node) const
    {
        T m[E], base[E], s[E];
#pragma unroll
        for (int e = 0; e < E; e++) {
            m[e] = A::lowest();
            s[e] = 0;
        }
        if (E <= 8 && BATCH == 16 && lines == 16 && valid == E) {
            Vector<K::bytes> raw[16];
            address.template load_lines<K, 16>(raw, 0);
            with_input<K>(p.recipe.in, [&](auto in) {
#pragma unroll
                for (int pass = 0; pass < 2; pass++) {
#pragma unroll
                    for (int u = 0; u < 16; u++)
                        add<decltype(in)>(raw[u], E, pass, m, base, s);
                    set_base(m, base);
                }
            });
        } else {
#pragma unroll 1
            for (int pass = 0; pass < 2; pass++) {
#pragma unroll 1
                for (int line = 0; line < lines + (extra > 0); line++) {
                    Vector<K::bytes> raw;
                    int have = line < lines ? valid : extra;
                    load_vector<K>(raw, address(line).in, have, p.recipe.in, !address.crooked());
                    with_input<K>(p.recipe.in, [&](auto in) { add<decltype(in)>(raw, have, pass, m, base, s); });
                }
                if (pass == 0)
                    set_base(m, base);
            }
        }
#pragma unroll
        for (int e = 0; e < E; e++)
            node[e] = {m[e], s[e]};
    }

    template <class In>
    __device__ __forceinline__ void add(const Vector<K::bytes> &raw, int have, int pass, T *m, const T *base,
                                        T *s) const
    {
#pragma unroll
        for (int e = 0; e < E; e++) {
            T x, y;
            read_element<A, In>(p.recipe, raw.word, e * K::size, x, y);
            if (e < have && pass == 0)
                m[e] = A::greater(m[e], x);
            if (e < have && pass == 1)
                s[e] = A::add(s[e], x, base[e]);
        }
    }

    static __device__ __forceinline__ void set_base(const T *m, T *base)
    {
#pragma unroll
        for (int e = 0; e < E; e++)
            base[e] = A::base(m[e]);
    }
};

} // namespace rdx
#endif
