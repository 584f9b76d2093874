/* redax fuzz: runs the fuzzer for a time or a number of cases, or replays one line. Counts go to stdout, progress and
   failures to stderr; exit 1 with one replayable line if anything differs. */
#include "commands.h"
#include "fuzz.h"
#include "options.h"
#include "output.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: redax fuzz [--seconds S] [--cases N] [--seed N] [--one-thread] [--quiet] [--device cuda[:N]]\n"
    "       redax fuzz --replay CASE|-\n"
    "\n"
    "Computes random reductions with every strategy, thread count and instruction set, and compares all of them with "
    "the\n"
    "plain reference to the bit, and the reference with exact or wider arithmetic. Without a limit it runs for 10 "
    "seconds.\n"
    "\n"
    "  --seconds S     stop after S seconds\n"
    "  --cases N       stop after N cases; from 5000 on, a combination that never came up is a failure\n"
    "  --seed N        which cases (default 1)\n"
    "  --replay CASE   run this one case and say what happens; -: each line of standard input, named before it runs, "
    "up to\n"
    "                  the first that fails\n"
    "  --one-thread    do not try two threads\n"
    "  --device cuda   the strategies of that CUDA device; the reference stays on the CPU\n"
    "  --quiet         no table of counts\n";

enum { SECONDS = 256, CASES, SEED, REPLAY, ONE_THREAD, DEVICE, QUIET, HELP = 'h' };

static const struct option flags[] = {{"seconds", required_argument, NULL, SECONDS},
                                      {"cases", required_argument, NULL, CASES},
                                      {"seed", required_argument, NULL, SEED},
                                      {"replay", required_argument, NULL, REPLAY},
                                      {"one-thread", no_argument, NULL, ONE_THREAD},
                                      {"device", required_argument, NULL, DEVICE},
                                      {"quiet", no_argument, NULL, QUIET},
                                      {"help", no_argument, NULL, HELP},
                                      {NULL, 0, NULL, 0}};

static volatile int stopped;

static void on_interrupt(int number)
{
    (void)number;
    stopped = 1;
}

static void print_failure(const RdxFuzzOptions *options, const RdxFuzzFailure *failure)
{
    char device[32] = "";
    if (options->cuda)
        snprintf(device, sizeof device, " --device cuda:%d", options->device);
    fprintf(stderr, "fuzz: %s\n%s\nreplay: redax fuzz%s --replay '%s'\n", failure->what, failure->plan, device,
            failure->line);
    if (failure->first[0] && strcmp(failure->first, failure->line) != 0)
        fprintf(stderr, "found as %s\n", failure->first);
}

static const char NO_KERNEL[] = "not run on the device: a debug build of the plugin has no kernel for it";

/* *lacking: NO_KERNEL, which is not said yet. */
static int replay(const char *line, RdxFuzzOptions *options, bool *lacking)
{
    RdxCase c;
    RdxFuzzCounts *counts = calloc(1, sizeof *counts);
    RdxFuzzFailure *failure = calloc(1, sizeof *failure);
    RdxTask *task = calloc(1, sizeof *task);
    char error[512];
    int code = RDX_EXIT_FAILED;
    *lacking = false;
    if (!rdx_case_parse(&c, line, error, sizeof error)) {
        code = rdx_complain_usage("fuzz", "%s", error);
    } else if (task && rdx_case_problem(&c, task) != RDX_OK) { /* there is nothing to try */
        rdx_complain("%s: %s", line, rdx_last_error());
    } else if (counts && failure && !rdx_fuzz_try(&c, options, counts, failure)) {
        snprintf(failure->line, sizeof failure->line, "%s", line);
        print_failure(options, failure);
    } else if (counts && counts->too_large) {
        rdx_complain("%s: not run on the device: its buffers are too large to copy", line);
    } else if (counts && counts->absent) {
        *lacking = true;
    } else if (counts && failure) {
        printf("passed: %lld runs agree with the reference\n", (long long)counts->runs);
        code = rdx_finish_stdout(RDX_EXIT_DONE);
    }
    free(task);
    free(counts);
    free(failure);
    return code;
}

static int replay_line(const char *line, RdxFuzzOptions *options)
{
    bool lacking;
    int code = replay(line, options, &lacking);
    if (lacking)
        rdx_complain("%s: %s", line, NO_KERNEL);
    return code;
}

/* Lines that are empty or begin with # are none. Ends with the first case that fails; what a debug build lacks does not
   keep the others from being tried, yet not all have passed then. */
static int replay_lines(RdxFuzzOptions *options)
{
    char *line = NULL;
    size_t room = 0;
    int code = RDX_EXIT_DONE;
    int64_t cases = 0, absent = 0;
    while (code == RDX_EXIT_DONE && getline(&line, &room, stdin) >= 0) {
        bool lacking;
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] == '\0' || line[0] == '#')
            continue;
        cases++;
        puts(line);
        fflush(stdout); /* what crashes is named, too */
        code = replay(line, options, &lacking);
        if (lacking) {
            absent++;
            puts(NO_KERNEL);
            code = rdx_finish_stdout(RDX_EXIT_DONE);
        }
    }
    if (code == RDX_EXIT_DONE && (ferror(stdin) || cases == 0)) {
        rdx_complain("standard input: %s", ferror(stdin) ? strerror(errno) : "no CASE");
        code = RDX_EXIT_FAILED;
    } else if (code == RDX_EXIT_DONE && absent > 0) {
        rdx_complain("%lld of %lld cases not run on the device", (long long)absent, (long long)cases);
        code = RDX_EXIT_FAILED;
    }
    free(line);
    return code;
}

static int run(RdxFuzzOptions *options, bool quiet)
{
    RdxFuzzCounts *counts = calloc(1, sizeof *counts);
    RdxFuzzFailure *failure = calloc(1, sizeof *failure);
    char sentence[256];
    int code = RDX_EXIT_FAILED;
    if (counts && failure) {
        bool right = rdx_fuzz_run(options, counts, failure);
        if (!quiet)
            rdx_fuzz_print(counts, options->cuda, stdout);
        if (!right)
            print_failure(options, failure);
        else if (counts->cases >= 5000 && !rdx_fuzz_covered(counts, options->cuda, sentence, sizeof sentence))
            fprintf(stderr, "fuzz: %s\n", sentence);
        else
            code = stopped ? RDX_EXIT_INTERRUPTED : RDX_EXIT_DONE;
        if (code == RDX_EXIT_DONE)
            printf("fuzz: passed, %lld cases, seed %llu\n", (long long)counts->cases,
                   (unsigned long long)options->seed);
        code = rdx_finish_stdout(code);
    }
    free(counts);
    free(failure);
    return code;
}

typedef struct Request {
    RdxFuzzOptions options;
    const char *line; /* to replay */
    bool quiet, help;
} Request;

static int read_device(RdxFuzzOptions *options, const char *text)
{
    RdxDevice device;
    if (!rdx_option_device(&device, text) || device.type != RDX_CUDA)
        return rdx_complain_value("fuzz", "device", text, "cuda or cuda:N, N from 0 to 1023");
    options->cuda = true;
    options->device = device.id;
    return 0;
}

/* 0, or the exit code after a complaint. */
static int read_flag(Request *request, int flag, char **argv)
{
    RdxFuzzOptions *options = &request->options;
    uint64_t number;
    switch (flag) {
    case HELP:
        request->help = true;
        return 0;
    case SECONDS:
        if (rdx_option_real(&options->seconds, optarg) && options->seconds > 0)
            return 0;
        return rdx_complain_value("fuzz", "seconds", optarg, "a number above 0");
    case CASES:
        if (!rdx_option_number(&number, optarg) || number == 0 || number > INT64_MAX)
            return rdx_complain_usage("fuzz", "--cases is \"%s\"; it takes a whole number from 1 to %lld", optarg,
                                      (long long)INT64_MAX);
        options->cases = (int64_t)number;
        return 0;
    case SEED:
        if (!rdx_option_number(&number, optarg))
            return rdx_complain_usage("fuzz", "--seed is \"%s\"; it takes a whole number from 0 to %llu", optarg,
                                      (unsigned long long)UINT64_MAX);
        options->seed = number;
        return 0;
    case REPLAY:
        request->line = optarg;
        return 0;
    case ONE_THREAD:
        options->threads = false;
        return 0;
    case DEVICE:
        return read_device(options, optarg);
    case QUIET:
        request->quiet = true;
        return 0;
    default:
        return rdx_complain_option("fuzz", flag, argv);
    }
}

int cmd_fuzz(int argc, char **argv)
{
    Request request = {.options = {.seed = 1, .threads = true, .shrink = true, .stop = &stopped}};
    RdxFuzzOptions *options = &request.options;
    int flag, code = 0;
    opterr = 0;
    optind = 1;
    while (code == 0 && !request.help && (flag = getopt_long(argc, argv, ":h", flags, NULL)) != -1)
        code = read_flag(&request, flag, argv);
    if (code != 0)
        return code;
    if (request.help) {
        fputs(help, stdout);
        return rdx_finish_stdout(RDX_EXIT_DONE);
    }
    if (optind < argc)
        return rdx_complain_usage("fuzz", "what is %s? A CASE follows --replay", argv[optind]);
    if (request.line)
        return strcmp(request.line, "-") == 0 ? replay_lines(options) : replay_line(request.line, options);
    if (options->cases == 0 && options->seconds == 0)
        options->seconds = 10;
    options->progress = isatty(2) ? stderr : NULL;
    signal(SIGINT, on_interrupt);
    return run(options, request.quiet);
}
