/* See plan_rules.h. Everything here is worked out from the space and the device, not by the planner's own functions. */
#include "plan_rules.h"

#include <check.h>
#include <math.h>
#include <plan/cost.h>
#include <stdio.h>
#include <string.h>

enum { COUNTERS = RDX_WORKSPACE_HEAD / 4 };

typedef struct Random {
    uint64_t state;
} Random;

static uint64_t draw(Random *random)
{
    uint64_t z = random->state += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
}

static int64_t below(Random *random, int64_t n)
{
    return (int64_t)(draw(random) % (uint64_t)n);
}

/* From 1 up, every power of two as likely as the next; a power of two itself half of the time. */
static int64_t draw_extent(Random *random, int bits)
{
    int b = (int)below(random, bits + 1);
    int64_t least = (int64_t)1 << b;
    return below(random, 2) ? least : least + below(random, least);
}

/* An aligned matrix and its rows: `count` elements each, `step` apart, one row `pitch` after the other. */
static void lay_rows(PlanShape *shape, int64_t rows, int64_t count, int64_t step, int64_t pitch)
{
    shape->extent[0] = shape->out_extent[0] = rows;
    shape->extent[1] = count;
    shape->stride[0] = pitch;
    shape->stride[1] = step;
    shape->axes[0] = 1;
    shape->in.ndim = 2;
    shape->out.ndim = shape->out2.ndim = shape->problem.naxes = 1;
    shape->in.byte_offset = 0;
    shape->in_align = 256;
}

/* Aligned rows of 4 to 512 bytes, a power of two, or of whole vectors, two lines of them to eight, with nothing between
   them: of the others too few are like that. Several rows of the latter at once are not for logsumexp. */
static void pack_rows(PlanShape *shape, Random *random, int size, bool lines)
{
    int64_t bytes = lines ? 1024 + 16 * below(random, 193) : rdx_max(4 << below(random, 8), size);
    lay_rows(shape, draw_extent(random, 24), bytes / size, 1, bytes / size);
}

/* Many aligned rows of 3, 5, 6 or 7 elements with nothing between them. */
static void lay_short_rows(PlanShape *shape, Random *random)
{
    static const int counts[] = {3, 5, 6, 7};
    int64_t rows = ((int64_t)1 << 20) + draw_extent(random, 24), count = counts[below(random, 4)];
    lay_rows(shape, rows, count, 1, count);
}

/* Many rows of two lines to four with nothing between them. */
static void lay_lines(PlanShape *shape, Random *random, int size)
{
    int64_t rows = 16384 + draw_extent(random, 20), count = (512 + below(random, 1537)) / size;
    lay_rows(shape, rows, count, 1, count);
}

/* Every second element of rows of whole vectors. */
static void step_rows(PlanShape *shape, Random *random)
{
    int64_t rows = draw_extent(random, 16), count = 8 * draw_extent(random, 14);
    lay_rows(shape, rows, count, 2, 2 * count);
}

/* Packed columns: odd in number, of a line of rows and more, or of part of a line. */
static void lay_columns(PlanShape *shape, Random *random)
{
    bool few = below(random, 2);
    int64_t rows = few ? 17 + below(random, 40) : 512 + draw_extent(random, 14);
    int64_t columns = (few ? 2048 : 1) + (few && below(random, 2) ? 16 : 2) * draw_extent(random, 9);
    lay_rows(shape, rows, columns, 1, columns);
    shape->axes[0] = 0;
    shape->out_extent[0] = columns;
}

/* Many columns of whole vectors, of two to eight rows. */
static void lay_few_rows(PlanShape *shape, Random *random)
{
    int64_t columns = 65536 + 16 * draw_extent(random, 16);
    lay_rows(shape, 2 + below(random, 7), columns, 1, columns);
    shape->axes[0] = 0;
    shape->out_extent[0] = columns;
}

/* Aligned rows of `outer` runs each, `pitch` elements from those of the next row, `step` from each other. */
static void lay_runs(PlanShape *shape, int64_t outer, int64_t rows, int64_t run, int64_t pitch, int64_t step)
{
    shape->extent[0] = outer;
    shape->extent[1] = shape->out_extent[0] = rows;
    shape->extent[2] = run;
    shape->stride[2] = 1;
    shape->stride[1] = pitch;
    shape->stride[0] = step;
    shape->axes[0] = 0;
    shape->axes[1] = 2;
    shape->in.ndim = 3;
    shape->out.ndim = shape->out2.ndim = 1;
    shape->problem.naxes = 2;
    shape->in.byte_offset = 0;
    shape->in_align = 256;
}

/* Rows in several runs, aligned to so many elements and a multiple of as many. */
static void cut_rows_into_runs(PlanShape *shape, Random *random, int unit)
{
    int64_t run = unit * draw_extent(random, 12), outer = draw_extent(random, 6), rows = draw_extent(random, 8),
            pitch = run + unit * below(random, 2);
    lay_runs(shape, outer, rows, run, pitch, rows * pitch);
}

/* The same of short runs of any length, next to those of the next row; all rows together are whole vectors. */
static void lay_side_by_side(PlanShape *shape, Random *random, int size)
{
    int64_t run = 2 + below(random, 1023 / size), outer = draw_extent(random, 14), rows = 1 + draw_extent(random, 8);
    lay_runs(shape, outer, rows, run, run, rdx_round_up(rows * run, rdx_max(16 / size, 1)));
}

/* A short axis between short runs: slabs, some with gaps of less than 16 bytes within them, some with gaps between
   them. */
static void lay_slabs(PlanShape *shape, Random *random, int size)
{
    int64_t columns = 2 + below(random, 31), pitch = columns + (below(random, 3) ? 0 : below(random, 16 / size));
    int64_t count = 2 + below(random, rdx_max(rdx_min(512 / size, 9000 / (pitch * size)) - 1, 1));
    shape->extent[0] = shape->out_extent[0] = 2 + draw_extent(random, 16);
    shape->extent[1] = count;
    shape->extent[2] = shape->out_extent[1] = columns;
    shape->stride[2] = 1;
    shape->stride[1] = pitch;
    shape->stride[0] = count * pitch + (below(random, 3) ? 0 : below(random, 9));
    shape->axes[0] = 1;
    shape->in.ndim = 3;
    shape->out.ndim = shape->out2.ndim = 2;
    shape->problem.naxes = 1;
}

void plan_random_shape(PlanShape *shape, uint64_t seed)
{
    Random state = {seed * 0xD1342543DE82EF95}, *random = &state;
    int order[8], rank = (int)below(random, 7), bits = 36, op = 1 + (int)below(random, RDX_OP_COUNT - 1);
    RdxType in = (RdxType)below(random, RDX_TYPE_COUNT);
    while (!rdx_op_accepts(op, in))
        in = (RdxType)below(random, RDX_TYPE_COUNT);
    const bool byte_columns = seed % 32 == 1 || seed % 32 == 30;
    if (byte_columns) { /* extremes of bytes, which have a kernel of their own */
        op = RDX_MAX;
        in = RDX_TYPE_I8;
    }
    const bool halves = seed % 16 == 5 && rdx_op_accepts(op, RDX_TYPE_BF16), side_by_side = seed % 16 == 13;
    in = halves ? RDX_TYPE_BF16 : in;
    if (side_by_side && rdx_op_accepts(op, RDX_TYPE_F32))
        in = below(random, 2) ? RDX_TYPE_F32 : RDX_TYPE_F16;
    *shape = (PlanShape){.problem = RDX_PROBLEM_INIT};
    for (int d = 0; d < rank; d++) {
        shape->extent[d] =
            below(random, 60) == 0 ? 0 : draw_extent(random, (int)below(random, bits < 34 ? bits + 1 : 35));
        for (bits = 36; d >= 0 && bits > 0; bits--) { /* what is left of 2^36 */
            double product = 1;
            for (int i = 0; i <= d; i++)
                product *= (double)rdx_max(shape->extent[i], 1);
            if (product * (double)((int64_t)1 << bits) <= 68719476736.0)
                break;
        }
        order[d] = d;
    }
    if (below(random, 3) == 0)
        for (int d = rank - 1; d > 0; d--) {
            int other = (int)below(random, d + 1), swap = order[d];
            order[d] = order[other];
            order[other] = swap;
        }
    int64_t step = below(random, 6) == 0 ? 1 + below(random, 4) : 1;
    for (int i = rank - 1; i >= 0; i--) {
        int d = order[i];
        shape->stride[d] = below(random, 8) == 0 ? 0 : below(random, 8) == 0 ? -step : step;
        step *= rdx_max(shape->extent[d], 1);
        step += below(random, 6) == 0 ? below(random, 20) : 0;
    }
    int naxes = 0, kept = 0;
    for (int d = 0; d < rank; d++) {
        if (below(random, 2))
            shape->axes[naxes++] = d;
        else
            shape->out_extent[kept++] = shape->extent[d];
    }
    shape->in = (RdxTensor){NULL, {1, 0}, rank, rdx_types[in].dtype, shape->extent, shape->stride, 0};
    shape->in.byte_offset = below(random, 3) ? 0 : (uint64_t)(below(random, 9) * rdx_types[in].size);
    shape->out =
        (RdxTensor){NULL, {1, 0}, kept, rdx_types[rdx_op_default_out(op, in)].dtype, shape->out_extent, NULL, 0};
    shape->problem.op = op;
    shape->problem.axes = shape->axes;
    shape->problem.naxes = naxes;
    shape->problem.in = &shape->in;
    shape->problem.out = &shape->out;
    RdxType out2 = rdx_op_default_out2(op, in);
    if (out2 < RDX_TYPE_COUNT && (op == RDX_MINMAX || below(random, 3) == 0)) {
        shape->out2 = shape->out;
        shape->out2.dtype = rdx_types[out2].dtype;
        shape->problem.out2 = &shape->out2;
    }
    shape->problem.nan = (rdx_ops[op].options & RDX_OPTION_NAN) && below(random, 4) == 0;
    int64_t align = rdx_type_align(in);
    shape->in_align = rdx_max(align, (int64_t)1 << below(random, 9));
    bool lines = seed % 16 == 8 && op != RDX_LOGSUMEXP;
    if (lines || seed % 16 == 0)
        pack_rows(shape, random, rdx_types[in].size, lines);
    if (seed % 16 == 4)
        cut_rows_into_runs(shape, random, 16);
    if (halves)
        cut_rows_into_runs(shape, random, 4);
    if (seed % 16 == 12)
        step_rows(shape, random);
    if (side_by_side)
        lay_side_by_side(shape, random, rdx_types[in].size);
    if (seed % 8 == 2)
        lay_columns(shape, random);
    if (seed % 16 == 14 || byte_columns)
        lay_few_rows(shape, random);
    if (seed % 16 == 6 || seed % 16 == 7)
        lay_short_rows(shape, random);
    if (seed % 32 == 11 && op != RDX_LOGSUMEXP)
        lay_lines(shape, random, rdx_types[in].size);
    if (seed % 16 == 3)
        lay_slabs(shape, random, rdx_types[in].size);
    for (int i = 0; seed % 32 == 9 && i < naxes; i++) /* one element over and over */
        shape->stride[shape->axes[i]] = 0;
}

char plan_where[1024];

void plan_note(const PlanCase *p, const RdxConfig *c, uint64_t seed)
{
    char space[512];
    rdx_space_print(&p->space, space, sizeof space);
    snprintf(plan_where, sizeof plan_where,
             "seed %llu, %s, %s %s, align %lld, offset %lld: %s\n  %s/%s grid %lld items %lld groups %lld outputs %lld "
             "split %lld "
             "part %lld residues %d block %dx%d registers %d shared %lld workspace %lld flight %.0f waves %.3f",
             (unsigned long long)seed, p->situation.device->name, rdx_ops[p->recipe.op].name,
             rdx_types[p->recipe.in].name, (long long)p->situation.in_align, (long long)p->space.in_offset, space,
             rdx_strategies[c->strategy].name, rdx_form_name(c->variant), (long long)c->grid, (long long)c->items,
             (long long)c->groups, (long long)c->outputs_per_block, (long long)c->split, (long long)c->part_chunks,
             c->residues, c->block_x, c->block_y, c->registers, (long long)c->shared_bytes,
             (long long)c->workspace_bytes, c->flight_bytes, c->waves);
}

static bool is_pow2(int64_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

static void check_limits(const RdxDeviceInfo *device, const RdxConfig *c)
{
    int64_t threads = (int64_t)c->block_x * c->block_y, warps = rdx_div_up(threads, 32);
    KEEPS(threads >= 1 && threads <= 1024);
    KEEPS(c->registers >= 24 && c->registers <= 255);
    KEEPS(rdx_round_up(c->registers, 8) * warps * 32 <= device->registers_per_unit);
    KEEPS(c->shared_bytes >= 0 && c->shared_bytes <= device->shared_per_block);
    KEEPS(c->stages * c->tile_bytes <= c->shared_bytes);
    KEEPS(c->resident >= 1 && c->resident <= device->blocks_per_unit);
    KEEPS(c->resident * threads <= device->threads_per_unit);
    KEEPS(c->resident * rdx_round_up(c->registers, 8) * warps * 32 <= device->registers_per_unit);
    KEEPS(c->resident == 1 || c->resident * (c->shared_bytes + 1024) <= device->shared_per_unit + 1024);
    KEEPS(c->grid >= 0 && c->grid <= INT32_MAX);
    KEEPS(c->finish_grid >= 0 && c->finish_grid <= INT32_MAX);
    KEEPS(c->loads >= 1 && c->loads <= 256);
    KEEPS(is_pow2(c->vector_bytes) && c->vector_bytes <= 16);
    KEEPS(c->bytes >= 0 && isfinite(c->bytes) && isfinite(c->flight_bytes) && isfinite(c->waves));
    KEEPS(isfinite(c->cost_us) && c->cost_us >= device->launch_us);
}

/* Parts are aligned power-of-two chunk runs that cover every chunk once; lane classes cover every lane once. */
static void check_parts(const PlanCase *p, const RdxConfig *c)
{
    int64_t chunk = rdx_recipe_chunk(&p->recipe), chunks = rdx_div_up(p->space.reduce_count, chunk), covered = 0;
    KEEPS(is_pow2(c->part_chunks) && is_pow2(c->residues) && c->residues <= p->recipe.lanes);
    KEEPS(c->residues == 1 || c->part_chunks == 1);
    KEEPS(c->split >= 1 && c->slices >= 1);
    int64_t step = rdx_max(c->split / 1000, 1);
    for (int64_t part = 0; part < c->split; part += part + step < c->split ? step : rdx_max(c->split - 1 - part, 1)) {
        int64_t first = part * c->part_chunks, last = rdx_min(first + c->part_chunks, chunks);
        KEEPS(first % c->part_chunks == 0);
        KEEPS(last > first || chunks == 0);
        covered = last;
    }
    KEEPS(covered == chunks);
    KEEPS((c->split - 1) * c->part_chunks < rdx_max(chunks, 1));
    int lanes = 0;
    for (int r = 0; r < c->residues; r++)
        lanes += (p->recipe.lanes - r + c->residues - 1) / c->residues;
    KEEPS(lanes == p->recipe.lanes);
}

static void check_workspace(const PlanCase *p, const RdxConfig *c)
{
    const RdxSpace *space = &p->space;
    int64_t parts = c->split * c->residues;
    KEEPS((double)c->groups * (double)c->outputs_per_block >= (double)space->keep_count);
    KEEPS(c->items == c->groups * parts * c->slices);
    KEEPS(c->grid <= c->items && (c->grid > 0) == (c->items > 0));
    KEEPS(parts == 1 || c->slices == 1);
    if (c->finishing == RDX_FINISHING_NONE) {
        KEEPS(parts == 1 && c->workspace_bytes == 0 && c->finish_grid == 0);
        return;
    }
    double least = RDX_WORKSPACE_HEAD + (double)parts * (double)space->keep_count * rdx_recipe_state_bytes(&p->recipe);
    double input = (double)space->keep_count * (double)space->reduce_count * space->in_size;
    KEEPS(strcmp(rdx_strategies[c->strategy].name, "global") == 0);
    KEEPS((double)c->workspace_bytes >= least);
    KEEPS((double)c->workspace_bytes <= RDX_WORKSPACE_HEAD + (input / 100 > 4194304 ? input / 100 : 4194304));
    KEEPS(c->groups <= COUNTERS);
    KEEPS(parts == 1 || c->grid == c->items); /* the last block counts all of its group */
    KEEPS((c->finishing == RDX_FINISHING_LAUNCH) == (c->finish_grid > 0));
}

static __int128 span_of(const RdxDim *dims, int rank, int operand)
{
    __int128 span = 0;
    for (int d = 0; d < rank; d++) {
        __int128 stride = operand == 0 ? dims[d].in : operand == 1 ? dims[d].out : dims[d].out2;
        span += (dims[d].extent - 1) * (stride < 0 ? -stride : stride);
    }
    return span;
}

/* Worked out from the dims, not from the bounds that the planner reads. */
static void check_index_width(const PlanCase *p, const RdxConfig *c)
{
    const RdxSpace *s = &p->space;
    const __int128 limit = (__int128)1 << 31;
    KEEPS(c->index_bits == 32 || c->index_bits == 64);
    if (c->index_bits == 64)
        return;
    __int128 in = span_of(s->keep, s->keep_rank, 0) + span_of(s->reduce, s->reduce_rank, 0) + s->in_size + 32;
    KEEPS(in < limit);
    for (int operand = 1; operand <= 2; operand++)
        KEEPS(span_of(s->keep, s->keep_rank, operand) + span_of(s->copy, s->copy_rank, operand) + 16 < limit);
    KEEPS(s->keep_count < limit && s->reduce_count < limit && s->copy_count < limit);
    __int128 index = s->index_offset;
    for (int d = 0; d < s->reduce_rank; d++)
        index += (__int128)(s->reduce[d].extent - 1) * (s->reduce[d].index > 0 ? s->reduce[d].index : 0);
    KEEPS(!s->indexed || s->reduce_count == 0 || index < limit);
}

/* Forms that load vectors where they lie: every address that a vector may start at is a multiple of it. */
static void check_vectors(const PlanCase *p, const RdxConfig *c)
{
    const RdxSpace *s = &p->space;
    int64_t vector = c->vector_bytes, bits = p->situation.in_align;
    bool along_rows = c->variant == RDX_FORM_ROWS || c->variant == RDX_FORM_RUNS;
    bool along_columns = c->variant == RDX_FORM_COLUMNS || c->variant == RDX_FORM_REGISTERS;
    if (s->keep_count == 0 || s->reduce_count == 0 || (!along_rows && !along_columns && c->variant != RDX_FORM_GATHER))
        return;
    for (int d = 0; d < s->keep_rank - along_columns; d++)
        bits |= s->keep[d].in;
    for (int d = 0; d < s->reduce_rank - along_rows; d++)
        bits |= s->reduce[d].in;
    KEEPS(bits % vector == 0);
    if (along_rows)
        KEEPS(s->reduce_rank > 0 && s->reduce[s->reduce_rank - 1].in == s->in_size);
    if (along_columns)
        KEEPS(s->keep_rank > 0 && s->keep[s->keep_rank - 1].in == s->in_size);
    if (c->variant == RDX_FORM_RUNS) /* and none straddles the end of a run */
        KEEPS(s->reduce[s->reduce_rank - 1].extent * s->in_size % vector == 0);
}

bool plan_keeps_busy(const PlanCase *p, const RdxConfig *c)
{
    RdxLayout layout;
    rdx_layout_of(&layout, &p->situation);
    const RdxDeviceInfo *device = p->situation.device;
    double elements = (double)layout.count * (double)layout.outputs * layout.size;
    if (layout.touched < device->units * 1048576.0 || elements < 0.5 * layout.touched || layout.slab_bytes == 0)
        return false;
    KEEPS(c->items >= device->units);
    KEEPS(c->waves >= 0.9 || c->items >= 2 * device->units);
    bool stretches = layout.run * layout.size >= 512 || (layout.packed && layout.columns * layout.size >= 512);
    /* Columns that are not aligned, and too few rows to be shifted, are loaded an element at a time as those of gather
       are; blocks of narrow ones share what few rows there are. */
    bool columns = c->variant == RDX_FORM_COLUMNS || c->variant == RDX_FORM_SHIFTED_COLUMNS;
    bool singles = c->variant == RDX_FORM_GATHER || c->variant == RDX_FORM_REPEATS;
    if (singles || (columns && c->vector_bytes < 16) || (!stretches && (columns || !layout.flat)))
        return false;
    KEEPS(c->flight_bytes >= 2 * rdx_cost_table(device)->busy_bytes);
    return true;
}

void plan_keeps_rules(const PlanCase *p, const RdxConfig *c)
{
    check_limits(p->situation.device, c);
    check_parts(p, c);
    check_workspace(p, c);
    check_index_width(p, c);
    check_vectors(p, c);
}
