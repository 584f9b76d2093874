/* The plan cache behind rdx_reduce. The key is everything that a plan depends on, written as 64-bit words; a hit
   compares the whole key. Bounded, least recently used goes first, plans are reference-counted, so one in use outlives
   its place. alpha, beta and pointers are arguments of the call. A plan's CPU workspace is kept with it between calls,
   as long as all such have room together: one caller takes it, others allocate their own. */
#include "error.h"
#include "plan.h"
#include "plugin.h"
#include "pool.h"
#include "sys.h"

#include <pthread.h>
#include <string.h>

/* A view takes 2 words and 2 a dim. An entry keeps the words that its key has; only what a call builds on its stack is
   of this size. */
enum { SLOTS_DEFAULT = 256, PLACES = 8, KEY_WORDS_MAX = 8 + 3 * (2 + 2 * RDX_MAX_RANK) };

typedef struct Key {
    uint64_t hash;
    int words;
    uint64_t word[KEY_WORDS_MAX];
} Key;

typedef struct Entry {
    RdxPlan *plan; /* NULL: free */
    uint64_t hash, used;
    int words;
    uint64_t *word;
    void *workspace; /* idle CPU workspace of the plan, or NULL */
} Entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Entry *entries;
static size_t slots = SLOTS_DEFAULT;
static uint64_t clock_ticks;
static size_t idle; /* bytes of all entries' workspaces */

uint64_t rdx_cache_hash_mask = UINT64_MAX; /* tests narrow it to make keys collide */
size_t rdx_cache_idle_most = 64 << 20;     /* bytes of idle workspaces, all together; tests narrow it */

/* ---- Keys ---- */

static void add(Key *key, uint64_t word)
{
    key->word[key->words++] = word;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t dtype_bits(const RdxTensor *t)
{
    return (uint64_t)t->dtype.code << 32 | (uint64_t)t->dtype.bits << 16 | t->dtype.lanes;
}

static void add_view(Key *key, const RdxTensor *t)
{
    int64_t row_major = 1;
    add(key, (uint64_t)t->ndim << 48 | dtype_bits(t));
    add(key, t->byte_offset);
    for (int d = t->ndim - 1; d >= 0; d--) {
        int64_t stride = t->strides ? t->strides[d] : row_major;
        add(key, (uint64_t)t->shape[d]);
        add(key, t->shape[d] == 1 ? 0 : (uint64_t)stride);
        row_major = (int64_t)((uint64_t)row_major * (uint64_t)(t->shape[d] > 1 ? t->shape[d] : 1));
    }
}

/* Whether the promise is one and kept. */
static bool keeps_align(const RdxProblem *problem)
{
    const int64_t align = problem->align;
    const uintptr_t address = (uintptr_t)problem->in->data + problem->in->byte_offset;
    return align == 0 ||
           (align > 0 && (align & (align - 1)) == 0 && (!problem->in->data || (address & (uintptr_t)(align - 1)) == 0));
}

/* What the caller promised, as far as plans look, or where in 16 bytes the first element lies: the lowest, which is
   what counts, is at a distance that the strides tell. */
static uint64_t alignment_class(const RdxProblem *problem)
{
    if (problem->align)
        return 64 + (uint64_t)rdx_min(problem->align, 16);
    uintptr_t address = (uintptr_t)problem->in->data + problem->in->byte_offset;
    return address & 15;
}

static bool can_key(const RdxTensor *t) /* bad tensors go the long way and get their sentence there */
{
    return !t || (t->ndim >= 0 && t->ndim <= RDX_MAX_RANK && (t->ndim == 0 || t->shape));
}

static bool make_key(Key *key, const RdxProblem *problem)
{
    const RdxTensor *in = problem->in;
    if (!problem->out || !can_key(in) || !can_key(problem->out) || !can_key(problem->out2) ||
        (problem->naxes > 0 && !problem->axes) || problem->naxes > in->ndim || problem->threads < 0 ||
        !keeps_align(problem))
        return false; /* what is wrong gets its sentence where plans are made */
    uint64_t mask = 0;
    for (int i = 0; i < problem->naxes; i++) {
        int axis = problem->axes[i] + (problem->axes[i] < 0 ? in->ndim : 0);
        if (axis < 0 || axis >= in->ndim || mask >> axis & 1)
            return false;
        mask |= (uint64_t)1 << axis;
    }
    if (problem->naxes == RDX_ALL_AXES)
        mask = in->ndim ? UINT64_MAX >> (64 - in->ndim) : 0;
    else if (problem->naxes < 0)
        return false;
    bool plain =
        problem->alpha == 1 && problem->beta == 0; /* scaling an integer output is refused when a plan is made */
    int threads = problem->threads ? problem->threads : rdx_threads_wanted();
    key->words = 0;
    add(key, (uint64_t)(uint32_t)problem->op | (uint64_t)(uint32_t)problem->nan << 32);
    add(key, bits_of(problem->p));
    add(key, bits_of(problem->correction));
    add(key, mask);
    add(key, alignment_class(problem) | (uint64_t)(uint32_t)threads << 16 | (uint64_t)plain << 48 |
                 (uint64_t)(problem->out2 != NULL) << 49);
    add(key, (uint64_t)(uint32_t)in->device.type << 32 | (uint32_t)in->device.id);
    add_view(key, in);
    add(key, (uint64_t)(uint32_t)problem->out->device.type << 32 | (uint32_t)problem->out->device.id);
    add_view(key, problem->out);
    if (problem->out2) {
        add(key, (uint64_t)(uint32_t)problem->out2->device.type << 32 | (uint32_t)problem->out2->device.id);
        add_view(key, problem->out2);
    }
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < key->words; i++) {
        hash = (hash ^ key->word[i]) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    key->hash = hash & rdx_cache_hash_mask;
    return true;
}

/* ---- Entries; the lock is held ---- */

static size_t probes(void) /* places where a key may live */
{
    return slots < PLACES ? slots : PLACES;
}

static Entry *find(const Key *key)
{
    for (size_t probe = 0; entries && probe < probes(); probe++) {
        Entry *entry = &entries[(key->hash + probe) % slots];
        if (entry->plan && entry->hash == key->hash && entry->words == key->words &&
            memcmp(entry->word, key->word, (size_t)key->words * sizeof *key->word) == 0)
            return entry;
    }
    return NULL;
}

static void *take_workspace(Entry *entry)
{
    void *workspace = entry->workspace;
    entry->workspace = NULL;
    idle -= workspace ? rdx_plan_workspace(entry->plan) : 0;
    return workspace;
}

static void drop(Entry *entry)
{
    rdx_sys_free(take_workspace(entry));
    rdx_plan_release(entry->plan);
    rdx_sys_free(entry->word);
    *entry = (Entry){0};
}

/* Keeps a workspace for the next call, in the place of all others where there is too little room. */
static void keep_workspace(Entry *entry, void *workspace)
{
    const size_t bytes = rdx_plan_workspace(entry->plan);
    if (bytes > rdx_cache_idle_most - idle)
        for (size_t i = 0; i < slots; i++)
            if (entries[i].plan)
                rdx_sys_free(take_workspace(&entries[i]));
    entry->workspace = workspace;
    idle += bytes;
}

/* The free or least recently used place among those where the key may live. */
static Entry *place_for(const Key *key)
{
    Entry *oldest = NULL;
    for (size_t probe = 0; probe < probes(); probe++) {
        Entry *entry = &entries[(key->hash + probe) % slots];
        if (!entry->plan)
            return entry;
        if (!oldest || entry->used < oldest->used)
            oldest = entry;
    }
    return oldest;
}

static void insert(const Key *key, RdxPlan *plan)
{
    if (!entries) {
        entries = rdx_sys_alloc(slots * sizeof *entries, 64);
        if (!entries)
            return; /* no cache is no error */
        memset(entries, 0, slots * sizeof *entries);
    }
    uint64_t *word = rdx_sys_alloc((size_t)key->words * sizeof *word, 16);
    if (!word)
        return;
    memcpy(word, key->word, (size_t)key->words * sizeof *word);
    Entry *entry = place_for(key);
    if (entry->plan)
        drop(entry);
    atomic_fetch_add_explicit(&plan->references, 1, memory_order_relaxed);
    *entry = (Entry){plan, key->hash, ++clock_ticks, key->words, word, NULL};
}

static void empty(void)
{
    for (size_t i = 0; entries && i < slots; i++)
        if (entries[i].plan)
            drop(&entries[i]);
    rdx_sys_free(entries);
    entries = NULL;
}

static void take_lock(void)
{
    pthread_mutex_lock(&lock);
}

static void give_lock(void)
{
    pthread_mutex_unlock(&lock);
}

/* A fork waits until nobody is inside, so the child finds the cache whole. */
__attribute__((constructor)) static void guard_forks(void)
{
    (void)rdx_sys_atfork(take_lock, give_lock, give_lock);
}

/* ---- rdx_reduce ---- */

static RdxPlan *lookup(const Key *key, void **workspace)
{
    take_lock();
    Entry *entry = slots ? find(key) : NULL;
    RdxPlan *plan = NULL;
    if (entry) {
        entry->used = ++clock_ticks;
        plan = entry->plan;
        atomic_fetch_add_explicit(&plan->references, 1, memory_order_relaxed);
        *workspace = take_workspace(entry);
    }
    give_lock();
    return plan;
}

static void give_back(const Key *key, const RdxPlan *plan, void *workspace)
{
    take_lock();
    Entry *entry = slots ? find(key) : NULL;
    if (entry && entry->plan == plan && !entry->workspace && rdx_plan_workspace(plan) <= rdx_cache_idle_most) {
        keep_workspace(entry, workspace);
        workspace = NULL;
    }
    give_lock();
    rdx_sys_free(workspace);
}

static RdxStatus launch_cuda(const RdxPlan *plan, const RdxProblem *problem, RdxStream stream)
{
    const RdxPluginTable *plugin;
    void *workspace = NULL;
    size_t bytes = rdx_plan_workspace(plan);
    RDX_TRY(rdx_plugin(&plugin));
    if (bytes)
        RDX_TRY(plugin->workspace_take(&workspace, bytes, stream, plan->where.id));
    RdxStatus status =
        rdx_plan_launch(plan, problem->in->data, problem->out->data, problem->out2 ? problem->out2->data : NULL,
                        workspace, bytes, stream, problem->alpha, problem->beta);
    if (bytes) {
        RdxStatus given = plugin->workspace_give(workspace, bytes, stream, plan->where.id);
        status = status == RDX_OK ? given : status;
    }
    return status;
}

static RdxStatus make_and_keep(RdxPlan **plan, const RdxProblem *problem, const Key *key, bool keyed, RdxStream stream)
{
    const RdxPluginTable *plugin;
    bool capturing = false;
    if (rdx_on_cuda(problem->in->device) && rdx_plugin(&plugin) == RDX_OK) {
        RdxStatus asked = plugin->is_capturing(&capturing, stream, problem->in->device.id);
        RDX_TRY(asked == RDX_ERR_NO_DEVICE ? RDX_OK : asked); /* making the plan says so, after what else is wrong */
    }
    RDX_REQUIRE(!capturing, RDX_ERR_STREAM,
                "the stream is capturing and the plan cache has no plan for this problem; call rdx_reduce once before");
    RDX_TRY(rdx_plan_create(plan, problem));
    if (keyed) {
        take_lock();
        if (slots && !find(key))
            insert(key, *plan);
        give_lock();
    }
    return RDX_OK;
}

RdxStatus rdx_reduce(const RdxProblem *callers, RdxStream stream)
{
    RdxProblem problem;
    Key key;
    RdxPlan *plan = NULL;
    void *workspace = NULL;
    RDX_TRY(rdx_problem_read(&problem, callers));
    bool keyed = make_key(&key, &problem);
    if (keyed)
        plan = lookup(&key, &workspace);
    if (!plan)
        RDX_TRY(make_and_keep(&plan, &problem, &key, keyed, stream));
    RdxStatus status = RDX_OK;
    size_t bytes = rdx_plan_workspace(plan);
    if (plan->device.cuda) {
        status = launch_cuda(plan, &problem, stream);
    } else {
        if (bytes && !workspace)
            workspace = rdx_sys_alloc(bytes, 64);
        if (bytes && !workspace)
            status = rdx_error(RDX_ERR_MEMORY, "no memory for a workspace of %zu bytes", bytes);
        else
            status =
                rdx_plan_launch(plan, problem.in->data, problem.out->data, problem.out2 ? problem.out2->data : NULL,
                                workspace, bytes, stream, problem.alpha, problem.beta);
        if (workspace && keyed)
            give_back(&key, plan, workspace);
        else
            rdx_sys_free(workspace);
    }
    rdx_plan_release(plan);
    return status;
}

void rdx_set_cache(size_t plans)
{
    take_lock();
    empty();
    slots = plans > 65536 ? 65536 : plans;
    give_lock();
}

static void give_up_host(void)
{
    take_lock();
    empty();
    give_lock();
    rdx_pool_shutdown();
}

void rdx_shutdown(void)
{
    give_up_host();
    rdx_plugin_shutdown();
}

/* Without the plugin: at the end of a process CUDA may be gone before this library is. */
__attribute__((destructor)) static void unload(void)
{
    give_up_host();
}
