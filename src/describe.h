/* A problem as its CASE: the one language of bench, explain, fuzz, logs and replay. */
#ifndef RDX_DESCRIBE_H
#define RDX_DESCRIBE_H

#include "dtype.h"

/* Writes the CASE of a valid problem; at most size bytes, returns the length it wants. */
size_t rdx_problem_describe(const RdxProblem *problem, char *buffer, size_t size);

#endif
