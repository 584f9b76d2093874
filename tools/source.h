/* An input file of the command, whatever its format: mapped, checked, and seen as a list of arrays.
   A .npy file is one array without a name. FILE#TENSOR names one tensor of a .safetensors file. */
#ifndef RDX_TOOLS_SOURCE_H
#define RDX_TOOLS_SOURCE_H

#include "mapped.h"
#include "safetensors.h"

typedef struct RdxSource {
    RdxMapped mapped;
    RdxSafetensors safetensors;
    RdxNamedArray single; /* of a .npy file */
    int64_t count;
    const RdxNamedArray *arrays; /* name "" for .npy */
} RdxSource;

/* False after a complaint that names the file. */
bool rdx_source_open(RdxSource *source, const char *path);
void rdx_source_close(RdxSource *source); /* may be called twice */
/* Complains and answers false if the file was cut short while it was read. */
bool rdx_source_still_whole(const RdxSource *source, const char *path);

/* Splits FILE#TENSOR. Returns a copy of FILE (to be freed; NULL: out of memory), *tensor points into text, NULL if it
   names none. A file whose own name holds the # is taken as it is. */
char *rdx_source_split(const char *text, const char **tensor);
/* The one array meant by `tensor` (NULL: the file must hold just one). NULL after a complaint. */
const RdxNamedArray *rdx_source_pick(const RdxSource *source, const char *path, const char *tensor);

/* A tensor over the array's bytes where they lie, aligned or not. Its shape and strides are the array's own. */
void rdx_source_view(RdxTensor *tensor, RdxArray *array);
/* The same for the library, which wants alignment: where the file put them at an address that the dtype cannot have,
   they are copied: *copy is to be freed. False if memory is short. */
bool rdx_source_tensor(RdxTensor *tensor, RdxArray *array, void **copy);

#endif
