/* The oracle itself. It must accept every committed answer of golden.txt, which another program in another language
   worked out; refuse them when a bit that matters is turned; and its bounds must be near enough to be reached to a
   fiftieth by someone. */
#include "oracle.h"
#include "task.h"

#include <stdio.h>

typedef struct Tally {
    OracleReport report;
    int lines, hashed, spoiled, accepted;
} Tally;

static bool read_hex(RdxTask *task, int which, const char *hex)
{
    int size = rdx_data_type(rdx_data_number(task->tensor[which].dtype))->size;
    if (strncmp(hex, "fnv", 3) == 0)
        return false;
    ck_assert_uint_eq(strlen(hex), (size_t)(task->extent[which].elements * size * 2));
    for (int64_t i = 0; i < task->extent[which].elements; i++) {
        unsigned char *at = rdx_case_element(task, which, i);
        for (int b = 0; b < size; b++) {
            unsigned value = 0;
            ck_assert_int_eq(sscanf(hex + 2 * (i * size + b), "%2x", &value), 1);
            at[b] = (unsigned char)value;
        }
    }
    return true;
}

/* Turns the highest exponent or value bit below the sign of every first output in turn: nothing that is bounded may
   pass. */
static void spoil(RdxTask *task, Tally *tally)
{
    int dtype = rdx_data_number(task->tensor[RDX_CASE_OUT].dtype), size = rdx_data_type(rdx_data_part(dtype))->size;
    bool is_bool = dtype == RDX_BOOL;
    for (int64_t i = 0; i < task->extent[RDX_CASE_OUT].elements && i < 4; i++) {
        unsigned char *at = (unsigned char *)rdx_case_element(task, RDX_CASE_OUT, i) + (is_bool ? 0 : size - 1);
        OracleReport report;
        memset(&report, 0, sizeof report);
        *at ^= is_bool ? 1 : 0x40;
        tally->spoiled++;
        tally->accepted += oracle_check_task(task, &report);
        *at ^= is_bool ? 1 : 0x40;
    }
}

static void check_line(char *line, Tally *tally)
{
    static RdxTask task;
    char *text = strtok(line, "\t"), *hex[2] = {strtok(NULL, "\t"), strtok(NULL, "\t")};
    static char none[] = "";
    task_open(&task, text);
    bool spelled = true;
    for (int which = RDX_CASE_OUT; which < task.tensors; which++)
        spelled = read_hex(&task, which, hex[which - 1] ? hex[which - 1] : none) && spelled;
    if (spelled) {
        tally->report.sentence[0] = '\0';
        ck_assert_msg(oracle_check_task(&task, &tally->report), "%s: %s", text, tally->report.sentence);
        tally->lines++;
        spoil(&task, tally);
    } else {
        tally->hashed++;
    }
    rdx_case_release(&task);
}

START_TEST(golden_answers)
{
    static Tally tally;
    static char line[8192];
    FILE *file = fopen("tests/golden.txt", "r");
    if (file == NULL)
        file = fopen("golden.txt", "r");
    ck_assert_msg(file != NULL, "run from the project's folder: tests/golden.txt is not here");
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] != '#' && line[0] != '\0')
            check_line(line, &tally);
    }
    fclose(file);
    ck_assert_int_gt(tally.lines, 500);
    ck_assert_msg(tally.accepted * 50 < tally.spoiled, "%d of %d spoiled answers were accepted", tally.accepted,
                  tally.spoiled);
    static const int bounded[] = {RDX_SUM, RDX_PROD, RDX_MEAN, RDX_VAR, RDX_STD, RDX_NORM, RDX_SUMSQ, RDX_LOGSUMEXP};
    for (size_t i = 0; i < sizeof bounded / sizeof bounded[0]; i++)
        ck_assert_msg(tally.report.ratio[bounded[i]] > 0.02 && tally.report.ratio[bounded[i]] <= 1,
                      "%s: the largest error / bound is %g", rdx_case_op_name(bounded[i]),
                      tally.report.ratio[bounded[i]]);
}
END_TEST

/* Values that the rules of signed zeros, NaN and infinities pin: right ones pass, each wrong neighbour is refused. */
typedef struct Pinned {
    const char *text;
    float in[4];
    float right, wrong;
} Pinned;

START_TEST(pinned)
{
    static const float inf = __builtin_inff();
    const Pinned rows[] = {
        {"sum:f32:4", {-0.0f, -0.0f, -0.0f, -0.0f}, -0.0f, 0.0f},
        {"sum:f32:4:nan=omit", {-0.0f, -0.0f, -0.0f, -0.0f}, 0.0f, -0.0f},
        {"sum:f32:4", {1, 2, 3, 4}, 10, 10.00001f},
        {"mean:f32:4", {-0.0f, -0.0f, -0.0f, -0.0f}, -0.0f, 0.0f},
        {"prod:f32:4", {-1, 0, 1, 1}, -0.0f, 0.0f},
        {"max:f32:4", {-0.0f, 0.0f, -1, -0.0f}, 0.0f, -0.0f},
        {"min:f32:4", {-0.0f, 0.0f, 1, 0.0f}, -0.0f, 0.0f},
        {"sum:f32:4", {inf, 1, 2, 3}, inf, 6},
        {"logsumexp:f32:4", {-inf, -inf, -inf, -inf}, -inf, 0},
        {"norminf:f32:4", {-3, 1, 2, 0}, 3, 2},
        {"norm-inf:f32:4", {-3, 1, 2, -0.5f}, 0.5f, -3},
        {"var0:f32:4", {7.1f, 7.1f, 7.1f, 7.1f}, 0, 1e-12f},
        {"sumsq:f32:4", {1, 2, 3, 4}, 30, 30.00001f},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        static RdxTask task;
        OracleReport report;
        memset(&report, 0, sizeof report);
        task_open(&task, rows[i].text);
        memcpy(task.problem.in->data, rows[i].in, sizeof rows[i].in);
        memcpy(task.problem.out->data, &rows[i].right, sizeof(float));
        ck_assert_msg(oracle_check_task(&task, &report), "row %zu %s: %s", i, rows[i].text, report.sentence);
        memcpy(task.problem.out->data, &rows[i].wrong, sizeof(float));
        ck_assert_msg(!oracle_check_task(&task, &report), "row %zu %s: accepts %g", i, rows[i].text,
                      (double)rows[i].wrong);
        ck_assert(report.sentence[0] != '\0');
        rdx_case_release(&task);
    }
}
END_TEST

/* A NaN that is not the one NaN is wrong, whatever op gave it. */
START_TEST(one_nan)
{
    static RdxTask task;
    OracleReport report;
    static const uint32_t patterns[] = {0x7fc00000, 0xffc00000, 0x7fc00001, 0x7f800001};
    task_open(&task, "sum:f32:4");
    memcpy(task.problem.in->data, (const float[4]){1, __builtin_nanf(""), 1, 1}, 16);
    for (int i = 0; i < 4; i++) {
        memset(&report, 0, sizeof report);
        memcpy(task.problem.out->data, &patterns[i], 4);
        ck_assert_int_eq(oracle_check_task(&task, &report), i == 0);
    }
    rdx_case_release(&task);
}
END_TEST

Suite *test_oracle_suite(void);

Suite *test_oracle_suite(void)
{
    Suite *suite = suite_create("oracle");
    TCase *tests = tcase_create("oracle");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, golden_answers);
    tcase_add_test(tests, pinned);
    tcase_add_test(tests, one_nan);
    suite_add_tcase(suite, tests);
    return suite;
}
