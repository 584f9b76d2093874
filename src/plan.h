/* The plan: what rdx_plan_create decides and rdx_execute obeys. Immutable once made; reference-counted because the
   cache and its users share plans. */
#ifndef RDX_PLAN_H
#define RDX_PLAN_H

#include "kernels/kernel.h"

#include <stdatomic.h>

struct RdxPlan {
    atomic_int references;
    RdxSpace space;
    RdxRecipe recipe;
    RdxConfig config;
    RdxKernel kernel;
    RdxDeviceInfo device;
    RdxDevice where;
    int64_t in_align;                           /* bytes that data + byte_offset + space.in_offset keeps */
    int64_t in_offset, out_offset, out2_offset; /* byte_offset of the tensors */
    double alpha, beta;
    char text[160]; /* the plan's CASE without alpha and beta, for logs */
};

/* rdx_execute with alpha and beta of the call; rdx_reduce comes here from the cache. */
RdxStatus rdx_plan_launch(const RdxPlan *plan, const void *in, void *out, void *out2, void *workspace,
                          size_t workspace_bytes, RdxStream stream, double alpha, double beta);

void rdx_plan_release(RdxPlan *plan);

/* Copies a caller's problem, compiled with this header or a later one whose further members are 0; RDX_ERR_STRUCT_SIZE,
   RDX_ERR_NULL. */
RdxStatus rdx_problem_read(RdxProblem *problem, const RdxProblem *callers);

static inline bool rdx_on_cuda(RdxDevice device)
{
    return device.type == RDX_CUDA || device.type == RDX_CUDA_MANAGED;
}

/* The half of planning that asks no device: the collapsed space and the recipe of a problem that was read. The statuses
   of rdx_space_build and rdx_recipe_resolve, and RDX_ERR_EMPTY. */
RdxStatus rdx_plan_situate(RdxSpace *space, RdxRecipe *recipe, const RdxProblem *problem, RdxType in, RdxType out,
                           RdxType out2);

int rdx_threads_wanted(void); /* the rdx_set_threads value; 0: none */
int rdx_threads(void);        /* that, or the processors of this process, which takes a system call */

#endif
