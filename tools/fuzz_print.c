/* What the fuzzer met, as tables, and whether that was everything. */
#include "fuzz.h"

#include "../src/op.h"
#include "../src/plan/config.h"

#include <string.h>

_Static_assert((int)RDX_FUZZ_OPS == (int)RDX_OP_COUNT && (int)RDX_DATA_TYPES == (int)RDX_TYPE_COUNT,
               "grow the fuzzer's tables with ops.def");
_Static_assert((int)RDX_FUZZ_STRATEGIES >= (int)RDX_STRATEGY_COUNT, "grow the fuzzer's tables with strategies.def");

static const char *const layouts[RDX_FUZZ_LAYOUTS] = {
    "row-major", "permuted", "stepped", "flipped",  "stride 0",       "offset",       "empty",
    "rank 0",    "rank > 8", "no axes", "keepdims", "output strides", "alpha or beta"};

static void print_types(const int64_t counts[RDX_FUZZ_OPS][RDX_DATA_TYPES], const char *title, FILE *file)
{
    fprintf(file, "%-14s", title);
    for (int type = 0; type < RDX_DATA_TYPES; type++)
        fprintf(file, "%7s", rdx_data_types[type].name);
    fprintf(file, "\n");
    for (int op = 1; op < RDX_OP_COUNT; op++) {
        fprintf(file, "%-14s", rdx_ops[op].name);
        for (int type = 0; type < RDX_DATA_TYPES; type++)
            if (counts[op][type])
                fprintf(file, "%7lld", (long long)counts[op][type]);
            else
                fprintf(file, "%7s", ".");
        fprintf(file, "\n");
    }
}

void rdx_fuzz_print(const RdxFuzzCounts *counts, bool cuda, FILE *file)
{
    fprintf(file, "%lld cases, %lld of them to be refused; %lld runs; %lld values judged, %lld without a bound\n\n",
            (long long)counts->cases, (long long)counts->refused, (long long)counts->runs, (long long)counts->values,
            (long long)counts->loose);
    if (counts->too_large)
        fprintf(file, "%lld cases not run: their buffers are too large to copy\n\n", (long long)counts->too_large);
    if (counts->absent) {
        fprintf(file, "%lld cases not run: this build of the plugin has no kernel for them\n",
                (long long)counts->absent);
        print_types(counts->lacking, "input dtype", file);
        fprintf(file, "\n");
    }
    print_types(counts->cell, "input dtype", file);
    fprintf(file, "\n");
    print_types(counts->out, "output dtype", file);
    fprintf(file, "\n%-14s%10s%10s%16s\n", "op", "omit", "out2", "error/bound");
    for (int op = 1; op < RDX_OP_COUNT; op++)
        fprintf(file, "%-14s%10lld%10lld%16.4g\n", rdx_ops[op].name, (long long)counts->omit[op],
                (long long)counts->second[op], counts->ratio[op]);
    fprintf(file, "\n");
    for (int i = 0; i < RDX_FUZZ_LAYOUTS; i++)
        fprintf(file, "%-16s%8lld\n", layouts[i], (long long)counts->layout[i]);
    fprintf(file, "\n");
    for (int i = 0; i < RDX_DATA_CLASSES; i++)
        fprintf(file, "data %-11s%8lld\n", rdx_data_class_name(i), (long long)counts->data[i]);
    fprintf(file, "\n");
    for (int i = 0; i < RDX_STRATEGY_COUNT; i++)
        if (rdx_strategies[i].cuda == cuda)
            fprintf(file, "%-12s applicable %8lld   chosen %8lld\n", rdx_strategies[i].name,
                    (long long)counts->applicable[i], (long long)counts->chosen[i]);
}

static bool any_input_allows(int op, RdxType out)
{
    for (int in = 0; in < RDX_TYPE_COUNT; in++)
        if (rdx_op_accepts(op, (RdxType)in) && rdx_op_allows_out(op, (RdxType)in, out))
            return true;
    return false;
}

bool rdx_fuzz_covered(const RdxFuzzCounts *counts, bool cuda, char *sentence, size_t size)
{
    const char *missing = NULL, *of = NULL;
    for (int op = 1; op < RDX_OP_COUNT && !missing; op++) {
        of = rdx_ops[op].name;
        for (int type = 0; type < RDX_TYPE_COUNT && !missing; type++) {
            if (rdx_op_accepts(op, (RdxType)type) && counts->cell[op][type] + counts->lacking[op][type] == 0)
                missing = rdx_types[type].name;
            if (any_input_allows(op, (RdxType)type) && counts->out[op][type] == 0)
                missing = rdx_types[type].name;
        }
        if (!missing && rdx_ops[op].second != RDX_SECOND_NONE && counts->second[op] == 0)
            missing = "out2";
        if (!missing && rdx_ops[op].options & RDX_OPTION_NAN && counts->omit[op] == 0)
            missing = "nan=omit";
    }
    for (int i = 0; i < RDX_FUZZ_LAYOUTS && !missing; i++)
        if (counts->layout[i] == 0) {
            of = "layout";
            missing = layouts[i];
        }
    for (int i = 0; i < RDX_STRATEGY_COUNT && !missing; i++)
        if (!cuda && !rdx_strategies[i].cuda && counts->applicable[i] * 20 < counts->cases) {
            of = "less than 5% for strategy";
            missing = rdx_strategies[i].name;
        }
    if (missing)
        snprintf(sentence, size, "not enough was met: %s %s", of, missing);
    return missing == NULL;
}
