/* The public API: a problem becomes a plan, a plan is executed. One way through: read the problem, build the space,
   resolve the recipe, collapse, choose, bind. Execution checks pointers and calls the bound launcher; nothing else
   happens there. */
#include "describe.h"
#include "error.h"
#include "kernels/cpu/isa.h"
#include "log.h"
#include "plan.h"
#include "plan/scratch.h"
#include "plugin.h"
#include "pool.h"
#include "sys.h"

#include <stdio.h>
#include <string.h>

enum { PROBLEM_MOST = 4096 }; /* bytes of any later RdxProblem: a size of garbage must not send us reading on */

static atomic_int threads_wanted; /* 0: not set */

int rdx_version(void)
{
    return RDX_VERSION;
}

int rdx_tree_version(void)
{
    return RDX_TREE_VERSION;
}

void rdx_set_threads(int threads)
{
    atomic_store_explicit(&threads_wanted,
                          threads < 0              ? 0
                          : threads > RDX_POOL_MAX ? RDX_POOL_MAX
                                                   : threads,
                          memory_order_relaxed);
}

int rdx_threads_wanted(void)
{
    return atomic_load_explicit(&threads_wanted, memory_order_relaxed);
}

int rdx_threads(void)
{
    const int wanted = rdx_threads_wanted();
    return wanted ? wanted : rdx_pool_processors();
}

/* ---- Reading a problem ---- */

RdxStatus rdx_problem_read(RdxProblem *problem, const RdxProblem *callers)
{
    RDX_REQUIRE(callers != NULL, RDX_ERR_NULL, "problem is NULL");
    RDX_REQUIRE(callers->size >= sizeof *problem && callers->size <= PROBLEM_MOST, RDX_ERR_STRUCT_SIZE,
                "problem->size is %zu; it is %zu to %d bytes (start from RDX_PROBLEM_INIT)", callers->size,
                sizeof *problem, PROBLEM_MOST);
    const unsigned char *newer = (const unsigned char *)callers;
    for (size_t i = sizeof *problem; i < callers->size; i++) /* members that this library does not know */
        RDX_REQUIRE(newer[i] == 0, RDX_ERR_STRUCT_SIZE,
                    "problem->size is %zu and byte %zu is set; this library knows %zu bytes", callers->size, i,
                    sizeof *problem);
    memcpy(problem, callers, sizeof *problem);
    problem->size = sizeof *problem; /* the copy has no more */
    RDX_REQUIRE(problem->in != NULL, RDX_ERR_NULL, "problem->in is NULL");
    return RDX_OK;
}

static RdxStatus check_device(const RdxTensor *tensor, const char *role, RdxDevice where, bool *cuda)
{
    int type = tensor->device.type;
    RDX_REQUIRE(type == RDX_CPU || type == RDX_CUDA || type == RDX_CUDA_HOST || type == RDX_CUDA_MANAGED,
                RDX_ERR_DEVICE, "%s is on device type %d; redax knows CPU (1, 3) and CUDA (2, 13)", role, type);
    *cuda = rdx_on_cuda(tensor->device);
    RDX_REQUIRE(*cuda == rdx_on_cuda(where) && (!*cuda || tensor->device.id == where.id), RDX_ERR_DEVICE,
                "%s is on device %d:%d but in is on %d:%d", role, type, tensor->device.id, where.type, where.id);
    return RDX_OK;
}

typedef struct Types {
    RdxType in, out, out2;
    bool cuda;
} Types;

static RdxStatus read_types(const RdxProblem *problem, Types *types)
{
    RDX_REQUIRE(problem->out != NULL, RDX_ERR_NULL, "problem->out is NULL");
    RDX_REQUIRE(problem->threads >= 0, RDX_ERR_OPTION, "threads is %d; 0 is the default", problem->threads);
    types->out2 = RDX_TYPE_COUNT;
    RDX_TRY(check_device(problem->in, "in", problem->in->device, &types->cuda));
    RDX_TRY(check_device(problem->out, "out", problem->in->device, &types->cuda));
    RDX_TRY(rdx_type_find(&types->in, problem->in->dtype, "in"));
    RDX_TRY(rdx_type_find(&types->out, problem->out->dtype, "out"));
    if (problem->out2) {
        RDX_TRY(check_device(problem->out2, "out2", problem->in->device, &types->cuda));
        RDX_TRY(rdx_type_find(&types->out2, problem->out2->dtype, "out2"));
    }
    return RDX_OK;
}

/* ---- Pointers: null, alignment, overlap ---- */

static RdxStatus check_aligned(const char *role, uintptr_t address, int64_t align, const char *what)
{
    RDX_REQUIRE(address % (uintptr_t)align == 0, RDX_ERR_ALIGN,
                "%s begins at an address of %lld modulo %lld; %s needs %lld", role,
                (long long)(address % (uintptr_t)align), (long long)align, what, (long long)align);
    return RDX_OK;
}

/* What the address of the input's lowest element, `offset` bytes from its first one, keeps: by the caller's word of the
   first one or by its present address; a power of two from 1 to 16. */
static RdxStatus input_alignment(const RdxProblem *problem, RdxType in, int64_t offset, int64_t *align)
{
    const RdxTensor *t = problem->in;
    int64_t given = problem->align, wanted = rdx_type_align(in);
    RDX_REQUIRE(given >= 0 && (given & (given - 1)) == 0, RDX_ERR_OPTION, "align is %lld; it is 0 or a power of two",
                (long long)given);
    uintptr_t address = (uintptr_t)t->data + t->byte_offset;
    RDX_REQUIRE(!given || !t->data || address % (uintptr_t)given == 0, RDX_ERR_ALIGN,
                "align is %lld but in begins at an address of %lld modulo that", (long long)given,
                (long long)(address % (uintptr_t)given));
    const int64_t first = given ? rdx_min(given, 16) : rdx_common_align((int64_t)address, 0);
    RDX_REQUIRE(first >= wanted, RDX_ERR_ALIGN, "in keeps %lld bytes of alignment; %s needs %lld", (long long)first,
                rdx_types[in].name, (long long)wanted);
    *align = given ? rdx_common_align(first, offset) : rdx_common_align((int64_t)(address + (uintptr_t)offset), 0);
    return RDX_OK;
}

static bool intervals_meet(uintptr_t a, int64_t a_low, int64_t a_high, uintptr_t b, int64_t b_low, int64_t b_high)
{
    return a_low < a_high && b_low < b_high && a + (uintptr_t)a_low < b + (uintptr_t)b_high &&
           b + (uintptr_t)b_low < a + (uintptr_t)a_high;
}

static RdxStatus check_pointers(const RdxPlan *plan, uintptr_t in, uintptr_t out, uintptr_t out2)
{
    const RdxSpace *s = &plan->space;
    RDX_TRY(check_aligned(s->in_offset ? "in's lowest element" : "in", in + (uintptr_t)s->in_offset, plan->in_align,
                          "the plan"));
    RDX_TRY(check_aligned("out", out, rdx_type_align((RdxType)plan->recipe.out), rdx_types[plan->recipe.out].name));
    RDX_REQUIRE(!intervals_meet(in, s->in_low, s->in_high, out, s->out_low, s->out_high), RDX_ERR_OVERLAP,
                "out overlaps in: out touches bytes %lld to %lld from in's first element, in %lld to %lld",
                (long long)(out - in) + (long long)s->out_low, (long long)(out - in) + (long long)s->out_high,
                (long long)s->in_low, (long long)s->in_high);
    if (plan->recipe.second == RDX_SECOND_NONE)
        return RDX_OK;
    RDX_TRY(check_aligned("out2", out2, rdx_type_align((RdxType)plan->recipe.out2), rdx_types[plan->recipe.out2].name));
    RDX_REQUIRE(!intervals_meet(in, s->in_low, s->in_high, out2, s->out2_low, s->out2_high), RDX_ERR_OVERLAP,
                "out2 overlaps in: it begins %lld bytes from in's first element", (long long)(out2 - in));
    RDX_REQUIRE(!intervals_meet(out, s->out_low, s->out_high, out2, s->out2_low, s->out2_high), RDX_ERR_OVERLAP,
                "out2 overlaps out: it begins %lld bytes from out's first element", (long long)(out2 - out));
    return RDX_OK;
}

/* ---- Plans ---- */

static RdxStatus check_empty(const RdxSpace *space, const RdxRecipe *recipe)
{
    bool no_value = rdx_ops[recipe->op].empty == RDX_EMPTY_ERROR || (recipe->op == RDX_NORM && recipe->p < 0);
    RDX_REQUIRE(!no_value || space->reduce_count > 0 || space->keep_count == 0, RDX_ERR_EMPTY,
                "%s of no elements has no value; the output has %lld element%s", rdx_ops[recipe->op].name,
                (long long)space->keep_count, space->keep_count == 1 ? "" : "s");
    return RDX_OK;
}

RdxStatus rdx_plan_situate(RdxSpace *space, RdxRecipe *recipe, const RdxProblem *problem, RdxType in, RdxType out,
                           RdxType out2)
{
    RDX_TRY(rdx_space_build(space, problem, in, out, out2));
    RDX_TRY(rdx_recipe_resolve(recipe, problem, in, out, out2, space->reduce_count));
    RDX_TRY(check_empty(space, recipe));
    space->indexed = recipe->indexed;
    rdx_space_collapse(space);
    return RDX_OK;
}

static RdxSituation situation_of(const RdxPlan *plan)
{
    return (RdxSituation){&plan->space, &plan->recipe, &plan->device, plan->in_align};
}

static RdxStatus describe_device(RdxPlan *plan, const RdxProblem *problem, bool cuda, const RdxPluginTable **plugin)
{
    *plugin = NULL;
    if (cuda) {
        RDX_TRY(rdx_plugin(plugin));
        return (*plugin)->device_info(problem->in->device.id, &plan->device);
    }
    const RdxDeviceInfo *cpu = rdx_device_preset("cpu");
    RDX_ASSURE(cpu != NULL);
    plan->device = *cpu;
    plan->device.units = problem->threads > 0 ? (int)rdx_min(problem->threads, RDX_POOL_MAX) : rdx_threads();
    return RDX_OK;
}

/* The configuration of the plain reading of the tree. */
static void configure_reference(RdxPlan *plan)
{
    RdxScratch scratch;
    const RdxSpace *space = &plan->space;
    plan->config =
        (RdxConfig){.strategy = RDX_CHOOSE_REFERENCE, .split = 1, .residues = 1, .threads = 1, .index_bits = 64};
    plan->config.outputs_per_block = rdx_min(rdx_space_inner_extent(space), 64);
    plan->config.part_chunks = rdx_pow2_ceil(rdx_recipe_chunks(&plan->recipe));
    rdx_scratch_of(&scratch, space, &plan->recipe, &plan->config);
    plan->config.workspace_bytes = scratch.bytes <= RDX_LOCAL_SCRATCH ? 0 : scratch.bytes;
}

static RdxStatus choose(RdxPlan *plan)
{
    RdxCandidate candidates[RDX_STRATEGY_COUNT];
    RdxSituation situation = situation_of(plan);
    int count, chosen;
    RDX_TRY(rdx_choose(&situation, candidates, &count, &chosen));
    if (chosen == RDX_CHOOSE_REFERENCE)
        configure_reference(plan);
    else
        plan->config = candidates[chosen].config;
    return RDX_OK;
}

/* From types and device to a bound kernel. */
static RdxStatus decide(RdxPlan *plan, const RdxProblem *problem, const Types *types, const RdxPluginTable *plugin)
{
    RDX_TRY(rdx_plan_situate(&plan->space, &plan->recipe, problem, types->in, types->out, types->out2));
    RDX_TRY(input_alignment(problem, types->in, plan->space.in_offset, &plan->in_align));
    RDX_TRY(choose(plan));
    RDX_TRY(plugin ? plugin->bind(&plan->kernel, &plan->space, &plan->recipe, &plan->config, problem->in->device.id)
                   : rdx_cpu_bind(&plan->kernel, &plan->space, &plan->recipe, &plan->config));
    plan->where = problem->in->device;
    plan->in_offset = (int64_t)problem->in->byte_offset;
    plan->out_offset = (int64_t)problem->out->byte_offset;
    plan->out2_offset = problem->out2 ? (int64_t)problem->out2->byte_offset : 0;
    plan->alpha = problem->alpha;
    plan->beta = problem->beta;
    if (problem->in->data && problem->out->data && (!problem->out2 || problem->out2->data))
        RDX_TRY(check_pointers(plan, (uintptr_t)problem->in->data + problem->in->byte_offset,
                               (uintptr_t)problem->out->data + problem->out->byte_offset,
                               problem->out2 ? (uintptr_t)problem->out2->data + problem->out2->byte_offset : 0));
    return RDX_OK;
}

static RdxStatus make_plan(RdxPlan *plan, const RdxProblem *problem)
{
    Types types;
    const RdxPluginTable *plugin;
    RDX_TRY(read_types(problem, &types));
    RDX_TRY(rdx_op_check(problem->op));
    RDX_TRY(describe_device(plan, problem, types.cuda, &plugin));
    if (!plugin)
        return decide(plan, problem, &types, NULL);
    plugin->range_open("redax plan");
    RdxStatus status = decide(plan, problem, &types, plugin);
    plugin->range_close();
    return status;
}

static RdxStatus create(RdxPlan **plan, const RdxProblem *callers)
{
    RdxProblem problem;
    RDX_REQUIRE(plan != NULL, RDX_ERR_NULL, "plan is NULL");
    RDX_TRY(rdx_problem_read(&problem, callers));
    RdxPlan *made = rdx_sys_alloc(sizeof *made, 64);
    RDX_REQUIRE(made != NULL, RDX_ERR_MEMORY, "no memory for a plan of %zu bytes", sizeof *made);
    atomic_init(&made->references, 1);
    RdxStatus status = make_plan(made, &problem);
    if (status != RDX_OK) {
        rdx_sys_free(made);
        return status;
    }
    rdx_problem_describe(&problem, made->text, sizeof made->text);
    if (rdx_log_wants(RDX_LOG_PLAN)) {
        char scaling[RDX_SCALING_TEXT];
        rdx_scaling_describe(made->alpha, made->beta, scaling, sizeof scaling);
        rdx_log(RDX_LOG_PLAN, "plan %s split %lld residues %d threads %d workspace %lld: %s%s",
                made->config.strategy < 0 ? "reference" : rdx_strategies[made->config.strategy].name,
                (long long)made->config.split, made->config.residues, made->config.threads,
                (long long)made->config.workspace_bytes, made->text, scaling);
    }
    *plan = made;
    return RDX_OK;
}

RdxStatus rdx_plan_create(RdxPlan **plan, const RdxProblem *problem)
{
    RdxStatus status = create(plan, problem);
    if (status != RDX_OK)
        rdx_log(RDX_LOG_ERROR, "%s: %s", rdx_status_name(status), rdx_last_error());
    return status;
}

void rdx_plan_release(RdxPlan *plan)
{
    if (plan && atomic_fetch_sub_explicit(&plan->references, 1, memory_order_acq_rel) == 1)
        rdx_sys_free(plan);
}

void rdx_plan_destroy(RdxPlan *plan)
{
    rdx_plan_release(plan);
}

enum { CPU_WORKSPACE_ALIGN = 64 };

size_t rdx_plan_workspace(const RdxPlan *plan)
{
    if (!plan || plan->config.workspace_bytes == 0)
        return 0;
    return (size_t)plan->config.workspace_bytes + (plan->device.cuda ? 0 : CPU_WORKSPACE_ALIGN);
}

RdxStatus rdx_workspace_init(const RdxPlan *plan, void *workspace, RdxStream stream)
{
    RDX_REQUIRE(plan != NULL, RDX_ERR_NULL, "plan is NULL");
    RDX_REQUIRE(workspace != NULL || rdx_plan_workspace(plan) == 0, RDX_ERR_NULL,
                "workspace is NULL; the plan needs %zu bytes", rdx_plan_workspace(plan));
    if (!plan->device.cuda) {
        RDX_REQUIRE(stream == NULL, RDX_ERR_STREAM, "a CPU plan takes no stream");
        return RDX_OK;
    }
    const RdxPluginTable *plugin;
    RDX_TRY(rdx_plugin(&plugin));
    return plugin->workspace_init(workspace, rdx_plan_workspace(plan), stream, plan->where.id);
}

static RdxStatus check_present(const RdxPlan *plan, const void *in, const void *out, const void *out2)
{
    const RdxSpace *s = &plan->space;
    RDX_REQUIRE(in != NULL || s->in_low == s->in_high, RDX_ERR_NULL, "in is NULL but has elements");
    RDX_REQUIRE(out != NULL || s->out_low == s->out_high, RDX_ERR_NULL, "out is NULL but has elements");
    if (plan->recipe.second != RDX_SECOND_NONE)
        RDX_REQUIRE(out2 != NULL || s->out2_low == s->out2_high, RDX_ERR_NULL, "out2 is NULL but has elements");
    return RDX_OK;
}

static void log_launch(const RdxPlan *plan, double alpha, double beta)
{
    char scaling[RDX_SCALING_TEXT];
    rdx_scaling_describe(alpha, beta, scaling, sizeof scaling);
    rdx_log(RDX_LOG_EXECUTE, "execute %s%s", plan->text, scaling);
}

RdxStatus rdx_plan_launch(const RdxPlan *plan, const void *in, void *out, void *out2, void *workspace,
                          size_t workspace_bytes, RdxStream stream, double alpha, double beta)
{
    uintptr_t in_at = (uintptr_t)in + (uintptr_t)plan->in_offset, out_at = (uintptr_t)out + (uintptr_t)plan->out_offset;
    uintptr_t out2_at = (uintptr_t)out2 + (uintptr_t)plan->out2_offset, work = (uintptr_t)workspace;
    size_t needed = rdx_plan_workspace(plan);
    RDX_TRY(check_present(plan, in, out, out2));
    RDX_TRY(check_pointers(plan, in_at, out_at, out2_at));
    RDX_REQUIRE(workspace_bytes >= needed, RDX_ERR_WORKSPACE, "workspace has %zu bytes; the plan needs %zu",
                workspace_bytes, needed);
    RDX_REQUIRE(needed == 0 || workspace != NULL, RDX_ERR_NULL, "workspace is NULL; the plan needs %zu bytes", needed);
    RDX_REQUIRE(plan->device.cuda || stream == NULL, RDX_ERR_STREAM, "a CPU plan takes no stream");
    if (plan->device.cuda) {
        RDX_TRY(rdx_plugin_check_fork());
        RDX_TRY(needed ? check_aligned("workspace", work, 256, "a CUDA plan") : RDX_OK);
    } else {
        work = (work + CPU_WORKSPACE_ALIGN - 1) & ~(uintptr_t)(CPU_WORKSPACE_ALIGN - 1);
    }
    if (plan->space.keep_count == 0)
        return RDX_OK;
    if (rdx_log_wants(RDX_LOG_EXECUTE))
        log_launch(plan, alpha, beta);
    RdxLaunch launch = {
        .space = &plan->space,
        .recipe = &plan->recipe,
        .config = &plan->config,
        .code = plan->kernel.code,
        .in = (const unsigned char *)in_at,
        .out = (unsigned char *)out_at,
        .out2 = plan->recipe.second == RDX_SECOND_NONE ? NULL : (unsigned char *)out2_at,
        .workspace = (unsigned char *)work,
        .stream = stream,
        .text = plan->text,
        .alpha = alpha,
        .beta = beta,
    };
    return plan->kernel.launch(&launch);
}

RdxStatus rdx_execute(const RdxPlan *plan, const void *in, void *out, void *out2, void *workspace,
                      size_t workspace_bytes, RdxStream stream)
{
    RDX_REQUIRE(plan != NULL, RDX_ERR_NULL, "plan is NULL");
    return rdx_plan_launch(plan, in, out, out2, workspace, workspace_bytes, stream, plan->alpha, plan->beta);
}

/* ---- What can be asked ---- */

static void infer(RdxTensor *out, const RdxTensor *in, RdxType type, const bool *reduced, bool keepdims)
{
    out->device = in->device;
    out->dtype = rdx_types[type].dtype;
    out->strides = NULL;
    out->byte_offset = 0;
    out->ndim = 0;
    for (int d = 0; d < in->ndim; d++)
        if (keepdims || !reduced[d])
            out->shape[out->ndim++] = reduced[d] ? 1 : in->shape[d];
}

RdxStatus rdx_infer_outputs(const RdxProblem *callers, int keepdims, RdxTensor *out, RdxTensor *out2)
{
    RdxProblem problem;
    RdxType in;
    bool reduced[RDX_MAX_RANK];
    RDX_TRY(rdx_problem_read(&problem, callers));
    RDX_REQUIRE(out != NULL && out->shape != NULL, RDX_ERR_NULL, "out or out->shape is NULL");
    RDX_REQUIRE(out2 == NULL || out2->shape != NULL, RDX_ERR_NULL, "out2->shape is NULL");
    RDX_TRY(rdx_op_check(problem.op));
    RDX_TRY(rdx_type_find(&in, problem.in->dtype, "in"));
    RDX_REQUIRE(rdx_op_accepts(problem.op, in), RDX_ERR_UNSUPPORTED, "%s does not take %s input",
                rdx_ops[problem.op].name, rdx_types[in].name);
    RDX_TRY(rdx_axes_read(&problem, reduced));
    RDX_REQUIRE(out2 == NULL || rdx_ops[problem.op].second != RDX_SECOND_NONE, RDX_ERR_UNSUPPORTED,
                "%s has no second output", rdx_ops[problem.op].name);
    infer(out, problem.in, rdx_op_default_out(problem.op, in), reduced, keepdims);
    if (out2)
        infer(out2, problem.in, rdx_op_default_out2(problem.op, in), reduced, keepdims);
    return RDX_OK;
}

RdxStatus rdx_plan_explain(const RdxPlan *plan, int format, char *buffer, size_t size, size_t *needed)
{
    RDX_REQUIRE(plan != NULL, RDX_ERR_NULL, "plan is NULL");
    RDX_REQUIRE(buffer != NULL || size == 0, RDX_ERR_NULL, "buffer is NULL but size is %zu", size);
    RDX_REQUIRE(format >= RDX_TEXT && format <= RDX_JSON, RDX_ERR_OPTION, "format is %d; formats are 0 to 2", format);
    RdxCandidate candidates[RDX_STRATEGY_COUNT];
    RdxSituation situation = situation_of(plan);
    int count, chosen;
    RDX_TRY(rdx_choose(&situation, candidates, &count, &chosen));
    chosen = RDX_CHOOSE_REFERENCE;
    for (int i = 0; i < count; i++) /* when the plan was made; a hook may choose otherwise today */
        if (!candidates[i].refused && candidates[i].config.strategy == plan->config.strategy)
            chosen = i;
    size_t wanted = rdx_plan_print(&situation, candidates, count, chosen, format, buffer, size);
    if (needed)
        *needed = wanted + 1;
    return RDX_OK;
}
