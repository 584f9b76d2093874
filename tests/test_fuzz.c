/* The fuzzer, run on a few thousand cases, and tested itself: CASE lines survive printing and parsing, planted bugs are
   found, shrunk to the smallest shape that shows them, and replayed from their line. */
#include "fuzz.h"
#include "plan/config.h"
#include "task.h"

static RdxFuzzCounts counts;
static RdxFuzzFailure failure;

START_TEST(random_cases)
{
    const char *cases = getenv("RDX_FUZZ_CASES"), *seed = getenv("RDX_FUZZ_SEED");
    RdxFuzzOptions options = {.seed = seed ? strtoull(seed, NULL, 10) : 20, .threads = true, .shrink = true};
    options.cases = cases ? atoll(cases) : 6000;
    memset(&counts, 0, sizeof counts);
    bool right = rdx_fuzz_run(&options, &counts, &failure);
    ck_assert_msg(right, "seed %llu: %s\nredax fuzz --replay '%s'\nfound as %s\n%s", (unsigned long long)options.seed,
                  failure.what, failure.line, failure.first, failure.plan);
    char sentence[256];
    ck_assert_msg(options.cases < 5000 || rdx_fuzz_covered(&counts, false, sentence, sizeof sentence), "%s", sentence);
    ck_assert_msg(counts.loose * 20 < counts.values, "%lld of %lld values have no bound", (long long)counts.loose,
                  (long long)counts.values);
    for (int op = 0; op < RDX_FUZZ_OPS; op++)
        ck_assert_msg(counts.ratio[op] <= 1, "op %d: error / bound is %g", op, counts.ratio[op]);
    printf("largest error / bound:");
    for (int op = 1; op < RDX_FUZZ_OPS; op++)
        if (counts.ratio[op] > 0)
            printf(" %s %.3f", rdx_case_op_name(op), counts.ratio[op]);
    printf("\n");
}
END_TEST

START_TEST(lines)
{
    char line[RDX_CASE_TEXT], again[RDX_CASE_TEXT], error[512];
    for (int64_t i = 0; i < 20000; i++) {
        RdxCase c, back;
        rdx_fuzz_make(&c, 5, i);
        rdx_case_print(&c, line, sizeof line);
        DEMAND(rdx_case_parse(&back, line, error, sizeof error), "%s: %s", line, error);
        rdx_case_print(&back, again, sizeof again);
        DEMAND(strcmp(line, again) == 0, "%s came back as %s", line, again);
        DEMAND(back.op == c.op && back.dtype == c.dtype && back.rank == c.rank && back.p == c.p &&
                   back.correction == c.correction && back.alpha == c.alpha && back.beta == c.beta &&
                   back.out == c.out && back.nan == c.nan && back.seed == c.seed && back.data == c.data,
               "%s", line);
    }
}
END_TEST

START_TEST(same_seed_same_cases)
{
    char line[RDX_CASE_TEXT], again[RDX_CASE_TEXT];
    int same = 0;
    for (int64_t i = 0; i < 200; i++) {
        RdxCase c;
        rdx_fuzz_make(&c, 9, i);
        rdx_case_print(&c, line, sizeof line);
        rdx_fuzz_make(&c, 9, i);
        rdx_case_print(&c, again, sizeof again);
        ck_assert_str_eq(line, again);
        rdx_fuzz_make(&c, 10, i);
        rdx_case_print(&c, again, sizeof again);
        same += strcmp(line, again) == 0;
    }
    ck_assert_int_lt(same, 5);
}
END_TEST

/* ---- Planted bugs ---- */

static int64_t reduced_count(const RdxTask *task)
{
    int64_t outputs = task->extent[RDX_CASE_OUT].elements;
    return outputs > 0 ? task->extent[RDX_CASE_IN].elements / outputs : 0;
}

static void spoil(RdxTask *task)
{
    if (task->buffer[RDX_CASE_OUT].storage_end > task->buffer[RDX_CASE_OUT].storage)
        task->buffer[RDX_CASE_OUT].storage[0] ^= 1;
}

static void wrong_above_37(RdxTask *task, int strategy)
{
    (void)strategy;
    if (reduced_count(task) > 37)
        spoil(task);
}

static void wrong_in_gather(RdxTask *task, int strategy)
{
    if (strategy == RDX_STRATEGY_CPU_GATHER && task->c.rank >= 2)
        spoil(task);
}

static void writes_outside(RdxTask *task, int strategy)
{
    (void)strategy;
    const struct RdxCaseBuffer *out = &task->buffer[RDX_CASE_OUT];
    if (task->extent[RDX_CASE_OUT].elements > 9 && out->storage_end < out->usable_end) /* no guard page there */
        out->storage_end[0] = 0;
}

static void writes_input(RdxTask *task, int strategy)
{
    (void)strategy;
    if (task->extent[RDX_CASE_IN].count > 50)
        task->buffer[RDX_CASE_IN].storage[3] ^= 4;
}

typedef struct Planted {
    RdxFuzzPlant plant;
    const char *says;
    int64_t least, most; /* elements of the shrunk input */
} Planted;

START_TEST(planted_bugs)
{
    static const Planted rows[] = {
        {wrong_above_37, "differs", 38, 80},
        {wrong_in_gather, "gather", 1, 8},
        {writes_outside, "beside the output", 0, 40},
        {writes_input, "input was written", 1, 110},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            RdxFuzzOptions options = {.seed = seed, .cases = 2000, .shrink = true, .plant = rows[i].plant};
            static RdxTask task;
            RdxCase c;
            char error[512];
            memset(&counts, 0, sizeof counts);
            ck_assert_msg(!rdx_fuzz_run(&options, &counts, &failure), "bug %zu was not found with seed %llu", i,
                          (unsigned long long)seed);
            ck_assert_msg(strstr(failure.what, rows[i].says) != NULL, "bug %zu: %s", i, failure.what);
            ck_assert_msg(failure.plan[0] != '\0', "bug %zu: no plan", i);
            ck_assert_msg(rdx_case_parse(&c, failure.line, error, sizeof error), "%s", error);
            ck_assert_int_eq(rdx_case_problem(&c, &task), RDX_OK);
            ck_assert_msg(task.extent[RDX_CASE_IN].elements >= rows[i].least &&
                              task.extent[RDX_CASE_IN].elements <= rows[i].most,
                          "bug %zu: shrunk to %s, found as %s", i, failure.line, failure.first);
            ck_assert_msg(!rdx_fuzz_try(&c, &options, NULL, &failure), "bug %zu does not replay", i);
            options.plant = NULL;
            ck_assert_msg(rdx_fuzz_try(&c, &options, NULL, &failure), "%s fails without a bug: %s", failure.line,
                          failure.what);
        }
}
END_TEST

/* Coverage is a check that can fail. */
START_TEST(missing_coverage)
{
    char sentence[256];
    memset(&counts, 0, sizeof counts);
    counts.cases = 100;
    ck_assert(!rdx_fuzz_covered(&counts, false, sentence, sizeof sentence));
    ck_assert_ptr_nonnull(strstr(sentence, "sum"));
}
END_TEST

Suite *test_fuzz_suite(void);

Suite *test_fuzz_suite(void)
{
    Suite *suite = suite_create("fuzz");
    TCase *tests = tcase_create("fuzz");
    tcase_set_timeout(tests, 900);
    tcase_add_test(tests, lines);
    tcase_add_test(tests, same_seed_same_cases);
    tcase_add_test(tests, missing_coverage);
    tcase_add_test(tests, planted_bugs);
    tcase_add_test(tests, random_cases);
    suite_add_tcase(suite, tests);
    return suite;
}
