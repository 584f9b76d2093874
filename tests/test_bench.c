/* The benchmark's own claims: lines are counted right, a wrong kernel is noticed whatever way its results are verified,
   a case that is faster than reading is not believed, suites and records are read and written as documented. */
#include "bench.h"
#include "commands.h"
#include "kernels/cpu/run.h"

#include <check.h>
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static RdxBench bench;
static RdxBenchRecord record;
static char error[1024];

static void start(RdxLauncher plant, int64_t full_elements)
{
    RdxBenchOptions options = {.threads = 2, .seconds = 0, .full_elements = full_elements, .plant = plant};
    rdx_bench_start(&bench, &options);
}

static void prepare(const char *line)
{
    RdxCase c;
    ck_assert_msg(rdx_case_parse(&c, line, error, sizeof error), "%s: %s", line, error);
    ck_assert_msg(rdx_bench_prepare(&bench, &c, error, sizeof error), "%s: %s", line, error);
}

START_TEST(lines_touched)
{
    static const struct {
        const char *line;
        int64_t lines;
    } rows[] = {
        {"sum:f32:1024", 64},
        {"sum:f32:1025", 65},
        {"sum:f32:1024@2", 128},
        {"sum:f32:16@16", 16},
        {"sum:f32:16@32", 16},
        {"sum:f32:8x16@64x2/1", 8 * 2},
        {"sum:f32:8x16@64x-2+30/1", 8 * 2},
        {"sum:f32:16x8@2x64/0", 8 * 2},
        {"sum:f32:100x100@1x1", 13},
        {"sum:f32:100x16@0x1", 1},
        {"sum:f32:4x0", 0},
        {"sum:f32:-", 1},
        {"sum:f32:2+15", 2},
        {"sum:f32:16+8", 2},
        {"sum:i8:3x64@100x1", 5},
        {"sum:f64:64x64@64x1/0", 512},
        {"sum:c128:10@3", 7},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        start(NULL, 0);
        prepare(rows[i].line);
        ck_assert_msg(rdx_bench_lines(&bench.task) == rows[i].lines, "%s: %lld lines, not %lld", rows[i].line,
                      (long long)rdx_bench_lines(&bench.task), (long long)rows[i].lines);
        rdx_bench_finish(&bench);
    }
}
END_TEST

static const struct {
    const char *line;
    RdxBenchProof proof; /* with 4096 elements for the reference */
} cases[] = {
    {"sum:f32:1000", RDX_BENCH_BY_REFERENCE},
    {"var1:f32:30x100/1:out2=f32", RDX_BENCH_BY_REFERENCE},
    {"sum:f32:100000", RDX_BENCH_BY_PREFIX},
    {"sum:f32:500x300/1", RDX_BENCH_BY_SAMPLE},
    {"sum:f32:500x300/0", RDX_BENCH_BY_SAMPLE},
    {"sum:f32:500x300@300x-1+299/0", RDX_BENCH_BY_SAMPLE},
    {"mean:f32:20x50x30/1:beta=0.5", RDX_BENCH_BY_SAMPLE},
    {"max:i8:20x50x30/-1,0:keep=1", RDX_BENCH_BY_SAMPLE},
    {"argmax:f32:3x30000/1", RDX_BENCH_BY_PREFIX},
    {"minmax:f32:500x300/1", RDX_BENCH_BY_SAMPLE},
    {"sum:f32:500x300@0x1/1", RDX_BENCH_BY_SAMPLE},
};
enum { CASES = sizeof cases / sizeof cases[0] };

START_TEST(right_results)
{
    for (int i = 0; i < CASES; i++) {
        start(NULL, 4096);
        bool good = rdx_bench_run(&bench, "name", cases[i].line, &record, error, sizeof error);
        ck_assert_msg(good && record.verified, "%s", error);
        ck_assert_msg(record.proof == cases[i].proof, "%s: proof %d", cases[i].line, (int)record.proof);
        ck_assert_msg(record.proof == RDX_BENCH_BY_REFERENCE || record.against[0], "%s: nothing else", cases[i].line);
        ck_assert_msg(record.us_min > 0 && record.us_min <= record.us && record.us <= record.us_max, "%s",
                      cases[i].line);
        ck_assert_msg(record.gbps > 0 && record.ceiling_gbps > 0 && record.fraction > 0, "%s", cases[i].line);
        ck_assert_int_ge(record.passes, 5);
        rdx_bench_finish(&bench);
    }
}
END_TEST

/* Wrong in one output in the middle only: no window of the reference need hold it. */
static RdxStatus wrong_in_the_middle(const RdxLaunch *launch)
{
    RdxStatus status = rdx_cpu_launch(launch);
    const RdxDim *kept = launch->space->keep_rank ? &launch->space->keep[0] : NULL;
    if (kept)
        launch->out[launch->space->out_offset + kept->extent / 3 * kept->out] ^= 1;
    return status;
}

static RdxStatus wrong_beside(const RdxLaunch *launch)
{
    RdxStatus status = rdx_cpu_launch(launch);
    launch->out[launch->space->out_high] = 0;
    return status;
}

/* Wrong in everything but small problems: what a prefix alone would not show. */
static RdxStatus wrong_when_large(const RdxLaunch *launch)
{
    RdxStatus status = rdx_cpu_launch(launch);
    if (launch->space->reduce_count > 20000)
        launch->out[launch->space->out_offset] ^= 1;
    return status;
}

static void must_fail(RdxLauncher plant, const char *line)
{
    start(plant, 4096);
    ck_assert_msg(!rdx_bench_run(&bench, "name", line, &record, error, sizeof error), "%s: not noticed", line);
    ck_assert_msg(strstr(error, "wrong result") != NULL && strstr(error, line) != NULL, "%s", error);
    ck_assert(!record.verified);
    rdx_bench_finish(&bench);
}

START_TEST(wrong_results)
{
    for (int i = 0; i < CASES; i++)
        must_fail(rdx_bench_planted, cases[i].line);
    must_fail(wrong_in_the_middle, "sum:f32:500x300/1");
    must_fail(wrong_in_the_middle, "sum:f32:500x300/0");
    must_fail(wrong_beside, "sum:f32:500x300/1");
    must_fail(wrong_when_large, "sum:f32:100000");
}
END_TEST

static RdxStatus do_nothing(const RdxLaunch *launch)
{
    (void)launch;
    return RDX_OK;
}

START_TEST(too_fast)
{
    int64_t bytes = rdx_bench_cache_bytes() > 0 ? 4 * rdx_bench_cache_bytes() + 64 : 268435456;
    char line[64];
    snprintf(line, sizeof line, "sum:u8:%lld", (long long)bytes);
    start(do_nothing, 0);
    prepare(line);
    memset(&record, 0, sizeof record);
    record.bytes_in = (double)bytes;
    ck_assert(!rdx_bench_time(&bench, &record, error, sizeof error));
    ck_assert_msg(strstr(error, "believable") != NULL, "%s", error);
    ck_assert(!record.fits_cache);
    rdx_bench_finish(&bench);
}
END_TEST

/* What the ceiling reads is all there is: each byte once, whatever the number of threads. */
START_TEST(free_order_counts)
{
    static const struct {
        const char *line;
        bool columns;
    } rows[] = {{"sum:f32:512x512/0", true},       {"sum:f32:512x512/1", false},
                {"sum:bf16:70000x8/0", true},      {"sum:i8:30x500x64/1", true},
                {"sum:i64:512x512/0", false},      {"sum:f64:3x40x700x300/0,2", true},
                {"sum:f16:4096x3/0", true},        {"sum:f32:20x4x3000@24000x6000x1/0,1", true},
                {"sum:f32:8x100@1000x1/0", false}, {"sum:f32:1024x2048@-2048x-1+2097151/0", true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        start(NULL, 0);
        prepare(rows[i].line);
        ck_assert_msg(rdx_bench_columns_apply(bench.plan) == rows[i].columns, "%s", rows[i].line);
        double all = (double)bench.task.extent[RDX_CASE_IN].elements * bench.plan->space.in_size;
        for (int shape = 0; rows[i].columns && shape < RDX_BENCH_COLUMN_SHAPES; shape++) {
            int64_t room_bytes = rdx_bench_columns_room(bench.plan, shape, 2);
            unsigned char *room = malloc((size_t)room_bytes);
            ck_assert_ptr_nonnull(room);
            rdx_bench_columns(bench.plan, shape, 2, &bench.task.tensor[RDX_CASE_IN], room);
            free(room);
            double out = (double)bench.plan->space.keep_count * (bench.plan->recipe.in == RDX_TYPE_F64 ? 8 : 4);
            double read = rdx_bench_columns_bytes(bench.plan, shape, 2) - out;
            ck_assert_msg(read <= all && read > 0.8 * all, "%s: reads %.0f of %.0f bytes", rows[i].line, read, all);
        }
        rdx_bench_finish(&bench);
    }
}
END_TEST

static bool reads_suite(RdxBenchSuite *suite, const char *text)
{
    char path[] = "/tmp/redax-suite-XXXXXX";
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
    close(descriptor);
    bool good = rdx_bench_add_file(suite, path, error, sizeof error);
    unlink(path);
    return good;
}

START_TEST(suites)
{
    RdxBenchSuite suite = {0};
    ck_assert(reads_suite(&suite, "# nothing\n\n a  sum:f32:10 # ten\nb\tmax:i8:2x3/0\n"));
    ck_assert_int_eq(suite.count, 2);
    ck_assert_str_eq(suite.name[0], "a");
    ck_assert_str_eq(suite.line[1], "max:i8:2x3/0");
    rdx_bench_free(&suite);
    static const char *const bad[] = {"a\n", "a sum:f32:10 b\n", "a sum:f32\n", "a sum:f33:10\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_msg(!reads_suite(&suite, bad[i]), "%s", bad[i]);
        ck_assert_msg(strstr(error, "line 1") != NULL, "%s", error);
        rdx_bench_free(&suite);
    }
    ck_assert(!rdx_bench_add_file(&suite, "/nonexistent/suite", error, sizeof error));
    ck_assert_ptr_nonnull(strstr(error, "cannot read"));
}
END_TEST

static int command(const char *const *words)
{
    char *argv[16];
    int argc = 0;
    for (; words[argc]; argc++)
        argv[argc] = strdup(words[argc]);
    argv[argc] = NULL;
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout));
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
    int code = cmd_bench(argc, argv);
    for (int i = 0; i < argc; i++)
        free(argv[i]);
    return code;
}
#define COMMAND(...) command((const char *const[]){"bench", __VA_ARGS__, NULL})

START_TEST(exit_codes)
{
    unsetenv("RDX_BENCH_PLANT");
    ck_assert_int_eq(COMMAND("--seconds", "0", "sum:f32:100"), RDX_EXIT_DONE);
    ck_assert_int_eq(COMMAND("--seconds", "0", "sum:f33:100"), RDX_EXIT_USAGE);
    ck_assert_int_eq(COMMAND("--seconds", "0"), RDX_EXIT_USAGE);
    ck_assert_int_eq(COMMAND("--threads", "0", "sum:f32:100"), RDX_EXIT_USAGE);
    ck_assert_int_eq(COMMAND("--device", "toaster", "sum:f32:100"), RDX_EXIT_USAGE);
    ck_assert_int_eq(COMMAND("--seconds", "0", "bit_and:f32:100"), RDX_EXIT_FAILED);
    ck_assert_int_eq(COMMAND("--seconds", "0", "sum:f32:100/5"), RDX_EXIT_FAILED);
    ck_assert_int_eq(COMMAND("--suite", "/nonexistent/suite"), RDX_EXIT_FAILED);
    setenv("RDX_BENCH_PLANT", "1", 1);
    ck_assert_int_eq(COMMAND("--seconds", "0", "sum:f32:100"), RDX_EXIT_FAILED);
    ck_assert_int_eq(COMMAND("--seconds", "0", "sum:f32:10000x30/0"), RDX_EXIT_FAILED);
}
END_TEST

static cJSON *read_json(const char *path)
{
    static char text[1 << 16];
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return cJSON_Parse(text);
}

START_TEST(records)
{
    static const char *const members[] = {"name",  "case", "device",       "us",       "us_min", "us_max",
                                          "bytes", "gbps", "ceiling_gbps", "fraction", "plan",   "verified"};
    char path[] = "/tmp/redax-bench-XXXXXX";
    close(mkstemp(path));
    unsetenv("RDX_BENCH_PLANT");
    ck_assert_int_eq(COMMAND("--seconds", "0", "--json", path, "--host", "--l2", "sum:f32:512x512/0", "bit_or:f32:3"),
                     RDX_EXIT_FAILED);
    cJSON *root = read_json(path);
    unlink(path);
    ck_assert_ptr_nonnull(root);
    ck_assert_int_eq(cJSON_GetObjectItem(root, "schema")->valueint, 1);
    static const char *const head[] = {"version", "machine", "compiler", "isa", "threads", "date", "host", "l2"};
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        ck_assert_msg(cJSON_GetObjectItem(root, head[i]) != NULL, "no %s", head[i]);
    cJSON *list = cJSON_GetObjectItem(root, "records"), *first = cJSON_GetArrayItem(list, 0);
    ck_assert_int_eq(cJSON_GetArraySize(list), 2);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        ck_assert_msg(cJSON_GetObjectItem(first, members[i]) != NULL, "no %s", members[i]);
    ck_assert(cJSON_IsTrue(cJSON_GetObjectItem(first, "verified")));
    ck_assert_double_eq(cJSON_GetObjectItem(first, "bytes")->valuedouble, 512 * 512 * 4 + 512 * 4);
    ck_assert_ptr_nonnull(cJSON_GetObjectItem(first, "free_order_gbps"));
    cJSON *second = cJSON_GetArrayItem(list, 1);
    ck_assert(cJSON_IsFalse(cJSON_GetObjectItem(second, "verified")));
    ck_assert_ptr_nonnull(cJSON_GetObjectItem(second, "error"));
    cJSON_Delete(root);
}
END_TEST

Suite *test_bench_suite(void);

Suite *test_bench_suite(void)
{
    Suite *suite = suite_create("bench");
    TCase *tests = tcase_create("bench");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, lines_touched);
    tcase_add_test(tests, right_results);
    tcase_add_test(tests, wrong_results);
    tcase_add_test(tests, too_fast);
    tcase_add_test(tests, free_order_counts);
    tcase_add_test(tests, suites);
    tcase_add_test(tests, exit_codes);
    tcase_add_test(tests, records);
    suite_add_tcase(suite, tests);
    return suite;
}
