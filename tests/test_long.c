/* Reductions past 2^31 elements, where indices and counts outgrow 32 bits. The input is a private mapping that is read
   but hardly written, so it costs address space and two pages. */
#include "task.h"

#include <check.h>
#include <sys/mman.h>

static const int64_t count = ((int64_t)1 << 31) + 3;

/* Zeros, but for a 1 in the last place. */
static signed char *long_input(void)
{
    signed char *data =
        mmap(NULL, (size_t)count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(data, MAP_FAILED);
    data[count - 1] = 1;
    return data;
}

static RdxTensor tensor_of(void *data, int dtype, int32_t ndim, int64_t *shape)
{
    RdxTensor tensor = {data, {1, 0}, ndim, {(uint8_t)(dtype >> 8), (uint8_t)(dtype & 255), 1}, shape, NULL, 0};
    return tensor;
}

START_TEST(index_past_31_bits)
{
    int64_t shape[1] = {count}, index[2] = {-5, -5};
    signed char value = 77;
    signed char *data = long_input();
    RdxTensor in = tensor_of(data, RDX_I8, 1, shape), out = tensor_of(&index[0], RDX_I64, 0, NULL);
    RdxProblem problem = RDX_PROBLEM_INIT;
    problem.op = RDX_ARGMAX;
    problem.in = &in;
    problem.out = &out;
    ck_assert_msg(rdx_reduce(&problem, NULL) == RDX_OK, "%s", rdx_last_error());
    ck_assert_int_eq(index[0], count - 1);
    RdxTensor least = tensor_of(&value, RDX_I8, 0, NULL), place = tensor_of(&index[1], RDX_I64, 0, NULL);
    problem.op = RDX_MAX;
    problem.out = &least;
    problem.out2 = &place;
    ck_assert_msg(rdx_reduce(&problem, NULL) == RDX_OK, "%s", rdx_last_error());
    ck_assert_int_eq(value, 1);
    ck_assert_int_eq(index[1], count - 1);
    munmap(data, (size_t)count);
}
END_TEST

START_TEST(sums_and_counts_past_31_bits)
{
    int64_t shape[1] = {((int64_t)1 << 33) + 7}, strides[1] = {0}, total = 0;
    unsigned char three = 3;
    RdxTensor in = tensor_of(&three, RDX_U8, 1, shape), out = tensor_of(&total, RDX_U64, 0, NULL);
    in.strides = strides;
    RdxProblem problem = RDX_PROBLEM_INIT;
    problem.op = RDX_SUM;
    problem.in = &in;
    problem.out = &out;
    ck_assert_msg(rdx_reduce(&problem, NULL) == RDX_OK, "%s", rdx_last_error());
    ck_assert_int_eq(total, 3 * shape[0]);
}
END_TEST

Suite *test_long_suite(void);

Suite *test_long_suite(void)
{
    Suite *suite = suite_create("long");
    TCase *cases = tcase_create("long");
    tcase_set_timeout(cases, 240);
    tcase_add_test(cases, index_past_31_bits);
    tcase_add_test(cases, sums_and_counts_past_31_bits);
    suite_add_tcase(suite, cases);
    return suite;
}
