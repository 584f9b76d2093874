/* A small JSON writer onto a stream: two blanks of indentation, keys in the order written, NaN and infinities as the
   strings "NaN", "Infinity" and "-Infinity" (Python's float() and JavaScript's Number() read them). Every document
   begins with {"schema": 1, ...}; the number changes when a member changes its meaning. Write errors stay in the
   stream. */
#ifndef RDX_TOOLS_JSON_H
#define RDX_TOOLS_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { RDX_JSON_SCHEMA = 1, RDX_JSON_DEPTH = 80 };

typedef struct RdxJson {
    FILE *stream;
    int depth;
    struct {
        char close;
        bool filled, flat; /* flat: members on one line */
    } level[RDX_JSON_DEPTH];
} RdxJson;

void rdx_json_start(RdxJson *json, FILE *stream); /* opens the document and writes its schema */
void rdx_json_finish(RdxJson *json);              /* closes it, with a newline */

/* key is NULL within an array. */
void rdx_json_object(RdxJson *json, const char *key);
void rdx_json_array(RdxJson *json, const char *key, bool flat);
void rdx_json_end(RdxJson *json);                                      /* of the innermost object or array */
void rdx_json_text(RdxJson *json, const char *key, const char *value); /* bytes that are not UTF-8 become U+FFFD */
void rdx_json_int(RdxJson *json, const char *key, int64_t value);
void rdx_json_uint(RdxJson *json, const char *key, uint64_t value);
void rdx_json_real(RdxJson *json, const char *key, double value); /* shortest digits that read back the same */
void rdx_json_bool(RdxJson *json, const char *key, bool value);
void rdx_json_null(RdxJson *json, const char *key);
void rdx_json_ints(RdxJson *json, const char *key, const int64_t *values, int count); /* a flat array */
void rdx_json_raw(RdxJson *json, const char *key, const char *document);              /* JSON that is already text */

/* The shortest decimal spelling of value that reads back as the same f64 (narrow: as the same f32); never NaN or
   infinity. Writes at most 32 bytes. */
void rdx_json_digits(char digits[32], double value, bool narrow);

#endif
