/* The benchmark's engine: one CASE at a time is allocated, verified to the bit, then timed beside the read ceiling.

   rdx_bench_run: rdx_bench_prepare (arena, plan) -> rdx_bench_verify -> rdx_bench_time -> a record; bench_report.c
   prints records. The ceiling is the best of four plain read kernels over the same bytes on the same number of threads,
   and passes of case and ceiling alternate: on a shared machine the speed of memory moves by a third within minutes,
   and only the ratio of neighbours means something. Bytes are what has to move: every 64-byte line of the input that
   holds an element, once, and every output element, once. All rates are in GB/s = bytes per nanosecond. */
#ifndef RDX_TOOLS_BENCH_H
#define RDX_TOOLS_BENCH_H

#include "case.h"

#include "../src/plan.h"

#include <stdio.h>

enum { RDX_BENCH_NAME = 64, RDX_BENCH_READS = 4, RDX_BENCH_COLUMN_SHAPES = 3 };

/* Memory that is used for case after case: pages stay mapped (huge where the system gives them), and an input whose
   predecessor had the same elements is not filled again. */
typedef struct RdxBenchArena {
    unsigned char *base; /* NULL: nothing yet */
    size_t bytes;
    int dtype, data; /* what the storage holds; dtype 0: nothing yet */
    uint64_t seed;
    int64_t elements, slip_bytes;
} RdxBenchArena;

typedef struct RdxBenchOptions {
    int threads;           /* 0: the library's default */
    double seconds;        /* of timing, a case */
    int64_t full_elements; /* that the reference judges whole; 0: 2^26. Tests make it small */
    RdxLauncher plant;     /* tests only: what the plan runs in place of rdx_cpu_launch */
} RdxBenchOptions;

/* How a case's bits were verified. */
typedef enum RdxBenchProof {
    RDX_BENCH_NOT_VERIFIED,
    RDX_BENCH_BY_REFERENCE, /* every output against the plain reading of the tree */
    RDX_BENCH_BY_SAMPLE, /* outputs over the whole range against the reference, and all against another computation */
    RDX_BENCH_BY_PREFIX, /* fewer elements against the reference, all against another computation */
    RDX_BENCH_BY_CPU,    /* CUDA: every output against the CPU's */
} RdxBenchProof;

typedef struct RdxBenchRecord {
    char name[RDX_BENCH_NAME], line[RDX_CASE_TEXT], plan[160];
    int threads; /* that take part */
    double us, us_min, us_max;
    double bytes_in, bytes_out;
    double gbps, ceiling_gbps, fraction;
    double free_order_gbps;     /* 0: not a case of columns */
    double free_order_fraction; /* case / free order; 0 likewise */
    const char *read_kernel, *free_order_kernel;
    bool fits_cache, verified;
    RdxBenchProof proof;
    char against[96]; /* the other computation, if any */
    int passes;
    char error[256]; /* "" or why there is nothing else */
} RdxBenchRecord;

typedef struct RdxBench {
    RdxBenchOptions options;
    RdxBenchArena arena[RDX_CASE_TENSORS], right[RDX_CASE_TENSORS]; /* right: outputs to compare with */
    RdxBenchArena columns;                                          /* what the free-order loop writes */
    RdxTask task;
    RdxPlan *plan;
    void *workspace;
    size_t workspace_bytes;
} RdxBench;

void rdx_bench_start(RdxBench *bench, const RdxBenchOptions *options);
void rdx_bench_finish(RdxBench *bench);

/* Does it all for one CASE. False with a sentence: it cannot be planned or allocated, its bits are wrong, or it is
   faster than reading its input. */
bool rdx_bench_run(RdxBench *bench, const char *name, const char *line, RdxBenchRecord *record, char *error,
                   size_t size);

/* The same on a CUDA device; see bench_device.c. */
bool rdx_bench_device(RdxBench *bench, int id, const char *name, const char *line, RdxBenchRecord *record, char *error,
                      size_t size);

/* ---- The pieces ---- */

/* Task, data and plan of a CASE that parses. */
bool rdx_bench_prepare(RdxBench *bench, const RdxCase *c, char *error, size_t size);
/* Executes a plan on the buffers of `problem`, with the bench's workspace. */
RdxStatus rdx_bench_execute(RdxBench *bench, const RdxPlan *plan, const RdxProblem *problem);
bool rdx_bench_verify(RdxBench *bench, RdxBenchRecord *record, char *error, size_t size);
bool rdx_bench_time(RdxBench *bench, RdxBenchRecord *record, char *error, size_t size);

/* Room for `bytes` at an address that is `slip_bytes` modulo 64, with 64 bytes of margin on both sides; NULL: no
   memory. */
unsigned char *rdx_bench_room(RdxBenchArena *arena, int64_t bytes, int64_t slip_bytes);
/* The same, filled with data; element i repeats after 1048573 (a prime: no stride of a tensor meets its own data
   again). */
unsigned char *rdx_bench_input(RdxBenchArena *arena, int dtype, int data, uint64_t seed, int64_t elements,
                               int64_t slip_bytes);
void rdx_bench_release(RdxBenchArena *arena);

/* Distinct 64-byte lines of the input that hold an element; -1: no memory to count them. */
int64_t rdx_bench_lines(const RdxTask *task);

/* Reads all bytes once on `threads` threads. */
const char *rdx_bench_read_name(int kernel);
void rdx_bench_read(int kernel, int threads, const void *bytes, size_t count);

/* Sums of columns in whatever order is fastest: what a columns kernel could do if bits did not matter. False if the
   plan's space is not one of columns side by side, or the dtype has no such loop on this CPU. */
bool rdx_bench_columns_apply(const RdxPlan *plan);
const char *rdx_bench_columns_name(int shape);
void rdx_bench_columns(const RdxPlan *plan, int shape, int threads, const RdxTensor *in, unsigned char *room);
double rdx_bench_columns_bytes(const RdxPlan *plan, int shape, int threads); /* that one call reads and writes */
int64_t rdx_bench_columns_room(const RdxPlan *plan, int shape, int threads);

/* A launcher that is right but for the last bit of the last output: to prove that a wrong kernel is noticed. */
RdxStatus rdx_bench_planted(const RdxLaunch *launch);

double rdx_bench_now(void);                         /* nanoseconds */
double rdx_bench_median(double *values, int count); /* sorts them */
int64_t rdx_bench_cache_bytes(void);                /* of the last level; 0: unknown */

/* Host costs and the cache: ns a call, GB/s. False with a sentence. */
typedef struct RdxBenchSmall {
    double execute_ns, reduce_ns;           /* 16 f32: a planned execute, rdx_reduce through the warm cache */
    double launch_ns;                       /* CUDA: a launch that does nothing; else 0 */
    double l2_gbps, l2_ceiling_gbps, l2_us; /* f32 sum of 256 KiB on one thread */
} RdxBenchSmall;
bool rdx_bench_host(RdxBenchSmall *small, char *error, size_t size);
bool rdx_bench_host_cuda(RdxBenchSmall *small, int id, char *error,
                         size_t size); /* what the host spends, not the device */
bool rdx_bench_l2(RdxBenchSmall *small, char *error, size_t size);

/* ---- Reports ---- */

typedef struct RdxBenchSuite {
    int count;
    char (*name)[RDX_BENCH_NAME];
    char **line;
} RdxBenchSuite;

/* Adds one CASE, or every `name CASE` line of a file. False with a sentence. */
bool rdx_bench_add(RdxBenchSuite *suite, const char *name, const char *line, char *error, size_t size);
bool rdx_bench_add_file(RdxBenchSuite *suite, const char *path, char *error, size_t size);
void rdx_bench_free(RdxBenchSuite *suite);

typedef struct RdxBenchReport {
    const char *device; /* "cpu", "cuda:0" */
    const char *gpu;    /* its name; NULL on the CPU */
    int count;
    RdxBenchRecord *record;
    bool host, l2;
    RdxBenchSmall small;
} RdxBenchReport;

void rdx_bench_print_head(FILE *stream, int threads);
void rdx_bench_print_columns(FILE *stream);
void rdx_bench_print_row(FILE *stream, const RdxBenchRecord *record);
void rdx_bench_print_small(FILE *stream, const RdxBenchReport *report);
bool rdx_bench_write_json(FILE *stream, const RdxBenchReport *report, int threads);

#endif
