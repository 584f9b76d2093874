/* Finds the CPU's code for a recipe: micro-kernels of the ISA level in use, and the strategy's function. */
#include "../../error.h"
#include "run.h"

_Static_assert(sizeof(RdxCpuCode) <= sizeof(((RdxKernel *)0)->code), "RdxKernel has too little room");

static RdxReduce strategy_code(int strategy)
{
    switch (strategy) {
    case RDX_STRATEGY_CPU_SHORT_ROWS:
        return rdx_cpu_short_rows;
    case RDX_STRATEGY_CPU_COLUMNS:
        return rdx_cpu_columns;
    case RDX_STRATEGY_CPU_SHORT_COLUMNS:
        return rdx_cpu_short_columns;
    case RDX_STRATEGY_CPU_ROWS:
        return rdx_cpu_rows;
    case RDX_STRATEGY_CPU_GATHER:
        return rdx_cpu_gather;
    case RDX_CHOOSE_REFERENCE:
        return rdx_cpu_reference;
    default:
        return NULL;
    }
}

enum {
    NEAR_BYTES = 1 << 16,   /* more comes from the second cache; more than rdx_cpu_stream_bytes from memory */
    AHEAD_BYTES = 3072,     /* bf16 rows of 64: 1 and 2 KB 11.5 GB/s, 3 KB 13.0, 4 and 6 KB 9.5 */
    LONG_RUN = 65536,       /* 3 KB for nothing are 5% of it */
    PACED_BYTES = 2048,     /* the same at a pace, two threads: 1 KB 31.9, 2 KB 31.5, 3 KB 29.6 */
    OUTPUT_BYTES = 4 << 20, /* more goes past the caches: rows of 8 i8, as many bytes out as in, 5.0 GB/s, so 6.5 */
};

/* Whether elements are of the converted working type as they lie in memory. */
static bool is_native(RdxType type, RdxWork work, bool planar)
{
    static const uint8_t native[RDX_TYPE_COUNT] = {
        [RDX_TYPE_I8] = 1 << RDX_WORK_I8,   [RDX_TYPE_U8] = 1 << RDX_WORK_U8,   [RDX_TYPE_I16] = 1 << RDX_WORK_I16,
        [RDX_TYPE_U16] = 1 << RDX_WORK_U16, [RDX_TYPE_I32] = 1 << RDX_WORK_I32, [RDX_TYPE_U32] = 1 << RDX_WORK_I32,
        [RDX_TYPE_I64] = 1 << RDX_WORK_I64, [RDX_TYPE_U64] = 1 << RDX_WORK_I64, [RDX_TYPE_F32] = 1 << RDX_WORK_F32,
        [RDX_TYPE_F64] = 1 << RDX_WORK_F64, [RDX_TYPE_C64] = 1 << RDX_WORK_F32, [RDX_TYPE_C128] = 1 << RDX_WORK_F64,
    };
    return (native[type] >> work & 1) && !planar;
}

/* What narrow.h means by them; keys of bytes order like unsigned ones. */
static void set_narrow(RdxCpuCode *code, const RdxRecipe *recipe)
{
    RdxLoad *load = &code->load;
    code->many_lines = true;
    switch ((RdxType)recipe->in) {
    case RDX_TYPE_F16:
        load->limit = 0x7c00;
        code->half_keys = recipe->algebra == RDX_ALGEBRA_MAX;
        break;
    case RDX_TYPE_BF16:
        load->limit = 0x7f80;
        break;
    default:
        load->limit = recipe->in == RDX_TYPE_BOOL ? 1 : UINT8_MAX;
        load->turn ^= recipe->in == RDX_TYPE_I8 ? 0x80 : 0;
        code->key_offset = recipe->in == RDX_TYPE_I8 ? INT8_MIN : recipe->flip ? -UINT8_MAX - 1 : 0;
        break;
    }
}

/* What the ELEMENT of a fused fold means by TURN and NAN_KEY. */
static void set_load(RdxLoad *load, const RdxRecipe *recipe)
{
    int64_t top = recipe->work == RDX_WORK_I64 ? INT64_MAX : INT32_MAX;
    if (recipe->algebra == RDX_ALGEBRA_MAX || recipe->algebra == RDX_ALGEBRA_ARGMAX) {
        load->turn = recipe->flip ? -1 : 0;
        load->nan = recipe->omit ? -top - 1 : top;
    } else if (recipe->map == RDX_MAP_ZERO) { /* |x| in [0, 1) by its bits */
        load->turn = 0;
        load->nan = 1;
    } else if (recipe->map == RDX_MAP_NONZERO) { /* in [1, infinity], and NaN */
        load->turn = 1;
        load->nan = recipe->omit ? 0x7f800000 : INT32_MAX;
    } else if (recipe->in == RDX_TYPE_BOOL) { /* sums of truths */
        load->turn = 1;
    }
}

/* Takes the fold that converts and maps on its way, where there is one. Narrow keys have no kernel for short rows of
   their own: argmax of 64 f16 6.0 GB/s as one long line, staged 8.7. */
static void fuse(RdxCpuCode *code, const RdxRecipe *recipe, const RdxConfig *config)
{
    const RdxFused *fused = code->isa->fused;
    while (fused->fold && (fused->in != recipe->in || fused->algebra != recipe->algebra ||
                           fused->work != recipe->work || fused->map != recipe->map))
        fused++;
    const bool is_narrow = recipe->work == RDX_WORK_I32 && rdx_types[recipe->in].size < 4;
    const bool short_rows = config->strategy == RDX_STRATEGY_CPU_SHORT_ROWS && config->variant != 0 &&
                            recipe->count <= recipe->lanes && recipe->count == rdx_pow2_floor(recipe->count);
    if (!fused->fold || (is_narrow && short_rows && !fused->short_rows && code->short_rows))
        return;
    code->fold = fused->fold;
    code->rows = fused->rows;
    code->short_rows = fused->short_rows;
    code->any_rows = fused->any_rows;
    code->join_lanes = fused->join_lanes;
    code->staged = false;
    set_load(&code->load, recipe);
    if (is_narrow)
        set_narrow(code, recipe);
}

/* Whether memory goes on where a row or a run of it ends, so that what is asked for ahead is read: with the next row,
   or because it is long (LONG_RUN). Rows of 1024 f32 every 8 KB, two threads of a Xeon: at a pace 15 GB/s, else 25.
   Columns judge for themselves. */
static bool goes_on(const RdxSpace *space)
{
    const RdxDim *inner = space->reduce_rank ? &space->reduce[space->reduce_rank - 1] : NULL;
    if (!inner || inner->in != space->in_size)
        return true;
    const RdxDim *next = space->keep_rank         ? &space->keep[space->keep_rank - 1]
                         : space->reduce_rank > 1 ? inner - 1
                                                  : NULL;
    const int64_t run = inner->extent * space->in_size;
    return !next || next->in == run || run >= LONG_RUN;
}

RdxStatus rdx_cpu_bind(RdxKernel *kernel, const RdxSpace *space, const RdxRecipe *recipe, const RdxConfig *config)
{
    const RdxIsa *isa;
    RDX_TRY(rdx_cpu_isa(&isa));
    RdxType in = (RdxType)recipe->in, out = (RdxType)recipe->out;
    RdxWork result = (RdxWork)recipe->result, convert = (RdxWork)recipe->convert;
    RdxCpuCode code = {
        .isa = isa,
        .algebra = rdx_isa_algebra(isa, recipe),
        .convert = recipe->planar ? isa->convert_planar[in][convert] : isa->convert[in][convert],
        .store = isa->store[recipe->finish == RDX_FINISH_INDEX ? RDX_WORK_I64 : result][out],
        .reduce = strategy_code(config->strategy),
    };
    RDX_ASSURE(code.algebra->fold && code.store && code.reduce);
    code.fold = code.algebra->fold;
    code.rows = code.algebra->rows;
    code.short_rows = code.algebra->short_rows;
    code.staged = code.convert || recipe->map != RDX_MAP_NONE;
    code.join_lanes = code.staged ? NULL : code.algebra->join_lanes;
    if (config->strategy != RDX_CHOOSE_REFERENCE) /* which stays free of short cuts */
        fuse(&code, recipe, config);
    if (recipe->algebra == RDX_ALGEBRA_ISUM) /* lanes of four bytes hold no more of them */
        code.many_lines = !code.staged && space->in_size < 4;
    RDX_ASSURE(code.convert || is_native(in, convert, recipe->planar));
    if (!rdx_type_is_integral(out)) { /* alpha and beta are arguments of each launch */
        code.old = isa->convert[out][result];
        RDX_ASSURE(code.old || is_native(out, result, false));
    }
    if (recipe->second != RDX_SECOND_NONE) {
        code.store2 = isa->store[recipe->second == RDX_SECOND_INDEX ? RDX_WORK_I64 : result][recipe->out2];
        RDX_ASSURE(code.store2);
    }
    const bool from_memory = config->bytes >= (double)rdx_cpu_stream_bytes;
    code.load.in_order = from_memory && rdx_cpu_keeps_ahead();
    code.load.paced = from_memory && rdx_cpu_needs_pace() && goes_on(space);
    if (from_memory || config->bytes >= NEAR_BYTES)
        code.load.ahead = !from_memory ? RDX_AHEAD_NEAR : code.load.paced ? PACED_BYTES : AHEAD_BYTES;
    code.streams = space->keep_count * rdx_types[out].size >= OUTPUT_BYTES;
    rdx_scratch_of(&code.scratch, space, recipe, config);
    bool one = config->strategy == RDX_STRATEGY_CPU_ROWS && space->keep_rank == 0 && space->reduce_rank <= 1 &&
               recipe->count > 0 && recipe->count <= rdx_recipe_chunk(recipe) &&
               code.scratch.bytes <= RDX_LOCAL_SCRATCH;
    kernel->launch = one ? rdx_cpu_launch_one : rdx_cpu_launch;
    memcpy(kernel->code, &code, sizeof code);
    return RDX_OK;
}
