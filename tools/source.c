/* Opens input files; see source.h. The format is told by content first (NumPy's magic, a zip archive), then by
   extension. */
#include "source.h"

#include "data.h"
#include "npy.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

bool rdx_source_open(RdxSource *source, const char *path)
{
    char error[512];
    memset(source, 0, sizeof *source);
    if (!rdx_mapped_open(&source->mapped, path, error, sizeof error)) {
        rdx_complain("%s: %s", path, error);
        return false;
    }
    const unsigned char *bytes = source->mapped.bytes;
    size_t count = source->mapped.count;
    bool magic = count >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0, good = false;
    if (ends_with(path, ".npz") || (count >= 4 && memcmp(bytes, "PK\3\4", 4) == 0)) {
        snprintf(error, sizeof error,
                 "it is a zip archive, as .npz files are: unpack it and name the .npy files within");
    } else if (magic || ends_with(path, ".npy")) {
        good = rdx_npy_read(&source->single.array, bytes, count, error, sizeof error);
        source->single.name = "";
        source->arrays = &source->single;
        source->count = 1;
    } else if (ends_with(path, ".safetensors")) {
        good = rdx_safetensors_read(&source->safetensors, bytes, count, error, sizeof error);
        source->arrays = source->safetensors.tensors;
        source->count = source->safetensors.count;
    } else {
        snprintf(error, sizeof error, "it is neither a .npy nor a .safetensors file");
    }
    if (good && rdx_mapped_lost(&source->mapped)) {
        good = false;
        snprintf(error, sizeof error, "it was cut short while it was read");
    }
    if (!good) {
        rdx_complain("%s: %s", path, error);
        rdx_source_close(source);
    }
    return good;
}

void rdx_source_close(RdxSource *source)
{
    rdx_safetensors_free(&source->safetensors);
    rdx_mapped_close(&source->mapped);
    memset(source, 0, sizeof *source);
    source->mapped.slot = -1;
}

bool rdx_source_still_whole(const RdxSource *source, const char *path)
{
    if (!rdx_mapped_lost(&source->mapped))
        return true;
    rdx_complain("%s: it was cut short, or could not be read, while redax was reading it", path);
    return false;
}

char *rdx_source_split(const char *text, const char **tensor)
{
    *tensor = NULL;
    if (access(text, F_OK) != 0) {
        for (const char *hash = strchr(text, '#'); hash; hash = strchr(hash + 1, '#')) {
            char *path = strndup(text, (size_t)(hash - text));
            if (path == NULL || access(path, F_OK) == 0) {
                *tensor = hash + 1;
                return path;
            }
            free(path);
        }
    }
    return strdup(text);
}

const RdxNamedArray *rdx_source_pick(const RdxSource *source, const char *path, const char *tensor)
{
    if (tensor) {
        const RdxNamedArray *found = rdx_safetensors_find(&source->safetensors, tensor);
        if (found == NULL)
            rdx_complain("%s: there is no tensor \"%s\" in it", path, tensor);
        return found;
    }
    if (source->count == 1)
        return &source->arrays[0];
    if (source->count == 0)
        rdx_complain("%s: there is no tensor in it", path);
    else
        rdx_complain("%s: it holds %lld tensors; name one, as in %s#%s", path, (long long)source->count, path,
                     source->arrays[0].name);
    return NULL;
}

void rdx_source_view(RdxTensor *tensor, RdxArray *array)
{
    memset(tensor, 0, sizeof *tensor);
    tensor->device = (RdxDevice){1, 0};
    tensor->ndim = array->rank;
    tensor->dtype = rdx_data_dtype(array->dtype);
    tensor->shape = array->shape;
    tensor->strides = array->strides;
    tensor->data = (void *)(uintptr_t)array->data; /* the library only reads it */
}

bool rdx_source_tensor(RdxTensor *tensor, RdxArray *array, void **copy)
{
    size_t align = (size_t)rdx_data_type(rdx_data_part(array->dtype))->size;
    rdx_source_view(tensor, array);
    *copy = NULL;
    if ((uintptr_t)array->data % align != 0) {
        *copy = malloc(array->bytes + 1);
        if (*copy == NULL)
            return false;
        memcpy(*copy, array->data, array->bytes);
        tensor->data = *copy;
    }
    return true;
}
