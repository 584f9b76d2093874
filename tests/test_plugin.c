/* The plugin loader with no plugin that can be used: what RDX_CUDA_PLUGIN names is looked at, and every way in which it
   is no plugin of ours has a status and a sentence that names it. Each test is a process of its own, as the lookup
   happens once. */
#include "given.h"

#include <check.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void expect(const char *plugin, RdxStatus first, RdxStatus second, const char *word)
{
    static Given given;
    if (plugin)
        setenv("RDX_CUDA_PLUGIN", plugin, 1);
    else
        unsetenv("RDX_CUDA_PLUGIN");
    for (int round = 0; round < 2; round++) { /* and again: the answer is kept */
        give(&given);
        given.in.device.type = given.out.device.type = 2;
        RdxStatus status = rdx_reduce(&given.problem, NULL);
        ck_assert_msg(status == first || status == second, "%s: %s: %s", plugin ? plugin : "none",
                      rdx_status_name(status), rdx_last_error());
        ck_assert_msg(strstr(rdx_last_error(), word) != NULL, "\"%s\" does not say \"%s\"", rdx_last_error(), word);
        ck_assert(given.out_data[0] == -12345);
    }
    give(&given); /* and the CPU goes on */
    ck_assert_int_eq(rdx_reduce(&given.problem, NULL), RDX_OK);
}

/* A plugin that was built beside this program, or is installed. */
static bool plugin_lies_there(void)
{
    Dl_info info;
    char beside[4096];
    ck_assert_int_ne(dladdr((void *)(uintptr_t)&rdx_version, &info), 0);
    const char *slash = strrchr(info.dli_fname, '/');
    const int folder = slash ? (int)(slash + 1 - info.dli_fname) : 0;
    snprintf(beside, sizeof beside, "%.*slibredax_cuda.so", folder, info.dli_fname);
    void *library = slash ? dlopen(beside, RTLD_NOW | RTLD_LOCAL) : NULL;
    library = library ? library : dlopen("libredax_cuda.so", RTLD_NOW | RTLD_LOCAL);
    return library != NULL;
}

/* No name given: no plugin, or the one that lies there, which is shown no GPU. */
START_TEST(none)
{
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    if (plugin_lies_there())
        expect(NULL, RDX_ERR_NO_DEVICE, RDX_ERR_NO_DEVICE, "CUDA devices");
    else
        expect(NULL, RDX_ERR_NO_PLUGIN, RDX_ERR_NO_PLUGIN, "libredax_cuda.so");
}
END_TEST

START_TEST(missing)
{
    expect("/nowhere/libother.so", RDX_ERR_NO_PLUGIN, RDX_ERR_NO_PLUGIN, "/nowhere/libother.so");
}
END_TEST

/* What is there and cannot be loaded is refused by the loader's words. */
START_TEST(unloadable)
{
    char path[] = "/tmp/redax_plugin_XXXXXX";
    const int file = mkstemp(path);
    ck_assert(file >= 0 && write(file, "no library", 10) == 10 && close(file) == 0);
    char words[64];
    snprintf(words, sizeof words, "no CUDA: %s: file too short", path);
    expect(path, RDX_ERR_NO_PLUGIN, RDX_ERR_NO_PLUGIN, words);
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

/* A library that is there and is no plugin. */
START_TEST(foreign)
{
    Dl_info info;
    ck_assert_int_ne(dladdr((void *)(uintptr_t)&malloc, &info), 0);
    expect(info.dli_fname, RDX_ERR_PLUGIN_VERSION, RDX_ERR_PLUGIN_VERSION, "is no redax plugin");
}
END_TEST

Suite *test_plugin_suite(void);

Suite *test_plugin_suite(void)
{
    Suite *suite = suite_create("plugin");
    TCase *tests = tcase_create("plugin");
    tcase_add_test(tests, none);
    tcase_add_test(tests, missing);
    tcase_add_test(tests, unloadable);
    tcase_add_test(tests, foreign);
    suite_add_tcase(suite, tests);
    return suite;
}
