/* tools/show.c, tools/options.c and tools/stats.c: what people read and write on the command line, and statistics of
   tensors large enough to be cut into slabs. */
#include "data.h"
#include "options.h"
#include "show.h"
#include "stats.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *shown(int dtype, int rank, const int64_t *shape, const void *data)
{
    char *text = NULL;
    size_t size = 0;
    int64_t own[RDX_MAX_RANK];
    memcpy(own, shape, (size_t)rank * sizeof own[0]);
    RdxTensor tensor = {(void *)(uintptr_t)data, {1, 0}, rank, rdx_data_dtype(dtype), own, NULL, 0};
    FILE *stream = open_memstream(&text, &size);
    rdx_show_tensor(stream, &tensor, 0);
    fclose(stream);
    return text;
}

static void shows(const char *wanted, int dtype, int rank, const int64_t *shape, const void *data)
{
    char *text = shown(dtype, rank, shape, data);
    ck_assert_str_eq(text, wanted);
    free(text);
}

START_TEST(arrays_as_numpy_prints_them)
{
    const int64_t two[] = {2, 2}, cube[] = {2, 1, 2}, four[] = {4}, none[] = {0, 3};
    const float f[] = {1, -2.5f, 100000, 0.1f}, odd[] = {NAN, -INFINITY, 1e20f, 1e-7f};
    const int64_t i[] = {1, -20, 300, INT64_MIN};
    const uint64_t u[] = {UINT64_MAX, 0, 1, 2};
    const uint8_t b[] = {0, 1, 2, 0};
    const double z[] = {1, -2, 0.5, 3};
    shows("[[     1.      -2.5]\n [100000.       0.1]]\n", RDX_F32, 2, two, f);
    shows("[[[     1.      -2.5]]\n\n [[100000.       0.1]]]\n", RDX_F32, 3, cube, f);
    shows("[  nan  -inf 1e+20 1e-07]\n", RDX_F32, 1, four, odd);
    shows("[                   1                  -20                  300 -9223372036854775808]\n", RDX_I64, 1, four,
          i);
    shows("[18446744073709551615                    0                    1                    2]\n", RDX_U64, 1, four,
          u);
    shows("[False  True  True False]\n", RDX_BOOL, 1, four, b);
    shows("[ 1.-2.j 0.5+3.j]\n", RDX_C128, 1, two, z);
    shows("100000.0\n", RDX_F32, 0, two, &f[2]);
    shows("1e+20\n", RDX_F32, 0, two, &odd[2]);
    shows("[] (shape 0x3)\n", RDX_F32, 2, none, f);
    float many[2048];
    for (int k = 0; k < 2048; k++)
        many[k] = (float)k;
    const int64_t large[] = {2, 1024};
    shows("f32 2x1024  min 0.0  max 2047.0  mean 1023.5  head [0. 1. 2. 3. 4. 5. 6. 7. ...]\n", RDX_F32, 2, large,
          many);
    many[0] = many[1000] = many[2047] = NAN;
    shows("f32 2x1024  min 1.0  max 2046.0  mean 1023.5114914425428  nan 3  head [nan 1. 2. 3. 4. 5. 6. 7. ...]\n",
          RDX_F32, 2, large, many);
    shows("c64 1024  mean 1023.0225269343781+1024.022526934378j  nan 3  head [nan+1.j 2.+3.j 4.+5.j 6.+7.j 8.+9.j "
          "10.+11.j 12.+13.j 14.+15.j ...]\n",
          RDX_C64, 1, large + 1, many);
}
END_TEST

START_TEST(elements_read_back)
{
    for (int t = 0; t < RDX_DATA_TYPES; t++) {
        int dtype = rdx_data_types[t].dtype, size = rdx_data_types[t].size;
        static _Alignas(16) unsigned char storage[16 * 500];
        if (rdx_data_types[t].kind != RDX_DATA_FLOAT)
            continue;
        rdx_data_fill(dtype, RDX_DATA_TAILED, 3, 0, 500, storage);
        for (int i = 0; i < 500; i++) {
            char word[RDX_SHOW_WORD];
            unsigned char again[16];
            rdx_show_element(word, dtype, storage + i * size, i & 1);
            rdx_data_store(dtype, again, strtod(word, NULL));
            ck_assert_msg(memcmp(again, storage + i * size, (size_t)size) == 0, "%s: %s", rdx_data_types[t].name, word);
        }
    }
}
END_TEST

START_TEST(option_values)
{
    RdxAxes axes;
    RdxDevice device;
    double real;
    int threads;
    ck_assert(rdx_option_axes(&axes, "0,-2,5") && axes.count == 3 && axes.list[1] == -2 && axes.list[2] == 5);
    ck_assert(rdx_option_axes(&axes, "none") && axes.count == 0);
    ck_assert(rdx_option_axes(&axes, "all") && axes.count == RDX_ALL_AXES);
    static const char *const no_axes[] = {"", ",", "0,", ",0", "0,,1", "x", "0 1", "1.5", "99999999999", "0,none"};
    for (size_t i = 0; i < sizeof no_axes / sizeof no_axes[0]; i++)
        ck_assert_msg(!rdx_option_axes(&axes, no_axes[i]), "%s", no_axes[i]);
    ck_assert(rdx_option_real(&real, "-1.5e3") && real == -1500);
    ck_assert(rdx_option_real(&real, "-inf") && isinf(real) && real < 0);
    static const char *const no_reals[] = {"", "x", "1x", "0x10", "nan", " 1", "1 ", "--1", "infinite", "."};
    for (size_t i = 0; i < sizeof no_reals / sizeof no_reals[0]; i++)
        ck_assert_msg(!rdx_option_real(&real, no_reals[i]), "%s", no_reals[i]);
    uint64_t number;
    ck_assert(rdx_option_number(&number, "18446744073709551615") && number == UINT64_MAX);
    static const char *const no_numbers[] = {"", "-1", "+1", " 1", "1x", "0x10", "1.5", "18446744073709551616"};
    for (size_t i = 0; i < sizeof no_numbers / sizeof no_numbers[0]; i++)
        ck_assert_msg(!rdx_option_number(&number, no_numbers[i]), "%s", no_numbers[i]);
    ck_assert(rdx_option_threads(&threads, "3") && threads == 3);
    ck_assert(!rdx_option_threads(&threads, "0") && !rdx_option_threads(&threads, "-1") &&
              !rdx_option_threads(&threads, "4097") && !rdx_option_threads(&threads, "2x"));
    ck_assert(rdx_option_device(&device, "auto") && device.type == 1);
    ck_assert(rdx_option_device(&device, "cuda") && device.type == 2 && device.id == 0);
    ck_assert(rdx_option_device(&device, "cuda:7") && device.id == 7);
    static const char *const no_devices[] = {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda7", "cpu:0", "cuda:1x"};
    for (size_t i = 0; i < sizeof no_devices / sizeof no_devices[0]; i++)
        ck_assert_msg(!rdx_option_device(&device, no_devices[i]), "%s", no_devices[i]);
}
END_TEST

static RdxStats stats_of(int dtype, int64_t count, const void *data)
{
    RdxStats stats;
    RdxProgress progress;
    RdxArray array = {.dtype = dtype, .rank = 1, .shape = {count}, .data = data};
    ck_assert(rdx_array_lay_out(&array, false));
    rdx_progress_start(&progress, "test", 1);
    RdxStatus status = rdx_stats_whole(&stats, &array, data, &progress);
    rdx_progress_end(&progress);
    ck_assert_msg(status == RDX_OK, "%s", rdx_last_error());
    return stats;
}

/* Over several slabs, beside long double arithmetic, for every dtype and with NaN and infinities among the elements. */
START_TEST(statistics_of_every_dtype)
{
    const RdxDataType *type = &rdx_data_types[_i];
    bool is_complex = type->kind == RDX_DATA_COMPLEX;
    int part = rdx_data_part(type->dtype), parts = is_complex ? 2 : 1, size = type->size / parts;
    int64_t count = (type->size == 1 ? 5 << 20 : 9 << 20) / type->size + 77, nan = 0, zero = 0, inf = 0;
    unsigned char *data = malloc((size_t)(count * type->size));
    long double sum[2] = {0, 0}, squares = 0, spread = 0;
    double min = HUGE_VAL, max = -HUGE_VAL;
    rdx_data_fill(type->dtype, RDX_DATA_UNIFORM, 7, 0, count, data);
    memset(data + 5 * type->size, 0, (size_t)type->size);
    if (type->kind == RDX_DATA_FLOAT) {
        rdx_data_store(part, data + 3 * size, (double)NAN);
        rdx_data_store(part, data + (count - 2) * size, (double)NAN);
    }
    for (int64_t i = 0; i < count; i++) {
        double x[2] = {0, 0};
        for (int p = 0; p < parts; p++)
            x[p] = rdx_data_load(part, data + (i * parts + p) * size);
        zero += x[0] == 0 && x[1] == 0;
        if (isnan(x[0])) {
            nan++;
            continue;
        }
        min = fmin(min, x[0]);
        max = fmax(max, x[0]);
        for (int p = 0; p < 2; p++) {
            sum[p] += x[p];
            squares += (long double)x[p] * x[p];
        }
    }
    long double n = (long double)(count - nan);
    for (int64_t i = 0; i < count; i++)
        for (int p = 0; p < parts; p++) {
            double x = rdx_data_load(part, data + (i * parts + p) * size);
            spread += isnan(x) ? 0 : (x - sum[p] / n) * (x - sum[p] / n);
        }
    RdxStats stats = stats_of(type->dtype, count, data);
    double scale = (double)sqrtl(squares / n);
    ck_assert_int_eq(stats.nan, nan);
    ck_assert_int_eq(stats.zero, zero);
    ck_assert_int_eq(stats.inf, inf);
    ck_assert_double_eq_tol(stats.mean / scale, (double)(sum[0] / n) / scale, 1e-13);
    ck_assert_double_eq_tol(stats.mean_im / scale, (double)(sum[1] / n) / scale, 1e-13);
    ck_assert_double_eq_tol(stats.norm / (double)sqrtl(squares), 1, 1e-13);
    ck_assert_double_eq_tol(stats.std / (double)sqrtl(spread / n), 1, 1e-12);
    ck_assert_int_eq(stats.has_range, !is_complex);
    if (!is_complex) {
        ck_assert_double_eq(rdx_data_load(type->dtype, stats.min), min);
        ck_assert_double_eq(rdx_data_load(type->dtype, stats.max), max);
    }
    free(data);
}
END_TEST

START_TEST(statistics_at_the_edges)
{
    const float infinite[] = {1, INFINITY, NAN, -INFINITY}, all_nan[] = {NAN, NAN}, one[] = {-0.0f};
    RdxStats stats = stats_of(RDX_F32, 4, infinite);
    ck_assert_int_eq(stats.inf, 2);
    ck_assert_int_eq(stats.nan, 1);
    ck_assert(isnan(stats.mean) && isinf(stats.norm));
    ck_assert_double_eq(rdx_data_load(RDX_F32, stats.min), -(double)INFINITY);
    stats = stats_of(RDX_F32, 2, all_nan);
    ck_assert_int_eq(stats.nan, 2);
    ck_assert(!stats.has_range && isnan(stats.mean) && isnan(stats.std) && stats.norm == 0);
    stats = stats_of(RDX_F32, 1, one);
    ck_assert(stats.has_range && stats.zero == 1 && stats.std == 0);
    stats = stats_of(RDX_F32, 0, one);
    ck_assert(!stats.has_range && isnan(stats.mean) && stats.norm == 0 && stats.zero == 0);
    const float parts[] = {INFINITY, NAN, 0, -INFINITY, 0, 0, NAN, 1};
    stats = stats_of(RDX_C64, 4, parts);
    ck_assert_int_eq(stats.inf, 2);
    ck_assert_int_eq(stats.nan, 2);
    ck_assert_int_eq(stats.zero, 1);
}
END_TEST

Suite *test_show_suite(void);

Suite *test_show_suite(void)
{
    Suite *suite = suite_create("show");
    TCase *tests = tcase_create("show");
    tcase_add_test(tests, arrays_as_numpy_prints_them);
    tcase_add_test(tests, elements_read_back);
    tcase_add_test(tests, option_values);
    tcase_add_loop_test(tests, statistics_of_every_dtype, 0, RDX_DATA_TYPES);
    tcase_add_test(tests, statistics_at_the_edges);
    suite_add_tcase(suite, tests);
    return suite;
}
