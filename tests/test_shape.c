/* How CUDA plans are launched (src/plan/cuda_*.c), held against random spaces and all candidate plans of three GPUs:
   every output, chunk and lane belongs to exactly one item, the workspace and counters that the plan asked for are
   enough, shared memory stays within the device's. What is checked is worked out from the fields as the kernels read
   them (grid.cuh, tile.cuh, rows.cuh), so no GPU is needed. */
#include "shape_slabs.h"

#include <stdio.h>
#include <string.h>

static const char *const devices[] = {"h200", "a100", "t4"};

enum { SHAPES = 4000, KERNEL_SHARED = 3072 };

typedef struct Group {
    int64_t first, outputs;
} Group;

static Group group_at(const RdxCudaShape *s, int64_t group) /* as grid.cuh has it */
{
    int64_t run = group / s->groups_per_run, within = group % s->groups_per_run * s->group_outputs;
    return (Group){run * s->run_outputs + within, rdx_min(s->run_outputs - within, s->group_outputs)};
}

/* Groups follow each other without gap or overlap, from the first output to the last. Of many, the first, the last,
   those at the ends of runs, and some between are looked at. */
static void check_groups(const PlanCase *p, const RdxCudaShape *s)
{
    if (p->space.keep_count == 0) {
        KEEPS(s->items == 0 && s->groups == 0);
        return;
    }
    KEEPS(s->group_outputs >= 1 && s->run_outputs >= 1 && p->space.keep_count % s->run_outputs == 0);
    KEEPS(s->groups >= 1 && group_at(s, 0).first == 0);
    Group last = group_at(s, s->groups - 1);
    KEEPS(last.first + last.outputs == p->space.keep_count);
    int64_t step = rdx_max(s->groups / 300, 1);
    for (int64_t g = 0; g + 1 < s->groups; g += g < 300 ? 1 : step) {
        int64_t end = rdx_min(g / s->groups_per_run * s->groups_per_run + s->groups_per_run, s->groups) - 1;
        for (int64_t at = g; at + 1 < s->groups && at <= end; at += rdx_max(end - at, 1)) {
            Group here = group_at(s, at), next = group_at(s, at + 1);
            KEEPS(here.outputs >= 1 && here.outputs <= s->group_outputs);
            KEEPS(here.first + here.outputs == next.first);
        }
    }
    KEEPS(!s->simple || (s->items == s->groups && s->run_outputs >= p->space.keep_count));
    /* An output that is a value is as wide as one, has one copy and is alone. */
    KEEPS(s->value_bytes == 0 || (s->plain && s->value_bytes == rdx_types[p->recipe.out].size));
    KEEPS(s->value_bytes == 0 || (p->recipe.second == RDX_SECOND_NONE && p->recipe.unit == 1));
    KEEPS(!s->direct || s->value_bytes >= 4);
}

static bool is_pow2(int64_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

static int log2_of(int64_t n)
{
    return n > 1 ? 64 - __builtin_clzll((unsigned long long)n - 1) : 0;
}

/* Rows that are read into registers lie as their kernel takes it: all in aligned vectors, or an element never between
   two of them. */
static void check_places(const PlanCase *p, const RdxCudaLaunch *cut)
{
    int64_t bits = p->situation.in_align;
    for (int d = 0; d < p->space.keep_rank; d++)
        bits |= p->space.keep[d].in;
    bool halves = cut->kind == RDX_CUDA_KIND_HALF_ROWS, runs = halves || cut->kind == RDX_CUDA_KIND_RUN_ROWS;
    int steps = cut->kind == RDX_CUDA_KIND_STEPPED_ROWS ? 2 : 1, vector = halves ? RDX_CUDA_HALF_VECTOR : 16;
    KEEPS(p->space.reduce_rank == 1 + runs && p->space.reduce[runs].in == steps * p->space.in_size);
    KEEPS(cut->elements * p->space.in_size * steps == vector);
    KEEPS(steps == 1 || RDX_CUDA_HAS_STEPPED_ROWS(p->space.in_size, cut->words));
    KEEPS(!halves || RDX_CUDA_HAS_HALF_ROWS(p->space.in_size, cut->words));
    bool anywhere = cut->kind == RDX_CUDA_KIND_SHIFTED_ROWS || cut->kind == RDX_CUDA_KIND_STAGED_ROWS;
    KEEPS(bits % (anywhere ? p->space.in_size : vector) == 0);
    KEEPS((cut->shape.run > 0) == runs);
    if (runs) {
        int64_t run = p->space.reduce[1].extent * p->space.in_size;
        KEEPS(p->space.reduce[0].in % vector == 0 && run % vector == 0);
        KEEPS(cut->shape.run_gap == p->space.reduce[0].in - run);
        KEEPS(p->space.reduce_count <= INT32_MAX);
    }
}

/* Levels of finished lanes on a thread's stack, of chunks of whole lines or of one of n: of threads without rings what
   is asked for at once is one run. */
static int thread_levels(const PlanCase *p, const RdxCudaLaunch *cut, int64_t n)
{
    const bool single = cut->kind == RDX_CUDA_KIND_SINGLE_COLUMNS;
    if (!single && cut->kind != RDX_CUDA_KIND_STRAIGHT_COLUMNS)
        return cut->shape.lanes_log2;
    const int vectors = cut->elements * cut->words > 8 ? 8 : 16;
    int lines = (int)rdx_min(rdx_div_up(n, p->recipe.lanes), 16), lanes = 1;
    lines = lines > vectors >> cut->shape.lanes_log2 ? lines : vectors >> cut->shape.lanes_log2;
    lines = single && lines > 1 ? (lines > 4 ? 16 : 4) : (int)rdx_pow2_ceil(lines);
    while (2 * lanes * lines <= vectors)
        lanes *= 2;
    return cut->shape.lanes_log2 - log2_of(lanes);
}

/* Each chunk in one part, each lane of a chunk in one residue class and there in one place of one batch. */
static void check_parts(const PlanCase *p, const RdxCudaLaunch *cut)
{
    const RdxCudaShape *s = &cut->shape;
    int64_t chunk = RDX_CUDA_CHUNK_LINES * cut->lanes, chunks = rdx_div_up(p->space.reduce_count, chunk);
    bool rings = cut->kind == RDX_CUDA_KIND_RING_COLUMNS || cut->kind == RDX_CUDA_KIND_PIECE_COLUMNS;
    KEEPS(cut->lanes == p->recipe.lanes ||
          (rings && p->recipe.exact && p->recipe.indexed && is_pow2(cut->lanes) && cut->lanes < p->recipe.lanes));
    KEEPS(s->chunks == chunks && is_pow2(s->part_chunks) && is_pow2(s->residues));
    KEEPS(s->split * s->part_chunks >= chunks && (s->split == 1 || (s->split - 1) * s->part_chunks < chunks));
    KEEPS(s->residues == 1 || s->part_chunks == 1);
    KEEPS(s->slices >= 1 && s->items == s->groups * s->split * s->residues * s->slices);
    KEEPS(s->finishing != RDX_FINISHING_NONE || s->split * s->residues == 1);
    KEEPS(s->ring_bytes % 16 == 0 && cut->shared_bytes % 4 == 0 && cut->finish_shared_bytes % 4 == 0);
    int64_t part = rdx_max(rdx_min(chunks, s->part_chunks), 1);
    switch (cut->kind) {
    case RDX_CUDA_KIND_BYTE_COLUMNS:    /* the same of aligned vectors of 16 alone */
    case RDX_CUDA_KIND_SHORT_COLUMNS: { /* outputs anywhere, or packed columns, by vectors or shifted */
        int64_t n = p->space.reduce_count, rows = rdx_max(rdx_pow2_ceil(n), 2), size = p->space.in_size;
        int64_t few = size >= 8 ? 1 : size == 4 ? 1 + (rows <= 16) : 4 / size, own = rows <= 8 ? cut->elements : few;
        int64_t bits = p->situation.in_align, run = p->space.keep[p->space.keep_rank - 1].extent;
        for (int d = 0; d + 1 < p->space.keep_rank; d++)
            bits |= p->space.keep[d].in;
        bits |= p->space.reduce_rank ? p->space.reduce[0].in : 0;
        bool vectors = size < 4 && !s->shifted && !s->gathers, packed = rdx_space_inner_stride(&p->space) == size;
        bool sought = p->recipe.indexed && p->recipe.work == RDX_WORK_I32 && (size == 2 || size == 4) && !s->gathers;
        KEEPS(n > 0 && n <= (sought ? 32 : 16) && p->space.reduce_rank <= 1 && s->finishing == RDX_FINISHING_NONE);
        bool fit = p->space.keep_count <= INT32_MAX / 2, crosses = vectors && fit && p->space.keep_rank <= 2;
        KEEPS(cut->kind == RDX_CUDA_KIND_SHORT_COLUMNS ||
              (RDX_CUDA_HAS_BYTE_COLUMNS(p->recipe.algebra, p->recipe.work, p->recipe.unit, size) && own == 16 &&
               n <= 8 && vectors && crosses));
        int64_t tile = RDX_CUDA_THREADS * own, wide = tile * rdx_max(1, 128 / (rows * own * size));
        bool bytes = cut->kind == RDX_CUDA_KIND_BYTE_COLUMNS, pieces = !s->shifted && !s->gathers;
        bool many = p->space.keep_count / wide >= (int64_t)18 * p->situation.device->units &&
                    (s->run_outputs % wide == 0 || s->run_outputs >= 4 * wide);
        KEEPS(s->deep == (cut->words == 1 && n <= 4 && pieces && many && (!bytes || n == 3)));
        int64_t flight = s->deep || (rows == 16 && cut->words == 1) ? 128 : 64,
                all = rdx_min(tile * rdx_max(1, flight / (rows * own * size)), rdx_round_up(s->run_outputs, tile));
        KEEPS(s->group_outputs == (s->gathers ? RDX_CUDA_THREADS * few : all) && s->slices == 1);
        KEEPS(s->items <= INT32_MAX && s->run_outputs == (s->gathers || crosses ? p->space.keep_count : run));
        KEEPS(s->gathers ? s->simple && fit : packed && s->run == (crosses ? run : RDX_CUDA_NO_RUN));
        KEEPS(s->gathers || rdx_cuda_has_unmasked_map(&p->recipe) || rdx_cuda_has_masked_map(&p->recipe));
        KEEPS(!vectors || (bits % (own * size) == 0 && run % own == 0 && RDX_CUDA_HAS_SMALL_VECTORS(p->recipe.work)));
        break;
    }
    case RDX_CUDA_KIND_PACKED_ROWS: { /* lines of 512 bytes, of which a row is a power of two of parts */
        int64_t bytes = p->space.reduce_count * p->space.in_size;
        int steps = RDX_CUDA_PACKED_STEPS(p->recipe.exact ? 1 : cut->elements, cut->words);
        bool in_vectors = RDX_CUDA_HAS_ROWS_IN_VECTORS(p->space.in_size) && p->space.reduce_count > 1;
        KEEPS(is_pow2(bytes) && bytes >= (in_vectors ? 1 : 16) && bytes <= 512 && steps > 0 && s->items <= INT32_MAX);
        KEEPS(p->situation.in_align % 16 == 0);
        KEEPS(p->space.keep_rank == 1 && p->space.keep[0].in == bytes && p->space.copy_count == 1 && s->slices == 1);
        KEEPS(s->group_outputs * bytes == (int64_t)RDX_CUDA_WARPS * 512 << steps && s->simple);
        break;
    }
    case RDX_CUDA_KIND_REPEATS: /* equal elements; threads that share an output's copies are a power of two */
        for (int d = 0; d < p->space.reduce_rank; d++)
            KEEPS(p->space.reduce[d].in == 0);
        KEEPS(p->space.reduce_count > 0 && s->finishing == RDX_FINISHING_NONE && s->residues == 1);
        KEEPS(is_pow2(s->width) && s->width <= RDX_CUDA_THREADS);
        KEEPS(RDX_CUDA_THREADS / s->width >= rdx_min(rdx_div_up(p->space.copy_count, s->slices), RDX_CUDA_THREADS));
        break;
    case RDX_CUDA_KIND_THREAD_ROWS: { /* packed rows; a thread has as many as a vector has elements */
        int64_t count = p->space.reduce_count, size = p->space.in_size;
        KEEPS(RDX_CUDA_HAS_THREAD_ROW(size, cut->words, count));
        KEEPS(size > 1 || p->recipe.in == RDX_TYPE_I8 || p->recipe.in == RDX_TYPE_U8);
        KEEPS(RDX_CUDA_HAS_THREAD_ROWS(p->recipe.algebra, p->recipe.work, p->recipe.unit, size));
        KEEPS(rdx_cuda_has_unmasked_map(&p->recipe) && s->ascending && cut->elements * size == 16 && chunks == 1);
        KEEPS(p->space.keep_rank == 1 && p->space.keep[0].in == count * size && p->situation.in_align % 16 == 0);
        KEEPS(p->space.copy_count == 1 && s->slices == 1 && s->items <= INT32_MAX && s->simple);
        KEEPS(s->group_outputs % (RDX_CUDA_WARPS * 32 * cut->elements) == 0);
        KEEPS(s->group_outputs * count * size <= s->ring_bytes && s->ring_bytes <= RDX_CUDA_WARPS * 16 * 512);
        break;
    }
    case RDX_CUDA_KIND_SLABS:
        shape_keeps_slabs(p, cut);
        break;
    case RDX_CUDA_KIND_STAGED_RUNS:
        shape_keeps_staged_runs(p, cut);
        break;
    case RDX_CUDA_KIND_TILE_ROWS:
    case RDX_CUDA_KIND_SHORT_ROWS: { /* whole rows in a tile of a warp; mates have all lanes of a row */
        int64_t lanes = rdx_min(rdx_pow2_ceil(p->space.reduce_count), p->recipe.lanes);
        if (cut->kind == RDX_CUDA_KIND_TILE_ROWS) {
            KEEPS(s->lines >= 2 && s->mates == RDX_CUDA_TILE_MATES(p->space.in_size, s->lines));
            KEEPS(s->lines <= (rdx_recipe_is_twice(&p->recipe) ? RDX_CUDA_TWICE_LINES : RDX_CUDA_TILE_LINES));
            KEEPS(RDX_CUDA_HAS_TILE_ROWS(p->recipe.algebra, p->recipe.work, p->recipe.unit, p->space.in_size));
            KEEPS(rdx_cuda_has_unmasked_map(&p->recipe) && cut->elements == 1);
        } else {
            KEEPS(s->mates * cut->elements == lanes || (s->mates == 1 && cut->elements >= lanes));
        }
        KEEPS(is_pow2(s->mates) && s->mates <= 32 && chunks <= 1);
        KEEPS(s->lines == rdx_div_up(p->space.reduce_count, p->recipe.lanes) && s->items <= INT32_MAX);
        KEEPS(s->ring_bytes == RDX_CUDA_WARPS * RDX_CUDA_TILE && RDX_CUDA_TILE % 512 == 0);
        KEEPS(s->row_bytes == p->space.reduce_count * p->space.in_size && s->pitch % 16 == 0);
        KEEPS(s->pitch == 0 || s->pitch >= s->row_bytes);
        bool aligned = p->space.keep[p->space.keep_rank - 1].in % 16 == 0;
        int64_t beside = (s->pitch || aligned ? 0 : 15) + (p->space.in_size == 1 && s->row_bytes <= 32 ? 32 : 0);
        KEEPS(s->group_outputs * rdx_max(s->pitch, s->row_bytes) + beside <= RDX_CUDA_TILE && s->group_outputs >= 1);
        for (int v = 0; v < RDX_CUDA_TILE / 16 && s->lines <= RDX_CUDA_TILE_LINES; v++) /* else line by line */
            KEEPS((v * s->row_magic) >> 16 == v / (int)rdx_div_up(s->row_bytes, 16));
        break;
    }
    case RDX_CUDA_KIND_LINE_ROWS: { /* rows of two to eight lines, as many as all warps read at once, each one warp's */
        int64_t lines = rdx_div_up(p->space.reduce_count, p->recipe.lanes);
        KEEPS(lines >= 2 && lines * s->line_rows <= RDX_CUDA_CHUNK_LINES);
        KEEPS(s->line_rows == RDX_CUDA_LINE_ROWS || s->line_rows == RDX_CUDA_LINE_ROWS / 2);
        KEEPS(p->space.keep_rank == 1 && s->team == 1 && s->finishing == RDX_FINISHING_NONE);
        KEEPS(s->group_outputs % (RDX_CUDA_WARPS * s->line_rows) == 0);
        KEEPS(RDX_CUDA_HAS_LINE_ROWS(s->line_rows, p->recipe.algebra, p->recipe.exact, p->recipe.indexed,
                                     p->space.in_size, cut->words));
    }
        /* fall through */
    case RDX_CUDA_KIND_STRAIGHT_ROWS: /* a block has one item, and nothing is copied */
    case RDX_CUDA_KIND_STAGED_ROWS:
    case RDX_CUDA_KIND_SHIFTED_ROWS:
    case RDX_CUDA_KIND_RUN_ROWS:
    case RDX_CUDA_KIND_HALF_ROWS:
    case RDX_CUDA_KIND_STEPPED_ROWS:
        KEEPS(p->space.copy_count == 1 && s->slices == 1 && s->items <= INT32_MAX);
        KEEPS(rdx_cuda_has_unmasked_map(&p->recipe) ||
              (cut->kind == RDX_CUDA_KIND_STRAIGHT_ROWS && rdx_cuda_has_masked_map(&p->recipe)));
        KEEPS(cut->kind == RDX_CUDA_KIND_STRAIGHT_ROWS
                  ? RDX_CUDA_HAS_STRAIGHT_ROWS(p->recipe.algebra, p->recipe.work, p->recipe.indexed, p->space.in_size)
                  : cut->kind == RDX_CUDA_KIND_LINE_ROWS || p->space.in_size > 1 || p->recipe.indexed);
        KEEPS(rdx_recipe_is_twice(&p->recipe) == (cut->kind == RDX_CUDA_KIND_STAGED_ROWS));
        KEEPS(s->ring_bytes == (cut->kind == RDX_CUDA_KIND_STAGED_ROWS ? RDX_CUDA_WARPS * 17 * 512 : 0));
        KEEPS(cut->kind != RDX_CUDA_KIND_STAGED_ROWS || (p->recipe.work == RDX_WORK_F32 && p->space.in_size > 1));
        KEEPS(s->finishing == RDX_FINISHING_NONE ||
              (s->finishing == RDX_FINISHING_LAST_BLOCK && s->group_outputs == 1));
        check_places(p, cut);
        /* fall through */
    case RDX_CUDA_KIND_RING_ROWS: /* aligned runs of chunks, a warp each */
    case RDX_CUDA_KIND_GATHER_ROWS:
        KEEPS(s->split <= RDX_CUDA_MOST_PARTS);
        KEEPS(is_pow2(s->team) && s->team <= RDX_CUDA_WARPS && is_pow2(s->warp_chunks));
        KEEPS(s->team * s->warp_chunks >= part &&
              (s->warp_chunks == 1 || s->team * s->warp_chunks == rdx_pow2_ceil(part)));
        KEEPS(s->finishing != RDX_FINISHING_NONE ? s->team == RDX_CUDA_WARPS
                                                 : s->group_outputs * s->team % RDX_CUDA_WARPS == 0);
        KEEPS(s->group_outputs * s->team == RDX_CUDA_WARPS || (s->team == 1 && p->space.keep_rank <= 1));
        break;
    case RDX_CUDA_KIND_FEW_COLUMNS: /* the same; the nodes of a chunk, and a stack for each warp */
        KEEPS(is_pow2(s->warps) && s->warps <= RDX_CUDA_WARPS && is_pow2(s->warp_chunks) && is_pow2(s->team));
        KEEPS(s->team == 1 || (s->team == s->warps && s->team <= s->group_outputs));
        KEEPS(s->warps / s->team * s->warp_chunks >= part);
        KEEPS((int64_t)s->team * s->stack_words >=
              (p->recipe.lanes * s->group_outputs + s->team * 32 * (log2_of(s->warp_chunks) + 1)) * cut->words);
        break;
    case RDX_CUDA_KIND_STRAIGHT_COLUMNS: /* one item a block; rows of a class start alike in 16 bytes */
    case RDX_CUDA_KIND_SINGLE_COLUMNS:
        KEEPS(s->items <= INT32_MAX && s->ring_bytes == 0);
        KEEPS(cut->elements * cut->words <= 16 || cut->kind == RDX_CUDA_KIND_SINGLE_COLUMNS);
        KEEPS(cut->kind == RDX_CUDA_KIND_SINGLE_COLUMNS || chunks == 1 ||
              rdx_cuda_has_small_nodes(&p->recipe, p->space.in_size, cut->words) ||
              ((p->recipe.algebra == RDX_ALGEBRA_VAR || p->recipe.algebra == RDX_ALGEBRA_LSE) &&
               p->recipe.work == RDX_WORK_F32 && p->space.reduce_count - (chunks - 1) * chunk >= p->recipe.lanes));
        KEEPS(!s->shifted || s->classes * p->space.reduce[0].in % 16 == 0);
        if (s->shifted) { /* by elements of vectors of 16 bytes; one never reaches into the next vector */
            KEEPS(cut->elements * p->space.in_size == 16);
            int64_t bits = p->situation.in_align | p->space.reduce[0].in;
            for (int d = 0; d < p->space.keep_rank; d++)
                bits |= p->space.keep[d].in;
            KEEPS(bits % p->space.in_size == 0);
        }
        /* fall through */
    case RDX_CUDA_KIND_RAGGED_COLUMNS:
    case RDX_CUDA_KIND_PIECE_COLUMNS:
    case RDX_CUDA_KIND_RING_COLUMNS: { /* each lane in one class and in one place of its order */
        int64_t lanes = rdx_min(rdx_pow2_ceil(p->space.reduce_count), cut->lanes);
        KEEPS(cut->kind != RDX_CUDA_KIND_RAGGED_COLUMNS || (chunks == 1 && p->space.reduce_count < p->recipe.lanes));
        if (cut->kind == RDX_CUDA_KIND_RAGGED_COLUMNS || cut->kind == RDX_CUDA_KIND_PIECE_COLUMNS) {
            KEEPS(cut->kind != RDX_CUDA_KIND_RAGGED_COLUMNS || RDX_CUDA_HAS_RAGGED_COLUMNS(cut->elements, cut->words));
            KEEPS(!rdx_cuda_has_small_nodes(&p->recipe, p->space.in_size, cut->words));
            int64_t piece = p->space.in_size < 4 ? 16 : rdx_min(p->space.in_size, 8), bits = p->situation.in_align;
            for (int d = 0; d + 1 < p->space.keep_rank; d++)
                bits |= p->space.keep[d].in;
            for (int d = 0; d < p->space.reduce_rank; d++)
                bits |= p->space.reduce[d].in;
            KEEPS((cut->kind != RDX_CUDA_KIND_PIECE_COLUMNS || p->space.in_size >= 4) && bits % piece == 0);
        }
        KEEPS(is_pow2(s->width) && s->width * s->rows_at_once == 32 && is_pow2(s->class_warps));
        KEEPS(s->classes == s->residues * s->rows_at_once * s->class_warps);
        KEEPS((int64_t)s->classes << s->lanes_log2 == lanes);
        KEEPS(s->warps <= RDX_CUDA_WARPS && s->warps % s->class_warps == 0);
        KEEPS(s->tile_columns == (s->warps / s->class_warps * s->width - s->shifted) * cut->elements);
        KEEPS(s->tile_columns > 0);
        KEEPS(s->lane_levels >= 1 &&
              (p->recipe.exact || s->lane_levels >= thread_levels(p, cut, p->space.reduce_count)));
        bool at_once = rings && p->recipe.exact && !p->recipe.indexed; /* all chunks of a part */
        int chunk_levels = part == 1 || at_once ? 0 : p->recipe.exact ? 1 : log2_of(part) + 1;
        KEEPS(s->stack_words >= (s->lane_levels + chunk_levels) * cut->elements * cut->words * 32);
        KEEPS(rdx_div_up(rdx_min(p->space.reduce_count, chunk), cut->lanes) << s->group_lanes_log2 <= RDX_CUDA_GROUP ||
              s->group_lanes_log2 == 0);
        break;
    }
    default: {
        int64_t lanes = rdx_min(rdx_pow2_ceil(rdx_max(p->space.reduce_count, 1)), p->recipe.lanes) / s->residues;
        KEEPS(is_pow2(s->width) && is_pow2(s->height) && is_pow2(s->batch) && is_pow2(s->batches));
        KEEPS((int64_t)s->batch * s->batches == rdx_max(lanes, 1) && s->batch % s->height == 0);
        KEEPS(s->levels >= log2_of(s->batches) + 1 + log2_of(part) + 1);
        KEEPS(s->finishing != RDX_FINISHING_NONE || s->group_outputs == (int64_t)s->width * cut->elements);
    }
    }
}

/* What the planner provided is enough, and no more is asked than there is. */
static void check_limits(const PlanCase *p, const RdxConfig *c, const RdxCudaLaunch *cut)
{
    const RdxCudaShape *s = &cut->shape;
    int64_t most = p->situation.device->shared_per_block - KERNEL_SHARED;
    int64_t join = rdx_cuda_join_shared(s, cut->words);
    KEEPS(cut->threads >= 1 && cut->threads <= RDX_CUDA_THREADS);
    KEEPS(rdx_cuda_shared(s, cut->words) <= most);
    if (s->ring_bytes > 0)
        KEEPS(s->ring_bytes % 512 == 0 && cut->threads % 32 == 0);
    KEEPS(cut->shared_bytes == rdx_cuda_shared(s, cut->words) && cut->finish_shared_bytes == join);
    KEEPS(cut->blocks == rdx_min(rdx_div_up(s->items, rdx_cuda_items_of_block(cut->kind)), INT32_MAX));
    KEEPS(cut->words == rdx_div_up(rdx_recipe_state_bytes(&p->recipe), 4));
    KEEPS(join <= most && (join > 0) == (s->finishing != RDX_FINISHING_NONE));
    KEEPS(s->finishing == c->finishing);
    if (s->finishing == RDX_FINISHING_NONE || p->space.keep_count == 0)
        return;
    int64_t parts = s->split * s->residues, partials = s->groups * parts * s->group_outputs * cut->words * 4;
    KEEPS(RDX_WORKSPACE_HEAD + partials <= c->workspace_bytes);
    KEEPS(s->groups * 4 <= RDX_WORKSPACE_HEAD && parts <= INT32_MAX);
    double input = (double)p->space.reduce_count * (double)p->space.keep_count * p->space.in_size / 100;
    KEEPS((double)partials <= (input > 4194304.0 ? input : 4194304.0)); /* 1% of the input, or 4 MiB */
}

typedef struct Met {
    int plans, kinds[RDX_CUDA_KINDS];
} Met;

static void check_candidates(const PlanCase *p, uint64_t seed, Met *met)
{
    RdxCandidate candidates[RDX_STRATEGY_COUNT];
    int count, chosen;
    ck_assert_int_eq(rdx_choose(&p->situation, candidates, &count, &chosen), RDX_OK);
    for (int i = 0; i < count; i++) {
        const RdxConfig *c = &candidates[i].config;
        const RdxCudaLaunch *cut = &c->launch;
        if (candidates[i].refused)
            continue;
        plan_note(p, c, seed);
        size_t length = strlen(plan_where);
        snprintf(plan_where + length, sizeof plan_where - length, "\n  launch: %s", rdx_cuda_kernel_name(cut));
        KEEPS(cut->kind >= 0 && cut->kind < RDX_CUDA_KINDS);
        check_groups(p, &cut->shape);
        check_parts(p, cut);
        check_limits(p, c, cut);
        met->plans++;
        met->kinds[cut->kind]++;
    }
}

START_TEST(random_cuts)
{
    static PlanCase p;
    static PlanShape shape;
    Met met = {0};
    const RdxDeviceInfo *device = rdx_device_preset(devices[_i]);
    for (uint64_t seed = 1; seed <= SHAPES; seed++) {
        plan_random_shape(&shape, seed);
        if (plan_case_of(&p, &shape.problem, device, shape.in_align))
            check_candidates(&p, seed, &met);
        /* Once more as logsumexp, which has a kernel of its own and is one op of many. */
        RdxType in;
        ck_assert_int_eq(rdx_type_find(&in, shape.in.dtype, "in"), RDX_OK);
        if (shape.problem.op != RDX_LOGSUMEXP && rdx_op_accepts(RDX_LOGSUMEXP, in)) {
            shape.problem.op = RDX_LOGSUMEXP;
            shape.problem.out2 = NULL;
            shape.out.dtype = rdx_types[rdx_op_default_out(RDX_LOGSUMEXP, in)].dtype;
            if (plan_case_of(&p, &shape.problem, device, shape.in_align))
                check_candidates(&p, seed, &met);
        }
    }
    /* Rings of rows, chunks of them, tiles, and rings of many warps' columns, take more than the 64 KiB of the
       smallest, which none of the architectures built for has. */
    bool has_rings = device->shared_per_block >= 99 * 1024;
    for (int kind = 0; kind < RDX_CUDA_KINDS; kind++) {
        bool ring = kind == RDX_CUDA_KIND_TILE_ROWS || kind == RDX_CUDA_KIND_SHORT_ROWS ||
                    kind == RDX_CUDA_KIND_SLABS || kind == RDX_CUDA_KIND_STAGED_RUNS ||
                    kind == RDX_CUDA_KIND_RING_ROWS || kind == RDX_CUDA_KIND_STAGED_ROWS ||
                    kind == RDX_CUDA_KIND_PIECE_COLUMNS || kind == RDX_CUDA_KIND_RAGGED_COLUMNS;
        RdxCudaLaunch named = {.kind = kind};
        ck_assert_msg((!has_rings && ring) || met.kinds[kind] >= met.plans / 200, "%s: %d of %d plans",
                      rdx_cuda_kernel_name(&named), met.kinds[kind], met.plans);
    }
}
END_TEST

/* The division by a run's length that the kernels do with one multiplication, where it is hardest: round multiples of
   the run. */
static void check_run(uint32_t run)
{
    RdxSpace space = {.reduce_rank = 2, .reduce_count = INT32_MAX};
    RdxCudaShape shape = {0};
    space.reduce[0].extent = 2;
    space.reduce[1].extent = run;
    rdx_cuda_take_run(&shape, &space);
    ck_assert_uint_eq(shape.run, run);
    uint64_t state = run;
    for (int i = 0; i < 600; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint32_t multiples = INT32_MAX / run,
                 factor = i < 2 ? (uint32_t)i * multiples : (uint32_t)(state >> 33) % (multiples + 1);
        for (int off = -1; off <= 1; off++) {
            int64_t at = (int64_t)factor * run + off;
            if (at < 0 || at > INT32_MAX)
                continue;
            uint32_t e = (uint32_t)at, high = (uint32_t)((uint64_t)e * shape.run_magic >> 32);
            uint32_t quotient = (high + e) >> shape.run_shift; /* in 32 bits, as the kernels compute it */
            if (quotient != e / run)
                ck_abort_msg("%u / %u is %u, not %u", e, run, e / run, quotient);
        }
    }
}

START_TEST(runs)
{
    for (uint32_t run = 2; run < 5000; run++)
        check_run(run);
    for (int bit = 12; bit < 31; bit++)
        for (int off = -2; off <= 2; off++)
            check_run((uint32_t)(((int64_t)1 << bit) + off));
    check_run(INT32_MAX);
}
END_TEST

Suite *test_shape_suite(void);

Suite *test_shape_suite(void)
{
    Suite *suite = suite_create("shape");
    TCase *tests = tcase_create("shape");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, random_cuts, 0, RDX_LENGTH(devices));
    tcase_add_test(tests, runs);
    suite_add_tcase(suite, tests);
    return suite;
}
