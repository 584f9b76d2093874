/* The oracle: says whether a result may be what the library gave, without any of the library's code.
   It walks the tensors as the caller gave them (shape, strides, axes), loads with the converters of tools/data.h, works
   in long double and 128-bit integers, and knows for every op an interval that the answer must lie in: a single point
   where the definition is exact, the error bound of the tree elsewhere. The intervals and their derivation:
   oracle_ops.c. */
#ifndef RDX_TESTS_ORACLE_H
#define RDX_TESTS_ORACLE_H

#include "../tools/case.h"

enum { ORACLE_OPS = 20 };

typedef struct OracleReport {
    double ratio[ORACLE_OPS]; /* largest |error| / bound seen, by op, where the output is as wide as the accumulator */
    int64_t values;           /* output values judged */
    int64_t loose;            /* of them with no bound at all: overflow was possible on the way */
    char sentence[512];       /* what was wrong; "" while nothing is */
} OracleReport;

/* Judges the outputs of an executed problem. `before` stands for out.data as it was before the call and is read only
   where beta != 0. Reports accumulate: zero them once. False, with a sentence, at the first value that cannot be
   right. */
bool oracle_check(const RdxProblem *problem, const void *before, OracleReport *report);

/* The same for a task whose buffers rdx_case_allocate filled. */
bool oracle_check_task(const RdxTask *task, OracleReport *report);

#endif
