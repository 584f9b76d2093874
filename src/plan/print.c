/* What a plan will do and why, for people (text), for tools (JSON) and in one line (s-expression): the collapsed dims,
   the choice, predicted traffic and time, the share of the memory's rate, every refused strategy with its reason and
   every losing candidate with its cost. Serves CPU and CUDA plans. Numbers are spelt without the locale: a comma would
   break the JSON. */
#include "../sink.h"
#include "layout.h"

#include <math.h>
#include <string.h>

/* The members of a configuration that are worth a word, in the order of printing. */
typedef struct Field {
    const char *name, *before, *after; /* in words: before, the number, after; before NULL: not in the text */
    int64_t value, silent;             /* silent: the text leaves it out at this value */
} Field;

enum { MOST_FIELDS = 32, WIDTH = 80 };

/* Fixed point, or the strings that stand for NaN and infinities. */
static void put_real(RdxSink *sink, double value, int decimals)
{
    if (isnan(value) || isinf(value)) {
        rdx_sink_put(sink, "\"%s\"", isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity");
        return;
    }
    int64_t scale = 1;
    for (int i = 0; i < decimals; i++)
        scale *= 10;
    if (fabs(value) * (double)scale >= 9e18) {
        rdx_sink_put(sink, "%.0f", value);
        return;
    }
    int64_t fixed = (int64_t)(fabs(value) * (double)scale + 0.5);
    rdx_sink_put(sink, "%s%lld", value < 0 && fixed ? "-" : "", (long long)(fixed / scale));
    if (decimals)
        rdx_sink_put(sink, ".%0*lld", decimals, (long long)(fixed % scale));
}

/* Three significant digits with a decimal prefix: 1.07 GB. */
static void put_scaled(RdxSink *sink, double value, const char *unit)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    int step = 0;
    while (value >= 999.5 && step < (int)RDX_LENGTH(prefixes) - 1) {
        value /= 1000;
        step++;
    }
    put_real(sink, value, step == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);
    rdx_sink_put(sink, " %s%s", prefixes[step], unit);
}

/* Three digits: it is a prediction. */
static void put_us(RdxSink *sink, double us)
{
    put_real(sink, us, us < 9.995 ? 2 : us < 99.95 ? 1 : 0);
}

/* A JSON string; also fit for an s-expression. */
static void put_string(RdxSink *sink, const char *text)
{
    rdx_sink_put(sink, "\"");
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            rdx_sink_put(sink, "\\%c", *c);
        else if (*c < 0x20 || *c >= 0x7f)
            rdx_sink_put(sink, "\\u%04x", *c);
        else
            rdx_sink_put(sink, "%c", *c);
    }
    rdx_sink_put(sink, "\"");
}

static const char *variant_of(const RdxConfig *config)
{
    return rdx_strategies[config->strategy].cuda ? rdx_form_name(config->variant) : NULL;
}

static double share_of(const RdxSituation *situation, const RdxConfig *config)
{
    return config->cost_us > 0 ? config->bytes / (config->cost_us * 1e-6 * situation->device->bandwidth) : 0;
}

/* What the strategy decided. */
static int cuda_fields(const RdxConfig *c, Field *f)
{
    bool cut = c->finishing != RDX_FINISHING_NONE;
    int n = 0;
    f[n++] = (Field){"vector_bytes", "loads of ", c->vector_bytes == 1 ? " byte" : " bytes", c->vector_bytes, -1};
    f[n++] = (Field){"split", "split ", "", c->split, 1};
    f[n++] = (Field){"part_chunks", "parts of ", c->part_chunks == 1 ? " chunk" : " chunks", c->part_chunks,
                     c->split > 1 ? -1 : c->part_chunks};
    f[n++] = (Field){"residues", "", " residue classes", c->residues, 1};
    f[n++] = (Field){"slices", "", " slices of the copies", c->slices, 1};
    f[n++] = (Field){"groups", "", c->groups == 1 ? " group" : " groups", c->groups, cut ? -1 : c->groups};
    f[n++] = (Field){"outputs_per_group", " of ", c->outputs_per_block == 1 ? " output" : " outputs",
                     c->outputs_per_block, cut ? -1 : c->outputs_per_block};
    f[n++] = (Field){"workspace_bytes", "workspace ", " bytes", c->workspace_bytes, 0};
    return n;
}

/* What is launched. */
static int launch_fields(const RdxConfig *c, Field *f)
{
    const RdxCudaLaunch *l = &c->launch;
    const int64_t outputs = l->shape.group_outputs * rdx_cuda_items_of_block(l->kind), team = l->shape.team;
    int n = 0;
    f[n++] = (Field){"blocks", "", l->blocks == 1 ? " block" : " blocks", l->blocks, -1};
    f[n++] = (Field){"threads", " of ", " threads", l->threads, -1};
    f[n++] = (Field){"outputs_per_block", "", outputs == 1 ? " output a block" : " outputs a block", outputs, -1};
    f[n++] = (Field){"warps_per_output", "", " warps an output", team, team > 1 ? 0 : team};
    f[n++] = (Field){"shared_bytes", "", " bytes of shared memory", l->shared_bytes, 0};
    f[n++] = (Field){"finish_blocks", "second launch of ", " blocks", c->finish_grid, 0};
    return n;
}

/* The blocks that the cost was counted with. Kernels are not made to this measure: they have what a kernel of this kind
   was measured with. */
static int model_fields(const RdxConfig *c, Field *f)
{
    int n = 0;
    f[n++] = (Field){"grid", NULL, NULL, c->grid, 0};
    f[n++] = (Field){"items", NULL, NULL, c->items, 0};
    f[n++] = (Field){"block_x", NULL, NULL, c->block_x, 0};
    f[n++] = (Field){"block_y", NULL, NULL, c->block_y, 0};
    f[n++] = (Field){"lanes_per_output", NULL, NULL, c->lanes_per_output, 0};
    f[n++] = (Field){"loads", NULL, NULL, c->loads, 0};
    f[n++] = (Field){"stages", NULL, NULL, c->stages, 0};
    f[n++] = (Field){"tile_bytes", NULL, NULL, c->tile_bytes, 0};
    f[n++] = (Field){"registers", NULL, NULL, c->registers, 0};
    f[n++] = (Field){"resident", NULL, NULL, c->resident, 0};
    f[n++] = (Field){"shared_bytes", NULL, NULL, c->shared_bytes, 0};
    f[n++] = (Field){"index_bits", NULL, NULL, c->index_bits, 0};
    return n;
}

static int cpu_fields(const RdxConfig *c, Field *f)
{
    int n = 0;
    f[n++] = (Field){"threads", "", c->threads == 1 ? " thread" : " threads", c->threads, -1};
    f[n++] = (Field){"items", "", c->grid == 1 ? " work item" : " work items", c->grid, -1};
    f[n++] = (Field){"outputs_per_item", "", " outputs an item", c->outputs_per_block, 1};
    f[n++] = (Field){"split", "split ", "", c->split, 1};
    f[n++] = (Field){"part_chunks", "parts of ", c->part_chunks == 1 ? " chunk" : " chunks", c->part_chunks,
                     c->split > 1 ? -1 : c->part_chunks};
    f[n++] = (Field){"residues", "", " residue classes", c->residues, 1};
    f[n++] = (Field){"variant", "variant ", "", c->variant, 0};
    f[n++] = (Field){"scratch_bytes", "scratch ", " bytes a thread", c->scratch_bytes, 0};
    f[n++] = (Field){"workspace_bytes", "workspace ", " bytes", c->workspace_bytes, 0};
    return n;
}

static int fields_of(const RdxConfig *config, Field *fields)
{
    return rdx_strategies[config->strategy].cuda ? cuda_fields(config, fields) : cpu_fields(config, fields);
}

static const char *finishing_name(const RdxConfig *config)
{
    static const char *const names[] = {"none", "last_block", "launch"};
    return config->finishing >= 0 && config->finishing < (int)RDX_LENGTH(names) ? names[config->finishing] : "?";
}

static void put_types(RdxSink *sink, const RdxRecipe *recipe)
{
    rdx_sink_put(sink, "%s %s -> %s", rdx_ops[recipe->op].name, rdx_types[recipe->in].name,
                 rdx_types[recipe->out].name);
    if (recipe->out2 < RDX_TYPE_COUNT)
        rdx_sink_put(sink, " and %s", rdx_types[recipe->out2].name);
}

/* "NAME: " has been put; the fields follow, wrapped. */
static void text_fields(RdxSink *sink, const Field *fields, int count)
{
    size_t line = sink->length;
    for (int i = 0, shown = 0; i < count; i++) {
        if (!fields[i].before || fields[i].value == fields[i].silent)
            continue;
        bool joined = fields[i].before[0] == ' '; /* "64 blocks" " of 256 threads" */
        bool wraps = !joined && sink->length - line > WIDTH;
        line = wraps ? sink->length : line;
        const char *gap = joined ? "" : !shown ? " " : wraps ? ",\n             " : ", ";
        rdx_sink_put(sink, "%s%s%lld%s", gap, fields[i].before, (long long)fields[i].value, fields[i].after);
        shown++;
    }
}

static void text_launch(RdxSink *sink, const RdxSituation *situation, const RdxConfig *config)
{
    Field fields[MOST_FIELDS];
    rdx_sink_put(sink, "\n  launch     %s:", rdx_cuda_kernel_name(&config->launch));
    const int count = launch_fields(config, fields);
    text_fields(sink, fields, count);
    int compute = situation->device->compute;
    if (compute < RDX_CUDA_LEAST_COMPUTE)
        rdx_sink_put(sink, "\n             (kernels are made for compute capability %d.%d and above, not for %d.%d)",
                     RDX_CUDA_LEAST_COMPUTE / 10, RDX_CUDA_LEAST_COMPUTE % 10, compute / 10, compute % 10);
}

static void text_choice(RdxSink *sink, const RdxSituation *situation, const RdxConfig *config)
{
    Field fields[MOST_FIELDS];
    const char *variant = variant_of(config);
    rdx_sink_put(sink, "  choice     %s%s%s:", rdx_strategies[config->strategy].name, variant ? ", " : "",
                 variant ? variant : "");
    const int count = fields_of(config, fields);
    text_fields(sink, fields, count);
    if (config->finishing == RDX_FINISHING_LAST_BLOCK)
        rdx_sink_put(sink, ", the last block finishes");
    if (rdx_strategies[config->strategy].cuda)
        text_launch(sink, situation, config);
    rdx_sink_put(sink, "\n  predicted  ");
    put_scaled(sink, config->bytes, "B");
    rdx_sink_put(sink, " in about ");
    put_us(sink, config->cost_us);
    rdx_sink_put(sink, " us, ");
    put_real(sink, 100 * share_of(situation, config), 0);
    rdx_sink_put(sink, "%% of ");
    put_scaled(sink, situation->device->bandwidth, "B/s");
    rdx_sink_put(sink, "\n");
}

static void print_text(RdxSink *sink, const RdxSituation *situation, const RdxCandidate *candidates, int count,
                       int chosen)
{
    char space[4096];
    const RdxSpace *s = situation->space;
    rdx_space_print(s, space, sizeof space);
    put_types(sink, situation->recipe);
    rdx_sink_put(sink, ", %lld output%s of %lld element%s, on %s\n  space      %s\n", (long long)s->keep_count,
                 s->keep_count == 1 ? "" : "s", (long long)s->reduce_count, s->reduce_count == 1 ? "" : "s",
                 situation->device->name, space);
    if (chosen >= 0)
        text_choice(sink, situation, &candidates[chosen].config);
    else
        rdx_sink_put(sink, "  choice     reference, the plain reading of the tree\n");
    rdx_sink_put(sink, "  candidates\n");
    for (int i = 0; i < count; i++) {
        const RdxConfig *config = &candidates[i].config;
        rdx_sink_put(sink, "    %-10s ", rdx_strategies[config->strategy].name);
        if (candidates[i].refused) {
            rdx_sink_put(sink, "refused: %s\n", candidates[i].refused);
            continue;
        }
        put_us(sink, config->cost_us);
        rdx_sink_put(sink, " us%s%s%s\n", variant_of(config) ? ", " : "", variant_of(config) ? variant_of(config) : "",
                     i == chosen ? ", chosen" : "");
    }
}

static void sexpr_dims(RdxSink *sink, const char *name, const RdxDim *dims, int rank)
{
    if (rank == 0)
        return;
    rdx_sink_put(sink, " (%s", name);
    for (int d = 0; d < rank; d++)
        rdx_sink_put(sink, " (%lld %lld)", (long long)dims[d].extent, (long long)dims[d].in);
    rdx_sink_put(sink, ")");
}

static void sexpr_fields(RdxSink *sink, const Field *fields, int count)
{
    for (int i = 0; i < count; i++)
        if (fields[i].value != 0)
            rdx_sink_put(sink, " (%s %lld)", fields[i].name, (long long)fields[i].value);
}

static void print_sexpr(RdxSink *sink, const RdxSituation *situation, const RdxCandidate *candidates, int count,
                        int chosen)
{
    const RdxSpace *space = situation->space;
    rdx_sink_put(sink, "(plan (%s %s %s) (device ", rdx_ops[situation->recipe->op].name,
                 rdx_types[situation->recipe->in].name, rdx_types[situation->recipe->out].name);
    put_string(sink, situation->device->name);
    rdx_sink_put(sink, ")");
    sexpr_dims(sink, "keep", space->keep, space->keep_rank);
    sexpr_dims(sink, "reduce", space->reduce, space->reduce_rank);
    if (space->copy_count > 1)
        rdx_sink_put(sink, " (copies %lld)", (long long)space->copy_count);
    if (chosen < 0) {
        rdx_sink_put(sink, " (reference)");
    } else {
        const RdxConfig *config = &candidates[chosen].config;
        Field fields[MOST_FIELDS];
        int fields_count = fields_of(config, fields);
        rdx_sink_put(sink, " (%s", rdx_strategies[config->strategy].name);
        if (variant_of(config))
            rdx_sink_put(sink, " %s (finish %s)", variant_of(config), finishing_name(config));
        sexpr_fields(sink, fields, fields_count);
        if (rdx_strategies[config->strategy].cuda) {
            rdx_sink_put(sink, " (launch %s", rdx_cuda_kernel_name(&config->launch));
            sexpr_fields(sink, fields, launch_fields(config, fields));
            rdx_sink_put(sink, ")");
        }
        rdx_sink_put(sink, " (bytes ");
        put_real(sink, config->bytes, 0);
        rdx_sink_put(sink, ") (us ");
        put_us(sink, config->cost_us);
        rdx_sink_put(sink, "))");
    }
    for (int i = 0; i < count; i++) {
        const RdxConfig *config = &candidates[i].config;
        if (i == chosen)
            continue;
        rdx_sink_put(sink, candidates[i].refused ? " (refused %s " : " (lost %s ",
                     rdx_strategies[config->strategy].name);
        if (candidates[i].refused)
            put_string(sink, candidates[i].refused);
        else
            put_us(sink, config->cost_us);
        rdx_sink_put(sink, ")");
    }
    rdx_sink_put(sink, ")");
}

static void json_dims(RdxSink *sink, const char *name, const RdxDim *dims, int rank)
{
    rdx_sink_put(sink, ", \"%s\": [", name);
    for (int d = 0; d < rank; d++)
        rdx_sink_put(sink, "%s{\"extent\": %lld, \"in\": %lld, \"out\": %lld, \"out2\": %lld, \"index\": %lld}",
                     d ? ", " : "", (long long)dims[d].extent, (long long)dims[d].in, (long long)dims[d].out,
                     (long long)dims[d].out2, (long long)dims[d].index);
    rdx_sink_put(sink, "]");
}

static void json_fields(RdxSink *sink, const Field *fields, int count)
{
    for (int i = 0; i < count; i++)
        rdx_sink_put(sink, ", \"%s\": %lld", fields[i].name, (long long)fields[i].value);
}

static void json_config(RdxSink *sink, const RdxSituation *situation, const RdxConfig *config)
{
    Field fields[MOST_FIELDS];
    if (variant_of(config))
        rdx_sink_put(sink, ", \"form\": \"%s\", \"finish\": \"%s\"", variant_of(config), finishing_name(config));
    json_fields(sink, fields, fields_of(config, fields));
    if (rdx_strategies[config->strategy].cuda) {
        rdx_sink_put(sink, ", \"launch\": {\"kernel\": \"%s\"", rdx_cuda_kernel_name(&config->launch));
        json_fields(sink, fields, launch_fields(config, fields));
        rdx_sink_put(sink, "}, \"model\": {\"waves\": ");
        put_real(sink, config->waves, 4);
        rdx_sink_put(sink, ", \"flight_bytes\": ");
        put_real(sink, config->flight_bytes, 0);
        json_fields(sink, fields, model_fields(config, fields));
        rdx_sink_put(sink, "}");
    }
    rdx_sink_put(sink, ", \"bytes\": ");
    put_real(sink, config->bytes, 0);
    rdx_sink_put(sink, ", \"us\": ");
    put_real(sink, config->cost_us, 3);
    rdx_sink_put(sink, ", \"share\": ");
    put_real(sink, share_of(situation, config), 4);
}

static void print_json(RdxSink *sink, const RdxSituation *situation, const RdxCandidate *candidates, int count,
                       int chosen)
{
    const RdxRecipe *recipe = situation->recipe;
    const RdxSpace *space = situation->space;
    rdx_sink_put(sink, "{\"schema\": 1, \"op\": \"%s\", \"in\": \"%s\", \"out\": \"%s\"", rdx_ops[recipe->op].name,
                 rdx_types[recipe->in].name, rdx_types[recipe->out].name);
    if (recipe->out2 < RDX_TYPE_COUNT)
        rdx_sink_put(sink, ", \"out2\": \"%s\"", rdx_types[recipe->out2].name);
    rdx_sink_put(sink, ", \"device\": ");
    put_string(sink, situation->device->name);
    rdx_sink_put(sink, ", \"bandwidth\": ");
    put_real(sink, situation->device->bandwidth, 0);
    rdx_sink_put(sink, ", \"outputs\": %lld, \"elements\": %lld, \"copies\": %lld", (long long)space->keep_count,
                 (long long)space->reduce_count, (long long)space->copy_count);
    json_dims(sink, "keep", space->keep, space->keep_rank);
    json_dims(sink, "reduce", space->reduce, space->reduce_rank);
    json_dims(sink, "copy", space->copy, space->copy_rank);
    rdx_sink_put(sink, ", \"choice\": \"%s\"",
                 chosen >= 0 ? rdx_strategies[candidates[chosen].config.strategy].name : "reference");
    rdx_sink_put(sink, ", \"candidates\": [");
    for (int i = 0; i < count; i++) {
        rdx_sink_put(sink, "%s{\"strategy\": \"%s\"", i ? ", " : "",
                     rdx_strategies[candidates[i].config.strategy].name);
        if (candidates[i].refused) {
            rdx_sink_put(sink, ", \"refused\": ");
            put_string(sink, candidates[i].refused);
        } else {
            rdx_sink_put(sink, ", \"chosen\": %s", i == chosen ? "true" : "false");
            json_config(sink, situation, &candidates[i].config);
        }
        rdx_sink_put(sink, "}");
    }
    rdx_sink_put(sink, "]}");
}

size_t rdx_plan_print(const RdxSituation *situation, const RdxCandidate *candidates, int count, int chosen, int format,
                      char *buffer, size_t size)
{
    RdxSink sink = rdx_sink_open(buffer, size);
    if (format == RDX_JSON)
        print_json(&sink, situation, candidates, count, chosen);
    else if (format == RDX_SEXPR)
        print_sexpr(&sink, situation, candidates, count, chosen);
    else
        print_text(&sink, situation, candidates, count, chosen);
    return sink.length;
}
