/* Reads a canonical space for the CUDA strategies: runs, columns, slabs, alignment, granules. See layout.h. The one
   surprise: a space may hold views that overlap themselves (sliding windows), so spans are never taken as sums. */
#include "layout.h"

static const char *const form_names[] = {
#define X(NAME, name) #name,
#include "forms.def"
#undef X
};

enum { GRANULE = 64, WIDEST = 16 };

const char *rdx_form_name(int form)
{
    return form >= 0 && form < RDX_FORM_COUNT ? form_names[form] : "?";
}

/* What divides the address of everything that a walk over the outermost `keeps` kept and `reduces` reduced dims
   meets. */
static int64_t alignment(const RdxSituation *situation, int keeps, int reduces)
{
    const RdxSpace *space = situation->space;
    int64_t align = rdx_common_align(situation->in_align > 0 ? situation->in_align : 1, 0);
    for (int d = 0; d < keeps; d++)
        align = rdx_common_align(align, space->keep[d].in);
    for (int d = 0; d < reduces; d++)
        align = rdx_common_align(align, space->reduce[d].in);
    return align;
}

/* Bytes from the first to past the last element of all reduced dims and the kept dims from `first` on. */
static int64_t span_of(const RdxSpace *space, int first)
{
    int64_t span = space->in_size;
    for (int d = 0; d < space->reduce_rank; d++)
        span += (space->reduce[d].extent - 1) * space->reduce[d].in;
    for (int d = first; d < space->keep_rank; d++)
        span += (space->keep[d].extent - 1) * space->keep[d].in;
    return span;
}

/* The innermost cut of the kept dims that no slab overlaps: few outputs a slab means short staging. */
static void find_slab(RdxLayout *layout, const RdxSpace *space)
{
    layout->slab_outputs = 1;
    for (int first = space->keep_rank; first >= 1; first--) {
        int64_t span = span_of(space, first);
        if (space->keep[first - 1].in >= span) {
            layout->slab_bytes = span;
            layout->slabs = layout->outputs / layout->slab_outputs;
            layout->slab_step = space->keep[first - 1].in;
            layout->slab_run = space->keep[first - 1].extent;
            layout->dense = layout->slab_step == span;
            return;
        }
        layout->slab_outputs *= space->keep[first - 1].extent;
    }
}

/* Granules that hold the input: dims from the smallest stride up; what leaves less than a granule unread reads all of
   it. */
static double touched_bytes(const RdxSpace *space)
{
    const RdxDim *dims[2 * RDX_MAX_RANK];
    int rank = 0;
    for (int i = 0; i < space->keep_rank + space->reduce_rank; i++) {
        const RdxDim *dim = i < space->keep_rank ? &space->keep[i] : &space->reduce[i - space->keep_rank];
        if (dim->in == 0)
            continue;
        int j = rank++;
        for (; j > 0 && dims[j - 1]->in > dim->in; j--)
            dims[j] = dims[j - 1];
        dims[j] = dim;
    }
    double span = space->in_size, pieces = 1;
    int64_t align = GRANULE;
    bool gap = false;
    for (int i = 0; i < rank; i++) {
        if (!gap && (double)dims[i]->in < span + GRANULE) {
            span += (double)(dims[i]->extent - 1) * (double)dims[i]->in;
            continue;
        }
        gap = true;
        pieces *= (double)dims[i]->extent;
        int64_t bits = dims[i]->in | align;
        align = bits & -bits;
    }
    /* A piece that starts at a multiple of `align` touches (span + GRANULE - align) / GRANULE granules on average. */
    double bytes = span + (double)(GRANULE - align);
    int64_t whole = bytes < 1e15 ? rdx_round_up((int64_t)bytes, GRANULE) : (int64_t)1e15;
    return pieces * (align == GRANULE && bytes < 1e15 ? (double)whole : bytes);
}

bool rdx_layout_is_row(const RdxSpace *space)
{
    const RdxDim *reduce = space->reduce_rank ? &space->reduce[space->reduce_rank - 1] : NULL;
    const RdxDim *keep = space->keep_rank ? &space->keep[space->keep_rank - 1] : NULL;
    return reduce && (!keep || reduce->in <= keep->in);
}

void rdx_layout_of(RdxLayout *layout, const RdxSituation *situation)
{
    const RdxSpace *space = situation->space;
    const RdxDim *reduce = space->reduce_rank ? &space->reduce[space->reduce_rank - 1] : NULL;
    const RdxDim *keep = space->keep_rank ? &space->keep[space->keep_rank - 1] : NULL;
    *layout = (RdxLayout){
        .size = space->in_size,
        .lanes = situation->recipe->lanes,
        .state_bytes = rdx_recipe_state_bytes(situation->recipe),
        .count = space->reduce_count,
        .chunk = rdx_recipe_chunk(situation->recipe),
        .outputs = space->keep_count,
        .run = 1,
        .columns = 1,
    };
    layout->chunks = rdx_div_up(layout->count, layout->chunk);
    layout->row = rdx_layout_is_row(space);
    if (reduce && reduce->in == space->in_size)
        layout->run = reduce->extent;
    layout->runs = layout->count / layout->run;
    layout->run_align = alignment(situation, space->keep_rank, space->reduce_rank - 1);
    if (keep) {
        layout->columns = keep->extent;
        layout->packed = keep->in == space->in_size;
    }
    layout->column_align = alignment(situation, space->keep_rank - 1, space->reduce_rank);
    layout->stream_align = alignment(situation, space->keep_rank - 1, 0);
    layout->fast_stride = layout->row ? reduce->in : keep ? keep->in : space->in_size;
    layout->fast_extent = layout->row ? reduce->extent : layout->columns;
    layout->keep_stride = keep ? keep->in : 0;
    layout->one_step = space->reduce_rank == 1;
    layout->flat = layout->packed && layout->one_step && reduce->in == layout->columns * space->in_size;
    if (layout->count > 0 && layout->outputs > 0)
        find_slab(layout, space);
    layout->touched = layout->count > 0 && layout->outputs > 0 ? touched_bytes(space) : 0;
    layout->written = (double)space->keep_count * (double)space->copy_count * (space->out_size + space->out2_size);
}

RdxForm rdx_layout_row_form(const RdxLayout *layout)
{
    if (layout->run == 1)
        return RDX_FORM_GATHER;
    bool halves = layout->run_align < layout->size; /* complex: a part is aligned, an element is not */
    if (layout->runs == 1)
        return layout->run_align >= WIDEST || halves ? RDX_FORM_ROWS : RDX_FORM_SHIFTED;
    int64_t run_bytes = layout->run * layout->size;
    if (halves || (layout->run_align >= WIDEST && run_bytes % WIDEST == 0))
        return RDX_FORM_RUNS;
    return RDX_FORM_GATHER;
}

RdxForm rdx_layout_column_form(const RdxLayout *layout)
{
    if (rdx_layout_shifts_columns(layout))
        return RDX_FORM_SHIFTED_COLUMNS;
    return layout->packed && layout->columns > 1 ? RDX_FORM_COLUMNS : RDX_FORM_GATHER;
}

bool rdx_layout_shifts_columns(const RdxLayout *layout)
{
    bool in_place = layout->column_align >= (layout->size == 1 ? 8 : WIDEST) || layout->column_align < layout->size;
    bool few = layout->count < 16 || layout->columns * layout->size < 4 * WIDEST; /* rows or columns */
    return layout->packed && layout->one_step && !in_place && !few;
}

bool rdx_layout_packs_rows(const RdxLayout *layout)
{
    return layout->dense && layout->slab_outputs == 1 && layout->run == layout->count;
}

/* Aligned supersets reach up to a vector beyond either end, so the proof keeps a page of margin. */
int rdx_layout_index_bits(const RdxSituation *situation)
{
    const RdxSpace *space = situation->space;
    const int64_t limit = ((int64_t)1 << 31) - 4096;
    bool safe = space->in_high - space->in_low < limit && space->out_high - space->out_low < limit &&
                space->out2_high - space->out2_low < limit && space->reduce_count < limit &&
                space->keep_count < limit && space->copy_count < limit;
    return safe ? 32 : 64;
}
