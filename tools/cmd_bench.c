/* redax bench: verifies cases to the bit, then times them beside what this machine's memory can do; see bench.h. A case
   that fails is complained of and the rest goes on; the exit code is 1 then. For the tests of this command the variable
   RDX_BENCH_PLANT makes every timed plan wrong in the last bit of its last output: a run must then fail. */
#include "bench.h"
#include "commands.h"
#include "explain.h"
#include "gpu.h"
#include "options.h"
#include "output.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: redax bench [OPTIONS] [CASE...]\n"
    "\n"
    "Verifies each CASE to the bit, then times it. Reading memory is the limit, so plain reads "
    "of as many bytes are timed\n"
    "between the runs of the case; `share` is the median of the ratios. Bytes are lines of 64 "
    "bytes that hold an element,\n"
    "plus the outputs. Cases of columns have a sum of columns in any order beside them.\n"
    "\n"
    "  --device DEVICE   cpu (the default), cuda[:N], or auto: cuda where there is a GPU, else cpu. On a GPU a case "
    "is a graph of\n"
    "                    calls over rotated buffers, replayed nine times, and every output is first "
    "compared with the CPU's\n"
    "  --suite FILE      the cases of a file: NAME CASE in each line, # begins a comment\n"
    "  --only TEXT       of the suite, only cases whose name contains TEXT\n"
    "  --json FILE       write the records to FILE\n"
    "  --threads N       threads of cases that do not say (default: one for each processor)\n"
    "  --seconds S       of timing for each case (default 0.7)\n"
    "  --host            what a call costs the host: rdx_execute and rdx_reduce of 16 elements, on a GPU beside a "
    "launch that\n"
    "                    does nothing\n"
    "  --l2              f32 sum of 256 KiB on one thread, from the second cache\n";

enum { DEVICE = 256, SUITE, ONLY, JSON, THREADS, SECONDS, HOST, L2, HELP = 'h' };

static const struct option flags[] = {{"device", required_argument, NULL, DEVICE},
                                      {"suite", required_argument, NULL, SUITE},
                                      {"only", required_argument, NULL, ONLY},
                                      {"json", required_argument, NULL, JSON},
                                      {"threads", required_argument, NULL, THREADS},
                                      {"seconds", required_argument, NULL, SECONDS},
                                      {"host", no_argument, NULL, HOST},
                                      {"l2", no_argument, NULL, L2},
                                      {"help", no_argument, NULL, HELP},
                                      {NULL, 0, NULL, 0}};

typedef struct Request {
    RdxBenchOptions options;
    RdxBenchSuite suite;
    RdxDevice device;
    const char *json, *only, *file; /* the suite's, the last one's of several */
    RdxGpuFacts gpu;
    bool automatic, host, l2, help;
} Request;

/* 0, or the exit code after a complaint. */
static int read_flag(Request *request, int flag, char **argv)
{
    char sentence[1024];
    switch (flag) {
    case HELP:
        request->help = true;
        return 0;
    case DEVICE:
        request->automatic = strcmp(optarg, "auto") == 0;
        if (rdx_option_device(&request->device, optarg))
            return 0;
        return rdx_complain_value("bench", "device", optarg, rdx_option_takes("device"));
    case SUITE:
        request->file = optarg;
        if (rdx_bench_add_file(&request->suite, optarg, sentence, sizeof sentence))
            return 0;
        if (strncmp(sentence, "cannot read", 11) != 0)
            return rdx_complain_usage("bench", "%s", sentence);
        rdx_complain("%s", sentence);
        return RDX_EXIT_FAILED;
    case ONLY:
        request->only = optarg;
        return 0;
    case JSON:
        request->json = optarg;
        return 0;
    case THREADS:
        return rdx_option_threads(&request->options.threads, optarg)
                   ? 0
                   : rdx_complain_value("bench", "threads", optarg, rdx_option_takes("threads"));
    case SECONDS:
        if (rdx_option_real(&request->options.seconds, optarg) && request->options.seconds >= 0 &&
            request->options.seconds <= 3600)
            return 0;
        return rdx_complain_value("bench", "seconds", optarg, rdx_option_takes("seconds"));
    case HOST:
        request->host = true;
        return 0;
    case L2:
        request->l2 = true;
        return 0;
    default:
        return rdx_complain_option("bench", flag, argv);
    }
}

/* --only chooses among the cases of suites: those given by themselves have no name, and stay. */
static bool is_wanted(const Request *request, int i)
{
    const char *name = request->suite.name[i];
    return !request->only || !name[0] || strstr(name, request->only);
}

/* 0, or the exit code after a complaint: an --only that leaves nothing of its suite is a slip of the pen. */
static int check_only(const Request *request)
{
    if (!request->only)
        return 0;
    if (!request->file)
        return rdx_complain_usage("bench", "--only %s needs a --suite to choose from", request->only);
    for (int i = 0; i < request->suite.count; i++)
        if (request->suite.name[i][0] && is_wanted(request, i))
            return 0;
    return rdx_complain_usage("bench", "no case of %s has \"%s\" in its name", request->file, request->only);
}

static int read_request(Request *request, int argc, char **argv)
{
    char sentence[1024];
    int flag, code = 0;
    opterr = 0;
    optind = 1;
    while (code == 0 && !request->help && (flag = getopt_long(argc, argv, ":h", flags, NULL)) != -1)
        code = read_flag(request, flag, argv);
    if (code != 0 || request->help || (code = check_only(request)) != 0)
        return code;
    for (; optind < argc; optind++)
        if (!rdx_bench_add(&request->suite, "", argv[optind], sentence, sizeof sentence))
            return rdx_complain_usage("bench", "%s: %s", argv[optind], sentence);
    if (request->suite.count == 0 && !request->host && !request->l2)
        return rdx_complain_usage("bench", "which CASE?");
    return 0;
}

static int write_json(const char *path, const RdxBenchReport *report, int threads)
{
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    bool good = memory && rdx_bench_write_json(memory, report, threads);
    if (memory == NULL || fclose(memory) != 0 || !good) {
        free(text);
        rdx_complain("out of memory");
        return RDX_EXIT_FAILED;
    }
    RdxPartial file;
    good = rdx_partial_open(&file, path) && rdx_partial_write(&file, text, length) && rdx_partial_commit(&file);
    free(text);
    return good ? RDX_EXIT_DONE : RDX_EXIT_FAILED;
}

static int run_cases(const Request *request, RdxBenchReport *report)
{
    static RdxBench bench; /* its task alone is 10 KB */
    char sentence[1024];
    int code = RDX_EXIT_DONE;
    rdx_bench_start(&bench, &request->options);
    if (request->suite.count > 0)
        rdx_bench_print_columns(stdout);
    for (int i = 0; i < request->suite.count; i++) {
        if (!is_wanted(request, i))
            continue;
        RdxBenchRecord *record = &report->record[report->count++];
        const char *name = request->suite.name[i], *line = request->suite.line[i];
        bool cpu = request->device.type == RDX_CPU;
        if (cpu ? rdx_bench_run(&bench, name, line, record, sentence, sizeof sentence)
                : rdx_bench_device(&bench, request->device.id, name, line, record, sentence, sizeof sentence)) {
            rdx_bench_print_row(stdout, record);
            continue;
        }
        rdx_complain("%s%s%s", record->name, record->name[0] ? ": " : "", sentence);
        snprintf(record->error, sizeof record->error, "%.255s", sentence);
        code = RDX_EXIT_FAILED;
    }
    rdx_bench_finish(&bench);
    return code;
}

static bool measure_host(const Request *request, RdxBenchSmall *small, char *sentence, size_t size)
{
    return request->device.type == RDX_CPU ? rdx_bench_host(small, sentence, size)
                                           : rdx_bench_host_cuda(small, request->device.id, sentence, size);
}

static int run(const Request *request)
{
    RdxBenchReport report = {0};
    char sentence[1024], device[32] = "cpu";
    int code = RDX_EXIT_DONE, threads = request->options.threads ? request->options.threads : rdx_explain_threads();
    report.device = device;
    if (request->device.type != RDX_CPU) {
        snprintf(device, sizeof device, "cuda:%d", (int)request->device.id);
        report.gpu = request->gpu.name;
    }
    report.record = calloc((size_t)request->suite.count + 1, sizeof *report.record);
    if (report.record == NULL) {
        rdx_complain("out of memory");
        return RDX_EXIT_FAILED;
    }
    rdx_partial_watch_signals();
    rdx_bench_print_head(stdout, threads);
    if (report.gpu)
        printf("%s: %s, sm_%d, %d multiprocessors\n\n", device, report.gpu, request->gpu.compute, request->gpu.units);
    report.host = request->host && measure_host(request, &report.small, sentence, sizeof sentence);
    report.l2 =
        request->l2 && (!request->host || report.host) && rdx_bench_l2(&report.small, sentence, sizeof sentence);
    if (report.host != request->host || report.l2 != request->l2) {
        rdx_complain("%s", sentence);
        code = RDX_EXIT_FAILED;
    }
    rdx_bench_print_small(stdout, &report);
    if (run_cases(request, &report) != RDX_EXIT_DONE)
        code = RDX_EXIT_FAILED;
    if (request->json && write_json(request->json, &report, threads) != RDX_EXIT_DONE)
        code = RDX_EXIT_FAILED;
    free(report.record);
    return code;
}

/* Here cases are made where they are reduced, nothing travels, so a GPU always pays: auto takes it where there is
   one. */
static RdxStatus settle_device(Request *request)
{
    if (request->automatic && rdx_gpu_facts(0, &request->gpu) == RDX_OK)
        request->device = (RdxDevice){RDX_CUDA, 0};
    return request->device.type == RDX_CPU ? RDX_OK : rdx_gpu_facts(request->device.id, &request->gpu);
}

int cmd_bench(int argc, char **argv)
{
    Request request = {.options = {.seconds = 0.7}, .device = {1, 0}};
    const char *isa, *levels[4];
    int code = read_request(&request, argc, argv);
    if (request.help) {
        fputs(help, stdout);
    } else if (code == 0 && settle_device(&request) != RDX_OK) {
        rdx_complain("%s", rdx_option_reason(RDX_ERR_NO_PLUGIN));
        code = RDX_EXIT_FAILED;
    } else if (code == 0) {
        (void)rdx_explain_isa(&isa, levels);
        if (getenv("RDX_BENCH_PLANT"))
            request.options.plant = rdx_bench_planted;
        if (isa == NULL)
            rdx_complain("%s", rdx_option_reason(RDX_ERR_DEVICE));
        code = isa == NULL ? RDX_EXIT_FAILED : run(&request);
    }
    rdx_bench_free(&request.suite);
    return rdx_finish_stdout(code);
}
