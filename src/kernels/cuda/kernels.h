/* The kernels as tables: one for each of cuda_kernels.def, and for finish, in each family (kernels.def); stamped by
   stamp.inc, searched when a plan is bound. */
#ifndef RDX_KERNELS_CUDA_KERNELS_H
#define RDX_KERNELS_CUDA_KERNELS_H

#include "problem.h"

typedef struct RdxCudaKernel {
    uint8_t algebra, work, unit, size; /* size: bytes of an input element */
    uint8_t elements;                  /* of a vector */
    uint8_t words;                     /* of a node; 0 ends a table */
    const void *code;                  /* NULL: no plan comes here */
} RdxCudaKernel;

/* X(kernel, family) */
#if defined(RDX_CUDA_SAMPLE_TABLES)
#define RDX_CUDA_SMALL_TABLES
#define RDX_CUDA_FAMILIES(X, kernel) X(kernel, SAMPLE)
#elif defined(RDX_CUDA_PLANTED_TABLES)
#define RDX_CUDA_SMALL_TABLES
#define RDX_CUDA_FAMILIES(X, kernel) X(kernel, PLANTED)
#elif defined(RDX_CUDA_SMALL_TABLES)
#define RDX_CUDA_FAMILIES(X, kernel) X(kernel, SMALL)
#else
#define RDX_CUDA_FAMILIES(X, kernel)                                                                                   \
    X(kernel, F32) X(kernel, EXP) X(kernel, F64) X(kernel, EXP64) X(kernel, C128) X(kernel, I32) X(kernel, I64)
#endif

#ifdef __cplusplus
extern "C" {
#endif
#define RDX_TABLE(kernel, family) extern const RdxCudaKernel rdx_cuda_##kernel##_##family[];
#define X(NAME, name) RDX_CUDA_FAMILIES(RDX_TABLE, name)
#include "../../plan/cuda_kernels.def"
RDX_CUDA_FAMILIES(RDX_TABLE, finish)
#undef X
#undef RDX_TABLE
#ifdef __cplusplus
}
#endif

#endif
