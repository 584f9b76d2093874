/* Shared planning of the CPU strategies. Times are rough on purpose: they only have to rank strategies. The constants
   in the strategies' costs were fitted by hand to runs of the bench on one machine (Zen 4, two threads). */
#include "cpu.h"

int64_t rdx_cpu_thread_bytes = 1 << 20;
int64_t rdx_cpu_thread_blocks = 8;

int64_t rdx_cpu_threads(const RdxSituation *situation)
{
    double worth = rdx_space_bytes(situation->space) / (double)rdx_cpu_thread_bytes;
    return rdx_max(1, worth < situation->device->units ? (int64_t)worth : situation->device->units);
}

void rdx_cpu_partition(const RdxSituation *situation, RdxConfig *config, bool can_split)
{
    const RdxSpace *space = situation->space;
    int64_t run = rdx_run_outputs(space, config);
    int64_t blocks = space->keep_count / rdx_max(run, 1) * rdx_div_up(run, config->outputs_per_block);
    int64_t chunks = rdx_max(rdx_recipe_chunks(situation->recipe), 1);
    const int64_t threads = rdx_cpu_threads(situation);
    config->residues = rdx_max(config->residues, 1);
    config->split = config->residues > 1 ? chunks : 1;
    config->part_chunks = config->residues > 1 ? 1 : rdx_pow2_ceil(chunks);
    /* Eight parts a thread keep the ragged last one small. */
    if (can_split && config->residues == 1 && blocks < 4 * threads && threads > 1) {
        int64_t part = chunks * blocks / (8 * threads);
        config->part_chunks = rdx_pow2_floor(rdx_max(part, 1));
        config->split = rdx_div_up(chunks, config->part_chunks);
    }
    config->grid = blocks * config->split * config->residues;
    config->threads = (int)rdx_max(1, rdx_min(threads, config->grid));
    RdxScratch scratch;
    rdx_scratch_of(&scratch, space, situation->recipe, config);
    config->scratch_bytes = scratch.bytes;
    config->workspace_bytes = scratch.bytes <= RDX_LOCAL_SCRATCH ? 0 : config->threads * scratch.bytes;
    if (config->split * config->residues > 1)
        config->workspace_bytes += config->grid * rdx_scratch_strip_bytes(situation->recipe, config->outputs_per_block);
    config->index_bits = 64;
    config->block_x = config->block_y = config->lanes_per_output = 1;
}

void rdx_cpu_configure_single(const RdxSituation *situation, RdxConfig *config)
{
    const RdxSpace *space = situation->space;
    int64_t share = space->keep_count / (rdx_cpu_thread_blocks * (int64_t)situation->device->units);
    config->outputs_per_block = rdx_max(1, rdx_min(rdx_min(rdx_space_inner_extent(space), 64), share));
    rdx_cpu_partition(situation, config, true);
}

double rdx_cpu_element_ns(const RdxRecipe *recipe)
{
    int work = rdx_work_size((RdxWork)recipe->work);
    double ns = work / 64.0; /* a fold from L1: 64 GB/s */
    if (rdx_types[recipe->in].size != work || recipe->planar)
        ns += work / 50.0; /* a conversion into L1 */
    if (recipe->map != RDX_MAP_NONE)
        ns += recipe->map == RDX_MAP_POW ? 8 : work / 40.0;
    if (rdx_recipe_is_twice(recipe))
        ns += work / 8.0;
    return ns;
}

/* ns: a call 20; of memory's time and the cores' the shorter adds a tenth of itself; two wakings where a second pass
   joins parts. */
double rdx_cpu_cost(const RdxSituation *situation, RdxConfig *config, double core_ns)
{
    const RdxSpace *space = situation->space;
    double outputs = (double)space->keep_count * (double)space->copy_count;
    config->bytes = rdx_space_bytes(space) + outputs * (space->out_size + space->out2_size);
    double memory_ns = config->bytes / situation->device->bandwidth * 1e9;
    double shared_ns = core_ns / config->threads;
    double ns = 20 + (memory_ns > shared_ns ? memory_ns + 0.1 * shared_ns : shared_ns + 0.1 * memory_ns);
    if (config->threads > 1)
        ns += situation->device->launch_us * 1e3 * (config->split * config->residues > 1 ? 2 : 1);
    config->cost_us = ns / 1e3;
    return config->cost_us;
}
