#include "shape_slabs.h"

void shape_keeps_slabs(const PlanCase *p, const RdxCudaLaunch *cut)
{
    const RdxCudaShape *s = &cut->shape;
    const RdxDim *within = &p->space.keep[p->space.keep_rank - 1];
    int64_t outputs = 1, span = p->space.in_size, vectors = (s->row_bytes + 15 + 15) / 16, slabs;
    for (; outputs < s->slab_outputs; outputs *= (within--)->extent)
        span += (within->extent - 1) * within->in;
    for (int d = 0; d < p->space.reduce_rank; d++)
        span += (p->space.reduce[d].extent - 1) * p->space.reduce[d].in;
    slabs = s->group_outputs / outputs;
    KEEPS(outputs > 1 && outputs == s->slab_outputs && within >= p->space.keep && s->chunks == 1);
    KEEPS(s->row_bytes == span && s->slab_step == within->in && s->slab_step >= span);
    KEEPS(p->space.reduce_count <= p->recipe.lanes && p->space.copy_count == 1 && s->slices == 1);
    KEEPS(rdx_space_is_dense(&p->space) && s->run_outputs == outputs * within->extent);
    KEEPS(slabs >= 1 && s->group_outputs == slabs * outputs && s->ring_bytes == RDX_CUDA_WARPS * RDX_CUDA_TILE);
    KEEPS(slabs * (s->pitch ? s->pitch : s->row_bytes) + 15 <= RDX_CUDA_TILE);
    int64_t bits = p->situation.in_align;
    for (int d = 0; &p->space.keep[d] <= within; d++)
        bits |= p->space.keep[d].in;
    bool aligned = bits % 16 == 0;
    KEEPS(s->pitch == 0 ? s->slab_step == span : (s->pitch - s->slab_step) % 16 == 0);
    KEEPS(s->pitch == 0 || s->pitch >= span + (aligned && s->slab_vectors < vectors ? 0 : 16));
    KEEPS(s->slab_vectors == vectors || (aligned && s->slab_vectors == (s->row_bytes + 15) / 16));
    for (unsigned i = 0; i < RDX_CUDA_TILE; i++) {
        KEEPS((uint64_t)i * s->inner_magic >> 32 == i / (unsigned)outputs);
        KEEPS(s->slab_vectors == 1 || (uint64_t)i * s->vectors_magic >> 32 == i / (unsigned)s->slab_vectors);
    }
}

void shape_keeps_staged_runs(const PlanCase *p, const RdxCudaLaunch *cut)
{
    const RdxCudaShape *s = &cut->shape;
    const RdxSpace *space = &p->space;
    KEEPS(space->reduce_rank == 2 && space->keep_rank >= 1 && space->copy_count == 1 &&
          space->reduce_count <= INT32_MAX);
    const RdxDim *outer = &space->reduce[0], *run = &space->reduce[1], *columns = &space->keep[space->keep_rank - 1];
    int64_t size = space->in_size, bytes = run->extent * size, bits = p->situation.in_align | outer->in;
    for (int d = 0; d + 1 < space->keep_rank; d++)
        bits |= space->keep[d].in;
    KEEPS(RDX_CUDA_HAS_STAGED_RUNS(p->recipe.algebra, p->recipe.work, size, cut->words, p->recipe.unit));
    KEEPS((size == 2 || size == 4) && cut->elements == 1 && cut->words <= 3);
    KEEPS(run->extent >= 2 && run->in == size && columns->in == bytes && s->row_bytes == bytes && bits % 16 == 0);
    KEEPS(rdx_cuda_has_unmasked_map(&p->recipe) && s->ascending);
    KEEPS(s->group_outputs == RDX_CUDA_WARPS && s->run_outputs == columns->extent && s->residues == 1);
    KEEPS(columns->extent >= 5);
    KEEPS(s->slices == 1 && s->items <= INT32_MAX && s->finishing != RDX_FINISHING_LAUNCH);
    KEEPS(s->slab_vectors == rdx_div_up(RDX_CUDA_WARPS * bytes, 16) && s->run == (uint32_t)run->extent);
    KEEPS((int64_t)RDX_CUDA_WARPS * p->recipe.lanes * cut->words * 4 <= s->ring_bytes);
    const int64_t chunk = RDX_CUDA_CHUNK_LINES * p->recipe.lanes, pitch = 16 * s->slab_vectors;
    for (int64_t c = 0; c < rdx_min(s->chunks, 300); c++) {
        int64_t last = rdx_min((c + 1) * chunk, space->reduce_count) - 1;
        KEEPS((last / run->extent - c * chunk / run->extent + 1) * pitch <= s->ring_bytes);
    }
    for (unsigned i = 0; i < chunk + run->extent; i++)
        KEEPS((uint64_t)i * s->inner_magic >> 32 == i / (unsigned)run->extent);
    for (unsigned i = 0; i < (unsigned)s->ring_bytes / 16; i++)
        KEEPS(s->slab_vectors == 1 || (uint64_t)i * s->vectors_magic >> 32 == i / (unsigned)s->slab_vectors);
}
