/* Prints a problem in the CASE grammar: op[param]:dtype:shape[@strides][+offset][/axes]{:key=value}. */
#include "describe.h"

#include "op.h"
#include "sink.h"

static void add_list(RdxSink *text, const int64_t *values, int count)
{
    for (int i = 0; i < count; i++)
        rdx_sink_put(text, i ? "x%lld" : "%lld", (long long)values[i]);
    if (count == 0)
        rdx_sink_put(text, "-");
}

static void add_op(RdxSink *text, const RdxProblem *problem)
{
    rdx_sink_put(text, "%s", rdx_ops[problem->op].name);
    if (rdx_ops[problem->op].options & RDX_OPTION_P)
        rdx_sink_put(text, "%.17g", problem->p);
    else if ((rdx_ops[problem->op].options & RDX_OPTION_CORRECTION) && problem->correction != 1)
        rdx_sink_put(text, "%.17g", problem->correction);
}

static void add_axes(RdxSink *text, const RdxProblem *problem)
{
    if (problem->naxes == RDX_ALL_AXES)
        return;
    rdx_sink_put(text, problem->naxes ? "/" : "/-");
    for (int i = 0; i < problem->naxes; i++)
        rdx_sink_put(text, i ? ",%d" : "%d", problem->axes[i]);
}

static void add_keys(RdxSink *text, const RdxProblem *problem, RdxType in, RdxType out, RdxType out2)
{
    int reduced = problem->naxes == RDX_ALL_AXES ? problem->in->ndim : problem->naxes;
    if (problem->nan == RDX_NAN_OMIT)
        rdx_sink_put(text, ":nan=omit");
    if (out != rdx_op_default_out(problem->op, in))
        rdx_sink_put(text, ":out=%s", rdx_types[out].name);
    if (reduced > 0 && problem->out->ndim == problem->in->ndim)
        rdx_sink_put(text, ":keep=1");
    if (problem->out->strides && problem->out->ndim > 0) {
        rdx_sink_put(text, ":ostrides=");
        add_list(text, problem->out->strides, problem->out->ndim);
    }
    if (problem->out2 && rdx_ops[problem->op].second != RDX_SECOND_SAME)
        rdx_sink_put(text, ":out2=%s", out2 == rdx_op_default_out2(problem->op, in) ? "1" : rdx_types[out2].name);
    if (problem->threads)
        rdx_sink_put(text, ":threads=%d", problem->threads);
}

size_t rdx_scaling_describe(double alpha, double beta, char *buffer, size_t size)
{
    RdxSink text = rdx_sink_open(buffer, size);
    if (alpha != 1)
        rdx_sink_put(&text, ":alpha=%.17g", alpha);
    if (beta != 0)
        rdx_sink_put(&text, ":beta=%.17g", beta);
    return text.length;
}

size_t rdx_problem_describe(const RdxProblem *problem, char *buffer, size_t size)
{
    RdxSink text = rdx_sink_open(buffer, size);
    RdxType in, out, out2 = RDX_TYPE_COUNT;
    if (rdx_type_find(&in, problem->in->dtype, "in") != RDX_OK ||
        rdx_type_find(&out, problem->out->dtype, "out") != RDX_OK ||
        (problem->out2 && rdx_type_find(&out2, problem->out2->dtype, "out2") != RDX_OK))
        return 0;
    add_op(&text, problem);
    rdx_sink_put(&text, ":%s:", rdx_types[in].name);
    add_list(&text, problem->in->shape, problem->in->ndim);
    if (problem->in->strides && problem->in->ndim > 0) {
        rdx_sink_put(&text, "@");
        add_list(&text, problem->in->strides, problem->in->ndim);
    }
    const long long offset = (long long)(problem->in->byte_offset / (uint64_t)rdx_types[in].size);
    if (offset)
        rdx_sink_put(&text, "+%lld", offset);
    add_axes(&text, problem);
    add_keys(&text, problem, in, out, out2);
    return text.length;
}
