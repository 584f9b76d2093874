/* thread: one thread reduces one output. For outputs of at most one line of elements (n <= L), where a lane holds one
   element and the tree is halving alone, so that a thread taking lanes in bit-reversed order needs a stack of log2 n
   states; and of any number of copies of one element.

   registers  kept neighbours are packed: a thread owns up to 16 bytes of columns and has all rows in flight, at most 16
              loads, of indices 32
   rows       rows of at most 64 bytes, aligned: a thread loads its whole row, and several rows at once
   tile       slabs of an output of at most 16 KiB, or of several of at most 9: staged in shared memory by 16-byte
              copies, then a thread each
   repeats    every reduced stride is 0: the tree of n equal elements takes some 2 log2 n joins
   gather     anything else; also the empty reduction, which reads nothing */
#include "cuda_parts.h"
#include "geometry.h"
#include "strategies.h"

#include <math.h>

enum {
    TILE_BYTES = 24576,
    ROW_BYTES = 64,
    FLIGHT_LOADS = 8,
    REGISTER_BYTES = 256,
    REGISTER_ROWS = 16,
    LARGEST_SLAB_BYTES = 16384,
    MOST_OUTPUTS = 16384,
    SLABS_REGISTERS = 80,
    HALF_WARP = 16,
    PUSHES = 34 /* of two chunks' longest lanes */
};

const char *rdx_plan_thread_applicable(const RdxSituation *situation)
{
    const RdxSpace *space = situation->space;
    if (space->keep_count > 0 && space->reduce_count > situation->recipe->lanes && !rdx_space_is_repeated(space))
        return "more elements per output than one line of 512 bytes holds";
    return NULL;
}

/* What loads of elements cost beside vectors: 100 x 400000 f32 took 84 us so, and 43 as columns. More where rows are
   several vectors wide (H200, us, so and as columns): of 72 columns, 64 rows of var bf16 920 and 228, of logsumexp f32
   269 and 133, 17 of argmax f32 641 and 220; but 32 rows of sums of 33 bf16 454 and 805, of 16 f32 155 and 179. */
static const double single_loads = 1.5, wide_single_loads = 6;
enum { WIDE_ROW = 144 }; /* bytes */

/* Whether blocks of columns would load vectors. */
static bool reads_vectors(const RdxLayout *layout)
{
    return !layout->row && layout->packed && (layout->column_align >= 16 || rdx_layout_shifts_columns(layout)) &&
           layout->count > REGISTER_ROWS;
}

/* What a warp of slabs does before it folds, an output beside its elements, and an element beside its lane: counted of
   sums of f32. */
enum { SLABS_START = 9600, SLABS_OUTPUT = 40, SLABS_ELEMENT = 4, SLABS_LIFT = 3 };

/* Threads without an output wait for those that have one. */
static void slabs_demand(const RdxSituation *situation, const RdxLayout *layout, const RdxConfig *config,
                         RdxDemand *demand)
{
    double outputs = (double)layout->outputs, count = (double)layout->count * outputs;
    double push = rdx_cost_push(situation), lift = push < SLABS_LIFT ? push : SLABS_LIFT; /* a lane has one element */
    double lane = lift + rdx_cost_join(situation);
    int64_t turns = rdx_round_up(config->outputs_per_block / RDX_CUDA_WARPS, 32) * RDX_CUDA_WARPS;
    demand->instructions =
        (double)config->items * RDX_CUDA_WARPS * SLABS_START +
        (count * (lane + SLABS_ELEMENT) + outputs * SLABS_OUTPUT) * (double)turns / (double)config->outputs_per_block;
    demand->wavefronts = count * layout->size / 128 + count / 32;
    demand->block_flight = config->tile_bytes;
}

static int64_t whole_vector(const RdxLayout *layout)
{
    return rdx_min(4 * layout->size, 16);
}

/* Few rows of columns in long runs that kernels do not take by vectors: such as start anywhere, and elements of a word
   and more but those of streams. */
enum { LONG_RUN = 512 /* columns of small elements */ };

static bool are_loose(const RdxLayout *layout)
{
    bool small = RDX_CUDA_HAS_SMALL_COLUMNS(layout->size), even = layout->column_align >= whole_vector(layout);
    return layout->packed && layout->one_step && layout->count > 0 && layout->count <= REGISTER_ROWS &&
           layout->columns >= (small ? LONG_RUN : RDX_CUDA_LONG_RUN) &&
           !(even && (small || layout->count == REGISTER_ROWS));
}

/* Whether the rows of a thread are held in registers: not where vectors end within short runs, each of which would be a
   block's, and of slabs at most eight rows, or sixteen of long runs, which are a stream. Slabs and so, us: 16 x 12 f32
   41.7 and 56.9, 9 x 64 44.8 and 62.4, 12 x 128 39.8 and 57.2; 8 x 32 40.8 and 35.8, 16 x 100 38.2 and 35.4. */
enum { STREAMED_RUN = 400 /* bytes */ };

static bool holds_rows(const RdxSituation *situation, const RdxLayout *layout, bool slabs)
{
    /* Up to 32 where an index is sought, by the word from wherever rows start. Blocks of columns find it group by group
       (argmax over the middle of 64 x 21 x 262144 f32 566 us, 405 so; of 64 x 21 x 524288 bf16 1019 and 380). */
    if (layout->count > REGISTER_ROWS)
        return layout->count <= rdx_cuda_most_rows(situation->recipe, layout->size) && !slabs && layout->packed &&
               layout->one_step && layout->columns >= LONG_RUN;
    int64_t whole = whole_vector(layout);
    bool vectors = layout->packed && layout->column_align >= whole && layout->count > 0;
    bool even = layout->columns * layout->size % whole == 0 || layout->columns >= RDX_CUDA_LONG_RUN;
    bool few = layout->count <= (slabs ? RDX_CUDA_FEW_ROWS : REGISTER_ROWS);
    return (are_loose(layout) && (!slabs || (vectors && few))) ||
           (vectors && even &&
            (few || (layout->count == REGISTER_ROWS && layout->columns * layout->size >= STREAMED_RUN)));
}

/* Whether outputs are folded out of slabs: not where one leaves half a warp idle that blocks of columns read as whole
   vectors (100 x 16 f32 42.2 us, and 34.9 as columns, var 85 and 65; but 64 x 16 35.5 and 57, 128 x 8 37.6 and 57). Of
   the others a tile is one of rows. */
enum { WIDE_COLUMNS = 64 /* bytes */ };

static bool takes_slabs(RdxCudaSlabs *slabs, const RdxSituation *situation, const RdxLayout *layout)
{
    bool wide = reads_vectors(layout) && layout->columns * layout->size >= WIDE_COLUMNS;
    return rdx_cuda_cut_slabs(slabs, situation, layout) && (!wide || slabs->of_tile * layout->slab_outputs > HALF_WARP);
}

static void demand_of(const RdxSituation *situation, const RdxLayout *layout, const RdxConfig *config,
                      RdxDemand *demand)
{
    rdx_demand_traffic(situation, layout, config, demand);
    double outputs = (double)layout->outputs * (double)config->slices, count = (double)layout->count * outputs;
    double bytes = count * layout->size, lane = rdx_cost_push(situation) + rdx_cost_join(situation);
    double threads = (double)config->block_x * config->block_y;
    demand->instructions = count * lane + outputs * 20;
    switch (config->variant) {
    case RDX_FORM_REGISTERS:
        demand->instructions += bytes / config->vector_bytes * 3;
        demand->wavefronts =
            rdx_strided_wavefronts(bytes / config->vector_bytes, config->vector_bytes, config->vector_bytes,
                                   layout->columns * layout->size / config->vector_bytes);
        demand->block_flight = threads * config->loads * config->vector_bytes;
        break;
    case RDX_FORM_ROWS:
        demand->instructions += bytes / config->vector_bytes * 3;
        demand->wavefronts = rdx_strided_wavefronts(bytes / config->vector_bytes, config->vector_bytes,
                                                    layout->keep_stride, layout->columns);
        demand->block_flight = threads * config->loads * config->vector_bytes;
        break;
    case RDX_FORM_TILE: {
        if (config->stages == 0) { /* slabs: a tile is all that a warp has */
            slabs_demand(situation, layout, config, demand);
            break;
        }
        /* A row that starts at any element is read from shared memory one word at a time. */
        bool whole = layout->slab_outputs == 1 && layout->slab_bytes % 16 == 0 && layout->run == layout->count;
        demand->instructions += bytes / 16 * 3 + (whole ? bytes / 16 : count);
        demand->wavefronts = bytes / 64 + (whole ? bytes / 128 : count / 32);
        demand->block_flight = (double)config->tile_bytes * (config->stages > 1 ? config->stages - 1 : 1);
        break;
    }
    case RDX_FORM_REPEATS: {
        double levels = 2 * log2((double)layout->lanes) + log2((double)rdx_max(layout->chunks, 1));
        demand->instructions = (double)config->items * threads *
                               (PUSHES * rdx_cost_push(situation) + 2 * levels * rdx_cost_join(situation) + 100);
        demand->wavefronts = rdx_strided_wavefronts(outputs, layout->size, layout->keep_stride, layout->columns);
        demand->block_flight = threads * layout->size;
        break;
    }
    default:
        demand->instructions += count * 16;
        if (reads_vectors(layout))
            demand->read *= layout->columns * layout->size < WIDE_ROW ? single_loads : wide_single_loads;
        demand->wavefronts = rdx_strided_wavefronts(count, layout->size, layout->keep_stride, layout->columns);
        demand->block_flight = threads * config->loads * (double)rdx_max(layout->size, 1);
    }
}

static void occupy(const RdxSituation *situation, const RdxLayout *layout, RdxConfig *config)
{
    RdxDemand demand;
    demand_of(situation, layout, config, &demand);
    rdx_cost_occupy(situation, config, &demand);
}

/* Blocks of fewer threads where there are not enough outputs to fill the chip with large ones. */
static int threads_for(const RdxSituation *situation, int64_t items)
{
    int threads = RDX_BLOCK_THREADS;
    while (threads > 64 && rdx_div_up(items, threads) < situation->device->units)
        threads /= 2;
    return threads;
}

static void shape_registers(const RdxSituation *situation, const RdxLayout *layout, RdxConfig *config)
{
    bool loose = are_loose(layout);
    int64_t vector = rdx_max(layout->column_align, 1);
    if (loose && vector > layout->size)
        vector = layout->size;
    while (vector > layout->size && layout->count * vector > REGISTER_BYTES)
        vector /= 2;
    int64_t elements = rdx_max(vector / layout->size, 1);
    int64_t vectors = layout->outputs / layout->columns * rdx_div_up(layout->columns, elements);
    config->variant = RDX_FORM_REGISTERS;
    config->vector_bytes = (int)vector;
    config->block_x = threads_for(situation, vectors);
    config->block_y = 1;
    /* Vectors of a thread: few rows alone are little in flight. */
    int64_t each = rdx_max(FLIGHT_LOADS / layout->count, 1);
    if (loose)
        each = rdx_cuda_cut_short(layout->size, layout->state_bytes / 4, layout->count, false).all;
    while (each > 1 && vectors / (each * config->block_x) < 2 * situation->device->units)
        each /= 2;
    config->loads = (int)(layout->count * each);
    int registers = rdx_register_budget(situation, config->loads, config->vector_bytes, elements);
    config->registers = (int)rdx_min(registers, RDX_MOST_REGISTERS);
    RdxTrial trial = {.residues = 1, .part_chunks = rdx_whole_part(layout), .slices = 1};
    int64_t block_vectors = each * config->block_x;
    rdx_cut(layout, &trial, rdx_div_up(vectors, block_vectors), elements * block_vectors, config);
    occupy(situation, layout, config);
}

static void shape_rows(const RdxSituation *situation, const RdxLayout *layout, RdxConfig *config)
{
    int64_t row_bytes = layout->count * layout->size, vector = rdx_min(row_bytes & -row_bytes, layout->run_align);
    int64_t each = row_bytes / vector;
    config->variant = RDX_FORM_ROWS;
    config->vector_bytes = (int)vector;
    config->block_x = threads_for(situation, layout->outputs);
    config->block_y = 1;
    int64_t rows = rdx_max(FLIGHT_LOADS / each, 1);
    while (rows > 1 && layout->outputs / (rows * config->block_x) < 2 * situation->device->units)
        rows /= 2;
    config->loads = (int)(rows * each);
    config->registers = rdx_register_budget(situation, config->loads, config->vector_bytes, rows);
    RdxTrial trial = {.residues = 1, .part_chunks = rdx_whole_part(layout), .slices = 1};
    rdx_cut(layout, &trial, rdx_div_up(layout->outputs, rows * config->block_x), rows * config->block_x, config);
    occupy(situation, layout, config);
}

static void shape_tile(const RdxSituation *situation, const RdxLayout *layout, RdxConfig *config)
{
    int64_t slabs = rdx_max(TILE_BYTES / (layout->slab_bytes + (layout->dense ? 0 : 16)), 1);
    int64_t most = rdx_max(MOST_OUTPUTS / layout->slab_outputs, 1);
    slabs = rdx_min(rdx_min(slabs, most), rdx_max(layout->slabs / situation->device->units, 1));
    if (slabs > 32)
        slabs = slabs / 32 * 32;
    int64_t outputs = slabs * layout->slab_outputs;
    config->variant = RDX_FORM_TILE;
    config->vector_bytes = 16;
    config->stages = rdx_cost_table(situation->device)->async ? 3 : 2;
    config->tile_bytes = rdx_round_up(slabs * layout->slab_bytes + (layout->dense ? 16 : 16 * slabs), 16);
    config->block_x = (int)rdx_max(rdx_min(rdx_round_up(outputs, 32), RDX_BLOCK_THREADS), 64);
    config->block_y = 1;
    config->loads = (int)rdx_max(rdx_div_up(config->tile_bytes, 16 * (int64_t)config->block_x), 1);
    config->shared_bytes = config->stages * config->tile_bytes;
    config->registers = rdx_register_budget(situation, config->stages > 2 ? 2 : (int)rdx_min(config->loads, 8), 16, 9);
    RdxTrial trial = {.residues = 1, .part_chunks = rdx_whole_part(layout), .slices = 1};
    rdx_cut(layout, &trial, rdx_div_up(layout->slabs, slabs), outputs, config);
    occupy(situation, layout, config);
}

static void shape_slabs(const RdxSituation *situation, const RdxLayout *layout, int64_t of_warp, RdxConfig *config)
{
    const int64_t slabs = RDX_CUDA_WARPS * of_warp;
    const int64_t warps = layout->slabs / layout->slab_run * rdx_div_up(layout->slab_run, of_warp);
    config->variant = RDX_FORM_TILE;
    config->vector_bytes = 16;
    config->stages = 0;
    config->tile_bytes = (int)(slabs * layout->slab_bytes);
    config->block_x = RDX_CUDA_THREADS;
    config->block_y = 1;
    config->loads = (int)rdx_max(config->tile_bytes / (16 * RDX_CUDA_THREADS), 1);
    config->shared_bytes = RDX_CUDA_WARPS * RDX_CUDA_TILE;
    config->registers = layout->state_bytes > 8 ? RDX_MOST_REGISTERS / 2 : SLABS_REGISTERS; /* two blocks, or three */
    RdxTrial trial = {.residues = 1, .part_chunks = rdx_whole_part(layout), .slices = 1};
    rdx_cut(layout, &trial, rdx_div_up(warps, RDX_CUDA_WARPS), slabs * layout->slab_outputs, config);
    occupy(situation, layout, config);
}

static void shape_gather(const RdxSituation *situation, const RdxLayout *layout, int64_t slices, RdxConfig *config)
{
    config->variant = RDX_FORM_GATHER;
    config->vector_bytes = (int)rdx_min(layout->size, rdx_min(layout->run_align, layout->column_align));
    config->loads = (int)rdx_max(rdx_min(layout->count, 16), 1);
    config->block_x = threads_for(situation, layout->outputs);
    config->block_y = 1;
    config->registers = rdx_register_budget(situation, config->loads, layout->size, 9);
    RdxTrial trial = {.residues = 1, .part_chunks = rdx_whole_part(layout), .slices = slices};
    rdx_cut(layout, &trial, rdx_div_up(layout->outputs, config->block_x), config->block_x, config);
    occupy(situation, layout, config);
}

/* Threads of a block that share an output's copies are a power of two. */
static void shape_repeats(const RdxSituation *situation, const RdxLayout *layout, RdxConfig *config)
{
    int64_t slices = rdx_copy_slices(situation, layout, layout->outputs);
    int64_t copies = rdx_div_up(situation->space->copy_count, slices);
    int64_t outputs = RDX_BLOCK_THREADS / rdx_min(rdx_pow2_ceil(copies), RDX_BLOCK_THREADS);
    config->variant = RDX_FORM_REPEATS;
    config->vector_bytes = layout->size;
    config->loads = 1;
    config->block_x = RDX_BLOCK_THREADS;
    config->block_y = 1;
    config->registers = rdx_register_budget(situation, 1, layout->size, 3);
    RdxTrial trial = {.residues = 1, .part_chunks = rdx_whole_part(layout), .slices = slices};
    rdx_cut(layout, &trial, rdx_div_up(layout->outputs, outputs), outputs, config);
    occupy(situation, layout, config);
}

static void keep_trial(const RdxSituation *situation, RdxConfig *trial, RdxConfig *best)
{
    trial->cost_us = rdx_plan_thread_cost(situation, trial);
    rdx_keep_cheaper(best, trial);
}

void rdx_plan_thread_configure(const RdxSituation *situation, RdxConfig *config)
{
    RdxLayout layout;
    rdx_layout_of(&layout, situation);
    config->index_bits = rdx_layout_index_bits(situation);
    config->lanes_per_output = 1;
    config->threads = 0;
    RdxConfig best = *config, trial = *config;
    best.items = -1;
    if (rdx_space_is_repeated(situation->space)) {
        shape_repeats(situation, &layout, &trial);
        keep_trial(situation, &trial, &best);
    }
    RdxCudaSlabs slabs;
    bool has_slabs = takes_slabs(&slabs, situation, &layout);
    if (!has_slabs && (layout.count <= layout.lanes || layout.outputs == 0)) {
        trial = *config;
        shape_gather(situation, &layout,
                     rdx_copy_slices(situation, &layout, rdx_div_up(layout.outputs, RDX_BLOCK_THREADS)), &trial);
        keep_trial(situation, &trial, &best);
    }
    if (holds_rows(situation, &layout, has_slabs)) {
        trial = *config;
        shape_registers(situation, &layout, &trial);
        keep_trial(situation, &trial, &best);
    }
    bool whole_rows = layout.run > 1 && layout.run == layout.count && situation->space->keep_rank > 0;
    int64_t row_bytes = whole_rows ? layout.count * layout.size : 0;
    if (whole_rows && row_bytes <= ROW_BYTES && (layout.run_align >= 16 || row_bytes <= layout.run_align)) {
        trial = *config;
        shape_rows(situation, &layout, &trial);
        keep_trial(situation, &trial, &best);
    }
    if (has_slabs) {
        trial = *config;
        shape_slabs(situation, &layout, slabs.of_warp, &trial);
        keep_trial(situation, &trial, &best);
    } else if (layout.row && layout.count <= layout.lanes && !rdx_rows_are_packed(situation, &layout) &&
               layout.slab_bytes > 0 && layout.slab_bytes <= LARGEST_SLAB_BYTES) {
        trial = *config;
        shape_tile(situation, &layout, &trial);
        keep_trial(situation, &trial, &best);
    }
    *config = best;
}

double rdx_plan_thread_cost(const RdxSituation *situation, RdxConfig *config)
{
    RdxLayout layout;
    RdxDemand demand;
    rdx_layout_of(&layout, situation);
    demand_of(situation, &layout, config, &demand);
    return rdx_cost_time(situation, config, &demand);
}
