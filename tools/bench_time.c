/* Timing. A round runs the four read kernels with the case between them, so that each sample of the case has neighbours
   in time; `fraction` is the median over rounds of case / best kernel of the round's neighbours, the best kernel being
   the one with the highest median rate. What takes less than a fifth of a millisecond is repeated until it does.
   A case faster than reading its bytes means that something is wrong with one of the two: a fraction above 1.03 on an
   input that no cache holds is measured again, and is an error where it is above 1.03 of the fastest single read of
   that time too: a machine whose bandwidth comes and goes (35 and 60 GB/s within a second were seen) has shares above 1
   by chance, but nothing is faster than the memory has been. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS_MAX = 400, CASES_A_ROUND = RDX_BENCH_READS, TRIES = 3, THREAD_BYTES = 131072 };
static const double sample_ns = 2e5, limit = 1.03;

typedef struct Timing {
    RdxBench *bench;
    int threads, repeats, read_repeats, column_repeats, column_shapes, rounds;
    size_t read_bytes;
    unsigned char *column_room;
    double run[ROUNDS_MAX * CASES_A_ROUND];              /* ns a call */
    double read[RDX_BENCH_READS][ROUNDS_MAX];            /* GB/s */
    double columns[RDX_BENCH_COLUMN_SHAPES][ROUNDS_MAX]; /* GB/s */
} Timing;

static double time_case(Timing *t, int repeats)
{
    const RdxProblem *p = &t->bench->task.problem;
    RdxStatus status = RDX_OK;
    double start = rdx_bench_now();
    for (int i = 0; i < repeats && status == RDX_OK; i++)
        status = rdx_execute(t->bench->plan, p->in->data, p->out->data, p->out2 ? p->out2->data : NULL,
                             t->bench->workspace, t->bench->workspace_bytes, NULL);
    return status == RDX_OK ? (rdx_bench_now() - start) / repeats : -1;
}

static double time_read(const Timing *t, int kernel, int repeats)
{
    const unsigned char *at = rdx_bench_room(&t->bench->arena[RDX_CASE_IN], 0, 0);
    double start = rdx_bench_now();
    for (int i = 0; i < repeats; i++)
        rdx_bench_read(kernel, t->threads, at, t->read_bytes);
    return (rdx_bench_now() - start) / repeats;
}

static double time_columns(const Timing *t, int shape, int repeats)
{
    double start = rdx_bench_now();
    for (int i = 0; i < repeats; i++)
        rdx_bench_columns(t->bench->plan, shape, t->threads, &t->bench->task.tensor[RDX_CASE_IN], t->column_room);
    return (rdx_bench_now() - start) / repeats;
}

static int repeats_for(double ns)
{
    return ns >= sample_ns ? 1 : ns <= 1 ? 200000 : (int)(sample_ns / ns) + 1;
}

/* Threads that a plain read of so many bytes is worth: as the library's own rule. */
static int read_threads(const Timing *t, double bytes)
{
    int all = t->bench->plan->device.units;
    double worth = bytes / THREAD_BYTES;
    return worth < 1 ? 1 : worth < all ? (int)worth : all;
}

static void prepare_columns(Timing *t)
{
    int64_t room = 0;
    t->column_shapes = 0;
    if (!rdx_bench_columns_apply(t->bench->plan))
        return;
    for (int shape = 0; shape < RDX_BENCH_COLUMN_SHAPES; shape++) {
        int64_t needed = rdx_bench_columns_room(t->bench->plan, shape, t->threads);
        room = needed > room ? needed : room;
    }
    t->column_room = rdx_bench_room(&t->bench->columns, room, 0);
    if (t->column_room == NULL)
        return;
    t->column_shapes = RDX_BENCH_COLUMN_SHAPES;
    (void)time_columns(t, 0, 1);
    t->column_repeats = repeats_for(time_columns(t, 0, 1));
}

static void round_of(Timing *t)
{
    int r = t->rounds++;
    double bytes = (double)t->read_bytes;
    for (int kernel = 0; kernel < RDX_BENCH_READS; kernel++) {
        t->read[kernel][r] = bytes / time_read(t, kernel, t->read_repeats);
        t->run[r * CASES_A_ROUND + kernel] = time_case(t, t->repeats);
    }
    for (int shape = 0; shape < t->column_shapes; shape++)
        t->columns[shape][r] =
            rdx_bench_columns_bytes(t->bench->plan, shape, t->threads) / time_columns(t, shape, t->column_repeats);
}

/* The row of rates with the highest median. */
static int best_of(const double *rates, int kinds, int rounds)
{
    double sorted[ROUNDS_MAX], best = 0;
    int found = 0;
    for (int kind = 0; kind < kinds; kind++) {
        memcpy(sorted, rates + kind * ROUNDS_MAX, (size_t)rounds * sizeof *sorted);
        double median = rdx_bench_median(sorted, rounds);
        if (median > best) {
            best = median;
            found = kind;
        }
    }
    return found;
}

static double ratio_to(const Timing *t, double bytes, const double *rates)
{
    double ratio[ROUNDS_MAX];
    for (int r = 0; r < t->rounds; r++) {
        double runs[CASES_A_ROUND];
        memcpy(runs, t->run + r * CASES_A_ROUND, sizeof runs);
        ratio[r] = bytes / rdx_bench_median(runs, CASES_A_ROUND) / rates[r];
    }
    return rdx_bench_median(ratio, t->rounds);
}

static double median_of(const double *rates, int rounds)
{
    double sorted[ROUNDS_MAX];
    memcpy(sorted, rates, (size_t)rounds * sizeof *sorted);
    return rdx_bench_median(sorted, rounds);
}

static double fastest_read(const Timing *t)
{
    double fastest = 0;
    for (int kernel = 0; kernel < RDX_BENCH_READS; kernel++)
        for (int r = 0; r < t->rounds; r++)
            fastest = t->read[kernel][r] > fastest ? t->read[kernel][r] : fastest;
    return fastest;
}

static void conclude(Timing *t, RdxBenchRecord *record)
{
    double bytes = record->bytes_in + record->bytes_out;
    int kernel = best_of(t->read[0], RDX_BENCH_READS, t->rounds);
    record->read_kernel = rdx_bench_read_name(kernel);
    record->ceiling_gbps = median_of(t->read[kernel], t->rounds);
    record->fraction = ratio_to(t, bytes, t->read[kernel]);
    if (t->column_shapes > 0) {
        int shape = best_of(t->columns[0], RDX_BENCH_COLUMN_SHAPES, t->rounds);
        record->free_order_kernel = rdx_bench_columns_name(shape);
        record->free_order_gbps = median_of(t->columns[shape], t->rounds);
        record->free_order_fraction = ratio_to(t, bytes, t->columns[shape]);
    }
    int runs = t->rounds * CASES_A_ROUND;
    record->passes = runs * t->repeats;
    double median = rdx_bench_median(t->run, runs); /* sorts */
    record->us = median / 1e3;
    record->us_min = t->run[0] / 1e3;
    record->us_max = t->run[runs - 1] / 1e3;
    record->gbps = bytes / median;
}

bool rdx_bench_time(RdxBench *bench, RdxBenchRecord *record, char *error, size_t size)
{
    Timing *t = calloc(1, sizeof *t);
    double bytes = record->bytes_in + record->bytes_out, cache = (double)rdx_bench_cache_bytes();
    record->fits_cache = cache > 0 ? bytes < 4 * cache : bytes < 268435456;
    if (t == NULL) {
        snprintf(error, size, "out of memory");
        return false;
    }
    t->bench = bench;
    t->threads = read_threads(t, bytes);
    /* Only what was filled: pages that nobody wrote are all the same page of zeros. */
    size_t all = (size_t)(bench->arena[RDX_CASE_IN].elements * rdx_data_type(bench->task.c.dtype)->size);
    t->read_bytes = (bytes < (double)all ? (size_t)bytes : all) / 64 * 64;
    t->read_bytes = t->read_bytes > 64 ? t->read_bytes : 64;
    bool good = rdx_bench_execute(bench, bench->plan, &bench->task.problem) == RDX_OK; /* also makes room */
    t->repeats = good ? repeats_for(time_case(t, 1)) : 1;
    (void)time_read(t, 0, 1);
    t->read_repeats = repeats_for(time_read(t, 0, 1));
    prepare_columns(t);
    for (int tries = 0; good && tries < TRIES; tries++) {
        double start = rdx_bench_now(), budget = bench->options.seconds * 1e9;
        t->rounds = 0;
        while (t->rounds < 2 || (t->rounds < ROUNDS_MAX && rdx_bench_now() - start < budget))
            round_of(t);
        conclude(t, record);
        if (record->fits_cache || record->fraction <= limit)
            break;
        good = tries + 1 < TRIES || record->gbps <= limit * fastest_read(t);
        if (!good)
            snprintf(error, size,
                     "%.0f%% of the speed at which memory can be read (%.1f of %.1f GB/s, three times): not "
                     "believable",
                     100 * record->fraction, record->gbps, record->ceiling_gbps);
    }
    if (!good && t->rounds == 0)
        snprintf(error, size, "rdx_execute: %s", rdx_last_error());
    free(t);
    return good;
}
