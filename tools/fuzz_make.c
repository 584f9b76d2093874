/* Random CASEs for the fuzzer: which op and dtype by turns, everything else by dice that favour the edges - sizes round
   a lane's line (L), a chunk (16 L) and a few chunks, strides that are permuted, stepped, flipped or zero, rare ranks
   to 64. Tensors stay small (most below 20 000 elements), so that thousands of cases take seconds. */
#include "fuzz.h"

#include "../src/op.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Dice {
    uint64_t state;
} Dice;

static uint64_t roll(Dice *dice)
{
    return rdx_data_mix(dice->state++, 0x5eed);
}

static int64_t below(Dice *dice, int64_t n)
{
    return (int64_t)(roll(dice) % (uint64_t)n);
}

static bool chance(Dice *dice, int percent)
{
    return below(dice, 100) < percent;
}

/* The valid (op, dtype) pairs, in an order that a seed shuffles. */
static void pick_cell(RdxCase *c, uint64_t seed, int64_t i)
{
    int cells[RDX_OP_COUNT * RDX_TYPE_COUNT], count = 0;
    for (int op = 1; op < RDX_OP_COUNT; op++)
        for (int type = 0; type < RDX_TYPE_COUNT; type++)
            if (rdx_op_accepts(op, (RdxType)type))
                cells[count++] = op * RDX_TYPE_COUNT + type;
    Dice dice = {seed * 1000003 + (uint64_t)(i / count)};
    for (int k = count - 1; k > 0; k--) {
        int other = (int)below(&dice, k + 1), cell = cells[k];
        cells[k] = cells[other];
        cells[other] = cell;
    }
    int cell = cells[i % count];
    c->op = cell / RDX_TYPE_COUNT;
    c->dtype = rdx_data_types[cell % RDX_TYPE_COUNT].dtype;
}

/* How many elements an output takes: the edges of the tree. */
static int64_t pick_count(Dice *dice, int64_t lanes)
{
    int64_t near = below(dice, 7) - 3;
    switch (below(dice, 16)) {
    case 0:
        return 1;
    case 1:
    case 2:
    case 3:
        return 2 + below(dice, 15);
    case 4:
    case 5:
        return 16 + below(dice, 100);
    case 6:
    case 7:
    case 8:
        return llabs(lanes + near) + 1;
    case 9:
        return lanes * (2 + below(dice, 15)) + (chance(dice, 50) ? near : 0);
    case 10:
        return llabs(lanes / 2 + near) + 1;
    case 11:
    case 12:
        return 16 * lanes + (chance(dice, 50) ? near : below(dice, lanes));
    case 13:
        return 16 * lanes * (2 + below(dice, chance(dice, 15) ? 64 : 8)) + near; /* many chunks: parts of a few each */
    case 14:
        return 16 * lanes * (1 + below(dice, 6)) + below(dice, 16 * lanes);
    default:
        return 1 + below(dice, 1000);
    }
}

static int64_t pick_kept(Dice *dice, int64_t count)
{
    int64_t room = (chance(dice, 12) ? 400000 : 20000) / (count > 0 ? count : 1);
    if (room <= 1)
        return chance(dice, 60) ? 1 : 2 + below(dice, 2);
    int64_t kept = chance(dice, 30)   ? 1
                   : chance(dice, 50) ? 1 + below(dice, 12)
                   : chance(dice, 50) ? 60 + below(dice, 10)
                   : chance(dice, 20) ? 1 + below(dice, 20000)
                                      : 1 + below(dice, 600);
    return kept < room ? kept : 1 + below(dice, room);
}

/* Cuts `total` into `n` extents whose product is near it: exactly it where n is 1. */
static void cut(Dice *dice, int64_t total, int n, int64_t *extents)
{
    for (int i = 0; i < n; i++)
        extents[i] = 1;
    for (int i = 0; i < n - 1; i++) {
        int64_t most =
            total > 1 ? (int64_t)pow((double)total, 1.0 / (n - i) * (0.5 + (double)below(dice, 100) / 66)) : 1;
        extents[i] = chance(dice, 15) ? 1 : 1 + below(dice, most > 1 ? most : 1);
        total = (total + extents[i] - 1) / extents[i];
    }
    if (n > 0) {
        int other = (int)below(dice, n);
        extents[n - 1] = extents[other];
        extents[other] = total > 0 ? total : 1;
    }
}

static int pick_rank(Dice *dice)
{
    int64_t face = below(dice, 100);
    return face < 3    ? 0
           : face < 22 ? 1
           : face < 50 ? 2
           : face < 72 ? 3
           : face < 86 ? 4
           : face < 97 ? 5 + (int)below(dice, 4)
                       : 9 + (int)below(dice, 56);
}

static void pick_axes(Dice *dice, RdxCase *c, bool *reduced)
{
    int rank = c->rank;
    int64_t face = below(dice, 100);
    memset(reduced, 0, RDX_MAX_RANK * sizeof *reduced);
    c->naxes = 0;
    if (face < 15 || rank == 0) {
        c->naxes = face % 2 ? RDX_ALL_AXES : 0;
        for (int d = 0; d < rank; d++)
            reduced[d] = true;
    } else if (face < 40) {
        reduced[rank - 1] = true;
    } else if (face < 60) {
        reduced[0] = true;
    } else if (face < 75) {
        reduced[below(dice, rank)] = true;
    } else if (face < 96) {
        for (int d = 0; d < rank; d++)
            reduced[d] = chance(dice, 50);
    }
    if (c->naxes == RDX_ALL_AXES)
        return;
    for (int d = 0; d < rank; d++)
        if (reduced[d])
            c->axes[c->naxes++] = chance(dice, 30) ? d - rank : d;
    for (int k = c->naxes - 1; k > 0; k--) {
        int other = (int)below(dice, k + 1);
        int32_t axis = c->axes[k];
        c->axes[k] = c->axes[other];
        c->axes[other] = axis;
    }
}

/* The reduced extents where there are several: one in four times the last is whole lines, chunks among them, and the
   others are few. */
static void cut_reduced(Dice *dice, int64_t count, int64_t lanes, int n, int64_t *extents)
{
    if (n < 2 || !chance(dice, 25)) {
        cut(dice, count, n, extents);
        return;
    }
    cut(dice, 2 + below(dice, 7), n - 1, extents);
    extents[n - 1] = lanes * (chance(dice, 50) ? 1 + below(dice, 20) : 1 << below(dice, 8));
}

static void pick_shape(Dice *dice, RdxCase *c, const bool *reduced)
{
    int64_t lanes = 512 / rdx_data_type(c->dtype)->size, part[RDX_MAX_RANK];
    int deep = c->rank > 8 ? 5 : c->rank, kept = 0, summed = 0, at[RDX_MAX_RANK];
    for (int d = 0; d < c->rank; d++) {
        c->shape[d] = 1;
        at[d] = d;
    }
    for (int k = c->rank - 1; k > 0 && c->rank > 8; k--) { /* of a deep tensor only a few dims are not 1 */
        int other = (int)below(dice, k + 1), d = at[k];
        at[k] = at[other];
        at[other] = d;
    }
    for (int i = 0; i < deep; i++)
        *(reduced[at[i]] ? &summed : &kept) += 1;
    bool block = chance(dice, 1); /* of long rows, the last chunk ragged or not */
    int64_t ragged = chance(dice, 50) ? below(dice, 16 * lanes) : 0;
    int64_t count = block ? 16 * lanes * (1 + below(dice, 9)) - ragged : pick_count(dice, lanes);
    cut_reduced(dice, count, lanes, summed, part);
    count = 1;
    for (int i = 0, next = 0; i < deep; i++)
        if (reduced[at[i]])
            count *= c->shape[at[i]] = part[next++];
    cut(dice, block ? 2 + below(dice, 39) : pick_kept(dice, count), kept, part);
    for (int i = 0, next = 0; i < deep; i++)
        if (!reduced[at[i]])
            c->shape[at[i]] = part[next++];
    if (c->rank > 0 && chance(dice, 3))
        c->shape[below(dice, c->rank)] = 0;
}

/* Axes that go and axes that stay in turn, a few elements each. */
static void pick_middle(Dice *dice, RdxCase *c, bool *reduced)
{
    c->rank = 3 + (int)below(dice, 3);
    c->naxes = 0;
    for (int d = 0; d < c->rank; d++) {
        reduced[d] = d % 2 != 0;
        c->shape[d] = reduced[d] ? 2 + below(dice, c->rank == 3 ? 40 : 6) : 1 + below(dice, c->rank == 3 ? 30 : 12);
        if (reduced[d])
            c->axes[c->naxes++] = chance(dice, 30) ? d - c->rank : d;
    }
}

/* Strides of a view: dims in any order, steps and gaps between them, turned round, or 0 where `repeats`. */
static void pick_strides(Dice *dice, const int64_t *shape, int64_t *strides, int rank, bool repeats, int64_t most)
{
    int order[RDX_MAX_RANK];
    bool permute = chance(dice, 55), step = chance(dice, 40), flip = chance(dice, 40),
         repeat = repeats && chance(dice, 25);
    for (int d = 0; d < rank; d++)
        order[d] = rank - 1 - d;
    if (permute && chance(dice, 50) && rank > 1) {
        int k = (int)below(dice, rank - 1), d = order[k];
        order[k] = order[k + 1];
        order[k + 1] = d;
    } else {
        for (int k = rank - 1; k > 0 && permute; k--) {
            int other = (int)below(dice, k + 1), d = order[k];
            order[k] = order[other];
            order[other] = d;
        }
    }
    int64_t span = 1;
    for (int k = 0; k < rank; k++) {
        int d = order[k];
        int64_t extent = shape[d] > 1 ? shape[d] : 1, stride = span;
        if (step && chance(dice, 50) && span * extent < most)
            stride = chance(dice, 50) ? span * (1 + below(dice, 3)) : span + below(dice, 5);
        if (repeat && chance(dice, 40))
            stride = 0;
        else
            span = stride * (extent - 1) + span;
        strides[d] = flip && chance(dice, 50) ? -stride : stride;
    }
}

static void pick_layout(Dice *dice, RdxCase *c)
{
    if (chance(dice, 55)) {
        c->strided = true;
        pick_strides(dice, c->shape, c->strides, c->rank, true, 60000);
        int64_t low = 0;
        for (int d = 0; d < c->rank; d++)
            low += c->strides[d] < 0 && c->shape[d] > 1 ? c->strides[d] * (c->shape[d] - 1) : 0;
        c->offset = -low;
    }
    if (chance(dice, 25))
        c->offset += 1 + below(dice, 20);
}

static void pick_output(Dice *dice, RdxCase *c, const bool *reduced)
{
    RdxType in = rdx_type_named(rdx_data_type(c->dtype)->name), allowed[RDX_TYPE_COUNT];
    int count = 0;
    for (int type = 0; type < RDX_TYPE_COUNT; type++)
        if (rdx_op_allows_out(c->op, in, (RdxType)type))
            allowed[count++] = (RdxType)type;
    if (chance(dice, 45))
        c->out = rdx_data_types[allowed[below(dice, count)]].dtype;
    c->keep = chance(dice, 25);
    c->second = c->op == RDX_MINMAX || (rdx_ops[c->op].second != RDX_SECOND_NONE && chance(dice, 40));
    if (c->second && chance(dice, 30)) {
        count = 0;
        for (int type = 0; type < RDX_TYPE_COUNT; type++)
            if (rdx_op_allows_out2(c->op, in, (RdxType)type))
                allowed[count++] = (RdxType)type;
        c->out2 = rdx_data_types[allowed[below(dice, count)]].dtype;
    }
    if (chance(dice, 25)) {
        int64_t shape[RDX_MAX_RANK];
        for (int d = 0; d < c->rank; d++)
            if (c->keep || !reduced[d])
                shape[c->ostrides_rank++] = reduced[d] ? 1 : c->shape[d];
        c->ostrided = c->ostrides_rank > 0;
        pick_strides(dice, shape, c->ostrides, c->ostrides_rank, false, 60000);
    }
    RdxType out = c->out ? rdx_type_named(rdx_data_type(c->out)->name) : rdx_op_default_out(c->op, in);
    if (rdx_types[out].kind >= RDX_KIND_FLOAT && chance(dice, 20)) {
        static const double factors[] = {0.5, -1, 2, 0.3, -1.7, 1e-3, 0, 3};
        c->alpha = chance(dice, 70) ? factors[below(dice, 8)] : 1;
        c->beta = chance(dice, 70) ? factors[below(dice, 8)] : 0;
    }
}

static void pick_options(Dice *dice, RdxCase *c)
{
    static const double norms[] = {0, 1, 1, 2, 2, (double)INFINITY, -(double)INFINITY, 0.5, 3, 2.5, -1, -2};
    static const double corrections[] = {0, 1, 1, 0.5, -1, 2, 17};
    c->p = c->op == RDX_NORM ? norms[below(dice, 12)] : 2;
    c->correction = c->op == RDX_VAR || c->op == RDX_STD ? corrections[below(dice, 7)] : 0;
    c->nan = rdx_ops[c->op].options & RDX_OPTION_NAN && chance(dice, 30) ? RDX_NAN_OMIT : RDX_NAN_PROPAGATE;
    static const uint8_t usual[] = {RDX_DATA_UNIFORM, RDX_DATA_UNIFORM, RDX_DATA_EXACT, RDX_DATA_TAILED,
                                    RDX_DATA_TAILED,  RDX_DATA_SPECIAL, RDX_DATA_TIES,  RDX_DATA_NEAR,
                                    RDX_DATA_NEAR,    RDX_DATA_HOLES,   RDX_DATA_ZEROS, RDX_DATA_MINUS};
    static const uint8_t omitted[] = {RDX_DATA_SPECIAL, RDX_DATA_HOLES, RDX_DATA_HOLES, RDX_DATA_UNIFORM};
    c->data = c->nan == RDX_NAN_OMIT && chance(dice, 80) ? omitted[below(dice, sizeof omitted)]
                                                         : usual[below(dice, sizeof usual)];
    if (c->op == RDX_PROD && chance(dice, 50))
        c->data = chance(dice, 70) ? RDX_DATA_NEAR : RDX_DATA_TIES;
    c->seed = 1 + (uint64_t)below(dice, 999983);
}

void rdx_fuzz_make(RdxCase *c, uint64_t seed, int64_t i)
{
    Dice dice = {rdx_data_mix(seed, (uint64_t)i)};
    bool reduced[RDX_MAX_RANK] = {false};
    memset(c, 0, sizeof *c);
    c->alpha = 1;
    pick_cell(c, seed, i);
    if (chance(&dice, 12)) {
        pick_middle(&dice, c, reduced);
    } else {
        c->rank = pick_rank(&dice);
        pick_axes(&dice, c, reduced);
        pick_shape(&dice, c, reduced);
    }
    pick_layout(&dice, c);
    pick_output(&dice, c, reduced);
    pick_options(&dice, c);
}

RdxStatus rdx_fuzz_expected(const RdxCase *c)
{
    bool reduced[RDX_MAX_RANK];
    for (int d = 0; d < c->rank; d++)
        reduced[d] = c->naxes == RDX_ALL_AXES;
    for (int i = 0; i < c->naxes; i++)
        reduced[c->axes[i] + (c->axes[i] < 0 ? c->rank : 0)] = true;
    int64_t count = 1, outputs = 1;
    for (int d = 0; d < c->rank; d++)
        *(reduced[d] ? &count : &outputs) *= c->shape[d];
    bool refuses = rdx_ops[c->op].empty == RDX_EMPTY_ERROR || (c->op == RDX_NORM && c->p < 0);
    return count == 0 && outputs > 0 && refuses ? RDX_ERR_EMPTY : RDX_OK;
}
