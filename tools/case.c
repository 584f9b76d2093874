/* Reads a CASE; see case.h. Writing one is case_print.c, the problem that it stands for case_task.c. */
#include "case.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const op_names[] = {
    NULL,
#define X(NAME, name, number, inputs, result, allowed, second, empty, options) [number] = #name,
#include "../src/ops.def"
#undef X
};

enum { OPS = sizeof op_names / sizeof op_names[0] };

const char *rdx_case_op_name(int op)
{
    return op > 0 && op < OPS ? op_names[op] : "?";
}

int rdx_case_op_named(const char *name)
{
    for (int op = 1; op < OPS; op++)
        if (strcmp(op_names[op], name) == 0)
            return op;
    return 0;
}

/* ---- parsing ---- */

typedef struct Reader {
    const char *text, *at;
    char *error;
    size_t size;
} Reader;

static bool fail(Reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(Reader *reader, const char *format, ...)
{
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(reader->error, reader->size, "%s (column %zu of CASE \"%.160s\")", what,
             (size_t)(reader->at - reader->text) + 1, reader->text);
    return false;
}

static bool take(Reader *reader, char expected)
{
    if (*reader->at != expected)
        return false;
    reader->at++;
    return true;
}

static bool take_integer(Reader *reader, int64_t *value, bool may_be_negative, const char *what)
{
    const char *start = reader->at;
    bool negative = may_be_negative && take(reader, '-');
    if (!isdigit((unsigned char)*reader->at)) {
        reader->at = start;
        return fail(reader, "expected %s", what);
    }
    int64_t number = 0;
    for (; isdigit((unsigned char)*reader->at); reader->at++) {
        int digit = *reader->at - '0';
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, negative ? -digit : digit, &number)) {
            reader->at = start;
            return fail(reader, "%s does not fit 64 bits", what);
        }
    }
    *value = number;
    return true;
}

/* A real number up to `end`: digits, exponent, inf or nan, with a sign; no hexadecimal, no blanks. */
static bool take_real(Reader *reader, const char *end, double *value, const char *what)
{
    char word[64];
    size_t length = (size_t)(end - reader->at);
    const char *body = reader->at + (*reader->at == '-');
    size_t rest = (size_t)(end - body);
    bool named = rest == 3 && (strncmp(body, "inf", 3) == 0 || strncmp(body, "nan", 3) == 0);
    bool plain = rest > 0 && strspn(body, "0123456789.e+-") >= rest && (isdigit((unsigned char)*body) || *body == '.');
    if (length >= sizeof word || !(named || plain))
        return fail(reader, "expected %s", what);
    memcpy(word, reader->at, length);
    word[length] = '\0';
    char *stop;
    *value = strtod(word, &stop);
    if (*stop != '\0')
        return fail(reader, "expected %s", what);
    reader->at = end;
    return true;
}

static bool take_op(Reader *reader, RdxCase *c)
{
    const char *end = reader->at + strcspn(reader->at, ":");
    size_t longest = 0;
    for (int op = 1; op < OPS; op++) {
        size_t length = strlen(op_names[op]);
        if (length > longest && strncmp(reader->at, op_names[op], length) == 0) {
            longest = length;
            c->op = op;
        }
    }
    if (longest == 0)
        return fail(reader, "unknown op \"%.*s\"", (int)(end - reader->at > 40 ? 40 : end - reader->at), reader->at);
    reader->at += longest;
    bool spread = c->op == RDX_VAR || c->op == RDX_STD;
    if (spread)
        c->correction = 1;
    if (reader->at == end)
        return true;
    if (c->op == RDX_NORM)
        return take_real(reader, end, &c->p, "the p of norm");
    if (spread)
        return take_real(reader, end, &c->correction, "the correction of var or std");
    return fail(reader, "op %s takes no parameter", op_names[c->op]);
}

static bool take_dtype(Reader *reader, int *dtype)
{
    char word[16];
    size_t length = strcspn(reader->at, ":");
    memcpy(word, reader->at, length < sizeof word ? length : 0);
    word[length < sizeof word ? length : 0] = '\0';
    *dtype = rdx_data_type_named(word);
    if (*dtype == 0)
        return fail(reader, "unknown dtype \"%.*s\"", (int)(length > 40 ? 40 : length), reader->at);
    reader->at += length;
    return true;
}

/* Integers joined by 'x'; writes at most RDX_MAX_RANK and returns their number, -1 on failure. */
static int take_list(Reader *reader, int64_t *list, bool may_be_negative, const char *what)
{
    int count = 0;
    do {
        if (count == RDX_MAX_RANK) {
            fail(reader, "more than %d dimensions", RDX_MAX_RANK);
            return -1;
        }
        if (!take_integer(reader, &list[count], may_be_negative, what))
            return -1;
        count++;
    } while (take(reader, 'x'));
    return count;
}

static bool take_axes(Reader *reader, RdxCase *c)
{
    c->naxes = 0;
    if (reader->at[0] == '-' && !isdigit((unsigned char)reader->at[1])) {
        reader->at++;
        return true;
    }
    do {
        int64_t axis;
        if (c->naxes == RDX_MAX_RANK)
            return fail(reader, "more than %d axes", RDX_MAX_RANK);
        if (!take_integer(reader, &axis, true, "an axis"))
            return false;
        if (axis < -1000000 || axis > 1000000)
            return fail(reader, "an axis of %lld is out of range", (long long)axis);
        c->axes[c->naxes++] = (int32_t)axis;
    } while (take(reader, ','));
    return true;
}

static bool take_view(Reader *reader, RdxCase *c)
{
    if (take(reader, '-')) {
        c->rank = 0;
    } else {
        c->rank = take_list(reader, c->shape, false, "an extent of the shape, or - for rank 0");
        if (c->rank < 0)
            return false;
    }
    if (take(reader, '@')) {
        int count = take_list(reader, c->strides, true, "a stride");
        if (count < 0)
            return false;
        if (count != c->rank)
            return fail(reader, "%d strides for rank %d", count, c->rank);
        c->strided = true;
    }
    if (take(reader, '+') && !take_integer(reader, &c->offset, false, "an offset"))
        return false;
    return !take(reader, '/') || take_axes(reader, c);
}

static bool take_word(Reader *reader, const char *end, char *word, size_t size)
{
    size_t length = (size_t)(end - reader->at);
    if (length == 0 || length >= size)
        return fail(reader, "a key needs a value");
    memcpy(word, reader->at, length);
    word[length] = '\0';
    return true;
}

static bool take_output_key(Reader *reader, RdxCase *c, const char *key, const char *end, const char *word)
{
    if (strcmp(key, "keep") == 0) {
        if (strcmp(word, "0") != 0 && strcmp(word, "1") != 0)
            return fail(reader, "keep is 0 or 1");
        c->keep = word[0] == '1';
    } else if (strcmp(key, "out") == 0) {
        c->out = rdx_data_type_named(word);
        if (c->out == 0)
            return fail(reader, "out is a dtype, not \"%s\"", word);
    } else if (strcmp(key, "out2") == 0) {
        c->second = strcmp(word, "0") != 0;
        c->out2 = rdx_data_type_named(word);
        if (c->out2 == 0 && strcmp(word, "0") != 0 && strcmp(word, "1") != 0)
            return fail(reader, "out2 is 0, 1 or a dtype, not \"%s\"", word);
    } else {
        c->ostrides_rank = take_list(reader, c->ostrides, true, "an output stride");
        c->ostrided = true;
        return c->ostrides_rank >= 0;
    }
    reader->at = end;
    return true;
}

static bool take_value(Reader *reader, RdxCase *c, const char *key)
{
    const char *end = reader->at + strcspn(reader->at, ":");
    char word[2048];
    int64_t number;
    if (!take_word(reader, end, word, sizeof word))
        return false;
    if (strcmp(key, "alpha") == 0)
        return take_real(reader, end, &c->alpha, "a number for alpha");
    if (strcmp(key, "beta") == 0)
        return take_real(reader, end, &c->beta, "a number for beta");
    if (strcmp(key, "threads") == 0) {
        if (!take_integer(reader, &number, false, "a number of threads"))
            return false;
        if (number > 100000)
            return fail(reader, "%lld threads are too many", (long long)number);
        c->threads = (int)number;
        return true;
    }
    if (strcmp(key, "seed") == 0) {
        for (c->seed = 0; isdigit((unsigned char)*reader->at); reader->at++)
            if (__builtin_mul_overflow(c->seed, 10u, &c->seed) ||
                __builtin_add_overflow(c->seed, (uint64_t)(*reader->at - '0'), &c->seed))
                return fail(reader, "the seed does not fit 64 bits");
        return true;
    }
    if (strcmp(key, "nan") == 0) {
        c->nan = strcmp(word, "omit") == 0 ? RDX_NAN_OMIT : RDX_NAN_PROPAGATE;
        if (c->nan == RDX_NAN_PROPAGATE && strcmp(word, "propagate") != 0)
            return fail(reader, "nan is omit or propagate, not \"%.40s\"", word);
    } else if (strcmp(key, "data") == 0) {
        c->data = rdx_data_class_named(word);
        if (c->data < 0)
            return fail(reader, "unknown data \"%.40s\"", word);
    } else {
        return take_output_key(reader, c, key, end, word);
    }
    reader->at = end;
    return true;
}

bool rdx_case_parse(RdxCase *c, const char *text, char *error, size_t size)
{
    static const char *const keys[] = {"nan",   "out",  "keep", "ostrides", "out2",
                                       "alpha", "beta", "data", "seed",     "threads"};
    enum { KEYS = sizeof keys / sizeof keys[0] };
    Reader reader = {text, text, error, size};
    unsigned seen = 0;
    memset(c, 0, sizeof *c);
    c->p = 2;
    c->naxes = RDX_ALL_AXES;
    c->alpha = 1;
    c->seed = 1;
    if (!take_op(&reader, c))
        return false;
    if (!take(&reader, ':'))
        return fail(&reader, "expected : and a dtype");
    if (!take_dtype(&reader, &c->dtype))
        return false;
    if (!take(&reader, ':'))
        return fail(&reader, "expected : and a shape");
    if (!take_view(&reader, c))
        return false;
    while (take(&reader, ':')) {
        size_t length = strcspn(reader.at, "=:");
        int key = 0;
        while (key < KEYS && (strlen(keys[key]) != length || strncmp(keys[key], reader.at, length) != 0))
            key++;
        if (key == KEYS || reader.at[length] != '=')
            return fail(&reader, "unknown key \"%.*s\"", (int)(length > 40 ? 40 : length), reader.at);
        if (seen & 1u << key)
            return fail(&reader, "key %s is given twice", keys[key]);
        seen |= 1u << key;
        reader.at += length + 1;
        if (!take_value(&reader, c, keys[key]))
            return false;
    }
    if (*reader.at != '\0')
        return fail(&reader, "unexpected \"%.20s\"", reader.at);
    if (c->op == RDX_MINMAX)
        c->second = true;
    int reduced = c->naxes == RDX_ALL_AXES ? c->rank : c->naxes;
    if (c->ostrided && c->ostrides_rank != (c->keep ? c->rank : c->rank - reduced))
        return fail(&reader, "%d ostrides for an output of rank %d", c->ostrides_rank,
                    c->keep ? c->rank : c->rank - reduced);
    return true;
}
