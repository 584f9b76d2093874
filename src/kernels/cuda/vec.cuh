/* From memory to working values: vector loads, decoding of dtypes, maps. What an element becomes is decided by three
   numbers of the recipe that are known at run time only (input dtype, map, options). The dtype is switched on once for
   a batch of vectors, never for an element; frequent maps are known at compile time, the rare ones (|x|^p of most p)
   sit behind a branch that the whole grid takes alike. That keeps kernels to one per algebra and element width.

   A kernel spec K has: K::A (algebra), K::size (bytes of an element), K::elements (of a vector). */
#ifndef RDX_KERNELS_CUDA_VEC_CUH
#define RDX_KERNELS_CUDA_VEC_CUH

#include "../scalar.h"
#include "algebra.cuh"

#include <type_traits>
#include <utility>

namespace rdx
{

template <class Algebra, int SIZE, int ELEMENTS> struct Spec {
    typedef Algebra A;
    static constexpr int size = SIZE, elements = ELEMENTS, bytes = SIZE * ELEMENTS;
};

/* f(0), f(1), ... f(COUNT - 1) with constants: a loop would be unrolled too late for the arrays that it indexes to be
   registers. */
template <class F, int... I> RDX_DEVICE void each_constant(F &&f, std::integer_sequence<int, I...>)
{
    (f(std::integral_constant<int, I>()), ...);
}
template <int COUNT, class F> RDX_DEVICE void each_constant(F &&f)
{
    each_constant(f, std::make_integer_sequence<int, COUNT>());
}

/* ---- Loads ---- */

/* Read-only, 1 to 16 bytes. */
template <int BYTES> struct Vector {
    uint32_t word[(BYTES + 3) / 4];
};

template <int BYTES> RDX_DEVICE void load(uint32_t *word, const unsigned char *at)
{
    if constexpr (BYTES == 1) {
        word[0] = __ldg(at);
    } else if constexpr (BYTES == 2) {
        word[0] = __ldg((const unsigned short *)at);
    } else if constexpr (BYTES == 4) {
        word[0] = __ldg((const unsigned *)at);
    } else if constexpr (BYTES == 8) {
        uint2 v = __ldg((const uint2 *)at);
        word[0] = v.x, word[1] = v.y;
    } else {
        uint4 v = __ldg((const uint4 *)at);
        word[0] = v.x, word[1] = v.y, word[2] = v.z, word[3] = v.w;
    }
}

/* One element on its own. A complex one is aligned to its parts only. */
template <int SIZE> RDX_DEVICE void load_element(uint32_t *word, const unsigned char *at, bool is_complex)
{
    if (SIZE >= 8 && is_complex) {
        load<SIZE / 2>(word, at);
        load<SIZE / 2>(word + SIZE / 8, at + SIZE / 2);
    } else {
        load<SIZE>(word, at);
    }
}

RDX_DEVICE bool is_complex(int type)
{
    return type == RDX_TYPE_C64 || type == RDX_TYPE_C128;
}

RDX_DEVICE bool is_float(int type)
{
    return type == RDX_TYPE_F16 || type == RDX_TYPE_BF16 || type == RDX_TYPE_F32 || type == RDX_TYPE_F64 ||
           type == RDX_TYPE_F8E4M3 || type == RDX_TYPE_F8E5M2;
}

/* The first `valid` elements of a vector; what follows them is not touched in memory. */
template <class K> RDX_DEVICE void load_vector(Vector<K::bytes> &v, const unsigned char *at, int valid, int type)
{
    if constexpr (K::elements == 1) {
        load_element<K::size>(v.word, at, is_complex(type));
    } else {
        if (valid == K::elements) {
            load<K::bytes>(v.word, at);
            return;
        }
#pragma unroll
        for (int w = 0; w < (K::bytes + 3) / 4; w++)
            v.word[w] = 0;
#pragma unroll
        for (int e = 0; e < K::elements; e++) {
            if (e < valid) {
                uint32_t one[K::size < 4 ? 1 : K::size / 4];
                load_element<K::size>(one, at + e * K::size, is_complex(type));
                if constexpr (K::size < 4) {
                    v.word[e * K::size / 4] |= one[0] << 8 * (e * K::size % 4);
                } else {
#pragma unroll
                    for (int w = 0; w < K::size / 4; w++)
                        v.word[e * K::size / 4 + w] = one[w];
                }
            }
        }
    }
}

template <int SIZE> RDX_DEVICE uint64_t bits_at(const uint32_t *word, int byte)
{
    if constexpr (SIZE == 1)
        return word[byte / 4] >> 8 * (byte % 4) & 0xff;
    else if constexpr (SIZE == 2)
        return word[byte / 4] >> 8 * (byte % 4) & 0xffff;
    else if constexpr (SIZE == 4)
        return word[byte / 4];
    else
        return (uint64_t)word[byte / 4 + 1] << 32 | word[byte / 4];
}

/* Moves elements 1, 2, ... of a vector of 16 bytes to where 0, 1, ... were. */
template <int SIZE> RDX_DEVICE void drop_element(uint32_t *word)
{
#pragma unroll
    for (int w = 0; w < 4; w++) {
        if constexpr (SIZE < 4)
            word[w] = word[w] >> 8 * SIZE | (w < 3 ? word[w + 1] << (32 - 8 * SIZE) : 0);
        else
            word[w] = w + SIZE / 4 < 4 ? word[w + SIZE / 4] : 0;
    }
}

/* ---- Decoding ---- */

template <int TYPE> struct Input;
#define RDX_INPUT(NAME, SIZE, KIND, Value, EXPRESSION)                                                                 \
    template <> struct Input<RDX_TYPE_##NAME> {                                                                        \
        static constexpr int type = RDX_TYPE_##NAME, size = SIZE;                                                      \
        static constexpr bool integral = KIND == 'i', is_complex = KIND == 'c';                                        \
        typedef Value V;                                                                                               \
        static __device__ __forceinline__ Value part(const uint32_t *word, int byte)                                   \
        {                                                                                                              \
            constexpr int part_size = KIND == 'c' ? SIZE / 2 : SIZE;                                                   \
            uint64_t bits = bits_at<part_size>(word, byte);                                                            \
            return EXPRESSION;                                                                                         \
        }                                                                                                              \
    };
RDX_INPUT(BOOL, 1, 'i', int32_t, bits != 0)
RDX_INPUT(I8, 1, 'i', int32_t, (int8_t)bits)
RDX_INPUT(I16, 2, 'i', int32_t, (int16_t)bits)
RDX_INPUT(I32, 4, 'i', int32_t, (int32_t)bits)
RDX_INPUT(I64, 8, 'i', int64_t, (int64_t)bits)
RDX_INPUT(U8, 1, 'i', int32_t, (int32_t)bits)
RDX_INPUT(U16, 2, 'i', int32_t, (int32_t)bits)
RDX_INPUT(U32, 4, 'i', uint32_t, (uint32_t)bits)
RDX_INPUT(U64, 8, 'i', uint64_t, bits)
RDX_INPUT(F16, 2, 'f', float, widen_half(bits))
RDX_INPUT(BF16, 2, 'f', float, rdx_load_bf16((uint16_t)bits))
RDX_INPUT(F32, 4, 'f', float, __uint_as_float((unsigned)bits))
RDX_INPUT(F64, 8, 'f', double, __longlong_as_double((long long)bits))
RDX_INPUT(F8E4M3, 1, 'f', float, (void(bits), widen_e4m3(word[byte / 4], byte % 4)))
RDX_INPUT(F8E5M2, 1, 'f', float, (void(bits), widen_e5m2(word[byte / 4], byte % 4)))
RDX_INPUT(C64, 8, 'c', float, __uint_as_float((unsigned)bits))
RDX_INPUT(C128, 16, 'c', double, __longlong_as_double((long long)bits))

/* ---- Which dtypes an algebra is given (recipe.c) ---- */

RDX_DEVICE constexpr bool takes_two_planes(int algebra, int unit)
{
    return algebra == RDX_ALGEBRA_CPROD || algebra == RDX_ALGEBRA_CPRODN || algebra == RDX_ALGEBRA_CSUMN ||
           algebra == RDX_ALGEBRA_CSUMSQ || algebra == RDX_ALGEBRA_CVAR || algebra == RDX_ALGEBRA_CVARN ||
           (algebra == RDX_ALGEBRA_SUM && unit == 2);
}

RDX_DEVICE constexpr bool is_keyed(int algebra)
{
    return algebra == RDX_ALGEBRA_MAX || algebra == RDX_ALGEBRA_ARGMAX || algebra == RDX_ALGEBRA_ARGMAXL ||
           algebra == RDX_ALGEBRA_MAXARG || algebra == RDX_ALGEBRA_MAXARGL;
}

RDX_DEVICE constexpr bool is_plain_integer(int algebra, int work)
{
    return algebra == RDX_ALGEBRA_AND || algebra == RDX_ALGEBRA_OR || algebra == RDX_ALGEBRA_XOR ||
           algebra == RDX_ALGEBRA_MOMENTS ||
           ((algebra == RDX_ALGEBRA_SUM || algebra == RDX_ALGEBRA_PROD) && work == RDX_WORK_I64);
}

/* Kernels know the frequent maps at compile time (with_map); with any other, elements ask the recipe. MASKED: |x|, or a
   neutral element in place of NaN. */
enum Map { RDX_CUDA_ANY_MAP = -1, RDX_CUDA_MASKED_MAP = -2 };

template <class A, class In, int MAP> RDX_DEVICE constexpr bool accepts()
{
    constexpr bool wide = In::type == RDX_TYPE_F64 || In::type == RDX_TYPE_C128;
    constexpr int a = A::algebra;
    if (a == RDX_ALGEBRA_ISUM)
        return A::work == RDX_WORK_I32 ? In::type == RDX_TYPE_I32 : In::integral || MAP != RDX_MAP_NONE;
    if (is_plain_integer(a, A::work))
        return In::integral;
    if (is_keyed(a)) {
        if (A::work == RDX_WORK_I32)
            return !wide && In::type != RDX_TYPE_U32 && !(In::integral && In::size == 8) &&
                   (!In::is_complex || (a == RDX_ALGEBRA_MAX && A::unit == 1));
        bool own = In::type == RDX_TYPE_U32 || In::type == RDX_TYPE_F64 || (In::integral && In::size == 8);
        return own || (a == RDX_ALGEBRA_MAX && A::unit == 1);
    }
    if (takes_two_planes(a, A::unit))
        return In::is_complex && (A::work == RDX_WORK_F64 || !wide);
    if (In::is_complex)
        return (a == RDX_ALGEBRA_SUM || a == RDX_ALGEBRA_SUMN) && (A::work == RDX_WORK_F64 || !wide);
    if (In::integral)
        return A::work == RDX_WORK_F64 &&
               (a == RDX_ALGEBRA_SUM || a == RDX_ALGEBRA_PROD || a == RDX_ALGEBRA_VAR || a == RDX_ALGEBRA_SUMSQ);
    return A::work == RDX_WORK_F64 || !wide;
}

template <class K, int MAP, int TYPE, class F> RDX_DEVICE void offer(F &&f)
{
    if constexpr (Input<TYPE>::size == K::size && accepts<typename K::A, Input<TYPE>, MAP>())
        f(Input<TYPE>());
}

/* Calls f with the type of the input, of those that the kernel can meet with a map. */
template <class K, int MAP = RDX_CUDA_ANY_MAP, class F> RDX_DEVICE void with_input(int type, F &&f)
{
    switch (type) {
#define X(NAME, name, code, bits, KIND)                                                                                \
    case RDX_TYPE_##NAME:                                                                                              \
        offer<K, MAP, RDX_TYPE_##NAME>(f);                                                                             \
        break;
#include "../../dtypes.def"
#undef X
    }
}

/* ---- Maps ---- */

template <class T> RDX_DEVICE bool is_nan(T x)
{
    return x != x;
}

RDX_DEVICE float magnitude(float x)
{
    return rdx_f32_of_bits(rdx_bits_of_f32(x) & 0x7fffffffu);
}
RDX_DEVICE double magnitude(double x)
{
    return rdx_f64_of_bits(rdx_bits_of_f64(x) & 0x7fffffffffffffffu);
}

/* The modulus; under omit a number with a NaN part is NaN, whatever the other part. */
static __device__ __noinline__ float modulus(float re, float im, bool omit)
{
    return omit && (is_nan(re) || is_nan(im)) ? re + im : rdx_abs_c64(re, im);
}
static __device__ __noinline__ double modulus(double re, double im, bool omit)
{
    return omit && (is_nan(re) || is_nan(im)) ? re + im : rdx_abs_c128(re, im);
}

static __device__ __noinline__ double power(double x, double p)
{
    return rdx_pow_abs_f64(x, p);
}

/* An integer of the same order as x; see kernels/cpu/map_real.inc. NaN is on top, or at the bottom where omitted. */
RDX_DEVICE int32_t key_of(float x, bool flip, bool zeros_equal, bool omit)
{
    int32_t raw = (int32_t)rdx_bits_of_f32(zeros_equal ? x + 0.0f : x); /* -0 + 0 is +0 */
    int32_t ordered = raw ^ ((raw >> 31) & INT32_MAX) ^ (flip ? -1 : 0);
    return is_nan(x) ? (omit ? INT32_MIN : INT32_MAX) : ordered;
}
RDX_DEVICE int64_t key_of(double x, bool flip, bool zeros_equal, bool omit)
{
    int64_t raw = (int64_t)rdx_bits_of_f64(zeros_equal ? x + 0.0 : x);
    int64_t ordered = raw ^ ((raw >> 63) & INT64_MAX) ^ (flip ? -1 : 0);
    return is_nan(x) ? (omit ? INT64_MIN : INT64_MAX) : ordered;
}

/* Keys of a real element, or of a modulus (norms of order inf and -inf). */
template <class A, class Real>
RDX_DEVICE void keys_of_real(const RdxRecipe &r, Real v, typename A::T &x, typename A::T &y)
{
    constexpr int a = A::algebra;
    if (a == RDX_ALGEBRA_MAX && A::unit == 1 && r.map == RDX_MAP_KEY_ABS)
        v = magnitude(v);
    constexpr bool zeros_equal = a == RDX_ALGEBRA_ARGMAX || a == RDX_ALGEBRA_ARGMAXL;
    if constexpr (A::unit == 2) {
        x = key_of(v, false, false, r.omit);
        y = key_of(v, true, false, r.omit);
    } else {
        x = key_of(v, r.flip, zeros_equal, r.omit);
        y = x;
        if constexpr (a == RDX_ALGEBRA_MAXARG || a == RDX_ALGEBRA_MAXARGL)
            y = key_of(v, r.flip, true, r.omit);
    }
}

/* Integers are their own keys; u64 turns its top bit to order like i64. */
template <class A>
RDX_DEVICE void keys_of_integer(const RdxRecipe &r, typename A::T v, typename A::T &x, typename A::T &y)
{
    typedef typename A::T T;
    v ^= r.is_unsigned ? (T)((T)1 << (8 * sizeof(T) - 1)) : (T)0;
    x = v ^ (r.flip && A::unit == 1 ? (T)-1 : (T)0);
    y = A::unit == 2 ? ~v : x;
}

/* Whether NaN is left out by a map, of the algebras that have no count of their own. */
RDX_DEVICE constexpr bool is_masked(int algebra, int work)
{
    return (work == RDX_WORK_F32 || work == RDX_WORK_F64) &&
           (algebra == RDX_ALGEBRA_SUM || algebra == RDX_ALGEBRA_PROD || algebra == RDX_ALGEBRA_SUMSQ ||
            algebra == RDX_ALGEBRA_CSUMSQ);
}

/* |x| and its powers, which only sums meet (norms). */
template <class A> RDX_DEVICE constexpr bool has_special_maps()
{
    return (A::algebra == RDX_ALGEBRA_SUM || A::algebra == RDX_ALGEBRA_SUMN) && A::unit == 1 &&
           (A::work == RDX_WORK_F32 || A::work == RDX_WORK_F64);
}

/* Calls f with the recipe's map if it is one of the algebra's frequent ones; false: it is not. A modulus never is. */
template <class A, class F> RDX_DEVICE bool with_map(const RdxRecipe &r, F &&f)
{
    constexpr int a = A::algebra;
    if constexpr (is_keyed(a)) {
        if (r.map == RDX_MAP_KEY_ABS && !is_float(r.in))
            return false;
        f(std::integral_constant<int, RDX_MAP_KEY>());
        return true;
    }
    if constexpr (a == RDX_ALGEBRA_ISUM && A::work != RDX_WORK_I32) {
        if (r.map == RDX_MAP_NONZERO || r.map == RDX_MAP_ZERO) {
            f(std::integral_constant<int, RDX_MAP_NONZERO>());
            return true;
        }
    }
    if constexpr (is_masked(a, A::work)) {
        bool modulus = !takes_two_planes(a, A::unit) && is_complex(r.in);
        if ((r.map == RDX_MAP_ABS || r.map == RDX_MAP_OMIT) && !modulus) {
            f(std::integral_constant<int, RDX_CUDA_MASKED_MAP>());
            return true;
        }
        if constexpr (has_special_maps<A>())
            if (r.map == RDX_MAP_POWI && !modulus) {
                f(std::integral_constant<int, RDX_MAP_POWI>());
                return true;
            }
    }
    if (r.map != RDX_MAP_NONE)
        return false;
    f(std::integral_constant<int, RDX_MAP_NONE>());
    return true;
}

/* Calls f with the input's type and a frequent map; false where the map is none. */
template <class K, class F> RDX_DEVICE bool with_frequent(const RdxRecipe &r, F &&f)
{
    return with_map<typename K::A>(r, [&](auto map) RDX_INLINED {
        with_input<K, decltype(map)::value>(r.in, [&](auto in) RDX_INLINED { f(in, map); });
    });
}

/* The same of all but powers and, unless MASKED, masked maps (plan: rdx_cuda_has_masked_map), for kernels that are not
   given those: each map is one more copy of the code. With masked ones sums of columns of 16 vectors spill. */
template <class K, bool MASKED = false, class F> RDX_DEVICE void with_known(const RdxRecipe &r, F &&f)
{
    with_frequent<K>(r, [&](auto in, auto map) RDX_INLINED {
        constexpr int MAP = decltype(map)::value;
        if constexpr (MAP != RDX_MAP_POWI && (MASKED || MAP != RDX_CUDA_MASKED_MAP))
            f(in, map);
    });
}

/* The working values of one element. */
template <class A, class In, int MAP = RDX_CUDA_ANY_MAP>
RDX_DEVICE void read_element(const RdxRecipe &r, const uint32_t *word, int byte, typename A::T &x, typename A::T &y)
{
    typedef typename A::T T;
    typedef typename In::V V;
    constexpr int a = A::algebra;
    constexpr bool any_map = MAP == RDX_CUDA_ANY_MAP, masks = any_map || MAP == RDX_CUDA_MASKED_MAP,
                   powi = MAP == RDX_MAP_POWI;
    V v = In::part(word, byte), w = v; /* w: the imaginary part */
    if constexpr (In::is_complex)
        w = In::part(word, byte + In::size / 2);
    if constexpr (a == RDX_ALGEBRA_ISUM) {
        if constexpr (MAP == RDX_MAP_NONE) {
            x = (T)v;
        } else if constexpr (MAP == RDX_MAP_NONZERO || !In::integral) { /* or RDX_MAP_ZERO */
            bool hole = !In::integral && r.omit && (is_nan(v) || is_nan(w)), zero = v == 0 && w == 0;
            x = zero == (r.map == RDX_MAP_ZERO) && !hole;
        } else {
            x = (T)v;
            if constexpr (A::work != RDX_WORK_I32) {
                x = r.map == RDX_MAP_ABS && x < 0 ? -x : x;
                x = r.map == RDX_MAP_NONZERO ? v != 0 : r.map == RDX_MAP_ZERO ? v == 0 : x;
            }
        }
        y = x;
    } else if constexpr (is_plain_integer(a, A::work)) {
        x = y = (T)v;
    } else if constexpr (is_keyed(a)) {
        typedef typename std::conditional<A::work == RDX_WORK_I32, float, double>::type Real;
        if constexpr (In::is_complex) {
            keys_of_real<A>(r, (Real)modulus((Real)v, (Real)w, r.omit), x, y);
        } else if constexpr (!In::integral) {
            keys_of_real<A>(r, (Real)v, x, y);
        } else if constexpr (a == RDX_ALGEBRA_MAX && A::unit == 1 && A::work == RDX_WORK_I64 && any_map) {
            if (r.map == RDX_MAP_KEY_ABS)
                keys_of_real<A>(r, (double)v, x, y);
            else
                keys_of_integer<A>(r, (T)v, x, y);
        } else {
            keys_of_integer<A>(r, (T)v, x, y);
        }
    } else if constexpr (takes_two_planes(a, A::unit)) {
        x = (T)v;
        y = (T)w;
        if constexpr (masks && is_masked(a, A::work)) {
            bool hole = r.map == RDX_MAP_OMIT && (is_nan(x) || is_nan(y));
            x = hole ? (T)r.neutral : x;
            y = hole ? (T)r.neutral : y;
        }
    } else {
        x = (T)v;
        if constexpr (In::is_complex) /* norms: the parts in the working type, as the CPU converts before it maps */
            x = modulus((T)v, (T)w, r.omit);
        if constexpr ((masks || powi) && has_special_maps<A>()) {
            if (powi || r.map == RDX_MAP_ABS || (any_map && (r.map == RDX_MAP_POWI || r.map == RDX_MAP_POW)))
                x = magnitude(x);
            if (powi || (any_map && r.map == RDX_MAP_POWI))
                x = (T)rdx_powi_abs_f64((double)x, r.p);
            if (any_map && r.map == RDX_MAP_POW)
                x = (T)power((double)x, r.p);
        }
        if constexpr ((masks || powi) && !In::integral && (is_masked(a, A::work) || a == RDX_ALGEBRA_SUMN))
            x = r.omit && r.map != RDX_MAP_NONE && is_nan(x) ? (T)r.neutral : x;
        y = x;
    }
}

} // namespace rdx
#endif
