/* What several suites need: a task from a CASE in one call, and a plan run on it. Failures end the test and name the
   CASE. */
#ifndef RDX_TESTS_TASK_H
#define RDX_TESTS_TASK_H

#include "../tools/case.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* ck_assert for hot loops: Check writes to a pipe for every assertion that it passes, about a microsecond each. */
#define DEMAND(condition, ...)                                                                                         \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            ck_abort_msg(__VA_ARGS__);                                                                                 \
    } while (0)

/* Parses, infers and allocates. The task is large and points into itself: make it static or on the heap. */
static inline void task_open(RdxTask *task, const char *text)
{
    static RdxCase c;
    char error[512];
    ck_assert_msg(rdx_case_parse(&c, text, error, sizeof error), "%s", error);
    ck_assert_msg(rdx_case_problem(&c, task) == RDX_OK, "%s: %s", text, rdx_last_error());
    ck_assert_msg(rdx_case_allocate(task, RDX_CASE_PLAIN, error, sizeof error), "%s: %s", text, error);
}

static inline RdxPlan *task_plan(const RdxTask *task)
{
    RdxPlan *plan = NULL;
    RdxStatus status = rdx_plan_create(&plan, &task->problem);
    ck_assert_msg(status == RDX_OK, "plan of op %d: %s: %s", task->c.op, rdx_status_name(status), rdx_last_error());
    return plan;
}

static inline RdxStatus task_execute(const RdxTask *task, const RdxPlan *plan)
{
    const RdxProblem *p = &task->problem;
    size_t bytes = rdx_plan_workspace(plan);
    void *workspace = aligned_alloc(256, (bytes + 256) / 256 * 256);
    ck_assert_ptr_nonnull(workspace);
    RdxStatus status =
        rdx_execute(plan, p->in->data, p->out->data, p->out2 ? p->out2->data : NULL, workspace, bytes, NULL);
    free(workspace);
    return status;
}

static inline size_t task_output_bytes(const RdxTask *task, int which)
{
    return (size_t)(task->buffer[which].storage_end - task->buffer[which].storage);
}

#endif
