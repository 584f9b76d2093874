/* The kernels of outputs that lie side by side, slabs and short runs of rows: what they take and how they cut it; see
   cuda_parts.h. */
#include "cuda_parts.h"

enum {
    BANKS = 32,
    BANK_BYTES = 4,
    WIDEST = 16,
    MOST_PAD = 112,
    WARP = 32,
    MOST_BYTES = RDX_CUDA_TILE - WIDEST, /* a tile starts up to 15 bytes behind a multiple of 16 */
    MOST_SLAB = MOST_BYTES - 3 * WIDEST, /* and a pitch is up to 46 bytes more than its slab (pitch_of) */
    LEAST_BYTES = 4096,
    LEAST_RUN = 2048,
    BLOCKS = 3,
    WAVES = 8,
    FEW_PARTS = 4,    /* of a run */
    LEAST_COLUMNS = 5 /* of a group of eight, all of which are folded */
};

/* Whether the elements of a slab leave no 16 bytes without one: then no vector is copied that holds none, which may be
   no memory of the caller's. */
static bool is_filled(const RdxSpace *space, const RdxLayout *layout)
{
    const RdxDim *dims[2 * RDX_MAX_RANK];
    int rank = 0;
    int64_t outputs = layout->slab_outputs, span = space->in_size;
    for (int d = space->keep_rank - 1; outputs > 1; outputs /= space->keep[d--].extent)
        dims[rank++] = &space->keep[d];
    for (int d = 0; d < space->reduce_rank; d++)
        dims[rank++] = &space->reduce[d];
    while (rank > 0) {
        int least = 0;
        for (int i = 1; i < rank; i++)
            if (dims[i]->in < dims[least]->in)
                least = i;
        if (dims[least]->in - span >= WIDEST)
            return false;
        span += (dims[least]->extent - 1) * dims[least]->in;
        dims[least] = dims[--rank];
    }
    return true;
}

static bool are_slabs(const RdxSituation *s, const RdxLayout *layout)
{
    const RdxSpace *space = s->space;
    bool fit = layout->slab_bytes > 0 && layout->slab_bytes <= MOST_SLAB &&
               rdx_cuda_fits_block((int64_t)RDX_CUDA_WARPS * RDX_CUDA_TILE, s);
    /* A handful of bytes for a warp each. */
    bool brief = layout->slab_run < layout->slabs && layout->slab_run * layout->slab_bytes < LEAST_RUN;
    return fit && !brief && space->keep_rank >= 2 && layout->count > 1 && layout->count <= layout->lanes &&
           layout->slab_outputs > 1 && space->copy_count == 1 && is_filled(space, layout) && rdx_space_is_dense(space);
}

/* How often the banks of shared memory are asked for an element of 32 neighbouring outputs. */
static int wavefronts(const RdxLayout *layout, int64_t pitch)
{
    int64_t words[WARP];
    int most = 0;
    for (int i = 0; i < WARP; i++) {
        int64_t slab = i / layout->slab_outputs, column = i % layout->slab_outputs;
        int same_bank = 1;
        words[i] = (slab * pitch + column * layout->keep_stride) / BANK_BYTES;
        for (int j = 0; j < i; j++) {
            if (words[j] == words[i]) {
                same_bank = 0;
                break;
            }
            same_bank += (words[j] - words[i]) % BANKS == 0;
        }
        most = rdx_max(most, same_bank);
    }
    return most;
}

/* Whether every slab starts at a multiple of 16. */
static bool are_aligned(const RdxLayout *layout)
{
    return layout->slab_step % WIDEST == 0 && layout->stream_align >= WIDEST;
}

/* Bytes from slab to slab in shared memory, 0: slabs that follow each other are copied as one stretch. Others, and
   those that are whole, aligned vectors, are copied one by one: as far behind a multiple of 16 as they lie in memory,
   and else as suits the banks. */
static int64_t pitch_of(const RdxLayout *layout)
{
    const bool aligned = are_aligned(layout);
    if (layout->dense && !aligned)
        return 0;
    int64_t least = rdx_round_up(layout->slab_bytes, WIDEST);
    if (!aligned)
        least += WIDEST + layout->slab_step % WIDEST;
    int64_t best = least;
    int fewest = layout->slab_outputs == layout->columns ? wavefronts(layout, least) : 1; /* else as it comes */
    for (int64_t pitch = least + WIDEST; fewest > 1 && pitch <= least + MOST_PAD && pitch <= MOST_BYTES;
         pitch += WIDEST) {
        int now = wavefronts(layout, pitch);
        if (now < fewest) {
            fewest = now;
            best = pitch;
        }
    }
    return best;
}

/* As many as its tile holds, fewer where that leaves few waves of blocks, the last of which is not a whole one, or less
   than a sixteenth of what are many blocks; and less a few for which threads would have nothing to do in their last
   turn, or which would leave a small rest of a run. */
static int64_t slabs_of_warp(const RdxSituation *s, const RdxLayout *layout, int64_t of_tile)
{
    const int64_t fewest = rdx_max(LEAST_BYTES / layout->slab_bytes, rdx_div_up(WARP, layout->slab_outputs));
    const int64_t waves = layout->slabs / ((int64_t)WAVES * BLOCKS * RDX_CUDA_WARPS * s->device->units);
    const int64_t all_busy = layout->slabs / (RDX_CUDA_WARPS * rdx_max(s->device->many_blocks / 16, 1));
    const int64_t most = rdx_max(rdx_min(rdx_min(of_tile, rdx_max(waves, fewest)), all_busy), 1);
    int64_t best = most;
    double most_used = 0;
    for (int64_t slabs = most; 4 * slabs > 3 * most; slabs--) {
        int64_t outputs = slabs * layout->slab_outputs;
        double used = (double)outputs / (double)rdx_round_up(outputs, WARP);
        if (used > most_used) {
            most_used = used;
            best = slabs;
        }
    }
    const int64_t parts = rdx_div_up(layout->slab_run, best);
    return parts <= FEW_PARTS ? rdx_div_up(layout->slab_run, parts) : best;
}

bool rdx_cuda_cut_slabs(RdxCudaSlabs *slabs, const RdxSituation *s, const RdxLayout *layout)
{
    if (!are_slabs(s, layout))
        return false;
    slabs->pitch = pitch_of(layout);
    slabs->of_tile = rdx_min(MOST_BYTES / rdx_max(slabs->pitch, layout->slab_bytes), layout->slab_run);
    slabs->of_warp = slabs_of_warp(s, layout, slabs->of_tile);
    return true;
}

/* n / divisor = high(n * magic) for n * divisor < 2^32, divisor > 1: what a tile holds is far fewer. */
static uint32_t magic_of(int64_t divisor)
{
    return (uint32_t)(((int64_t)1 << 32) / divisor + 1);
}

bool rdx_cuda_take_slabs(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    RdxCudaShape *shape = &launch->shape;
    RdxCudaSlabs slabs;
    RdxLayout layout;
    launch->elements = 1;
    if (config->variant != RDX_FORM_TILE || config->finishing != RDX_FINISHING_NONE || config->slices > 1)
        return false;
    rdx_layout_of(&layout, s);
    if (!rdx_cuda_cut_slabs(&slabs, s, &layout))
        return false;
    const int64_t vectors = rdx_div_up(layout.slab_bytes + (are_aligned(&layout) ? 0 : WIDEST - 1), WIDEST);
    rdx_cuda_take_parts(shape, config);
    shape->ring_bytes = RDX_CUDA_WARPS * RDX_CUDA_TILE;
    shape->mates = 1;
    shape->row_bytes = (int)layout.slab_bytes;
    shape->pitch = (int)slabs.pitch;
    shape->slab_step = layout.slab_step;
    shape->slab_vectors = (int)vectors;
    shape->vectors_magic = magic_of(vectors);
    shape->slab_outputs = (int)layout.slab_outputs;
    shape->inner_magic = magic_of(layout.slab_outputs);
    shape->group_outputs = slabs.of_warp * layout.slab_outputs;
    shape->run_outputs = layout.slab_run * layout.slab_outputs; /* of the dim around them */
    rdx_cuda_count_items(launch, s);
    return shape->items <= INT32_MAX && rdx_cuda_fits(launch, s);
}

/* Bytes of the runs of a whole group side by side: whole vectors, of eight elements of two bytes and more. */
static int64_t staged_pitch(const RdxLayout *layout)
{
    return RDX_CUDA_STAGED_OUTPUTS * layout->run * layout->size;
}

int64_t rdx_cuda_staged_runs(const RdxSituation *s, const RdxLayout *layout)
{
    const RdxSpace *space = s->space;
    const int64_t run_bytes = layout->run * layout->size, chunk = RDX_CUDA_CHUNK_LINES * layout->lanes;
    if (space->reduce_rank != 2 || space->reduce_count > INT32_MAX || layout->run < 2 ||
        run_bytes > RDX_CUDA_MOST_STAGED_RUN || layout->columns < LEAST_COLUMNS || layout->keep_stride != run_bytes ||
        rdx_common_align(layout->stream_align, space->reduce[0].in) < WIDEST || space->copy_count != 1 ||
        !RDX_CUDA_HAS_STAGED_RUNS(s->recipe->algebra, s->recipe->work, layout->size, (layout->state_bytes + 3) / 4,
                                  s->recipe->unit) ||
        !rdx_cuda_has_unmasked_map(s->recipe) || !rdx_cuda_is_ascending(space))
        return 0;
    /* The most runs that a chunk touches. */
    const int64_t runs = rdx_min((chunk - 2) / layout->run + 2, layout->runs), bytes = runs * staged_pitch(layout);
    return rdx_cuda_fits_block(bytes, s) ? bytes : 0;
}

/* Rows in several short runs, where neighbouring outputs have neighbouring ones. */
bool rdx_cuda_take_staged_runs(RdxCudaLaunch *launch, const RdxSituation *s, const RdxConfig *config)
{
    RdxCudaShape *shape = &launch->shape;
    RdxLayout layout;
    launch->elements = 1;
    if (config->variant != RDX_FORM_TILE || config->slices > 1 || config->residues > 1)
        return false;
    rdx_layout_of(&layout, s);
    const int64_t bytes = rdx_cuda_staged_runs(s, &layout), pitch = staged_pitch(&layout);
    if (bytes == 0)
        return false;
    rdx_cuda_take_parts(shape, config);
    rdx_cuda_take_run(shape, s->space);
    shape->mates = 1;
    shape->row_bytes = (int)(layout.run * layout.size);
    shape->slab_vectors = (int)(pitch / WIDEST);
    shape->vectors_magic = magic_of(shape->slab_vectors);
    shape->inner_magic = magic_of(layout.run);
    shape->group_outputs = RDX_CUDA_STAGED_OUTPUTS;
    shape->run_outputs = layout.columns;
    rdx_cuda_count_items(launch, s);
    const int64_t nodes = (int64_t)RDX_CUDA_STAGED_OUTPUTS * layout.lanes * launch->words * 4,
                  meeting = rdx_max(nodes, rdx_cuda_join_shared(shape, launch->words));
    shape->ring_bytes = (int)rdx_round_up(rdx_max(bytes, meeting), 512);
    return shape->items <= INT32_MAX && rdx_cuda_fits(launch, s);
}
