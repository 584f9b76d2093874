/* The shape fuzzer's engine: random CASEs, each computed by every strategy that applies, with one and with two threads
   and on a second instruction set, all compared to the bit with the plain reference, and the reference with the oracle.

   rdx_fuzz_make -> RdxCase -> rdx_fuzz_try (false: a sentence and the plan) -> rdx_fuzz_shrink -> one line to replay.
   rdx_fuzz_run does it in a loop and counts what it met; rdx_fuzz_covered says whether that was enough. */
#ifndef RDX_TOOLS_FUZZ_H
#define RDX_TOOLS_FUZZ_H

#include "case.h"

#include <stdio.h>

enum { RDX_FUZZ_OPS = 20, RDX_FUZZ_STRATEGIES = 16, RDX_FUZZ_TEXT = 4096 };

typedef enum RdxFuzzLayout {
    RDX_FUZZ_ROW_MAJOR,
    RDX_FUZZ_PERMUTED,
    RDX_FUZZ_STEPPED,
    RDX_FUZZ_FLIPPED,
    RDX_FUZZ_REPEATED, /* stride 0 */
    RDX_FUZZ_OFFSET,
    RDX_FUZZ_EMPTY,
    RDX_FUZZ_SCALAR, /* rank 0 */
    RDX_FUZZ_DEEP,   /* rank above 8 */
    RDX_FUZZ_NO_AXES,
    RDX_FUZZ_KEEPDIMS,
    RDX_FUZZ_OUTPUT_STRIDES,
    RDX_FUZZ_SCALED, /* alpha or beta */
    RDX_FUZZ_LAYOUTS
} RdxFuzzLayout;

typedef struct RdxFuzzCounts {
    int64_t cases, runs, refused, values, loose;
    int64_t too_large; /* not mirrored on the device: their buffers, holes included, are beyond what is copied */
    int64_t absent;    /* not run: a debug build of the plugin has no kernel for them; by op x input dtype: lacking */
    int64_t lacking[RDX_FUZZ_OPS][RDX_DATA_TYPES];
    int64_t cell[RDX_FUZZ_OPS][RDX_DATA_TYPES]; /* op x input dtype */
    int64_t out[RDX_FUZZ_OPS][RDX_DATA_TYPES];  /* op x output dtype */
    int64_t second[RDX_FUZZ_OPS];               /* with a second output */
    int64_t omit[RDX_FUZZ_OPS];                 /* with nan = omit */
    int64_t layout[RDX_FUZZ_LAYOUTS], data[RDX_DATA_CLASSES];
    int64_t applicable[RDX_FUZZ_STRATEGIES]; /* cases in which the strategy could be used */
    int64_t chosen[RDX_FUZZ_STRATEGIES];
    double ratio[RDX_FUZZ_OPS]; /* largest |error| / bound, by op */
} RdxFuzzCounts;

typedef struct RdxFuzzFailure {
    char line[RDX_CASE_TEXT];  /* the CASE, shrunk */
    char first[RDX_CASE_TEXT]; /* as it was found */
    char what[1024];           /* what is wrong with it */
    char plan[RDX_FUZZ_TEXT];  /* rdx_plan_explain of the plan that failed */
} RdxFuzzFailure;

/* Spoils results on purpose, for the tests of the fuzzer itself: called after every execution but the reference's. */
typedef void (*RdxFuzzPlant)(RdxTask *task, int strategy);

typedef struct RdxFuzzOptions {
    uint64_t seed;
    int64_t cases;  /* 0: no limit */
    double seconds; /* 0: no limit */
    bool threads;   /* also with two threads */
    bool shrink;
    FILE *progress;     /* NULL: silent */
    RdxFuzzPlant plant; /* NULL: none */
    volatile int *stop; /* NULL, or set when the user wants it to end */
    bool cuda; /* the strategies of CUDA device `device` in the place of the CPU's; the reference stays on the CPU */
    int device;
} RdxFuzzOptions;

/* CASE number `i` of a seed. Always well formed; it may be one that the library has to refuse. */
void rdx_fuzz_make(RdxCase *c, uint64_t seed, int64_t i);

/* Runs one CASE every way there is. False with failure->what and ->plan filled. `counts` may be NULL. */
bool rdx_fuzz_try(const RdxCase *c, const RdxFuzzOptions *options, RdxFuzzCounts *counts, RdxFuzzFailure *failure);

/* Makes a failing CASE as small as it will go while it still fails; updates failure. */
void rdx_fuzz_shrink(RdxCase *c, const RdxFuzzOptions *options, RdxFuzzFailure *failure);

/* False at the first failure. Adds to *counts: zero it first. */
bool rdx_fuzz_run(const RdxFuzzOptions *options, RdxFuzzCounts *counts, RdxFuzzFailure *failure);

/* Were all valid combinations met, and, on the CPU, each strategy in at least 5% of the cases? Meant for 5000 cases and
   more. */
bool rdx_fuzz_covered(const RdxFuzzCounts *counts, bool cuda, char *sentence, size_t size);
void rdx_fuzz_print(const RdxFuzzCounts *counts, bool cuda, FILE *file);

/* The status that the library owes a CASE; RDX_OK for one that must work. */
RdxStatus rdx_fuzz_expected(const RdxCase *c);

#endif
