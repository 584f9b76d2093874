/* The algebras of algebra.h as C++ types, so that kernels are templates over one argument:

     A::T             working type          A::Lane, A::Node   states
     A::lift, push, seal, join              A::pair            counts of two nodes, where A::counted
     A::words         32-bit words of a node without padding; that is how nodes travel through shuffles, shared memory
                      and the workspace: structs of arrays of words, free of alignment and of bank conflicts

   Integer sums run on 32-bit lanes for inputs of up to 16 bits (I32 narrow), else on i64: exact, so any width that
   holds 16 elements gives the same bits. */
#ifndef RDX_KERNELS_CUDA_ALGEBRA_CUH
#define RDX_KERNELS_CUDA_ALGEBRA_CUH

#include "../algebra.h"
#include "index.cuh"

RDX_NO_COUNTS(narrow)
#define RDX_INT int32_t
#define RDX_WIDE int32_t
#define RDX_SUFFIX narrow
#include "../algebra_isum.inc"
#undef RDX_INT
#undef RDX_WIDE
#undef RDX_SUFFIX

namespace rdx
{

struct Words2 {
    uint32_t low, high;
};

RDX_DEVICE void put_field(uint32_t *words, int &at, float x)
{
    words[at++] = __float_as_uint(x);
}
RDX_DEVICE void put_field(uint32_t *words, int &at, int32_t x)
{
    words[at++] = (uint32_t)x;
}
RDX_DEVICE void put_field(uint32_t *words, int &at, int64_t x)
{
    words[at++] = (uint32_t)x;
    words[at++] = (uint32_t)((uint64_t)x >> 32);
}
RDX_DEVICE void put_field(uint32_t *words, int &at, double x)
{
    put_field(words, at, (int64_t)__double_as_longlong(x));
}
RDX_DEVICE void get_field(const uint32_t *words, int &at, float &x)
{
    x = __uint_as_float(words[at++]);
}
RDX_DEVICE void get_field(const uint32_t *words, int &at, int32_t &x)
{
    x = (int32_t)words[at++];
}
RDX_DEVICE void get_field(const uint32_t *words, int &at, int64_t &x)
{
    uint64_t low = words[at++];
    x = (int64_t)((uint64_t)words[at++] << 32 | low);
}
RDX_DEVICE void get_field(const uint32_t *words, int &at, double &x)
{
    int64_t bits;
    get_field(words, at, bits);
    x = __longlong_as_double(bits);
}

template <int ALGEBRA, int WORK> struct Algebra;

#define RDX_COUNT_WORDS(part, type, name) +(int)(sizeof(type) / 4)
#define RDX_PUT_FIELD(part, type, name) put_field(words, at, node.name);
#define RDX_GET_FIELD(part, type, name) get_field(words, at, node.name);

#define RDX_ALGEBRA_TYPES(NAME, name, WORK, Type, suffix)                                                              \
    static constexpr int algebra = RDX_ALGEBRA_##NAME, work = RDX_WORK_##WORK, unit = 1;                               \
    typedef Type T;                                                                                                    \
    typedef RdxNode_##name##_##suffix Node;                                                                            \
    typedef RdxPair_##suffix Pair;                                                                                     \
    static constexpr int words = 0 RDX_NODE_##NAME(RDX_COUNT_WORDS, Type);                                             \
    static __device__ __forceinline__ void pack(const Node &node, uint32_t *words)                                     \
    {                                                                                                                  \
        int at = 0;                                                                                                    \
        RDX_NODE_##NAME(RDX_PUT_FIELD, Type)                                                                           \
    }                                                                                                                  \
    static __device__ __forceinline__ void unpack(Node &node, const uint32_t *words)                                   \
    {                                                                                                                  \
        int at = 0;                                                                                                    \
        RDX_NODE_##NAME(RDX_GET_FIELD, Type)                                                                           \
    }                                                                                                                  \
    static __device__ __forceinline__ Pair pair(int64_t na, int64_t nb)                                                \
    {                                                                                                                  \
        return rdx_pair_##suffix(na, nb);                                                                              \
    }

#define RDX_ALGEBRA_JOIN(name, suffix)                                                                                 \
    static __device__ __forceinline__ Node join(const Node &a, const Node &b, const Pair *pair)                        \
    {                                                                                                                  \
        return rdx_##name##_join_##suffix(a, b, pair);                                                                 \
    }

#define RDX_ALGEBRA_LANES(name, suffix)                                                                                \
    typedef RdxLane_##name##_##suffix Lane;                                                                            \
    static __device__ __forceinline__ Lane lift(T x, T y)                                                              \
    {                                                                                                                  \
        return rdx_##name##_lift_##suffix(x, y);                                                                       \
    }                                                                                                                  \
    static __device__ __forceinline__ Lane push(const Lane &lane, T x, T y, int line)                                  \
    {                                                                                                                  \
        return rdx_##name##_push_##suffix(lane, x, y, line);                                                           \
    }                                                                                                                  \
    static __device__ __forceinline__ Node seal(const Lane &lane, double count)                                        \
    {                                                                                                                  \
        RdxSeal seal = {count, NULL};                                                                                  \
        return rdx_##name##_seal_##suffix(lane, &seal);                                                                \
    }

/* What all have but logsumexp. */
#define RDX_ALGEBRA_OF(NAME, name, WORK, Type, suffix)                                                                 \
    RDX_ALGEBRA_TYPES(NAME, name, WORK, Type, suffix)                                                                  \
    RDX_ALGEBRA_JOIN(name, suffix)                                                                                     \
    RDX_ALGEBRA_LANES(name, suffix)

#define RDX_PLAIN(NAME, name, WORK, Type, suffix)                                                                      \
    template <> struct Algebra<RDX_ALGEBRA_##NAME, RDX_WORK_##WORK> {                                                  \
        RDX_ALGEBRA_OF(NAME, name, WORK, Type, suffix)                                                                 \
        static constexpr bool counted = false, indexed = false, two_passes = false;                                    \
    };

/* The same with counts; seal_by takes 1 / count. */
#define RDX_COUNTED(NAME, name, WORK, Type, suffix)                                                                    \
    template <> struct Algebra<RDX_ALGEBRA_##NAME, RDX_WORK_##WORK> {                                                  \
        RDX_ALGEBRA_OF(NAME, name, WORK, Type, suffix)                                                                 \
        static constexpr bool counted = true, indexed = false, two_passes = false;                                     \
        static __device__ __forceinline__ Node seal_by(const Lane &lane, T inverse)                                    \
        {                                                                                                              \
            return rdx_##name##_seal_by_##suffix(lane, inverse);                                                       \
        }                                                                                                              \
    };
#define RDX_REALS(X, NAME, name) X(NAME, name, F32, float, f32) X(NAME, name, F64, double, f64)
#define RDX_INTS(X, NAME, name) X(NAME, name, I32, int32_t, i32) X(NAME, name, I64, int64_t, i64)
RDX_REALS(RDX_PLAIN, SUM, sum)
RDX_REALS(RDX_PLAIN, PROD, prod)
RDX_REALS(RDX_PLAIN, CPROD, cprod)
RDX_REALS(RDX_PLAIN, CPRODN, cprodn)
RDX_REALS(RDX_PLAIN, SUMN, sumn)
RDX_REALS(RDX_PLAIN, CSUMN, csumn)
RDX_REALS(RDX_PLAIN, SUMSQ, sumsq)
RDX_REALS(RDX_PLAIN, CSUMSQ, csumsq)
RDX_REALS(RDX_COUNTED, VAR, var)
RDX_REALS(RDX_COUNTED, CVAR, cvar)
RDX_REALS(RDX_PLAIN, VARN, varn)
RDX_REALS(RDX_PLAIN, CVARN, cvarn)
RDX_INTS(RDX_PLAIN, MAX, max)
RDX_INTS(RDX_PLAIN, AND, and)
RDX_INTS(RDX_PLAIN, OR, or)
RDX_INTS(RDX_PLAIN, XOR, xor)
RDX_PLAIN(SUM, sum, I64, int64_t, i64)
RDX_PLAIN(PROD, prod, I64, int64_t, i64)
RDX_PLAIN(ISUM, isum, I32, int32_t, i32)
RDX_PLAIN(ISUM, isum, I16, int32_t, narrow)
RDX_PLAIN(MOMENTS, moments, I32, int32_t, i32)

/* logsumexp: a lane is folded in two passes (twice.cuh). The answers are those of algebra_lse.inc in fewer
   instructions, though not all of the states on the way: where m is infinite or NaN it is the answer, whatever s is;
   beside a finite m nothing is left of the s of -inf, one for each lane at most, times E(-87); and the sign of a zero m
   is lost in x - m and in m + log(s). So NaN may be any NaN, x - m may be NaN where m is -inf, which softexp takes for
   -inf, and of equal m fma(s, E(0), s) is the sum. */
RDX_DEVICE double greater_of(double a, double b, bool omit)
{
    return rdx_lse_max_f64(a, b, omit);
}
#define RDX_LOGSUMEXP(NAME, name, WORK, Type, suffix)                                                                  \
    template <> struct Algebra<RDX_ALGEBRA_##NAME, RDX_WORK_##WORK> {                                                  \
        RDX_ALGEBRA_TYPES(NAME, lse, WORK, Type, suffix)                                                               \
        static constexpr bool counted = false, indexed = false, two_passes = true;                                     \
        static constexpr bool omit = RDX_ALGEBRA_##NAME == RDX_ALGEBRA_LSEN;                                           \
        static __device__ __forceinline__ T lowest()                                                                   \
        {                                                                                                              \
            return -rdx_infinity_##suffix();                                                                           \
        }                                                                                                              \
        static __device__ __forceinline__ T greater(T m, T x)                                                          \
        {                                                                                                              \
            return greater_of(m, x, omit);                                                                             \
        }                                                                                                              \
        static __device__ __forceinline__ T add(T s, T x, T m)                                                         \
        {                                                                                                              \
            return rdx_lse_add_##suffix(s, x, m, omit);                                                                \
        }                                                                                                              \
        static __device__ __forceinline__ Node join(const Node &a, const Node &b, const Pair *)                        \
        {                                                                                                              \
            bool b_wins = b.m > a.m;                                                                                   \
            T scale = rdx_softexp_##suffix(-fabs(a.m - b.m));                                                          \
            return {greater_of(a.m, b.m, false), rdx_fma_##suffix(b_wins ? a.s : b.s, scale, b_wins ? b.s : a.s)};     \
        }                                                                                                              \
    };
RDX_REALS(RDX_LOGSUMEXP, LSE, lse)
RDX_REALS(RDX_LOGSUMEXP, LSEN, lsen)

/* Index algebras fold nodes, of which join takes the lowest of equal indices, so that lines may come in any order of
   the logical index; or, where the order is ascending, lanes. */
#define RDX_ARG(NAME, name, WORK, Type, suffix)                                                                        \
    template <> struct Algebra<RDX_ALGEBRA_##NAME, RDX_WORK_##WORK> {                                                  \
        RDX_ALGEBRA_OF(NAME, name, WORK, Type, suffix)                                                                 \
        static constexpr bool counted = false, indexed = true, two_passes = false;                                     \
        static __device__ __forceinline__ Node element(T x, T y, int64_t index)                                        \
        {                                                                                                              \
            (void)y;                                                                                                   \
            Node node = {x, (decltype(Node::i))index};                                                                 \
            return node;                                                                                               \
        }                                                                                                              \
        static __device__ __forceinline__ Node winner(const Lane &lane, int64_t index)                                 \
        {                                                                                                              \
            return element(lane.k, lane.k, index);                                                                     \
        }                                                                                                              \
    };
#define RDX_BOTH(NAME, name, WORK, Type, suffix)                                                                       \
    template <> struct Algebra<RDX_ALGEBRA_##NAME, RDX_WORK_##WORK> {                                                  \
        RDX_ALGEBRA_OF(NAME, name, WORK, Type, suffix)                                                                 \
        static constexpr bool counted = false, indexed = true, two_passes = false;                                     \
        static __device__ __forceinline__ Node element(T x, T y, int64_t index)                                        \
        {                                                                                                              \
            Node node = {x, y, (decltype(Node::i))index};                                                              \
            return node;                                                                                               \
        }                                                                                                              \
        static __device__ __forceinline__ Node winner(const Lane &lane, int64_t index)                                 \
        {                                                                                                              \
            return element(lane.v, lane.k, index);                                                                     \
        }                                                                                                              \
    };
RDX_INTS(RDX_ARG, ARGMAX, argmax)
RDX_INTS(RDX_BOTH, MAXARG, maxarg)
RDX_ARG(ARGMAXL, argmaxl, I32, int32_t, i32)
RDX_BOTH(MAXARGL, maxargl, I32, int32_t, i32)

/* Two values side by side, each with a tree of its own: the parts of a complex sum, the two keys of minmax. */
template <class A> struct Twice {
    static constexpr int algebra = A::algebra, work = A::work, unit = 2, words = 2 * A::words;
    static constexpr bool counted = false, indexed = false, two_passes = false;
    typedef typename A::T T;
    typedef typename A::Pair Pair;
    struct Lane {
        typename A::Lane first, second;
    };
    struct Node {
        typename A::Node first, second;
    };
    static __device__ __forceinline__ void pack(const Node &node, uint32_t *words)
    {
        A::pack(node.first, words);
        A::pack(node.second, words + A::words);
    }
    static __device__ __forceinline__ void unpack(Node &node, const uint32_t *words)
    {
        A::unpack(node.first, words);
        A::unpack(node.second, words + A::words);
    }
    static __device__ __forceinline__ Pair pair(int64_t na, int64_t nb)
    {
        return A::pair(na, nb);
    }
    static __device__ __forceinline__ Node join(const Node &a, const Node &b, const Pair *pair)
    {
        return {A::join(a.first, b.first, pair), A::join(a.second, b.second, pair)};
    }
    static __device__ __forceinline__ Lane lift(T x, T y)
    {
        return {A::lift(x, x), A::lift(y, y)};
    }
    static __device__ __forceinline__ Lane push(const Lane &lane, T x, T y, int line)
    {
        return {A::push(lane.first, x, x, line), A::push(lane.second, y, y, line)};
    }
    static __device__ __forceinline__ Node seal(const Lane &lane, double count)
    {
        return {A::seal(lane.first, count), A::seal(lane.second, count)};
    }
};

/* x[1], x[2], ... and `last`: so a loop over an array in registers need not be unrolled. */
template <class X> RDX_DEVICE void rotate(X *x, int count, X last)
{
#pragma unroll
    for (int i = 0; i + 1 < count; i++)
        x[i] = x[i + 1];
    x[count - 1] = last;
}

/* join of the node on the left, of na elements, with the one on the right, of nb. */
template <class A>
RDX_DEVICE typename A::Node join_full(const typename A::Node &a, const typename A::Node &b, int64_t na, int64_t nb)
{
    if constexpr (A::counted) {
        typename A::Pair pair = A::pair(na, nb);
        return A::join(a, b, &pair);
    } else {
        return A::join(a, b, NULL);
    }
}

/* The same where a side may have no elements: the other is the answer. */
template <class A>
RDX_DEVICE typename A::Node join_nodes(const typename A::Node &a, const typename A::Node &b, int64_t na, int64_t nb)
{
    if (nb == 0)
        return a;
    return na == 0 ? b : join_full<A>(a, b, na, nb);
}

/* What threads have that have no node. Nothing may come of it: see RDX_UNSET. */
template <class A> RDX_DEVICE typename A::Node unset()
{
    uint32_t words[A::words];
#pragma unroll
    for (int k = 0; k < A::words; k++)
        words[k] = RDX_UNSET;
    typename A::Node node;
    A::unpack(node, words);
    return node;
}

template <class A> RDX_DEVICE typename A::Node get_node(const uint32_t *at, int64_t stride)
{
    uint32_t words[A::words];
#pragma unroll
    for (int k = 0; k < A::words; k++)
        words[k] = at[k * stride];
    typename A::Node node;
    A::unpack(node, words);
    return node;
}

template <class A> RDX_DEVICE void put_node(uint32_t *at, int64_t stride, const typename A::Node &node)
{
    uint32_t words[A::words];
    A::pack(node, words);
#pragma unroll
    for (int k = 0; k < A::words; k++)
        at[k * stride] = words[k];
}

/* What kernels never come to, and so are not stamped for (K: a Spec, vec.cuh): those of frequent maps, |z| of complex
   numbers, whose working type is as wide as a part of them; those of rows and columns that have fewer than 2^31
   elements, indices of more (recipe.h). */
template <class K> constexpr bool is_modulus()
{
    typedef typename K::A A;
    constexpr int a = A::algebra;
    return A::unit == 1 && (a == RDX_ALGEBRA_SUM || a == RDX_ALGEBRA_SUMN || a == RDX_ALGEBRA_MAX) &&
           K::size == 2 * (int)sizeof(typename A::T);
}
template <class K> constexpr bool is_long()
{
    return K::A::algebra == RDX_ALGEBRA_ARGMAXL || K::A::algebra == RDX_ALGEBRA_MAXARGL;
}

} // namespace rdx
#endif
