/* Values of command line options; see options.h. */
#include "options.h"

#include "data.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A decimal integer at *text, which moves behind it. */
static bool integer(const char **text, long low, long high, long *value)
{
    char *end;
    const char *start = *text + (**text == '-');
    if (!isdigit((unsigned char)*start))
        return false;
    errno = 0;
    *value = strtol(*text, &end, 10);
    *text = end;
    return errno == 0 && *value >= low && *value <= high;
}

bool rdx_option_axes(RdxAxes *axes, const char *text)
{
    axes->count = strcmp(text, "all") == 0 ? RDX_ALL_AXES : 0;
    if (axes->count == RDX_ALL_AXES || strcmp(text, "none") == 0)
        return true;
    for (;;) {
        long axis;
        if (axes->count == RDX_MAX_RANK || !integer(&text, INT32_MIN, INT32_MAX, &axis))
            return false;
        axes->list[axes->count++] = (int32_t)axis;
        if (*text == '\0')
            return true;
        if (*text++ != ',')
            return false;
    }
}

bool rdx_option_real(double *value, const char *text)
{
    const char *body = text + (*text == '-' || *text == '+');
    char *end;
    if (!isdigit((unsigned char)*body) && *body != '.' && strcmp(body, "inf") != 0)
        return false;
    if (body[0] == '0' && (body[1] == 'x' || body[1] == 'X'))
        return false;
    *value = strtod(text, &end);
    return end != text && *end == '\0';
}

bool rdx_option_number(uint64_t *value, const char *text)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return isdigit((unsigned char)*text) && *end == '\0' && errno == 0;
}

bool rdx_option_threads(int *threads, const char *text)
{
    long value;
    bool good = integer(&text, 1, 256, &value) && *text == '\0';
    *threads = good ? (int)value : 0;
    return good;
}

bool rdx_option_device(RdxDevice *device, const char *text)
{
    long id = 0;
    bool cuda = strncmp(text, "cuda", 4) == 0;
    *device = (RdxDevice){cuda ? 2 : 1, 0};
    if (!cuda)
        return strcmp(text, "auto") == 0 || strcmp(text, "cpu") == 0;
    text += 4;
    if (*text == '\0')
        return true;
    if (*text++ != ':' || !integer(&text, 0, 1023, &id))
        return false;
    device->id = (int32_t)id;
    return *text == '\0';
}

bool rdx_option_dtype(int *dtype, const char *text)
{
    *dtype = rdx_data_type_named(text);
    return *dtype != 0;
}

const char *rdx_option_takes(const char *name)
{
    static const char *const takes[][2] = {
        {"op", "the name of an operation, as sum"},
        {"axis", "axes, as in 0,2 or -1, none or all"},
        {"dtype", "a dtype, as f32"},
        {"nan", "propagate or omit"},
        {"correction", "a finite number"},
        {"p", "a number, inf or -inf"},
        {"device", "auto, cpu or cuda[:N]"},
        {"threads", "a whole number from 1 to 256"},
        {"format", "text, sexpr or json"},
        {"seconds", "a number from 0 to 3600"},
    };
    for (size_t i = 0; i < sizeof takes / sizeof *takes; i++)
        if (strcmp(takes[i][0], name) == 0)
            return takes[i][1];
    return "the name of a file";
}

const char *rdx_option_reason(RdxStatus status)
{
    const char *sentence = rdx_last_error();
    return *sentence ? sentence : rdx_status_name(status);
}
