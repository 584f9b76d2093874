/* Moves at every level. Rows turned into columns, element by element: all sizes, lengths from below a tile to above
   two, rows that lie apart, elements at odd addresses. Runs that are copied, byte by byte: every length up to ten
   vectors, every place in a cache line. What is read lies within the source, which ends, or begins, at a page that
   cannot be read, and what is around the destination stays. */
#include "kernels/cpu/isa.h"
#include "task.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* Level number `level` of this machine, NULL: there are no more. */
static const RdxIsa *isa_at(int level)
{
    const char *levels[4];
    const RdxIsa *isa;
    if (level >= rdx_cpu_isa_names(levels))
        return NULL;
    ck_assert(rdx_cpu_set_isa(levels[level]) == RDX_OK && rdx_cpu_isa(&isa) == RDX_OK);
    return isa;
}

START_TEST(rows_into_columns)
{
    const RdxIsa *isa;
    for (int level = 0; (isa = isa_at(level)); level++)
        for (int size = 1; size <= 16; size *= 2)
            for (int64_t rows = 1; rows <= MOST; rows++)
                for (int64_t n = 1; n <= MOST; n++) {
                    check_turn(isa, size, rows, n, 0, 0);
                    check_turn(isa, size, rows, n, 3, 1);
                }
}
END_TEST

/* `page` bytes that can be read and written between two pages that cannot. */
static unsigned char *guarded(int64_t page)
{
    unsigned char *room = mmap(NULL, (size_t)(3 * page), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(room != MAP_FAILED && mprotect(room + page, (size_t)page, PROT_READ | PROT_WRITE) == 0);
    return room + page;
}

static void check_runs(const RdxIsa *isa, const unsigned char *from, int64_t from_step, unsigned char *out,
                       int64_t place, int64_t to_step, int64_t bytes, int64_t count)
{
    const int64_t out_bytes = place + (count - 1) * to_step + bytes + GUARD;
    memset(out, 0xa5, (size_t)out_bytes);
    isa->copy_runs(out + place, to_step, from, from_step, bytes, count, place % 3 ? 0 : 256);
    for (int64_t at = 0; at < out_bytes; at++) {
        const int64_t run = at < place ? count : rdx_min((at - place) / to_step, count - 1);
        const int64_t byte = run == count ? bytes : at - place - run * to_step;
        const unsigned char right = byte < bytes ? from[run * from_step + byte] : 0xa5;
        DEMAND(out[at] == right,
               "%s: byte %lld, of %lld runs of %lld to places %lld apart from %lld on: %02x, not %02x", isa->name,
               (long long)at, (long long)count, (long long)bytes, (long long)to_step, (long long)place, out[at], right);
    }
}

START_TEST(runs)
{
    enum { most = 10 * 64 + 3, some = 3 };
    const int64_t page = sysconf(_SC_PAGESIZE);
    unsigned char *in = guarded(page);
    _Alignas(64) static unsigned char out[64 + some * 2 * most + GUARD];
    const RdxIsa *isa;
    for (int64_t i = 0; i < page; i++)
        in[i] = (unsigned char)(i * 131 + i / 251);
    for (int level = 0; (isa = isa_at(level)); level++)
        for (int64_t bytes = 1; bytes <= most; bytes++)
            for (int64_t place = 0; place < 64; place++) {
                const int64_t step = bytes + place % 5, span = (some - 1) * step + bytes;
                const unsigned char *from = place % 2 ? in : in + page - span;
                check_runs(isa, from, step, out, place, rdx_div_up(bytes, 64) * 64, bytes, some);
                check_runs(isa, from, step, out, place, bytes + place % 3, bytes, some);
            }
    ck_assert(munmap(in - page, (size_t)(3 * page)) == 0);
}
END_TEST

Suite *test_move_suite(void);

Suite *test_move_suite(void)
{
    Suite *suite = suite_create("move");
    TCase *tcase = tcase_create("move");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, rows_into_columns);
    tcase_add_test(tcase, runs);
    suite_add_tcase(suite, tcase);
    return suite;
}
