/* tools/mapped.c: a mapped file that loses its end reads as zeros from then on, in whatever thread, and says so. */
#include "mapped.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 64, PAGE = 4096 };
static char path[64], error[256];

static void make_file(size_t bytes)
{
    strcpy(path, "/tmp/redax-mapped-XXXXXX");
    int file = mkstemp(path);
    char *text = malloc(bytes + 1);
    ck_assert_int_ge(file, 0);
    memset(text, 'x', bytes);
    ck_assert_int_eq(write(file, text, bytes), (ssize_t)bytes);
    close(file);
    free(text);
}

static void *count_x(void *argument)
{
    const RdxMapped *mapped = argument;
    size_t count = 0;
    for (size_t i = 0; i < mapped->count; i++)
        count += mapped->bytes[i] == 'x';
    return (void *)count;
}

START_TEST(a_whole_file)
{
    RdxMapped mapped;
    make_file(PAGES * PAGE + 17);
    ck_assert_msg(rdx_mapped_open(&mapped, path, error, sizeof error), "%s", error);
    ck_assert_uint_eq(mapped.count, PAGES * PAGE + 17);
    ck_assert_uint_eq((size_t)count_x(&mapped), mapped.count);
    ck_assert(!rdx_mapped_lost(&mapped));
    rdx_mapped_close(&mapped);
    rdx_mapped_close(&mapped);
    unlink(path);
}
END_TEST

START_TEST(a_file_cut_short_while_threads_read_it)
{
    static const off_t cuts[] = {0, PAGE, 10 * PAGE + 5, PAGES * PAGE, PAGES * PAGE + 3};
    for (size_t c = 0; c < sizeof cuts / sizeof cuts[0]; c++) {
        RdxMapped mapped;
        pthread_t threads[4];
        make_file(PAGES * PAGE + 17);
        ck_assert(rdx_mapped_open(&mapped, path, error, sizeof error));
        ck_assert_int_eq(truncate(path, cuts[c]), 0);
        for (int i = 0; i < 4; i++)
            ck_assert_int_eq(pthread_create(&threads[i], NULL, count_x, &mapped), 0);
        for (int i = 0; i < 4; i++) {
            void *count;
            pthread_join(threads[i], &count);
            ck_assert_uint_eq((size_t)count, (size_t)cuts[c]);
        }
        ck_assert(rdx_mapped_lost(&mapped));
        rdx_mapped_close(&mapped);
        unlink(path);
    }
}
END_TEST

START_TEST(what_cannot_be_mapped)
{
    RdxMapped mapped;
    make_file(0);
    ck_assert(!rdx_mapped_open(&mapped, path, error, sizeof error));
    ck_assert_ptr_nonnull(strstr(error, "empty"));
    unlink(path);
    ck_assert(!rdx_mapped_open(&mapped, path, error, sizeof error));
    ck_assert_ptr_nonnull(strstr(error, "No such file"));
    ck_assert(!rdx_mapped_open(&mapped, "/tmp", error, sizeof error));
    ck_assert_ptr_nonnull(strstr(error, "not a regular file"));
    rdx_mapped_close(&mapped);
}
END_TEST

/* A bus error that is not ours still ends the process. */
START_TEST(other_bus_errors_keep_their_meaning)
{
    RdxMapped mapped;
    make_file(PAGE);
    ck_assert(rdx_mapped_open(&mapped, path, error, sizeof error));
    FILE *other = tmpfile();
    volatile char *page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fileno(other), 0);
    unlink(path);
    putchar(page[0]);
}
END_TEST

Suite *test_mapped_suite(void);

Suite *test_mapped_suite(void)
{
    Suite *suite = suite_create("mapped");
    TCase *tests = tcase_create("mapped");
    tcase_add_test(tests, a_whole_file);
    tcase_add_test(tests, a_file_cut_short_while_threads_read_it);
    tcase_add_test(tests, what_cannot_be_mapped);
    tcase_add_test_raise_signal(tests, other_bus_errors_keep_their_meaning, 7);
    suite_add_tcase(suite, tests);
    return suite;
}
