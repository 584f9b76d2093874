/* What the CPU strategies share: how work is cut for threads, and a cost model of two ceilings, memory and core. */
#ifndef RDX_PLAN_CPU_H
#define RDX_PLAN_CPU_H

#include "scratch.h"

/* Bytes of input that a thread must have before it is worth waking. A sum of 1 MiB takes 19 us on one thread; on two it
   took 24 to 92, for a worker that sleeps takes 2 to 60 us to wake (two virtual CPUs). A variable, so that tests can
   lower it. */
extern int64_t rdx_cpu_thread_bytes;

/* Blocks that a thread gets at least, of outputs taken one by one: they end about together. Tests lower it too: else
   blocks of nothing small would hold more than one output. */
extern int64_t rdx_cpu_thread_blocks;

/* Threads that the size of the input is worth. */
int64_t rdx_cpu_threads(const RdxSituation *situation);

/* Sets threads, split and part_chunks for blocks of config->outputs_per_block outputs, then grid and memory sizes.
   Where config->residues is above 1, each chunk is a part.
   can_split: whether the strategy takes a part of the reduced range. */
void rdx_cpu_partition(const RdxSituation *situation, RdxConfig *config, bool can_split);

/* Blocks that only batch the stores of outputs taken one by one, then the partition: small enough for every thread to
   get several. */
void rdx_cpu_configure_single(const RdxSituation *situation, RdxConfig *config);

/* Predicted microseconds: `core_ns` is what one core would need with everything in its caches; sets config->bytes. */
double rdx_cpu_cost(const RdxSituation *situation, RdxConfig *config, double core_ns);

/* Nanoseconds that a core needs to bring one element to the fold and through it. */
double rdx_cpu_element_ns(const RdxRecipe *recipe);

#endif
