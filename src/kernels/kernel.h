/* The seam between planning and kernels. A plan binds one launcher; executing a plan is checking pointers and calling
   it. The CPU's launchers are in kernels/cpu; those of CUDA come from the plugin through the same two functions. */
#ifndef RDX_KERNELS_KERNEL_H
#define RDX_KERNELS_KERNEL_H

#include "../plan/config.h"

/* One execution: everything a launcher may read. Pointers are data + byte_offset of the tensors. */
typedef struct RdxLaunch {
    const RdxSpace *space;
    const RdxRecipe *recipe;
    const RdxConfig *config;
    const void *code; /* RdxKernel.code */
    const unsigned char *in;
    unsigned char *out, *out2;
    unsigned char *workspace; /* aligned to 64 (CUDA: 256) */
    RdxStream stream;
    const char *text;   /* the plan's CASE, for profilers */
    double alpha, beta; /* out = alpha * result + beta * out, cast to the accumulator; 1 and 0: out = result */
} RdxLaunch;

typedef RdxStatus (*RdxLauncher)(const RdxLaunch *launch);

typedef struct RdxKernel {
    RdxLauncher launch;
    uint64_t code[32]; /* the device's own: addresses that stay valid while its module is loaded, sizes */
} RdxKernel;

/* Finds the code for a recipe and a configuration. strategy RDX_CHOOSE_REFERENCE binds the plain reading of the tree,
   on one thread. RDX_ERR_INTERNAL if the tables have a hole; RDX_ERR_DEVICE if RDX_ISA names a level that is not
   there. */
RdxStatus rdx_cpu_bind(RdxKernel *kernel, const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config);

#endif
