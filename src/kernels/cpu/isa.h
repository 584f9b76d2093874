/* The micro-kernels: everything that is worth vectorising, as small functions over rows of elements, in one table per
   ISA level. The isa_*.c files are compiled once per level; strategies are plain C above this table. Data flow of one
   fold:

     gather   strided elements             -> contiguous ones           (only where the layout asks for it)
     turn     rows of elements             -> columns of them           (short rows without a kernel)
     convert  contiguous elements          -> working type              (only where the dtype is not the working type)
     map      working type                 -> working type, keys, ...   (only where the recipe says so)
     fold     up to 16 lines of `width`    -> one node per column       (lift, push, seal); join_lanes: of several lanes
     rows     rows of a line and more      -> one node per row          (fold and halve in one)
     halve    the L * unit nodes of a chunk -> unit nodes               (join over the lanes; or of many rows at once)
     join     two strips                   -> one strip                 (chunks, column lanes)
     finish   nodes                        -> results; store: results -> output dtype

   All of them work on "columns": position w of every line goes to position w of the strip. No function here
   allocates. */
#ifndef RDX_KERNELS_CPU_ISA_H
#define RDX_KERNELS_CPU_ISA_H

#include "../../recipe.h"

/* One array per part of a node. */
typedef struct RdxStrip {
    unsigned char *part[RDX_MAX_PARTS];
} RdxStrip;

enum {
    RDX_LINES = 16,
    RDX_JOINED = 8,        /* lanes that join_lanes takes at most */
    RDX_JOINED_WIDTH = 64, /* values of each that it needs */
    RDX_BLOCK_BYTES = 64,  /* of a block of any_rows */
    RDX_GROUP_BYTES = 32,
    RDX_GROUPS = 16,
};

/* How folds load elements. */
typedef struct RdxLoad {
    int64_t ahead; /* bytes to ask for; 0 where memory is near: a request for what is being loaded costs nothing */
    bool paced;    /* from memory that goes on, and the machine is to be held back: rdx_cpu_needs_pace */
    bool in_order; /* from memory, and the machine keeps ahead of reads in order itself: rdx_cpu_keeps_ahead */
    /* Where keys are made on the way: what order is turned by, and the key of NaN. */
    int64_t turn, nan;
    int64_t limit; /* where they are narrow (narrow.h): magnitudes above are NaN, bytes above count as it */
} RdxLoad;

typedef struct RdxFold {
    int lines; /* 1 .. 16: elements of every lane; any number if stride says where they are */
    const unsigned char *line[RDX_LINES]; /* width values of the working type each */
    int64_t stride;                       /* bytes from one line to the next, 0 where they do not lie at one distance */
    int64_t plane;                        /* bytes from the first plane to the second */
    int64_t width;
    RdxStrip nodes; /* where the sealed nodes go */
    /* Indexed algebras: the logical index of (line, w) is index[line] + (offset ? offset[w] : 0); index ascends, by
       equal steps unless uneven. */
    int64_t index[RDX_LINES];
    bool uneven;
    const int64_t *offset;
    RdxLoad load;
    /* Of join_lanes: so many lanes, lane_step bytes from one to the next; from lane `longer` on they have one line
       less. */
    int lanes, longer;
    int64_t lane_step;
} RdxFold;

static inline const unsigned char *rdx_fold_line(const RdxFold *fold, int k)
{
    return fold->stride ? fold->line[0] + k * fold->stride : fold->line[k];
}

/* Rows of n elements, of lanes to 16 * lanes or, of sums that widen, any number (worker.h: rdx_rows_fit), `step` bytes
   apart: one sealed, halved node each. */
typedef struct RdxRows {
    const unsigned char *in;
    int64_t step, plane, count, n, lanes, unit;
    RdxStrip nodes;
    RdxStrip room; /* short_rows: n / 2 nodes a row, for at_once rows */
    int64_t at_once;
    /* Indexed algebras: logical index of the first row's first element, from there to the next row's, from one element
       to the next, and of each within a line. */
    int64_t index, next_index, index_step;
    const int64_t *offset;
    /* Rows of whole lines may lie in several runs of `run` elements: where each begins, in bytes from the row's start.
       NULL: in one. */
    const int64_t *from;
    int64_t run;
    const struct RdxAlgebraCode *algebra;
    RdxLoad load;
} RdxRows;

typedef struct RdxAlgebraCode {
    void (*fold)(const RdxFold *fold);
    void (*rows)(const RdxRows *rows);
    /* dst[w] = join(a[w], b[w]); dst may be a. na, nb: elements in every a and in every b. */
    void (*join)(RdxStrip dst, RdxStrip a, RdxStrip b, int64_t width, int64_t na, int64_t nb);
    /* In place over min(n, lanes) * unit nodes of one chunk of n elements; the first unit nodes are the answer. */
    void (*halve)(const RdxStrip *nodes, int64_t n, int64_t lanes, int64_t unit);
    /* The same for `count` rows of n elements side by side, min(n, lanes) * unit nodes each, which are lost: row i's
       answer goes to to[i]; to may be rows. */
    void (*halve_rows)(RdxStrip to, RdxStrip rows, int64_t count, int64_t n, int64_t lanes, int64_t unit);
    /* Rows of 2 to L elements, a power of two or `crooked`, that follow each other: one node each. May be NULL. */
    void (*short_rows)(const RdxRows *rows);
    /* Up to RDX_JOINED lanes of RDX_JOINED_WIDTH values and more, joined as the tree has them: one node for each value.
       May be NULL. */
    void (*join_lanes)(const RdxFold *fold);
    /* Sums that widen: the sum of each of n runs of 8 bytes, a node each. NULL: the algebra has none. */
    void (*words)(int64_t *dst, const void *src, int64_t n, int64_t ahead);
    /* short_rows takes rows of any length, of more than one group of the working type and at most RDX_GROUPS. */
    bool crooked;
} RdxAlgebraCode;

/* fold and rows over elements that are converted and mapped as they are loaded, for what is asked for most. */
typedef struct RdxFused {
    uint8_t in, algebra, work, map; /* RdxType, RdxAlgebra, RdxWork, RdxMap of the recipe */
    void (*fold)(const RdxFold *fold);
    void (*rows)(const RdxRows *rows);
    void (*short_rows)(const RdxRows *rows); /* may be NULL, as the next two */
    /* Rows of RDX_BLOCK_BYTES and more, `step` bytes apart, of at most L elements or, of indices, which ascend, a
       chunk: one node each. */
    void (*any_rows)(const RdxRows *rows);
    void (*join_lanes)(const RdxFold *fold);
} RdxFused;

/* Asks for one line of memory that is needed some KB later. One request with each line folded, no more: a core has room
   for 16, and behind a burst of them the loads wait, so that what is computed from those comes on top of the time to
   fetch. Folds of f16 on a Xeon of the Granite Rapids class, one core, GB/s, plain read 19: one by one 19.6, by fours
   17.9, by eights 17.4, by sixteens 15.9; 4 KB ahead 19.1, 15.0, 14.6, 11.4. Compilers put the requests of an unrolled
   loop behind its loads; the empty instruction keeps them where they are, and unlike one that claims to touch memory
   leaves values in registers. */
static inline __attribute__((always_inline)) void rdx_ask(const unsigned char *line)
{
    __builtin_prefetch(line);
    __asm__ volatile("");
}

/* The same place, where reads are paced three cycles later: of a loop whose addresses are all known a Xeon issues some
   hundred loads at once, and its memory is slower for it. Two threads of one of the Sapphire Rapids class, 256 MB,
   plain read 39 GB/s: var over rows of 8 f32 22 GB/s, so 32. */
static inline __attribute__((always_inline)) const unsigned char *rdx_hold(const unsigned char *at, const bool paced)
{
#if defined(__x86_64__)
    if (paced)
        __asm__("imul $1, %0, %0" : "+r"(at));
#else
    (void)paced;
#endif
    return at;
}

/* The line after `at`; paced: when what lies 3 KB ahead is asked for. The same machine: f32 sums over rows of 4096 32
   GB/s, so 35, var 27 and 33, max 28 and 34, argmax 25 and 29. The pace alone is worth as much to sums, and nothing to
   max. */
static inline __attribute__((always_inline)) const unsigned char *rdx_step(const unsigned char *at, int64_t bytes,
                                                                           const bool paced)
{
    at += bytes;
    enum { AHEAD = 3072 };
    if (paced)
        rdx_ask(at + AHEAD);
    return rdx_hold(at, paced);
}

/* From row i of those that are joined at once to the next one; row_bytes and i are constants, once the caller is
   unrolled. */
static inline __attribute__((always_inline)) const unsigned char *
rdx_next_row(const unsigned char *row, const int64_t row_bytes, const int i, const bool paced)
{
    if (row_bytes < 64)
        return rdx_step(row, row_bytes, paced && (i + 1) * row_bytes % 64 == 0);
    for (int64_t at = 0; at < row_bytes; at += 64)
        row = rdx_step(row, 64, paced);
    return row;
}

/* What lies in L1 is neither asked for nor held back. */
static inline void rdx_load_near(RdxLoad *load)
{
    load->ahead = 0;
    load->in_order = load->paced = false;
}

enum { RDX_AHEAD_NEAR = 1024 }; /* bytes asked for ahead of reads from a cache */

static inline bool rdx_is_near(const RdxLoad *load)
{
    return load->ahead <= RDX_AHEAD_NEAR;
}

/* What reads in the order of addresses ask for. */
static inline int64_t rdx_ahead_in_order(const RdxLoad *load)
{
    return load->in_order ? 0 : load->ahead;
}

/* Asks for several lines at once: a few, for requests that come in bursts hold up the loads behind them. */
static inline void rdx_prefetch(const unsigned char *data, int64_t bytes)
{
    for (int64_t at = 0; at < bytes; at += 64)
        rdx_ask(data + at);
}

/* Into the second cache, which takes any number at once. */
static inline void rdx_prefetch_far(const unsigned char *data, int64_t bytes)
{
    for (int64_t at = 0; at < bytes; at += 64)
        __builtin_prefetch(data + at, 0, 2);
}

/* n contiguous elements -> n values of the working type (complex: 2n, or two planes `plane` bytes apart where
   planar). */
typedef void (*RdxConvert)(void *dst, const void *src, int64_t n, int64_t plane);

/* n elements of recipe->convert -> n elements of recipe->work; dst may be src where they are of one size and unit. */
typedef void (*RdxMapCode)(void *dst, int64_t dst_plane, const void *src, int64_t src_plane, int64_t n,
                           const RdxRecipe *recipe);

/* n nodes (unit each) -> n results (complex and minmax: pairs) and, where asked for, second[n]. Returns the results: in
   room, or the nodes themselves where they are the answer. */
typedef void *(*RdxFinishCode)(const RdxRecipe *recipe, const RdxStrip *nodes, int64_t n, void *room, void *second);

/* n contiguous results -> n contiguous elements of the output dtype. */
typedef void (*RdxStore)(void *dst, const void *src, int64_t n);

typedef struct RdxIsa {
    const char *name;
    const struct RdxIsa *below;                       /* has the algebras that this level has no code for, or NULL */
    const RdxAlgebraCode (*reals)[RDX_WORK_COUNT];    /* by RdxAlgebra; of f32 and f64 */
    const RdxAlgebraCode (*integers)[RDX_WORK_COUNT]; /* of the other working types */
    const RdxFused *fused;                            /* ends with an entry without fold */
    const RdxConvert (*convert)[RDX_WORK_COUNT];      /* by RdxType; NULL: the element is of the working type */
    const RdxConvert (*convert_planar)[RDX_WORK_COUNT];
    const RdxStore (*store)[RDX_TYPE_COUNT]; /* by RdxWork of the result */
    RdxMapCode map;
    RdxFinishCode finish;
    /* Narrow keys (narrow.h) to those that finish expects, in place: of the bits of f16 to those of f32, or off by
       `offset`. */
    void (*widen_keys)(void *keys, int64_t n, bool half, bool flip, int32_t offset);
    /* result = alpha * result + beta * old over n values; old NULL where beta is 0. */
    void (*scale)(RdxWork work, void *result, const void *old, int64_t n, double alpha, double beta);
    /* n elements of `size` bytes, `step` bytes apart, to consecutive places; asks `ahead` bytes ahead. */
    void (*gather)(void *dst, const void *src, int64_t n, int64_t step, int size, int64_t ahead);
    /* `count` runs of `bytes`, src_step bytes apart, to places dst_step bytes apart; asks for as much `ahead` bytes
       on. */
    void (*copy_runs)(void *dst, int64_t dst_step, const void *src, int64_t src_step, int64_t bytes, int64_t count,
                      int64_t ahead);
    void (*scatter)(void *dst, int64_t step, const void *src, int64_t n, int size);
    /* Rows of n contiguous elements, `step` bytes apart, to columns: element e of row i to place e * rows + i. */
    void (*turn)(void *dst, const void *src, int64_t step, int64_t rows, int64_t n, int size);
    /* Copies past the caches; other threads see it after rdx_emit_end. */
    void (*stream)(void *dst, const void *src, int64_t bytes);
} RdxIsa;

static inline const RdxAlgebraCode *rdx_isa_algebra(const RdxIsa *isa, const RdxRecipe *recipe)
{
    bool real = recipe->work == RDX_WORK_F32 || recipe->work == RDX_WORK_F64;
    const RdxAlgebraCode *code = &(real ? isa->reals : isa->integers)[recipe->algebra][recipe->work];
    return code->fold || !isa->below ? code : rdx_isa_algebra(isa->below, recipe);
}

/* The level in use: the best that this machine and this build have, or what RDX_ISA names. RDX_ERR_DEVICE if RDX_ISA
   names one that is not there. Read once. */
RdxStatus rdx_cpu_isa(const RdxIsa **isa);

/* Switches the level for plans made afterwards; NULL returns to the default. For tests. */
RdxStatus rdx_cpu_set_isa(const char *name);

/* Whether the machine's own prefetcher keeps ahead of reads in the order of addresses, so that requests only take room
   from it: AMD's from Zen 4 on. One core, 256 MB of f32, plain read 28 GB/s: sums in turn 28, with a request for each
   line 19. */
bool rdx_cpu_keeps_ahead(void);

/* Whether reads in the order of addresses are faster held back: Intel's. See rdx_step. */
bool rdx_cpu_needs_pace(void);

/* What tests lower and say instead, so that code for large inputs and for other machines runs on small ones here:
   inputs of so many bytes come from memory; whether the machine keeps ahead or else needs a pace, -1: as it does. */
extern int64_t rdx_cpu_stream_bytes;
extern int rdx_cpu_kept_ahead;

/* Names of the levels that this machine and build have, best last; returns how many. */
int rdx_cpu_isa_names(const char *names[4]);

#define RDX_ISA_LEVELS(X) X(baseline) X(avx2) X(avx512) X(neon)
#define X(level) extern const RdxIsa rdx_isa_##level;
RDX_ISA_LEVELS(X)
#undef X

#endif
