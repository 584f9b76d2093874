/* Sweeps: several reductions of one host tensor on a CUDA device; see gpu.h.

   The tensor is cut along kept axes, in the order of its memory, into slices of the same extents (but for ragged ends).
   A slice is packed (its axes keep their order, so the canonical order of its elements is the tensor's), copied block
   by block through the pinned buffers, and reduced on its lane's stream; what it gave is fetched when its lane is
   needed again. So the host packs and copies slice k + 1 while the device reduces slice k, and nothing waits but for a
   buffer that is still in use. */
#include "gpu.h"

#include "../src/error.h"
#include "../src/plugin.h"
#include "data.h"
#include "runs.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 256, MOST_BLOCK = 64 << 20 };

typedef struct Slice {
    int64_t start[RDX_MAX_RANK], extent[RDX_MAX_RANK];
    bool busy; /* its results are still to be fetched */
} Slice;

typedef struct Work {
    RdxGpu *gpu;
    const RdxSweep *sweep;
    int rank, size; /* size: bytes of an element */
    bool reduced[RDX_MAX_RANK];
    int order[RDX_MAX_RANK];      /* dims, outermost in memory first */
    int64_t stride[RDX_MAX_RANK]; /* of the host tensor, in elements */
    int64_t unit[RDX_MAX_RANK];   /* extents of a slice */
    size_t block_bytes;
    int buffer;                    /* the lane whose pinned buffer is next */
    RdxStream user[RDX_GPU_LANES]; /* the stream that copies from it; NULL: none */
    Slice slice[RDX_GPU_LANES];
} Work;

static int size_of(const RdxTensor *tensor)
{
    return rdx_data_type(rdx_data_number(tensor->dtype))->size;
}

/* ---- Cutting ---- */

static int64_t count_of(const Work *w, const int64_t *extent, bool outputs)
{
    int64_t count = 1;
    for (int d = 0; d < w->rank; d++)
        count *= outputs && w->reduced[d] ? 1 : extent[d];
    return count;
}

static int64_t pages(int64_t bytes)
{
    return (bytes / PAGE + 1) * PAGE;
}

/* Device memory that a slice takes: itself, then every output, each on pages of its own. */
static int64_t slice_bytes(const Work *w, const int64_t *extent)
{
    int64_t bytes = pages(count_of(w, extent, false) * w->size), outputs = count_of(w, extent, true);
    for (int i = 0; i < w->sweep->passes; i++) {
        const RdxSweepPass *pass = &w->sweep->pass[i];
        bytes += pages(outputs * size_of(pass->out)) + (pass->out2 ? pages(outputs * size_of(pass->out2)) : 0);
    }
    return bytes;
}

/* Sets `unit` so that a slice takes at most `most` bytes, or as few as can be. Returns what it takes. */
static int64_t cut(Work *w, int64_t most)
{
    memcpy(w->unit, w->sweep->in->shape, (size_t)w->rank * sizeof *w->unit);
    for (int i = 0; i < w->rank; i++) {
        int d = w->order[i];
        int64_t bytes = slice_bytes(w, w->unit), extent = w->unit[d];
        if (bytes <= most)
            break;
        if (w->reduced[d] || extent <= 1)
            continue;
        w->unit[d] = 1;
        int64_t each = slice_bytes(w, w->unit); /* with its margins: so many of them fit for certain */
        w->unit[d] = most / each < 1 ? 1 : most / each < extent ? most / each : extent;
    }
    return slice_bytes(w, w->unit);
}

/* Does every slice lie in one piece? Then small slices cost nothing; else each of them walks through the whole file. */
static bool in_one_piece(const Work *w)
{
    bool inner = false; /* past the outermost dim of a slice that is longer than 1 */
    for (int i = 0; i < w->rank; i++) {
        int d = w->order[i];
        if (inner && w->unit[d] != w->sweep->in->shape[d])
            return false;
        inner |= w->unit[d] > 1;
    }
    return true;
}

/* Decides on slices and makes room for them. */
static RdxStatus prepare(Work *w)
{
    size_t room;
    RDX_TRY(rdx_gpu_room(w->gpu, &room));
    int64_t most = (int64_t)(room < INT64_MAX / 2 ? room : INT64_MAX / 2), bytes = cut(w, (int64_t)w->gpu->piece_bytes);
    if (!in_one_piece(w) || bytes > most / RDX_GPU_LANES) {
        bytes = cut(w, most);
        if (bytes > most || memcmp(w->unit, w->sweep->in->shape, (size_t)w->rank * sizeof *w->unit) != 0)
            bytes = cut(w, most / RDX_GPU_LANES);
    }
    bool whole = memcmp(w->unit, w->sweep->in->shape, (size_t)w->rank * sizeof *w->unit) == 0;
    RDX_REQUIRE(
        bytes <= most / (whole ? 1 : RDX_GPU_LANES), RDX_ERR_DEVICE_MEMORY,
        "one output takes %lld bytes of cuda:%d's memory%s; %zu may be used, and --device cpu has no such limit",
        (long long)bytes, w->gpu->id, whole ? "" : ", and two are there at a time", room);
    int64_t in = count_of(w, w->unit, false) * w->size;
    size_t block = w->gpu->piece_bytes < MOST_BLOCK ? w->gpu->piece_bytes : MOST_BLOCK;
    block = block < PAGE ? PAGE : block;
    w->block_bytes = in < (int64_t)block ? (size_t)pages(in) : block;
    for (int i = 0; i < RDX_GPU_LANES; i++)
        RDX_TRY(rdx_gpu_reserve(w->gpu, &w->gpu->lane[i], w->block_bytes, whole && i > 0 ? 0 : (size_t)bytes));
    return RDX_OK;
}

static bool next_slice(const Work *w, int64_t *start)
{
    for (int i = w->rank - 1; i >= 0; i--) {
        int d = w->order[i];
        start[d] += w->unit[d];
        if (start[d] < w->sweep->in->shape[d])
            return true;
        start[d] = 0;
    }
    return false;
}

/* ---- There ---- */

/* Copies a full block to the device and turns to the other buffer. */
static RdxStatus flush(Work *w, RdxStream stream, unsigned char **to, size_t *filled)
{
    RdxGpuLane *from = &w->gpu->lane[w->buffer];
    if (*filled == 0)
        return RDX_OK;
    RDX_TRY(w->gpu->plugin->copy_queued(*to, from->pinned, *filled, stream, w->gpu->id));
    w->user[w->buffer] = stream;
    w->buffer = (w->buffer + 1) % RDX_GPU_LANES;
    *to += *filled;
    *filled = 0;
    return RDX_OK;
}

static RdxStatus upload(Work *w, int lane)
{
    RdxRuns runs;
    RdxStream stream = w->gpu->lane[lane].stream;
    unsigned char *to = w->gpu->lane[lane].memory;
    size_t filled = 0;
    if (count_of(w, w->slice[lane].extent, false) == 0)
        return RDX_OK;
    rdx_runs_start(&runs, w->rank, w->order, w->slice[lane].start, w->slice[lane].extent, w->stride);
    do {
        const unsigned char *from = (const unsigned char *)w->sweep->in->data + runs.place * w->size;
        size_t left = (size_t)(runs.elements * w->size);
        while (left > 0) {
            size_t some = left < w->block_bytes - filled ? left : w->block_bytes - filled;
            if (filled == 0 && w->user[w->buffer]) {
                RDX_TRY(w->gpu->plugin->wait(w->user[w->buffer], w->gpu->id));
                w->user[w->buffer] = NULL;
            }
            memcpy(w->gpu->lane[w->buffer].pinned + filled, from, some);
            filled += some;
            from += some;
            left -= some;
            if (filled == w->block_bytes)
                RDX_TRY(flush(w, stream, &to, &filled));
        }
    } while (rdx_runs_next(&runs));
    return flush(w, stream, &to, &filled);
}

/* The slice as a packed tensor at `memory`; with an innermost dim for the parts of complex elements where they are
   asked for. */
static void slice_tensor(const Work *w, const Slice *slice, void *memory, bool parts, RdxTensor *tensor, int64_t *shape,
                         int64_t *strides)
{
    int64_t step = parts ? 2 : 1;
    int dtype = rdx_data_number(w->sweep->in->dtype);
    memcpy(shape, slice->extent, (size_t)w->rank * sizeof *shape);
    for (int i = w->rank - 1; i >= 0; i--) {
        strides[w->order[i]] = step;
        step *= shape[w->order[i]];
    }
    if (parts) {
        shape[w->rank] = 2;
        strides[w->rank] = 1;
        dtype = rdx_data_part(dtype);
    }
    *tensor = (RdxTensor){memory, {2, w->gpu->id}, w->rank + parts, rdx_data_dtype(dtype), shape, strides, 0};
}

/* What a pass's host output is for a slice: `part` gets its place and extents there. Returns its elements. */
static int64_t output_part(const Work *w, const Slice *slice, const RdxTensor *out, Slice *part)
{
    int64_t count = 1;
    for (int d = 0, o = 0; d < w->rank; d++) {
        if (w->reduced[d] && out->ndim < w->rank)
            continue;
        part->start[o] = w->reduced[d] ? 0 : slice->start[d];
        part->extent[o] = w->reduced[d] ? 1 : slice->extent[d];
        count *= part->extent[o++];
    }
    return count;
}

static RdxStatus reduce(const Work *w, int lane, const RdxSweepPass *pass, unsigned char **memory)
{
    RdxProblem problem = RDX_PROBLEM_INIT;
    RdxTensor in, out, out2;
    Slice part;
    int64_t shape[RDX_MAX_RANK + 1], strides[RDX_MAX_RANK + 1];
    int32_t axes[RDX_MAX_RANK + 1], naxes = 0;
    for (int d = 0; d < w->rank + pass->parts; d++)
        if (d == w->rank || w->reduced[d])
            axes[naxes++] = d;
    slice_tensor(w, &w->slice[lane], w->gpu->lane[lane].memory, pass->parts, &in, shape, strides);
    int64_t count = output_part(w, &w->slice[lane], pass->out, &part);
    out = *pass->out;
    out.device = in.device;
    out.shape = part.extent;
    out.strides = NULL;
    out.data = *memory;
    *memory += pages(count * size_of(&out));
    out2 = out;
    if (pass->out2) {
        out2.dtype = pass->out2->dtype;
        out2.data = *memory;
        *memory += pages(count * size_of(&out2));
    }
    problem.op = pass->op;
    problem.nan = pass->nan;
    problem.p = pass->p;
    problem.correction = pass->correction;
    problem.axes = axes;
    problem.naxes = naxes;
    problem.in = &in;
    problem.out = &out;
    problem.out2 = pass->out2 ? &out2 : NULL;
    return rdx_reduce(&problem, w->gpu->lane[lane].stream);
}

static RdxStatus begin(Work *w, int lane)
{
    Slice *slice = &w->slice[lane];
    RDX_TRY(upload(w, lane));
    int64_t bytes = count_of(w, slice->extent, false) * w->size;
    unsigned char *memory = w->gpu->lane[lane].memory + pages(bytes);
    for (int i = 0; i < w->sweep->passes; i++)
        RDX_TRY(reduce(w, lane, &w->sweep->pass[i], &memory));
    slice->busy = true;
    if (w->sweep->progress)
        rdx_progress_advance(w->sweep->progress, (double)bytes);
    return RDX_OK;
}

/* ---- And back ---- */

static RdxStatus fetch(const Work *w, const Slice *slice, const RdxTensor *out, unsigned char **memory)
{
    RdxRuns runs;
    Slice part;
    int order[RDX_MAX_RANK];
    int64_t strides[RDX_MAX_RANK], step = 1, count = output_part(w, slice, out, &part);
    size_t size = (size_t)size_of(out), bytes = (size_t)count * size;
    for (int d = out->ndim - 1; d >= 0; d--) {
        order[d] = d;
        strides[d] = step;
        step *= out->shape[d];
    }
    rdx_runs_start(&runs, out->ndim, order, part.start, part.extent, strides);
    unsigned char *from = *memory, *to = out->data, *packed = NULL;
    *memory += pages((int64_t)bytes);
    if (count == 0)
        return RDX_OK;
    if (runs.elements == count)
        return w->gpu->plugin->copy(to + (size_t)runs.place * size, from, bytes, w->gpu->id);
    packed = malloc(bytes);
    RDX_REQUIRE(packed != NULL, RDX_ERR_MEMORY, "no memory for %zu bytes of results", bytes);
    RdxStatus status = w->gpu->plugin->copy(packed, from, bytes, w->gpu->id);
    size_t run_bytes = (size_t)runs.elements * size;
    const unsigned char *at = packed;
    do {
        memcpy(to + (size_t)runs.place * size, at, run_bytes);
        at += run_bytes;
    } while (rdx_runs_next(&runs));
    free(packed);
    return status;
}

/* Waits for a lane's slice, if it has one, and takes its results. */
static RdxStatus finish(Work *w, int lane)
{
    Slice *slice = &w->slice[lane];
    unsigned char *memory = w->gpu->lane[lane].memory + pages(count_of(w, slice->extent, false) * w->size);
    if (!slice->busy)
        return RDX_OK;
    slice->busy = false;
    RDX_TRY(w->gpu->plugin->wait(w->gpu->lane[lane].stream, w->gpu->id));
    for (int i = 0; i < w->sweep->passes; i++) {
        const RdxSweepPass *pass = &w->sweep->pass[i];
        RDX_TRY(fetch(w, slice, pass->out, &memory));
        if (pass->out2)
            RDX_TRY(fetch(w, slice, pass->out2, &memory));
    }
    return RDX_OK;
}

static RdxStatus all_slices(Work *w)
{
    int64_t start[RDX_MAX_RANK] = {0};
    int lane = 0;
    do {
        RDX_TRY(finish(w, lane));
        for (int d = 0; d < w->rank; d++) {
            int64_t left = w->sweep->in->shape[d] - start[d];
            w->slice[lane].start[d] = start[d];
            w->slice[lane].extent[d] = left < w->unit[d] ? left : w->unit[d];
        }
        RDX_TRY(begin(w, lane));
        lane = (lane + 1) % RDX_GPU_LANES;
    } while (next_slice(w, start));
    for (int i = 0; i < RDX_GPU_LANES; i++)
        RDX_TRY(finish(w, (lane + i) % RDX_GPU_LANES));
    return RDX_OK;
}

/* Which axes are reduced, and the order of all in memory: by descending stride; extents of 1 may stand anywhere. */
static void look_at_axes(Work *w)
{
    const RdxSweep *sweep = w->sweep;
    for (int d = 0; d < w->rank; d++)
        w->reduced[d] = sweep->naxes == RDX_ALL_AXES;
    for (int i = 0; i < sweep->naxes; i++)
        w->reduced[sweep->axes[i] < 0 ? sweep->axes[i] + w->rank : sweep->axes[i]] = true;
    for (int d = 0; d < w->rank; d++) {
        int i = d;
        w->stride[d] = sweep->in->strides[d];
        for (; i > 0 && w->stride[w->order[i - 1]] < w->stride[d]; i--)
            w->order[i] = w->order[i - 1];
        w->order[i] = d;
    }
}

RdxStatus rdx_gpu_sweep(RdxGpu *gpu, const RdxSweep *sweep)
{
    Work *w = calloc(1, sizeof *w);
    RDX_REQUIRE(w != NULL, RDX_ERR_MEMORY, "out of memory");
    w->gpu = gpu;
    w->sweep = sweep;
    w->rank = sweep->in->ndim;
    w->size = size_of(sweep->in);
    look_at_axes(w);
    RdxStatus status = prepare(w);
    if (status == RDX_OK)
        status = all_slices(w);
    for (int i = 0; i < RDX_GPU_LANES;
         i++) /* after a failure, too, nothing is under way when the buffers are used again */
        if (gpu->lane[i].stream)
            (void)!gpu->plugin->wait(gpu->lane[i].stream, gpu->id);
    free(w);
    return status;
}
