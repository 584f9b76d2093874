/* CUDA plans without CUDA: golden plans of the public suite for three GPUs, and what every plan of every random space must keep.
   REDAX_UPDATE_GOLDEN=1 writes tests/golden_plans.txt anew (run from the repository's root); read the difference before it is
   committed. */
#include "plan_cases.h"

#include <check.h>
#include <math.h>
#include <plan/cost.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const devices[] = {"h200", "a100", "t4"};
static const char golden_path[] = "tests/golden_plans.txt", cases_path[] = "bench/cases.txt";

enum { LINE = 1024, COUNTERS = RDX_WORKSPACE_HEAD / 4 };

/* One line with everything that a kernel is launched by, and the costs of all candidates. */
static void describe(char *line, const char *device, const char *name, const RdxCandidate *candidates, int count,
                     int chosen)
{
    static const char *const finishing[] = {"none", "last", "launch"};
    const RdxConfig *c = &candidates[chosen].config;
    int n = snprintf(
        line, LINE,
        "%s %s %s/%s grid=%lld block=%dx%d v%d loads=%d stages=%d tile=%lld lanes=%d outputs=%lld split=%lld "
        "part=%lld residues=%d slices=%lld items=%lld regs=%d resident=%d shared=%lld work=%lld finish=%s:%lld "
        "idx=%d flight=%.0f waves=%.2f |",
        device, name, rdx_strategies[c->strategy].name, rdx_form_name(c->variant), (long long)c->grid, c->block_x,
        c->block_y, c->vector_bytes, c->loads, c->stages, (long long)c->tile_bytes, c->lanes_per_output,
        (long long)c->outputs_per_block, (long long)c->split, (long long)c->part_chunks, c->residues,
        (long long)c->slices, (long long)c->items, c->registers, c->resident, (long long)c->shared_bytes,
        (long long)c->workspace_bytes, finishing[c->finishing], (long long)c->finish_grid, c->index_bits,
        c->flight_bytes, c->waves);
    for (int i = 0; i < count; i++) {
        const RdxCandidate *candidate = &candidates[i];
        if (candidate->refused)
            n += snprintf(line + n, (size_t)(LINE - n), " %s=refused", rdx_strategies[candidate->config.strategy].name);
        else
            n += snprintf(line + n, (size_t)(LINE - n), " %s=%.1f", rdx_strategies[candidate->config.strategy].name,
                          candidate->config.cost_us);
    }
}

/* Calls take with every line that the present planner gives; returns their number. */
static int each_plan(void (*take)(void *user, const char *line), void *user)
{
    static PlanCase p;
    FILE *cases = fopen(cases_path, "r");
    ck_assert_msg(cases != NULL, "cannot open %s: run from the repository's root", cases_path);
    char row[LINE], name[LINE], text[LINE], line[LINE];
    int lines = 0;
    while (fgets(row, sizeof row, cases)) {
        if (row[0] == '#' || sscanf(row, "%1023s %1023s", name, text) != 2)
            continue;
        for (size_t d = 0; d < RDX_LENGTH(devices); d++) {
            RdxCandidate candidates[RDX_STRATEGY_COUNT];
            int count, chosen;
            ck_assert_msg(plan_case(&p, text, devices[d]), "%s: %s", text, rdx_last_error());
            ck_assert_int_eq(rdx_choose(&p.situation, candidates, &count, &chosen), RDX_OK);
            describe(line, devices[d], name, candidates, count, chosen);
            take(user, line);
            lines++;
        }
    }
    fclose(cases);
    return lines;
}

static void write_line(void *user, const char *line)
{
    fprintf((FILE *)user, "%s\n", line);
}

static void compare_line(void *user, const char *line)
{
    char expected[LINE];
    ck_assert_msg(fgets(expected, sizeof expected, (FILE *)user) != NULL, "%s ends before: %s", golden_path, line);
    expected[strcspn(expected, "\n")] = '\0';
    ck_assert_msg(strcmp(expected, line) == 0, "the plan has changed (REDAX_UPDATE_GOLDEN=1 accepts it):\n- %s\n+ %s",
                  expected, line);
}

START_TEST(golden_plans)
{
    const char *update = getenv("REDAX_UPDATE_GOLDEN");
    bool write = update && strcmp(update, "1") == 0;
    FILE *golden = fopen(golden_path, write ? "w" : "r");
    ck_assert_msg(golden != NULL, "cannot open %s: run from the repository's root", golden_path);
    int lines = each_plan(write ? write_line : compare_line, golden);
    ck_assert_int_eq(lines, 63 * 3);
    char more[LINE];
    if (!write)
        ck_assert_msg(fgets(more, sizeof more, golden) == NULL, "%s has more lines than plans: %s", golden_path, more);
    ck_assert_int_eq(fclose(golden), 0);
}
END_TEST

/* ---- Random spaces ---- */

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

typedef struct Shape {
    RdxTensor in, out, out2;
    int64_t extent[8], stride[8], out_extent[8];
    int32_t axes[8];
    RdxProblem problem;
    int64_t in_align;
} Shape;

/* Up to 2^36 elements in up to 6 dims: permuted, stepped, flipped, repeated; empty now and then. */
static void draw_shape(Random *random, Shape *shape)
{
    int order[8], rank = (int)below(random, 7), bits = 36, op = 1 + (int)below(random, RDX_OP_COUNT - 1);
    RdxType in = (RdxType)below(random, RDX_TYPE_COUNT);
    while (!rdx_op_accepts(op, in))
        in = (RdxType)below(random, RDX_TYPE_COUNT);
    *shape = (Shape){.problem = RDX_PROBLEM_INIT};
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
}

/* ---- What every plan keeps ---- */

static char where[1024];

#define KEEPS(condition) ck_assert_msg(condition, "%s\n  %s", #condition, where)

static void note_place(const PlanCase *p, const RdxConfig *c, uint64_t seed)
{
    char space[512];
    rdx_space_print(&p->space, space, sizeof space);
    snprintf(where, sizeof where,
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
    int64_t vector = c->vector_bytes, bits = p->situation.in_align | s->in_offset;
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

/* The chosen plan keeps the chip busy where there is enough to read: a megabyte a multiprocessor, read once and in order. */
static bool check_busy(const PlanCase *p, const RdxConfig *c)
{
    RdxLayout layout;
    rdx_layout_of(&layout, &p->situation);
    const RdxDeviceInfo *device = p->situation.device;
    double elements = (double)layout.count * (double)layout.outputs * layout.size;
    if (layout.touched < device->units * 1048576.0 || elements < 0.5 * layout.touched || layout.slab_bytes == 0)
        return false;
    KEEPS(c->items >= device->units);
    KEEPS(c->waves >= 0.5);
    bool stretches = layout.run * layout.size >= 512 || (layout.packed && layout.columns * layout.size >= 512);
    if (c->variant == RDX_FORM_GATHER || (!stretches && !layout.flat))
        return false;
    KEEPS(c->flight_bytes >= 2 * rdx_cost_table(device)->busy_bytes);
    return true;
}

static void check_plan(const PlanCase *p, const RdxConfig *c)
{
    check_limits(p->situation.device, c);
    check_parts(p, c);
    check_workspace(p, c);
    check_index_width(p, c);
    check_vectors(p, c);
}

typedef struct Met {
    int plans, applicable[RDX_STRATEGY_COUNT], forms[RDX_FORM_COUNT], chosen[RDX_STRATEGY_COUNT], busy;
} Met;

static void check_candidates(const PlanCase *p, uint64_t seed, Met *met)
{
    RdxCandidate candidates[RDX_STRATEGY_COUNT];
    int count, chosen;
    ck_assert_int_eq(rdx_choose(&p->situation, candidates, &count, &chosen), RDX_OK);
    ck_assert_int_eq(count, 5);
    met->plans++;
    for (int i = 0; i < count; i++) {
        const RdxConfig *c = &candidates[i].config;
        note_place(p, c, seed);
        if (candidates[i].refused) {
            KEEPS(strlen(candidates[i].refused) > 10);
            continue;
        }
        check_plan(p, c);
        KEEPS(c->cost_us >= candidates[chosen].config.cost_us);
        RdxConfig again = {.strategy = c->strategy};
        rdx_strategies[c->strategy].configure(&p->situation, &again);
        again.cost_us = rdx_strategies[c->strategy].cost(&p->situation, &again);
        KEEPS(memcmp(&again, c, sizeof again) == 0);
        met->applicable[c->strategy]++;
        met->forms[c->variant]++;
    }
    KEEPS(!candidates[count - 1].refused); /* global takes everything */
    const RdxConfig *c = &candidates[chosen].config;
    note_place(p, c, seed);
    met->chosen[c->strategy]++;
    met->busy += check_busy(p, c);
}

enum { SHAPES = 4000 };

START_TEST(random_plans)
{
    static PlanCase p;
    static Shape shape;
    Met met = {0};
    const RdxDeviceInfo *device = rdx_device_preset(devices[_i]);
    for (uint64_t seed = 1; seed <= SHAPES; seed++) {
        Random random = {seed * 0xD1342543DE82EF95};
        draw_shape(&random, &shape);
        if (plan_case_of(&p, &shape.problem, device, shape.in_align))
            check_candidates(&p, seed, &met);
    }
    ck_assert_int_ge(met.plans, SHAPES * 8 / 10);
    for (int s = 0; s < RDX_STRATEGY_COUNT; s++)
        if (rdx_strategies[s].cuda) {
            ck_assert_msg(met.applicable[s] >= met.plans / 20, "%s applies in %d of %d plans", rdx_strategies[s].name,
                          met.applicable[s], met.plans);
            ck_assert_msg(met.chosen[s] >= met.plans / 100, "%s is chosen in %d of %d plans", rdx_strategies[s].name,
                          met.chosen[s], met.plans);
        }
    for (int form = 0; form < RDX_FORM_COUNT; form++)
        ck_assert_msg(met.forms[form] > 0, "no plan has the form %s", rdx_form_name(form));
    ck_assert_int_ge(met.busy, met.plans / 100);
}
END_TEST

/* ---- Places that random shapes seldom meet ---- */

static const RdxConfig *chosen_of(const char *text, const char *device, RdxCandidate *candidates)
{
    static PlanCase p;
    int count, chosen;
    ck_assert_msg(plan_case(&p, text, device), "%s: %s", text, rdx_last_error());
    ck_assert_int_eq(rdx_choose(&p.situation, candidates, &count, &chosen), RDX_OK);
    for (int i = 0; i < count; i++) {
        note_place(&p, &candidates[i].config, 0);
        if (!candidates[i].refused)
            check_plan(&p, &candidates[i].config);
    }
    note_place(&p, &candidates[chosen].config, 0);
    return &candidates[chosen].config;
}

static const struct {
    const char *text, *strategy, *form;
} expected[] = {
    {"sum:f32:67108864x4/1", "thread", NULL},
    {"sum:f32:16777216x2x2/1,2", "thread", NULL},
    {"sum:f32:16x16777216/0", "thread", "registers"},
    {"sum:f32:1048576x67/1", "warp", "tile"},
    {"sum:f32:1048576x256/1", "warp", "rows"},
    {"sum:f32:65536x4096/1", "block_x", "rows"},
    {"sum:f32:65536x4001@4097x1+3/1", "block_x", "shifted"},
    {"sum:f32:128x64x128x256/1,3", "block_x", "runs"},
    {"sum:f32:4096x65535/1", "block_x", "shifted"},
    {"sum:f32:4096x512x128/1", "block_y", "columns"},
    {"sum:f32:65536x150x13/1", "block_y", "slabs"},
    {"sum:f32:1073741824/0", "global", "rows"},
    {"sum:f32:33554432x3/0", "global", "few_columns"},
    {"sum:f32:2097152x128/0", "global", "columns"},
    {"sum:f32:8192x768/0", "global", "columns"},
    {"sum:f32:256x256x3025/0,2", "global", "straddle"},
    {"sum:f32:4096x512x49/0,2", NULL, "pieces"},
    {"sum:f32:8589934592@0", NULL, NULL},
    {"sum:i8:8589934592/0", "global", "rows"},
    {"sum:f32:4294967296x2/1", "thread", NULL},
    {"sum:f32:4294967296x1/-", "thread", NULL},
    {"sum:f32:65536x4096@0x1/1", "block_x", "rows"},
    {"sum:f32:100000000x4096@0x1/1", NULL, NULL},
    {"argmax:f32:64x64x64x64x64@1x64x4096x262144x16777216/0,2,4", NULL, NULL},
    {"sum:c128:1000x1000@1001x1/1", NULL, NULL},
    {"max:f32:5x1000003/0", NULL, NULL},
    {"sum:f32:-", "thread", NULL},
    {"sum:f32:0", "thread", NULL},
    {"sum:f32:0x1000/1", NULL, NULL},
    {"sum:f32:1000x0/1", "thread", NULL},
};

START_TEST(expected_choices)
{
    RdxCandidate candidates[RDX_STRATEGY_COUNT];
    for (size_t d = 0; d < RDX_LENGTH(devices); d++) {
        const RdxConfig *c = chosen_of(expected[_i].text, devices[d], candidates);
        if (d > 0)
            continue; /* the names are the H200's; the others only keep the rules */
        if (expected[_i].strategy)
            ck_assert_msg(strcmp(rdx_strategies[c->strategy].name, expected[_i].strategy) == 0, "%s: not %s\n  %s",
                          expected[_i].text, expected[_i].strategy, where);
        if (expected[_i].form)
            ck_assert_msg(strcmp(rdx_form_name(c->variant), expected[_i].form) == 0, "%s: not %s\n  %s",
                          expected[_i].text, expected[_i].form, where);
    }
}
END_TEST

/* The H200's predictions for inputs above 200 MB stay between the memory's rate and a fifth below it, bar what is bound by
   arithmetic: the public suite is memory's. */
START_TEST(predictions)
{
    static PlanCase p;
    FILE *cases = fopen(cases_path, "r");
    ck_assert_ptr_nonnull(cases);
    char row[LINE], name[LINE], text[LINE];
    int large = 0;
    while (fgets(row, sizeof row, cases)) {
        if (row[0] == '#' || sscanf(row, "%1023s %1023s", name, text) != 2 || strstr(name, "logsumexp"))
            continue;
        RdxCandidate candidates[RDX_STRATEGY_COUNT];
        int count, chosen;
        ck_assert(plan_case(&p, text, "h200"));
        ck_assert_int_eq(rdx_choose(&p.situation, candidates, &count, &chosen), RDX_OK);
        const RdxConfig *c = &candidates[chosen].config;
        if (c->bytes < 2e8)
            continue;
        large++;
        double share = c->bytes / (c->cost_us * 1e-6 * p.situation.device->bandwidth);
        ck_assert_msg(share > 0.8 && share < 1, "%s: share %.3f of the memory's rate", name, share);
    }
    fclose(cases);
    ck_assert_int_ge(large, 50);
}
END_TEST

START_TEST(presets)
{
    for (size_t d = 0; d < RDX_LENGTH(devices); d++) {
        const RdxDeviceInfo *device = rdx_device_preset(devices[d]);
        ck_assert_ptr_nonnull(device);
        ck_assert(device->cuda);
        ck_assert_str_eq(device->name, devices[d]);
        ck_assert_str_eq(rdx_cost_table(device)->name, devices[d]);
        ck_assert_int_eq(rdx_cost_table(device)->compute, device->compute);
    }
    ck_assert_ptr_nonnull(rdx_device_preset("cpu"));
    ck_assert(!rdx_device_preset("cpu")->cuda);
    ck_assert_ptr_null(rdx_device_preset("h2000"));
    ck_assert_ptr_null(rdx_device_preset(""));
    /* A GPU without a preset takes the constants of the newest that is not newer. */
    RdxDeviceInfo ada = *rdx_device_preset("h200");
    ada.compute = 89;
    ck_assert_str_eq(rdx_cost_table(&ada)->name, "a100");
    ada.compute = 120;
    ck_assert_str_eq(rdx_cost_table(&ada)->name, "h200");
    ada.compute = 60;
    ck_assert_str_eq(rdx_cost_table(&ada)->name, "t4");
}
END_TEST

Suite *test_plan_cuda_suite(void);

Suite *test_plan_cuda_suite(void)
{
    Suite *suite = suite_create("plan_cuda");
    TCase *plans = tcase_create("plans");
    tcase_set_timeout(plans, 120);
    tcase_add_test(plans, presets);
    tcase_add_test(plans, golden_plans);
    tcase_add_test(plans, predictions);
    tcase_add_loop_test(plans, expected_choices, 0, (int)RDX_LENGTH(expected));
    tcase_add_loop_test(plans, random_plans, 0, (int)RDX_LENGTH(devices));
    suite_add_tcase(suite, plans);
    return suite;
}
