/* Compares the library with the committed answers, without a test framework: it needs a C library only, so that it also
   runs on another CPU or under an emulator.
       bits [--device cuda[:N]] FILE      lines CASE<TAB>HEX[<TAB>HEX of the second output]; # starts a comment
   HEX is the output's bytes in logical row-major order, or fnv1a64:%016x of them when there are more than 64. Every
   line is computed by the reference, by every CPU strategy that applies, with one and two threads, on every instruction
   set here; with --device by every CUDA strategy that applies. */
#include "case.h"
#include "fuzz_device.h"
#include "kernels/cpu/isa.h"
#include "plan/cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 8192, KEEP = -2 };

static int cuda_device = -1; /* -1: the CPU */
static int runs_on_device, lines_without_kernel;

typedef struct Wish {
    int index, count;
    bool applicable[RDX_STRATEGY_COUNT];
    const char *name;
} Wish;

static int choose(void *user, const RdxCandidate *candidates, int count, int chosen)
{
    Wish *wish = user;
    wish->count = count;
    for (int i = 0; i < count; i++)
        wish->applicable[i] = candidates[i].refused == NULL;
    int index = wish->index == KEEP ? chosen : wish->index;
    wish->name = index == RDX_CHOOSE_REFERENCE ? "reference" : rdx_strategies[candidates[index].config.strategy].name;
    return index;
}

/* The output as golden.txt spells it. */
static void print_output(const RdxTask *task, int which, char *text, size_t size)
{
    int bytes = rdx_data_type(rdx_data_number(task->tensor[which].dtype))->size;
    int64_t elements = task->extent[which].elements;
    uint64_t digest = 0xCBF29CE484222325;
    size_t length = 0;
    text[0] = '\0';
    for (int64_t i = 0; i < elements; i++) {
        const unsigned char *at = rdx_case_element(task, which, i);
        for (int b = 0; b < bytes; b++) {
            digest = (digest ^ at[b]) * 0x100000001B3;
            if (elements * bytes <= 64 && length + 3 < size)
                length += (size_t)snprintf(text + length, size - length, "%02x", at[b]);
        }
    }
    if (elements * bytes > 64)
        snprintf(text, size, "fnv1a64:%016llx", (unsigned long long)digest);
}

static bool right_outputs(const RdxTask *task, const Wish *wish, char *const *right)
{
    char got[256];
    for (int which = RDX_CASE_OUT; which < task->tensors; which++) {
        print_output(task, which, got, sizeof got);
        if (strcmp(got, right[which - 1]) != 0) {
            printf("  %s, %d threads: output %d is %s, right is %s\n", wish->name, task->problem.threads, which - 1,
                   got, right[which - 1]);
            return false;
        }
    }
    return true;
}

static RdxStatus make_plan(RdxPlan **plan, const RdxProblem *problem, Wish *wish, int index)
{
    wish->index = index;
    rdx_choose_hook(choose, wish);
    RdxStatus status = rdx_plan_create(plan, problem);
    rdx_choose_hook(NULL, NULL);
    return status;
}

static bool run(RdxTask *task, Wish *wish, int index, char *const *right)
{
    const RdxProblem *p = &task->problem;
    RdxPlan *plan = NULL;
    rdx_case_reset(task);
    RdxStatus status = make_plan(&plan, p, wish, index);
    void *workspace = NULL;
    if (status == RDX_OK) {
        size_t bytes = rdx_plan_workspace(plan);
        workspace = aligned_alloc(256, (bytes + 511) / 256 * 256);
        status = workspace ? rdx_execute(plan, p->in->data, p->out->data, p->out2 ? p->out2->data : NULL, workspace,
                                         bytes, NULL)
                           : RDX_ERR_MEMORY;
    }
    free(workspace);
    rdx_plan_destroy(plan);
    if (status != RDX_OK) {
        printf("  %s: %s\n", rdx_status_name(status), rdx_last_error());
        return false;
    }
    return right_outputs(task, wish, right);
}

/* The planner's own choice, every other strategy of the device, and rdx_reduce. */
static bool run_on_device(RdxTask *task, RdxMirror *mirror, char *const *right)
{
    Wish wish = {.count = 1};
    char sentence[512];
    for (int index = KEEP; index < wish.count; index++) {
        if (index == RDX_CHOOSE_REFERENCE || (index >= 0 && !wish.applicable[index]))
            continue;
        RdxPlan *plan = NULL;
        rdx_case_reset(task);
        RdxStatus status = make_plan(&plan, &mirror->problem, &wish, index);
        if (status == RDX_ERR_UNSUPPORTED && rdx_mirror_lacks_kernels()) {
            lines_without_kernel++;
            return true;
        }
        if (status == RDX_OK)
            status = rdx_mirror_execute(mirror, task, plan, sentence, sizeof sentence);
        else
            snprintf(sentence, sizeof sentence, "%s", rdx_last_error());
        rdx_plan_destroy(plan);
        if (status != RDX_OK)
            printf("  %s: %s: %s\n", wish.name, rdx_status_name(status), sentence);
        if (status != RDX_OK || !right_outputs(task, &wish, right))
            return false;
        runs_on_device++;
    }
    rdx_case_reset(task);
    wish.name = "rdx_reduce";
    RdxStatus status = rdx_mirror_reduce(mirror, task);
    if (status != RDX_OK)
        printf("  rdx_reduce: %s: %s\n", rdx_status_name(status), rdx_last_error());
    return status == RDX_OK && right_outputs(task, &wish, right);
}

static bool run_mirrored(RdxTask *task, int id, char *const *right)
{
    RdxMirror mirror;
    RdxStatus status = rdx_mirror_open(&mirror, task, id);
    if (status != RDX_OK) {
        printf("  %s: %s\n", rdx_status_name(status), rdx_last_error());
        return false;
    }
    bool passed = run_on_device(task, &mirror, right);
    rdx_mirror_close(&mirror);
    return passed;
}

static bool run_everything(RdxTask *task, char *const *right)
{
    const char *levels[4];
    Wish wish = {0};
    int count = rdx_cpu_isa_names(levels);
    const int64_t usual_stream = rdx_cpu_stream_bytes;
    rdx_cpu_thread_bytes = 512; /* else nothing this small would ever be split */
    task->problem.threads = 1;
    if (!run(task, &wish, RDX_CHOOSE_REFERENCE, right))
        return false;
    for (int level = 0; level < count; level++) {
        if (rdx_cpu_set_isa(levels[level]) != RDX_OK)
            return false;
        for (int i = 0; i < wish.count; i++)
            for (int threads = 1; wish.applicable[i] && threads <= 2; threads++) {
                task->problem.threads = threads;
                /* Nor come from memory: on one thread it does, of a machine that needs a pace and of one that keeps
                   ahead. */
                rdx_cpu_stream_bytes = threads == 1 ? 512 : usual_stream;
                for (int kept = 0; kept <= (threads == 1); kept++) {
                    rdx_cpu_kept_ahead = kept;
                    if (!run(task, &wish, i, right)) {
                        printf("  on %s\n", levels[level]);
                        return false;
                    }
                }
            }
    }
    return true;
}

static bool check_line(char *line)
{
    static RdxCase c;
    static RdxTask task;
    char error[512], *right[2];
    strtok(line, "\t");
    right[0] = strtok(NULL, "\t");
    right[1] = strtok(NULL, "\t");
    static char none[] = "";
    for (int i = 0; i < 2; i++)
        right[i] = right[i] ? right[i] : none; /* an output without elements */
    RdxStatus status;
    bool passed = false;
    if (!rdx_case_parse(&c, line, error, sizeof error))
        printf("  %s\n", error);
    else if ((status = rdx_case_problem(&c, &task)) != RDX_OK)
        printf("  %s: %s\n", rdx_status_name(status), rdx_last_error());
    else if (!rdx_case_allocate(&task, RDX_CASE_PLAIN, error, sizeof error))
        printf("  %s\n", error);
    else
        passed = cuda_device < 0 ? run_everything(&task, right) : run_mirrored(&task, cuda_device, right);
    rdx_case_release(&task);
    return passed;
}

int main(int argc, char **argv)
{
    static char line[LINE_BYTES], shown[LINE_BYTES];
    setvbuf(stdout, NULL, _IOLBF, 0); /* what was wrong is seen even if the next line crashes */
    int passed = 0, failed = 0;
    if (argc == 4 && strcmp(argv[1], "--device") == 0 && strncmp(argv[2], "cuda", 4) == 0)
        cuda_device = argv[2][4] == ':' ? atoi(argv[2] + 5) : 0;
    FILE *file = argc == (cuda_device < 0 ? 2 : 4) ? fopen(argv[argc - 1], "r") : NULL;
    if (file == NULL) {
        fprintf(stderr, "usage: bits [--device cuda[:N]] FILE (tests/golden.txt)\n");
        return 2;
    }
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#' || line[0] == '\0')
            continue;
        memcpy(shown, line, sizeof line);
        shown[strcspn(shown, "\t")] = '\0';
        if (check_line(line)) {
            passed++;
        } else {
            printf("%s\n", shown);
            failed++;
        }
    }
    fclose(file);
    if (cuda_device >= 0)
        printf("%d plans executed on cuda:%d; %d lines not run: this build of the plugin has no kernel for them\n",
               runs_on_device, cuda_device, lines_without_kernel);
    printf("%d passed, %d failed\n", passed, failed);
    return failed == 0 && passed > 0 ? 0 : 1;
}
