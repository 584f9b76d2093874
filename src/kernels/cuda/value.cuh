/* Outputs that are a value and nothing more: a float's sum, product, mean, variance, root or extreme, a sum of small
   integers or their mean, a truth, an extreme of integers, an index. What finish.cuh does by switches at run time is
   written out for them, and neighbours are stored together. */
#ifndef RDX_KERNELS_CUDA_VALUE_CUH
#define RDX_KERNELS_CUDA_VALUE_CUH

#include "vec.cuh"

namespace rdx
{

RDX_DEVICE float nan_of(float)
{
    return RDX_REAL_NAN_F32;
}
RDX_DEVICE double nan_of(double)
{
    return RDX_REAL_NAN_F64;
}
RDX_DEVICE float root_of(float x)
{
    return rdx_sqrt_f32(x);
}
RDX_DEVICE double root_of(double x)
{
    return rdx_sqrt_f64(x);
}

/* Keys back to values; the inverse of key_of. The keys of NaN, and of nothing or nothing but NaN left out, are the
   ends, which become NaN this way too. */
RDX_DEVICE float value_of_key(int32_t key, const RdxRecipe &r, bool flip)
{
    int32_t ordered = flip ? ~key : key;
    float x = rdx_f32_of_bits((uint32_t)(ordered ^ ((ordered >> 31) & INT32_MAX)));
    float other = key == INT32_MIN && r.op == RDX_NORM ? 0 : RDX_REAL_NAN_F32;
    return x == x ? x : other;
}
RDX_DEVICE double value_of_key(int64_t key, const RdxRecipe &r, bool flip)
{
    int64_t ordered = flip ? ~key : key;
    double x = rdx_f64_of_bits((uint64_t)(ordered ^ ((ordered >> 63) & INT64_MAX)));
    double other = key == INT64_MIN && r.op == RDX_NORM ? 0 : RDX_REAL_NAN_F64;
    return x == x ? x : other;
}

template <class A> RDX_DEVICE constexpr bool is_float_sum()
{
    constexpr int a = A::algebra;
    return (A::work == RDX_WORK_F32 || A::work == RDX_WORK_F64) && A::unit == 1 &&
           (a == RDX_ALGEBRA_SUM || a == RDX_ALGEBRA_PROD || a == RDX_ALGEBRA_SUMSQ);
}

/* Outputs that need none of the switches (shape.value_bytes), of which short rows and columns have one for every few
   elements: emit takes some 70 instructions. Neighbours are stored together. */
template <class A> struct Value {
    typedef typename A::T T;
    typedef typename A::Node Node;
    static constexpr bool is_extreme = A::algebra == RDX_ALGEBRA_MAX && A::unit == 1,
                          is_count = A::algebra == RDX_ALGEBRA_ISUM,
                          is_index = A::algebra == RDX_ALGEBRA_ARGMAX || A::algebra == RDX_ALGEBRA_ARGMAXL,
                          is_spread = A::algebra == RDX_ALGEBRA_VAR;
    static constexpr bool exists = is_float_sum<A>() || is_extreme || is_count || is_index || is_spread;
    typedef typename std::conditional<is_count || is_index, int64_t,
                                      typename std::conditional<sizeof(T) == 4, float, double>::type>::type Type;

    /* What E nodes come to; NaN may be any. */
    template <int E> static __device__ __forceinline__ void of(const Problem &p, const Node *node, Type *x)
    {
        const RdxRecipe &r = p.recipe;
#pragma unroll
        for (int e = 0; e < E; e++) {
            if constexpr (is_index)
                x[e] = node[e].i;
            else if constexpr (is_extreme)
                x[e] = value_of_key(node[e].k, r, r.flip);
            else if constexpr (is_spread)
                x[e] = node[e].q;
            else
                x[e] = node[e].s;
        }
        if constexpr (is_count) {
            if (r.finish == RDX_FINISH_MEAN) { /* a double's bits */
                double count = (double)forgotten(r.count);
#pragma unroll
                for (int e = 0; e < E; e++)
                    x[e] = (Type)rdx_bits_of_f64((double)x[e] / count);
            }
        }
        if constexpr (is_spread) { /* see finish_spread */
            double degrees = (double)forgotten(r.count) - r.correction;
#pragma unroll
            for (int e = 0; e < E; e++) {
                x[e] = x[e] / (T)degrees;
                if (r.finish == RDX_FINISH_STD)
                    x[e] = root_of(x[e]);
                bool defined = degrees > 0 && node[e].m - node[e].m == 0 && x[e] == x[e];
                x[e] = defined ? x[e] : nan_of(x[e]);
            }
        }
        if constexpr (is_float_sum<A>()) {
            if (E > 1 && r.finish == RDX_FINISH_MEAN) {
                Type count = (Type)forgotten(r.count); /* see emit */
#pragma unroll
                for (int e = 0; e < E; e++)
                    x[e] = x[e] / count;
            } else if (E > 1 && r.finish == RDX_FINISH_SQRT) {
#pragma unroll
                for (int e = 0; e < E; e++)
                    x[e] = root_of(x[e] + 0);
            }
        }
    }

    /* At once, or by sixteen bytes. */
    template <int E, class X> static __device__ __forceinline__ void store_pieces(unsigned char *to, const X *x)
    {
        constexpr int each = E * sizeof(X) > 16 ? 16 / sizeof(X) : E;
        struct alignas(each * sizeof(X)) Piece {
            X x[each];
        };
#pragma unroll
        for (int first = 0; first < E; first += each) {
            Piece piece;
#pragma unroll
            for (int e = 0; e < each; e++)
                piece.x[e] = x[first + e];
            store_aligned(to + first * sizeof(X), piece);
        }
    }
    /* Where place.of(e, bytes of one) says, so many at once. */
    template <int E, class X, class Place>
    static __device__ __forceinline__ void store_pieces(const Place &place, const X *x)
    {
#pragma unroll
        for (int e = 0; e < E; e += Place::aligned)
            store_pieces<Place::aligned>(place.of(e, (int)sizeof(X)), x + e);
    }

    /* Rounded to 16 bits. */
    template <int E, bool BRAIN, class Place>
    static __device__ __forceinline__ void store_halves(const Place &to, const float *x)
    {
        uint16_t half[E];
#pragma unroll
        for (int e = 0; e < E; e += 2) {
            const uint32_t pair = narrow_pair<BRAIN>(x[e], e + 1 < E ? x[e + 1] : 0);
            half[e] = (uint16_t)pair;
            if (e + 1 < E)
                half[e + 1] = (uint16_t)(pair >> 16);
        }
        store_pieces<E>(to, half);
    }

    /* Extremes of integers, of which a key is one. */
    template <int E, class X, class Place>
    static __device__ __forceinline__ void store_keys(const Problem &p, Place to, const Node *node)
    {
        const T turn =
            (p.recipe.flip ? (T)-1 : (T)0) ^ (p.recipe.is_unsigned ? (T)((T)1 << (8 * sizeof(T) - 1)) : (T)0);
        X x[E];
#pragma unroll
        for (int e = 0; e < E; e++)
            x[e] = (X)(node[e].k ^ turn);
        store_pieces<E>(to, x);
    }

    /* What counts say: whether any is, or whether none of the zeros is. */
    template <int E> static __device__ __forceinline__ void answers(const Problem &p, const Node *node, uint8_t *x)
    {
        const bool none = p.recipe.finish == RDX_FINISH_ALL;
#pragma unroll
        for (int e = 0; e < E; e++)
            x[e] = (node[e].s != 0) != none;
    }

    /* E neighbours, packed, to an address, or where a place says. ROUNDS: perhaps to 16 bits. */
    template <int E, bool ROUNDS = (E > 1 || !is_float_sum<A>()), class Place>
    static __device__ __forceinline__ void store(const Problem &p, Place to, const Node *node)
    {
        if constexpr (is_extreme) {
            if (p.recipe.result == RDX_WORK_I64) {
                if (sizeof(T) == 8 && p.shape.value_bytes == 8)
                    store_keys<E, T>(p, to, node);
                else if (sizeof(T) == 8 || p.shape.value_bytes == 4)
                    store_keys<E, uint32_t>(p, to, node);
                else if (p.shape.value_bytes == 2)
                    store_keys<E, uint16_t>(p, to, node);
                else
                    store_keys<E, uint8_t>(p, to, node);
                return;
            }
        }
        if constexpr (is_count) {
            if (p.shape.value_bytes == 1) {
                uint8_t x[E];
                answers<E>(p, node, x);
                store_pieces<E>(to, x);
                return;
            }
        }
        Type x[E];
        of<E>(p, node, x);
        if constexpr (sizeof(Type) == 4 && ROUNDS)
            if (p.shape.value_bytes == 2) {
                if (p.recipe.out == RDX_TYPE_F16)
                    store_halves<E, false>(to, x);
                else
                    store_halves<E, true>(to, x);
                return;
            }
        if constexpr (is_float_sum<A>())
#pragma unroll
            for (int e = 0; e < E; e++)
                x[e] = x[e] == x[e] ? x[e] : nan_of(x[e]);
        store_pieces<E>(to, x);
    }
};

} // namespace rdx
#endif
