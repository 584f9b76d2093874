/* Verification: no case is timed whose bits are not those of the tree.
   The plain reference takes some 5 ns an element on one thread, so beyond 2^26 elements it judges a part: windows at
   both ends and in the middle of a kept axis, at their place in the full input; or, where there is no kept axis to cut,
   the first elements of a reduced one, by the same strategy. All outputs are then compared with those of another
   computation as well: another strategy where one is not hopelessly slow, another instruction set where the machine has
   one, another number of threads. */
#include "bench.h"

#include "../src/kernels/cpu/isa.h"

#include <stdlib.h>
#include <string.h>

enum { CANARY = 0xa5, MARGIN = 64, WINDOWS = 3, HOPELESS = 20 };

static int size_of(const RdxTask *task, int which)
{
    return rdx_data_type(rdx_data_number(task->tensor[which].dtype))->size;
}

static int64_t storage_bytes(const RdxTask *task, int which)
{
    return task->extent[which].count * size_of(task, which);
}

static unsigned char *storage_of(const RdxTask *task, int which)
{
    return (unsigned char *)task->tensor[which].data + task->extent[which].low * size_of(task, which);
}

/* ---- Running ---- */

static void reset_outputs(RdxTask *task)
{
    for (int which = RDX_CASE_OUT; which < task->tensors; which++) {
        unsigned char *storage = storage_of(task, which);
        int64_t bytes = storage_bytes(task, which);
        memset(storage - MARGIN, CANARY, MARGIN);
        memset(storage + bytes, CANARY, MARGIN);
        memset(storage, task->c.beta != 0 && which == RDX_CASE_OUT2 ? 0 : 0xff, (size_t)bytes);
        if (task->c.beta != 0 && which == RDX_CASE_OUT)
            rdx_data_fill(rdx_data_number(task->tensor[which].dtype), RDX_DATA_EXACT, task->c.seed + 1, 0,
                          task->extent[which].count, storage);
    }
}

static bool margins_intact(const RdxTask *task)
{
    bool intact = true;
    for (int which = RDX_CASE_OUT; which < task->tensors; which++) {
        const unsigned char *low = storage_of(task, which) - MARGIN, *high = low + MARGIN + storage_bytes(task, which);
        for (int i = 0; i < MARGIN; i++)
            intact = intact && low[i] == CANARY && high[i] == CANARY;
    }
    return intact;
}

/* ---- Plans of another kind ---- */

enum { SAME = -2, OTHER = -3 }; /* besides RDX_CHOOSE_REFERENCE */

typedef struct Wish {
    int what, strategy; /* SAME: the strategy wanted */
} Wish;

static int choose(void *user, const RdxCandidate *candidates, int count, int chosen)
{
    const Wish *wish = user;
    int best = chosen;
    double limit = HOPELESS * candidates[chosen].config.cost_us;
    if (wish->what == RDX_CHOOSE_REFERENCE)
        return RDX_CHOOSE_REFERENCE;
    for (int i = 0; i < count; i++) {
        bool same = candidates[i].config.strategy == wish->strategy;
        if (candidates[i].refused)
            continue;
        if (wish->what == SAME && same)
            return i;
        if (wish->what == OTHER && !same && candidates[i].config.cost_us < limit) {
            best = i;
            limit = candidates[i].config.cost_us;
        }
    }
    return best;
}

static RdxPlan *plan_otherwise(const RdxProblem *problem, int what, int strategy)
{
    Wish wish = {what, strategy};
    RdxPlan *plan = NULL;
    rdx_choose_hook(choose, &wish);
    RdxStatus status = rdx_plan_create(&plan, problem);
    rdx_choose_hook(NULL, NULL);
    return status == RDX_OK ? plan : NULL;
}

/* Another strategy, instruction set and number of threads, as far as there are any; *against says which. */
static RdxPlan *plan_alternative(const RdxBench *bench, char *against, size_t size)
{
    const char *names[4], *other;
    const RdxIsa *isa = NULL;
    RdxProblem problem = bench->task.problem;
    int levels = rdx_cpu_isa_names(names), own = 0;
    if (rdx_cpu_isa(&isa) != RDX_OK)
        return NULL;
    while (own < levels - 1 && strcmp(names[own], isa->name) != 0)
        own++;
    other = own > 0 ? names[own - 1] : names[levels > 1];
    problem.threads = bench->plan->config.threads > 1 ? 1 : 2;
    RdxPlan *plan = NULL;
    if (rdx_cpu_set_isa(other) == RDX_OK)
        plan = plan_otherwise(&problem, OTHER, bench->plan->config.strategy);
    if (rdx_cpu_set_isa(isa->name) != RDX_OK && plan) {
        rdx_plan_destroy(plan);
        plan = NULL;
    }
    if (plan)
        snprintf(against, size, "%s, %s, %d thread%s", rdx_strategies[plan->config.strategy].name, other,
                 plan->config.threads, plan->config.threads == 1 ? "" : "s");
    return plan;
}

/* ---- Comparing ---- */

static void say_difference(const RdxTask *task, int which, int64_t at, const unsigned char *got,
                           const unsigned char *right, const char *against, char *error, size_t size)
{
    int element = size_of(task, which);
    char words[2][40] = {"", ""};
    for (int i = element - 1; i >= 0; i--) {
        snprintf(words[0] + strlen(words[0]), 4, "%02x", got[i]);
        snprintf(words[1] + strlen(words[1]), 4, "%02x", right[i]);
    }
    snprintf(error, size, "wrong result: element %lld of %s is 0x%s, by %s it is 0x%s", (long long)at,
             which == RDX_CASE_OUT ? "the output" : "the second output", words[0], against, words[1]);
}

/* The outputs as they are now, into `right`. */
static bool keep_outputs(RdxBench *bench)
{
    for (int which = RDX_CASE_OUT; which < bench->task.tensors; which++) {
        int64_t bytes = storage_bytes(&bench->task, which);
        unsigned char *kept = rdx_bench_room(&bench->right[which], bytes, 0);
        if (kept == NULL)
            return false;
        memcpy(kept, storage_of(&bench->task, which), (size_t)bytes);
    }
    return true;
}

static bool same_as_kept(RdxBench *bench, const char *against, char *error, size_t size)
{
    const RdxTask *task = &bench->task;
    for (int which = RDX_CASE_OUT; which < task->tensors; which++) {
        int64_t bytes = storage_bytes(task, which), at = 0;
        const unsigned char *got = storage_of(task, which), *right = rdx_bench_room(&bench->right[which], bytes, 0);
        if (memcmp(got, right, (size_t)bytes) == 0)
            continue;
        while (got[at] == right[at])
            at++;
        at = at / size_of(task, which) * size_of(task, which);
        say_difference(task, which, at / size_of(task, which), got + at, right + at, against, error, size);
        return false;
    }
    return true;
}

static bool run(RdxBench *bench, const RdxPlan *plan, char *error, size_t size)
{
    reset_outputs(&bench->task);
    RdxStatus status = rdx_bench_execute(bench, plan, &bench->task.problem);
    if (status != RDX_OK)
        snprintf(error, size, "rdx_execute: %s: %s", rdx_status_name(status), rdx_last_error());
    else if (!margins_intact(&bench->task))
        snprintf(error, size, "wrong result: bytes beside the output were written");
    else
        return true;
    return false;
}

/* Every output of `plan` against those of bench->plan. */
static bool compare_with(RdxBench *bench, RdxPlan *plan, const char *against, char *error, size_t size)
{
    bool good = false;
    if (plan == NULL)
        snprintf(error, size, "no plan to compare with: %s", rdx_last_error());
    else if (run(bench, plan, error, size)) {
        if (keep_outputs(bench))
            good = run(bench, bench->plan, error, size) && same_as_kept(bench, against, error, size);
        else
            snprintf(error, size, "no memory for a second set of outputs");
    }
    rdx_plan_destroy(plan);
    return good;
}

/* ---- Parts for the reference ---- */

/* The axis of a side (kept or reduced) with the largest extent; -1: none above 1. */
static int longest_axis(const RdxTask *task, bool reduced)
{
    const RdxTensor *in = &task->tensor[RDX_CASE_IN];
    int longest = -1;
    for (int d = 0; d < in->ndim; d++) {
        bool is_reduced = task->c.naxes == RDX_ALL_AXES;
        for (int i = 0; i < task->c.naxes; i++)
            is_reduced = is_reduced || task->c.axes[i] == d || task->c.axes[i] + in->ndim == d;
        if (is_reduced == reduced && in->shape[d] > 1 && (longest < 0 || in->shape[d] > in->shape[longest]))
            longest = d;
    }
    return longest;
}

static int output_axis(const RdxTask *task, int axis)
{
    int kept = axis;
    if (task->c.keep)
        return axis;
    for (int d = 0; d < axis; d++)
        for (int i = 0; i < task->c.naxes; i++)
            kept -= task->c.axes[i] == d || task->c.axes[i] + task->tensor[RDX_CASE_IN].ndim == d;
    return kept;
}

/* A copy of the task whose input and outputs are cut to [from, from + extent) along one axis of the input. */
static void cut(RdxTask *part, const RdxTask *task, int axis, int64_t from, int64_t extent, bool reduced)
{
    RdxStatus status = rdx_case_problem(&task->c, part); /* it points into itself: built, not copied */
    (void)status;                                        /* the same CASE was good a moment ago */
    part->problem.threads = task->problem.threads;
    for (int which = 0; which < task->tensors; which++) {
        RdxTensor *tensor = &part->tensor[which];
        tensor->data = task->tensor[which].data;
        tensor->strides = part->strides[which];
        int d = which == RDX_CASE_IN ? axis : reduced ? -1 : output_axis(task, axis);
        if (d >= 0) {
            tensor->shape[d] = extent;
            tensor->data = (unsigned char *)tensor->data + from * part->strides[which][d] * size_of(task, which);
        }
    }
}

/* Compares the elements of one output tensor of the part with those at the same places of `right`. */
static bool same_elements(const RdxTask *task, const RdxTask *part, int which, const unsigned char *right, char *error,
                          size_t size)
{
    const RdxTensor *tensor = &part->tensor[which];
    int64_t at[RDX_MAX_RANK] = {0}, position = 0, element = size_of(part, which);
    const unsigned char *got = tensor->data;
    for (;;) {
        const unsigned char *value = got + position * element;
        if (memcmp(value, right + position * element, (size_t)element) != 0) {
            say_difference(part, which, (value - storage_of(task, which)) / element, value, right + position * element,
                           "the reference", error, size);
            return false;
        }
        int d = tensor->ndim - 1;
        for (; d >= 0; d--) {
            position += tensor->strides[d];
            if (++at[d] < tensor->shape[d])
                break;
            position -= tensor->strides[d] * tensor->shape[d];
            at[d] = 0;
        }
        if (d < 0)
            return true;
    }
}

/* The outputs lie there, made by bench->plan; the reference computes some of them once more, in the room of `right`. */
static bool verify_window(RdxBench *bench, RdxTask *part, int axis, int64_t from, int64_t extent, char *error,
                          size_t size)
{
    const RdxTask *task = &bench->task;
    cut(part, task, axis, from, extent, false);
    unsigned char *right[RDX_CASE_TENSORS], *got[RDX_CASE_TENSORS];
    reset_outputs(&bench->task);
    for (int which = RDX_CASE_OUT; which < task->tensors; which++) {
        int64_t bytes = storage_bytes(task, which);
        unsigned char *kept = rdx_bench_room(&bench->right[which], bytes, 0);
        if (kept == NULL)
            return false;
        memcpy(kept, storage_of(task, which), (size_t)bytes); /* what beta reads */
        got[which] = part->tensor[which].data;
        right[which] = kept + (got[which] - storage_of(task, which));
        part->tensor[which].data = right[which];
    }
    RdxPlan *reference = plan_otherwise(&part->problem, RDX_CHOOSE_REFERENCE, 0);
    RdxStatus status = reference ? rdx_bench_execute(bench, reference, &part->problem) : RDX_ERR_INTERNAL;
    rdx_plan_destroy(reference);
    if (status != RDX_OK || !run(bench, bench->plan, error, size)) {
        if (status != RDX_OK)
            snprintf(error, size, "the reference: %s: %s", rdx_status_name(status), rdx_last_error());
        return false;
    }
    bool good = true;
    for (int which = RDX_CASE_OUT; which < task->tensors && good; which++) {
        part->tensor[which].data = got[which];
        good = same_elements(task, part, which, right[which], error, size);
    }
    return good;
}

/* Fewer reduced elements, the same strategy. The full result is somebody else's to judge. */
static bool verify_prefix(RdxBench *bench, RdxTask *part, int axis, int64_t extent, char *error, size_t size)
{
    cut(part, &bench->task, axis, 0, extent, true);
    RdxPlan *whole = bench->plan, *reference = plan_otherwise(&part->problem, RDX_CHOOSE_REFERENCE, 0);
    RdxPlan *same = plan_otherwise(&part->problem, SAME, whole->config.strategy);
    bool good = reference && same;
    if (good && bench->options.plant)
        same->kernel.launch = bench->options.plant;
    if (good) {
        good = run(bench, reference, error, size) && keep_outputs(bench);
        good = good && run(bench, same, error, size) && same_as_kept(bench, "the reference", error, size);
    } else {
        snprintf(error, size, "no plan for a part of the input: %s", rdx_last_error());
    }
    rdx_plan_destroy(reference);
    rdx_plan_destroy(same);
    return good;
}

bool rdx_bench_verify(RdxBench *bench, RdxBenchRecord *record, char *error, size_t size)
{
    const RdxTask *task = &bench->task;
    int64_t elements = task->extent[RDX_CASE_IN].elements;
    int64_t full = bench->options.full_elements ? bench->options.full_elements : (int64_t)1 << 26;
    record->against[0] = '\0';
    if (elements <= full) {
        record->proof = RDX_BENCH_BY_REFERENCE;
        RdxPlan *reference = plan_otherwise(&task->problem, RDX_CHOOSE_REFERENCE, 0);
        record->verified = compare_with(bench, reference, "the reference", error, size);
        return record->verified;
    }
    RdxTask *part = malloc(sizeof *part);
    if (part == NULL) {
        snprintf(error, size, "out of memory");
        return false;
    }
    int kept = longest_axis(task, false), reduced = longest_axis(task, true);
    int64_t extent = kept >= 0 ? task->shape[RDX_CASE_IN][kept] : 1, each = elements / extent;
    bool good = true;
    if (kept >= 0 && each <= full / WINDOWS) {
        int64_t window = full / WINDOWS / each;
        record->proof = RDX_BENCH_BY_SAMPLE;
        for (int i = 0; i < WINDOWS && good; i++)
            good = verify_window(bench, part, kept, (extent - window) * i / (WINDOWS - 1), window, error, size);
    } else {
        int64_t longest = reduced >= 0 ? task->shape[RDX_CASE_IN][reduced] : 1, rest = elements / longest;
        record->proof = RDX_BENCH_BY_PREFIX;
        good = reduced >= 0 && verify_prefix(bench, part, reduced, rest < full ? full / rest : 1, error, size);
    }
    free(part);
    if (good) {
        RdxPlan *alternative = plan_alternative(bench, record->against, sizeof record->against);
        good = compare_with(bench, alternative, record->against, error, size);
    }
    record->verified = good;
    return good;
}
