/* From a node to memory: finish, alpha and beta, one rounding into the output dtype, every copy. Once per output, so
   everything here is a run-time switch. What stores is not inlined; what looks at the problem is, for behind a call it
   is no constant memory. The rules are those of kernels/cpu/finish_real.inc and isa_finish.c. */
#ifndef RDX_KERNELS_CUDA_FINISH_CUH
#define RDX_KERNELS_CUDA_FINISH_CUH

#include "value.cuh"

namespace rdx
{

/* ---- Stores ---- */

template <class T> RDX_DEVICE void store_real(unsigned char *to, int type, T x)
{
    float odd;
    if constexpr (sizeof(T) == 4)
        odd = x;
    else
        odd = rdx_round_to_odd(x);
    switch (type) {
    case RDX_TYPE_F16:
        *(uint16_t *)to = (uint16_t)narrow_pair<false>(odd, 0);
        break;
    case RDX_TYPE_BF16:
        *(uint16_t *)to = (uint16_t)narrow_pair<true>(odd, 0);
        break;
    case RDX_TYPE_F8E4M3:
        *to = rdx_store_f8e4m3(odd);
        break;
    case RDX_TYPE_F8E5M2:
        *to = rdx_store_f8e5m2(odd);
        break;
    case RDX_TYPE_F32:
    case RDX_TYPE_C64:
        *(float *)to = rdx_store_f32((float)x);
        break;
    default:
        *(double *)to = rdx_store_f64((double)x);
        break;
    }
}

template <class T> RDX_DEVICE T load_real(const unsigned char *from, int type)
{
    switch (type) {
    case RDX_TYPE_F16:
        return (T)rdx_load_f16(*(const uint16_t *)from);
    case RDX_TYPE_BF16:
        return (T)rdx_load_bf16(*(const uint16_t *)from);
    case RDX_TYPE_F8E4M3:
        return (T)rdx_load_f8e4m3(*from);
    case RDX_TYPE_F8E5M2:
        return (T)rdx_load_f8e5m2(*from);
    case RDX_TYPE_F32:
    case RDX_TYPE_C64:
        return (T) * (const float *)from;
    default:
        return (T) * (const double *)from;
    }
}

RDX_DEVICE void store_integer(unsigned char *to, int type, int64_t x)
{
    switch (type) {
    case RDX_TYPE_BOOL:
        *to = x != 0;
        break;
    case RDX_TYPE_I8:
    case RDX_TYPE_U8:
        *to = (unsigned char)x;
        break;
    case RDX_TYPE_I16:
    case RDX_TYPE_U16:
        *(uint16_t *)to = (uint16_t)x;
        break;
    case RDX_TYPE_I32:
    case RDX_TYPE_U32:
        *(uint32_t *)to = (uint32_t)x;
        break;
    default:
        *(int64_t *)to = x;
        break;
    }
}

/* Where an output goes: the place of its first copy, and which of the copies are this thread's: first, first + step,
   ... below end. */
struct Target {
    unsigned char *out, *out2;
    int64_t first = 0, end = 1;
    int step = 1;
    bool second = false;
};

/* store(place) for each of a thread's copies. In the caller: behind a call each look at the problem takes some 500
   cycles, which only copies along several dims pay (seek_far_copy). */
template <class Store> RDX_DEVICE void each_copy(const Problem &p, const Target &target, Store store)
{
#pragma unroll 1
    for (int64_t copy = target.first; copy < target.end; copy += target.step) {
        Place place = seek_copy(p, copy);
        store(target.second ? target.out2 + place.out2 : target.out + place.out);
    }
}

/* alpha * x + beta * what was there, of one or two parts. */
template <class T> RDX_DEVICE void store_scaled(unsigned char *to, int type, T re, T im, double alpha, double beta)
{
    int parts = is_complex(type) ? 2 : 1, part_size = type == RDX_TYPE_C128 ? 8 : 4;
    for (int part = 0; part < parts; part++, to += part_size) {
        T x = part ? im : re;
        x = alpha == 1 ? x : (T)alpha * x;
        if (beta != 0)
            x = x + (T)beta * load_real<T>(to, type);
        store_real(to, type, x);
    }
}

static __device__ __noinline__ void store_scaled_f32(unsigned char *to, int type, float re, float im, double alpha,
                                                     double beta)
{
    store_scaled(to, type, re, im, alpha, beta);
}

static __device__ __noinline__ void store_scaled_f64(unsigned char *to, int type, double re, double im, double alpha,
                                                     double beta)
{
    store_scaled(to, type, re, im, alpha, beta);
}

/* Stores alone, for integers and for outputs that need nothing else (shape.plain): short rows and columns have one for
   every few elements. */
static __device__ __noinline__ void store_f32(unsigned char *to, int type, float x)
{
    store_real(to, type, x);
}
static __device__ __noinline__ void store_f64(unsigned char *to, int type, double x)
{
    store_real(to, type, x);
}
static __device__ __noinline__ void store_i64(unsigned char *to, int type, int64_t x)
{
    store_integer(to, type, x);
}

RDX_DEVICE unsigned char *plain_place(const Target &target)
{
    return target.second ? target.out2 : target.out;
}

RDX_DEVICE int type_of(const Problem &p, const Target &target)
{
    return target.second ? p.recipe.out2 : p.recipe.out;
}

RDX_DEVICE double alpha_of(const Problem &p, const Target &target)
{
    return target.second ? 1 : p.alpha;
}

RDX_DEVICE double beta_of(const Problem &p, const Target &target)
{
    return target.second ? 0 : p.beta;
}

RDX_DEVICE void put(const Problem &p, const Target &target, float re, float im = 0)
{
    int type = type_of(p, target);
    if (p.shape.plain && !is_complex(type))
        store_f32(plain_place(target), type, re);
    else
        each_copy(p, target, [&](unsigned char *to) {
            store_scaled_f32(to, type, re, im, alpha_of(p, target), beta_of(p, target));
        });
}
RDX_DEVICE void put(const Problem &p, const Target &target, double re, double im = 0)
{
    int type = type_of(p, target);
    if (p.shape.plain && !is_complex(type))
        store_f64(plain_place(target), type, re);
    else
        each_copy(p, target, [&](unsigned char *to) {
            store_scaled_f64(to, type, re, im, alpha_of(p, target), beta_of(p, target));
        });
}
RDX_DEVICE void put(const Problem &p, const Target &target, int64_t x)
{
    int type = type_of(p, target);
    each_copy(p, target, [&](unsigned char *to) { store_i64(to, type, x); });
}

RDX_DEVICE Target second_of(Target target)
{
    target.second = true;
    return target;
}

/* ---- Finishes ---- */

RDX_DEVICE float log_of(float x)
{
    return rdx_log_f32(x);
}
RDX_DEVICE double log_of(double x)
{
    return rdx_log_f64(x);
}

/* The p-th root; not inlined, lest 1 / p be worked out before the loop over outputs (see emit). */
static __device__ __noinline__ double root(double x, double p)
{
    return power(x, 1 / p);
}

/* Sums, products, means, norms: one value or two parts. `n`: what was counted. */
template <class A>
RDX_DEVICE void finish_value(const Problem &p, const Target &target, typename A::T re, typename A::T im, int64_t n)
{
    typedef typename A::T T;
    const RdxRecipe &r = p.recipe;
    constexpr int a = A::algebra;
    constexpr bool has_im = A::unit == 2 || a == RDX_ALGEBRA_CSUMN || a == RDX_ALGEBRA_CPROD || a == RDX_ALGEBRA_CPRODN;
    if (r.finish == RDX_FINISH_MEAN) {
        re = re / (T)n;
        im = has_im ? im / (T)n : im;
    } else if (r.finish == RDX_FINISH_SQRT) {
        re = root_of(re + (T)0);
    } else if (r.finish == RDX_FINISH_ROOT) {
        re = a == RDX_ALGEBRA_SUMN && n == 0 ? (T)0 : (T)root((double)(re + (T)0), r.p);
    } else if (r.omit && a != RDX_ALGEBRA_PROD && a != RDX_ALGEBRA_CPROD && a != RDX_ALGEBRA_CPRODN) {
        /* A sum under omit is never -0: nothing but holes gives +0, and so does -0 alone. */
        re = re + (T)0;
        im = im + (T)0;
    }
    put(p, target, re, im);
}

/* var = Q / (n - correction), NaN where that is not positive and where the mean is not finite. */
template <class T> RDX_DEVICE void finish_spread(const Problem &p, const Target &target, T re, T im, T q, int64_t n)
{
    const RdxRecipe &r = p.recipe;
    double degrees = (double)n - r.correction;
    T variance = q / (T)degrees;
    bool defined = degrees > 0 && n > 0 && re - re == 0 && im - im == 0;
    put(p, target, defined ? (r.finish == RDX_FINISH_STD ? root_of(variance) : variance) : nan_of(q));
    if (r.second != RDX_SECOND_NONE)
        put(p, second_of(target), n > 0 ? re : nan_of(q), n > 0 ? im : nan_of(q));
}

template <class T> RDX_DEVICE void finish_key(const Problem &p, const Target &target, T key, bool flip)
{
    const RdxRecipe &r = p.recipe;
    if (r.result == RDX_WORK_I64)
        put(p, target, ((int64_t)(flip ? ~key : key)) ^ (r.is_unsigned ? INT64_MIN : 0));
    else
        put(p, target, value_of_key(key, r, flip));
}

template <class T> RDX_DEVICE void finish_index(const Problem &p, const Target &target, T key, int64_t index)
{
    constexpr T bottom = (T)((T)1 << (8 * sizeof(T) - 1));
    put(p, target, p.recipe.omit && key == bottom ? (int64_t)-1 : index);
}

RDX_DEVICE void finish_integer(const Problem &p, const Target &target, int64_t s, int64_t n)
{
    const RdxRecipe &r = p.recipe;
    if (r.result == RDX_WORK_I64)
        put(p, target,
            r.finish == RDX_FINISH_ANY   ? (int64_t)(s != 0)
            : r.finish == RDX_FINISH_ALL ? (int64_t)(s == 0)
                                         : s);
    else if (r.finish == RDX_FINISH_MEAN)
        put(p, target, (double)s / (double)n);
    else if (r.result == RDX_WORK_F32)
        put(p, target, r.is_unsigned ? (float)(uint64_t)s : (float)s);
    else
        put(p, target, r.is_unsigned ? (double)(uint64_t)s : (double)s);
}

/* n * T - S * S needs up to 97 bits: formed in 128, converted as high * 2^64 + low. */
RDX_DEVICE void finish_moments(const Problem &p, const Target &target, int64_t s, uint64_t t, int64_t n)
{
    const RdxRecipe &r = p.recipe;
    double count = (double)n, degrees = count - r.correction;
    unsigned __int128 difference = (unsigned __int128)(uint64_t)n * t - (unsigned __int128)((__int128)s * s);
    double squares = (double)(uint64_t)(difference >> 64) * 0x1p64 + (double)(uint64_t)difference;
    double variance = degrees > 0 && n > 0 ? squares / count / degrees : RDX_REAL_NAN_F64;
    if (r.finish == RDX_FINISH_MOMENTS_VAR)
        put(p, target, variance);
    else if (r.finish == RDX_FINISH_MOMENTS_STD)
        put(p, target, rdx_sqrt_f64(variance));
    else if (r.finish == RDX_FINISH_MOMENTS_SUMSQ)
        put(p, target, (double)t);
    else
        put(p, target, rdx_sqrt_f64((double)t));
    if (r.second != RDX_SECOND_NONE)
        put(p, second_of(target), (double)s / count);
}

template <class A> RDX_DEVICE void emit(const Problem &p, const Target &target, const typename A::Node &node)
{
    const RdxRecipe &r = p.recipe;
    constexpr int a = A::algebra;
    constexpr bool real = A::work == RDX_WORK_F32 || A::work == RDX_WORK_F64;
    if constexpr (Value<A>::exists && !Value<A>::is_spread) {
        /* Of sums one by one only those that are stored as they are: with divisions, roots and roundings here, rows of
           129 f32 took 94 us, not 87. */
        if (is_float_sum<A>() ? p.shape.direct : p.shape.value_bytes > 0) {
            Value<A>::template store<1>(p, target.out, &node);
            return;
        }
    }
    /* Kernels emit in loops, and what finishes make of the count before they see a node, divisions among it, would
       otherwise be moved before the loop, and before the first load. */
    int64_t count = forgotten(r.count);
    if constexpr (a == RDX_ALGEBRA_SUM && A::unit == 2)
        finish_value<A>(p, target, node.first.s, node.second.s, count);
    else if constexpr (a == RDX_ALGEBRA_MAX && A::unit == 2) {
        finish_key(p, second_of(target), node.first.k, false);
        finish_key(p, target, node.second.k, true);
    } else if constexpr (a == RDX_ALGEBRA_MAX)
        finish_key(p, target, node.k, r.flip);
    else if constexpr (a == RDX_ALGEBRA_ARGMAX || a == RDX_ALGEBRA_ARGMAXL)
        finish_index(p, target, node.k, node.i);
    else if constexpr (a == RDX_ALGEBRA_MAXARG || a == RDX_ALGEBRA_MAXARGL) {
        finish_key(p, target, node.v, r.flip);
        finish_index(p, second_of(target), node.k, node.i);
    } else if constexpr (a == RDX_ALGEBRA_SUMN)
        finish_value<A>(p, target, node.s, 0, node.n);
    else if constexpr (a == RDX_ALGEBRA_CSUMN)
        finish_value<A>(p, target, node.re, node.im, node.n);
    else if constexpr (a == RDX_ALGEBRA_CPROD || a == RDX_ALGEBRA_CPRODN)
        finish_value<A>(p, target, node.re, node.im, count);
    else if constexpr (a == RDX_ALGEBRA_VAR)
        finish_spread(p, target, node.m, (typename A::T)0, node.q, count);
    else if constexpr (a == RDX_ALGEBRA_VARN)
        finish_spread(p, target, node.m, (typename A::T)0, node.q, node.n);
    else if constexpr (a == RDX_ALGEBRA_CVAR)
        finish_spread(p, target, node.mr, node.mi, node.q, count);
    else if constexpr (a == RDX_ALGEBRA_CVARN)
        finish_spread(p, target, node.mr, node.mi, node.q, node.n);
    else if constexpr (a == RDX_ALGEBRA_LSE || a == RDX_ALGEBRA_LSEN)
        put(p, target, node.m - node.m == 0 ? node.m + log_of(node.s) : node.m);
    else if constexpr (a == RDX_ALGEBRA_MOMENTS)
        finish_moments(p, target, node.s, (uint64_t)node.t, count);
    else if constexpr (real)
        finish_value<A>(p, target, node.s, 0, count);
    else if constexpr (a == RDX_ALGEBRA_AND || a == RDX_ALGEBRA_OR || a == RDX_ALGEBRA_XOR)
        finish_integer(p, target, node.b, count);
    else
        finish_integer(p, target, node.s, count);
}

/* The node of a reduction of nothing. Where its finish sees count 0, 0 will do. */
template <class A> RDX_DEVICE typename A::Node node_of_nothing()
{
    typename A::Node node = {};
    constexpr int a = A::algebra;
    if constexpr (a == RDX_ALGEBRA_PROD)
        node.s = 1;
    else if constexpr (a == RDX_ALGEBRA_CPROD || a == RDX_ALGEBRA_CPRODN)
        node.re = 1;
    else if constexpr (a == RDX_ALGEBRA_LSE || a == RDX_ALGEBRA_LSEN)
        node.m = A::lowest();
    else if constexpr (a == RDX_ALGEBRA_AND)
        node.b = -1;
    else if constexpr (a == RDX_ALGEBRA_MAX && A::unit == 1) /* norm of nothing */
        node.k = A::work == RDX_WORK_I32 ? (typename A::T)INT32_MIN : (typename A::T)INT64_MIN;
    return node;
}

} // namespace rdx
#endif
