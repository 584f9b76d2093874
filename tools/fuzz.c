/* The fuzzer's engine; see fuzz.h. One CASE is allocated once and run many times: the reference first (its answer is
   judged by the oracle and kept), then every strategy that the planner offers, forced through the choice hook, and
   rdx_reduce with the planner's own choice. After each run canaries, holes and the input must be as they were and the
   bytes those of the reference. A crash in any thread prints the line that replays it before the process dies. */
#include "fuzz.h"

#include "fuzz_device.h"

#include "../src/kernels/cpu/isa.h"
#include "../src/plan/cpu.h"
#include "../tests/oracle.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { WORKSPACE_MARGIN = 256, WORKSPACE_CANARY = 0xc3, THREAD_BYTES = 512, MIRRORED_BYTES = 64 << 20 };

/* What the hook is to choose, and what it saw. */
typedef struct Wish {
    int index; /* a candidate, RDX_CHOOSE_REFERENCE, or KEEP */
    int count, chosen;
    bool applicable[RDX_STRATEGY_COUNT];
    int strategy[RDX_STRATEGY_COUNT];
} Wish;

enum { KEEP = -2 };

typedef struct Trial {
    const RdxFuzzOptions *options;
    RdxFuzzCounts *counts;
    RdxFuzzFailure *failure;
    RdxTask task;
    unsigned char *right[RDX_CASE_TENSORS]; /* the reference's outputs */
    Wish wish;
    const char *isa;
    int threads;
    bool absent; /* no such kernel in this build of the plugin */
} Trial;

static char current_line[RDX_CASE_TEXT];

static void on_crash(int number)
{
    static const char head[] = "\nfuzz: crashed (signal) in\n  ", tail[] = "\n";
    ssize_t ignored = write(2, head, sizeof head - 1);
    ignored = write(2, current_line, strlen(current_line));
    ignored = write(2, tail, 1);
    (void)ignored;
    signal(number, SIG_DFL);
    raise(number);
}

static void catch_crashes(bool on)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        signal(signals[i], on ? on_crash : SIG_DFL);
}

static int choose(void *user, const RdxCandidate *candidates, int count, int chosen)
{
    Wish *wish = user;
    wish->count = count;
    wish->chosen = chosen;
    for (int i = 0; i < count; i++) {
        wish->applicable[i] = candidates[i].refused == NULL;
        wish->strategy[i] = candidates[i].config.strategy;
    }
    return wish->index == KEEP ? chosen : wish->index;
}

static bool fail(Trial *trial, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(Trial *trial, const char *format, ...)
{
    char *what = trial->failure->what;
    size_t size = sizeof trial->failure->what;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(what, size, format, arguments);
    va_end(arguments);
    if (length >= 0 && (size_t)length < size) /* %.0d of 0 is nothing */
        snprintf(what + length, size - (size_t)length, " (%s, %.0d%s thread%s, %s)",
                 trial->wish.index == RDX_CHOOSE_REFERENCE ? "reference"
                 : trial->wish.index == KEEP               ? "the planner's choice"
                                             : rdx_strategies[trial->wish.strategy[trial->wish.index]].name,
                 trial->threads, trial->threads == 0 ? "all" : "", trial->threads == 1 ? "" : "s",
                 trial->isa ? trial->isa : "best isa");
    return false;
}

/* Executes with a workspace of exactly the bytes asked for, canaries on both sides. */
static bool execute(Trial *trial, const RdxPlan *plan)
{
    RdxTask *task = &trial->task;
    size_t bytes = rdx_plan_workspace(plan), all = bytes + 2 * WORKSPACE_MARGIN;
    unsigned char *room = NULL;
    if (posix_memalign((void **)&room, 256, all) != 0)
        return fail(trial, "no memory for a workspace of %zu bytes", bytes);
    memset(room, WORKSPACE_CANARY, all);
    const RdxProblem *p = &task->problem;
    RdxStatus status = rdx_execute(plan, p->in->data, p->out->data, p->out2 ? p->out2->data : NULL,
                                   room + WORKSPACE_MARGIN, bytes, NULL);
    bool intact = true;
    for (size_t i = 0; i < WORKSPACE_MARGIN; i++)
        intact = intact && room[i] == WORKSPACE_CANARY && room[all - 1 - i] == WORKSPACE_CANARY;
    free(room);
    if (status != RDX_OK)
        return fail(trial, "rdx_execute: %s: %s", rdx_status_name(status), rdx_last_error());
    if (!intact)
        return fail(trial, "bytes beside the workspace were written");
    return true;
}

static bool same_bytes(Trial *trial)
{
    RdxTask *task = &trial->task;
    char sentence[256];
    if (!rdx_case_intact(task, sentence, sizeof sentence))
        return fail(trial, "%s", sentence);
    for (int which = RDX_CASE_OUT; which < task->tensors; which++) {
        const unsigned char *got = task->buffer[which].storage, *right = trial->right[which];
        int64_t bytes = task->buffer[which].storage_end - got, at = 0;
        if (memcmp(got, right, (size_t)bytes) == 0)
            continue;
        while (got[at] == right[at])
            at++;
        int dtype = rdx_data_number(task->tensor[which].dtype), size = rdx_data_type(dtype)->size;
        at -= at % size;
        return fail(trial, "output %d differs at storage element %lld: %.17g, the reference has %.17g", which - 1,
                    (long long)(at / size), rdx_data_load(dtype, got + at), rdx_data_load(dtype, right + at));
    }
    return true;
}

static void count_run(Trial *trial)
{
    if (trial->counts)
        trial->counts->runs++;
}

/* The end of a run: keeps what the plan says of itself if it was not right. */
static bool put_away(Trial *trial, RdxPlan *plan, bool right)
{
    if (!right && rdx_plan_explain(plan, RDX_TEXT, trial->failure->plan, sizeof trial->failure->plan, NULL) != RDX_OK)
        snprintf(trial->failure->plan, sizeof trial->failure->plan, "(%s)", rdx_last_error());
    rdx_plan_destroy(plan);
    count_run(trial);
    return right;
}

/* One plan, made as the wish says, and one execution of it. */
static bool run_plan(Trial *trial, int index, int threads)
{
    RdxTask *task = &trial->task;
    trial->wish.index = index;
    trial->threads = task->problem.threads = threads;
    rdx_case_reset(task);
    RdxPlan *plan = NULL;
    int64_t usual = rdx_cpu_thread_bytes, usual_blocks = rdx_cpu_thread_blocks, usual_stream = rdx_cpu_stream_bytes;
    rdx_cpu_thread_bytes = THREAD_BYTES;                     /* else nothing this small would ever be split */
    rdx_cpu_thread_blocks = threads == 1 ? 1 : usual_blocks; /* nor would outputs share a block */
    /* Nor come from memory: on one thread it does, at the best level of a machine that keeps ahead, at the others of
       one that does not. */
    rdx_cpu_stream_bytes = threads == 1 ? THREAD_BYTES : usual_stream;
    rdx_cpu_kept_ahead = trial->isa == NULL;
    rdx_choose_hook(choose, &trial->wish);
    RdxStatus status = rdx_plan_create(&plan, &task->problem);
    rdx_choose_hook(NULL, NULL);
    rdx_cpu_kept_ahead = -1;
    rdx_cpu_stream_bytes = usual_stream;
    rdx_cpu_thread_bytes = usual;
    rdx_cpu_thread_blocks = usual_blocks;
    if (status != RDX_OK)
        return fail(trial, "rdx_plan_create: %s: %s", rdx_status_name(status), rdx_last_error());
    bool right = execute(trial, plan);
    if (right && trial->options->plant && index != RDX_CHOOSE_REFERENCE)
        trial->options->plant(task, trial->wish.strategy[index]);
    if (right && index != RDX_CHOOSE_REFERENCE)
        right = same_bytes(trial);
    return put_away(trial, plan, right);
}

static bool run_reference(Trial *trial)
{
    RdxTask *task = &trial->task;
    char sentence[256];
    if (!run_plan(trial, RDX_CHOOSE_REFERENCE, 1))
        return false;
    if (!rdx_case_intact(task, sentence, sizeof sentence))
        return fail(trial, "%s", sentence);
    for (int which = RDX_CASE_OUT; which < task->tensors; which++) {
        size_t bytes = (size_t)(task->buffer[which].storage_end - task->buffer[which].storage);
        trial->right[which] = malloc(bytes ? bytes : 1);
        if (trial->right[which] == NULL)
            return fail(trial, "no memory for %zu bytes", bytes);
        memcpy(trial->right[which], task->buffer[which].storage, bytes);
    }
    OracleReport report;
    memset(&report, 0, sizeof report);
    bool right = oracle_check_task(task, &report);
    if (trial->counts) {
        trial->counts->values += report.values;
        trial->counts->loose += report.loose;
        for (int op = 0; op < RDX_FUZZ_OPS; op++)
            trial->counts->ratio[op] = fmax(trial->counts->ratio[op], report.ratio[op]);
    }
    return right || fail(trial, "oracle: %s", report.sentence);
}

/* By rdx_reduce, which makes or finds the plan itself; of a device through its mirror. */
static bool run_cached(Trial *trial, RdxMirror *mirror)
{
    trial->wish.index = KEEP;
    trial->threads = trial->task.problem.threads = 0;
    rdx_case_reset(&trial->task);
    RdxStatus status = mirror ? rdx_mirror_reduce(mirror, &trial->task) : rdx_reduce(&trial->task.problem, NULL);
    count_run(trial);
    if (status != RDX_OK)
        return fail(trial, "rdx_reduce: %s: %s", rdx_status_name(status), rdx_last_error());
    return same_bytes(trial);
}

/* Every candidate with the best instruction set, with one and two threads, and again with each other one. */
static bool run_candidates(Trial *trial)
{
    const char *isas[4];
    int levels = rdx_cpu_isa_names(isas);
    for (int i = 0; i < trial->wish.count; i++)
        if (trial->wish.applicable[i])
            for (int threads = 1; threads <= 1 + trial->options->threads; threads++)
                if (!run_plan(trial, i, threads))
                    return false;
    bool right = true;
    for (int level = 0; level < levels - 1 && right; level++) {
        trial->isa = isas[level];
        right = rdx_cpu_set_isa(trial->isa) == RDX_OK || fail(trial, "no level: %s", rdx_last_error());
        for (int i = 0; i < trial->wish.count && right; i++)
            if (trial->wish.applicable[i])
                right = run_plan(trial, i, 1);
    }
    if (rdx_cpu_set_isa(NULL) != RDX_OK)
        right = false;
    if (right)
        trial->isa = NULL;
    return right;
}

/* One plan of the device, chosen as the wish says. */
static bool run_on_device(Trial *trial, RdxMirror *mirror, int index)
{
    char sentence[512];
    RdxPlan *plan = NULL;
    trial->wish.index = index;
    rdx_case_reset(&trial->task);
    rdx_choose_hook(choose, &trial->wish);
    RdxStatus status = rdx_plan_create(&plan, &mirror->problem);
    rdx_choose_hook(NULL, NULL);
    if (status == RDX_ERR_UNSUPPORTED && rdx_mirror_lacks_kernels()) {
        trial->absent = true;
        return true;
    }
    if (status != RDX_OK)
        return fail(trial, "rdx_plan_create: %s: %s", rdx_status_name(status), rdx_last_error());
    status = rdx_mirror_execute(mirror, &trial->task, plan, sentence, sizeof sentence);
    bool right = status == RDX_OK ? same_bytes(trial) : fail(trial, "%s: %s", rdx_status_name(status), sentence);
    return put_away(trial, plan, right);
}

/* The planner's choice, every other strategy of the device that applies, and rdx_reduce. */
static bool run_device(Trial *trial)
{
    RdxMirror mirror;
    if (rdx_mirror_bytes(&trial->task) > MIRRORED_BYTES) {
        if (trial->counts)
            trial->counts->too_large++;
        return true;
    }
    trial->isa = "CUDA";
    RdxStatus status = rdx_mirror_open(&mirror, &trial->task, trial->options->device);
    if (status != RDX_OK)
        return fail(trial, "%s: %s", rdx_status_name(status), rdx_last_error());
    bool right = run_on_device(trial, &mirror, KEEP);
    for (int i = 0; i < trial->wish.count && right && !trial->absent; i++)
        if (trial->wish.applicable[i] && i != trial->wish.chosen)
            right = run_on_device(trial, &mirror, i);
    if (right && !trial->absent)
        right = run_cached(trial, &mirror);
    rdx_mirror_close(&mirror);
    return right;
}

static void count_layout(const RdxCase *c, int64_t *layout)
{
    int64_t step = 1, last = INT64_MAX;
    bool permuted = false, stepped = false;
    layout[RDX_FUZZ_SCALAR] += c->rank == 0;
    layout[RDX_FUZZ_DEEP] += c->rank > 8;
    layout[RDX_FUZZ_OFFSET] += c->offset > 0;
    layout[RDX_FUZZ_NO_AXES] += c->naxes == 0;
    layout[RDX_FUZZ_KEEPDIMS] += c->keep;
    layout[RDX_FUZZ_OUTPUT_STRIDES] += c->ostrided;
    layout[RDX_FUZZ_SCALED] += c->alpha != 1 || c->beta != 0;
    layout[RDX_FUZZ_ROW_MAJOR] += !c->strided;
    bool flipped = false, repeated = false, empty = false;
    for (int d = c->rank - 1; d >= 0; d--) {
        empty = empty || c->shape[d] == 0;
        if (c->strided && c->shape[d] > 1) {
            flipped = flipped || c->strides[d] < 0;
            repeated = repeated || c->strides[d] == 0;
            stepped = stepped || llabs(c->strides[d]) > step;
            step *= c->shape[d];
        }
    }
    for (int d = 0; d < c->rank && c->strided; d++)
        if (c->shape[d] > 1 && c->strides[d] != 0) {
            permuted = permuted || llabs(c->strides[d]) > last;
            last = llabs(c->strides[d]);
        }
    layout[RDX_FUZZ_FLIPPED] += flipped;
    layout[RDX_FUZZ_REPEATED] += repeated;
    layout[RDX_FUZZ_STEPPED] += stepped;
    layout[RDX_FUZZ_PERMUTED] += permuted;
    layout[RDX_FUZZ_EMPTY] += empty;
}

static int type_position(int dtype)
{
    return (int)(rdx_data_type(dtype) - rdx_data_types);
}

static void count_case(Trial *trial)
{
    RdxFuzzCounts *counts = trial->counts;
    const RdxCase *c = &trial->task.c;
    if (counts == NULL)
        return;
    if (trial->absent) {
        counts->absent++;
        counts->lacking[c->op][type_position(c->dtype)]++;
        return;
    }
    counts->cell[c->op][type_position(c->dtype)]++;
    counts->out[c->op][type_position(rdx_data_number(trial->task.tensor[RDX_CASE_OUT].dtype))]++;
    counts->second[c->op] += c->second;
    counts->omit[c->op] += c->nan == RDX_NAN_OMIT;
    counts->data[c->data]++;
    count_layout(c, counts->layout);
    for (int i = 0; i < trial->wish.count; i++)
        counts->applicable[trial->wish.strategy[i]] += trial->wish.applicable[i];
    if (trial->wish.chosen >= 0 && trial->wish.chosen < trial->wish.count)
        counts->chosen[trial->wish.strategy[trial->wish.chosen]]++;
}

/* A CASE that the library owes an error: the status must be that one, and nothing may have been written. */
static bool run_refused(Trial *trial, RdxStatus expected)
{
    RdxPlan *plan = NULL;
    RdxStatus status = rdx_plan_create(&plan, &trial->task.problem);
    if (trial->counts)
        trial->counts->refused++;
    trial->wish.index = KEEP;
    if (status != expected) {
        rdx_plan_destroy(plan);
        return fail(trial, "rdx_plan_create gives %s where %s is due", rdx_status_name(status),
                    rdx_status_name(expected));
    }
    return (plan == NULL && rdx_last_error()[0] != '\0') ||
           fail(trial, "refused, but with a plan or without a sentence");
}

bool rdx_fuzz_try(const RdxCase *c, const RdxFuzzOptions *options, RdxFuzzCounts *counts, RdxFuzzFailure *failure)
{
    Trial *trial = calloc(1, sizeof *trial);
    char sentence[256];
    if (trial == NULL)
        return false;
    trial->options = options;
    trial->counts = counts;
    trial->failure = failure;
    trial->wish.index = KEEP;
    failure->what[0] = failure->plan[0] = '\0';
    rdx_case_print(c, current_line, sizeof current_line);
    if (counts)
        counts->cases++;
    RdxStatus expected = rdx_fuzz_expected(c), status = rdx_case_problem(c, &trial->task);
    bool right = false;
    if (status != RDX_OK)
        fail(trial, "rdx_infer_outputs: %s: %s", rdx_status_name(status), rdx_last_error());
    else if (!rdx_case_allocate(&trial->task, (int)(c->seed % 3), sentence, sizeof sentence))
        fail(trial, "%s", sentence);
    else if (expected != RDX_OK)
        right = run_refused(trial, expected);
    else
        right = run_reference(trial) &&
                (options->cuda ? run_device(trial) : run_candidates(trial) && run_cached(trial, NULL));
    if (right && expected == RDX_OK)
        count_case(trial);
    for (int which = 0; which < RDX_CASE_TENSORS; which++)
        free(trial->right[which]);
    rdx_case_release(&trial->task);
    free(trial);
    return right;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

bool rdx_fuzz_run(const RdxFuzzOptions *options, RdxFuzzCounts *counts, RdxFuzzFailure *failure)
{
    double start = now(), told = start;
    bool right = true;
    catch_crashes(true);
    for (int64_t i = 0; right && (options->cases == 0 || i < options->cases); i++) {
        RdxCase c;
        double time = now();
        if ((options->seconds > 0 && time - start > options->seconds) || (options->stop && *options->stop))
            break;
        if (options->progress && time - told > 1) {
            fprintf(options->progress, "\rfuzz: %lld cases, %lld runs, %.0f s", (long long)i, (long long)counts->runs,
                    time - start);
            fflush(options->progress);
            told = time;
        }
        rdx_fuzz_make(&c, options->seed, i);
        right = rdx_fuzz_try(&c, options, counts, failure);
        if (!right) {
            rdx_case_print(&c, failure->first, sizeof failure->first);
            if (options->shrink)
                rdx_fuzz_shrink(&c, options, failure);
            rdx_case_print(&c, failure->line, sizeof failure->line);
        }
    }
    if (options->progress && told > start)
        fprintf(options->progress, "\n");
    catch_crashes(false);
    return right;
}
