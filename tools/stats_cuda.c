/* Statistics of a whole tensor on a CUDA device; see stats.h. The slabs are the rows of a matrix, so one sweep reduces
   them, as many at a time as a piece holds; the last, shorter slab is a matrix of its own. Rows are independent, hence
   these are the numbers that the CPU finds slab by slab. Whether a slab holds NaN is known only afterwards, so floats
   are reduced in both ways and the right one is taken: the device reads its memory fifty times as fast as a piece
   arrives. */
#include "slabs.h"

#include "data.h"

#include <stdlib.h>
#include <string.h>

enum { MIN, MAX, NONZERO, SUM, SQUARES, VARIANCE, MEAN, RESULTS, PASSES = 5, MODES = 2 };

/* Room for each result of every slab: [mode][result][slab], 16 bytes each. */
typedef struct Room {
    unsigned char *bytes;
    int64_t slabs;
    int modes;
} Room;

static unsigned char *column(const Room *room, int mode, int result)
{
    return room->bytes + (mode * RESULTS + result) * room->slabs * 16;
}

/* Reduces `rows` slabs of `elements` each, which are the slabs from `first` on. */
static RdxStatus sweep(const RdxSlabs *slabs, const Room *room, int64_t first, int64_t rows, int64_t elements,
                       RdxGpu *gpu, RdxProgress *progress)
{
    const RdxDataType *type = rdx_data_type(slabs->array->dtype);
    int part = rdx_data_part(type->dtype), wide = type->kind == RDX_DATA_COMPLEX ? RDX_C128 : RDX_F64;
    const struct {
        int op, result, dtype, result2, dtype2;
    } plan[PASSES] = {
        {RDX_MINMAX, MIN, part, MAX, part},
        {RDX_COUNT_NONZERO, NONZERO, RDX_I64, 0, 0},
        {type->kind < RDX_DATA_FLOAT ? RDX_MEAN : RDX_SUM, SUM, wide, 0, 0},
        {RDX_SUMSQ, SQUARES, RDX_F64, 0, 0},
        {RDX_VAR, VARIANCE, RDX_F64, MEAN, wide},
    };
    RdxSweepPass pass[MODES * PASSES];
    RdxTensor out[MODES * PASSES][2];
    int64_t shape[] = {rows, elements}, strides[] = {elements, 1};
    const unsigned char *at = slabs->array->data + first * slabs->elements * type->size;
    RdxTensor in = {(void *)(uintptr_t)at, {1, 0}, 2, rdx_data_dtype(type->dtype), shape, strides, 0};
    for (int i = 0; i < room->modes * PASSES; i++) {
        int mode = i / PASSES, which = i % PASSES;
        int results[] = {plan[which].result, plan[which].result2}, dtypes[] = {plan[which].dtype, plan[which].dtype2};
        for (int o = 0; o < 2; o++) {
            int64_t offset = dtypes[o] ? first * rdx_data_type(dtypes[o])->size : 0;
            out[i][o] = (RdxTensor){
                column(room, mode, results[o]) + offset, {1, 0}, 1, rdx_data_dtype(dtypes[o]), &shape[0], NULL, 0};
        }
        pass[i] = (RdxSweepPass){.op = plan[which].op,
                                 .nan = mode ? RDX_NAN_OMIT : RDX_NAN_PROPAGATE,
                                 .p = 2,
                                 .parts = plan[which].op == RDX_MINMAX && part != type->dtype,
                                 .out = &out[i][0],
                                 .out2 = dtypes[1] ? &out[i][1] : NULL};
    }
    RdxSweep job = {&in, (const int32_t[]){1}, 1, pass, room->modes * PASSES, progress};
    return rdx_gpu_sweep(gpu, &job);
}

/* Slab i's results of one mode, out of the columns. */
static void gather(const Room *room, int mode, int64_t i, int dtype, RdxSlab *slab)
{
    size_t part = (size_t)rdx_data_type(rdx_data_part(dtype))->size;
    size_t wide = rdx_data_type(dtype)->kind == RDX_DATA_COMPLEX ? 16 : 8;
    const struct {
        int result;
        size_t bytes;
        void *to;
    } fields[RESULTS] = {{MIN, part, slab->min},  {MAX, part, slab->max},       {NONZERO, 8, &slab->nonzero},
                         {SUM, wide, slab->sum},  {SQUARES, 8, &slab->squares}, {VARIANCE, 8, &slab->variance},
                         {MEAN, wide, slab->mean}};
    memset(slab, 0, sizeof *slab);
    for (int f = 0; f < RESULTS; f++)
        memcpy(fields[f].to, column(room, mode, fields[f].result) + (size_t)i * fields[f].bytes, fields[f].bytes);
}

static void add_all(RdxSlabs *slabs, RdxStats *stats, const Room *room)
{
    int dtype = slabs->array->dtype, size = rdx_data_type(dtype)->size;
    for (int64_t i = 0; i < slabs->count; i++) {
        RdxSlab seen, kept;
        gather(room, 0, i, dtype, &seen);
        gather(room, room->modes > 1 && rdx_slabs_has_nan(slabs->array, &seen), i, dtype, &kept);
        rdx_slabs_add(slabs, stats, i, slabs->array->data + i * slabs->elements * size, &seen, &kept);
    }
}

RdxStatus rdx_stats_whole_cuda(RdxStats *stats, const RdxArray *array, RdxGpu *gpu, RdxProgress *progress)
{
    RdxSlabs slabs;
    RdxStatus status = rdx_slabs_start(&slabs, stats, array);
    if (status != RDX_OK)
        return status;
    Room room = {.slabs = slabs.count, .modes = rdx_data_type(array->dtype)->kind >= RDX_DATA_FLOAT ? MODES : 1};
    int64_t full = array->elements / slabs.elements;
    room.bytes = calloc((size_t)(room.modes * RESULTS * slabs.count) + 1, 16);
    status = room.bytes ? RDX_OK : RDX_ERR_MEMORY;
    if (status == RDX_OK && full > 0)
        status = sweep(&slabs, &room, 0, full, slabs.elements, gpu, progress);
    if (status == RDX_OK && full < slabs.count)
        status = sweep(&slabs, &room, full, 1, rdx_slabs_elements(&slabs, full), gpu, progress);
    if (status == RDX_OK)
        add_all(&slabs, stats, &room);
    free(room.bytes);
    return rdx_slabs_finish(&slabs, stats, status);
}
