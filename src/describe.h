/* A problem as its CASE: the one language of bench, explain, fuzz, logs and replay. */
#ifndef RDX_DESCRIBE_H
#define RDX_DESCRIBE_H

#include "dtype.h"

/* Writes the CASE of a valid problem, all but alpha and beta, which one plan of the cache may have many of; at most
   size bytes, returns the length it wants. */
size_t rdx_problem_describe(const RdxProblem *problem, char *buffer, size_t size);

/* And those: what follows it, nothing for 1 and 0. */
enum { RDX_SCALING_TEXT = 80 };
size_t rdx_scaling_describe(double alpha, double beta, char *buffer, size_t size);

#endif
