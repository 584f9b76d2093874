/* What each file that is compiled once per ISA level contributes to that level's table (isa_table.c). */
#ifndef RDX_KERNELS_CPU_FOLDS_H
#define RDX_KERNELS_CPU_FOLDS_H

#include "isa.h"
#include "vector.h"

extern const RdxAlgebraCode RDX_LEVEL(folds_real)[RDX_ALGEBRA_COUNT][RDX_WORK_COUNT];
extern const RdxAlgebraCode RDX_LEVEL(folds_int)[RDX_ALGEBRA_COUNT][RDX_WORK_COUNT];

/* One entry of them: what fold.inc makes of an algebra over a working type, with joins of the algebra whose nodes it
   has. */
#define RDX_FOLDS(algebra, nodes, suffix, short_rows, join_lanes)                                                      \
    {                                                                                                                  \
        algebra##_fold_##suffix, algebra##_rows_##suffix, nodes##_join_##suffix, nodes##_halve_##suffix,               \
            nodes##_halve_rows_##suffix, short_rows, join_lanes, NULL, algebra##_crooked_##suffix                      \
    }
#define RDX_CODE(algebra, suffix) RDX_FOLDS(algebra, algebra, suffix, NULL, NULL)
#ifdef RDX_ISA_LEAN
#define RDX_QUICK RDX_CODE
#define RDX_JOINING RDX_CODE
#else
#define RDX_QUICK(algebra, suffix) RDX_FOLDS(algebra, algebra, suffix, algebra##_short_rows_##suffix, NULL)
#define RDX_JOINING(algebra, suffix)                                                                                   \
    RDX_FOLDS(algebra, algebra, suffix, algebra##_short_rows_##suffix, algebra##_join_lanes_##suffix)
#endif
#ifdef RDX_ISA_BELOW /* has them */
#define RDX_SHARED(algebra, suffix)                                                                                    \
    {                                                                                                                  \
        NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false                                                          \
    }
#else
#define RDX_SHARED RDX_CODE
#endif

extern const RdxFused RDX_LEVEL(fused)[];

void RDX_LEVEL(map)(void *dst, int64_t dst_plane, const void *src, int64_t src_plane, int64_t n,
                    const RdxRecipe *recipe);
void *RDX_LEVEL(finish)(const RdxRecipe *recipe, const RdxStrip *nodes, int64_t n, void *room, void *second);
void RDX_LEVEL(widen_keys)(void *keys, int64_t n, bool half, bool flip, int32_t offset);
void RDX_LEVEL(scale)(RdxWork work, void *result, const void *old, int64_t n, double alpha, double beta);
void RDX_LEVEL(gather)(void *dst, const void *src, int64_t n, int64_t step, int size, int64_t ahead);
void RDX_LEVEL(copy_runs)(void *dst, int64_t dst_step, const void *src, int64_t src_step, int64_t bytes, int64_t count,
                          int64_t ahead);
void RDX_LEVEL(scatter)(void *dst, int64_t step, const void *src, int64_t n, int size);
void RDX_LEVEL(turn)(void *dst, const void *src, int64_t step, int64_t rows, int64_t n, int size);
void RDX_LEVEL(stream)(void *dst, const void *src, int64_t bytes);
extern const RdxConvert RDX_LEVEL(convert)[RDX_TYPE_COUNT][RDX_WORK_COUNT];
extern const RdxConvert RDX_LEVEL(convert_planar)[RDX_TYPE_COUNT][RDX_WORK_COUNT];
extern const RdxStore RDX_LEVEL(store)[RDX_WORK_COUNT][RDX_TYPE_COUNT];

#endif
