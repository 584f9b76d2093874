/* libFuzzer target: any bytes as a .npy file. What is read must lie within them, and its header, written again, must be
   read as the same array. */
#include "data.h"
#include "npy.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    RdxArray array, again;
    char error[256], header[RDX_NPY_HEADER];
    error[0] = '\0';
    if (!rdx_npy_read(&array, bytes, count, error, sizeof error)) {
        if (error[0] == '\0')
            abort(); /* refused without a sentence */
        return 0;
    }
    if (array.data < bytes || array.bytes > count || array.data + array.bytes != bytes + count)
        abort();
    if (array.rank < 0 || array.rank > RDX_MAX_RANK || rdx_data_type(array.dtype) == NULL)
        abort();
    size_t length = rdx_npy_header(header, array.dtype, array.rank, array.shape);
    uint8_t *file = malloc(length + array.bytes + 1);
    if (file == NULL)
        return 0;
    memcpy(file, header, length);
    memcpy(file + length, array.data, array.bytes);
    if (!rdx_npy_read(&again, file, length + array.bytes, error, sizeof error) || again.dtype != array.dtype ||
        again.rank != array.rank || memcmp(again.shape, array.shape, (size_t)array.rank * sizeof array.shape[0]) != 0)
        abort();
    free(file);
    return 0;
}
