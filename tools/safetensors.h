/* The .safetensors format: an 8-byte little-endian header length, a JSON header, then the tensors' bytes. The reader is
   as strict as the format: at most 100 MB of header, every byte of data belongs to exactly one tensor, sizes follow
   from dtype and shape, no name twice. A file that breaks any of it is refused as a whole. A dtype that redax does not
   have breaks nothing: the tensor is there, only not to be reduced. */
#ifndef RDX_TOOLS_SAFETENSORS_H
#define RDX_TOOLS_SAFETENSORS_H

#include "array.h"

typedef struct RdxNamedArray {
    const char *name; /* owned by the RdxSafetensors it came from */
    const char
        *foreign; /* so too: NULL, or the file's word for a dtype that redax does not have; array.dtype is 0 then */
    RdxArray array;
} RdxNamedArray;

typedef struct RdxSafetensors {
    int64_t count;
    RdxNamedArray *tensors; /* in the order of the header */
    void *document;
} RdxSafetensors;

/* Data pointers lead into bytes. On failure `error` says why and there is nothing to free. */
bool rdx_safetensors_read(RdxSafetensors *file, const void *bytes, size_t count, char *error, size_t size);
void rdx_safetensors_free(RdxSafetensors *file); /* may be called twice */

const RdxNamedArray *rdx_safetensors_find(const RdxSafetensors *file, const char *name); /* NULL: no such tensor */

#endif
