/* A space in one line, as plans and logs show it: dims outermost first, extent:stride in bytes. Kept dims carry the
   output's stride behind a ">" where it is not what a row-major output of these dims would have. */
#include "../sink.h"
#include "space.h"

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

static void put_dims(RdxSink *sink, const char *name, const RdxDim *dims, int rank, bool with_out, bool with_in)
{
    rdx_sink_put(sink, "%s%s [", sink->length ? " " : "", name);
    for (int d = 0; d < rank; d++) {
        rdx_sink_put(sink, "%s%lld", d ? " " : "", (long long)dims[d].extent);
        if (with_in)
            rdx_sink_put(sink, ":%lld", (long long)dims[d].in);
        if (with_out)
            rdx_sink_put(sink, ">%lld", (long long)dims[d].out);
    }
    rdx_sink_put(sink, "]");
}

size_t rdx_space_print(const RdxSpace *space, char *buffer, size_t size)
{
    RdxSink sink = rdx_sink_open(buffer, size);
    if (space->keep_count == 0) {
        rdx_sink_put(&sink, "no outputs");
        return sink.length;
    }
    if (space->keep_rank > 0)
        put_dims(&sink, "keep", space->keep, space->keep_rank, !is_row_major(space), true);
    if (space->reduce_rank > 0)
        put_dims(&sink, "reduce", space->reduce, space->reduce_rank, false, true);
    if (space->copy_rank > 0)
        put_dims(&sink, "copy", space->copy, space->copy_rank, true, false);
    if (space->reduce_count == 0)
        rdx_sink_put(&sink, "%sreduce nothing", sink.length ? " " : "");
    if (sink.length == 0)
        rdx_sink_put(&sink, "one element");
    return sink.length;
}
