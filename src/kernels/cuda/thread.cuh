/* How a thread folds: begin, next and end of a lane for each sort of algebra (Step), and the fold of one lane whose
   lines lie anywhere, an element a load (Fold). Vectors go another way (ring.cuh). */
#ifndef RDX_KERNELS_CUDA_THREAD_CUH
#define RDX_KERNELS_CUDA_THREAD_CUH

#include "vec.cuh"

namespace rdx
{

/* Where a line's element lies, and its logical index. */
struct At {
    const unsigned char *in;
    int64_t index;
};

/* lift and push. */
template <class A> struct Push {
    typedef typename A::Lane State;
    typedef typename A::T T;
    static constexpr bool indexed = false, remembers = false, latest = false;
    static __device__ __forceinline__ State begin(T x, T y, int64_t)
    {
        return A::lift(x, y);
    }
    static __device__ __forceinline__ State next(const State &state, T x, T y, int line, int64_t)
    {
        return A::push(state, x, y, line);
    }
};

/* Pushes, or for indexed algebras the join of elements as nodes. */
template <class A, bool INDEXED = A::indexed, bool TWO_PASSES = A::two_passes> struct Step : Push<A> {
    typedef typename A::Lane State;
    static __device__ __forceinline__ typename A::Node end(const State &state, int count)
    {
        return A::seal(state, (double)count);
    }
};

template <class A> struct Step<A, true, false> {
    typedef typename A::Node State;
    typedef typename A::T T;
    static constexpr bool indexed = true, remembers = false;
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

/* Indexed algebras where lines come in ascending order of logical index: the first of equals stays, and which line it
   was says which index, once the lane is done. */
template <class A> struct Winner : Push<A> {
    static constexpr bool remembers = true;
};

/* The same where the order is descending: the last of equals stays. */
template <class A> struct LatestWinner : Winner<A> {
    typedef typename A::Lane State;
    typedef typename A::T T;
    static constexpr bool latest = true;
    static __device__ __forceinline__ State next(const State &state, T x, T y, int line, int64_t)
    {
        State next = A::push(state, x, y, line);
        next.line = y == next.k ? (T)line : next.line;
        return next;
    }
};

/* logsumexp folds otherwise. */
template <class A> struct Step<A, false, true> {
    typedef typename A::Node State;
};

/* Lanes that are not there are sealed like the rest, and what comes of them is never looked at. Those that count their
   elements in their working type must not convert garbage; to clear the others took 807 us instead of 558 for 64M rows
   of 4 f32. */
template <class A, class State> RDX_DEVICE void clear_lanes(State *state, int count)
{
    constexpr int a = A::algebra;
    if constexpr (a == RDX_ALGEBRA_SUMN || a == RDX_ALGEBRA_CSUMN || a == RDX_ALGEBRA_CPRODN || a == RDX_ALGEBRA_VARN ||
                  a == RDX_ALGEBRA_CVARN) {
#pragma unroll
        for (int i = 0; i < count; i++)
            state[i] = {};
    }
}

/* The greatest of what is looked at twice, of its first element: where NaN is not left out, that. */
template <class A> RDX_DEVICE typename A::T first_of(typename A::T x)
{
    return A::omit ? A::greater(A::lowest(), x) : x;
}

/* The node of a lane of one element. Of logsumexp E(x - m) is 1, or m is infinite or NaN and the answer
   (algebra.cuh). */
template <class A> RDX_DEVICE typename A::Node node_of_element(typename A::T x, typename A::T y, int64_t index)
{
    if constexpr (A::two_passes)
        return {first_of<A>(x), (typename A::T)1};
    else
        return Step<A>::end(Step<A>::begin(x, y, index), 1);
}

/* The same of a lane that is the upper one of a join with another such. Of those that are counted seal makes x + 0,
   which is x but for -0; but the lower one has that 0 already, and (a + 0) + x is (a + 0) + (x + 0): an instruction of
   eight less. The sign of a zero in their difference shows nowhere. */
template <class A, bool UPPER> RDX_DEVICE typename A::Node leaf_node(typename A::T x, typename A::T y, int64_t index)
{
    if constexpr (UPPER && A::algebra == RDX_ALGEBRA_VAR)
        return {x, 0};
    else if constexpr (UPPER && A::algebra == RDX_ALGEBRA_CVAR)
        return {x, y, 0};
    else
        return node_of_element<A>(x, y, index);
}

/* One lane: the at most 16 elements at address(line), loaded up to 16 at a time before the first of them is folded,
   then four, then one by one. */
template <class K, class Address> struct Fold {
    typedef typename K::A A;
    typedef typename A::T T;
    typedef typename A::Node Node;
    static_assert(K::elements == 1, "an element a load");

    const Problem &p;
    const Address &address;

    __device__ __forceinline__ Node run(int lines) const
    {
        if constexpr (A::two_passes)
            return two_passes(lines);
        else
            return one_pass(lines);
    }

  private:
    /* COUNT lines from `first` on. */
    template <int COUNT, int MAP> __device__ __forceinline__ void batch(typename Step<A>::State &state, int first) const
    {
        Vector<K::bytes> raw[COUNT];
        int64_t index[COUNT] = {};
        address.template load_lines<K, COUNT>(raw, first);
        if constexpr (A::indexed) {
#pragma unroll
            for (int u = 0; u < COUNT; u++)
                index[u] = address(first + u).index;
        }
        with_input<K, MAP>(p.recipe.in, [&](auto in) {
#pragma unroll
            for (int u = 0; u < COUNT; u++) {
                T x, y;
                read_element<A, decltype(in), MAP>(p.recipe, raw[u].word, 0, x, y);
                if (u == 0 && first == 0)
                    state = Step<A>::begin(x, y, index[u]);
                else
                    state = Step<A>::next(state, x, y, first + u, index[u]);
            }
        });
    }

    __device__ __forceinline__ Node one_pass(int lines) const
    {
        typename Step<A>::State state;
        clear_lanes<A>(&state, 1); /* of no line at all, too, a node is made */
        bool frequent = with_map<A>(p.recipe, [&](auto map) {
            constexpr int MAP = decltype(map)::value;
            int line = 0;
            if (lines == 16) {
                batch<16, MAP>(state, 0);
                line = 16;
            }
#pragma unroll 1
            for (; lines - line >= 4; line += 4)
                batch<4, MAP>(state, line);
#pragma unroll 1
            for (; line < lines; line++)
                batch<1, MAP>(state, line);
        });
        if (!frequent) {
#pragma unroll 1
            for (int line = 0; line < lines; line++)
                batch<1, RDX_CUDA_ANY_MAP>(state, line);
        }
        return Step<A>::end(state, lines);
    }

    /* logsumexp: the maximum, then the sum; every element is loaded twice. */
    __device__ __forceinline__ Node two_passes(int lines) const
    {
        Node node = {A::lowest(), 0};
#pragma unroll 1
        for (int pass = 0; pass < 2; pass++) {
#pragma unroll 1
            for (int line = 0; line < lines; line++) {
                Vector<K::bytes> raw[1];
                address.template load_lines<K, 1>(raw, line);
                with_input<K>(p.recipe.in, [&](auto in) {
                    T x, y;
                    read_element<A, decltype(in)>(p.recipe, raw[0].word, 0, x, y);
                    if (pass == 0)
                        node.m = A::greater(node.m, x);
                    else
                        node.s = A::add(node.s, x, node.m);
                });
            }
        }
        return node;
    }
};

} // namespace rdx
#endif
