/* Compares the library with the committed answers, without a test framework: it needs a C library only, so that it also runs
   on another CPU or under an emulator.
       bits FILE      lines CASE<TAB>HEX[<TAB>HEX of the second output]; # starts a comment
   HEX is the output's bytes in logical row-major order, or fnv1a64:%016x of them when there are more than 64. Every line is
   computed by the reference, by every CPU strategy that applies, with one and two threads, on every instruction set here. */
#include "case.h"
#include "kernels/cpu/isa.h"
#include "plan/cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 8192 };

typedef struct Wish {
    int index, count;
    bool applicable[RDX_STRATEGY_COUNT];
    const char *name;
} Wish;

static int choose(void *user, const RdxCandidate *candidates, int count, int chosen)
{
    Wish *wish = user;
    (void)chosen;
    wish->count = count;
    for (int i = 0; i < count; i++)
        wish->applicable[i] = candidates[i].refused == NULL;
    wish->name = wish->index == RDX_CHOOSE_REFERENCE ? "reference"
                                                     : rdx_strategies[candidates[wish->index].config.strategy].name;
    return wish->index;
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

static bool run(RdxTask *task, Wish *wish, int index, char *const *right)
{
    const RdxProblem *p = &task->problem;
    RdxPlan *plan = NULL;
    char got[256];
    wish->index = index;
    rdx_case_reset(task);
    rdx_choose_hook(choose, wish);
    RdxStatus status = rdx_plan_create(&plan, p);
    rdx_choose_hook(NULL, NULL);
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
    for (int which = RDX_CASE_OUT; which < task->tensors; which++) {
        print_output(task, which, got, sizeof got);
        if (strcmp(got, right[which - 1]) != 0) {
            printf("  %s, %d threads: output %d is %s, right is %s\n", wish->name, p->threads, which - 1, got,
                   right[which - 1]);
            return false;
        }
    }
    return true;
}

static bool run_everything(RdxTask *task, char *const *right)
{
    const char *levels[4];
    Wish wish = {0};
    int count = rdx_cpu_isa_names(levels);
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
                if (!run(task, &wish, i, right)) {
                    printf("  on %s\n", levels[level]);
                    return false;
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
        passed = run_everything(&task, right);
    rdx_case_release(&task);
    return passed;
}

int main(int argc, char **argv)
{
    static char line[LINE_BYTES], shown[LINE_BYTES];
    setvbuf(stdout, NULL, _IOLBF, 0); /* what was wrong is seen even if the next line crashes */
    int passed = 0, failed = 0;
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (file == NULL) {
        fprintf(stderr, "usage: bits FILE (tests/golden.txt)\n");
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
    printf("%d passed, %d failed\n", passed, failed);
    return failed == 0 && passed > 0 ? 0 : 1;
}
