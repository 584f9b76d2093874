/* tools/safetensors.c: what the format allows, everything that breaks it, every cut and every changed byte of a good
   file. Files lie at the end of a page with an unmapped one behind. */
#include "data.h"
#include "safetensors.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static char error[512];
static RdxSafetensors file;

static unsigned char *guarded_end(void)
{
    static unsigned char *pages;
    if (pages == NULL) {
        pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ck_assert_ptr_ne(pages, MAP_FAILED);
        ck_assert_int_eq(mprotect(pages + 2 * 4096, 4096, PROT_NONE), 0);
    }
    return pages + 2 * 4096;
}

static void put_length(unsigned char *at, uint64_t length)
{
    for (int i = 0; i < 8; i++)
        at[i] = (unsigned char)(length >> 8 * i);
}

static size_t make(unsigned char **start, const char *header, size_t data)
{
    size_t length = strlen(header), total = 8 + length + data;
    *start = guarded_end() - total;
    memset(*start, 0, total);
    put_length(*start, length);
    memcpy(*start + 8, header, length);
    return total;
}

static bool read_file(const char *header, size_t data)
{
    unsigned char *start;
    size_t total = make(&start, header, data);
    return rdx_safetensors_read(&file, start, total, error, sizeof error);
}

static const char two[] = "{\"a\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
                          "\"b\":{\"dtype\":\"BF16\",\"shape\":[],\"data_offsets\":[24,26]}}   ";

START_TEST(two_tensors)
{
    ck_assert_msg(read_file(two, 26), "%s", error);
    ck_assert_int_eq(file.count, 2);
    const RdxNamedArray *a = rdx_safetensors_find(&file, "a"), *b = rdx_safetensors_find(&file, "b");
    ck_assert_ptr_eq(a, &file.tensors[0]);
    ck_assert_int_eq(a->array.dtype, RDX_F32);
    ck_assert_int_eq(a->array.shape[1], 3);
    ck_assert_int_eq(a->array.strides[0], 3);
    ck_assert_ptr_eq(a->array.data, guarded_end() - 26);
    ck_assert_int_eq(b->array.rank, 0);
    ck_assert_uint_eq(b->array.bytes, 2);
    ck_assert_ptr_eq(b->array.data, guarded_end() - 2);
    ck_assert_ptr_null(rdx_safetensors_find(&file, "A"));
    rdx_safetensors_free(&file);
    rdx_safetensors_free(&file);
}
END_TEST

START_TEST(every_dtype)
{
    static const struct {
        const char *name;
        int dtype;
    } names[] = {{"F64", RDX_F64},        {"F32", RDX_F32},        {"F16", RDX_F16},   {"BF16", RDX_BF16},
                 {"F8_E4M3", RDX_F8E4M3}, {"F8_E5M2", RDX_F8E5M2}, {"I64", RDX_I64},   {"I32", RDX_I32},
                 {"I16", RDX_I16},        {"I8", RDX_I8},          {"U64", RDX_U64},   {"U32", RDX_U32},
                 {"U16", RDX_U16},        {"U8", RDX_U8},          {"BOOL", RDX_BOOL}, {"C64", RDX_C64}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char header[200];
        int bytes = 3 * rdx_data_type(names[i].dtype)->size;
        snprintf(header, sizeof header, "{\"x\":{\"dtype\":\"%s\",\"shape\":[3],\"data_offsets\":[0,%d]}}",
                 names[i].name, bytes);
        ck_assert_msg(read_file(header, (size_t)bytes), "%s: %s", names[i].name, error);
        ck_assert_int_eq(file.tensors[0].array.dtype, names[i].dtype);
        rdx_safetensors_free(&file);
    }
}
END_TEST

#define T(dtype, shape, offsets) "{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

START_TEST(allowed)
{
    static const struct {
        const char *header;
        size_t data;
        int count;
    } good[] = {
        {"{}", 0, 0},
        {"{\"__metadata__\":{\"format\":\"pt\"}}", 0, 0},
        {"{\"__metadata__\":{},\"x\":" T("U8", "[2]", "[0,2]") "}\n", 2, 1},
        {"{\"x\":" T("U8", "[0]", "[0,0]") ",\"y\":" T("U8", "[2]", "[0,2]") ",\"z\":" T("U8", "[0,5]", "[2,2]") "}", 2,
         3},
        {"{\"y\":" T("U8", "[2]", "[1,3]") ",\"x\":" T("I8", "[1]", "[0,1]") "}", 3, 2}, /* any order */
        {"{\"x\":{\"shape\":[1],\"data_offsets\":[0,1],\"dtype\":\"U8\"}}", 1, 1},
        {"{\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"z\":{\"z\":1},\"data_offsets\":[0,1],\"z\":1}}", 1,
         1}, /* other keys */
        {"{\"\\u00e9\":" T("U8", "[1]", "[0,1]") "}", 1, 1},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        ck_assert_msg(read_file(good[i].header, good[i].data), "%s: %s", good[i].header, error);
        ck_assert_int_eq(file.count, good[i].count);
        rdx_safetensors_free(&file);
    }
}
END_TEST

START_TEST(dtypes_of_others)
{
    static const char header[] = "{\"a\":" T("F4", "[3,2]", "[0,3]") ",\"b\":" T("U8", "[2]", "[3,5]") ",\"c\":" T(
        "F33", "[7]", "[5,9]") ",\"d\":" T("f32", "[1]", "[9,13]") "}";
    static const char *const foreign[] = {"F4", NULL, "F33", "f32"};
    ck_assert_msg(read_file(header, 13), "%s", error);
    ck_assert_int_eq(file.count, 4);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(foreign[i] != NULL, file.tensors[i].foreign != NULL);
        if (foreign[i])
            ck_assert_str_eq(file.tensors[i].foreign, foreign[i]);
        ck_assert_int_eq(file.tensors[i].array.dtype, foreign[i] ? 0 : RDX_U8);
    }
    ck_assert_int_eq(file.tensors[0].array.elements, 6);
    ck_assert_uint_eq(file.tensors[2].array.bytes, 4);
    rdx_safetensors_free(&file);
}
END_TEST

static const struct Refusal {
    const char *header;
    size_t data;
    const char *says;
} refusals[] = {
    {"", 0, "does not begin with {"},
    {" {}", 0, "does not begin with {"},
    {"[]", 0, "does not begin with {"},
    {"{", 0, "not a JSON object"},
    {"{} x", 0, "not a JSON object"},
    {"{\"x\"}", 0, "not a JSON object"},
    {"{\"x\":1}", 0, "not described by an object"},
    {"{\"x\":" T("F4", "[3]", "[0,2]") "}", 2,
     "needs 12 bits for its shape and dtype and its data_offsets hold 2 bytes"},
    {"{\"x\":" T("F8_E8M0", "[3]", "[0,2]") "}", 2, "needs 24 bits"},
    {"{\"x\":" T("F4", "[4503599627370496,1024]", "[0,2]") "}", 2, "64 bits"},
    {"{\"x\":" T("F33", "[4]", "[0,5]") "}", 4, "outside"},
    {"{\"x\":" T("F33", "[4]", "[0,3]") ",\"y\":" T("U8", "[2]", "[2,4]") "}", 4, "overlap"},
    {"{\"x\":" T("F33", "[9007199254740992,9007199254740992]", "[0,4]") "}", 4, "64 bits"},
    {"{\"x\":{\"dtype\":3,\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "not a string"},
    {"{\"x\":" T("F32", "1", "[0,4]") "}", 4, "not an array"},
    {"{\"x\":" T("F32", "[-1]", "[0,4]") "}", 4, "not a whole number"},
    {"{\"x\":" T("F32", "[1.5]", "[0,6]") "}", 6, "not a whole number"},
    {"{\"x\":" T("F32", "[\"1\"]", "[0,4]") "}", 4, "not a whole number"},
    {"{\"x\":" T("F32", "[1e300]", "[0,4]") "}", 4, "not a whole number"},
    {"{\"x\":" T("F32", "[9007199254740993]", "[0,4]") "}", 4, "needs"},
    {"{\"x\":" T("F32", "[9007199254740992,9007199254740992]", "[0,4]") "}", 4, "64 bits"},
    {"{\"x\":" T("F32", "[2]", "[0,4]") "}", 4, "needs 8 bytes"},
    {"{\"x\":" T("F32", "[1]", "[0,8]") "}", 8, "needs 4 bytes"},
    {"{\"x\":" T("F32", "[1]", "[0,4]") "}", 3, "outside the 3 bytes"},
    {"{\"x\":" T("F32", "[1]", "[4,8]") "}", 4, "outside"},
    {"{\"x\":" T("F32", "[1]", "[4,0]") "}", 4, "outside"},
    {"{\"x\":" T("F32", "[1]", "[-4,0]") "}", 4, "two whole numbers"},
    {"{\"x\":" T("F32", "[1]", "[0]") "}", 4, "two whole numbers"},
    {"{\"x\":" T("F32", "[1]", "[0,4,8]") "}", 4, "two whole numbers"},
    {"{\"x\":" T("F32", "[1]", "[0,4.5]") "}", 4, "two whole numbers"},
    {"{\"x\":" T("F32", "[1]", "4") "}", 4, "two whole numbers"},
    {"{\"x\":" T("F32", "[1]", "[0,4]") "}", 5, "last 1 bytes belong to no tensor"},
    {"{}", 1, "last 1 bytes belong to no tensor"},
    {"{\"x\":" T("U8", "[1]", "[1,2]") "}", 2, "hole of 1 bytes"},
    {"{\"x\":" T("U8", "[1]", "[0,1]") ",\"y\":" T("U8", "[1]", "[2,3]") "}", 3, "hole of 1 bytes"},
    {"{\"x\":" T("U8", "[2]", "[0,2]") ",\"y\":" T("U8", "[2]", "[1,3]") "}", 3, "overlap"},
    {"{\"x\":" T("U8", "[2]", "[0,2]") ",\"y\":" T("U8", "[2]", "[0,2]") "}", 2, "overlap"},
    {"{\"x\":" T("U8", "[1]", "[0,1]") ",\"x\":" T("U8", "[1]", "[1,2]") "}", 2, "twice"},
    {"{\"x\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, "twice"},
    {"{\"x\":{\"shape\":[1],\"data_offsets\":[0,1]}}", 1, "lacks the key \"dtype\""},
    {"{\"x\":{\"dtype\":\"U8\",\"data_offsets\":[0,1]}}", 1, "lacks the key \"shape\""},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[1]}}", 1, "lacks the key \"data_offsets\""},
    {"{\"__metadata__\":[]}", 0, "not an object"},
    {"{\"__metadata__\":{\"a\":1}}", 0, "not a string"},
    {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, "twice"},
    {"{\"a\\u0000b\":" T("U8", "[1]", "[0,1]") "}", 1, "NUL"},
};

START_TEST(refused)
{
    const struct Refusal *refusal = &refusals[_i];
    ck_assert_msg(!read_file(refusal->header, refusal->data), "%s is read", refusal->header);
    ck_assert_msg(strstr(error, refusal->says) != NULL, "%s: %s", refusal->header, error);
    ck_assert_ptr_null(file.tensors);
    ck_assert_ptr_null(file.document);
}
END_TEST

START_TEST(lies_about_the_header)
{
    static const struct {
        uint64_t length;
        const char *says;
    } lies[] = {{100, "cut short"},        {100000000, "cut short"}, {100000001, "more than 100000000"},
                {UINT64_MAX, "more than"}, {0, "does not begin"},    {1, "not a JSON object"}};
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        unsigned char *start;
        size_t total = make(&start, "{}", 0);
        put_length(start, lies[i].length);
        ck_assert(!rdx_safetensors_read(&file, start, total, error, sizeof error));
        ck_assert_msg(strstr(error, lies[i].says) != NULL, "%llu: %s", (unsigned long long)lies[i].length, error);
    }
}
END_TEST

START_TEST(every_cut)
{
    for (size_t keep = 0; keep < 8 + strlen(two) + 26; keep++) {
        unsigned char *start, *moved = guarded_end() - keep;
        make(&start, two, 26);
        memmove(moved, start, keep);
        ck_assert_msg(!rdx_safetensors_read(&file, moved, keep, error, sizeof error), "%zu bytes are read", keep);
        ck_assert_uint_gt(strlen(error), 10);
    }
}
END_TEST

START_TEST(every_byte_changed)
{
    unsigned char *start;
    size_t total = make(&start, two, 26);
    for (size_t at = 0; at < total - 26; at++) {
        unsigned char before = start[at];
        for (int value = 0; value < 256; value++) {
            start[at] = (unsigned char)value;
            if (!rdx_safetensors_read(&file, start, total, error, sizeof error))
                continue;
            size_t bytes = 0;
            for (int64_t i = 0; i < file.count; i++)
                bytes += file.tensors[i].array.bytes;
            ck_assert_uint_eq(bytes, 26);
            rdx_safetensors_free(&file);
        }
        start[at] = before;
    }
}
END_TEST

START_TEST(rank_65)
{
    char header[400] = "{\"x\":{\"dtype\":\"U8\",\"data_offsets\":[0,1],\"shape\":[1";
    for (int d = 0; d < 64; d++)
        strcat(header, ",1");
    strcat(header, "]}}");
    ck_assert(!read_file(header, 1));
    ck_assert_ptr_nonnull(strstr(error, "64 dimensions"));
}
END_TEST

Suite *test_safetensors_suite(void);

Suite *test_safetensors_suite(void)
{
    Suite *suite = suite_create("safetensors");
    TCase *tests = tcase_create("safetensors");
    tcase_add_test(tests, two_tensors);
    tcase_add_test(tests, every_dtype);
    tcase_add_test(tests, allowed);
    tcase_add_test(tests, dtypes_of_others);
    tcase_add_loop_test(tests, refused, 0, (int)(sizeof refusals / sizeof refusals[0]));
    tcase_add_test(tests, lies_about_the_header);
    tcase_add_test(tests, every_cut);
    tcase_add_test(tests, every_byte_changed);
    tcase_add_test(tests, rank_65);
    suite_add_tcase(suite, tests);
    return suite;
}
