/* Values of command line options. Each returns false if the text is not such a value; nothing is complained about
   here. */
#ifndef RDX_TOOLS_OPTIONS_H
#define RDX_TOOLS_OPTIONS_H

#include <redax.h>
#include <stdbool.h>

typedef struct RdxAxes {
    int32_t count; /* RDX_ALL_AXES, or how many of list */
    int32_t list[RDX_MAX_RANK];
} RdxAxes;

bool rdx_option_axes(RdxAxes *axes, const char *text);       /* "0,-1", "none", "all" */
bool rdx_option_real(double *value, const char *text);       /* any number; inf, -inf */
bool rdx_option_number(uint64_t *value, const char *text);   /* 0 .. 2^64 - 1 */
bool rdx_option_threads(int *threads, const char *text);     /* 1 .. 256 */
bool rdx_option_device(RdxDevice *device, const char *text); /* auto, cpu, cuda, cuda:N */
bool rdx_option_dtype(int *dtype, const char *text);         /* f32, ... */

/* What the option of that name takes, to end a sentence: "0,2 or -1, none or all" of axis. */
const char *rdx_option_takes(const char *name);

/* Why the library refused: its sentence, or its status name where it left none. */
const char *rdx_option_reason(RdxStatus status);

#endif
