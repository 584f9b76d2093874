/* Blocks that read along the kept axis: block_x threads side by side, each with the 16 loads of one lane of its
   columns, and block_y lanes at once. Lane states wait in shared memory, where the block halves a batch of them in a
   rolled loop. few_columns reads a dense stream instead and cuts it into columns on chip. */
#include "cuda_parts.h"
#include "geometry.h"

enum { LINES = 16, BATCH = 32, SHARED_LIMIT = 49152 };

static int log2_of(int64_t n)
{
    return 63 - __builtin_clzll((unsigned long long)rdx_max(n, 1));
}

static int column_vector(const RdxLayout *layout, int form)
{
    if (form == RDX_FORM_GATHER)
        return (int)rdx_min(layout->size, layout->column_align);
    if (form == RDX_FORM_FEW_COLUMNS &&
        layout->stream_align < layout->size) /* complex: a part is aligned, an element is not */
        return (int)layout->stream_align;
    return (int)(form == RDX_FORM_COLUMNS ? layout->column_align : 16);
}

/* The batch of lanes and the stack of halved batches and chunks. */
static int64_t columns_shared(const RdxLayout *layout, const RdxConfig *config, int64_t tile_columns)
{
    int64_t lane_bytes = tile_columns * layout->state_bytes;
    int64_t batch = rdx_max(BATCH, config->block_y);
    while (batch > config->block_y && batch * lane_bytes > SHARED_LIMIT / 2)
        batch /= 2;
    int64_t levels = log2_of(rdx_max(layout->lanes / config->residues / batch, 1)) + log2_of(config->part_chunks) + 1;
    return (batch + levels) * lane_bytes;
}

/* As the kernel cuts it, whose threads have 128 registers at most and three groups of vectors on their way; false: it
   does not fit. */
static bool shape_few_columns(const RdxSituation *situation, const RdxLayout *layout, const RdxTrial *trial,
                              RdxConfig *config)
{
    const int words = (layout->state_bytes + 3) / 4;
    RdxCudaShape shape = {0};
    if (!rdx_cuda_cut_stream(&shape, situation, words, layout->columns, trial->part_chunks))
        return false;
    config->block_x = 32 * shape.warps;
    config->block_y = 1;
    config->lanes_per_output = layout->lanes;
    config->loads = (RDX_CUDA_RING_COLUMNS - 1) * RDX_CUDA_GROUP;
    config->shared_bytes = rdx_cuda_shared(&shape, words);
    config->registers = 128;
    return true;
}

static void shape_columns(const RdxSituation *situation, const RdxLayout *layout, const RdxTrial *trial,
                          RdxConfig *config, int64_t elements)
{
    config->block_x = trial->outputs;
    config->block_y = (int)rdx_min(RDX_BLOCK_THREADS / trial->outputs, rdx_pow2_ceil(rdx_max(layout->count, 1)));
    config->block_y = (int)rdx_max(rdx_min(config->block_y, layout->lanes / trial->residues), 1);
    config->lanes_per_output = config->block_y;
    /* Where lanes hold few elements, a thread takes several lanes at once. */
    config->loads = (int)rdx_max(rdx_min(rdx_div_up(layout->count, config->block_y * trial->residues), LINES), 1);
    config->part_chunks = trial->part_chunks;
    config->residues = trial->residues;
    config->shared_bytes = columns_shared(layout, config, elements * config->block_x);
    int registers = rdx_register_budget(situation, config->loads, config->vector_bytes, elements);
    config->registers = (int)rdx_min(registers, RDX_MOST_REGISTERS);
}

static bool fits(const RdxDeviceInfo *device, const RdxConfig *config)
{
    int threads = config->block_x * config->block_y;
    return config->shared_bytes <= device->shared_per_block &&
           threads * rdx_round_up(config->registers, 8) <= device->registers_per_unit;
}

void rdx_columns_shape(const RdxSituation *situation, const RdxLayout *layout, const RdxTrial *trial, RdxConfig *config)
{
    config->variant = trial->form;
    config->vector_bytes = column_vector(layout, trial->form);
    config->stages = 0;
    config->tile_bytes = 0;
    config->index_bits = rdx_layout_index_bits(situation);
    int64_t elements = rdx_max(config->vector_bytes / layout->size, 1);
    int64_t shift = trial->form == RDX_FORM_SHIFTED_COLUMNS; /* the last vector of a tile is for the one before it */
    int64_t outer = layout->outputs / layout->columns, groups = outer, group_outputs = layout->columns;
    if (trial->form == RDX_FORM_FEW_COLUMNS) {
        if (!shape_few_columns(situation, layout, trial, config)) {
            config->items = -1;
            return;
        }
    } else {
        shape_columns(situation, layout, trial, config, elements);
        /* The stack has the depth of a whole chunk, of which few rows fill little: 32 vectors of 8 elements with states
           of 24 bytes took 72 KiB for a single row, and narrower blocks would be no whole warp. One element a thread
           always fits. */
        while (trial->form == RDX_FORM_COLUMNS && elements > 1 && !fits(situation->device, config)) {
            elements /= 2;
            config->vector_bytes /= 2;
            shape_columns(situation, layout, trial, config, elements);
        }
        group_outputs = rdx_min(elements * (config->block_x - shift), layout->columns);
        groups = outer * rdx_div_up(layout->columns, rdx_max(group_outputs, 1));
    }
    if (trial->form == RDX_FORM_SHIFTED_COLUMNS && !fits(situation->device, config)) { /* an element a thread does */
        RdxTrial alone = *trial;
        alone.form = RDX_FORM_COLUMNS;
        rdx_columns_shape(situation, layout, &alone, config);
        return;
    }
    /* Narrow blocks over few elements would be no whole warp; 32 vectors side by side always are. */
    bool whole_warps = config->block_x * config->block_y % 32 == 0;
    if (group_outputs == 0 || !whole_warps || !fits(situation->device, config) ||
        !rdx_cut(layout, trial, groups, group_outputs, config)) {
        config->items = -1;
        return;
    }
    RdxDemand demand;
    rdx_columns_demand(situation, layout, config, &demand);
    rdx_cost_occupy(situation, config, &demand);
}

/* What reading rows piecemeal costs the memory, measured on an H200 over 4096 x 65536 f32, 234 us as a stream: pieces
   of 16, 32, 64, 128, 256 and 512 bytes took 1716, 476, 384, 242, 239 and 241 us. From 128 bytes on it is the threads
   of a warp that have to join lanes: 65536 x 4096 in pieces of 128, 256 and 512 took 249, 248 and 246 us, var 286, 269
   and 256. Where rows are no multiples of 128 bytes pieces share lines: 100003 x 1000 in pieces of 64, 128, 256 and 512
   115, 108, 103 and 102. Nothing where a piece is the whole of a packed row. */
static double narrowness(const RdxSituation *situation, const RdxLayout *layout, const RdxConfig *config,
                         double elements)
{
    const RdxSpace *space = situation->space;
    int64_t pitch = space->reduce_rank ? space->reduce[space->reduce_rank - 1].in : 0;
    double piece = config->block_x * elements * (double)(layout->packed ? layout->size : layout->fast_stride);
    double row = (double)layout->columns * (double)layout->fast_stride;
    if (config->variant == RDX_FORM_FEW_COLUMNS || piece >= row)
        return 1;
    if (piece < 128)
        return 0.8 * 128 / piece;
    /* Pieces that start anywhere touch a sector and a half more than they use, on the average. */
    if (config->variant == RDX_FORM_SHIFTED_COLUMNS)
        return 1 + 48 / (piece - 16);
    double words = layout->state_bytes / 4.0, shared_lines = pitch % 128 == 0 ? 0 : 8 / piece;
    return 1.01 + 0.004 * words * (piece < 256 ? 2 : piece < 512 ? 1 : 0) + shared_lines;
}

void rdx_columns_demand(const RdxSituation *situation, const RdxLayout *layout, const RdxConfig *config,
                        RdxDemand *demand)
{
    rdx_demand_traffic(situation, layout, config, demand);
    double outputs = (double)layout->outputs * (double)config->slices, count = (double)layout->count * outputs;
    double elements = (double)rdx_max(config->vector_bytes / layout->size, 1), bytes = count * layout->size;
    double push = rdx_cost_push(situation), join = rdx_cost_join(situation), words = layout->state_bytes / 4.0;
    double lines = (double)rdx_max(rdx_min(rdx_div_up(layout->count, layout->lanes), LINES), 1);
    double each = config->vector_bytes;
    demand->wavefronts = bytes / 128 + count / lines * words / 16;
    demand->instructions = count / elements * (4 + elements * push) + count / lines * (join + 3 * words);
    if (config->variant == RDX_FORM_SHIFTED_COLUMNS)
        demand->wavefronts += bytes / 128;
    if (config->variant == RDX_FORM_FEW_COLUMNS) /* a barrier for each level of the halving */
        demand->instructions += (double)config->items * config->block_x * 60;
    demand->instructions += outputs * (double)config->split * config->residues * 60;
    if (config->variant == RDX_FORM_GATHER) {
        demand->instructions += count * 6;
        demand->wavefronts = rdx_strided_wavefronts(count, layout->size, layout->fast_stride, layout->columns);
        each = (double)rdx_max(rdx_min(layout->fast_stride, 32), config->vector_bytes);
    }
    /* Vectors that hang over the last column, or threads beyond it, keep nothing in flight. */
    double used = (double)layout->columns / ((double)rdx_div_up(layout->columns, config->block_x * (int64_t)elements) *
                                             (double)config->block_x * elements);
    if (config->variant == RDX_FORM_FEW_COLUMNS)
        used = 1;
    if (config->variant == RDX_FORM_SHIFTED_COLUMNS)
        used *= (config->block_x - 1.0) / config->block_x;
    demand->read *= narrowness(situation, layout, config, elements);
    demand->block_flight = (double)config->block_x * config->block_y * config->loads * each * (used < 1 ? used : 1);
    demand->instructions /= used < 1 ? used : 1;
}
