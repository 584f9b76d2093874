/* Chunks that several work items share (config.residues): any number of threads gives the reference's bits, whatever
   the last chunk has left for its residues. */
#include "plan/config.h"
#include "plan/cpu.h"
#include "task.h"

#include <check.h>
#include <stdio.h>

static int take_reference(void *user, const RdxCandidate *candidates, int count, int chosen)
{
    (void)user, (void)candidates, (void)count, (void)chosen;
    return RDX_CHOOSE_REFERENCE;
}

/* user: where the residues of the plan go. */
static int take_columns(void *user, const RdxCandidate *candidates, int count, int chosen)
{
    (void)chosen;
    for (int i = 0; i < count; i++)
        if (!candidates[i].refused && candidates[i].config.strategy == RDX_STRATEGY_CPU_COLUMNS) {
            *(int *)user = candidates[i].config.residues;
            return i;
        }
    ck_abort_msg("columns do not apply");
}

/* The second output follows the first. */
static unsigned char *outputs_of(const RdxTask *task, const RdxPlan *plan, size_t *bytes)
{
    const size_t first = task_output_bytes(task, 1), second = task->problem.out2 ? task_output_bytes(task, 2) : 0;
    unsigned char *got = malloc(first + second);
    ck_assert_ptr_nonnull(got);
    memset(task->buffer[1].storage, 0xa5, first);
    ck_assert_int_eq(task_execute(task, plan), RDX_OK);
    memcpy(got, task->buffer[1].storage, first);
    if (second > 0)
        memcpy(got + first, task->buffer[2].storage, second);
    *bytes = first + second;
    return got;
}

/* Columns, with at least so many residues. */
static void check_shared(const char *text, int threads, int least)
{
    static RdxTask task;
    int residues = 0;
    size_t bytes;
    task_open(&task, text);
    rdx_choose_hook(take_reference, NULL);
    RdxPlan *plan = task_plan(&task);
    unsigned char *right = outputs_of(&task, plan, &bytes);
    rdx_plan_destroy(plan);
    task.problem.threads = threads;
    rdx_choose_hook(take_columns, &residues);
    plan = task_plan(&task);
    rdx_choose_hook(NULL, NULL);
    ck_assert_msg(residues >= least, "%s, %d threads: %d residues, not %d", text, threads, residues, least);
    for (int run = 0; run < 3; run++) {
        unsigned char *got = outputs_of(&task, plan, &bytes);
        for (size_t i = 0; i < bytes; i++)
            DEMAND(got[i] == right[i], "%s, %d threads: byte %zu of the outputs is %02x, right is %02x", text, threads,
                   i, got[i], right[i]);
        free(got);
    }
    rdx_plan_destroy(plan);
    free(right);
    rdx_case_release(&task);
}

START_TEST(shared_chunks)
{
    const int64_t usual = rdx_cpu_thread_bytes;
    rdx_cpu_thread_bytes = 512; /* else nothing this small would ever be shared */
    /* one chunk: of 128 lanes and more, of fewer */
    check_shared("sum:f32:2047x300/0", 2, 4);
    check_shared("sum:f32:100x1000/0", 2, 4);
    check_shared("var:bf16:1000x1300/0:data=near:out2=1", 2, 4);
    check_shared("logsumexp:f32:1500x300/0", 4, 8);
    check_shared("sum:c64:700x300/0", 3, 4);
    check_shared("prod:c64:700x300@600x1/0:data=near", 3, 4);
    check_shared("sum:f32:600x300@-300x1+179700/0", 4, 8);
    check_shared("mean:f32:900x300@400x1/0:alpha=0.5:beta=2", 4, 8);
    /* what lines of all columns would serve, were there not more threads than lines */
    check_shared("prod:f32:2000x128/0:data=near", 4, 8);
    check_shared("logsumexp:f64:900x77/0", 4, 8);
    check_shared("sum:f32:2x1000x100/1:nan=omit:data=holes", 8, 8);
    /* whole chunks and a last one of one element, of two, of three, of as many as there are residues, of one more */
    for (int rest = 1; rest <= 9; rest += rest < 3 ? 1 : rest == 3 ? 5 : 1) {
        char text[80];
        snprintf(text, sizeof text, "sum:f32:%dx300/0", 2048 + rest);
        check_shared(text, 8, 8);
        snprintf(text, sizeof text, "var:f32:%dx300/0:out2=1", 2048 + rest);
        check_shared(text, 8, 8);
        snprintf(text, sizeof text, "argmax:f32:%dx300/0:data=ties", 2048 + rest);
        check_shared(text, 8, 8);
    }
    /* rows in any order: of narrow lanes, with an index that rises and one that falls, with a second output */
    check_shared("max:f32:2049x300/0:data=special", 8, 8);
    check_shared("max:f32:2049x300/0:data=ties:out2=1", 8, 8);
    check_shared("sum:i8:8193x260/0", 4, 4);
    check_shared("count_nonzero:f32:2050x300/0:data=special", 8, 8);
    check_shared("argmin:i32:2051x300@-300x1+615000/0:data=ties", 8, 8);
    check_shared("minmax:f16:600x700@1401x1/0:data=ties", 4, 8);
    /* columns that lie apart */
    check_shared("sum:f32:1000x300@600x2/0", 4, 8);
    check_shared("sum:i16:5000x300@900x3/0", 4, 4);
    check_shared("argmax:i32:1000x300@600x-2+598/0:data=ties", 4, 8);
    /* rows that overlap, as far apart as the last block of columns is wide: not shared, nor wide */
    check_shared("sum:f32:256x4097@1985x1/0", 1, 1);
    check_shared("sum:f32:256x4097@1985x1/0", 2, 1);
    /* several strips; an outer dim */
    check_shared("sum:f32:2048x2100/0", 16, 4);
    check_shared("sum:f32:3x700x400/1", 16, 8);
    rdx_cpu_thread_bytes = usual;
}
END_TEST

Suite *test_columns_suite(void);

Suite *test_columns_suite(void)
{
    Suite *suite = suite_create("columns");
    TCase *tests = tcase_create("columns");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, shared_chunks);
    suite_add_tcase(suite, tests);
    return suite;
}
