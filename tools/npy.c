/* Reads and writes .npy; see npy.h. The header is a Python dictionary literal; this reads the one form that NumPy
   writes,

       {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }

   with keys in any order, each exactly once. No byte outside [bytes, bytes + count) is looked at: every step of the
   reader compares with `end` first. Integers of Python 2 (3L) are accepted because NumPy wrote them then. */
#include "npy.h"

#include "data.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct Reader {
    const char *at, *end;
    char *error;
    size_t size;
} Reader;

static bool fail(Reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(Reader *reader, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reader->error, reader->size, format, arguments);
    va_end(arguments);
    return false;
}

static void skip_blanks(Reader *reader)
{
    while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\t' || *reader->at == '\n' ||
                                        *reader->at == '\r' || *reader->at == '\f'))
        reader->at++;
}

/* The next character that is not a blank is `expected`: step over it. */
static bool take(Reader *reader, char expected)
{
    skip_blanks(reader);
    if (reader->at == reader->end || *reader->at != expected)
        return false;
    reader->at++;
    return true;
}

static bool take_word(Reader *reader, const char *word)
{
    size_t length = strlen(word);
    skip_blanks(reader);
    if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, word, length) != 0)
        return false;
    reader->at += length;
    return true;
}

/* A quoted string of printable ASCII without escapes, at most size - 1 characters. */
static bool take_string(Reader *reader, char *word, size_t size)
{
    skip_blanks(reader);
    if (reader->at == reader->end || (*reader->at != '\'' && *reader->at != '"'))
        return false;
    char quote = *reader->at++;
    size_t length = 0;
    for (; reader->at < reader->end && *reader->at != quote; reader->at++) {
        if (length + 1 == size || *reader->at < ' ' || *reader->at > '~' || *reader->at == '\\')
            return false;
        word[length++] = *reader->at;
    }
    word[length] = '\0';
    return take(reader, quote);
}

static bool is_digit(const Reader *reader)
{
    return reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9';
}

static bool take_extent(Reader *reader, int64_t *extent)
{
    skip_blanks(reader);
    const char *start = reader->at;
    if (reader->at < reader->end && *reader->at == '-')
        return fail(reader, "its shape has a negative extent");
    if (!is_digit(reader))
        return fail(reader, "its shape is not a tuple of whole numbers");
    for (*extent = 0; is_digit(reader); reader->at++)
        if (__builtin_mul_overflow(*extent, 10, extent) || __builtin_add_overflow(*extent, *reader->at - '0', extent))
            return fail(reader, "its shape has an extent past 64 bits");
    if (*start == '0' && reader->at - start > 1)
        return fail(reader, "its shape has a number with leading zeros");
    if (reader->at < reader->end && *reader->at == 'L')
        reader->at++;
    return true;
}

static bool take_shape(Reader *reader, RdxArray *array)
{
    if (!take(reader, '('))
        return fail(reader, "its shape is not a tuple");
    array->rank = 0;
    bool comma = true;
    while (!take(reader, ')')) {
        if (!comma)
            return fail(reader, "its shape is not a tuple of whole numbers");
        if (array->rank == RDX_MAX_RANK)
            return fail(reader, "its shape has more than %d dimensions", RDX_MAX_RANK);
        if (!take_extent(reader, &array->shape[array->rank]))
            return false;
        array->rank++;
        comma = take(reader, ',');
    }
    if (array->rank == 1 && !comma)
        return fail(reader, "its shape is not a tuple");
    return true;
}

static const struct Spelling {
    const char *code;
    int dtype;
} spellings[] = {
    {"b1", RDX_BOOL}, {"i1", RDX_I8},  {"i2", RDX_I16}, {"i4", RDX_I32},   {"i8", RDX_I64},
    {"u1", RDX_U8},   {"u2", RDX_U16}, {"u4", RDX_U32}, {"u8", RDX_U64},   {"f2", RDX_F16},
    {"f4", RDX_F32},  {"f8", RDX_F64}, {"c8", RDX_C64}, {"c16", RDX_C128},
};
enum { SPELLINGS = sizeof spellings / sizeof spellings[0] };

static bool refuse_dtype(Reader *reader, const char *descr, char kind)
{
    switch (kind) {
    case 'O':
        return fail(reader, "its dtype is object (%s): Python objects cannot be reduced", descr);
    case 'V':
        return fail(reader, "its dtype is void (%s): raw bytes, as NumPy writes types that it does not know", descr);
    case 'S':
    case 'a':
    case 'U':
        return fail(reader, "its dtype is text (%s)", descr);
    case 'M':
    case 'm':
        return fail(reader, "its dtype is a date or time span (%s)", descr);
    default:
        return fail(reader, "its dtype \"%s\" is not one that redax has", descr);
    }
}

static bool take_descr(Reader *reader, int *dtype)
{
    char descr[32];
    skip_blanks(reader);
    if (reader->at < reader->end && (*reader->at == '[' || *reader->at == '('))
        return fail(reader, "its dtype is structured (it has named fields): redax reduces plain numbers");
    if (!take_string(reader, descr, sizeof descr))
        return fail(reader, "its dtype is not a short plain string");
    bool ordered = descr[0] && strchr("<>=|", descr[0]);
    const char *code = descr + ordered, order = ordered ? descr[0] : '='; /* NumPy reads f4 as native, too */
    for (int i = 0; i < SPELLINGS; i++) {
        if (strcmp(code, spellings[i].code) != 0)
            continue;
        bool one_byte = strcmp(code + 1, "1") == 0;
        if (order == '>' && !one_byte)
            return fail(reader, "its dtype is big-endian (%s): save it with .astype('<%s') first", descr, code);
        if (order != '|' || one_byte) {
            *dtype = spellings[i].dtype;
            return true;
        }
    }
    return refuse_dtype(reader, descr, *code);
}

static bool take_entry(Reader *reader, RdxArray *array, bool *fortran, unsigned *seen)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    char key[32];
    int which = 0;
    if (!take_string(reader, key, sizeof key) || !take(reader, ':'))
        return fail(reader, "its header is not the dictionary that NumPy writes");
    while (which < 3 && strcmp(keys[which], key) != 0)
        which++;
    if (which == 3)
        return fail(reader, "its header has an unknown key '%s'", key);
    if (*seen & 1u << which)
        return fail(reader, "its header has the key '%s' twice", key);
    *seen |= 1u << which;
    if (which == 0)
        return take_descr(reader, &array->dtype);
    if (which == 2)
        return take_shape(reader, array);
    *fortran = take_word(reader, "True");
    if (!*fortran && !take_word(reader, "False"))
        return fail(reader, "its fortran_order is neither True nor False");
    return true;
}

static bool take_dictionary(Reader *reader, RdxArray *array, bool *fortran)
{
    unsigned seen = 0;
    bool comma = true;
    if (!take(reader, '{'))
        return fail(reader, "its header is not a dictionary");
    while (!take(reader, '}')) {
        if (!comma)
            return fail(reader, "its header is not the dictionary that NumPy writes");
        if (!take_entry(reader, array, fortran, &seen))
            return false;
        comma = take(reader, ',');
    }
    skip_blanks(reader);
    if (reader->at != reader->end)
        return fail(reader, "its header goes on after the dictionary");
    if (seen != 7)
        return fail(reader, "its header lacks the key '%s'",
                    !(seen & 1)   ? "descr"
                    : !(seen & 2) ? "fortran_order"
                                  : "shape");
    return true;
}

bool rdx_npy_read(RdxArray *array, const void *bytes, size_t count, char *error, size_t size)
{
    const unsigned char *byte = bytes;
    Reader reader = {NULL, NULL, error, size};
    memset(array, 0, sizeof *array);
    if (count < 6 || memcmp(byte, "\x93NUMPY", 6) != 0)
        return fail(&reader, "it is not a .npy file (no \\x93NUMPY at its start)");
    if (count < 10)
        return fail(&reader, "it is cut short: %zu bytes cannot hold a .npy header", count);
    if (byte[6] < 1 || byte[6] > 3 || byte[7] != 0)
        return fail(&reader, "its .npy version %d.%d is unknown (1.0, 2.0 and 3.0 are read)", byte[6], byte[7]);
    size_t start = byte[6] == 1 ? 10 : 12;
    size_t length = byte[8] | (size_t)byte[9] << 8;
    if (start == 12 && count >= 12)
        length |= (size_t)byte[10] << 16 | (size_t)byte[11] << 24;
    if (count < start || length > count - start)
        return fail(&reader, "it is cut short: its header wants %zu bytes and the file ends after %zu", start + length,
                    count);
    reader.at = (const char *)byte + start;
    reader.end = reader.at + length;
    bool fortran = false;
    if (!take_dictionary(&reader, array, &fortran))
        return false;
    char shape[RDX_MAX_RANK * 24];
    rdx_array_shape_words(array, shape, sizeof shape);
    if (!rdx_array_lay_out(array, fortran))
        return fail(&reader, "its shape %.200s is larger than 64 bits can count", shape);
    size_t held = count - start - length;
    if (array->bytes != held)
        return fail(&reader, "%s: shape %.200s of %s needs %zu bytes of data, the file holds %zu",
                    held < array->bytes ? "it is cut short" : "it does not end where its data does", shape,
                    rdx_data_type(array->dtype)->name, array->bytes, held);
    array->data = byte + start + length;
    return true;
}

size_t rdx_npy_header(char header[RDX_NPY_HEADER], int dtype, int rank, const int64_t *shape)
{
    const char *code = NULL;
    for (int i = 0; i < SPELLINGS; i++)
        if (spellings[i].dtype == dtype)
            code = spellings[i].code;
    if (code == NULL)
        return 0;
    size_t length = 10, size = RDX_NPY_HEADER;
    length += (size_t)snprintf(header + length, size - length, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                               code[1] == '1' && code[2] == '\0' ? '|' : '<', code);
    for (int d = 0; d < rank; d++)
        length += (size_t)snprintf(header + length, size - length, "%s%lld%s", d ? " " : "", (long long)shape[d],
                                   d < rank - 1 || rank == 1 ? "," : "");
    length += (size_t)snprintf(header + length, size - length, "), }");
    size_t total = (length + 1 + 63) / 64 * 64;
    memset(header + length, ' ', total - length);
    header[total - 1] = '\n';
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)((total - 10) & 0xff);
    header[9] = (char)((total - 10) >> 8);
    return total;
}
