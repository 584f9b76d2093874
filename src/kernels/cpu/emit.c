/* From nodes to memory: finish, alpha and beta, one rounding into the output dtype, and the places where a result goes
   (the step of the block, and every copy where the input was broadcast). The only file of the CPU half that writes
   outputs. */
#include "emit.h"

#include "../../iter/walk.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { TILE = 256 }; /* outputs at a time: complex ones of f64; of smaller ones as many as fit */

typedef struct Target {
    unsigned char *to;
    int64_t step; /* bytes from one output of the block to the next */
    RdxType type;
    RdxStore store;
} Target;

/* Copies `count` finished elements to the block's places, once for every copy dim position. */
static void spread(const RdxWorker *worker, const Target *target, const unsigned char *elements, int64_t count,
                   bool second)
{
    const RdxSpace *space = worker->space;
    int size = rdx_types[target->type].size;
    if (space->copy_rank == 0) {
        worker->code->isa->scatter(target->to, target->step, elements, count, size);
        return;
    }
    RdxWalk walk;
    rdx_walk_seek(&walk, space->copy, space->copy_rank, 0);
    bool along_copies = count == 1; /* one result, many places: fill the innermost run at once */
    for (int64_t done = 0; done < space->copy_count;) {
        unsigned char *to = target->to + (second ? walk.out2 : walk.out);
        if (along_copies) {
            const RdxDim *inner = &space->copy[space->copy_rank - 1];
            int64_t step = second ? inner->out2 : inner->out;
            for (int64_t i = 0; i < inner->extent; i++)
                memcpy(to + i * step, elements, (size_t)size);
            rdx_walk_advance(&walk, inner->extent);
            done += inner->extent;
        } else {
            worker->code->isa->scatter(to, target->step, elements, count, size);
            rdx_walk_advance(&walk, 1);
            done++;
        }
    }
}

/* Stores results where they belong, without a detour where they follow each other. */
static void deliver(const RdxWorker *worker, const Target *target, const void *results, int64_t count, bool second)
{
    _Alignas(64) unsigned char elements[16 * TILE];
    const int size = rdx_types[target->type].size;
    const bool in_place = worker->space->copy_rank == 0 && (count == 1 || target->step == size);
    if (in_place && !(worker->code->streams && count > 1)) {
        target->store(target->to, results, count);
        return;
    }
    target->store(elements, results, count);
    if (in_place)
        worker->code->isa->stream(target->to, elements, count * size);
    else
        spread(worker, target, elements, count, second);
}

/* out = alpha * result + beta * out, where every place has an old value of its own. */
static void spread_with_old(const RdxWorker *worker, const Target *target, const void *result, int64_t count)
{
    const RdxSpace *space = worker->space;
    int64_t values = rdx_type_is_complex(target->type) ? 2 * count : count;
    int size = rdx_types[target->type].size, work = rdx_work_size((RdxWork)worker->recipe->result);
    double old[2 * TILE], converted[2 * TILE], scaled[2 * TILE];
    unsigned char elements[16 * TILE];
    RdxWalk walk;
    rdx_walk_seek(&walk, space->copy, space->copy_rank, 0);
    for (int64_t done = 0; done < space->copy_count; done++, rdx_walk_advance(&walk, 1)) {
        unsigned char *to = target->to + walk.out;
        const void *previous = old;
        worker->code->isa->gather(old, to, count, target->step, size, 0);
        if (worker->code->old) {
            worker->code->old(converted, old, count, 0);
            previous = converted;
        }
        memcpy(scaled, result, (size_t)(values * work));
        worker->code->isa->scale((RdxWork)worker->recipe->result, scaled, previous, values, worker->alpha,
                                 worker->beta);
        target->store(elements, scaled, count);
        worker->code->isa->scatter(to, target->step, elements, count, size);
    }
}

/* Outputs that fit where TILE complex ones of f64 do. */
static int64_t outputs_at_once(const RdxWorker *worker, bool two)
{
    const RdxRecipe *recipe = worker->recipe;
    int work = rdx_work_size((RdxWork)recipe->result), size = rdx_types[recipe->out].size;
    if (two || rdx_type_is_complex((RdxType)recipe->out) || recipe->unit > 1)
        return TILE;
    return 16 * TILE / rdx_max(work, size);
}

void rdx_emit(const RdxWorker *worker, const RdxStrip *nodes, int64_t outputs, unsigned char *out, unsigned char *out2,
              int64_t out_step, int64_t out2_step)
{
    const RdxRecipe *recipe = worker->recipe;
    double room[2 * TILE], second[2 * TILE];
    const int64_t at_once = outputs <= TILE ? outputs : outputs_at_once(worker, out2 != NULL);
    for (int64_t at = 0; at < outputs; at += at_once) {
        int64_t count = rdx_min(outputs - at, at_once);
        RdxStrip later;
        const RdxStrip *some = nodes;
        if (at)
            later = rdx_strip_at(*nodes, recipe, at * recipe->unit), some = &later;
        Target first = {out + at * out_step, out_step, (RdxType)recipe->out, worker->code->store};
        if (worker->code->half_keys || worker->code->key_offset != 0)
            worker->code->isa->widen_keys(some->part[0], count, worker->code->half_keys, recipe->flip,
                                          worker->code->key_offset);
        void *result = worker->code->isa->finish(recipe, some, count, room, out2 ? second : NULL);
        if (worker->beta != 0) {
            spread_with_old(worker, &first, result, count);
        } else {
            if (worker->alpha != 1)
                worker->code->isa->scale((RdxWork)recipe->result, result, NULL,
                                         rdx_type_is_complex((RdxType)recipe->out) ? 2 * count : count, worker->alpha,
                                         0);
            deliver(worker, &first, result, count, false);
        }
        if (out2) {
            Target other = {out2 + at * out2_step, out2_step, (RdxType)recipe->out2, worker->code->store2};
            deliver(worker, &other, second, count, true);
        }
    }
}

void rdx_emit_end(const RdxCpuCode *code)
{
#if defined(__SSE2__)
    if (code->streams)
        _mm_sfence();
#else
    (void)code;
#endif
}

static void fill(unsigned char *part, int64_t values, int size, const void *value)
{
    for (int64_t i = 0; i < values; i++)
        memcpy(part + i * size, value, (size_t)size);
}

void rdx_emit_nothing(const RdxRecipe *recipe, RdxStrip nodes, int64_t outputs)
{
    int64_t values = outputs * recipe->unit;
    for (int part = 0; part < recipe->parts; part++)
        memset(nodes.part[part], 0, (size_t)(values * rdx_strip_part_size(recipe, part)));
    float one_f32 = 1, low_f32 = -__builtin_inff();
    double one_f64 = 1, low_f64 = -__builtin_inf();
    int64_t one = 1, ones = -1, bottom = INT64_MIN;
    int32_t bottom_i32 = INT32_MIN;
    int size = rdx_strip_part_size(recipe, 0);
    switch ((RdxAlgebra)recipe->algebra) {
    case RDX_ALGEBRA_PROD:
    case RDX_ALGEBRA_CPROD:
    case RDX_ALGEBRA_CPRODN:
        fill(nodes.part[0], values, size,
             recipe->work == RDX_WORK_I64   ? (void *)&one
             : recipe->work == RDX_WORK_F32 ? (void *)&one_f32
                                            : (void *)&one_f64);
        break;
    case RDX_ALGEBRA_LSE:
    case RDX_ALGEBRA_LSEN:
        fill(nodes.part[0], values, size, size == 4 ? (void *)&low_f32 : (void *)&low_f64);
        break;
    case RDX_ALGEBRA_AND:
        fill(nodes.part[0], values, size, &ones);
        break;
    case RDX_ALGEBRA_MAX: /* norm of nothing */
        fill(nodes.part[0], values, size, size == 4 ? (void *)&bottom_i32 : (void *)&bottom);
        break;
    default: /* 0 is the answer, or finish sees count 0 */
        break;
    }
}
