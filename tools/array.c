/* Arithmetic on RdxArray, with every product checked; see array.h. */
#include "array.h"

#include "data.h"

#include <stdio.h>

bool rdx_array_lay_out(RdxArray *array, bool fortran)
{
    const RdxDataType *type = rdx_data_type(array->dtype);
    int64_t step = 1;
    bool empty = false;
    for (int i = 0; i < array->rank; i++) {
        int d = fortran ? i : array->rank - 1 - i;
        array->strides[d] = step;
        empty |= array->shape[d] == 0;
        /* an empty array may have other extents of any size: they count as 1, its strides are never used */
        if (array->shape[d] < 0 || (__builtin_mul_overflow(step, array->shape[d] ? array->shape[d] : 1, &step)))
            return false;
    }
    array->elements = empty ? 0 : step;
    int64_t bytes;
    if (__builtin_mul_overflow(array->elements, type ? type->size : 0, &bytes))
        return false;
    array->bytes = (size_t)bytes;
    return true;
}

size_t rdx_array_shape_words(const RdxArray *array, char *buffer, size_t size)
{
    size_t length = 0;
    if (array->rank == 0)
        return (size_t)snprintf(buffer, size, "-");
    for (int d = 0; d < array->rank; d++)
        length += (size_t)snprintf(length < size ? buffer + length : NULL, length < size ? size - length : 0, "%s%lld",
                                   d ? "x" : "", (long long)array->shape[d]);
    return length;
}
