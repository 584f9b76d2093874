/* The CPU launcher: cuts a launch into work items (a block of outputs x a part of the reduced range), hands them to
   threads, joins parts, emits. Items are numbered block by block, part by part; each thread has a contiguous share of
   them, and when it is done with that it helps with the others'. Bits do not depend on any of this: parts are aligned
   power-of-two runs of chunks, or residue classes of a chunk's lanes, so a part is a subtree. */
#include "run.h"

#include "../../error.h"
#include "../../iter/walk.h"
#include "../../pool.h"
#include "emit.h"
#include "fp.h"

#include <stdatomic.h>

/* Items of a thread that are still to be taken, `grain` at once: by whoever comes, so that a thread that is late,
   because it slept or the machine has other work, holds up nobody. */
typedef struct Share {
    atomic_int_fast64_t next;
    int64_t end, grain;
} Share;

typedef struct Run {
    const RdxLaunch *launch;
    const RdxCpuCode *code;
    int64_t outputs;                /* of a run (rdx_run_outputs) */
    int64_t blocks, blocks_per_run; /* blocks in all, and of one run */
    int64_t parts;                  /* of a block: runs of chunks, or residues of a chunk, split * residues in all */
    int64_t part_bytes;             /* of one block's strip of partial nodes */
    unsigned char *partials;        /* block-major: [block][part] strips; NULL where there is one part */
    const RdxScratch *layout;
    Share *shares;
    int sharers; /* threads at work, at most one an item; one needs no share */
    int64_t items;
    bool joining; /* the second pass: parts -> outputs */
} Run;

typedef struct Place {
    RdxBlock block;
    unsigned char *out, *out2;
    int64_t out_step, out2_step;
} Place;

static Place place_of(const Run *run, int64_t number)
{
    const RdxLaunch *launch = run->launch;
    const RdxSpace *space = launch->space;
    int64_t per_block = launch->config->outputs_per_block;
    int64_t at = number < run->blocks_per_run ? number * per_block : number % run->blocks_per_run * per_block;
    int inner = space->keep_rank - 1;
    RdxDim dim = inner >= 0 ? space->keep[inner] : (RdxDim){.extent = 1};
    RdxWalk walk;
    walk.in = walk.out = walk.out2 = 0;
    int64_t along = at; /* of the innermost kept dim */
    if (run->outputs != dim.extent) {
        rdx_walk_seek(&walk, space->keep, inner, at / dim.extent);
        along = at % dim.extent;
    } else if (inner > 0) {
        rdx_walk_seek(&walk, space->keep, inner, number / run->blocks_per_run);
    }
    Place place = {
        .block = {launch->in + space->in_offset + walk.in + along * dim.in, dim.in,
                  rdx_min(per_block, run->outputs - at), at},
        .out = launch->out + space->out_offset + walk.out + along * dim.out,
        .out2 = launch->out2 ? launch->out2 + space->out2_offset + walk.out2 + along * dim.out2 : NULL,
        .out_step = dim.out,
        .out2_step = dim.out2,
    };
    return place;
}

static RdxStrip partial(const Run *run, int64_t block, int64_t part)
{
    RdxStrip strip;
    const RdxConfig *config = run->launch->config;
    rdx_strip_lay(&strip, run->partials + (block * run->parts + part) * run->part_bytes, run->launch->recipe,
                  config->outputs_per_block * run->launch->recipe->unit);
    return strip;
}

static RdxStrip own_nodes(const RdxWorker *worker)
{
    RdxStrip nodes;
    rdx_strip_lay(&nodes, worker->scratch + worker->layout->nodes, worker->recipe,
                  worker->config->outputs_per_block * worker->recipe->unit);
    return nodes;
}

static void emit(const RdxWorker *worker, const Place *place, RdxStrip nodes)
{
    rdx_emit(worker, &nodes, place->block.outputs, place->out, place->out2, place->out_step, place->out2_step);
}

static void do_item(const Run *run, RdxWorker *worker, int64_t item)
{
    const RdxConfig *config = worker->config;
    int64_t block = run->parts == 1 ? item : item / run->parts, part = item - block * run->parts;
    Place place = place_of(run, block);
    int64_t chunks = rdx_recipe_chunks(worker->recipe);
    int64_t first = part / config->residues * config->part_chunks, count = rdx_min(config->part_chunks, chunks - first);
    RdxStrip nodes = run->partials ? partial(run, block, part) : own_nodes(worker);
    worker->residue = (int)(part % config->residues);
    if (worker->residue > 0 && worker->residue >= rdx_chunk_elements(worker->recipe, first, count))
        return; /* a last chunk of fewer elements than there are residues */
    if (worker->recipe->count == 0)
        rdx_emit_nothing(worker->recipe, nodes, place.block.outputs);
    else
        worker->code->reduce(worker, &place.block, first, count, nodes);
    if (!run->partials)
        emit(worker, &place, nodes);
}

typedef struct Parts {
    const Run *run;
    int64_t block;
} Parts;

/* A run of chunks, or what the residues of a chunk are joined to: the last levels of its lane tree. */
static void part_leaf(const RdxTree *tree, int64_t leaf, int level, RdxStrip nodes)
{
    (void)level;
    const Parts *parts = tree->context;
    const RdxWorker *worker = tree->worker;
    const RdxRecipe *recipe = worker->recipe;
    const int64_t values = tree->outputs * recipe->unit, residues = worker->config->residues, first = leaf * residues;
    const int64_t n = rdx_min(tree->span, recipe->count - leaf * tree->span);
    for (int64_t h = residues / 2; h >= 1; h /= 2)
        for (int64_t r = 0; r < h && r + h < n; r++) {
            const RdxStrip node = partial(parts->run, parts->block, first + r);
            worker->code->algebra->join(node, node, partial(parts->run, parts->block, first + r + h), values,
                                        (n - 1 - r) / (2 * h) + 1, (n - 1 - r - h) / (2 * h) + 1);
        }
    rdx_strip_copy(nodes, partial(parts->run, parts->block, first), recipe, values);
}

static void join_parts(const Run *run, RdxWorker *worker, int64_t block)
{
    Place place = place_of(run, block);
    Parts parts = {run, block};
    RdxTree tree = {worker, place.block.outputs, worker->config->part_chunks * rdx_recipe_chunk(worker->recipe),
                    part_leaf, &parts};
    RdxStrip nodes = own_nodes(worker);
    rdx_tree_fold(&tree, 0, worker->config->split, 0, nodes);
    emit(worker, &place, nodes);
}

static void do_items(const Run *run, RdxWorker *worker, int64_t first, int64_t end)
{
    for (int64_t item = first; item < end; item++) {
        if (run->joining)
            join_parts(run, worker, item);
        else
            do_item(run, worker, item);
    }
}

static void work(Run *run, int thread, unsigned char *scratch)
{
    const RdxLaunch *launch = run->launch;
    RdxWorker worker = {launch->space, launch->recipe, launch->config, run->code, run->layout,
                        scratch,       launch->alpha,  launch->beta,   0,         0};
    if (run->sharers == 1) {
        do_items(run, &worker, 0, run->items);
        return;
    }
    for (int other = 0; other < run->sharers; other++) {
        Share *share = &run->shares[(thread + other) % run->sharers];
        while (atomic_load_explicit(&share->next, memory_order_relaxed) < share->end) {
            const int64_t first = atomic_fetch_add_explicit(&share->next, share->grain, memory_order_relaxed);
            do_items(run, &worker, first, rdx_min(first + share->grain, share->end));
        }
    }
}

/* Scratch lies on the stack where it is small, else in the workspace, one piece a thread. */
static void thread_body(void *context, int thread)
{
    Run *run = context;
    RdxFpState callers = rdx_fp_enter();
    if (run->layout->bytes <= RDX_LOCAL_SCRATCH) {
        _Alignas(64) unsigned char scratch[RDX_LOCAL_SCRATCH];
        work(run, thread, scratch);
    } else {
        work(run, thread, run->launch->workspace + thread * run->layout->bytes);
    }
    rdx_emit_end(run->code);
    rdx_fp_leave(callers);
}

/* The first shares have one more where items do not come out even. */
static void run_items(Run *run, int64_t items)
{
    enum { grains = 16 };
    run->items = items;
    run->sharers = (int)rdx_min(run->launch->config->threads, items);
    for (int t = 0; t < run->sharers && run->sharers > 1; t++) {
        const int64_t each = items / run->sharers, extra = items % run->sharers, count = each + (t < extra);
        const int64_t first = t * each + rdx_min(t, extra);
        run->shares[t].end = first + count;
        run->shares[t].grain = rdx_div_up(count, grains);
        atomic_init(&run->shares[t].next, first);
    }
    rdx_pool_run(run->sharers, thread_body, run);
}

/* One output of at most a chunk that lies in one piece: no blocks, no parts, nothing to walk, and nothing that goes
   past the caches. */
RdxStatus rdx_cpu_launch_one(const RdxLaunch *launch)
{
    const RdxSpace *space = launch->space;
    const RdxRecipe *recipe = launch->recipe;
    const RdxCpuCode *code = (const RdxCpuCode *)launch->code;
    _Alignas(64) unsigned char scratch[RDX_LOCAL_SCRATCH];
    RdxWorker worker = {space,   recipe,        launch->config, code, &code->scratch,
                        scratch, launch->alpha, launch->beta,   0,    0};
    double node[RDX_MAX_PARTS][2];
    RdxStrip nodes;
    for (int part = 0; part < RDX_MAX_PARTS; part++)
        nodes.part[part] = (unsigned char *)node[part];
    RdxFpState callers = rdx_fp_enter();
    rdx_chunk_offsets(&worker, 1);
    rdx_chunk_fold(&worker, launch->in + space->in_offset, recipe->count, 1, space->index_offset, &nodes);
    rdx_emit(&worker, &nodes, 1, launch->out + space->out_offset,
             launch->out2 ? launch->out2 + space->out2_offset : NULL, 0, 0);
    rdx_fp_leave(callers);
    return RDX_OK;
}

RdxStatus rdx_cpu_launch(const RdxLaunch *launch)
{
    const RdxSpace *space = launch->space;
    const RdxConfig *config = launch->config;
    Run run = {.launch = launch, .code = (const RdxCpuCode *)launch->code, .outputs = rdx_run_outputs(space, config)};
    run.layout = &run.code->scratch;
    run.blocks = run.blocks_per_run =
        run.outputs == config->outputs_per_block ? 1 : rdx_div_up(run.outputs, config->outputs_per_block);
    if (space->keep_rank > 1)
        run.blocks *= space->keep_count / run.outputs;
    run.parts = config->split * config->residues;
    if (run.parts > 1) {
        run.part_bytes = rdx_scratch_strip_bytes(launch->recipe, config->outputs_per_block);
        run.partials =
            launch->workspace + (run.layout->bytes <= RDX_LOCAL_SCRATCH ? 0 : config->threads * run.layout->bytes);
    }
    Share shares[RDX_POOL_MAX];
    run.shares = shares;
    run_items(&run, run.blocks * run.parts);
    if (run.parts > 1) {
        run.joining = true;
        run_items(&run, run.blocks);
    }
    return RDX_OK;
}
