/* tools/data.c: conversions against the compiler's own and against arithmetic on doubles, data against known answers.
   The oracle leans on these, so every 16- and 8-bit pattern is tried, and every midpoint between two neighbours. */
#include "data.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int narrow[] = {RDX_F16, RDX_BF16, RDX_F8E4M3, RDX_F8E5M2};

static double infinity_or_nan(int dtype)
{
    return dtype == RDX_F8E4M3 ? (double)NAN : (double)INFINITY;
}

START_TEST(types_are_dense)
{
    for (int i = 0; i < RDX_DATA_TYPES; i++) {
        const RdxDataType *type = &rdx_data_types[i];
        ck_assert_ptr_eq(rdx_data_type(type->dtype), type);
        ck_assert_int_eq(rdx_data_type_named(type->name), type->dtype);
        ck_assert_int_eq(rdx_data_number(rdx_data_dtype(type->dtype)), type->dtype);
        ck_assert_int_eq(type->size * 8, type->dtype & 0xff);
        ck_assert_int_eq(rdx_data_dtype(type->dtype).lanes, 1);
    }
    ck_assert_ptr_null(rdx_data_type(0x0208));
    ck_assert_int_eq(rdx_data_type_named("f128"), 0);
    ck_assert_int_eq(rdx_data_part(RDX_C64), RDX_F32);
    ck_assert_int_eq(rdx_data_part(RDX_C128), RDX_F64);
}
END_TEST

/* Every pattern that is a number comes back as itself; the rest are NaN or infinite. */
START_TEST(narrow_patterns_come_back)
{
    int dtype = narrow[_i], bits = dtype & 0xff, numbers = 0;
    for (unsigned pattern = 0; pattern < 1u << bits; pattern++) {
        double value = rdx_data_decode(dtype, pattern);
        if (isnan(value))
            continue;
        numbers++;
        ck_assert_msg(rdx_data_encode(dtype, value) == pattern, "%x of dtype %x", pattern, dtype);
    }
    ck_assert_int_eq(numbers, dtype == RDX_F16      ? 65536 - 2 * 1023
                              : dtype == RDX_BF16   ? 65536 - 2 * 127
                              : dtype == RDX_F8E4M3 ? 254
                                                    : 256 - 6);
}
END_TEST

/* Between two neighbours a < b: the midpoint goes to the even pattern, just beside it to the nearer one. */
START_TEST(narrow_rounding)
{
    int dtype = narrow[_i], bits = dtype & 0xff;
    unsigned sign = 1u << (bits - 1);
    for (unsigned pattern = 0; pattern < sign - 1; pattern++) {
        double a = rdx_data_decode(dtype, pattern), b = rdx_data_decode(dtype, pattern + 1);
        if (!isfinite(a) || !isfinite(b))
            continue;
        double middle = a + (b - a) / 2;
        unsigned even = pattern & 1 ? pattern + 1 : pattern;
        ck_assert_uint_eq(rdx_data_encode(dtype, middle), even);
        ck_assert_uint_eq(rdx_data_encode(dtype, -middle), even | sign);
        ck_assert_uint_eq(rdx_data_encode(dtype, nextafter(middle, -1)), pattern);
        ck_assert_uint_eq(rdx_data_encode(dtype, nextafter(middle, HUGE_VAL)), pattern + 1);
    }
}
END_TEST

START_TEST(narrow_limits)
{
    static const struct {
        int dtype;
        double largest, first_beyond, smallest; /* first_beyond: the least value that is not rounded to largest */
        unsigned nan;
    } limits[] = {{RDX_F16, 65504, 65520, 0x1p-24, 0x7e00},
                  {RDX_BF16, 0x1.fep127, 0x1.ffp127, 0x1p-133, 0x7fc0},
                  {RDX_F8E4M3, 448, 0x1.d000000000001p8, 0x1p-9, 0x7f},
                  {RDX_F8E5M2, 57344, 61440, 0x1p-16, 0x7e}};
    int dtype = limits[_i].dtype;
    double beyond = infinity_or_nan(dtype);
    for (int sign = -1; sign <= 1; sign += 2) {
        double largest = sign * limits[_i].largest;
        ck_assert_double_eq(rdx_data_decode(dtype, rdx_data_encode(dtype, largest)), largest);
        ck_assert_double_eq(
            rdx_data_decode(dtype, rdx_data_encode(dtype, nextafter(sign * limits[_i].first_beyond, 0))), largest);
        double over = rdx_data_decode(dtype, rdx_data_encode(dtype, sign * limits[_i].first_beyond));
        ck_assert(isnan(beyond) ? isnan(over) : over == sign * beyond);
        over = rdx_data_decode(dtype, rdx_data_encode(dtype, sign * (double)INFINITY));
        ck_assert(isnan(beyond) ? isnan(over) : over == sign * beyond);
        ck_assert_uint_eq(rdx_data_encode(dtype, sign * (double)NAN), limits[_i].nan);
        ck_assert_double_eq(rdx_data_decode(dtype, rdx_data_encode(dtype, sign * limits[_i].smallest)),
                            sign * limits[_i].smallest);
        ck_assert_double_eq(rdx_data_decode(dtype, rdx_data_encode(dtype, sign * limits[_i].smallest / 2)), 0);
        ck_assert_int_eq(signbit(rdx_data_decode(dtype, rdx_data_encode(dtype, sign * 0x1p-1074))) != 0, sign < 0);
    }
}
END_TEST

/* f32 against the compiler's conversion over doubles of every exponent. */
START_TEST(f32_as_the_compiler)
{
    for (uint64_t i = 0; i < 400000; i++) {
        uint64_t z = rdx_data_mix(11, i);
        double value;
        memcpy(&value, &z, sizeof value);
        if (i & 1) /* half of them where f32 has numbers, subnormal ones and ties among them */
            value = ldexp((double)(int64_t)(z >> 11 & ~(uint64_t)(i & 2 ? 0xfffffff : 0)), (int)(z % 300) - 200);
        if (isnan(value))
            continue;
        float wanted = (float)value, got;
        uint32_t bits = (uint32_t)rdx_data_encode(RDX_F32, value);
        memcpy(&got, &bits, sizeof got);
        ck_assert_msg(memcmp(&wanted, &got, 4) == 0, "%a gives %a, not %a", value, (double)got, (double)wanted);
        ck_assert_double_eq(rdx_data_decode(RDX_F32, bits), (double)wanted);
    }
}
END_TEST

START_TEST(integers)
{
    unsigned char byte[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    ck_assert_int_eq(rdx_data_load_int(RDX_I8, byte), -1);
    ck_assert_int_eq(rdx_data_load_int(RDX_U8, byte), 255);
    ck_assert_int_eq(rdx_data_load_int(RDX_I16, byte), -1);
    ck_assert_int_eq(rdx_data_load_int(RDX_U16, byte), 65535);
    ck_assert_int_eq(rdx_data_load_int(RDX_I32, byte), -1);
    ck_assert_int_eq(rdx_data_load_int(RDX_U32, byte), 4294967295);
    ck_assert_int_eq(rdx_data_load_int(RDX_I64, byte), -1);
    ck_assert_double_eq(rdx_data_load(RDX_U64, byte), 0x1p64);
    ck_assert_int_eq(rdx_data_load_int(RDX_BOOL, byte), 1);
    rdx_data_store_int(RDX_I16, byte, 0x12345);
    ck_assert_int_eq(rdx_data_load_int(RDX_I16, byte), 0x2345);
    rdx_data_store_int(RDX_BOOL, byte, 2);
    ck_assert_int_eq(byte[0], 1);
    rdx_data_store(RDX_I8, byte, -128);
    ck_assert_double_eq(rdx_data_load(RDX_I8, byte), -128);
    rdx_data_store(RDX_U64, byte, 0x1p63);
    ck_assert_double_eq(rdx_data_load(RDX_U64, byte), 0x1p63);
}
END_TEST

/* Known answers, worked out by hand from the definition of mix. */
START_TEST(data_is_what_it_was)
{
    ck_assert_uint_eq(rdx_data_mix(0, 0), 0);
    uint64_t z = rdx_data_mix(1, 2), own;
    float f[4];
    int8_t bytes[4];
    rdx_data_fill(RDX_F32, RDX_DATA_UNIFORM, 1, 0, 4, f);
    ck_assert_double_eq((double)f[2], ldexp((double)((int64_t)(z >> 40) - 8388608), -23));
    rdx_data_fill(RDX_F32, RDX_DATA_EXACT, 1, 0, 4, f);
    ck_assert_double_eq((double)f[2], (double)(int)(z % 17) - 8);
    rdx_data_fill(RDX_I8, RDX_DATA_EXACT, 1, 2, 1, bytes);
    ck_assert_int_eq(bytes[0], (int)(z % 17) - 8);
    rdx_data_fill(RDX_C64, RDX_DATA_EXACT, 1, 2, 1, f);
    ck_assert_double_eq((double)f[1], (double)(int)((z >> 32) % 17) - 8);
    rdx_data_fill(RDX_U64, RDX_DATA_UNIFORM, 1, 2, 1, &own);
    ck_assert_uint_eq(own, z);
}
END_TEST

/* Element i is the same in whatever run it is written, for every dtype and class. */
START_TEST(data_does_not_depend_on_runs)
{
    static unsigned char whole[16 * 300], parts[16 * 300];
    for (int i = 0; i < RDX_DATA_TYPES; i++) {
        int dtype = rdx_data_types[i].dtype, size = rdx_data_types[i].size;
        for (int data = 0; data < RDX_DATA_CLASSES; data++) {
            memset(whole, 0x11, sizeof whole);
            memset(parts, 0x22, sizeof parts);
            rdx_data_fill(dtype, data, 99, 0, 300, whole);
            rdx_data_fill(dtype, data, 99, 0, 7, parts);
            rdx_data_fill(dtype, data, 99, 7, 293, parts + 7 * size);
            ck_assert_msg(memcmp(whole, parts, (size_t)(300 * size)) == 0, "%s %s", rdx_data_types[i].name,
                          rdx_data_class_name(data));
            if (data == RDX_DATA_NEAR && size == 1 && rdx_data_types[i].kind == RDX_DATA_FLOAT)
                continue; /* 1 + u / 64 is 1 in three or four bits */
            if (data == RDX_DATA_MINUS)
                continue;
            rdx_data_fill(dtype, data, 100, 0, 300, parts);
            ck_assert_msg(memcmp(whole, parts, (size_t)(300 * size)) != 0, "%s %s: the seed does nothing",
                          rdx_data_types[i].name, rdx_data_class_name(data));
        }
    }
}
END_TEST

START_TEST(special_data_has_every_special)
{
    int dtype = rdx_data_types[_i].dtype, size = rdx_data_types[_i].size, seen = 0;
    static unsigned char storage[8 * 2000];
    if (rdx_data_types[_i].kind != RDX_DATA_FLOAT)
        return;
    rdx_data_fill(dtype, RDX_DATA_SPECIAL, 5, 0, 2000, storage);
    for (int i = 0; i < 2000; i++) {
        double value = rdx_data_load(dtype, storage + i * size);
        seen |= isnan(value) ? 1 : isinf(value) ? (value > 0 ? 2 : 4) : 0;
        seen |= value == 0 ? (signbit(value) ? 8 : 16) : value == 1 ? 32 : 0;
    }
    ck_assert_int_eq(seen, dtype == RDX_F8E4M3 ? 57 : 63);
}
END_TEST

Suite *test_data_suite(void);

Suite *test_data_suite(void)
{
    Suite *suite = suite_create("data");
    TCase *tests = tcase_create("data");
    tcase_add_test(tests, types_are_dense);
    tcase_add_loop_test(tests, narrow_patterns_come_back, 0, 4);
    tcase_add_loop_test(tests, narrow_rounding, 0, 4);
    tcase_add_loop_test(tests, narrow_limits, 0, 4);
    tcase_add_test(tests, f32_as_the_compiler);
    tcase_add_test(tests, integers);
    tcase_add_test(tests, data_is_what_it_was);
    tcase_add_test(tests, data_does_not_depend_on_runs);
    tcase_add_loop_test(tests, special_data_has_every_special, 0, RDX_DATA_TYPES);
    suite_add_tcase(suite, tests);
    return suite;
}
