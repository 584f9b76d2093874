/* The kernels as tables: one for each strategy and family (kernels.def), stamped by stamp.inc, searched by bind. */
#ifndef RDX_KERNELS_CUDA_KERNELS_H
#define RDX_KERNELS_CUDA_KERNELS_H

#include "problem.h"

typedef struct RdxCudaKernel {
    uint8_t algebra, work, unit, size; /* size: bytes of an input element */
    uint8_t elements;                  /* of a vector; 0: nothing is meant to come here */
    uint8_t words;                     /* of a node */
    const void *code;                  /* NULL ends a table */
} RdxCudaKernel;

/* X(family) */
#if defined(RDX_CUDA_SAMPLE_TABLES)
#define RDX_CUDA_SMALL_TABLES
#define RDX_CUDA_FAMILIES(X) X(SAMPLE)
#elif defined(RDX_CUDA_PLANTED_TABLES)
#define RDX_CUDA_SMALL_TABLES
#define RDX_CUDA_FAMILIES(X) X(PLANTED)
#elif defined(RDX_CUDA_SMALL_TABLES)
#define RDX_CUDA_FAMILIES(X) X(SMALL)
#else
#define RDX_CUDA_FAMILIES(X) X(F32) X(EXP) X(F64) X(EXP64) X(C128) X(I32) X(I64)
#endif

#ifdef __cplusplus
extern "C" {
#endif
#define X(family)                                                                                                      \
    extern const RdxCudaKernel rdx_cuda_general_##family[], rdx_cuda_thread_##family[], rdx_cuda_warp_##family[],      \
        rdx_cuda_block_x_##family[], rdx_cuda_block_y_##family[], rdx_cuda_few_columns_##family[],                     \
        rdx_cuda_straight_##family[], rdx_cuda_straight_columns_##family[], rdx_cuda_single_columns_##family[],        \
        rdx_cuda_shifted_columns_##family[], rdx_cuda_packed_##family[], rdx_cuda_gather_##family[],                   \
        rdx_cuda_global_##family[];
RDX_CUDA_FAMILIES(X)
#undef X
#ifdef __cplusplus
}
#endif

#endif
