/* Writes a CASE in its one canonical spelling: defaults left out, keys in fixed order, numbers as short as they can
   be. */
#include "case.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Writer {
    char *buffer;
    size_t size, length;
} Writer;

static void put(Writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(Writer *writer, const char *format, ...)
{
    va_list arguments;
    bool room = writer->length < writer->size;
    va_start(arguments, format);
    int length = vsnprintf(room ? writer->buffer + writer->length : NULL, room ? writer->size - writer->length : 0,
                           format, arguments);
    va_end(arguments);
    writer->length += length > 0 ? (size_t)length : 0;
}

/* The shortest spelling that reads back as the same number. */
static void put_real(Writer *writer, double value)
{
    char word[32];
    if (isnan(value)) {
        put(writer, "nan");
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(word, sizeof word, "%.*g", digits, value);
        if (strtod(word, NULL) == value)
            break;
    }
    put(writer, "%s", word);
}

static void put_list(Writer *writer, const int64_t *list, int count)
{
    for (int i = 0; i < count; i++)
        put(writer, "%s%lld", i ? "x" : "", (long long)list[i]);
}

static void put_keys(Writer *writer, const RdxCase *c)
{
    if (c->nan == RDX_NAN_OMIT)
        put(writer, ":nan=omit");
    if (c->out)
        put(writer, ":out=%s", rdx_data_type(c->out)->name);
    if (c->keep)
        put(writer, ":keep=1");
    if (c->ostrided) {
        put(writer, ":ostrides=");
        put_list(writer, c->ostrides, c->ostrides_rank);
    }
    if (c->second && c->out2)
        put(writer, ":out2=%s", rdx_data_type(c->out2)->name);
    else if (c->second && c->op != RDX_MINMAX)
        put(writer, ":out2=1");
    if (c->alpha != 1) {
        put(writer, ":alpha=");
        put_real(writer, c->alpha);
    }
    if (c->beta != 0) {
        put(writer, ":beta=");
        put_real(writer, c->beta);
    }
    if (c->data != RDX_DATA_UNIFORM)
        put(writer, ":data=%s", rdx_data_class_name(c->data));
    if (c->seed != 1)
        put(writer, ":seed=%llu", (unsigned long long)c->seed);
    if (c->threads)
        put(writer, ":threads=%d", c->threads);
}

size_t rdx_case_print(const RdxCase *c, char *buffer, size_t size)
{
    Writer writer = {buffer, size, 0};
    if (size > 0)
        buffer[0] = '\0';
    put(&writer, "%s", rdx_case_op_name(c->op));
    if (c->op == RDX_NORM)
        put_real(&writer, c->p);
    if ((c->op == RDX_VAR || c->op == RDX_STD) && c->correction != 1)
        put_real(&writer, c->correction);
    put(&writer, ":%s:", rdx_data_type(c->dtype)->name);
    if (c->rank == 0)
        put(&writer, "-");
    put_list(&writer, c->shape, c->rank);
    if (c->strided && c->rank > 0) {
        put(&writer, "@");
        put_list(&writer, c->strides, c->rank);
    }
    if (c->offset)
        put(&writer, "+%lld", (long long)c->offset);
    if (c->naxes == 0)
        put(&writer, "/-");
    for (int i = 0; i < c->naxes; i++)
        put(&writer, "%s%d", i ? "," : "/", c->axes[i]);
    put_keys(&writer, c);
    return writer.length;
}
