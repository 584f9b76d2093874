/* Every candidate plan of random CASEs against the CPU's bits; every misalignment of 0 to 15 bytes; workspaces that
   hold anything. The engine is the one of redax fuzz: buffers travel with their margins and holes, workspaces lie
   between canaries. */
#include "gpu.h"

#include "fuzz.h"

#include <stdio.h>
#include <unistd.h>

static RdxFuzzCounts counts;
static RdxFuzzFailure failure;

START_TEST(random_cases)
{
    RdxFuzzOptions options = {.seed = (uint64_t)gpu_setting("RDX_GPU_FUZZ_SEED", 1),
                              .cases = gpu_setting("RDX_GPU_FUZZ_CASES", gpu_reduced() ? 150 : 20000),
                              .shrink = true,
                              .progress = isatty(2) ? stderr : NULL,
                              .cuda = true};
    char sentence[256];
    memset(&counts, 0, sizeof counts);
    bool right = rdx_fuzz_run(&options, &counts, &failure);
    ck_assert_msg(right, "%s\n%s\nreplay: redax fuzz --device cuda --replay '%s'\nfound as %s", failure.what,
                  failure.plan, failure.line, failure.first);
    printf("fuzz: %lld cases, %lld runs, %lld without a kernel in a debug build, %lld too large\n",
           (long long)counts.cases, (long long)counts.runs, (long long)counts.absent, (long long)counts.too_large);
    ck_assert_int_eq(counts.cases, options.cases);
    /* the reference, at least the chosen plan, and rdx_reduce */
    ck_assert_int_ge(counts.runs, 3 * (counts.cases - counts.refused - counts.absent - counts.too_large));
    ck_assert_int_le(counts.too_large, counts.cases / 100);
    ck_assert(gpu->small_tables || counts.absent == 0);
    if (counts.cases >= 5000 && !gpu->small_tables)
        ck_assert_msg(rdx_fuzz_covered(&counts, true, sentence, sizeof sentence), "%s", sentence);
}
END_TEST

static void try_case(const char *text)
{
    RdxFuzzOptions options = {.seed = 1, .cuda = true};
    RdxCase c;
    char error[256];
    DEMAND(rdx_case_parse(&c, text, error, sizeof error), "%s", error);
    DEMAND(rdx_fuzz_try(&c, &options, &counts, &failure), "%s: %s\n%s", text, failure.what, failure.plan);
}

/* seed=3 asks the engine for a buffer of which offset 0 is aligned, so that the offset is the misalignment. */
START_TEST(alignments)
{
    static const char *const ops[] = {"sum", "var", "max", "argmax"};
    static const struct {
        const char *name;
        int size;
    } dtypes[] = {{"i8", 1}, {"bf16", 2}, {"f32", 4}, {"f64", 8}};
    static const struct {
        const char *shape, *axes;
    } views[] = {{"37x1000", "/1"},     {"5x70001", "/1"},      {"300x17", "/1"},       {"1000x37", "/0"},
                 {"9x100x50", "/0,2"},  {"300000", ""},         {"37x500@517x1", "/1"}, {"16x999", "/0"},
                 {"20x3x40x7", "/1,3"}, {"2000x3@1x2003", "/0"}};
    char text[128];
    int64_t tried = 0;
    memset(&counts, 0, sizeof counts);
    for (size_t op = 0; op < sizeof ops / sizeof ops[0]; op += gpu_reduced() ? 3 : 1)
        for (size_t t = 0; t < sizeof dtypes / sizeof dtypes[0]; t++)
            for (size_t v = 0; v < sizeof views / sizeof views[0]; v++)
                for (int bytes = 0; bytes < 16; bytes += dtypes[t].size * (gpu_reduced() ? 3 : 1)) {
                    snprintf(text, sizeof text, "%s:%s:%s+%d%s:seed=3", ops[op], dtypes[t].name, views[v].shape,
                             bytes / dtypes[t].size, views[v].axes);
                    try_case(text);
                    tried++;
                }
    ck_assert_int_ge(counts.runs + 3 * counts.absent, 3 * tried);
}
END_TEST

/* Rows around the sizes of words, vectors, threads' shares and lines, which start anywhere in a word, or apart at whole
   vectors. */
START_TEST(short_rows)
{
    static const char *const ops[] = {
        "sum:bf16", "var:f16",  "logsumexp:bf16", "minmax:bf16", "argmax:i16", "sum:f8e5m2",           "sum:i8",
        "sum:u8",   "any:bool", "max:i8",         "var:u8",      "argmin:i8",  "count_nonzero:f8e4m3", "sum:f32"};
    static const int elements[] = {1,  2,  3,   4,   5,   7,   8,   9,   15,  16,  17,  31,   32,   33,
                                   64, 65, 100, 127, 128, 129, 255, 256, 257, 300, 512, 1000, 1024, 2000};
    static const int many[] = {17, 65, 300, 1000};
    char text[128];
    memset(&counts, 0, sizeof counts);
    for (size_t op = 0; op < sizeof ops / sizeof ops[0]; op++)
        for (size_t n = 0; n < sizeof elements / sizeof elements[0]; n++) {
            for (int first = 0; first < 4; first += gpu_reduced() ? 3 : 1) {
                snprintf(text, sizeof text, "%s:75x%d+%d/1:seed=3", ops[op], elements[n], first);
                try_case(text);
            }
            const int apart = elements[n] / 16 * 16 + 32;
            snprintf(text, sizeof text, "%s:75x%d@%dx1/1:seed=3", ops[op], elements[n], apart);
            try_case(text);
        }
    /* Tiles of 32 rows, for all warps of two blocks a multiprocessor; of several lines as many as they hold. */
    for (size_t op = 0; op < sizeof ops / sizeof ops[0] && !gpu_reduced(); op++)
        for (size_t n = 0; n < sizeof many / sizeof many[0]; n++) {
            const int rows = many[n] > 129 ? 4999 : 70001, apart = many[n] / 16 * 16 + 32;
            snprintf(text, sizeof text, "%s:%dx%d+1/1:seed=3", ops[op], rows, many[n]);
            try_case(text);
            snprintf(text, sizeof text, "%s:%dx%d@%dx1/1:seed=3", ops[op], rows, many[n], apart);
            try_case(text);
        }
    ck_assert_int_gt(counts.runs, 0);
}
END_TEST

/* Rows that fill groups of the ring, and those that do not: lanes of one line, of two, of four and more, over few
   columns and many. */
START_TEST(rows_that_fill_groups)
{
    static const char *const ops[] = {"sum:f32", "sum:bf16", "argmax:f32",  "var:f32",    "logsumexp:f32",
                                      "sum:i8",  "max:i16",  "bit_xor:i64", "sumsq:bf16", "norm:f32"};
    static const int rows[] = {4, 8, 12, 16, 32, 64, 100, 128, 256, 384, 512, 1024, 2048};
    static const int columns[] = {8, 16, 48, 132, 1000};
    char text[128];
    memset(&counts, 0, sizeof counts);
    for (size_t op = 0; op < sizeof ops / sizeof ops[0]; op++)
        for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++)
            for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++) {
                if (gpu_reduced() && rows[n] * columns[c] > 20000)
                    continue;
                snprintf(text, sizeof text, "%s:%dx%d/0:seed=5", ops[op], rows[n], columns[c]);
                try_case(text);
            }
    ck_assert_int_gt(counts.runs, 0);
}
END_TEST

/* Few columns as one stream, which starts at a vector or inside one: less than a chunk, whole chunks, ragged ones, runs
   of several. */
START_TEST(few_columns)
{
    static const char *const ops[] = {"sum:f32", "sum:bf16", "argmin:f32",  "var:f32",    "logsumexp:f32",
                                      "sum:i8",  "max:i16",  "bit_xor:i64", "sumsq:bf16", "count_nonzero:f32"};
    static const int rows[] = {300, 600, 2048, 4096, 5000, 40000};
    static const int columns[] = {2, 3, 5, 7, 12, 31};
    char text[128];
    memset(&counts, 0, sizeof counts);
    for (size_t op = 0; op < sizeof ops / sizeof ops[0]; op++)
        for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++)
            for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++)
                for (int offset = 0; offset < 4; offset += 3) {
                    if (gpu_reduced() && rows[n] * columns[c] > 20000)
                        continue;
                    snprintf(text, sizeof text, "%s:%dx%d@%dx1+%d/0:seed=6", ops[op], rows[n], columns[c], columns[c],
                             offset);
                    try_case(text);
                }
    ck_assert_int_gt(counts.runs, 0);
}
END_TEST

/* Nothing but the head is expected of a workspace: the same plan with other contents behind the head gives the same
   bits, and the head is zero again each time. The engine's canaries lie on both sides. */
START_TEST(workspaces_hold_anything)
{
    static GpuCase c;
    static const char *const lines[] = {GPU_SPLIT_SUM, "var:f32:200000x3/0", "max:f32:5x400000/1", "argmax:f32:2000000",
                                        "sum:bf16:40000x64/0:out=f32"};
    int cut = 0;
    for (size_t line = 0; line < sizeof lines / sizeof lines[0]; line++) {
        gpu_case_open(&c, lines[line], 0);
        for (int index = 0; index < RDX_STRATEGY_COUNT; index++) {
            RdxPlan *plan = gpu_case_plan(&c, index);
            GpuRun run;
            size_t bytes = rdx_plan_workspace(plan);
            if (plan && bytes) {
                ck_assert_uint_ge(bytes, RDX_WORKSPACE_HEAD);
                double input = (double)c.task.extent[RDX_CASE_IN].elements * (c.task.c.dtype & 255) / 8;
                double most = input / 100 > 4194304 ? input / 100 : 4194304;
                ck_assert_msg((double)(bytes - RDX_WORKSPACE_HEAD) <= most, "%s: %zu bytes of workspace", lines[line],
                              bytes);
                GPU_OK(gpu_run_open(&run, &c, plan));
                for (int byte = 0; byte < 256; byte += 85) {
                    memset(run.host, byte, bytes - RDX_WORKSPACE_HEAD);
                    GPU_OK(
                        gpu->copy(run.workspace + 256 + RDX_WORKSPACE_HEAD, run.host, bytes - RDX_WORKSPACE_HEAD, 0));
                    GPU_OK(gpu_run_poison(&run));
                    GPU_OK(gpu_run_execute(&run, plan, NULL));
                    GPU_RIGHT(&run, NULL);
                }
                gpu_run_close(&run);
                cut++;
            }
            rdx_plan_destroy(plan);
        }
        gpu_case_close(&c);
    }
    ck_assert_int_ge(cut, 5);
}
END_TEST

void gpu_fuzz_add(TCase *tests)
{
    GPU_TEST(tests, alignments, GPU_ONE);
    GPU_TEST(tests, short_rows, GPU_ONE);
    GPU_TEST(tests, rows_that_fill_groups, GPU_ONE);
    GPU_TEST(tests, few_columns, GPU_ONE);
    GPU_TEST(tests, workspaces_hold_anything, GPU_ONE);
    GPU_TEST(tests, random_cases, GPU_ONE);
}
