/* A space in one line, as plans and logs show it: dims outermost first, extent:stride in bytes. Kept dims carry the output's
   stride behind a ">" where it is not what a row-major output of these dims would have. */
#include "space.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct Sink {
    char *buffer;
    size_t size, length;
} Sink;

static void put(Sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(Sink *sink, const char *format, ...)
{
    bool room = sink->length < sink->size;
    va_list arguments;
    va_start(arguments, format);
    int n =
        vsnprintf(room ? sink->buffer + sink->length : NULL, room ? sink->size - sink->length : 0, format, arguments);
    va_end(arguments);
    sink->length += n > 0 ? (size_t)n : 0;
}

static bool is_row_major(const RdxSpace *space)
{
    int64_t step = space->out_size;
    for (int d = space->keep_rank - 1; d >= 0; d--) {
        if (space->keep[d].out != step)
            return false;
        step *= space->keep[d].extent;
    }
    return true;
}

static void put_dims(Sink *sink, const char *name, const RdxDim *dims, int rank, bool with_out, bool with_in)
{
    put(sink, "%s%s [", sink->length ? " " : "", name);
    for (int d = 0; d < rank; d++) {
        put(sink, "%s%lld", d ? " " : "", (long long)dims[d].extent);
        if (with_in)
            put(sink, ":%lld", (long long)dims[d].in);
        if (with_out)
            put(sink, ">%lld", (long long)dims[d].out);
    }
    put(sink, "]");
}

size_t rdx_space_print(const RdxSpace *space, char *buffer, size_t size)
{
    Sink sink = {buffer, size, 0};
    if (size > 0)
        buffer[0] = '\0';
    if (space->keep_count == 0) {
        put(&sink, "no outputs");
        return sink.length;
    }
    if (space->keep_rank > 0)
        put_dims(&sink, "keep", space->keep, space->keep_rank, !is_row_major(space), true);
    if (space->reduce_rank > 0)
        put_dims(&sink, "reduce", space->reduce, space->reduce_rank, false, true);
    if (space->copy_rank > 0)
        put_dims(&sink, "copy", space->copy, space->copy_rank, true, false);
    if (space->reduce_count == 0)
        put(&sink, "%sreduce nothing", sink.length ? " " : "");
    if (sink.length == 0)
        put(&sink, "one element");
    return sink.length;
}
