/* map: what happens to converted elements before the algebra, at one ISA level: omission, absolute values and powers,
   keys that order like the values, predicates. One pass over values that lie in L1. */
#include "folds.h"

#include "../algebra.h"
#include "../scalar.h"

#define T float
#define U uint32_t
#define K int32_t
#define SIGN 0x80000000u
#define MODULUS(a, b) rdx_abs_c64(a, b)
#define RDX_SUFFIX f32
#include "map_real.inc"
#undef T
#undef U
#undef K
#undef SIGN
#undef MODULUS
#undef RDX_SUFFIX

#define T double
#define U uint64_t
#define K int64_t
#define SIGN 0x8000000000000000u
#define MODULUS(a, b) rdx_abs_c128(a, b)
#define RDX_SUFFIX f64
#include "map_real.inc"
#undef T
#undef U
#undef K
#undef SIGN
#undef MODULUS
#undef RDX_SUFFIX

/* Integers are their own keys; u64 turns its top bit to order like i64. */
#define INTEGER_MAP(T, suffix, TURN)                                                                                   \
    static void map_##suffix(void *dst, int64_t dst_plane, const void *src, int64_t n, const RdxRecipe *recipe)        \
    {                                                                                                                  \
        const T *x = src;                                                                                              \
        T *y = dst, *second = (T *)(void *)((unsigned char *)dst + dst_plane);                                         \
        const T turn = TURN, flip = recipe->flip ? (T)-1 : 0;                                                          \
        uint8_t *truth = dst;                                                                                          \
        switch ((RdxMap)recipe->map) {                                                                                 \
        case RDX_MAP_KEY:                                                                                              \
        case RDX_MAP_KEY_ARG:                                                                                          \
            RDX_VECTOR_LOOP                                                                                            \
            for (int64_t i = 0; i < n; i++)                                                                            \
                y[i] = x[i] ^ turn ^ flip;                                                                             \
            break;                                                                                                     \
        case RDX_MAP_KEY_BOTH:                                                                                         \
            RDX_VECTOR_LOOP                                                                                            \
            for (int64_t i = 0; i < n; i++)                                                                            \
                y[i] = second[i] = x[i] ^ turn ^ flip;                                                                 \
            break;                                                                                                     \
        case RDX_MAP_KEY_PAIR:                                                                                         \
            RDX_VECTOR_LOOP                                                                                            \
            for (int64_t i = 0; i < n; i++) {                                                                          \
                T key = x[i] ^ turn;                                                                                   \
                y[2 * i] = key;                                                                                        \
                y[2 * i + 1] = ~key;                                                                                   \
            }                                                                                                          \
            break;                                                                                                     \
        case RDX_MAP_ABS:                                                                                              \
            RDX_VECTOR_LOOP                                                                                            \
            for (int64_t i = 0; i < n; i++)                                                                            \
                y[i] = x[i] < 0 ? -x[i] : x[i];                                                                        \
            break;                                                                                                     \
        case RDX_MAP_NONZERO:                                                                                          \
            RDX_VECTOR_LOOP                                                                                            \
            for (int64_t i = 0; i < n; i++)                                                                            \
                truth[i] = x[i] != 0;                                                                                  \
            break;                                                                                                     \
        case RDX_MAP_ZERO:                                                                                             \
            RDX_VECTOR_LOOP                                                                                            \
            for (int64_t i = 0; i < n; i++)                                                                            \
                truth[i] = x[i] == 0;                                                                                  \
            break;                                                                                                     \
        default:                                                                                                       \
            break;                                                                                                     \
        }                                                                                                              \
    }
INTEGER_MAP(int32_t, i32, 0)
INTEGER_MAP(int64_t, i64, recipe->is_unsigned ? INT64_MIN : 0)

#define TRUTH_MAP(T, suffix)                                                                                           \
    static void map_##suffix(uint8_t *y, const T *x, int64_t n, bool zero)                                             \
    {                                                                                                                  \
        RDX_VECTOR_LOOP                                                                                                \
        for (int64_t i = 0; i < n; i++)                                                                                \
            y[i] = (x[i] != 0) ^ zero;                                                                                 \
    }
TRUTH_MAP(uint8_t, u8)
TRUTH_MAP(uint16_t, u16)

void RDX_LEVEL(map)(void *dst, int64_t dst_plane, const void *src, int64_t src_plane, int64_t n,
                    const RdxRecipe *recipe)
{
    switch ((RdxWork)recipe->convert) {
    case RDX_WORK_F32:
        map_f32(dst, dst_plane, src, src_plane, n, recipe);
        break;
    case RDX_WORK_F64:
        map_f64(dst, dst_plane, src, src_plane, n, recipe);
        break;
    case RDX_WORK_I32:
        map_i32(dst, dst_plane, src, n, recipe);
        break;
    case RDX_WORK_I64:
        map_i64(dst, dst_plane, src, n, recipe);
        break;
    case RDX_WORK_I8:
    case RDX_WORK_U8:
        map_u8(dst, src, n, recipe->map == RDX_MAP_ZERO);
        break;
    default:
        map_u16(dst, src, n, recipe->map == RDX_MAP_ZERO);
        break;
    }
}
