/* The scheduler; see machine.h. A thread that has to wait picks its successor itself and switches to it, so a
   rendezvous of 32 lanes costs 32 switches; a thread that ends hands its stack to one that has not begun, so a kernel
   without barriers runs on one.

   Schedules: every warp has a random priority that changes now and then, lanes of a warp go in a random order, and
   blocks start in a random order, one to four at once. Priorities are what finds a missing second barrier: choosing
   uniformly among all threads keeps them abreast of each other, and no warp is ever a phase ahead. */
#include "grid.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace emu
{

Here here;
Index block_extent, grid_extent;
Grid &grid = *new Grid(); /* never destroyed: fibers lie in it */

[[noreturn]] void fault(Site site, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "\nemu: ");
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    if (site.file)
        fprintf(stderr, "\n  at %s:%d", site.file, site.line);
    if (grid.current)
        fprintf(stderr, "\n  block (%u, %u, %u) of %u, thread (%u, %u, %u)", here.block->x, here.block->y,
                here.block->z, grid_extent.x * grid_extent.y * grid_extent.z, here.thread.x, here.thread.y,
                here.thread.z);
    if (grid.launch)
        fprintf(stderr, "\n  in %s\n  this schedule again: RDX_EMU_LAUNCH=0x%llx\n", grid.launch->kernel->name(),
                (unsigned long long)grid.launch->seed);
    fprintf(stderr, "\n");
    fflush(stderr);
    abort();
}

uint64_t dice()
{
    uint64_t x = grid.random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return grid.random = x;
}

/* ---- Choosing who runs ---- */

static Thread *lane_of(Warp *warp)
{
    unsigned turn = dice() & 31;
    uint32_t turned = warp->ready >> turn | (turn ? warp->ready << (32 - turn) : 0);
    unsigned lane = ((unsigned)__builtin_ctz(turned) + turn) & 31;
    warp->ready &= ~(1u << lane);
    return &warp->threads[lane];
}

/* The next thread to run, NULL if none can. A warp usually goes on until all its lanes wait. */
static Thread *pick()
{
    Warp *best = grid.current ? grid.current->warp : NULL;
    if (best && best->ready && dice() % 32 != 0)
        return lane_of(best);
    best = NULL;
    for (size_t b = 0; b < grid.resident; b++)
        for (Warp &warp : grid.blocks[b].warps)
            if (warp.ready && (!best || warp.priority > best->priority))
                best = &warp;
    if (!best)
        return NULL;
    if (dice() % 8 == 0)
        best->priority = (uint32_t)dice();
    return lane_of(best);
}

static Fiber *take_fiber()
{
    if (grid.idle.empty()) {
        Fiber *fiber = new Fiber;
        fiber_make(fiber, run_threads, grid.fibers++);
        return fiber;
    }
    Fiber *fiber = grid.idle.back();
    grid.idle.pop_back();
    return fiber;
}

static void become(Thread *thread)
{
    grid.current = thread;
    here = {thread->index, thread->lane, &thread->warp->block->index};
    context_enter(thread->context);
}

static void wake(Thread *thread)
{
    thread->state = READY;
    thread->warp->ready |= 1u << thread->lane;
}

/* Whoever waits for ever is named, once nobody can run. */
[[noreturn]] static void complain_of_deadlock()
{
    for (size_t b = 0; b < grid.resident; b++)
        for (Thread &thread : grid.blocks[b].threads)
            if (thread.state == AT_BARRIER || thread.state == IN_COLLECTIVE) {
                grid.current = &thread;
                here = {thread.index, thread.lane, &thread.warp->block->index};
                fault(thread.site, "%s waits for threads that never come",
                      thread.state == AT_BARRIER ? "a barrier" : "a collective of lanes");
            }
    fault({}, "no thread can run");
}

/* The current thread waits, or lets others go first where it is ready. */
static void leave()
{
    Thread *me = grid.current, *next = pick();
    if (!next)
        complain_of_deadlock();
    if (next == me)
        return;
    if (!next->fiber)
        next->fiber = take_fiber();
    become(next);
    fiber_switch(me->fiber, next->fiber);
}

static void step_aside()
{
    wake(grid.current);
    leave();
}

/* ---- Barriers, collectives, fences, atomics ---- */

/* What atomics met is known to the block once a barrier opens; see fence. */
static void pass_on(Block *block)
{
    Context context = grid.current->context;
    context_enter(block->heard);
    acquire(&block->from_met);
    release(&block->from_heard);
    context_enter(context);
    block->news = false;
}

static void open_barrier(Block *block)
{
    for (Thread &thread : block->threads)
        if (thread.state == AT_BARRIER)
            wake(&thread);
    block->waiting = 0;
    block->generation++;
    if (block->news)
        pass_on(block);
}

static bool same(Site a, Site b)
{
    return a.line == b.line && (a.file == b.file || strcmp(a.file, b.file) == 0);
}

void barrier(Site site)
{
    Thread *me = grid.current;
    Block *block = me->warp->block;
    if (block->waiting && !same(block->site, site))
        fault(site, "divergent barrier: others of the block wait at %s:%d", block->site.file, block->site.line);
    void *meeting = &block->meeting[block->generation & 1];
    block->site = me->site = site;
    me->state = AT_BARRIER;
    release(meeting);
    if (++block->waiting == block->alive)
        open_barrier(block);
    leave();
    acquire(meeting);
}

static void conclude(Warp *warp, uint32_t mask, Site site)
{
    for (uint32_t left = mask; left; left &= left - 1) {
        Thread &lane = warp->threads[__builtin_ctz(left)];
        if (lane.mask != mask)
            return; /* a lane that waits with others, for another mask: a deadlock if it stays so */
        if (!same(lane.site, site) || lane.kind != warp->threads[__builtin_ctz(mask)].kind)
            fault(site, "lanes of one mask meet at different places: here and at %s:%d", lane.site.file,
                  lane.site.line);
    }
    uint64_t ballot = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        ballot |= (uint64_t)(warp->threads[lane].value != 0) << lane;
    }
    for (uint32_t left = mask; left; left &= left - 1) {
        Thread &lane = warp->threads[__builtin_ctz(left)];
        if (lane.kind == SHUFFLE && !(mask >> (lane.source & 31) & 1))
            fault(site, "lane %u takes a value from lane %u, which the mask %08x does not name", lane.lane,
                  lane.source & 31, mask);
        lane.result = lane.kind == SHUFFLE ? warp->threads[lane.source & 31].value : ballot;
        wake(&lane);
    }
    warp->waiting &= ~mask;
    warp->generation++;
}

uint64_t meet(Collective kind, uint32_t mask, uint64_t value, unsigned source, Site site)
{
    Thread *me = grid.current;
    Warp *warp = me->warp;
    if (!(mask >> me->lane & 1))
        fault(site, "the mask %08x does not name lane %u, which calls", mask, me->lane);
    if (mask & warp->gone)
        fault(site, "the mask %08x names lanes that ended or never were: %08x", mask, mask & warp->gone);
    me->kind = kind;
    me->mask = mask;
    me->value = value;
    me->source = source;
    me->site = site;
    me->state = IN_COLLECTIVE;
    warp->waiting |= 1u << me->lane;
    /* A shuffle orders no memory; __syncwarp does. */
    void *meeting = &warp->meeting[warp->generation & 1];
    if (kind == SYNC)
        release(meeting);
    if ((warp->waiting & mask) == mask)
        conclude(warp, mask, site);
    leave();
    if (kind == SYNC)
        acquire(meeting);
    return me->result;
}

/* What CUDA promises of relaxed atomics and fences, for ThreadSanitizer. A block has three contexts that stand for
   knowledge: what its threads did before their fences (`fenced`), what its atomics met (`met`), and what of that a
   barrier has passed on to all of the block (`heard`). An atomic hands on the first and adds to the second; a fence
   adds to the first and takes over the third, and of the second what the thread itself met. So neither side of a
   message works without its fence, nor does a fence that comes too early. */
void fence()
{
    Thread *me = grid.current;
    Block *block = me->warp->block;
    release(&block->to_fenced);
    context_enter(block->fenced);
    acquire(&block->to_fenced);
    context_enter(me->context);
    acquire(&block->from_heard);
    if (me->met)
        acquire(&block->from_met);
    if (dice() % 4 == 0)
        step_aside();
}

void before_atomic(const void *place)
{
    if (dice() % 2 == 0)
        step_aside();
    context_enter(grid.current->warp->block->fenced);
    release((void *)(uintptr_t)place);
    context_enter(grid.current->context);
}

void after_atomic(const void *place)
{
    Thread *me = grid.current;
    Block *block = me->warp->block;
    me->met = block->news = true;
    context_enter(block->met);
    acquire((void *)(uintptr_t)place);
    release(&block->from_met);
    context_enter(me->context);
    if (dice() % 2 == 0)
        step_aside();
}

/* ---- Threads, blocks, grids ---- */

static void start_block(Block *block)
{
    if (grid.next == grid.order.size())
        return;
    uint32_t number = grid.order[grid.next++];
    block->index = {number % grid_extent.x, number / grid_extent.x % grid_extent.y,
                    number / grid_extent.x / grid_extent.y};
    block->alive = (unsigned)block->threads.size();
    block->waiting = 0;
    block->news = false;
    fill_shared(block, grid.launch->dynamic_bytes);
    for (Warp &warp : block->warps) {
        warp.waiting = warp.gone = 0;
        warp.priority = (uint32_t)dice();
    }
    for (Thread &thread : block->threads) {
        thread.fiber = thread.home;
        thread.copies.clear();
        thread.groups = 0;
        thread.met = false;
        wake(&thread);
    }
    Warp &last = block->warps.back();
    unsigned lanes = (block->alive - 1) % 32 + 1;
    last.gone = lanes == 32 ? 0 : ~0u << lanes;
}

/* The current thread is done; with the last of its block goes the block. */
static void end_thread()
{
    Thread *me = grid.current;
    Block *block = me->warp->block;
    me->state = DONE;
    me->fiber = NULL;
    me->warp->gone |= 1u << me->lane;
    release(&block->life);
    if (--block->alive == 0) {
        check_shared(block, grid.launch->dynamic_bytes);
        start_block(block);
    } else if (block->waiting == block->alive) {
        open_barrier(block);
    }
}

/* What a fiber does: one thread after the other from the first instruction to the last. */
void run_threads()
{
    fiber_arrive();
    for (;;) {
        Thread *me = grid.current;
        Fiber *fiber = me->fiber;
        acquire(&grid.start);
        acquire(&me->warp->block->life);
        grid.launch->kernel->call(grid.launch->parameters);
        end_thread();
        Thread *next = pick();
        if (next && (!next->fiber || next->fiber == fiber)) {
            next->fiber = fiber;
            become(next);
            continue;
        }
        for (size_t b = 0; !next && b < grid.resident; b++)
            if (grid.blocks[b].alive)
                complain_of_deadlock();
        if (fiber != me->home)
            grid.idle.push_back(fiber);
        if (next)
            become(next);
        fiber_switch(fiber, next ? next->fiber : grid.host);
    }
}

static void lay_out(Block *block, Index extent)
{
    unsigned count = extent.x * extent.y * extent.z;
    while (block->contexts.size() < count) {
        block->contexts.push_back(context_make());
        block->homes.push_back(own_stacks ? take_fiber() : NULL);
    }
    if (!block->fenced) {
        block->fenced = context_make();
        block->met = context_make();
        block->heard = context_make();
    }
    block->threads.resize(count);
    block->warps.resize((count + 31) / 32);
    for (size_t w = 0; w < block->warps.size(); w++) {
        block->warps[w] = Warp();
        block->warps[w].block = block;
        block->warps[w].threads = &block->threads[32 * w];
    }
    for (unsigned i = 0; i < count; i++) {
        Thread &thread = block->threads[i];
        thread.index = {i % extent.x, i / extent.x % extent.y, i / extent.x / extent.y};
        thread.lane = i % 32;
        thread.warp = &block->warps[i / 32];
        thread.context = block->contexts[i];
        thread.home = block->homes[i];
        thread.state = DONE;
    }
    block->alive = 0;
}

void run_grid(const Launch &launch)
{
    size_t blocks = (size_t)launch.grid.x * launch.grid.y * launch.grid.z;
    Fiber host = {};
    Context context = context_current();
    block_extent = launch.block;
    grid_extent = launch.grid;
    grid.launch = &launch;
    grid.random = launch.seed * 0x9e3779b97f4a7c15u | 1;
    for (int i = 0; i < 4; i++)
        dice();
    grid.order.resize(blocks);
    for (size_t i = 0; i < blocks; i++) {
        size_t other = dice() % (i + 1);
        grid.order[i] = grid.order[other];
        grid.order[other] = (uint32_t)i;
    }
    grid.next = 0;
    grid.resident = 1 + dice() % MOST_RESIDENT;
    grid.resident = grid.resident < blocks ? grid.resident : blocks;
    grid.host = &host;
    grid.current = NULL;
    for (size_t b = 0; b < grid.resident; b++) {
        lay_out(&grid.blocks[b], launch.block);
        start_block(&grid.blocks[b]);
    }
    release(&grid.start);
    Thread *first = pick();
    first->fiber = take_fiber();
    become(first);
    fiber_switch(&host, first->fiber);
    context_enter(context);
    for (size_t b = 0; b < grid.resident; b++)
        acquire(&grid.blocks[b].life);
    grid.launch = NULL;
    grid.current = NULL;
}

} // namespace emu
