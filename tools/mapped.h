/* A file mapped for reading, and the promise that it stays readable: if the file is cut short by someone else while it
   is mapped, or its disk fails, the missing pages read as zeros and rdx_mapped_lost says so. SIGBUS may strike any
   thread of the library's pool, so its handler mends the mapping instead of jumping out of the reduction. */
#ifndef RDX_TOOLS_MAPPED_H
#define RDX_TOOLS_MAPPED_H

#include <stdbool.h>
#include <stddef.h>

typedef struct RdxMapped {
    const unsigned char *bytes;
    size_t count;
    int slot, descriptor;
} RdxMapped;

/* False with a sentence in `error` (the file's name is not in it): no such file, not a regular file, empty, ... */
bool rdx_mapped_open(RdxMapped *mapped, const char *path, char *error, size_t size);
/* Ask after reading and before believing what was read. */
bool rdx_mapped_lost(const RdxMapped *mapped);
void rdx_mapped_close(RdxMapped *mapped); /* may be called twice */

#endif
