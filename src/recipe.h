/* What is computed, without where or how fast: the algebra, its working type, what happens to an element on the way in
   and to a state on the way out. A recipe follows from op, dtypes, options and the number of elements alone; every
   kernel on every device obeys it.

       element --convert--> working type --map--> algebra: lift, push, join --finish--> result --store--> output */
#ifndef RDX_RECIPE_H
#define RDX_RECIPE_H

#include "op.h"

/* Working types. The narrow integers only feed sums that widen (ISUM). */
typedef enum RdxWork {
    RDX_WORK_F32,
    RDX_WORK_F64,
    RDX_WORK_I32,
    RDX_WORK_I64,
    RDX_WORK_I8,
    RDX_WORK_U8,
    RDX_WORK_I16,
    RDX_WORK_U16,
    RDX_WORK_COUNT
} RdxWork;

static inline int rdx_work_size(RdxWork work) /* bytes of one value */
{
    static const uint8_t size[RDX_WORK_COUNT] = {4, 8, 4, 8, 1, 1, 2, 2};
    return size[work];
}

/* X(NAME, name, planes read per element, node parts of the working type, node parts of i64) */
#define RDX_ALGEBRAS(X)                                                                                                \
    X(SUM, sum, 1, 1, 0)                                                                                               \
    X(ISUM, isum, 1, 0, 1) /* integers up to 32 bits, i64 sums */                                                      \
    X(PROD, prod, 1, 1, 0)                                                                                             \
    X(CPROD, cprod, 2, 2, 0)                                                                                           \
    X(CPRODN, cprodn, 2, 2, 1) /* nan = omit: the count tells an empty product */                                      \
    X(SUMN, sumn, 1, 1, 1)     /* sum and count of what is not NaN */                                                  \
    X(CSUMN, csumn, 2, 2, 1)                                                                                           \
    X(SUMSQ, sumsq, 1, 1, 0)                                                                                           \
    X(CSUMSQ, csumsq, 2, 1, 0)                                                                                         \
    X(VAR, var, 1, 2, 0) /* mean and Q; counts are known from the tree */                                              \
    X(CVAR, cvar, 2, 3, 0)                                                                                             \
    X(VARN, varn, 1, 2, 1) /* nan = omit: counts are carried */                                                        \
    X(CVARN, cvarn, 2, 3, 1)                                                                                           \
    X(LSE, lse, 1, 2, 0)         /* maximum and scaled sum of exp */                                                   \
    X(LSEN, lsen, 1, 2, 0)       /* nan = omit */                                                                      \
    X(MAX, max, 1, 1, 0)         /* of order-preserving integer keys */                                                \
    X(ARGMAX, argmax, 1, 2, 0)   /* key and lowest logical index, of one width */                                      \
    X(ARGMAXL, argmaxl, 1, 1, 1) /* the same where 32-bit keys meet 2^31 and more elements */                          \
    X(MAXARG, maxarg, 2, 3, 0)   /* key of the value, key of the index, lowest logical index */                        \
    X(MAXARGL, maxargl, 2, 2, 1)                                                                                       \
    X(MOMENTS, moments, 1, 0, 2) /* exact S and T = sum x*x of small integers */                                       \
    X(AND, and, 1, 1, 0)                                                                                               \
    X(OR, or, 1, 1, 0)                                                                                                 \
    X(XOR, xor, 1, 1, 0)

typedef enum RdxAlgebra {
#define X(NAME, name, planes, work_parts, i64_parts) RDX_ALGEBRA_##NAME,
    RDX_ALGEBRAS(X)
#undef X
        RDX_ALGEBRA_COUNT
} RdxAlgebra;

enum { RDX_MAX_PARTS = 4 };

/* What happens to an element between its conversion and the algebra. */
typedef enum RdxMap {
    RDX_MAP_NONE,
    RDX_MAP_OMIT, /* NaN becomes `neutral` (a complex number with a NaN part: both parts) */
    RDX_MAP_ABS,  /* |x|; of two planes the modulus, in one plane. With omit, NaN becomes neutral */
    RDX_MAP_POW,  /* |x|^p, in f64, rounded once */
    RDX_MAP_POWI, /* the same of p = 3 and 4, by products */
    RDX_MAP_KEY,  /* order-preserving integer: NaN on top, or with omit at the bottom; `flip` turns the order round */
    RDX_MAP_KEY_ARG,  /* the same with -0 and +0 equal */
    RDX_MAP_KEY_ABS,  /* key of |x| (norm inf; flip: norm -inf); of two planes the modulus */
    RDX_MAP_KEY_PAIR, /* minmax: two keys, (max, min), interleaved */
    RDX_MAP_KEY_BOTH, /* min and max with index: two planes, KEY and KEY_ARG */
    RDX_MAP_NONZERO,  /* 1 if x != 0 (NaN counts unless omit) else 0, as u8 */
    RDX_MAP_ZERO,     /* 1 if x == 0 else 0, as u8 */
} RdxMap;

typedef enum RdxFinish {
    RDX_FINISH_VALUE, /* the state is the answer */
    RDX_FINISH_MEAN,  /* S / n */
    RDX_FINISH_VAR,   /* Q / (n - correction) */
    RDX_FINISH_STD,
    RDX_FINISH_SQRT, /* norm 2 */
    RDX_FINISH_ROOT, /* norm p: S ^ (1/p) */
    RDX_FINISH_LSE,
    RDX_FINISH_KEY,   /* key back to value */
    RDX_FINISH_INDEX, /* argmin, argmax */
    RDX_FINISH_ANY,   /* count != 0 */
    RDX_FINISH_ALL,   /* count of zeros == 0 */
    RDX_FINISH_MOMENTS_MEAN,
    RDX_FINISH_MOMENTS_VAR,
    RDX_FINISH_MOMENTS_STD,
    RDX_FINISH_MOMENTS_SUMSQ,
    RDX_FINISH_MOMENTS_SQRT,
} RdxFinish;

typedef struct RdxRecipe {
    uint8_t op;
    uint8_t in, out, out2; /* RdxType; out2 RDX_TYPE_COUNT: none */
    uint8_t algebra, work, map, finish;
    uint8_t second;   /* RdxSecond, NONE if no second output was asked for */
    uint8_t convert;  /* RdxWork the element is converted to before the map (work differs for keys and predicates) */
    bool planar;      /* complex parts are brought into two planes */
    uint8_t unit;     /* values of the working type side by side per element: 2 for complex sums and minmax, else 1 */
    uint8_t result;   /* RdxWork of the finished value (I64 for integers) */
    bool is_unsigned; /* i64 keys and results are u64 */
    bool omit, flip;
    bool exact;    /* any order gives the same bits */
    uint8_t parts; /* node state: parts in all, work parts first */
    uint8_t work_parts;
    uint8_t planes; /* planes read per element by the algebra */
    bool indexed;   /* the logical index is part of the state */
    uint16_t lanes; /* L = 512 / input itemsize */
    double p, correction;
    double neutral; /* what omit puts in the place of a NaN */
    int64_t count;  /* n, the reduced elements */
} RdxRecipe;

/* Elements of a full chunk: 16 lines of L. */
static inline int64_t rdx_recipe_chunk(const RdxRecipe *recipe)
{
    return 16 * (int64_t)recipe->lanes;
}

/* Chunks of an output, 0 where nothing is reduced. They are powers of two, so that a shift divides. */
static inline int64_t rdx_recipe_chunks(const RdxRecipe *recipe)
{
    int64_t chunk = rdx_recipe_chunk(recipe);
    return (recipe->count >> __builtin_ctzll((unsigned long long)chunk)) + ((recipe->count & (chunk - 1)) != 0);
}

/* logsumexp looks at its elements twice. */
static inline bool rdx_recipe_is_twice(const RdxRecipe *recipe)
{
    return recipe->algebra == RDX_ALGEBRA_LSE || recipe->algebra == RDX_ALGEBRA_LSEN;
}

/* Bytes of one node state of one output: all parts, each 4 or 8 bytes, times unit. */
int rdx_recipe_state_bytes(const RdxRecipe *recipe);

/* Checks op, dtypes and options of a problem with `count` reduced elements and decides the recipe.
   RDX_ERR_OP, _OPTION, _UNSUPPORTED, _EMPTY is the caller's (it knows whether the output has elements). */
RdxStatus rdx_recipe_resolve(RdxRecipe *recipe, const RdxProblem *problem, RdxType in, RdxType out, RdxType out2,
                             int64_t count);

#endif
