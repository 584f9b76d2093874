/* The thread-local sentence and the names of statuses; generated from status.def. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char sentence[RDX_SENTENCE_BYTES];

RdxStatus rdx_error(RdxStatus status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return status;
}

const char *rdx_last_error(void)
{
    return sentence;
}

const char *rdx_status_name(RdxStatus status)
{
    switch ((int)status) {
#define X(NAME, number)                                                                                                \
    case number:                                                                                                       \
        return "RDX_" #NAME;
#include "status.def"
#undef X
    default:
        return "RDX_ERR_UNKNOWN";
    }
}
