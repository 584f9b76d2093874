/* redax info: versions, instruction sets, threads, caches, devices. */
#include "commands.h"
#include "explain.h"
#include "json.h"
#include "options.h"
#include "output.h"

#include <getopt.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: redax info [--json]\n"
    "\n"
    "Prints the version, the version of the tree that fixes every bit, instruction sets, threads, caches "
    "and devices.\n";

enum { JSON = 256, HELP };

static const struct option flags[] = {
    {"json", no_argument, NULL, JSON}, {"help", no_argument, NULL, HELP}, {NULL, 0, NULL, 0}};

typedef struct Facts {
    int version, tree, threads, processors, levels, cuda_devices;
    const char *isa, *names[4];
    int64_t l1_bytes, l2_bytes, l3_bytes, page_bytes; /* 0: unknown */
    char no_cuda[512];
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
    facts->threads = rdx_explain_threads();
    facts->processors = (int)system_value(_SC_NPROCESSORS_ONLN);
    facts->page_bytes = system_value(_SC_PAGESIZE);
#ifdef _SC_LEVEL1_DCACHE_SIZE
    facts->l1_bytes = system_value(_SC_LEVEL1_DCACHE_SIZE);
    facts->l2_bytes = system_value(_SC_LEVEL2_CACHE_SIZE);
    facts->l3_bytes = system_value(_SC_LEVEL3_CACHE_SIZE);
#endif
    RdxStatus status = rdx_explain_cuda(&facts->cuda_devices);
    if (status != RDX_OK)
        snprintf(facts->no_cuda, sizeof facts->no_cuda, "%s", rdx_option_reason(status));
}

static void print_cache(const char *name, int64_t bytes)
{
    if (bytes > 0)
        printf("  %s %lld KiB", name, (long long)(bytes / 1024));
}

static void print_text(const Facts *facts)
{
    printf("redax         %d.%d.%d\n", facts->version / 10000, facts->version / 100 % 100, facts->version % 100);
    printf("tree version  %d\n", facts->tree);
    printf("isa           %s (", facts->isa);
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
        printf("%d device%s\n", facts->cuda_devices, facts->cuda_devices == 1 ? "" : "s");
    printf("presets       %s\n", rdx_explain_presets());
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
    rdx_json_text(&json, "isa", facts->isa);
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
    rdx_json_int(&json, "cuda_devices", facts->cuda_devices);
    if (facts->no_cuda[0])
        rdx_json_text(&json, "cuda_reason", facts->no_cuda);
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
    while ((flag = getopt_long(argc, argv, ":", flags, NULL)) != -1) {
        if (flag == HELP) {
            fputs(help, stdout);
            return rdx_finish_stdout(RDX_EXIT_DONE);
        }
        if (flag != JSON)
            return rdx_complain_usage("info", "unknown option %s", argv[optind - 1]);
        json = true;
    }
    if (optind != argc)
        return rdx_complain_usage("info", "it takes no arguments");
    gather(&facts);
    if (facts.isa == NULL) {
        rdx_complain("%s", rdx_option_reason(RDX_ERR_DEVICE));
        return RDX_EXIT_FAILED;
    }
    if (json)
        print_json(&facts);
    else
        print_text(&facts);
    return rdx_finish_stdout(RDX_EXIT_DONE);
}
