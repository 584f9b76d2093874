/* An array as the file parsers see it: dtype, shape, strides and where its bytes lie. It owns nothing. */
#ifndef RDX_TOOLS_ARRAY_H
#define RDX_TOOLS_ARRAY_H

#include <redax.h>
#include <stdbool.h>

typedef struct RdxArray {
    int dtype; /* RDX_F32, ...; of what a file holds and redax does not have, 0 */
    int rank;
    int64_t shape[RDX_MAX_RANK], strides[RDX_MAX_RANK]; /* strides in elements */
    int64_t elements;
    size_t bytes;
    const unsigned char *data; /* any alignment: a file may put it anywhere */
} RdxArray;

/* Row-major (or with `fortran` column-major) strides, elements and bytes from dtype, rank and shape; dtype 0, which is
   none, makes bytes 0. False if elements or bytes do not fit int64. */
bool rdx_array_lay_out(RdxArray *array, bool fortran);

/* "2x3", "-" for rank 0; at most size bytes, returns the length it wants. */
size_t rdx_array_shape_words(const RdxArray *array, char *buffer, size_t size);

#endif
