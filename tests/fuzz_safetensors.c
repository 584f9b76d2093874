/* libFuzzer target: any bytes as a .safetensors file. Every tensor that is read must lie within the bytes, and together
   they must fill the data without a hole. */
#include "data.h"
#include "safetensors.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    RdxSafetensors file;
    char error[256];
    size_t held = 0, header = 0;
    error[0] = '\0';
    if (!rdx_safetensors_read(&file, bytes, count, error, sizeof error)) {
        if (error[0] == '\0')
            abort(); /* refused without a sentence */
        return 0;
    }
    for (int i = 7; i >= 0; i--)
        header = header << 8 | bytes[i];
    for (int64_t i = 0; i < file.count; i++) {
        const RdxArray *array = &file.tensors[i].array;
        if ((rdx_data_type(array->dtype) == NULL) != (file.tensors[i].foreign != NULL) || array->rank < 0 ||
            array->rank > RDX_MAX_RANK)
            abort();
        if (array->data < bytes + 8 + header || array->data + array->bytes > bytes + count)
            abort();
        held += array->bytes;
    }
    if (held != count - 8 - header)
        abort();
    rdx_safetensors_free(&file);
    return 0;
}
