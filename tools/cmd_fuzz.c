/* redax fuzz: runs the fuzzer for a time or a number of cases, or replays one line. Counts go to stdout, progress and
   failures to stderr; exit 1 with one replayable line if anything differs. */
#include "commands.h"
#include "fuzz.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: redax fuzz [--seconds S] [--cases N] [--seed N] [--one-thread] [--quiet] [--device cuda[:N]]\n"
    "       redax fuzz --replay CASE\n"
    "\n"
    "Computes random reductions with every strategy, thread count and instruction set, and compares all of them with "
    "the\n"
    "plain reference to the bit, and the reference with exact or wider arithmetic. Without a limit it runs for 10 "
    "seconds.\n"
    "\n"
    "  --seconds S     stop after S seconds\n"
    "  --cases N       stop after N cases; from 5000 on, a combination that never came up is a failure\n"
    "  --seed N        which cases (default 1)\n"
    "  --replay CASE   run this one case and say what happens\n"
    "  --one-thread    do not try two threads\n"
    "  --device cuda   the strategies of that CUDA device; the reference stays on the CPU\n"
    "  --quiet         no table of counts\n";

static volatile int stopped;

static void on_interrupt(int number)
{
    (void)number;
    stopped = 1;
}

static int complain(const char *what, const char *word)
{
    fprintf(stderr, "redax fuzz: %s%s%s\n%s", what, word ? " " : "", word ? word : "", usage);
    return RDX_EXIT_USAGE;
}

static void print_failure(const RdxFuzzFailure *failure)
{
    fprintf(stderr, "fuzz: %s\n%s\nreplay: redax fuzz --replay '%s'\n", failure->what, failure->plan, failure->line);
    if (failure->first[0] && strcmp(failure->first, failure->line) != 0)
        fprintf(stderr, "found as %s\n", failure->first);
}

static int replay(const char *line, RdxFuzzOptions *options)
{
    RdxCase c;
    RdxFuzzCounts *counts = calloc(1, sizeof *counts);
    RdxFuzzFailure *failure = calloc(1, sizeof *failure);
    char error[512];
    int code = RDX_EXIT_FAILED;
    if (!rdx_case_parse(&c, line, error, sizeof error)) {
        fprintf(stderr, "redax fuzz: %s\n", error);
        code = RDX_EXIT_USAGE;
    } else if (counts && failure && rdx_fuzz_try(&c, options, counts, failure)) {
        printf("passed: %lld runs agree with the reference\n", (long long)counts->runs);
        code = fflush(stdout) == 0 ? RDX_EXIT_DONE : RDX_EXIT_FAILED;
    } else if (failure) {
        snprintf(failure->line, sizeof failure->line, "%s", line);
        print_failure(failure);
    }
    free(counts);
    free(failure);
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
            print_failure(failure);
        else if (counts->cases >= 5000 && !rdx_fuzz_covered(counts, options->cuda, sentence, sizeof sentence))
            fprintf(stderr, "fuzz: %s\n", sentence);
        else
            code = stopped ? RDX_EXIT_INTERRUPTED : RDX_EXIT_DONE;
        if (code == RDX_EXIT_DONE)
            printf("fuzz: passed, %lld cases, seed %llu\n", (long long)counts->cases,
                   (unsigned long long)options->seed);
        if (fflush(stdout) != 0 || ferror(stdout))
            code = RDX_EXIT_FAILED;
    }
    free(counts);
    free(failure);
    return code;
}

static RdxFuzzOptions with_device(RdxFuzzOptions options, const char *text)
{
    options.cuda = true;
    options.device = text[4] == ':' ? atoi(text + 5) : 0;
    return options;
}

int cmd_fuzz(int argc, char **argv)
{
    RdxFuzzOptions options = {.seed = 1, .threads = true, .shrink = true, .stop = &stopped};
    const char *line = NULL;
    bool quiet = false;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        char *end = NULL;
        if (strcmp(word, "--help") == 0) {
            fputs(usage, stdout);
            return fflush(stdout) == 0 ? RDX_EXIT_DONE : RDX_EXIT_FAILED;
        }
        if (strcmp(word, "--one-thread") == 0 || strcmp(word, "--quiet") == 0) {
            options.threads = options.threads && strcmp(word, "--quiet") == 0;
            quiet = quiet || strcmp(word, "--quiet") == 0;
            continue;
        }
        bool known = strcmp(word, "--seconds") == 0 || strcmp(word, "--cases") == 0 || strcmp(word, "--seed") == 0 ||
                     strcmp(word, "--replay") == 0 || strcmp(word, "--device") == 0;
        if (!known)
            return complain("unknown argument", word);
        if (value == NULL)
            return complain("a value is missing after", word);
        i++;
        errno = 0;
        if (strcmp(word, "--replay") == 0)
            line = value;
        else if (strcmp(word, "--device") == 0 && strncmp(value, "cuda", 4) == 0)
            options = with_device(options, value);
        else if (strcmp(word, "--device") == 0)
            return complain("no device to fuzz:", value);
        else if (strcmp(word, "--seconds") == 0)
            options.seconds = strtod(value, &end);
        else if (strcmp(word, "--cases") == 0)
            options.cases = strtoll(value, &end, 10);
        else
            options.seed = strtoull(value, &end, 10);
        if (end && (*end != '\0' || end == value || errno != 0 || !(options.seconds >= 0) || options.cases < 0))
            return complain("not a number that makes sense:", value);
    }
    if (line)
        return replay(line, &options);
    if (options.cases == 0 && options.seconds == 0)
        options.seconds = 10;
    options.progress = isatty(2) ? stderr : NULL;
    signal(SIGINT, on_interrupt);
    return run(&options, quiet);
}
