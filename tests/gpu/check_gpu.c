/* The GPU suite's main: finds the plugin and the devices, runs what can be run with them, and names what cannot.
       check_gpu [NAME...]      only the groups named: check_gpu streams capture
       check_gpu --devices      prints how many devices there are, runs nothing
   Exit 0: all that was run passed. Where there is no GPU that is what needs none, and the last line says so. */
#include "gpu.h"

#include <stdio.h>

const RdxPluginTable *gpu;
int gpu_devices;
bool gpu_emulated;

static struct Skipped {
    const char *name, *why;
} skipped[128];
static int skips;

static const struct {
    const char *name;
    void (*add)(TCase *tests);
} groups[] = {{"host", gpu_host_add},       {"capture", gpu_capture_add}, {"streams", gpu_streams_add},
              {"devices", gpu_devices_add}, {"repeat", gpu_repeat_add},   {"fuzz", gpu_fuzz_add},
              {"faults", gpu_faults_add},   {"large", gpu_large_add}};

int64_t gpu_setting(const char *name, int64_t usual)
{
    const char *text = getenv(name);
    return text && *text ? strtoll(text, NULL, 10) : usual;
}

bool gpu_reduced(void)
{
    return gpu_setting("RDX_GPU_REDUCED", 0) != 0;
}

static const char *why_not(int needs)
{
    if (needs & GPU_PLUGIN && !gpu)
        return "no plugin";
    if (needs & (GPU_ONE | GPU_TWO | GPU_REAL | GPU_LARGE) && gpu_devices == 0)
        return "no GPU";
    if (needs & GPU_TWO && gpu_devices < 2)
        return "one GPU";
    if (needs & GPU_REAL && gpu_emulated)
        return "emulated";
    if (needs & GPU_LARGE && !gpu_setting("RDX_GPU_LARGE", !gpu_emulated && !gpu_reduced()))
        return "RDX_GPU_LARGE";
    if (needs & GPU_WHOLE && gpu_reduced())
        return "RDX_GPU_REDUCED";
    return NULL;
}

void gpu_add(TCase *tests, const TTest *test, const char *name, int needs)
{
    const char *why = why_not(needs);
    if (!why)
        tcase_add_test(tests, test);
    else if (skips < (int)(sizeof skipped / sizeof skipped[0]))
        skipped[skips++] = (struct Skipped){name, why};
}

static void find_devices(void)
{
    RdxDeviceInfo info;
    if (rdx_plugin(&gpu) != RDX_OK) {
        printf("no plugin: %s\n", rdx_last_error());
        gpu = NULL;
        return;
    }
    gpu_devices = gpu->device_count();
    if (gpu_devices == 0)
        printf("no device: %s\n", rdx_last_error());
    for (int id = 0; id < gpu_devices; id++)
        if (gpu->device_info(id, &info) == RDX_OK) {
            printf("cuda:%d is %s\n", id, info.name);
            gpu_emulated = gpu_emulated || strncmp(info.name, "emulated", 8) == 0;
        }
}

static bool is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc < 2;
}

static void tell_skips(void)
{
    static const char *const whys[] = {"no plugin", "no GPU",        "one GPU",
                                       "emulated",  "RDX_GPU_LARGE", "RDX_GPU_REDUCED"};
    for (size_t w = 0; w < sizeof whys / sizeof whys[0]; w++) {
        int count = 0;
        for (int i = 0; i < skips; i++)
            if (strcmp(skipped[i].why, whys[w]) == 0)
                printf("%s%s", count++ ? ", " : "not run: ", skipped[i].name);
        if (count)
            printf(" (%s)\n", whys[w]);
    }
    if (gpu_devices == 0)
        printf("no GPU here: %d tests not run\n", skips);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 2 && strcmp(argv[1], "--sticky") == 0)
        return gpu_sticky_child();
    find_devices();
    if (argc == 2 && strcmp(argv[1], "--devices") == 0)
        return printf("%d\n", gpu_devices) < 0;
    SRunner *runner = NULL;
    int wanted = 0;
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        if (!is_wanted(groups[i].name, argc, argv))
            continue;
        Suite *suite = suite_create(groups[i].name);
        TCase *tests = tcase_create(groups[i].name);
        groups[i].add(tests);
        suite_add_tcase(suite, tests);
        wanted++;
        if (runner)
            srunner_add_suite(runner, suite);
        else
            runner = srunner_create(suite);
    }
    if (wanted == 0 || (argc > 1 && wanted != argc - 1)) {
        fprintf(stderr, "usage: check_gpu [--devices] [host|capture|streams|devices|repeat|fuzz|faults|large]...\n");
        return 2;
    }
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    tell_skips();
    return failed == 0 ? 0 : 1;
}
