/* Between the oracle's two halves: oracle.c gathers the elements of one output and judges what was stored, oracle_ops.c
   turns elements into the interval of right answers. */
#ifndef RDX_TESTS_ORACLE_OPS_H
#define RDX_TESTS_ORACLE_OPS_H

#include "oracle.h"

__extension__ typedef __int128 OracleWide;

/* The elements of one output that exist (nan = omit leaves NaN out), in logical order. */
typedef struct OracleElements {
    int dtype, out; /* RDX_F32, ... of the input and of the first output */
    bool is_complex, is_integral, is_unsigned, omit;
    int64_t count;            /* elements that exist */
    int64_t holes;            /* elements that were left out */
    int64_t lanes;            /* L */
    double u;                 /* unit roundoff of the accumulator */
    double smallest, largest; /* the accumulator's smallest subnormal and largest finite number */
    long double *re, *im;     /* floats and complex exactly; integers as the f64 they convert to */
    int64_t *whole;           /* integers exactly; u64 as its bits */
    int64_t *index;           /* logical index */
} OracleElements;

/* What one part of one output may be, in the accumulator's type before alpha, beta and the store. */
typedef struct OracleRange {
    long double low, high, middle;
    bool may_nan, must_nan;
    int zero;      /* sign of an exact zero: +1, -1, or 0 where no rule says */
    bool loose;    /* anything goes */
    bool is_whole; /* an integer answer: `whole` holds it, modulo 2^64 */
    uint64_t whole;
} OracleRange;

/* ranges[output][part]: output 0 is the first; part 1 is the imaginary one. */
void oracle_answer(const RdxProblem *problem, const OracleElements *elements, OracleRange ranges[2][2]);

/* ---- Shared by the two files of answers (oracle_ops.c, oracle_spread.c); bodies in oracle_range.c ---- */

typedef struct OracleScan {
    bool nan, plus, minus;                     /* NaN, +inf and -inf are among them */
    bool minus_zeros;                          /* nothing but -0 */
    long double sum, absolute, largest, least; /* of the finite ones; largest and least in magnitude */
} OracleScan;

/* Compensated, so that the reference itself is good to about 2^-64 |sum|. */
typedef struct OracleSum {
    long double high, low;
} OracleSum;

/* Integers, exactly. */
typedef struct OracleExact {
    OracleWide sum, squares, absolute; /* squares of 8- and 16-bit integers only */
    uint64_t product;
} OracleExact;

typedef long double (*OracleFunction)(long double x, long double parameter);

OracleRange oracle_exactly(long double value);
OracleRange oracle_within(long double value, long double error);
OracleRange oracle_anything(void);
void oracle_add(OracleSum *sum, long double x);
OracleScan oracle_scan(const long double *x, int64_t n);
OracleExact oracle_exact(const OracleElements *elements);
bool oracle_is_small(const OracleElements *elements); /* squares have exact sums */

/* Levels of joins between lanes and chunks, the elements of the longest lane, additions on the longest path. */
int oracle_levels(const OracleElements *elements);
int oracle_lane_length(const OracleElements *elements);
int oracle_depth(const OracleElements *elements);

/* The sum of x with every term wrong by at most `term` of itself; `additions` roundings on the longest path. */
OracleRange oracle_sum(const OracleElements *elements, const long double *x, int additions, double term);
OracleRange oracle_sum_part(const OracleElements *elements,
                            const long double *x); /* 0 for none, no error in the terms */
/* A monotone function of one number, rounded to `error` of its value. */
OracleRange oracle_through(OracleRange range, OracleFunction function, long double parameter, long double error);
long double oracle_divided(long double x, long double by);
long double oracle_rooted(long double x, long double unused);
long double oracle_powered(long double x, long double p);

/* var and std with their mean; norm and sumsq. They may overwrite elements->re. */
void oracle_spread(const RdxProblem *problem, const OracleElements *elements, OracleRange ranges[2][2]);
OracleRange oracle_norm(const RdxProblem *problem, const OracleElements *elements);

#endif
