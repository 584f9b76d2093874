/* Reads .safetensors; see safetensors.h. cJSON parses the header; what it lets pass and the format does not is checked
   here: keys given twice, NUL characters within strings, numbers that are not whole or not exact as a double. */
#include "safetensors.h"

#include "data.h"

#include <cjson/cJSON.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_LIMIT = 100000000 };

typedef struct Reader {
    char *error;
    size_t size;
    const char *name; /* of the tensor under way */
} Reader;

static bool fail(Reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(Reader *reader, const char *format, ...)
{
    int length = reader->name ? snprintf(reader->error, reader->size, "its tensor \"%.100s\" ", reader->name) : 0;
    va_list arguments;
    va_start(arguments, format);
    if (length >= 0 && (size_t)length < reader->size)
        vsnprintf(reader->error + length, reader->size - (size_t)length, format, arguments);
    va_end(arguments);
    return false;
}

static const struct Spelling {
    const char *name;
    int dtype;
} spellings[] = {
    {"F64", RDX_F64},        {"F32", RDX_F32},        {"F16", RDX_F16},   {"BF16", RDX_BF16},
    {"F8_E4M3", RDX_F8E4M3}, {"F8_E5M2", RDX_F8E5M2}, {"I64", RDX_I64},   {"I32", RDX_I32},
    {"I16", RDX_I16},        {"I8", RDX_I8},          {"U64", RDX_U64},   {"U32", RDX_U32},
    {"U16", RDX_U16},        {"U8", RDX_U8},          {"BOOL", RDX_BOOL}, {"C64", RDX_C64},
};
enum { SPELLINGS = sizeof spellings / sizeof spellings[0] };

/* Bits of an element of a dtype that redax does not have; 0: nobody knows. */
static int foreign_bits(const char *name)
{
    static const struct {
        const char *name;
        int bits;
    } known[] = {{"F4", 4}, {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].bits;
    return 0;
}

static bool whole_number(const cJSON *item, int64_t *value)
{
    double number = cJSON_IsNumber(item) ? item->valuedouble : -1;
    if (!(number >= 0 && number <= 9007199254740992.0) || number != (double)(int64_t)number)
        return false;
    *value = (int64_t)number;
    return true;
}

static bool read_dtype(Reader *reader, const cJSON *item, RdxNamedArray *tensor)
{
    if (!cJSON_IsString(item))
        return fail(reader, "has a dtype that is not a string");
    tensor->foreign = item->valuestring;
    for (int i = 0; i < SPELLINGS && tensor->foreign; i++) {
        if (strcmp(spellings[i].name, item->valuestring) == 0) {
            tensor->array.dtype = spellings[i].dtype;
            tensor->foreign = NULL;
        }
    }
    return true;
}

static bool read_shape(Reader *reader, const cJSON *item, RdxArray *array)
{
    const cJSON *extent;
    if (!cJSON_IsArray(item))
        return fail(reader, "has a shape that is not an array");
    array->rank = 0;
    cJSON_ArrayForEach(extent, item)
    {
        if (array->rank == RDX_MAX_RANK)
            return fail(reader, "has more than %d dimensions", RDX_MAX_RANK);
        if (!whole_number(extent, &array->shape[array->rank]))
            return fail(reader, "has an extent that is not a whole number");
        array->rank++;
    }
    return true;
}

/* Lays the tensor out in the bytes that it holds. */
static bool fit(Reader *reader, RdxNamedArray *tensor, int64_t held)
{
    RdxArray *array = &tensor->array;
    int bits = tensor->foreign ? foreign_bits(tensor->foreign) : 0;
    int64_t needed;
    if (!rdx_array_lay_out(array, false) || __builtin_mul_overflow(array->elements, bits, &needed))
        return fail(reader, "has a shape larger than 64 bits can count");
    if (!tensor->foreign && array->bytes != (size_t)held)
        return fail(reader, "needs %zu bytes for its shape and dtype and its data_offsets hold %lld", array->bytes,
                    (long long)held);
    if (bits && (needed % 8 != 0 || needed / 8 != held))
        return fail(reader, "needs %lld bits for its shape and dtype and its data_offsets hold %lld bytes",
                    (long long)needed, (long long)held);
    array->bytes = (size_t)held;
    return true;
}

/* One entry of the header; `data` and `bytes` are the region behind it. */
static bool read_entry(Reader *reader, const cJSON *entry, const unsigned char *data, size_t bytes,
                       RdxNamedArray *tensor)
{
    const cJSON *found[3] = {NULL, NULL, NULL}, *member;
    static const char *const keys[] = {"dtype", "shape", "data_offsets"};
    int64_t from, to;
    if (!cJSON_IsObject(entry))
        return fail(reader, "is not described by an object");
    cJSON_ArrayForEach(member, entry)
    {
        int which = 0;
        while (which < 3 && strcmp(keys[which], member->string) != 0)
            which++;
        if (which == 3)
            continue; /* the format's own reader passes over other keys */
        if (found[which])
            return fail(reader, "has the key \"%s\" twice", keys[which]);
        found[which] = member;
    }
    for (int which = 0; which < 3; which++)
        if (found[which] == NULL)
            return fail(reader, "lacks the key \"%s\"", keys[which]);
    if (!read_dtype(reader, found[0], tensor) || !read_shape(reader, found[1], &tensor->array))
        return false;
    const cJSON *offsets = found[2];
    if (!cJSON_IsArray(offsets) || offsets->child == NULL || offsets->child->next == NULL ||
        offsets->child->next->next != NULL || !whole_number(offsets->child, &from) ||
        !whole_number(offsets->child->next, &to))
        return fail(reader, "has data_offsets that are not two whole numbers");
    if (from > to || (uint64_t)to > bytes)
        return fail(reader, "has data_offsets [%lld, %lld] outside the %zu bytes of data", (long long)from,
                    (long long)to, bytes);
    tensor->array.data = data + from;
    return fit(reader, tensor, to - from);
}

static bool check_metadata(Reader *reader, const cJSON *metadata)
{
    const cJSON *member;
    if (!cJSON_IsObject(metadata))
        return fail(reader, "its __metadata__ is not an object");
    cJSON_ArrayForEach(member, metadata)
    {
        if (!cJSON_IsString(member))
            return fail(reader, "its __metadata__ holds something that is not a string");
    }
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const RdxNamedArray *const *)a)->name, (*(const RdxNamedArray *const *)b)->name);
}

static int by_place(const void *a, const void *b)
{
    const RdxArray *x = &(*(const RdxNamedArray *const *)a)->array, *y = &(*(const RdxNamedArray *const *)b)->array;
    if (x->data != y->data)
        return x->data < y->data ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes); /* empty tensors come before the one at the same place */
}

/* No name twice; every byte of data in exactly one tensor. */
static bool check_together(Reader *reader, RdxSafetensors *file, const unsigned char *data, size_t bytes)
{
    const RdxNamedArray **order = malloc(((size_t)file->count + 1) * sizeof *order);
    if (order == NULL)
        return fail(reader, "out of memory");
    for (int64_t i = 0; i < file->count; i++)
        order[i] = &file->tensors[i];
    qsort(order, (size_t)file->count, sizeof *order, by_name);
    bool good = true;
    for (int64_t i = 1; i < file->count && good; i++)
        if (strcmp(order[i - 1]->name, order[i]->name) == 0)
            good = fail(reader, "its header has the tensor \"%.100s\" twice", order[i]->name);
    qsort(order, (size_t)file->count, sizeof *order, by_place);
    const unsigned char *end = data;
    for (int64_t i = 0; i < file->count && good; i++) {
        const RdxArray *array = &order[i]->array;
        if (array->data < end)
            good = fail(reader, "its tensors \"%.100s\" and \"%.100s\" overlap", order[i - 1]->name, order[i]->name);
        else if (array->data > end)
            good = fail(reader, "its data has a hole of %zu bytes before the tensor \"%.100s\"",
                        (size_t)(array->data - end), order[i]->name);
        end = array->data + array->bytes;
    }
    if (good && end != data + bytes)
        good = fail(reader, "its last %zu bytes belong to no tensor", (size_t)(data + bytes - end));
    free(order);
    return good;
}

static bool read_header(Reader *reader, RdxSafetensors *file, const unsigned char *data, size_t bytes)
{
    const cJSON *document = file->document, *entry;
    int64_t entries = cJSON_GetArraySize(document);
    bool metadata_seen = false;
    file->tensors = calloc((size_t)entries + 1, sizeof *file->tensors);
    if (file->tensors == NULL)
        return fail(reader, "its header describes %lld tensors: out of memory", (long long)entries);
    cJSON_ArrayForEach(entry, document)
    {
        if (strcmp(entry->string, "__metadata__") == 0) {
            if (metadata_seen)
                return fail(reader, "its header has __metadata__ twice");
            metadata_seen = true;
            if (!check_metadata(reader, entry))
                return false;
            continue;
        }
        RdxNamedArray *tensor = &file->tensors[file->count++];
        tensor->name = reader->name = entry->string;
        if (!read_entry(reader, entry, data, bytes, tensor))
            return false;
        reader->name = NULL;
    }
    return check_together(reader, file, data, bytes);
}

bool rdx_safetensors_read(RdxSafetensors *file, const void *bytes, size_t count, char *error, size_t size)
{
    const unsigned char *byte = bytes;
    Reader reader = {error, size, NULL};
    uint64_t length = 0;
    memset(file, 0, sizeof *file);
    if (count < 8)
        return fail(&reader, "it is cut short: %zu bytes cannot hold a .safetensors header", count);
    for (int i = 7; i >= 0; i--)
        length = length << 8 | byte[i];
    if (length > HEADER_LIMIT)
        return fail(&reader, "its header length of %llu bytes is more than %d", (unsigned long long)length,
                    HEADER_LIMIT);
    if (length > count - 8)
        return fail(&reader, "it is cut short: its header wants %llu bytes and %zu are there",
                    (unsigned long long)length, count - 8);
    const char *header = (const char *)byte + 8, *stop = NULL;
    if (length == 0 || header[0] != '{')
        return fail(&reader, "its header does not begin with {");
    if (memchr(header, '\0', length) || memmem(header, length, "\\u0000", 6))
        return fail(&reader, "its header holds a NUL character");
    file->document = cJSON_ParseWithLengthOpts(header, length, &stop, false);
    while (stop && stop < header + length && strchr(" \t\r\n", *stop))
        stop++;
    bool good = cJSON_IsObject((cJSON *)file->document) && stop == header + length;
    if (!good)
        fail(&reader, "its header is not a JSON object");
    else
        good = read_header(&reader, file, byte + 8 + length, count - 8 - (size_t)length);
    if (!good)
        rdx_safetensors_free(file);
    return good;
}

void rdx_safetensors_free(RdxSafetensors *file)
{
    cJSON_Delete(file->document);
    free(file->tensors);
    memset(file, 0, sizeof *file);
}

const RdxNamedArray *rdx_safetensors_find(const RdxSafetensors *file, const char *name)
{
    for (int64_t i = 0; i < file->count; i++)
        if (strcmp(file->tensors[i].name, name) == 0)
            return &file->tensors[i];
    return NULL;
}
