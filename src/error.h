/* Errors are values: a status and, for this thread, one sentence with the offending numbers.
   A failing function writes the sentence where it knows the numbers; callers only pass the status on (RDX_TRY). */
#ifndef RDX_ERROR_H
#define RDX_ERROR_H

#include "base.h"

enum { RDX_SENTENCE_BYTES = 512 }; /* of this thread's sentence, the zero behind it too: longer ones are cut */

/* Formats this thread's sentence and returns `status`. */
RdxStatus rdx_error(RdxStatus status, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define RDX_FAIL(...) return rdx_error(__VA_ARGS__)
#define RDX_REQUIRE(condition, ...)                                                                                    \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            return rdx_error(__VA_ARGS__);                                                                             \
    } while (0)
/* A broken promise between our own parts: the sentence quotes the check and its place. */
#define RDX_ASSURE(condition)                                                                                          \
    RDX_REQUIRE(condition, RDX_ERR_INTERNAL, "internal check failed: %s (%s:%d)", #condition, __FILE__, __LINE__)

#endif
