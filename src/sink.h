/* Text into a buffer of the caller's, as snprintf counts: what does not fit is cut, `length` is what it wants. */
#ifndef RDX_SINK_H
#define RDX_SINK_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

typedef struct RdxSink {
    char *buffer;
    size_t size, length;
} RdxSink;

static inline RdxSink rdx_sink_open(char *buffer, size_t size)
{
    if (size > 0)
        buffer[0] = '\0';
    return (RdxSink){buffer, size, 0};
}

static inline void rdx_sink_put(RdxSink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline void rdx_sink_put(RdxSink *sink, const char *format, ...)
{
    size_t room = sink->length < sink->size ? sink->size - sink->length : 0;
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(room ? sink->buffer + sink->length : NULL, room, format, arguments);
    va_end(arguments);
    sink->length += n > 0 ? (size_t)n : 0;
}

#endif
