/* Runs every suite. Each tests/test_<name>.c defines Suite *test_<name>_suite(void); the Makefile lists them in
   suites.inc.
       check_all [NAME...]     only the suites named, without test_: check_all api pool
   Check forks one process per test (CK_FORK=no turns that off); a failure names the CASE, so that it can be
   replayed. */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define X(name) Suite *name##_suite(void);
#include "suites.inc"
#undef X

static const struct {
    const char *name;
    Suite *(*make)(void);
} suites[] = {
#define X(name) {#name, name##_suite},
#include "suites.inc"
#undef X
};

static bool is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0 || (strlen(name) > 5 && strcmp(argv[i], name + 5) == 0))
            return true;
    return argc < 2;
}

int main(int argc, char **argv)
{
    SRunner *runner = NULL;
    int wanted = 0;
    for (size_t i = 0; i < sizeof suites / sizeof suites[0]; i++) {
        if (!is_wanted(suites[i].name, argc, argv))
            continue;
        wanted++;
        if (runner)
            srunner_add_suite(runner, suites[i].make());
        else
            runner = srunner_create(suites[i].make());
    }
    if (wanted == 0 || (argc > 1 && wanted != argc - 1)) {
        fprintf(stderr, "check_all: no such suite; there are");
        for (size_t i = 0; i < sizeof suites / sizeof suites[0]; i++)
            fprintf(stderr, " %s", suites[i].name + 5);
        fprintf(stderr, "\n");
        return 2;
    }
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
