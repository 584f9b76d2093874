/* NumPy's .npy format, versions 1 to 3: a strict reader of bytes in memory and a header writer.
   The reader accepts the dictionary that NumPy writes (blanks are free), little-endian dtypes that redax has, and a
   file that is exactly as long as its shape says. Everything else is refused with a sentence; nothing is guessed. */
#ifndef RDX_TOOLS_NPY_H
#define RDX_TOOLS_NPY_H

#include "array.h"

/* array->data points into bytes. On failure `error` says why and *array is unspecified. */
bool rdx_npy_read(RdxArray *array, const void *bytes, size_t count, char *error, size_t size);

/* The header of a C-ordered version 1.0 file, a multiple of 64 bytes; returns its length.
   0 if .npy has no name for the dtype (bf16, f8e4m3, f8e5m2). */
enum { RDX_NPY_HEADER = 2048 }; /* room for any header */
size_t rdx_npy_header(char header[RDX_NPY_HEADER], int dtype, int rank, const int64_t *shape);

#endif
