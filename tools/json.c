/* The JSON writer; see json.h. */
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void indent(RdxJson *json)
{
    fputc('\n', json->stream);
    for (int i = 0; i < json->depth; i++)
        fputs("  ", json->stream);
}

/* Valid UTF-8 at `at`: its length in bytes, else 0. */
static int utf8_length(const unsigned char *at)
{
    int length = at[0] < 0x80                    ? 1
                 : at[0] >= 0xc2 && at[0] < 0xe0 ? 2
                 : (at[0] & 0xf0) == 0xe0        ? 3
                 : at[0] >= 0xf0 && at[0] < 0xf5 ? 4
                                                 : 0;
    for (int i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    if (length >= 3) {
        bool overlong = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
        bool surrogate = at[0] == 0xed && at[1] >= 0xa0, beyond = at[0] == 0xf4 && at[1] >= 0x90;
        if (overlong || surrogate || beyond)
            return 0;
    }
    return length;
}

static void quoted(RdxJson *json, const char *value)
{
    fputc('"', json->stream);
    for (const unsigned char *at = (const unsigned char *)value; *at;) {
        int length = utf8_length(at);
        if (length == 0) {
            fputs("\\ufffd", json->stream);
            at++;
        } else if (*at == '"' || *at == '\\') {
            fprintf(json->stream, "\\%c", *at++);
        } else if (*at < ' ' || *at == 0x7f) {
            fprintf(json->stream, "\\u%04x", *at++);
        } else {
            fwrite(at, 1, (size_t)length, json->stream);
            at += length;
        }
    }
    fputc('"', json->stream);
}

/* The comma, the place and the key of the next member. */
static void member(RdxJson *json, const char *key)
{
    if (json->depth > 0) {
        bool flat = json->level[json->depth - 1].flat, filled = json->level[json->depth - 1].filled;
        if (filled)
            fputs(flat ? ", " : ",", json->stream);
        if (!flat)
            indent(json);
        json->level[json->depth - 1].filled = true;
    }
    if (key) {
        quoted(json, key);
        fputs(": ", json->stream);
    }
}

static void open_level(RdxJson *json, const char *key, char open, char close, bool flat)
{
    member(json, key);
    fputc(open, json->stream);
    if (json->depth > 0)
        flat |= json->level[json->depth - 1].flat;
    if (json->depth < RDX_JSON_DEPTH) {
        json->level[json->depth].close = close;
        json->level[json->depth].filled = false;
        json->level[json->depth].flat = flat;
        json->depth++;
    }
}

void rdx_json_start(RdxJson *json, FILE *stream)
{
    memset(json, 0, sizeof *json);
    json->stream = stream;
    rdx_json_object(json, NULL);
    rdx_json_int(json, "schema", RDX_JSON_SCHEMA);
}

void rdx_json_finish(RdxJson *json)
{
    while (json->depth > 0)
        rdx_json_end(json);
    fputc('\n', json->stream);
}

void rdx_json_object(RdxJson *json, const char *key)
{
    open_level(json, key, '{', '}', false);
}

void rdx_json_array(RdxJson *json, const char *key, bool flat)
{
    open_level(json, key, '[', ']', flat);
}

void rdx_json_end(RdxJson *json)
{
    if (json->depth == 0)
        return;
    json->depth--;
    if (json->level[json->depth].filled && !json->level[json->depth].flat)
        indent(json);
    fputc(json->level[json->depth].close, json->stream);
}

void rdx_json_text(RdxJson *json, const char *key, const char *value)
{
    member(json, key);
    quoted(json, value);
}

void rdx_json_int(RdxJson *json, const char *key, int64_t value)
{
    member(json, key);
    fprintf(json->stream, "%lld", (long long)value);
}

void rdx_json_uint(RdxJson *json, const char *key, uint64_t value)
{
    member(json, key);
    fprintf(json->stream, "%llu", (unsigned long long)value);
}

void rdx_json_digits(char digits[32], double value, bool narrow)
{
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, 32, "%.*g", precision, value);
        double back = strtod(digits, NULL);
        if (back == value || (narrow && (float)back == (float)value))
            return;
    }
}

void rdx_json_real(RdxJson *json, const char *key, double value)
{
    char digits[32];
    if (isnan(value)) {
        rdx_json_text(json, key, "NaN");
    } else if (isinf(value)) {
        rdx_json_text(json, key, value > 0 ? "Infinity" : "-Infinity");
    } else {
        rdx_json_digits(digits, value, false);
        member(json, key);
        fputs(digits, json->stream);
    }
}

void rdx_json_bool(RdxJson *json, const char *key, bool value)
{
    member(json, key);
    fputs(value ? "true" : "false", json->stream);
}

void rdx_json_null(RdxJson *json, const char *key)
{
    member(json, key);
    fputs("null", json->stream);
}

void rdx_json_ints(RdxJson *json, const char *key, const int64_t *values, int count)
{
    rdx_json_array(json, key, true);
    for (int i = 0; i < count; i++)
        rdx_json_int(json, NULL, values[i]);
    rdx_json_end(json);
}

void rdx_json_raw(RdxJson *json, const char *key, const char *document)
{
    member(json, key);
    fputs(document, json->stream);
}
