/* RdxConfig: how a reduction is mapped onto a device. Scalars only: it can be compared, printed and pinned by golden
   tests. A strategy is one file with three functions of fixed names: applicable, configure, cost (strategies.def lists
   them). choose() configures and costs every applicable strategy and takes the cheapest; a hook sees all candidates. */
#ifndef RDX_PLAN_CONFIG_H
#define RDX_PLAN_CONFIG_H

#include "../device.h"
#include "../iter/space.h"
#include "../recipe.h"
#include "cuda_launch.h"

typedef enum RdxStrategy {
#define X(DEVICE, NAME, name) RDX_STRATEGY_##DEVICE##_##NAME,
#include "strategies.def"
#undef X
    RDX_STRATEGY_COUNT
} RdxStrategy;

typedef struct RdxConfig {
    int strategy;              /* RdxStrategy */
    int variant;               /* the strategy's own choice among its forms; 0 is the plain one */
    int vector_bytes;          /* bytes of one load */
    int index_bits;            /* 32 where the planner has proved it enough, else 64 */
    int block_x, block_y;      /* CUDA: threads. */
    int lanes_per_output;      /* CUDA: threads that share one output */
    int64_t outputs_per_block; /* CUDA: outputs of a block. CPU: outputs of one work item */
    int64_t split;             /* parts the reduced range is cut into, always on aligned chunk runs; 1: not cut */
    int64_t part_chunks;       /* chunks of a part: a power of two (the last part may have fewer) */
    int residues;              /* items that share a chunk, by lane j mod residues: a power of two; 1: none do */
    int64_t grid;              /* CUDA: blocks. CPU: work items, parts and residues included */
    int threads;               /* CPU: threads that take part */
    int64_t shared_bytes;      /* CUDA: dynamic shared memory of a block */
    int64_t scratch_bytes;     /* CPU: of one thread */
    int64_t workspace_bytes;   /* in all */
    double bytes;              /* predicted traffic: read + written */
    double cost_us;            /* predicted time */

    /* CUDA only, 0 on the CPU. Work items are groups x split x residues x slices. What kernels obey is variant,
       vector_bytes, the way an output is cut (split, part_chunks, residues, slices, groups, outputs_per_block,
       finishing, workspace) and launch; grid, blocks, loads, stages, registers and shared memory are those of the block
       that the cost is counted with. */
    int loads;            /* loads of vector_bytes that a thread has in flight */
    int stages;           /* tiles in flight in shared memory; 0: each warp loads for itself */
    int registers;        /* of a thread: what the kernel has to fit into */
    int resident;         /* blocks that one multiprocessor holds at once */
    int finishing;        /* RdxFinishing: who joins the parts of an output */
    int64_t slices;       /* parts that the copies of a group are cut into; their blocks repeat the reduction */
    int64_t tile_bytes;   /* shared memory of one stage */
    int64_t groups;       /* output groups; one counter each where the last block finishes */
    int64_t items;        /* work items */
    int64_t finish_grid;  /* blocks of the finishing launch; 0: there is none */
    double flight_bytes;  /* bytes in flight on a multiprocessor, all its resident blocks together */
    double waves;         /* items over the blocks that the chip holds at once */
    RdxCudaLaunch launch; /* what is launched */
} RdxConfig;

/* Everything a strategy may look at. */
typedef struct RdxSituation {
    const RdxSpace *space;
    const RdxRecipe *recipe;
    const RdxDeviceInfo *device;
    int64_t in_align; /* bytes that the address at space->in_offset is known to keep: 1 .. 16 and above */
} RdxSituation;

/* The launch of a configured CUDA plan; false if no kernel's blocks fit the device. */
bool rdx_cuda_launch_of(RdxCudaLaunch *launch, const RdxSituation *situation, const RdxConfig *config);
const char *rdx_cuda_kernel_name(const RdxCudaLaunch *launch);

typedef struct RdxStrategyInfo {
    const char *name;
    bool cuda;
    /* NULL if the strategy can do it, else why not: a static sentence. */
    const char *(*applicable)(const RdxSituation *situation);
    void (*configure)(const RdxSituation *situation, RdxConfig *config);
    /* Predicted microseconds; configure has run, it also sets config->bytes. */
    double (*cost)(const RdxSituation *situation, RdxConfig *config);
} RdxStrategyInfo;

extern const RdxStrategyInfo rdx_strategies[RDX_STRATEGY_COUNT];

typedef struct RdxCandidate {
    RdxConfig config;    /* valid where refused is NULL */
    const char *refused; /* why the strategy cannot do it */
} RdxCandidate;

enum { RDX_CHOOSE_REFERENCE = -1 };

/* Sees every strategy of the device, in table order, and the index of the cheapest; returns the index to use, or
   RDX_CHOOSE_REFERENCE (CPU): the plain reading of the tree, one element at a time. */
typedef int (*RdxChooseHook)(void *user, const RdxCandidate *candidates, int count, int chosen);

/* This thread's hook; NULL: none. For tests, the fuzzer and explain. */
void rdx_choose_hook(RdxChooseHook hook, void *user);

/* candidates: room for RDX_STRATEGY_COUNT. RDX_ERR_INTERNAL if no strategy applies (the general one always does) or one
   that does fits the device in no form. */
RdxStatus rdx_choose(const RdxSituation *situation, RdxCandidate *candidates, int *count, int *chosen);

/* format is RDX_TEXT, RDX_SEXPR or RDX_JSON; as snprintf: writes at most size bytes, returns the length it wants. */
size_t rdx_plan_print(const RdxSituation *situation, const RdxCandidate *candidates, int count, int chosen, int format,
                      char *buffer, size_t size);

#endif
