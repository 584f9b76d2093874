/* CUDA plans without CUDA: golden plans of the public suite and of corners beside it for three GPUs, and what every
   plan of every random space must keep. REDAX_UPDATE_GOLDEN=1 writes tests/golden_plans.txt anew (run from the
   repository's root); read the difference before it is committed. */
#include "plan_rules.h"

#include <check.h>
#include <plan/geometry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const devices[] = {"h200", "a100", "t4"};
static const char golden_path[] = "tests/golden_plans.txt", cases_path[] = "bench/cases.txt";

/* What the public suite has no case of: NAME CASE. */
static const char *const corners[] = {
    "few-argmax-f64 argmax:f64:1000000x7/0", /* nodes of 16 bytes in a stream of few columns */
    "few-argmax-i64 argmax:i64:2165039x31/0",
    "col-31 sum:f32:2164802x31/0",          /* a group of 28 columns and one of 3 */
    "col-2Kx1K sum:f32:2048x1024/0",        /* what a last block costs decides */
    "bytes-8 max:i8:8000000x8/1",           /* rows of whole vectors of 8 bytes */
    "few-small sum:f32:128256x3/0",         /* no stream */
    "deep-stack var:bf16:4000x1500x2048/1", /* warps share columns, so that more of them have room */
};

enum { LINE = 1024 };

/* One line with what is launched, and the costs of all candidates. */
static void describe(char *line, const char *device, const char *name, const RdxCandidate *candidates, int count,
                     int chosen)
{
    static const char *const finishing[] = {"none", "last", "launch"};
    const RdxConfig *c = &candidates[chosen].config;
    const RdxCudaLaunch *l = &c->launch;
    int n = snprintf(
        line, LINE,
        "%s %s %s/%s v%d split=%lld part=%lld residues=%d slices=%lld work=%lld finish=%s:%lld, %s blocks=%lld "
        "threads=%d outputs=%lld warps=%d shared=%lld |",
        device, name, rdx_strategies[c->strategy].name, rdx_form_name(c->variant), c->vector_bytes, (long long)c->split,
        (long long)c->part_chunks, c->residues, (long long)c->slices, (long long)c->workspace_bytes,
        finishing[c->finishing], (long long)c->finish_grid, rdx_cuda_kernel_name(l), (long long)l->blocks, l->threads,
        (long long)l->shape.group_outputs, l->shape.team, (long long)l->shared_bytes);
    for (int i = 0; i < count; i++) {
        const RdxCandidate *candidate = &candidates[i];
        n += snprintf(line + n, (size_t)(LINE - n), " %s=", rdx_strategies[candidate->config.strategy].name);
        n += candidate->refused ? snprintf(line + n, (size_t)(LINE - n), "refused")
                                : snprintf(line + n, (size_t)(LINE - n), "%.1f", candidate->config.cost_us);
    }
}

typedef void Take(void *user, const char *line);

/* Calls take with the plan on each device of a row "NAME CASE"; returns how many, none for other rows. */
static int plans_of(const char *row, Take *take, void *user)
{
    static PlanCase p;
    char name[LINE], text[LINE], line[LINE];
    if (row[0] == '#' || sscanf(row, "%1023s %1023s", name, text) != 2)
        return 0;
    for (size_t d = 0; d < RDX_LENGTH(devices); d++) {
        RdxCandidate candidates[RDX_STRATEGY_COUNT];
        int count, chosen;
        ck_assert_msg(plan_case(&p, text, devices[d]), "%s: %s", text, rdx_last_error());
        ck_assert_int_eq(rdx_choose(&p.situation, candidates, &count, &chosen), RDX_OK);
        describe(line, devices[d], name, candidates, count, chosen);
        take(user, line);
    }
    return (int)RDX_LENGTH(devices);
}

/* Calls take with every line that the present planner gives; returns their number. */
static int each_plan(Take *take, void *user)
{
    FILE *cases = fopen(cases_path, "r");
    ck_assert_msg(cases != NULL, "cannot open %s: run from the repository's root", cases_path);
    char row[LINE];
    int lines = 0;
    while (fgets(row, sizeof row, cases))
        lines += plans_of(row, take, user);
    fclose(cases);
    for (size_t i = 0; i < RDX_LENGTH(corners); i++)
        lines += plans_of(corners[i], take, user);
    return lines;
}

static void write_line(void *user, const char *line)
{
    fprintf((FILE *)user, "%s\n", line);
}

static void compare_line(void *user, const char *line)
{
    char expected[LINE];
    ck_assert_msg(fgets(expected, sizeof expected, (FILE *)user) != NULL, "%s ends before: %s", golden_path, line);
    expected[strcspn(expected, "\n")] = '\0';
    ck_assert_msg(strcmp(expected, line) == 0, "the plan has changed (REDAX_UPDATE_GOLDEN=1 accepts it):\n- %s\n+ %s",
                  expected, line);
}

START_TEST(golden_plans)
{
    const char *update = getenv("REDAX_UPDATE_GOLDEN");
    bool write = update && strcmp(update, "1") == 0;
    FILE *golden = fopen(golden_path, write ? "w" : "r");
    ck_assert_msg(golden != NULL, "cannot open %s: run from the repository's root", golden_path);
    int lines = each_plan(write ? write_line : compare_line, golden);
    ck_assert_int_eq(lines, (63 + 7) * 3);
    char more[LINE];
    if (!write)
        ck_assert_msg(fgets(more, sizeof more, golden) == NULL, "%s has more lines than plans: %s", golden_path, more);
    ck_assert_int_eq(fclose(golden), 0);
}
END_TEST

/* ---- Random spaces ---- */

typedef struct Met {
    int plans, applicable[RDX_STRATEGY_COUNT], forms[RDX_FORM_COUNT], chosen[RDX_STRATEGY_COUNT], busy;
} Met;

static void check_candidates(const PlanCase *p, uint64_t seed, Met *met)
{
    RdxCandidate candidates[RDX_STRATEGY_COUNT];
    int count, chosen;
    ck_assert_int_eq(rdx_choose(&p->situation, candidates, &count, &chosen), RDX_OK);
    ck_assert_int_eq(count, 5);
    met->plans++;
    for (int i = 0; i < count; i++) {
        const RdxConfig *c = &candidates[i].config;
        plan_note(p, c, seed);
        if (candidates[i].refused) {
            KEEPS(strlen(candidates[i].refused) > 10);
            continue;
        }
        plan_keeps_rules(p, c);
        KEEPS(c->cost_us >= candidates[chosen].config.cost_us);
        RdxConfig again = {.strategy = c->strategy};
        rdx_strategies[c->strategy].configure(&p->situation, &again);
        again.cost_us = rdx_strategies[c->strategy].cost(&p->situation, &again);
        KEEPS(rdx_cuda_launch_of(&again.launch, &p->situation, &again));
        KEEPS(memcmp(&again, c, sizeof again) == 0);
        met->applicable[c->strategy]++;
        met->forms[c->variant]++;
    }
    KEEPS(!candidates[count - 1].refused); /* global takes everything */
    const RdxConfig *c = &candidates[chosen].config;
    plan_note(p, c, seed);
    met->chosen[c->strategy]++;
    met->busy += plan_keeps_busy(p, c);
}

enum { SHAPES = 4000 };

START_TEST(random_plans)
{
    static PlanCase p;
    static PlanShape shape;
    Met met = {0};
    const RdxDeviceInfo *device = rdx_device_preset(devices[_i]);
    for (uint64_t seed = 1; seed <= SHAPES; seed++) {
        plan_random_shape(&shape, seed);
        if (plan_case_of(&p, &shape.problem, device, shape.in_align))
            check_candidates(&p, seed, &met);
    }
    ck_assert_int_ge(met.plans, SHAPES * 8 / 10);
    for (int s = 0; s < RDX_STRATEGY_COUNT; s++)
        if (rdx_strategies[s].cuda) {
            ck_assert_msg(met.applicable[s] >= met.plans / 20, "%s applies in %d of %d plans", rdx_strategies[s].name,
                          met.applicable[s], met.plans);
            ck_assert_msg(met.chosen[s] >= met.plans / 100, "%s is chosen in %d of %d plans", rdx_strategies[s].name,
                          met.chosen[s], met.plans);
        }
    for (int form = 0; form < RDX_FORM_COUNT; form++)
        ck_assert_msg(met.forms[form] > 0, "no plan has the form %s", rdx_form_name(form));
    ck_assert_int_ge(met.busy, met.plans / 100);
}
END_TEST

/* ---- Places that random shapes seldom meet ---- */

static const RdxConfig *chosen_of(const char *text, const RdxDeviceInfo *device, RdxCandidate *candidates)
{
    static PlanCase p;
    int count, chosen;
    ck_assert_msg(plan_case(&p, text, device->name), "%s: %s", text, rdx_last_error());
    p.situation.device = device;
    ck_assert_int_eq(rdx_choose(&p.situation, candidates, &count, &chosen), RDX_OK);
    for (int i = 0; i < count; i++) {
        plan_note(&p, &candidates[i].config, 0);
        if (!candidates[i].refused)
            plan_keeps_rules(&p, &candidates[i].config);
    }
    plan_note(&p, &candidates[chosen].config, 0);
    return &candidates[chosen].config;
}

static const struct {
    const char *text, *strategy, *form;
} expected[] = {
    {"sum:f32:67108864x4/1", "thread", NULL},
    {"sum:f32:16777216x2x2/1,2", "thread", NULL},
    {"sum:f32:16x16777216/0", "thread", "registers"},
    {"sum:f32:1048576x67/1", "warp", "tile"},
    {"sum:f32:1048576x256/1", "warp", "rows"},
    {"sum:f32:65536x4096/1", "block_x", "rows"},
    {"sum:f32:65536x4001@4097x1+3/1", "block_x", "shifted"},
    {"sum:f32:128x64x128x256/1,3", "block_x", "runs"},
    {"sum:f32:4096x65535/1", "block_x", "shifted"},
    {"sum:f32:4096x512x128/1", "block_y", "columns"},
    {"sum:f32:65536x150x13/1", "block_y", "few_columns"},
    {"sum:f32:1073741824/0", "global", "rows"},
    {"sum:f32:33554432x3/0", "global", "few_columns"},
    {"sum:f32:33554432x2/0", "global", "few_columns"},
    {"var:f8e4m3:5000000x31/0:out=f64", "global", "columns"}, /* narrow rows whose stream fits no block */
    {"sum:f32:2097152x128/0", "global", "columns"},
    {"sum:f32:8192x768/0", "global", "columns"},
    {"sum:f32:256x256x3025/0,2", "global", "gather"},
    {"sum:f32:4096x512x49/0,2", NULL, "tile"},
    {"sum:f32:8589934592@0", NULL, NULL},
    {"sum:f32:1048576x1048576x1048576@0x0x1/0,1,2", NULL, NULL},
    {"sum:i8:8589934592/0", "global", "rows"},
    {"sum:f32:4294967296x2/1", "thread", NULL},
    {"sum:f32:4294967296x1/-", "thread", NULL},
    {"sum:f32:8589934592x8192/1", "block_x", "rows"},
    {"sum:f32:512x1099511627776/1", "global", "rows"},
    {"sum:f32:1099511627776x512/0", "global", "columns"},
    {"sum:f32:65536x4096@0x1/1", "block_x", "rows"},
    {"sum:f32:100000000x4096@0x1/1", NULL, NULL},
    {"argmax:f32:64x64x64x64x64@1x64x4096x262144x16777216/0,2,4", NULL, NULL},
    {"sum:c128:1000x1000@1001x1/1", NULL, NULL},
    {"max:f32:5x1000003/0", NULL, NULL},
    {"sum:f32:-", "thread", NULL},
    {"sum:f32:0", "thread", NULL},
    {"sum:f32:0x1000/1", NULL, NULL},
    {"sum:f32:1000x0/1", "thread", NULL},
    {"var:f8e5m2:9/-:nan=omit:out=f64", "thread", NULL}, /* 8 states of 24 bytes a vector, and one row */
};

/* wanted: NULL where any will do. */
static void is_named(const char *text, const char *got, const char *wanted)
{
    ck_assert_msg(!wanted || strcmp(got, wanted) == 0, "%s: %s, not %s\n  %s", text, got, wanted, plan_where);
}

START_TEST(expected_choices)
{
    RdxCandidate candidates[RDX_STRATEGY_COUNT];
    for (size_t d = 0; d < RDX_LENGTH(devices); d++) {
        const RdxDeviceInfo *device = rdx_device_preset(devices[d]);
        const RdxConfig *c = chosen_of(expected[_i].text, device, candidates);
        ck_assert_msg(c->bytes < 1e8 || c->items >= device->units, "%s: %lld items for %d multiprocessors\n  %s",
                      expected[_i].text, (long long)c->items, device->units, plan_where);
        if (d > 0)
            continue; /* the names are the H200's; the others only keep the rules */
        is_named(expected[_i].text, rdx_strategies[c->strategy].name, expected[_i].strategy);
        is_named(expected[_i].text, rdx_form_name(c->variant), expected[_i].form);
    }
}
END_TEST

/* Rows that go into registers, and those that are left to shared memory or to rings. */
static const struct {
    const char *text, *form, *kernel;
} launched[] = {
#include "plan_kernels.inc"
};

START_TEST(expected_kernels)
{
    RdxCandidate candidates[RDX_STRATEGY_COUNT];
    const RdxConfig *c = chosen_of(launched[_i].text, rdx_device_preset("h200"), candidates);
    is_named(launched[_i].text, rdx_form_name(c->variant), launched[_i].form);
    is_named(launched[_i].text, rdx_cuda_kernel_name(&c->launch), launched[_i].kernel);
}
END_TEST

/* Twice as much under way of few rows, where blocks are many. */
START_TEST(deep_columns)
{
    static const struct {
        const char *text;
        bool deep;
        int64_t outputs; /* of a block */
    } cases[] = {
        {"sum:f32:2x67108864/0", true, 4096},      {"sum:f32:2x1048576/0", false, 2048},
        {"mean:f32:4x16777216/0", true, 2048},     {"sum:f32:5x16777216/0", false, 1024},
        {"mean:bf16:3x22369600/0", true, 4096},    {"mean:bf16:3x22369601/0", false, 2048}, /* by words */
        {"sum:bf16:16384x2x4096/1", true, 8192},   {"sum:f32:20000x2x1024/1", false, 1024}, /* runs of a tile */
        {"sum:f32:8000x2x4100/1", false, 2048},    {"sum:f32:8000x2x8192/1", true, 4096},
        {"argmax:bf16:3x22369600/0", false, 2048}, {"var:f32:2x33554432/0", false, 2048},
        {"max:u8:64x3x1048576/1", true, 8192},     {"max:i8:4x33554432/0", false, 4096},
        {"sum:bf16:12x5592401/0", false, 1024},    {"sum:f32:4x10000000@20000000x2/0", false, 512}, /* sought */
    };
    RdxCandidate candidates[RDX_STRATEGY_COUNT];
    for (size_t i = 0; i < RDX_LENGTH(cases); i++) {
        const RdxConfig *c = chosen_of(cases[i].text, rdx_device_preset("h200"), candidates);
        ck_assert_msg(c->launch.shape.deep == cases[i].deep && c->launch.shape.group_outputs == cases[i].outputs,
                      "%s: %s, %lld outputs a block", cases[i].text, c->launch.shape.deep ? "deep" : "not deep",
                      (long long)c->launch.shape.group_outputs);
    }
}
END_TEST

/* The widest states of each dtype, from one row to 2^34, on the devices and on one with the 48 KiB of shared memory
   that every GPU has: whatever strategy applies has a form that fits. */
START_TEST(wide_states)
{
    static const char *const dtypes[] = {"f8e5m2", "bf16", "f32", "f64", "c64", "c128"};
    static const int columns[] = {2, 9, 64, 512};
    RdxCandidate candidates[RDX_STRATEGY_COUNT];
    char text[LINE];
    RdxDeviceInfo device = *rdx_device_preset(_i < 3 ? devices[_i] : "t4");
    if (_i == 3)
        device.shared_per_block = 49152;
    for (size_t t = 0; t < RDX_LENGTH(dtypes); t++)
        for (size_t c = 0; c < RDX_LENGTH(columns); c++)
            for (int64_t rows = 1; rows <= (int64_t)1 << 34; rows *= rows < 64 ? 2 : 16)
                for (int outer = 1; outer <= 5000; outer *= 5000) {
                    snprintf(text, sizeof text, "var:%s:%dx%lldx%d/1:nan=omit:out=f64", dtypes[t], outer,
                             (long long)rows, columns[c]);
                    chosen_of(text, &device, candidates);
                }
}
END_TEST

/* What cutting refuses, whatever it would cost: more groups than counters, more partial results than 1% of the input
   and 4 MiB, more blocks than a grid has. */
START_TEST(cuts)
{
    static PlanCase p;
    static const struct {
        const char *text;
        int64_t part_chunks, groups, group_outputs;
        int residues;
        bool allowed;
    } cut[] = {
        {"sum:f32:1024x4194304/1", 1, 1024, 1, 1, true},
        {"sum:f32:1025x4194304/1", 1, 1025, 1, 1, false},
        {"sum:f32:1025x4194304/1", 2048, 1025, 1, 1, true}, /* whole outputs need no counter */
        {"sum:bf16:8192x65536/0", 1, 256, 256, 16, true},
        {"sum:bf16:8192x65536/0", 1, 256, 256, 64, false}, /* 32 MiB for 1 GiB */
        {"sum:f32:8192x768/0", 1, 6, 128, 16, true},
        {"sum:f32:64x2048/0", 1, 16, 128, 64, true}, /* 512 KiB, as large as the input: below 4 MiB */
        {"sum:f32:512x1099511627776/1", 1, 512, 1, 1, false},
        {"sum:f32:512x1099511627776/1", 1024, 512, 1, 1, true},
    };
    ck_assert(plan_case(&p, cut[_i].text, "h200"));
    RdxLayout layout;
    RdxConfig config = {0};
    rdx_layout_of(&layout, &p.situation);
    RdxTrial trial = {.part_chunks = cut[_i].part_chunks, .residues = cut[_i].residues, .slices = 1};
    bool allowed = rdx_cut(&layout, &trial, cut[_i].groups, cut[_i].group_outputs, &config);
    ck_assert_msg(allowed == cut[_i].allowed, "%s, cut %d", cut[_i].text, _i);
}
END_TEST

/* The H200's predictions for inputs above 200 MB stay between the memory's rate and a fifth below it, bar what is bound
   by arithmetic: the public suite is memory's. */
START_TEST(predictions)
{
    FILE *cases = fopen(cases_path, "r");
    ck_assert_ptr_nonnull(cases);
    char row[LINE], name[LINE], text[LINE];
    int large = 0;
    while (fgets(row, sizeof row, cases)) {
        if (row[0] == '#' || sscanf(row, "%1023s %1023s", name, text) != 2 || strstr(name, "logsumexp"))
            continue;
        RdxCandidate candidates[RDX_STRATEGY_COUNT];
        const RdxConfig *c = chosen_of(text, rdx_device_preset("h200"), candidates);
        if (c->bytes < 2e8)
            continue;
        large++;
        double share = c->bytes / (c->cost_us * 1e-6 * rdx_device_preset("h200")->bandwidth);
        ck_assert_msg(share > 0.8 && share < 1, "%s: share %.3f of the memory's rate", name, share);
    }
    fclose(cases);
    ck_assert_int_ge(large, 50);
}
END_TEST

START_TEST(presets)
{
    for (size_t d = 0; d < RDX_LENGTH(devices); d++) {
        const RdxDeviceInfo *device = rdx_device_preset(devices[d]);
        ck_assert_ptr_nonnull(device);
        ck_assert(device->cuda);
        ck_assert_str_eq(device->name, devices[d]);
        ck_assert_str_eq(rdx_cost_table(device)->name, devices[d]);
        ck_assert_int_eq(rdx_cost_table(device)->compute, device->compute);
    }
    ck_assert_ptr_nonnull(rdx_device_preset("cpu"));
    ck_assert(!rdx_device_preset("cpu")->cuda);
    ck_assert_ptr_null(rdx_device_preset("h2000"));
    ck_assert_ptr_null(rdx_device_preset(""));
    /* A GPU without a preset takes the constants of the newest that is not newer. */
    static const int computes[] = {120, 89, 60};
    RdxDeviceInfo other = *rdx_device_preset("h200");
    for (size_t d = 0; d < RDX_LENGTH(devices); d++) {
        other.compute = computes[d];
        ck_assert_str_eq(rdx_cost_table(&other)->name, devices[d]);
    }
}
END_TEST

Suite *test_plan_cuda_suite(void);

Suite *test_plan_cuda_suite(void)
{
    Suite *suite = suite_create("plan_cuda");
    TCase *plans = tcase_create("plans");
    tcase_set_timeout(plans, 120);
    tcase_add_test(plans, presets);
    tcase_add_test(plans, golden_plans);
    tcase_add_test(plans, predictions);
    tcase_add_loop_test(plans, expected_choices, 0, (int)RDX_LENGTH(expected));
    tcase_add_loop_test(plans, expected_kernels, 0, RDX_LENGTH(launched));
    tcase_add_test(plans, deep_columns);
    tcase_add_loop_test(plans, wide_states, 0, 4);
    tcase_add_loop_test(plans, cuts, 0, 9);
    tcase_add_loop_test(plans, random_plans, 0, (int)RDX_LENGTH(devices));
    suite_add_tcase(suite, plans);
    return suite;
}
