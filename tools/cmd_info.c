/* redax info: versions, instruction sets, threads, caches, devices. */
#include "commands.h"
#include "explain.h"
#include "gpu.h"
#include "json.h"
#include "options.h"
#include "output.h"

#include <getopt.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: redax info [--json]\n"
    "\n"
    "Prints the version, the version of the tree that fixes every bit, instruction sets, threads, caches, GPUs, the\n"
    "architectures that the CUDA plugin is built for, and the versions of driver and CUDA run-time.\n";

enum { JSON = 256, HELP = 'h' };

static const struct option flags[] = {
    {"json", no_argument, NULL, JSON}, {"help", no_argument, NULL, HELP}, {NULL, 0, NULL, 0}};

typedef struct Facts {
    int version, tree, threads, processors, levels;
    const char *isa, *names[4];                       /* isa NULL: RDX_ISA names none that is here */
    int64_t l1_bytes, l2_bytes, l3_bytes, page_bytes; /* 0: unknown */
    RdxGpuSupport cuda;
    char no_cuda[512]; /* why there is no plugin; "" */
} Facts;

static int64_t system_value(int name)
{
    long value = sysconf(name);
    return value > 0 ? value : 0;
}

static void gather(Facts *facts)
{
    memset(facts, 0, sizeof *facts);
    facts->version = rdx_version();
    facts->tree = rdx_tree_version();
    facts->levels = rdx_explain_isa(&facts->isa, facts->names);
    if (facts->isa == NULL)
        rdx_complain("%s", rdx_option_reason(RDX_ERR_DEVICE));
    facts->threads = rdx_explain_threads();
    facts->processors = (int)system_value(_SC_NPROCESSORS_ONLN);
    facts->page_bytes = system_value(_SC_PAGESIZE);
#ifdef _SC_LEVEL1_DCACHE_SIZE
    facts->l1_bytes = system_value(_SC_LEVEL1_DCACHE_SIZE);
    facts->l2_bytes = system_value(_SC_LEVEL2_CACHE_SIZE);
    facts->l3_bytes = system_value(_SC_LEVEL3_CACHE_SIZE);
#endif
    RdxStatus status = rdx_gpu_support(&facts->cuda);
    if (status != RDX_OK)
        snprintf(facts->no_cuda, sizeof facts->no_cuda, "%s", rdx_option_reason(status));
}

static void print_cache(const char *name, int64_t bytes)
{
    if (bytes > 0)
        printf("  %s %lld KiB", name, (long long)(bytes / 1024));
}

/* 12080 as 12.8; no driver has a version 0. */
static void version_words(char text[32], int version)
{
    if (version > 0)
        snprintf(text, 32, "%d.%d", version / 1000, version % 1000 / 10);
    else
        strcpy(text, "none");
}

static void print_cuda(const RdxGpuSupport *cuda)
{
    char driver[32], runtime[32];
    version_words(driver, cuda->driver);
    version_words(runtime, cuda->runtime);
    printf("%d device%s; built for %s%s; driver %s, run-time %s\n", cuda->devices, cuda->devices == 1 ? "" : "s",
           cuda->architectures[0] ? cuda->architectures : "no GPU", cuda->small_tables ? ", few ops and dtypes" : "",
           driver, runtime);
    for (int id = 0; id < cuda->devices; id++) {
        RdxGpuFacts gpu;
        if (rdx_gpu_facts(id, &gpu) == RDX_OK)
            printf("  cuda:%-6d %s, sm_%d, %d multiprocessors, %.1f GiB of memory, %.1f free\n", id, gpu.name,
                   gpu.compute, gpu.units, (double)gpu.memory_bytes / 1073741824, (double)gpu.free_bytes / 1073741824);
        else
            printf("  cuda:%-6d %s\n", id, rdx_last_error());
    }
}

static void print_text(const Facts *facts)
{
    printf("redax         %d.%d.%d\n", facts->version / 10000, facts->version / 100 % 100, facts->version % 100);
    printf("tree version  %d\n", facts->tree);
    printf("isa           %s (", facts->isa ? facts->isa : "none");
    for (int i = 0; i < facts->levels; i++)
        printf("%s%s", i ? ", " : "", facts->names[i]);
    printf(")\nthreads       %d of %d processors\n", facts->threads, facts->processors);
    printf("caches      ");
    print_cache("L1", facts->l1_bytes);
    print_cache("L2", facts->l2_bytes);
    print_cache("L3", facts->l3_bytes);
    printf("%s\ncuda          ", facts->l1_bytes + facts->l2_bytes + facts->l3_bytes ? "" : "  unknown");
    if (facts->no_cuda[0])
        printf("none: %s\n", facts->no_cuda);
    else
        print_cuda(&facts->cuda);
    printf("presets       %s\n", rdx_explain_presets());
}

static void json_cuda(RdxJson *json, const RdxGpuSupport *cuda)
{
    char driver[32], runtime[32];
    version_words(driver, cuda->driver);
    version_words(runtime, cuda->runtime);
    rdx_json_text(json, "cuda_architectures", cuda->architectures);
    rdx_json_bool(json, "cuda_debug_build", cuda->small_tables);
    rdx_json_text(json, "cuda_driver", driver);
    rdx_json_text(json, "cuda_runtime", runtime);
    rdx_json_array(json, "gpus", false);
    for (int id = 0; id < cuda->devices; id++) {
        RdxGpuFacts gpu;
        RdxStatus status = rdx_gpu_facts(id, &gpu);
        rdx_json_object(json, NULL);
        rdx_json_int(json, "id", id);
        if (status == RDX_OK) {
            rdx_json_text(json, "name", gpu.name);
            rdx_json_int(json, "compute", gpu.compute);
            rdx_json_int(json, "multiprocessors", gpu.units);
            rdx_json_int(json, "memory_bytes", (int64_t)gpu.memory_bytes);
            rdx_json_int(json, "free_bytes", (int64_t)gpu.free_bytes);
        } else {
            rdx_json_text(json, "error", rdx_last_error());
        }
        rdx_json_end(json);
    }
    rdx_json_end(json);
}

static void print_json(const Facts *facts)
{
    RdxJson json;
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", facts->version / 10000, facts->version / 100 % 100,
             facts->version % 100);
    rdx_json_start(&json, stdout);
    rdx_json_text(&json, "version", version);
    rdx_json_int(&json, "tree_version", facts->tree);
    if (facts->isa)
        rdx_json_text(&json, "isa", facts->isa);
    else
        rdx_json_null(&json, "isa");
    rdx_json_array(&json, "isa_available", true);
    for (int i = 0; i < facts->levels; i++)
        rdx_json_text(&json, NULL, facts->names[i]);
    rdx_json_end(&json);
    rdx_json_int(&json, "threads", facts->threads);
    rdx_json_int(&json, "processors", facts->processors);
    rdx_json_int(&json, "page_bytes", facts->page_bytes);
    rdx_json_int(&json, "l1_bytes", facts->l1_bytes);
    rdx_json_int(&json, "l2_bytes", facts->l2_bytes);
    rdx_json_int(&json, "l3_bytes", facts->l3_bytes);
    rdx_json_int(&json, "cuda_devices", facts->cuda.devices);
    if (facts->no_cuda[0])
        rdx_json_text(&json, "cuda_reason", facts->no_cuda);
    else
        json_cuda(&json, &facts->cuda);
    rdx_json_text(&json, "presets", rdx_explain_presets());
    rdx_json_finish(&json);
}

int cmd_info(int argc, char **argv)
{
    int flag;
    bool json = false;
    Facts facts;
    opterr = 0;
    optind = 1;
    while ((flag = getopt_long(argc, argv, ":h", flags, NULL)) != -1) {
        if (flag == HELP) {
            fputs(help, stdout);
            return rdx_finish_stdout(RDX_EXIT_DONE);
        }
        if (flag != JSON)
            return rdx_complain_option("info", flag, argv);
        json = true;
    }
    if (optind != argc)
        return rdx_complain_usage("info", "it takes no arguments");
    gather(&facts);
    if (json)
        print_json(&facts);
    else
        print_text(&facts);
    return rdx_finish_stdout(facts.isa ? RDX_EXIT_DONE : RDX_EXIT_FAILED);
}
