/* rdx_plan_print and rdx_space_print: complete, cut off cleanly at any size, JSON that a parser accepts with the
   numbers of the candidates in it, s-expressions that balance, nothing left out, whatever the device is called. */
#include "plan_cases.h"

#include <check.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const devices[] = {"h200", "a100", "t4", "cpu"};

static const char *const lines[] = {
    "sum:f32:65536x4096/1",
    "sum:f32:256x256x56x56/0,2,3",
    "var:f32:100x200/0:out2=1",
    "minmax:i16:10x20x30/1",
    "sum:f32:65536x4096@0x1/1",
    "argmax:bf16:32x131072/1",
    "sum:i8:1073741824/0",
    "norm2.5:f64:8192x768/0",
    "any:bool:-",
    "sum:f32:0x1000/1",
    "sum:f32:1000x0/1",
    "sum:c128:4x5x6@1x4x20/-",
};

enum { MOST = 1 << 16 };

typedef struct Printed {
    PlanCase p;
    RdxCandidate candidates[RDX_STRATEGY_COUNT];
    int count, chosen;
    char text[MOST];
} Printed;

static Printed printed;

static Printed *plan(const char *text, const char *device)
{
    Printed *r = &printed;
    ck_assert_msg(plan_case(&r->p, text, device), "%s: %s", text, rdx_last_error());
    ck_assert_int_eq(rdx_choose(&r->p.situation, r->candidates, &r->count, &r->chosen), RDX_OK);
    return r;
}

static size_t print_to(Printed *r, int format, char *buffer, size_t size)
{
    return rdx_plan_print(&r->p.situation, r->candidates, r->count, r->chosen, format, buffer, size);
}

static const char *print(Printed *r, int format)
{
    size_t length = print_to(r, format, r->text, sizeof r->text);
    ck_assert_uint_lt(length, sizeof r->text);
    ck_assert_uint_eq(length, strlen(r->text));
    return r->text;
}

static void check_cut(Printed *r, int format)
{
    static char cut[MOST];
    size_t length = strlen(print(r, format));
    ck_assert_uint_gt(length, 100);
    ck_assert_uint_eq(print_to(r, format, NULL, 0), length);
    const size_t sizes[] = {1, 2, 17, length / 2, length, length + 1};
    for (size_t i = 0; i < RDX_LENGTH(sizes); i++) {
        memset(cut, 0x7e, sizeof cut);
        ck_assert_uint_eq(print_to(r, format, cut, sizes[i]), length);
        size_t kept = sizes[i] - 1 < length ? sizes[i] - 1 : length;
        ck_assert_uint_eq(strlen(cut), kept);
        ck_assert_msg(memcmp(cut, r->text, kept) == 0, "cut at %zu", sizes[i]);
        ck_assert_msg(cut[sizes[i]] == 0x7e, "wrote past %zu bytes", sizes[i]);
    }
}

static double number(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    ck_assert_msg(cJSON_IsNumber(item), "no number %s", key);
    return item->valuedouble;
}

static const char *string(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    ck_assert_msg(cJSON_IsString(item), "no string %s", key);
    return item->valuestring;
}

/* The whole text must be one document; the caller deletes it. */
static cJSON *parse(const char *text)
{
    const char *end = NULL;
    cJSON *json = cJSON_ParseWithOpts(text, &end, 1);
    ck_assert_msg(json != NULL, "not JSON at: %.60s\nin %s", end ? end : "?", text);
    return json;
}

static void check_dims(const cJSON *json, const char *key, const RdxDim *dims, int rank)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, key);
    ck_assert_int_eq(cJSON_GetArraySize(list), rank);
    for (int d = 0; d < rank; d++) {
        const cJSON *dim = cJSON_GetArrayItem(list, d);
        ck_assert(number(dim, "extent") == (double)dims[d].extent && number(dim, "in") == (double)dims[d].in);
        ck_assert(number(dim, "out") == (double)dims[d].out && number(dim, "out2") == (double)dims[d].out2);
    }
}

/* JSON leaves no number out, not even one that says nothing. */
static void check_cuda_numbers(const cJSON *item, const RdxConfig *c)
{
#define SAME(name)                                                                                                     \
    ck_assert_msg(number(item, #name) == (double)c->name, #name " is %g, not %g", number(item, #name), (double)c->name)
    SAME(vector_bytes);
    SAME(split);
    SAME(part_chunks);
    SAME(residues);
    SAME(slices);
    SAME(groups);
    SAME(workspace_bytes);
    ck_assert(number(item, "outputs_per_group") == (double)c->outputs_per_block);
    const cJSON *launch = cJSON_GetObjectItemCaseSensitive(item, "launch");
    const cJSON *kernel = cJSON_GetObjectItemCaseSensitive(launch, "kernel");
    ck_assert_str_eq(kernel->valuestring, rdx_cuda_kernel_name(&c->launch));
    ck_assert(number(launch, "blocks") == (double)c->launch.blocks && number(launch, "threads") == c->launch.threads);
    ck_assert(number(launch, "shared_bytes") == (double)c->launch.shared_bytes);
    int64_t outputs = c->launch.shape.group_outputs * rdx_cuda_items_of_block(c->launch.kind);
    ck_assert(number(launch, "outputs_per_block") == (double)outputs);
    ck_assert(number(launch, "warps_per_output") == c->launch.shape.team);
    ck_assert(number(launch, "finish_blocks") == (double)c->finish_grid);
    item = cJSON_GetObjectItemCaseSensitive(item, "model");
    SAME(grid);
    SAME(items);
    SAME(block_x);
    SAME(block_y);
    SAME(lanes_per_output);
    SAME(loads);
    SAME(stages);
    SAME(tile_bytes);
    SAME(registers);
    SAME(resident);
    SAME(shared_bytes);
    SAME(index_bits);
#undef SAME
}

static void check_json(Printed *r)
{
    const RdxSpace *space = &r->p.space;
    cJSON *json = parse(print(r, RDX_JSON));
    ck_assert(number(json, "schema") == 1);
    ck_assert(strncmp(r->text, "{\"schema\": 1,", 13) == 0);
    ck_assert_str_eq(string(json, "op"), rdx_ops[r->p.recipe.op].name);
    ck_assert_str_eq(string(json, "device"), r->p.situation.device->name);
    ck_assert(number(json, "outputs") == (double)space->keep_count);
    ck_assert(number(json, "elements") == (double)space->reduce_count);
    check_dims(json, "keep", space->keep, space->keep_rank);
    check_dims(json, "reduce", space->reduce, space->reduce_rank);
    check_dims(json, "copy", space->copy, space->copy_rank);
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, "candidates");
    ck_assert_int_eq(cJSON_GetArraySize(list), r->count);
    for (int i = 0; i < r->count; i++) {
        const cJSON *item = cJSON_GetArrayItem(list, i);
        const RdxCandidate *candidate = &r->candidates[i];
        ck_assert_str_eq(string(item, "strategy"), rdx_strategies[candidate->config.strategy].name);
        if (candidate->refused) {
            ck_assert_str_eq(string(item, "refused"), candidate->refused);
            continue;
        }
        ck_assert(fabs(number(item, "us") - candidate->config.cost_us) <= 0.00051 + 1e-9 * candidate->config.cost_us);
        ck_assert(fabs(number(item, "bytes") - candidate->config.bytes) <= 0.5 + 1e-9 * candidate->config.bytes);
        ck_assert(number(item, "split") == (double)candidate->config.split);
        ck_assert(number(item, "workspace_bytes") == (double)candidate->config.workspace_bytes);
        if (rdx_strategies[candidate->config.strategy].cuda)
            check_cuda_numbers(item, &candidate->config);
        ck_assert(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "chosen")) == (i == r->chosen));
    }
    ck_assert_str_eq(string(json, "choice"), rdx_strategies[r->candidates[r->chosen].config.strategy].name);
    cJSON_Delete(json);
}

static void check_sexpr(Printed *r)
{
    const char *text = print(r, RDX_SEXPR);
    int depth = 0, lists = 0;
    bool quoted = false;
    for (const char *c = text; *c; c++) {
        quoted ^= *c == '"' && (c == text || c[-1] != '\\');
        depth += !quoted && *c == '(';
        lists += !quoted && *c == '(';
        depth -= !quoted && *c == ')';
        ck_assert_msg(depth > 0 || c[1] == '\0', "closed too early: %s", text);
    }
    ck_assert(depth == 0 && !quoted && lists > 10 && strchr(text, '\n') == NULL);
    for (int i = 0; i < r->count; i++) {
        char wanted[256];
        const char *name = rdx_strategies[r->candidates[i].config.strategy].name;
        snprintf(wanted, sizeof wanted, "(%s%s",
                 i == r->chosen             ? ""
                 : r->candidates[i].refused ? "refused "
                                            : "lost ",
                 name);
        ck_assert_msg(strstr(text, wanted) != NULL, "no %s in %s", wanted, text);
    }
}

static void check_text(Printed *r)
{
    const char *text = print(r, RDX_TEXT);
    char space[1024], wanted[1200];
    rdx_space_print(&r->p.space, space, sizeof space);
    ck_assert_msg(strstr(text, space) != NULL, "no %s in\n%s", space, text);
    for (int i = 0; i < r->count; i++) {
        const char *name = rdx_strategies[r->candidates[i].config.strategy].name;
        if (r->candidates[i].refused)
            snprintf(wanted, sizeof wanted, "    %-10s refused: %s\n", name, r->candidates[i].refused);
        else
            snprintf(wanted, sizeof wanted, "    %-10s ", name);
        ck_assert_msg(strstr(text, wanted) != NULL, "no %s in\n%s", wanted, text);
    }
    ck_assert(strstr(text, ", chosen\n") != NULL && strstr(text, "% of ") != NULL);
    ck_assert(text[strlen(text) - 1] == '\n');
}

START_TEST(formats)
{
    for (size_t d = 0; d < RDX_LENGTH(devices); d++) {
        Printed *r = plan(lines[_i], devices[d]);
        check_text(r);
        check_sexpr(r);
        check_json(r);
        for (int format = RDX_TEXT; format <= RDX_JSON; format++)
            check_cut(r, format);
    }
}
END_TEST

/* A plan that was forced to the reference has no configuration to show. */
START_TEST(reference)
{
    Printed *r = plan(lines[0], "cpu");
    r->chosen = RDX_CHOOSE_REFERENCE;
    cJSON *json = parse(print(r, RDX_JSON));
    ck_assert_str_eq(string(json, "choice"), "reference");
    cJSON_Delete(json);
    ck_assert_ptr_nonnull(strstr(print(r, RDX_SEXPR), "(reference)"));
    ck_assert_ptr_nonnull(strstr(print(r, RDX_TEXT), "choice     reference"));
}
END_TEST

START_TEST(odd_names_and_numbers)
{
    Printed *r = plan(lines[0], "h200");
    RdxDeviceInfo device = *r->p.situation.device;
    r->p.situation.device = &device;
    snprintf(device.name, sizeof device.name, "a\"b\\c\n\x01\xff%%s");
    cJSON *json = parse(print(r, RDX_JSON));
    ck_assert_msg(strncmp(string(json, "device"), "a\"b\\c\n\x01", 7) == 0, "%s", string(json, "device"));
    cJSON_Delete(json);

    const struct {
        double value;
        const char *text;
    } odd[] = {{NAN, "\"NaN\""}, {INFINITY, "\"Infinity\""}, {-INFINITY, "\"-Infinity\""}};
    for (size_t i = 0; i < RDX_LENGTH(odd); i++) {
        r->candidates[r->chosen].config.bytes = odd[i].value;
        json = parse(print(r, RDX_JSON));
        cJSON_Delete(json);
        char wanted[64];
        snprintf(wanted, sizeof wanted, "\"bytes\": %s", odd[i].text);
        ck_assert_ptr_nonnull(strstr(r->text, wanted));
        ck_assert_uint_gt(strlen(print(r, RDX_TEXT)), 100);
    }
    r->candidates[r->chosen].config.bytes = 1e300;
    json = parse(print(r, RDX_JSON));
    ck_assert(number(cJSON_GetArrayItem(cJSON_GetObjectItem(json, "candidates"), r->chosen), "bytes") == 1e300);
    cJSON_Delete(json);
}
END_TEST

/* The text as a person reads it. */
START_TEST(whole_text)
{
    Printed *r = plan("sum:f32:256x64x112x112/0,2,3", "h200");
    const char *text = print(r, RDX_TEXT);
    ck_assert_ptr_nonnull(strstr(text, "sum f32 -> f32, 64 outputs of 3211264 elements, on h200\n"
                                       "  space      keep [64:50176] reduce [256:3211264 12544:4]\n"
                                       "  choice     global, runs: loads of 16 bytes, split "));
    ck_assert_ptr_nonnull(strstr(text, ", the last block finishes\n  launch     run_rows: "));
    ck_assert_ptr_nonnull(strstr(text, " blocks of 256 threads, 1 output a block, 8 warps an output, "));
    ck_assert_ptr_nonnull(strstr(text, " bytes of shared memory\n  predicted  822 MB in about "));
    ck_assert_ptr_nonnull(strstr(text, "% of 4.69 TB/s\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "\n    warp       refused: the reduced elements of an output lie in several runs\n"));
}
END_TEST

static const struct {
    const char *line, *space;
} spaces[] = {
    {"sum:f32:65536x4096/1", "keep [65536:16384] reduce [4096:4]"},
    {"sum:f32:256x256x56x56/0,2,3", "keep [256:12544] reduce [256:3211264 3136:4]"},
    {"sum:f32:65536x4096@0x1/1", "reduce [4096:4] copy [65536>4]"},
    {"sum:f32:65536x4096@4096x-1+4095/1", "keep [65536:16384] reduce [4096:4]"},
    {"sum:f32:3x4x5@1x3x12/2", "keep [4:12>4 3:4>16] reduce [5:48]"},
    {"sum:f32:7x9/1:ostrides=3", "keep [7:36>12] reduce [9:4]"},
    {"sum:f32:-", "one element"},
    {"sum:f32:0x1000/1", "no outputs"},
    {"sum:f32:0", "reduce nothing"},
    {"sum:f32:1000x0/1", "copy [1000>4] reduce nothing"},
};

START_TEST(space_line)
{
    char buffer[256];
    PlanCase *p = &printed.p;
    const char *line = spaces[_i].line;
    if (!plan_case(p, line, "cpu"))
        ck_abort_msg("%s: %s", line, rdx_last_error());
    size_t length = rdx_space_print(&p->space, buffer, sizeof buffer);
    ck_assert_str_eq(buffer, spaces[_i].space);
    ck_assert_uint_eq(length, strlen(buffer));
    ck_assert_uint_eq(rdx_space_print(&p->space, NULL, 0), length);
    for (size_t size = 1; size <= length + 1; size++) {
        memset(buffer, 0x7e, sizeof buffer);
        ck_assert_uint_eq(rdx_space_print(&p->space, buffer, size), length);
        ck_assert_uint_eq(strlen(buffer), size - 1);
        ck_assert(strncmp(buffer, spaces[_i].space, size - 1) == 0 && buffer[size] == 0x7e);
    }
}
END_TEST

Suite *test_print_suite(void);

Suite *test_print_suite(void)
{
    Suite *suite = suite_create("print");
    TCase *printing = tcase_create("print");
    tcase_add_loop_test(printing, formats, 0, (int)RDX_LENGTH(lines));
    tcase_add_test(printing, reference);
    tcase_add_test(printing, odd_names_and_numbers);
    tcase_add_test(printing, whole_text);
    tcase_add_loop_test(printing, space_line, 0, (int)RDX_LENGTH(spaces));
    suite_add_tcase(suite, printing);
    return suite;
}
