/* libFuzzer target: bytes become a reduction - op, dtypes, shape, strides, axes, options, all as wild as 64 bits allow
   - and a plan for the CPU and for three GPUs, which is checked and never executed. Anything may be refused; nothing
   may crash, overflow or break the invariants of iter/space.h and of a configuration. */
#include "error.h"
#include "plan/config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Bytes {
    const uint8_t *at, *end;
} Bytes;

static uint8_t byte(Bytes *bytes)
{
    return bytes->at < bytes->end ? *bytes->at++ : 0;
}

/* Small numbers mostly, powers of two round the edges, and now and then any 64 bits. */
static int64_t number(Bytes *bytes)
{
    uint8_t kind = byte(bytes);
    if (kind < 160)
        return kind % 40;
    if (kind < 200)
        return ((int64_t)1 << (byte(bytes) % 63)) + (int8_t)byte(bytes) % 3;
    if (kind < 230)
        return (int64_t)byte(bytes) << 8 | byte(bytes);
    uint64_t wide = 0;
    for (int i = 0; i < 8; i++)
        wide = wide << 8 | byte(bytes);
    return (int64_t)wide;
}

static void demand(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "fuzz_plan: %s\n", what);
        abort();
    }
}

static void check_space(const RdxSpace *space)
{
    int64_t kept = 1, reduced = 1, copies = 1;
    for (int i = 0; i < space->reduce_rank; i++) {
        const RdxDim *dim = &space->reduce[i];
        demand(dim->extent > 1 && dim->in >= 0, "a reduced dim has extent 1 or a negative step");
        demand(i == 0 || dim[-1].in >= dim->in, "reduced dims are out of order");
        reduced *= dim->extent;
    }
    for (int i = 0; i < space->keep_rank; i++) {
        const RdxDim *dim = &space->keep[i];
        demand(dim->extent > 1 && dim->in > 0, "a kept dim has extent 1 or no step");
        demand(i == 0 || dim[-1].in >= dim->in, "kept dims are out of order");
        kept *= dim->extent;
    }
    for (int i = 0; i < space->copy_rank; i++) {
        demand(space->copy[i].extent > 1 && space->copy[i].in == 0, "a copy dim moves");
        copies *= space->copy[i].extent;
    }
    demand(space->keep_count == 0 || space->keep_count == kept, "keep_count is wrong");
    demand(space->copy_count == copies, "copy_count is wrong");
    demand(space->keep_count == 0 || space->reduce_count == 0 || space->reduce_count == reduced,
           "reduce_count is wrong");
    demand(space->in_low <= space->in_high && space->out_low <= space->out_high, "touched bytes are turned round");
    static RdxSpace again;
    again = *space;
    rdx_space_collapse(&again);
    demand(again.keep_rank == space->keep_rank && again.reduce_rank == space->reduce_rank &&
               again.copy_rank == space->copy_rank && again.in_offset == space->in_offset,
           "collapse is not idempotent");
}

static void check_config(const RdxSituation *situation, const RdxConfig *config)
{
    const RdxDeviceInfo *device = situation->device;
    int64_t chunk = rdx_recipe_chunk(situation->recipe), count = situation->space->reduce_count;
    int64_t chunks = count / chunk + (count % chunk != 0);
    demand(isfinite(config->cost_us) && config->cost_us >= 0, "the cost is no number");
    demand(isfinite(config->bytes) && config->bytes >= 0, "the traffic is no number");
    demand(config->split >= 1 && config->part_chunks >= 1, "nothing is split into parts");
    demand((config->part_chunks & (config->part_chunks - 1)) == 0, "a part is no power of two of chunks");
    demand(config->split == 1 || (config->split - 1) < (chunks + config->part_chunks - 1) / config->part_chunks,
           "a part has no chunk");
    demand(config->split >= (chunks + config->part_chunks - 1) / config->part_chunks || chunks == 0,
           "a chunk is in no part");
    demand(config->workspace_bytes >= 0 && config->scratch_bytes >= 0, "negative memory");
    if (!device->cuda) {
        demand(config->threads >= 1 && config->threads <= device->units, "too many threads");
        demand(config->grid >= 0, "a negative number of work items");
        demand(config->residues >= 1 && (config->residues & (config->residues - 1)) == 0 &&
                   config->residues <= situation->recipe->lanes,
               "residues are no power of two of lanes");
        demand(config->residues == 1 ||
                   (config->part_chunks == 1 && config->variant == 0 && config->strategy == RDX_STRATEGY_CPU_COLUMNS),
               "no strip of a chunk is shared");
        return;
    }
    demand(config->block_x >= 1 && config->block_y >= 1 && (int64_t)config->block_x * config->block_y <= 1024,
           "a block of more than 1024 threads");
    demand((config->block_x * config->block_y) % 32 == 0, "a block is no whole number of warps");
    demand(config->shared_bytes >= 0 && config->shared_bytes <= device->shared_per_block, "too much shared memory");
    demand(config->grid >= 0 && config->grid <= INT32_MAX, "too many blocks");
    demand((int64_t)config->block_x * config->block_y * config->registers <= device->registers_per_unit,
           "too many registers");
    demand(config->workspace_bytes == 0 || config->workspace_bytes >= RDX_WORKSPACE_HEAD,
           "a workspace without its head");
    demand(config->index_bits == 32 || config->index_bits == 64, "index bits");
}

static void plan(const RdxSpace *space, const RdxRecipe *recipe, int64_t align)
{
    static const char *const devices[] = {"cpu", "h200", "a100", "t4"};
    static RdxCandidate candidates[RDX_STRATEGY_COUNT];
    for (size_t i = 0; i < RDX_LENGTH(devices); i++) {
        RdxSituation situation = {space, recipe, rdx_device_preset(devices[i]), align};
        int count, chosen;
        char text[512];
        demand(situation.device != NULL, "a preset is missing");
        demand(rdx_choose(&situation, candidates, &count, &chosen) == RDX_OK, rdx_last_error());
        demand(chosen >= 0 && chosen < count && candidates[chosen].refused == NULL, "a refused strategy was chosen");
        for (int c = 0; c < count; c++) {
            if (candidates[c].refused)
                continue;
            check_config(&situation, &candidates[c].config);
            demand(candidates[c].config.cost_us >= candidates[chosen].config.cost_us, "a cheaper one was there");
        }
        for (int format = RDX_TEXT; format <= RDX_JSON; format++) {
            size_t wanted = rdx_plan_print(&situation, candidates, count, chosen, format, text, sizeof text);
            demand(wanted > 0 && strlen(text) == (wanted < sizeof text ? wanted : sizeof text - 1), "printed length");
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const RdxProblem defaults = RDX_PROBLEM_INIT;
    Bytes bytes = {data, data + size};
    RdxProblem problem = defaults;
    int64_t shape[3][RDX_MAX_RANK], strides[3][RDX_MAX_RANK];
    int32_t axes[RDX_MAX_RANK];
    RdxTensor tensor[3];
    memset(tensor, 0, sizeof tensor);
    problem.op = byte(&bytes) % 21;
    RdxType in = (RdxType)(byte(&bytes) % RDX_TYPE_COUNT);
    bool accepted = problem.op > 0 && problem.op < RDX_OP_COUNT && rdx_op_accepts(problem.op, in);
    uint8_t flags = byte(&bytes);
    RdxType out =
        !accepted || flags & 1 ? (RdxType)(byte(&bytes) % RDX_TYPE_COUNT) : rdx_op_default_out(problem.op, in);
    RdxType out2 = accepted ? rdx_op_default_out2(problem.op, in) : RDX_TYPE_COUNT;
    bool keep = flags & 2, second = flags & 4 && out2 != RDX_TYPE_COUNT;
    problem.nan = flags >> 3 & 1;
    problem.p = problem.op == RDX_NORM ? (double)(int8_t)byte(&bytes) / 4 : 2;
    problem.correction = flags & 16 ? (double)(int8_t)byte(&bytes) / 2 : 0;
    int rank = byte(&bytes) % (flags & 32 ? 65 : 7);
    bool reduced[RDX_MAX_RANK];
    problem.naxes = 0;
    tensor[0].ndim = rank;
    for (int d = 0; d < rank; d++) {
        shape[0][d] = number(&bytes);
        uint64_t stride = flags & 64 ? (uint64_t)number(&bytes) : 0; /* unsigned: the least number has no opposite */
        strides[0][d] = flags & 64 ? (int64_t)(stride * (uint64_t)(byte(&bytes) % 3 - 1)) : 0;
        reduced[d] = byte(&bytes) & 1;
        if (reduced[d])
            axes[problem.naxes++] = byte(&bytes) & 1 ? d : d - rank;
    }
    for (int o = 1; o < 3; o++)
        for (int d = 0; d < rank; d++)
            if (keep || !reduced[d]) {
                strides[o][tensor[o].ndim] = flags & 128 ? number(&bytes) : 0;
                shape[o][tensor[o].ndim++] = reduced[d] ? 1 : shape[0][d];
            }
    if (byte(&bytes) == 7 && tensor[1].ndim > 0)
        shape[1][0] = number(&bytes);
    for (int o = 0; o < 3; o++) {
        tensor[o].shape = shape[o];
        tensor[o].strides = flags & (o ? 128 : 64) ? strides[o] : NULL;
        tensor[o].byte_offset = byte(&bytes) == 9 ? (uint64_t)number(&bytes) : 0;
    }
    problem.axes = axes;
    problem.in = &tensor[0];
    problem.out = &tensor[1];
    problem.out2 = second ? &tensor[2] : NULL;
    static RdxSpace space;
    RdxRecipe recipe;
    if (rdx_space_build(&space, &problem, in, out, second ? out2 : RDX_TYPE_COUNT) != RDX_OK) {
        demand(rdx_last_error()[0] != '\0', "refused without a sentence");
        return 0;
    }
    if (rdx_recipe_resolve(&recipe, &problem, in, out, second ? out2 : RDX_TYPE_COUNT, space.reduce_count) != RDX_OK)
        return 0;
    space.indexed = recipe.indexed;
    rdx_space_collapse(&space);
    check_space(&space);
    plan(&space, &recipe, (int64_t)1 << byte(&bytes) % 5);
    return 0;
}
