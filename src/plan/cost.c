/* Costs shared by the CUDA strategies; see cost.h. Constants that belong to a device are in devices.def, those that
   belong to the instruction set (what a push takes) are here: counted from ptxas listings of prototypes or from the
   operation itself. */
#include "cost.h"

#include <math.h>

enum { RESERVED_SHARED = 1024, REGISTER_UNIT = 8, SMALL_ITEM_BYTES = 16384 };

/* Lane-instructions of one push and one join in a 32-bit working type. */
static const struct {
    double push, join;
} algebra_costs[RDX_ALGEBRA_COUNT] = {
    [RDX_ALGEBRA_SUM] = {1, 1},     [RDX_ALGEBRA_ISUM] = {1.5, 2},     [RDX_ALGEBRA_PROD] = {1, 1},
    [RDX_ALGEBRA_CPROD] = {6, 6},   [RDX_ALGEBRA_CPRODN] = {10, 12},   [RDX_ALGEBRA_SUMN] = {3, 3},
    [RDX_ALGEBRA_CSUMN] = {6, 5},   [RDX_ALGEBRA_SUMSQ] = {1, 1},      [RDX_ALGEBRA_CSUMSQ] = {2, 1},
    [RDX_ALGEBRA_VAR] = {3, 10},    [RDX_ALGEBRA_CVAR] = {6, 16},      [RDX_ALGEBRA_VARN] = {6, 20},
    [RDX_ALGEBRA_CVARN] = {12, 28}, [RDX_ALGEBRA_LSE] = {14, 24},      [RDX_ALGEBRA_LSEN] = {17, 28},
    [RDX_ALGEBRA_MAX] = {1.5, 2},   [RDX_ALGEBRA_ARGMAX] = {2.5, 6},   [RDX_ALGEBRA_MAXARG] = {4, 9},
    [RDX_ALGEBRA_ARGMAXL] = {3, 8}, [RDX_ALGEBRA_MAXARGL] = {4.5, 11}, [RDX_ALGEBRA_MOMENTS] = {2, 4},
    [RDX_ALGEBRA_AND] = {1, 1},     [RDX_ALGEBRA_OR] = {1, 1},         [RDX_ALGEBRA_XOR] = {1, 1},
};

static const double map_costs[] = {
    [RDX_MAP_NONE] = 0,       [RDX_MAP_OMIT] = 2,     [RDX_MAP_ABS] = 0.5,   [RDX_MAP_POW] = 60,
    [RDX_MAP_POWI] = 4,       [RDX_MAP_KEY] = 1,      [RDX_MAP_KEY_ARG] = 2, [RDX_MAP_KEY_ABS] = 1,
    [RDX_MAP_KEY_PAIR] = 2.5, [RDX_MAP_KEY_BOTH] = 3, [RDX_MAP_NONZERO] = 1, [RDX_MAP_ZERO] = 1,
};

static double work_weight(const RdxSituation *situation)
{
    switch ((RdxWork)situation->recipe->work) {
    case RDX_WORK_F64:
        return rdx_cost_table(situation->device)->f64_weight;
    case RDX_WORK_I64:
        return 2;
    default:
        return 1;
    }
}

/* Sums and counts of bytes take four elements an instruction (dp4a). */
static bool is_packed(const RdxRecipe *recipe)
{
    return recipe->algebra == RDX_ALGEBRA_ISUM && rdx_types[recipe->in].size == 1;
}

double rdx_cost_push(const RdxSituation *situation)
{
    const RdxRecipe *recipe = situation->recipe;
    RdxType in = (RdxType)recipe->in;
    double push = algebra_costs[recipe->algebra].push;
    push *= work_weight(situation) * recipe->unit;
    double map = recipe->map < RDX_LENGTH(map_costs) ? map_costs[recipe->map] : 2;
    if (recipe->map == RDX_MAP_POW || recipe->map == RDX_MAP_POWI)
        map *= rdx_cost_table(situation->device)->f64_weight;
    if (is_packed(recipe))
        return 0.3 * (algebra_costs[recipe->algebra].push + map);
    double convert = 0;
    if (rdx_types[in].size < 4)
        convert = rdx_type_is_float(in) && rdx_types[in].size == 1 ? 1.5 : 1;
    if (recipe->work == RDX_WORK_F64 && in != RDX_TYPE_F64 && in != RDX_TYPE_C128)
        convert += rdx_cost_table(situation->device)->f64_weight;
    return convert + map + push;
}

double rdx_cost_join(const RdxSituation *situation)
{
    return algebra_costs[situation->recipe->algebra].join * work_weight(situation) * situation->recipe->unit;
}

static int resident_blocks(const RdxDeviceInfo *device, const RdxConfig *config)
{
    int64_t threads = (int64_t)config->block_x * config->block_y;
    int64_t registers = rdx_round_up(config->registers, REGISTER_UNIT) * rdx_round_up(threads, 32);
    int64_t blocks = rdx_min(device->blocks_per_unit, device->threads_per_unit / threads);
    blocks = rdx_min(blocks, device->registers_per_unit / registers);
    if (config->shared_bytes > 0)
        blocks =
            rdx_min(blocks, (device->shared_per_unit + RESERVED_SHARED) / (config->shared_bytes + RESERVED_SHARED));
    return (int)rdx_max(blocks, 1);
}

void rdx_cost_occupy(const RdxSituation *situation, RdxConfig *config, const RdxDemand *demand)
{
    const RdxDeviceInfo *device = situation->device;
    config->resident = resident_blocks(device, config);
    int64_t slots = (int64_t)config->resident * device->units;
    bool small = demand->read < SMALL_ITEM_BYTES * (double)config->items || config->items > INT32_MAX;
    bool persistent = config->split * config->residues == 1 && (config->stages > 0 || small);
    config->grid = persistent ? rdx_min(config->items, slots) : config->items;
    config->waves = (double)config->items / (double)slots;
    double held = (double)rdx_min(config->items, slots) / device->units;
    config->flight_bytes = held * demand->block_flight;
}

/* Bytes a second that `blocks` blocks draw, `flight` bytes in flight each. */
static double draw_rate(const RdxDeviceInfo *device, const RdxCostTable *table, double blocks, double flight)
{
    double load = blocks * flight / (device->units * table->busy_bytes);
    double rate = device->bandwidth * load / sqrt(1 + load * load);
    double alone = (blocks < device->units ? blocks : device->units) * table->unit_bandwidth;
    return rate < alone ? rate : alone;
}

/* Warps of a multiprocessor at work. */
static double warps_held(const RdxSituation *situation, const RdxConfig *config)
{
    int64_t most = rdx_div_up(config->items, situation->device->units);
    return (double)rdx_min(most, config->resident) * config->block_x * config->block_y / 32;
}

/* Blocks that start together do not end together. 256 MB as one wave of blocks took 4% longer than as four, 1 GB 1.4%;
   a persistent grid, which gets its next item sooner, 1.2%. */
static const double uneven_wave = 0.03, uneven_grid = 0.012;

/* While a block folds what it has loaded, only its neighbours load: 64 KiB of one block alone count as 25, of two as 36
   each. Where tiles are staged, the next one is under way. */
static double effective_flight(const RdxSituation *situation, const RdxConfig *config, double flight)
{
    if (config->stages)
        return flight;
    double blocks = (double)rdx_min(rdx_div_up(config->items, situation->device->units), config->resident);
    return flight * blocks / (blocks + 0.1 * config->loads);
}

/* Blocks that read a megabyte of rows and more drift apart: 64M f32 in one took 70.6 us as 256 blocks of 1 MB, 64.9 as
   512, 256M f32 252.6 as 1024 blocks of 1 MB and 242.0 as 2048. */
static const double long_block = 786432, drift = 0.05;

static bool are_columns(const RdxConfig *config)
{
    return config->variant == RDX_FORM_COLUMNS || config->variant == RDX_FORM_SHIFTED_COLUMNS;
}

static bool are_rows(const RdxConfig *config)
{
    return config->variant == RDX_FORM_ROWS || config->variant == RDX_FORM_SHIFTED;
}

/* Blocks that have places to work out before they can ask for anything; those of contiguous rows start sooner. */
static bool starts_late(const RdxConfig *config)
{
    return are_columns(config) || config->variant == RDX_FORM_RUNS;
}

/* The longest part of an output, in terms of the average: the last one may be short. Of 100003 x 1000 f32, 224 blocks
   of 7 parts, the last of them a tenth of the others, took 117 us, 800 blocks of 25 parts 104. */
static double longest_part(const RdxSituation *situation, const RdxConfig *config)
{
    double chunks = (double)rdx_recipe_chunks(situation->recipe);
    return config->split > 1 ? (double)config->split * (double)config->part_chunks / chunks : 1;
}

/* A block of columns alone on its multiprocessor: its threads ask for all their vectors at once, and fold them before
   they ask for more. Of 124 columns, 64 KB at once, such a block drew 52 GB/s, of 31, half its threads idle, 25. */
static const double round_us = 1.25;

/* The least that one wave of blocks of columns takes: the last group of a run may be narrow, its blocks are soon done
   and leave the wide ones alone. 31 columns as 28 and 3 took 108 us as 134 blocks, 90 as 530. */
static double widest_us(const RdxSituation *situation, const RdxConfig *config, double bytes, double flight)
{
    if (!are_columns(config))
        return 0;
    double places = (double)config->groups * (double)config->outputs_per_block; /* if all groups were as wide */
    double items = (double)config->items * (double)situation->space->keep_count / places;
    return bytes / items / flight * round_us;
}

/* The least that a block of contiguous rows of several chunks takes: its warps ask for a chunk each, fold it, halve its
   lanes (but where ops are exact, only of the last), and ask for the next only then.
   In us, of 50257 f32, 32 rows, 25 chunks in one block each: sum 7.0, argmax 10.1, var 14.0; in four 5.7, 6.9 and 8.7;
   sums of 16 rows of 65536 in one block each 5.9, in four 4.6. Parts begin with places and end with a fence besides: 8
   x 1000000 in parts of 1, 2, 4, 8, 16 chunks, 15 to 1 waves of blocks, took 36.4, 21.5, 14.5, 12.1 and 11.0; of whole
   rows in many waves some fold while others wait. */
static const double first_round = 0.6, next_wave = 1.2, wait = 0.4,
                    arrive = 0.6; /* arrive: 64 KB of a multiprocessor alone */
static const double push_weight = 0.05, join_weight = 0.025, most_join = 10;
static double rounds_us(const RdxSituation *situation, const RdxConfig *config)
{
    const RdxSpace *space = situation->space;
    if (!are_rows(config) || config->vector_bytes < 16 || rdx_recipe_chunks(situation->recipe) == 1 ||
        rdx_space_bytes(space) >
            (double)situation->device->heavy_bytes) /* rings, which ask ahead, or the memory is what counts */
        return 0;
    int64_t warps = rdx_max(config->block_x / 32, 1),
            chunks = rdx_min(rdx_recipe_chunks(situation->recipe), config->part_chunks);
    double rounds = (double)rdx_div_up(rdx_pow2_ceil(rdx_max(chunks, 1)), warps);
    double busy = chunks < warps ? (double)chunks / (double)warps : 1; /* warps that have a chunk */
    double elements = 16.0 / space->in_size, join = rdx_cost_join(situation);
    double fold = situation->recipe->exact ? push_weight * elements * rdx_cost_push(situation)
                                           : join_weight * (elements + 4) * (join < most_join ? join : most_join);
    double round = wait + arrive * busy + fold;
    /* By the registers of their kernels; those of logsumexp are counted. */
    int64_t resident = rdx_recipe_is_twice(situation->recipe) ? config->resident : rdx_min(config->resident, 2);
    double waves = (double)rdx_div_up(config->items, resident * situation->device->units);
    if (config->split == 1 && waves > 2)
        return 0;
    return first_round + (waves - 1) * next_wave + waves * rounds * round;
}

/* Whole waves run at the full rate, the rest at what its blocks can draw. Staged tiles are folded between barriers,
   which few warps do not hide. */
static double memory_us(const RdxSituation *situation, const RdxConfig *config, double bytes, double flight)
{
    const RdxDeviceInfo *device = situation->device;
    const RdxCostTable *table = rdx_cost_table(device);
    double slots = (double)config->resident * device->units, items = (double)config->items;
    double item_bytes = bytes / items;
    double whole = (double)(config->items / (int64_t)slots), rest = items - whole * slots;
    if (flight > item_bytes && config->grid == config->items)
        flight = item_bytes;
    double least = widest_us(situation, config, bytes, flight), rounds = rounds_us(situation, config);
    flight = effective_flight(situation, config, flight);
    double us = whole > 0 ? whole * slots * item_bytes / draw_rate(device, table, slots, flight) * 1e6 : 0;
    if (rest > 0)
        us += rest * item_bytes / draw_rate(device, table, rest, flight) * 1e6;
    if (items <= slots)
        us = (us > least ? us : least) * longest_part(situation, config) *
             (starts_late(config) && items > 0.9 * slots ? 1 : 1 + uneven_wave);
    else if (config->grid < config->items)
        us *= 1 + uneven_grid;
    else
        us += 0.05 * slots * item_bytes / device->bandwidth * 1e6;
    us = us > rounds ? us : rounds;
    if (config->variant == RDX_FORM_ROWS && item_bytes > long_block)
        us *= 1 + drift;
    double warps = warps_held(situation, config);
    if (config->stages && warps < 16)
        us *= 1 + 0.05 * (1 - warps / 16);
    return us;
}

/* Work that is bound to multiprocessors: some get one item more than others, and few warps do not fill the issue
   slots. */
static double spread(const RdxSituation *situation, const RdxConfig *config)
{
    double per_unit = (double)config->items / situation->device->units;
    double most = (double)rdx_div_up(config->items, situation->device->units);
    double warps = warps_held(situation, config);
    double wanted = config->stages ? 16 : 8; /* a load from shared memory is waited for sooner than one from memory */
    return most / per_unit * (warps < wanted ? wanted / warps : 1);
}

/* What an item of columns or runs costs beyond the first wave, in item_us, and for how many waves: 256 channels of 256
   x 3136 f32 in 12.6, 3.9 and 1 waves took 209, 202 and 191 us, 16M x 16 in 3.9, 1.9 and 1 waves 260, 253 and 250,
   16384 x 4096 in 1.9 and 1 70.4 and 66.3, 16384 x 16384 244.9 and 238.3, 262144 x 256 71.7 and 68.3. */
static const double later_item = 20, later_waves = 4;

/* The same of a part of a row that a chunk a warp makes: 64 x 128256 f32 in 128, 256, 512 and 1024 parts took 11.7,
   11.2, 12.2 and 15.0 us, 100 x 50257 in 100, 200, 400 and 700 9.0, 9.1, 10.0 and 12.1; the last two of either are
   such. */
static const double later_part = 12;

static double later_us(const RdxSituation *situation, const RdxConfig *config)
{
    double slots = (double)config->resident * situation->device->units, later = (double)config->items - slots;
    later = later > later_waves * slots ? later_waves * slots : later;
    bool brief = are_rows(config) && config->split > 1 && config->part_chunks <= config->block_x / 32;
    double each = starts_late(config) ? later_item : brief ? later_part : 0;
    return later > 0 ? later * each * rdx_cost_table(situation->device)->item_us : 0;
}

/* Nodes that a thread of the last block takes one batch after the other, in us: 2M x 128 f32 took 256.7 us as 256 parts
   of 128 columns, 246.3 as 128 of 64. */
static const double join_us = 0.07;

/* What the last block of columns takes beyond that of rows: its threads join by runs and by columns, in shared memory.
   Four residues of 2048 x 1024 f32 take 7.0 us, whole columns 6.0, of 2048 x 512 5.9 and 5.3, var 9.3 and 8.4; at 2
   here 4096 x 2048 would be whole columns too, which take 15.0, not 12.9. Of 21 shapes in 12 to 32 cuts each, 0.6 to
   1.53 here chose alike but for those. Streams of few columns and gathered ones were not timed. */
static const double columns_finish_us = 1.53;

static double finishing_us(const RdxSituation *situation, const RdxConfig *config, double partial_bytes)
{
    const RdxDeviceInfo *device = situation->device;
    const RdxCostTable *table = rdx_cost_table(device);
    double blocks = (double)(config->finishing == RDX_FINISHING_LAUNCH ? config->finish_grid : config->groups);
    double active = blocks < device->units ? blocks : device->units;
    double read_us = partial_bytes / (active * table->unit_bandwidth) * 1e6;
    double nodes = (double)(config->split * config->residues * config->outputs_per_block);
    switch ((RdxFinishing)config->finishing) {
    case RDX_FINISHING_LAST_BLOCK:
        return table->finish_us + (are_columns(config) ? columns_finish_us : 0) + read_us +
               (double)(config->split * config->residues) * table->counter_us +
               nodes / ((double)config->block_x * config->block_y) * join_us + (double)config->items * table->item_us;
    case RDX_FINISHING_LAUNCH:
        return device->launch_us + table->finish_us + read_us;
    default:
        return 0;
    }
}

/* Results and their copies leave from the blocks that finish; few blocks draw little. */
static double store_us(const RdxSituation *situation, const RdxConfig *config, double written)
{
    const RdxDeviceInfo *device = situation->device;
    double blocks = (double)(config->finishing == RDX_FINISHING_LAUNCH       ? config->finish_grid
                             : config->finishing == RDX_FINISHING_LAST_BLOCK ? config->groups
                                                                             : config->grid);
    double active = blocks < device->units ? blocks : device->units;
    return written / (active * rdx_cost_table(device)->unit_bandwidth) * 1e6;
}

/* Two resources in use at once hinder each other where both are nearly exhausted: 1.19 times the larger if they are
   equal. */
static double both(double a, double b)
{
    return sqrt(sqrt(a * a * a * a + b * b * b * b));
}

double rdx_cost_time(const RdxSituation *situation, RdxConfig *config, const RdxDemand *demand)
{
    const RdxDeviceInfo *device = situation->device;
    const RdxCostTable *table = rdx_cost_table(device);
    config->bytes = demand->read + demand->written;
    if (config->items == 0)
        return device->launch_us;
    double partial_bytes =
        (double)(config->workspace_bytes > RDX_WORKSPACE_HEAD ? config->workspace_bytes - RDX_WORKSPACE_HEAD : 0);
    bool apart = config->finishing == RDX_FINISHING_LAUNCH; /* results are written after all has been read */
    double traffic = demand->read + ((apart ? 0 : demand->written) + partial_bytes) * table->write_weight;
    double memory = memory_us(situation, config, traffic, demand->block_flight);
    double store = store_us(situation, config, demand->written);
    double cache = (demand->requested + partial_bytes) / device->cache_bandwidth * 1e6;
    double units = device->units;
    double work = demand->instructions / (units * table->issue_lanes * table->clock) * 1e6;
    double access = demand->wavefronts / (units * table->clock) * 1e6;
    double bound = (work > access ? work : access) * spread(situation, config);
    double us = both(memory, bound);
    us = store > us && !apart ? store : us;
    us = cache > us ? cache : us;
    double filled = (double)config->grid / units;
    us = us > table->latency_us ? us - table->latency_us : 0;
    us += device->launch_us + table->ramp_us * (filled < 1 ? filled : 1);
    if (apart) {
        double stream = demand->written * table->write_weight / device->bandwidth * 1e6;
        us += store > stream ? store : stream;
    }
    return us + later_us(situation, config) + finishing_us(situation, config, partial_bytes);
}
