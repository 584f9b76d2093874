/* Prints tensors; see show.h. The digits are found by trying: the first precision whose text, read back and rounded
   into the dtype, gives the same bits. The summary of a large tensor is computed by the library itself. */
#include "show.h"

#include "data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void show_float(char *word, int dtype, const void *at, bool alone)
{
    double value = rdx_data_load(dtype, at);
    if (isnan(value) || isinf(value)) {
        strcpy(word, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return;
    }
    uint64_t bits = rdx_data_encode(dtype, value);
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(word, 32, "%.*g", digits, value);
        if (rdx_data_encode(dtype, strtod(word, NULL)) == bits)
            break;
    }
    double size = fabs(value);
    if (size >= 10 && size < 1e16 && strchr(word, 'e')) /* NumPy writes 100000.0 where %g writes 1e+05 */
        snprintf(word, 32, "%.0f", value);
    if (!strpbrk(word, ".e"))
        strcat(word, alone ? ".0" : ".");
}

void rdx_show_element(char word[RDX_SHOW_WORD], int dtype, const void *at, bool alone)
{
    const RdxDataType *type = rdx_data_type(dtype);
    if (type->kind == RDX_DATA_BOOL) {
        strcpy(word, rdx_data_load_int(dtype, at) ? "True" : "False");
    } else if (dtype == RDX_U64) {
        snprintf(word, RDX_SHOW_WORD, "%llu", (unsigned long long)rdx_data_load_int(dtype, at));
    } else if (type->kind <= RDX_DATA_UINT) {
        snprintf(word, RDX_SHOW_WORD, "%lld", (long long)rdx_data_load_int(dtype, at));
    } else if (type->kind == RDX_DATA_FLOAT) {
        show_float(word, dtype, at, alone);
    } else {
        int part = rdx_data_part(dtype);
        char im[32];
        show_float(word, part, at, alone);
        show_float(im, part, (const char *)at + type->size / 2, alone);
        snprintf(word + strlen(word), RDX_SHOW_WORD - strlen(word), "%s%sj", im[0] == '-' ? "" : "+", im);
    }
}

int64_t rdx_show_count(const RdxTensor *tensor)
{
    int64_t count = 1;
    for (int d = 0; d < tensor->ndim; d++)
        count *= tensor->shape[d];
    return count;
}

static const unsigned char *element(const RdxTensor *tensor, int64_t i)
{
    return (const unsigned char *)tensor->data + i * rdx_data_type(rdx_data_number(tensor->dtype))->size;
}

/* Column widths: points stand below each other, as NumPy has them; whatever has an exponent or none is set flush
   right. */
typedef struct Columns {
    int before, after; /* the point and what follows it belong to `after` */
    int indent;
} Columns;

static int point_of(const char *word)
{
    const char *point = strpbrk(word, "ej") ? NULL : strchr(word, '.');
    return (int)(point ? point - word : -1);
}

static Columns columns_of(const RdxTensor *tensor, int64_t count, int indent)
{
    char word[RDX_SHOW_WORD];
    Columns columns = {0, 0, indent};
    int widest = 0;
    for (int64_t i = 0; i < count; i++) {
        rdx_show_element(word, rdx_data_number(tensor->dtype), element(tensor, i), false);
        int length = (int)strlen(word), point = point_of(word);
        if (point < 0) {
            widest = length > widest ? length : widest;
            continue;
        }
        columns.before = point > columns.before ? point : columns.before;
        columns.after = length - point > columns.after ? length - point : columns.after;
    }
    if (widest > columns.before + columns.after)
        columns.before = widest - columns.after;
    return columns;
}

static void show_aligned(FILE *stream, const char *word, const Columns *columns)
{
    int point = point_of(word);
    if (point < 0)
        fprintf(stream, "%*s", columns->before + columns->after, word);
    else
        fprintf(stream, "%*.*s%-*s", columns->before, point, word, columns->after, word + point);
}

/* Dimension d of the block whose first element is *next. */
static void show_nested(FILE *stream, const RdxTensor *tensor, int d, int64_t *next, const Columns *columns)
{
    char word[RDX_SHOW_WORD];
    int width = columns->before + columns->after + 1, per_line = width < 96 ? 96 / width : 1;
    fputc('[', stream);
    for (int64_t i = 0; i < tensor->shape[d]; i++) {
        if (d + 1 < tensor->ndim) {
            for (int line = 0; i > 0 && line < tensor->ndim - 1 - d; line++)
                fputc('\n', stream);
            if (i > 0)
                fprintf(stream, "%*s", columns->indent + d + 1, "");
            show_nested(stream, tensor, d + 1, next, columns);
        } else {
            if (i > 0 && i % per_line == 0)
                fprintf(stream, "\n%*s", columns->indent + d + 1, "");
            else if (i > 0)
                fputc(' ', stream);
            rdx_show_element(word, rdx_data_number(tensor->dtype), element(tensor, (*next)++), false);
            show_aligned(stream, word, columns);
        }
    }
    fputc(']', stream);
}

/* min, max and mean of a large tensor; the flags say which of them its dtype has. NaN is left out, and counted. */
typedef struct Summary {
    _Alignas(16) unsigned char min[16], max[16], mean[16];
    bool has_range, has_mean;
    int mean_dtype;
    int64_t nan;
} Summary;

static void summarise(Summary *summary, const RdxTensor *tensor)
{
    int dtype = rdx_data_number(tensor->dtype);
    RdxDataKind kind = rdx_data_type(dtype)->kind;
    RdxProblem problem = RDX_PROBLEM_INIT;
    RdxTensor out = {summary->min, tensor->device, 0, tensor->dtype, NULL, NULL, 0}, out2 = out;
    out2.data = summary->max;
    problem.in = tensor;
    problem.out = &out;
    problem.out2 = &out2;
    problem.op = RDX_MINMAX;
    problem.nan = RDX_NAN_OMIT;
    summary->has_range = kind != RDX_DATA_COMPLEX && rdx_reduce(&problem, NULL) == RDX_OK;
    problem.op = RDX_MEAN;
    problem.out2 = NULL;
    summary->mean_dtype = kind == RDX_DATA_COMPLEX ? RDX_C128 : RDX_F64;
    out.data = summary->mean;
    out.dtype = rdx_data_dtype(summary->mean_dtype);
    summary->has_mean = rdx_reduce(&problem, NULL) == RDX_OK;
    int64_t numbers = 0, nonzero = 0; /* NaN is not zero */
    problem.op = RDX_COUNT_NONZERO;
    out.dtype = rdx_data_dtype(RDX_I64);
    out.data = &numbers;
    bool counted = kind >= RDX_DATA_FLOAT && rdx_reduce(&problem, NULL) == RDX_OK;
    problem.nan = RDX_NAN_PROPAGATE;
    out.data = &nonzero;
    counted = counted && rdx_reduce(&problem, NULL) == RDX_OK;
    summary->nan = counted ? nonzero - numbers : 0;
}

enum { HEAD = 8 };

static void show_summary(FILE *stream, const RdxTensor *tensor)
{
    int dtype = rdx_data_number(tensor->dtype);
    char word[RDX_SHOW_WORD];
    Summary summary;
    summarise(&summary, tensor);
    fprintf(stream, "%s ", rdx_data_type(dtype)->name);
    for (int d = 0; d < tensor->ndim; d++)
        fprintf(stream, "%s%lld", d ? "x" : "", (long long)tensor->shape[d]);
    if (summary.has_range) {
        rdx_show_element(word, dtype, summary.min, true);
        fprintf(stream, "  min %s", word);
        rdx_show_element(word, dtype, summary.max, true);
        fprintf(stream, "  max %s", word);
    }
    if (summary.has_mean) {
        rdx_show_element(word, summary.mean_dtype, summary.mean, true);
        fprintf(stream, "  mean %s", word);
    }
    if (summary.nan > 0)
        fprintf(stream, "  nan %lld", (long long)summary.nan);
    fputs("  head [", stream);
    for (int64_t i = 0; i < HEAD; i++) {
        rdx_show_element(word, dtype, element(tensor, i), false);
        fprintf(stream, "%s ", word);
    }
    fputs("...]", stream);
}

void rdx_show_tensor(FILE *stream, const RdxTensor *tensor, int indent)
{
    int64_t count = rdx_show_count(tensor), next = 0;
    char word[RDX_SHOW_WORD];
    if (tensor->ndim == 0) {
        rdx_show_element(word, rdx_data_number(tensor->dtype), tensor->data, true);
        fputs(word, stream);
    } else if (count == 0) {
        fputs("[] (shape ", stream);
        for (int d = 0; d < tensor->ndim; d++)
            fprintf(stream, "%s%lld", d ? "x" : "", (long long)tensor->shape[d]);
        fputc(')', stream);
    } else if (count <= RDX_SHOW_ELEMENTS) {
        Columns columns = columns_of(tensor, count, indent);
        show_nested(stream, tensor, 0, &next, &columns);
    } else {
        show_summary(stream, tensor);
    }
    fputc('\n', stream);
}

static void json_element(RdxJson *json, const char *key, int dtype, const void *at)
{
    const RdxDataType *type = rdx_data_type(dtype);
    char digits[32];
    if (type->kind == RDX_DATA_BOOL) {
        rdx_json_bool(json, key, rdx_data_load_int(dtype, at) != 0);
    } else if (dtype == RDX_U64) {
        rdx_json_uint(json, key, (uint64_t)rdx_data_load_int(dtype, at));
    } else if (type->kind <= RDX_DATA_UINT) {
        rdx_json_int(json, key, rdx_data_load_int(dtype, at));
    } else if (type->kind == RDX_DATA_COMPLEX) {
        rdx_json_array(json, key, true);
        json_element(json, NULL, rdx_data_part(dtype), at);
        json_element(json, NULL, rdx_data_part(dtype), (const char *)at + type->size / 2);
        rdx_json_end(json);
    } else {
        double value = rdx_data_load(dtype, at);
        if (isfinite(value)) {
            rdx_json_digits(digits, value, rdx_data_part(dtype) == RDX_F32);
            rdx_json_real(json, key, strtod(digits, NULL));
        } else {
            rdx_json_real(json, key, value);
        }
    }
}

void rdx_show_json(RdxJson *json, const RdxTensor *tensor)
{
    int64_t count = rdx_show_count(tensor), head = count <= RDX_SHOW_ELEMENTS ? count : HEAD;
    int dtype = rdx_data_number(tensor->dtype);
    rdx_json_text(json, "dtype", rdx_data_type(dtype)->name);
    rdx_json_ints(json, "shape", tensor->shape, tensor->ndim);
    if (head != count) {
        Summary summary;
        summarise(&summary, tensor);
        if (summary.has_range) {
            json_element(json, "min", dtype, summary.min);
            json_element(json, "max", dtype, summary.max);
        }
        if (summary.has_mean)
            json_element(json, "mean", summary.mean_dtype, summary.mean);
        rdx_json_int(json, "nan", summary.nan);
    }
    rdx_json_array(json, head == count ? "values" : "head", true);
    for (int64_t i = 0; i < head; i++)
        json_element(json, NULL, dtype, element(tensor, i));
    rdx_json_end(json);
}
