/* From nodes to memory. */
#ifndef RDX_KERNELS_CPU_EMIT_H
#define RDX_KERNELS_CPU_EMIT_H

#include "worker.h"

/* Finishes and stores `outputs` consecutive results of a block; out2 NULL: no second output. */
void rdx_emit(const RdxWorker *worker, const RdxStrip *nodes, int64_t outputs, unsigned char *out, unsigned char *out2,
              int64_t out_step, int64_t out2_step);

/* After a thread's last rdx_emit: outputs that went past the caches are there for whoever it hands them to. */
void rdx_emit_end(const RdxCpuCode *code);

/* The nodes of a reduction of nothing. */
void rdx_emit_nothing(const RdxRecipe *recipe, RdxStrip nodes, int64_t outputs);

#endif
