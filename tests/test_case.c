/* tools/case*.c: the grammar both ways, what it refuses and where, extents, buffers and their canaries. */
#include "case.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static RdxCase c, again;
static RdxTask task;
static char error[512], text[RDX_CASE_TEXT];

/* Canonical already: printing gives the very same text. */
static const char *const canonical[] = {
    "sum:f32:64x1024x4096/1",
    "sum:f32:-",
    "sum:f32:5/-",
    "var:bf16:4096x768/-1",
    "var0:f32:7",
    "std2.5:c64:3x4/-1,0:keep=1:ostrides=1x-3",
    "var-1:f32:7",
    "norm2:f32:1000",
    "norminf:f32:1000",
    "norm-inf:f16:10",
    "norm0.1:f64:10",
    "normnan:f64:10",
    "minmax:i8:5:data=exact",
    "sum:f32:65536x4096@4096x-1+4095/1",
    "sum:f32:3+7",
    "max:u64:0x3/0:seed=18446744073709551615",
    "sum:i8:9:nan=omit:out=f64:keep=1:alpha=0.1:beta=-1e-300:data=special:seed=7:threads=3",
    "var:f32:4x4/0:out=f64:out2=f32",
    "max:f32:4x4/0:out2=1",
    "count_nonzero:bool:2x2@0x0",
    "any:f8e4m3:9223372036854775807",
};

START_TEST(canonical_text_comes_back)
{
    ck_assert_msg(rdx_case_parse(&c, canonical[_i], error, sizeof error), "%s", error);
    ck_assert_uint_eq(rdx_case_print(&c, text, sizeof text), strlen(canonical[_i]));
    ck_assert_str_eq(text, canonical[_i]);
    ck_assert_uint_eq(rdx_case_print(&c, text, 5), strlen(canonical[_i]));
    ck_assert_uint_eq(strlen(text), 4);
}
END_TEST

START_TEST(other_spellings)
{
    static const char *const pairs[][2] = {
        {"norm:f32:3", "norm2:f32:3"},
        {"var1:f32:3", "var:f32:3"},
        {"sum:f32:-@", "-"}, /* a stride is missing */
        {"minmax:f32:3:out2=1", "minmax:f32:3"},
        {"sum:f32:3:seed=1:threads=0:keep=0:out2=0:data=uniform:nan=propagate", "sum:f32:3"},
        {"sum:f32:3:beta=1:nan=omit", "sum:f32:3:nan=omit:beta=1"},
        {"sum:f32:2x3@03x01", "sum:f32:2x3@3x1"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        bool parsed = rdx_case_parse(&c, pairs[i][0], error, sizeof error);
        ck_assert_msg(parsed == (strcmp(pairs[i][1], "-") != 0), "%s: %s", pairs[i][0], error);
        if (!parsed)
            continue;
        rdx_case_print(&c, text, sizeof text);
        ck_assert_str_eq(text, pairs[i][1]);
        ck_assert(rdx_case_parse(&again, text, error, sizeof error));
        ck_assert_mem_eq(&c, &again, sizeof c);
    }
}
END_TEST

START_TEST(mistakes_are_told_with_their_column)
{
    static const struct {
        const char *text, *says;
        int column;
    } mistakes[] = {
        {"", "unknown op", 1},
        {"summ:f32:3", "takes no parameter", 4},
        {"foo:f32:3", "unknown op \"foo\"", 1},
        {"sum", "expected :", 4},
        {"sum:", "unknown dtype", 5},
        {"sum:f33:3", "unknown dtype \"f33\"", 5},
        {"sum:f32", "expected :", 8},
        {"sum:f32:", "extent", 9},
        {"sum:f32:3x", "extent", 11},
        {"sum:f32:3x-1", "extent", 11},
        {"sum:f32:99999999999999999999", "64 bits", 9},
        {"sum:f32:3x4@1", "1 strides for rank 2", 14},
        {"sum:f32:3+-1", "offset", 11},
        {"sum:f32:3/", "axis", 11},
        {"sum:f32:3/0,", "axis", 13},
        {"sum:f32:3/0;", "unexpected", 12},
        {"sum:f32:3:", "unknown key", 11},
        {"sum:f32:3:foo=1", "unknown key \"foo\"", 11},
        {"sum:f32:3:nan", "unknown key", 11},
        {"sum:f32:3:nan=yes", "nan is omit", 15},
        {"sum:f32:3:nan=", "needs a value", 15},
        {"sum:f32:3:keep=2", "keep is 0 or 1", 16},
        {"sum:f32:3:keep=1:keep=1", "given twice", 18},
        {"sum:f32:3:out=f99", "out is a dtype", 15},
        {"sum:f32:3:data=foo", "unknown data", 16},
        {"sum:f32:3:alpha=0x1", "alpha", 17},
        {"sum:f32:3:alpha= 1", "alpha", 17},
        {"sum:f32:3:alpha=1e", "alpha", 17},
        {"sum:f32:3:seed=1x", "unexpected", 17},
        {"sum:f32:3:seed=18446744073709551616", "64 bits", 35},
        {"sum:f32:3:threads=999999", "too many", 25},
        {"sum:f32:3x4/0:ostrides=1x1", "2 ostrides for an output of rank 1", 27},
        {"norm1x:f32:3", "p of norm", 5},
        {"var0x1p3:f32:3", "correction", 4},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        char column[32];
        snprintf(column, sizeof column, "(column %d of", mistakes[i].column);
        ck_assert_msg(!rdx_case_parse(&c, mistakes[i].text, error, sizeof error), "%s parses", mistakes[i].text);
        ck_assert_msg(strstr(error, mistakes[i].says) && strstr(error, column), "%s: %s", mistakes[i].text, error);
    }
}
END_TEST

START_TEST(sixty_four_dimensions_and_no_more)
{
    char longest[2 * 65 + 16] = "sum:u8:1";
    for (int d = 1; d < 64; d++)
        strcat(longest, "x1");
    ck_assert(rdx_case_parse(&c, longest, error, sizeof error));
    ck_assert_int_eq(c.rank, 64);
    strcat(longest, "x1");
    ck_assert(!rdx_case_parse(&c, longest, error, sizeof error));
}
END_TEST

static void open_task(const char *line, int guard)
{
    ck_assert_msg(rdx_case_parse(&c, line, error, sizeof error), "%s", error);
    ck_assert_msg(rdx_case_problem(&c, &task) == RDX_OK, "%s: %s", line, rdx_last_error());
    ck_assert_msg(rdx_case_allocate(&task, guard, error, sizeof error), "%s", error);
}

START_TEST(extents)
{
    static const struct {
        const char *text;
        int64_t low, high, count, elements;
    } views[] = {
        {"sum:f32:4x3/1", 0, 11, 12, 12},
        {"sum:f32:4x3@-3x1+9/1", 0, 11, 12, 12},
        {"sum:f32:4x3@-3x1/1", -9, 2, 12, 12},
        {"sum:f32:4x3@0x2+5/1", 5, 9, 5, 12},
        {"sum:f32:-+5", 5, 5, 1, 1},
        {"sum:f32:4x0+2/1", 2, 1, 0, 0},
        {"sum:f32:2x2@100x-7/-", -7, 100, 108, 4},
    };
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        open_task(views[i].text, RDX_CASE_PLAIN);
        const RdxCaseExtent *extent = &task.extent[RDX_CASE_IN];
        ck_assert_int_eq(extent->low, views[i].low);
        ck_assert_int_eq(extent->high, views[i].high);
        ck_assert_int_eq(extent->count, views[i].count);
        ck_assert_int_eq(extent->elements, views[i].elements);
        rdx_case_release(&task);
    }
}
END_TEST

START_TEST(outputs_follow_the_case)
{
    open_task("var:c64:3x4x5/1:out=f64:keep=1:out2=1", RDX_CASE_PLAIN);
    ck_assert_int_eq(task.tensor[RDX_CASE_OUT].ndim, 3);
    ck_assert_int_eq(task.shape[RDX_CASE_OUT][1], 1);
    ck_assert_int_eq(rdx_data_number(task.tensor[RDX_CASE_OUT].dtype), RDX_F64);
    ck_assert_int_eq(rdx_data_number(task.tensor[RDX_CASE_OUT2].dtype), RDX_C128);
    ck_assert_int_eq(task.tensors, 3);
    rdx_case_release(&task);
    open_task("argmax:f32:3x4x5/0,2", RDX_CASE_PLAIN);
    ck_assert_int_eq(task.tensor[RDX_CASE_OUT].ndim, 1);
    ck_assert_int_eq(task.shape[RDX_CASE_OUT][0], 4);
    ck_assert_int_eq(rdx_data_number(task.tensor[RDX_CASE_OUT].dtype), RDX_I64);
    rdx_case_release(&task);
}
END_TEST

/* Storage element 0 is the lowest one that is touched, so a flipped view reads the same storage backwards. */
START_TEST(storage_starts_at_the_lowest_element)
{
    float stored[12];
    rdx_data_fill(RDX_F32, RDX_DATA_UNIFORM, 1, 0, 12, stored);
    for (int guard = RDX_CASE_PLAIN; guard <= RDX_CASE_GUARD_START; guard++) {
        open_task("sum:f32:12@-1/0", guard);
        for (int i = 0; i < 12; i++)
            ck_assert_float_eq(*(float *)rdx_case_element(&task, RDX_CASE_IN, i), stored[11 - i]);
        rdx_case_release(&task);
        open_task("sum:f32:3x4@1x3+5/0", guard);
        for (int i = 0; i < 12; i++)
            ck_assert_float_eq(*(float *)rdx_case_element(&task, RDX_CASE_IN, i), stored[i % 4 * 3 + i / 4]);
        rdx_case_release(&task);
    }
}
END_TEST

START_TEST(plain_buffers_are_aligned_but_for_the_offset)
{
    open_task("sum:f32:1000+3", RDX_CASE_PLAIN);
    ck_assert_uint_eq((uintptr_t)task.tensor[RDX_CASE_IN].data % 64, 0);
    ck_assert_uint_eq((uintptr_t)rdx_case_element(&task, RDX_CASE_IN, 0) % 64, 12);
    ck_assert_uint_eq((uintptr_t)task.tensor[RDX_CASE_OUT].data % 64, 0);
    rdx_case_release(&task);
}
END_TEST

START_TEST(outputs_start_as_promised)
{
    float held[2];
    open_task("sum:f32:2x5/1:beta=2:seed=4", RDX_CASE_PLAIN);
    rdx_data_fill(RDX_F32, RDX_DATA_EXACT, 5, 0, 2, held);
    ck_assert_mem_eq(task.tensor[RDX_CASE_OUT].data, held, sizeof held);
    rdx_case_release(&task);
    open_task("max:f32:2x5/1:out2=1", RDX_CASE_PLAIN);
    ck_assert(isnan(*(float *)task.tensor[RDX_CASE_OUT].data));
    ck_assert_int_eq(*(int64_t *)task.tensor[RDX_CASE_OUT2].data, -1);
    rdx_case_release(&task);
}
END_TEST

/* One byte anywhere but in an output element is found out. */
START_TEST(writes_that_stray_are_caught)
{
    static const char *const lines[] = {"sum:i32:3x4/1:ostrides=2", "sum:f32:3x4/1:ostrides=-3:beta=1"};
    for (int guard = RDX_CASE_PLAIN; guard <= RDX_CASE_GUARD_START; guard++) {
        open_task(lines[_i], guard);
        ck_assert_msg(rdx_case_intact(&task, error, sizeof error), "%s", error);
        struct RdxCaseBuffer *out = &task.buffer[RDX_CASE_OUT], *in = &task.buffer[RDX_CASE_IN];
        int caught = 0, tried = 0;
        for (unsigned char *at = out->usable; at < out->usable_end; at++) {
            bool element = false;
            for (int i = 0; i < 3; i++) {
                unsigned char *own = rdx_case_element(&task, RDX_CASE_OUT, i);
                element |= at >= own && at < own + rdx_data_type(rdx_data_number(task.tensor[1].dtype))->size;
            }
            if (guard != RDX_CASE_PLAIN && (at < out->storage - 8 || at >= out->storage_end + 8))
                continue;
            *at ^= 0x40;
            bool intact = rdx_case_intact(&task, error, sizeof error);
            *at ^= 0x40;
            ck_assert_msg(intact == element, "byte %d", (int)(at - out->storage));
            caught += !intact;
            tried++;
        }
        ck_assert_int_gt(caught, 0);
        ck_assert_int_lt(caught, tried);
        in->storage[5] ^= 1;
        ck_assert(!rdx_case_intact(&task, error, sizeof error));
        ck_assert_ptr_nonnull(strstr(error, "the input"));
        rdx_case_release(&task);
        rdx_case_release(&task);
    }
}
END_TEST

START_TEST(sparse_tensors_are_cheap)
{
    open_task("sum:f32:3x2@4000000000x1/0", RDX_CASE_PLAIN);
    float wanted;
    rdx_data_fill(RDX_F32, RDX_DATA_UNIFORM, 1, 8000000001, 1, &wanted);
    ck_assert_float_eq(*(float *)rdx_case_element(&task, RDX_CASE_IN, 5), wanted);
    rdx_case_release(&task);
}
END_TEST

START_TEST(what_cannot_be_allocated_is_said)
{
    ck_assert(rdx_case_parse(&c, "sum:f64:2x2@4000000000000000000x1/0", error, sizeof error));
    RdxStatus status = rdx_case_problem(&c, &task);
    ck_assert(status != RDX_OK || !rdx_case_allocate(&task, RDX_CASE_PLAIN, error, sizeof error));
    ck_assert(rdx_case_parse(&c, "sum:f64:9223372036854775807x9223372036854775807", error, sizeof error));
    status = rdx_case_problem(&c, &task);
    ck_assert(status != RDX_OK || !rdx_case_allocate(&task, RDX_CASE_PLAIN, error, sizeof error));
}
END_TEST

Suite *test_case_suite(void);

Suite *test_case_suite(void)
{
    Suite *suite = suite_create("case");
    TCase *tests = tcase_create("case");
    tcase_add_loop_test(tests, canonical_text_comes_back, 0, (int)(sizeof canonical / sizeof canonical[0]));
    tcase_add_test(tests, other_spellings);
    tcase_add_test(tests, mistakes_are_told_with_their_column);
    tcase_add_test(tests, sixty_four_dimensions_and_no_more);
    tcase_add_test(tests, extents);
    tcase_add_test(tests, outputs_follow_the_case);
    tcase_add_test(tests, storage_starts_at_the_lowest_element);
    tcase_add_test(tests, plain_buffers_are_aligned_but_for_the_offset);
    tcase_add_test(tests, outputs_start_as_promised);
    tcase_add_loop_test(tests, writes_that_stray_are_caught, 0, 2);
    tcase_add_test(tests, sparse_tensors_are_cheap);
    tcase_add_test(tests, what_cannot_be_allocated_is_said);
    suite_add_tcase(suite, tests);
    return suite;
}
