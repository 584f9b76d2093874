/* tools/output.c and tools/json.c: files that are there whole or not at all, and JSON that a parser of another house
   reads. */
#include "json.h"
#include "output.h"

#include <check.h>
#include <cjson/cJSON.h>
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64], target[128];

static void enter(void)
{
    strcpy(folder, "/tmp/redax-output-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(target, sizeof target, "%s/result", folder);
}

static int files_in_folder(void)
{
    DIR *listing = opendir(folder);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(listing);
    return count;
}

static void leave(void)
{
    unlink(target);
    ck_assert_int_eq(files_in_folder(), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}

static void holds(const char *text)
{
    char found[64] = "";
    FILE *stream = fopen(target, "r");
    ck_assert_ptr_nonnull(stream);
    ck_assert_uint_eq(fread(found, 1, sizeof found - 1, stream), strlen(text));
    fclose(stream);
    ck_assert_str_eq(found, text);
}

START_TEST(the_target_changes_at_commit_alone)
{
    RdxPartial file;
    enter();
    for (int round = 0; round < 2; round++) { /* a new file, then over the old one */
        ck_assert(rdx_partial_open(&file, target));
        ck_assert(rdx_partial_write(&file, "abc", 3));
        ck_assert(rdx_partial_write(&file, round ? "def" : "xyz", 3));
        ck_assert_int_eq(files_in_folder(), 1 + round);
        if (round)
            holds("abcxyz");
        ck_assert(rdx_partial_commit(&file));
        ck_assert_int_eq(files_in_folder(), 1);
        holds(round ? "abcdef" : "abcxyz");
        rdx_partial_discard(&file);
        holds(round ? "abcdef" : "abcxyz");
    }
    ck_assert(rdx_partial_open(&file, target));
    ck_assert(rdx_partial_write(&file, "never", 5));
    rdx_partial_discard(&file);
    ck_assert_int_eq(files_in_folder(), 1);
    holds("abcdef");
    leave();
}
END_TEST

START_TEST(more_files_than_slots_are_refused)
{
    RdxPartial files[RDX_PARTIALS + 1];
    char name[160];
    enter();
    for (int i = 0; i < RDX_PARTIALS; i++) {
        snprintf(name, sizeof name, "%s%d", target, i);
        ck_assert(rdx_partial_open(&files[i], name));
    }
    ck_assert(!rdx_partial_open(&files[RDX_PARTIALS], target));
    for (int i = 0; i < RDX_PARTIALS; i++)
        rdx_partial_discard(&files[i]);
    ck_assert(rdx_partial_open(&files[0], target));
    rdx_partial_discard(&files[0]);
    leave();
}
END_TEST

START_TEST(a_very_long_name)
{
    char name[256 + 64];
    RdxPartial file;
    enter();
    snprintf(name, sizeof name, "%s/", folder);
    size_t start = strlen(name);
    memset(name + start, 'n', 255);
    name[start + 255] = '\0';
    ck_assert(rdx_partial_open(&file, name));
    ck_assert(rdx_partial_commit(&file));
    ck_assert_int_eq(unlink(name), 0);
    leave();
}
END_TEST

/* A signal in the middle: the exit code tells which, and the folder is as it was. */
START_TEST(signals_leave_nothing)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < 3; i++) {
        enter();
        pid_t child = fork();
        if (child == 0) {
            RdxPartial file;
            signal(signals[i], SIG_DFL);
            rdx_partial_watch_signals();
            if (rdx_partial_open(&file, target) && rdx_partial_write(&file, "half", 4) && files_in_folder() == 1)
                raise(signals[i]);
            _exit(99);
        }
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFEXITED(status));
        ck_assert_int_eq(WEXITSTATUS(status), 128 + signals[i]);
        leave();
    }
}
END_TEST

/* ---- JSON ---- */

static cJSON *written(void (*write_into)(RdxJson *json))
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    RdxJson json;
    rdx_json_start(&json, stream);
    write_into(&json);
    rdx_json_finish(&json);
    fclose(stream);
    cJSON *document = cJSON_Parse(text);
    ck_assert_msg(document != NULL, "%s", text);
    ck_assert_int_eq(cJSON_GetObjectItem(document, "schema")->valueint, RDX_JSON_SCHEMA);
    free(text);
    return document;
}

static void write_all_kinds(RdxJson *json)
{
    const int64_t shape[] = {2, 0, INT64_MAX};
    rdx_json_text(json, "text", "a \"quoted\" \\ back\tslash \x01 \xc3\xa9 \xff\xfe \xed\xa0\x80 end");
    rdx_json_real(json, "tenth", 0.1);
    rdx_json_real(json, "nan", (double)NAN);
    rdx_json_real(json, "infinity", (double)INFINITY);
    rdx_json_real(json, "minus", -(double)INFINITY);
    rdx_json_real(json, "tiny", 5e-324);
    rdx_json_bool(json, "yes", true);
    rdx_json_null(json, "nothing");
    rdx_json_ints(json, "shape", shape, 2);
    rdx_json_ints(json, "empty", shape, 0);
    rdx_json_object(json, "inner");
    rdx_json_array(json, "list", false);
    rdx_json_object(json, NULL);
    rdx_json_end(json);
    rdx_json_int(json, NULL, -5);
    rdx_json_raw(json, NULL, "{\"raw\": 1}");
    /* what is open is closed by finish */
}

START_TEST(every_kind_of_value)
{
    cJSON *document = written(write_all_kinds);
    const cJSON *list = cJSON_GetObjectItem(cJSON_GetObjectItem(document, "inner"), "list");
    const char *bad = "\xef\xbf\xbd";
    char wanted[128];
    snprintf(wanted, sizeof wanted, "a \"quoted\" \\ back\tslash \x01 \xc3\xa9 %s%s %s%s%s end", bad, bad, bad, bad,
             bad);
    ck_assert_str_eq(cJSON_GetObjectItem(document, "text")->valuestring, wanted);
    ck_assert_double_eq(cJSON_GetObjectItem(document, "tenth")->valuedouble, 0.1);
    ck_assert_double_eq(cJSON_GetObjectItem(document, "tiny")->valuedouble, 5e-324);
    ck_assert_str_eq(cJSON_GetObjectItem(document, "nan")->valuestring, "NaN");
    ck_assert_str_eq(cJSON_GetObjectItem(document, "infinity")->valuestring, "Infinity");
    ck_assert_str_eq(cJSON_GetObjectItem(document, "minus")->valuestring, "-Infinity");
    ck_assert(cJSON_IsTrue(cJSON_GetObjectItem(document, "yes")));
    ck_assert(cJSON_IsNull(cJSON_GetObjectItem(document, "nothing")));
    ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(document, "shape")), 2);
    ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(document, "empty")), 0);
    ck_assert_int_eq(cJSON_GetArraySize(list), 3);
    ck_assert_int_eq(cJSON_GetArrayItem(list, 1)->valueint, -5);
    ck_assert_int_eq(cJSON_GetObjectItem(cJSON_GetArrayItem(list, 2), "raw")->valueint, 1);
    cJSON_Delete(document);
}
END_TEST

START_TEST(shortest_digits)
{
    char digits[32];
    rdx_json_digits(digits, 0.1, false);
    ck_assert_str_eq(digits, "0.1");
    rdx_json_digits(digits, (double)0.1f, true);
    ck_assert_str_eq(digits, "0.1");
    for (uint64_t i = 1; i < 20000; i++) {
        double value;
        uint64_t bits = i * 0x9E3779B97F4A7C15;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        rdx_json_digits(digits, value, false);
        ck_assert_msg(strtod(digits, NULL) == value, "%a is written %s", value, digits);
    }
}
END_TEST

Suite *test_output_suite(void);

Suite *test_output_suite(void)
{
    Suite *suite = suite_create("output");
    TCase *tests = tcase_create("output");
    tcase_add_test(tests, the_target_changes_at_commit_alone);
    tcase_add_test(tests, more_files_than_slots_are_refused);
    tcase_add_test(tests, a_very_long_name);
    tcase_add_test(tests, signals_leave_nothing);
    tcase_add_test(tests, every_kind_of_value);
    tcase_add_test(tests, shortest_digits);
    suite_add_tcase(suite, tests);
    return suite;
}
