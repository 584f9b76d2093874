/* Numbers and arrays for people: elements with the fewest digits that read back as the same value of their dtype,
   nested brackets as NumPy prints them, or a summary where an array is too large to read. */
#ifndef RDX_TOOLS_SHOW_H
#define RDX_TOOLS_SHOW_H

#include "json.h"

#include <redax.h>

enum { RDX_SHOW_WORD = 80, RDX_SHOW_ELEMENTS = 1000 };

/* One element. `alone`: as a scalar prints (1.0), else as within an array (1.). */
void rdx_show_element(char word[RDX_SHOW_WORD], int dtype, const void *at, bool alone);

/* A row-major tensor in host memory: whole up to RDX_SHOW_ELEMENTS elements, else dtype, shape, min, max, mean, the
   number of NaN if there are any, and head. `indent` blanks before each line but the first. */
void rdx_show_tensor(FILE *stream, const RdxTensor *tensor, int indent);
/* The same as members of the JSON object that is open: dtype, shape, and values or min, max, mean, nan, head. */
void rdx_show_json(RdxJson *json, const RdxTensor *tensor);

int64_t rdx_show_count(const RdxTensor *tensor); /* elements */

#endif
