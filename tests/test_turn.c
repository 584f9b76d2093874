/* Rows turned into columns, element by element at every level: all sizes, lengths from below a tile to above two, rows that lie apart,
   elements at odd addresses. What is read ends with the source's last byte, and what is behind the columns stays. */
#include "kernels/cpu/isa.h"
#include "task.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40, GUARD = 64 };

static void check_turn(const RdxIsa *isa, int size, int64_t rows, int64_t n, int64_t gap, int shift)
{
    const int64_t step = n * size + gap, in_bytes = (rows - 1) * step + n * size, bytes = rows * n * size;
    unsigned char *room = malloc((size_t)(in_bytes + shift)), *out = malloc((size_t)(bytes + shift + GUARD));
    ck_assert(room && out);
    unsigned char *in = room + shift, *columns = out + shift;
    for (int64_t i = 0; i < in_bytes; i++)
        in[i] = (unsigned char)(i * 131 + i / 251);
    memset(out, 0xa5, (size_t)(bytes + shift + GUARD));
    isa->turn(columns, in, step, rows, n, size);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t e = 0; e < n; e++)
            DEMAND(memcmp(columns + (e * rows + i) * size, in + i * step + e * size, (size_t)size) == 0,
                   "%s: element %lld of row %lld of %lld rows of %lld, %d bytes, %lld apart", isa->name, (long long)e,
                   (long long)i, (long long)rows, (long long)n, size, (long long)gap);
    for (int i = 0; i < shift; i++)
        DEMAND(out[i] == 0xa5, "%s: byte %d before the columns", isa->name, i);
    for (int64_t i = 0; i < GUARD; i++)
        DEMAND(columns[bytes + i] == 0xa5, "%s: byte %lld behind %lld rows of %lld, %d bytes", isa->name, (long long)i,
               (long long)rows, (long long)n, size);
    free(out);
    free(room);
}

START_TEST(every_size)
{
    const char *levels[4];
    int count = rdx_cpu_isa_names(levels);
    for (int level = 0; level < count; level++) {
        const RdxIsa *isa;
        ck_assert(rdx_cpu_set_isa(levels[level]) == RDX_OK && rdx_cpu_isa(&isa) == RDX_OK);
        for (int size = 1; size <= 16; size *= 2)
            for (int64_t rows = 1; rows <= MOST; rows++)
                for (int64_t n = 1; n <= MOST; n++) {
                    check_turn(isa, size, rows, n, 0, 0);
                    check_turn(isa, size, rows, n, 3, 1);
                }
    }
}
END_TEST

Suite *test_turn_suite(void);

Suite *test_turn_suite(void)
{
    Suite *suite = suite_create("turn");
    TCase *tcase = tcase_create("turn");
    tcase_add_test(tcase, every_size);
    suite_add_tcase(suite, tcase);
    return suite;
}
