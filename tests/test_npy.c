/* tools/npy.c: headers as NumPy writes them, everything that is to be refused, and every cut of a good file.
   Files lie at the end of a page with an unmapped one behind, so that a reader that looks too far dies. */
#include "data.h"
#include "npy.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static char error[512];
static RdxArray array;

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

/* A file of the given version with this dictionary and `data` zero bytes; *start is where it lies. */
static size_t make(unsigned char **start, int version, const char *dictionary, size_t data)
{
    size_t prefix = version == 1 ? 10 : 12, length = strlen(dictionary), total = prefix + length + data;
    unsigned char *at = *start = guarded_end() - total;
    memset(at, 0, total);
    memcpy(at, "\x93NUMPY", 6);
    at[6] = (unsigned char)version;
    at[8] = length & 0xff;
    at[9] = (unsigned char)(length >> 8);
    memcpy(at + prefix, dictionary, length);
    return total;
}

static bool read_file(int version, const char *dictionary, size_t data)
{
    unsigned char *start;
    size_t total = make(&start, version, dictionary, data);
    return rdx_npy_read(&array, start, total, error, sizeof error);
}

START_TEST(what_numpy_writes)
{
    for (int version = 1; version <= 3; version++) {
        ck_assert_msg(read_file(version, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }      \n", 24),
                      "%s", error);
        ck_assert_int_eq(array.dtype, RDX_F32);
        ck_assert_int_eq(array.rank, 2);
        ck_assert_int_eq(array.shape[0], 2);
        ck_assert_int_eq(array.strides[0], 3);
        ck_assert_int_eq(array.strides[1], 1);
        ck_assert_int_eq(array.elements, 6);
        ck_assert_uint_eq(array.bytes, 24);
        ck_assert_ptr_eq(array.data, guarded_end() - 24);
    }
    ck_assert(read_file(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3, 4), }\n", 192));
    ck_assert_int_eq(array.strides[0], 1);
    ck_assert_int_eq(array.strides[1], 2);
    ck_assert_int_eq(array.strides[2], 6);
    ck_assert(read_file(1, "{'descr': '<i8', 'fortran_order': False, 'shape': (), }\n", 8));
    ck_assert_int_eq(array.rank, 0);
    ck_assert_int_eq(array.elements, 1);
    ck_assert(read_file(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (5,), }\n", 5));
    ck_assert(read_file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 7), }\n", 0));
    ck_assert_int_eq(array.elements, 0);
}
END_TEST

START_TEST(harmless_variations)
{
    static const char *const same[] = {
        "{'shape':(2,3),'fortran_order':False,'descr':'<f4'}",
        "{ \"descr\" : \"<f4\" , \"fortran_order\" : False , \"shape\" : ( 2 , 3 , ) }\n",
        "\t{'descr': '=f4', 'fortran_order': False, 'shape': (2L, 3L), }",
        "{'descr': 'f4', 'fortran_order': False, 'shape': (2, 3), }",
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        ck_assert_msg(read_file(1, same[i], 24), "%s: %s", same[i], error);
        ck_assert_int_eq(array.dtype, RDX_F32);
        ck_assert_int_eq(array.shape[1], 3);
    }
}
END_TEST

START_TEST(every_dtype_there_and_back)
{
    int named = 0;
    for (int i = 0; i < RDX_DATA_TYPES; i++) {
        char header[RDX_NPY_HEADER];
        int64_t shape[3] = {2, 1, 3};
        int dtype = rdx_data_types[i].dtype;
        for (int rank = 0; rank <= 3; rank++) {
            size_t length = rdx_npy_header(header, dtype, rank, shape), bytes = 1;
            if (length == 0)
                break;
            for (int d = 0; d < rank; d++)
                bytes *= (size_t)shape[d];
            bytes *= (size_t)rdx_data_types[i].size;
            ck_assert_uint_eq(length % 64, 0);
            unsigned char *start = guarded_end() - length - bytes;
            memcpy(start, header, length);
            ck_assert_msg(rdx_npy_read(&array, start, length + bytes, error, sizeof error), "%s", error);
            ck_assert_int_eq(array.dtype, dtype);
            ck_assert_int_eq(array.rank, rank);
            ck_assert_mem_eq(array.shape, shape, (size_t)rank * sizeof shape[0]);
            named += rank == 0;
        }
    }
    ck_assert_int_eq(named, RDX_DATA_TYPES - 3);
    ck_assert_uint_eq(rdx_npy_header((char[RDX_NPY_HEADER]){0}, RDX_BF16, 0, NULL), 0);
}
END_TEST

START_TEST(a_header_of_rank_64)
{
    char header[RDX_NPY_HEADER];
    int64_t shape[64];
    for (int d = 0; d < 64; d++)
        shape[d] = INT64_MAX;
    shape[0] = 0;
    size_t length = rdx_npy_header(header, RDX_F32, 64, shape);
    ck_assert_uint_gt(length, 64 * 19);
    ck_assert_uint_lt(length, RDX_NPY_HEADER);
    for (int d = 1; d < 64; d++)
        shape[d] = 1;
    length = rdx_npy_header(header, RDX_F32, 64, shape);
    ck_assert(rdx_npy_read(&array, header, length, error, sizeof error));
    ck_assert_int_eq(array.rank, 64);
}
END_TEST

#define F4(shape) "{'descr': '<f4', 'fortran_order': False, 'shape': " shape ", }"
#define DESCR(descr) "{'descr': " descr ", 'fortran_order': False, 'shape': (2,), }"

static const struct Refusal {
    const char *dictionary;
    size_t data;
    const char *says;
} refusals[] = {
    {F4("(2, 3)"), 23, "cut short"},
    {F4("(2, 3)"), 25, "does not end"},
    {F4("(2, 3)"), 0, "cut short"},
    {F4("()"), 0, "cut short"},
    {F4("(-1,)"), 4, "negative"},
    {F4("(2, -3)"), 24, "negative"},
    {F4("(9223372036854775808,)"), 4, "64 bits"},
    {F4("(4294967296, 4294967296)"), 4, "64 bits"},
    {F4("(2305843009213693952, 4)"), 0, "64 bits"},
    {F4("(4611686018427387904,)"), 0, "64 bits"},
    {F4("(3)"), 12, "not a tuple"},
    {F4("3"), 12, "not a tuple"},
    {F4("(3.0,)"), 12, "whole numbers"},
    {F4("(2 3)"), 24, "whole numbers"},
    {F4("(,)"), 4, "whole numbers"},
    {F4("(03,)"), 12, "leading zeros"},
    {F4("(True,)"), 4, "whole numbers"},
    {F4("(3,"), 12, "whole numbers"},
    {DESCR("'>f4'"), 8, "big-endian"},
    {DESCR("'>i8'"), 16, "big-endian"},
    {DESCR("'|O'"), 16, "object"},
    {DESCR("'<U5'"), 40, "text"},
    {DESCR("'|S5'"), 10, "text"},
    {DESCR("'<M8[ns]'"), 16, "date"},
    {DESCR("'|V2'"), 4, "void"},
    {DESCR("'<f16'"), 32, "not one that redax has"},
    {DESCR("'<c32'"), 64, "not one that redax has"},
    {DESCR("'|f4'"), 8, "not one that redax has"},
    {DESCR("'f3'"), 8, "not one that redax has"},
    {DESCR("'U5'"), 40, "text"},
    {DESCR("''"), 8, "not one that redax has"},
    {DESCR("[('a', '<f4')]"), 8, "structured"},
    {DESCR("('<f4', (2,))"), 16, "structured"},
    {DESCR("'<f4\\x00'"), 8, "plain string"},
    {DESCR("4"), 8, "plain string"},
    {DESCR("'<f4"), 8, "not one that redax has"}, /* the quote ends at the next one */
    {"{'descr': '<f4', 'fortran_order': False, }", 4, "lacks the key 'shape'"},
    {"{'fortran_order': False, 'shape': (), }", 4, "lacks the key 'descr'"},
    {"{'descr': '<f4', 'shape': (), }", 4, "lacks the key 'fortran_order'"},
    {"{'descr': '<f4', 'fortran_order': 0, 'shape': (), }", 4, "neither True nor False"},
    {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (), }", 4, "twice"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (), 'more': 1, }", 4, "unknown key 'more'"},
    {"{'descr': '<f4' 'fortran_order': False, 'shape': (), }", 4, "not the dictionary"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (), } x", 4, "goes on"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (),", 4, "not the dictionary"},
    {"['descr']", 4, "not a dictionary"},
    {"", 4, "not a dictionary"},
};

START_TEST(refused)
{
    const struct Refusal *refusal = &refusals[_i];
    ck_assert_msg(!read_file(1, refusal->dictionary, refusal->data), "%s is read", refusal->dictionary);
    ck_assert_msg(strstr(error, refusal->says) != NULL, "%s: %s", refusal->dictionary, error);
}
END_TEST

/* A good file without its last k bytes is refused for every k, with a sentence, and without a look beyond its end. */
START_TEST(every_cut)
{
    for (int version = 1; version <= 2; version++) {
        unsigned char *start;
        size_t total = make(&start, version, F4("(2, 3)") "   \n", 24);
        for (size_t keep = 0; keep < total; keep++) {
            unsigned char *moved = guarded_end() - keep;
            unsigned char *again;
            make(&again, version, F4("(2, 3)") "   \n", 24);
            memmove(moved, again, keep);
            error[0] = '\0';
            ck_assert_msg(!rdx_npy_read(&array, moved, keep, error, sizeof error), "%zu of %zu bytes are read", keep,
                          total);
            ck_assert_uint_gt(strlen(error), 10);
        }
    }
}
END_TEST

/* One byte changed: read or refused, never a crash; what is read fits the file. */
START_TEST(every_byte_changed)
{
    unsigned char *start;
    size_t total = make(&start, 1, F4("(2, 3)") "   \n", 24);
    for (size_t at = 0; at < total - 24; at++) {
        unsigned char before = start[at];
        for (int value = 0; value < 256; value++) {
            start[at] = (unsigned char)value;
            if (rdx_npy_read(&array, start, total, error, sizeof error)) {
                ck_assert_uint_le(array.bytes, total);
                ck_assert_ptr_eq(array.data + array.bytes, start + total);
            }
        }
        start[at] = before;
    }
}
END_TEST

START_TEST(rank_65_and_versions)
{
    char dictionary[400] = "{'descr': '|i1', 'fortran_order': False, 'shape': (";
    for (int d = 0; d < 65; d++)
        strcat(dictionary, "1,");
    strcat(dictionary, "), }");
    ck_assert(!read_file(1, dictionary, 1));
    ck_assert_ptr_nonnull(strstr(error, "64 dimensions"));
    ck_assert(!read_file(4, F4("()"), 4));
    ck_assert_ptr_nonnull(strstr(error, "version 4.0"));
}
END_TEST

Suite *test_npy_suite(void);

Suite *test_npy_suite(void)
{
    Suite *suite = suite_create("npy");
    TCase *tests = tcase_create("npy");
    tcase_add_test(tests, what_numpy_writes);
    tcase_add_test(tests, harmless_variations);
    tcase_add_test(tests, every_dtype_there_and_back);
    tcase_add_test(tests, a_header_of_rank_64);
    tcase_add_loop_test(tests, refused, 0, (int)(sizeof refusals / sizeof refusals[0]));
    tcase_add_test(tests, every_cut);
    tcase_add_test(tests, every_byte_changed);
    tcase_add_test(tests, rank_65_and_versions);
    suite_add_tcase(suite, tests);
    return suite;
}
