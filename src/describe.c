/* Prints a problem in the CASE grammar: op[param]:dtype:shape[@strides][+offset][/axes]{:key=value}. */
#include "describe.h"

#include "op.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct Text {
    char *buffer;
    size_t size, length;
} Text;

static void add(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(Text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    bool room = text->length < text->size;
    int wanted =
        vsnprintf(room ? text->buffer + text->length : NULL, room ? text->size - text->length : 0, format, arguments);
    va_end(arguments);
    text->length += wanted > 0 ? (size_t)wanted : 0;
}

static void add_list(Text *text, const int64_t *values, int count)
{
    for (int i = 0; i < count; i++)
        add(text, i ? "x%lld" : "%lld", (long long)values[i]);
    if (count == 0)
        add(text, "-");
}

static void add_op(Text *text, const RdxProblem *problem)
{
    add(text, "%s", rdx_ops[problem->op].name);
    if (rdx_ops[problem->op].options & RDX_OPTION_P)
        add(text, "%.17g", problem->p);
    else if ((rdx_ops[problem->op].options & RDX_OPTION_CORRECTION) && problem->correction != 1)
        add(text, "%.17g", problem->correction);
}

static void add_axes(Text *text, const RdxProblem *problem)
{
    if (problem->naxes == RDX_ALL_AXES)
        return;
    add(text, problem->naxes ? "/" : "/-");
    for (int i = 0; i < problem->naxes; i++)
        add(text, i ? ",%d" : "%d", problem->axes[i]);
}

static void add_keys(Text *text, const RdxProblem *problem, RdxType in, RdxType out)
{
    int reduced = problem->naxes == RDX_ALL_AXES ? problem->in->ndim : problem->naxes;
    if (problem->nan == RDX_NAN_OMIT)
        add(text, ":nan=omit");
    if (out != rdx_op_default_out(problem->op, in))
        add(text, ":out=%s", rdx_types[out].name);
    if (reduced > 0 && problem->out->ndim == problem->in->ndim)
        add(text, ":keep=1");
    if (problem->out->strides) {
        add(text, ":ostrides=");
        add_list(text, problem->out->strides, problem->out->ndim);
    }
    if (problem->out2 && rdx_ops[problem->op].second != RDX_SECOND_SAME)
        add(text, ":out2=1");
    if (problem->threads)
        add(text, ":threads=%d", problem->threads);
}

size_t rdx_scaling_describe(double alpha, double beta, char *buffer, size_t size)
{
    Text text = {buffer, size, 0};
    add(&text, "%s", "");
    if (alpha != 1)
        add(&text, ":alpha=%.17g", alpha);
    if (beta != 0)
        add(&text, ":beta=%.17g", beta);
    return text.length;
}

size_t rdx_problem_describe(const RdxProblem *problem, char *buffer, size_t size)
{
    Text text = {buffer, size, 0};
    RdxType in, out;
    if (rdx_type_find(&in, problem->in->dtype, "in") != RDX_OK ||
        rdx_type_find(&out, problem->out->dtype, "out") != RDX_OK)
        return 0;
    add_op(&text, problem);
    add(&text, ":%s:", rdx_types[in].name);
    add_list(&text, problem->in->shape, problem->in->ndim);
    if (problem->in->strides && problem->in->ndim > 0) {
        add(&text, "@");
        add_list(&text, problem->in->strides, problem->in->ndim);
    }
    if (problem->in->byte_offset)
        add(&text, "+%lld", (long long)(problem->in->byte_offset / rdx_types[in].size));
    add_axes(&text, problem);
    add_keys(&text, problem, in, out);
    return text.length;
}
