/* Intervals and exact sums: what the oracle's answers are made of. Sums are compensated long double, so that the
   reference is good to about 2^-64 of its value; where the accumulator may overflow on the way, the interval is
   everything. */
#include "oracle_ops.h"

#include <math.h>

OracleRange oracle_exactly(long double value)
{
    OracleRange range = {.low = value, .high = value, .middle = value, .zero = signbit(value) ? -1 : 1};
    if (isnan(value))
        range.must_nan = range.may_nan = true;
    return range;
}

OracleRange oracle_within(long double value, long double error)
{
    OracleRange range = {.low = value - error, .high = value + error, .middle = value};
    return range;
}

OracleRange oracle_anything(void)
{
    OracleRange range = {.low = -INFINITY, .high = INFINITY, .may_nan = true, .loose = true};
    return range;
}

/* Levels of joins between lanes and chunks, and the elements of the longest lane. */
int oracle_levels(const OracleElements *e)
{
    int64_t n = e->count + e->holes, lanes = n < e->lanes ? n : e->lanes,
            chunks = (n + 16 * e->lanes - 1) / (16 * e->lanes);
    int k = 0;
    while (((int64_t)1 << k) < lanes)
        k++;
    int level = k;
    while (((int64_t)1 << (k - level)) < chunks)
        k++;
    return k;
}

int oracle_lane_length(const OracleElements *e)
{
    int64_t lines = (e->count + e->holes + e->lanes - 1) / e->lanes;
    return lines < 16 ? (int)lines : 16;
}

void oracle_add(OracleSum *sum, long double x)
{
    volatile long double total = sum->high + x, part = total - sum->high;
    sum->low += (sum->high - (total - part)) + (x - part);
    sum->high = total;
}

OracleScan oracle_scan(const long double *x, int64_t n)
{
    OracleScan s = {.minus_zeros = n > 0, .least = INFINITY};
    OracleSum sum = {0, 0}, absolute = {0, 0};
    for (int64_t i = 0; i < n; i++) {
        s.minus_zeros = s.minus_zeros && x[i] == 0 && signbit(x[i]);
        s.nan = s.nan || isnan(x[i]);
        if (isinf(x[i]))
            *(x[i] > 0 ? &s.plus : &s.minus) = true;
        if (!isfinite(x[i]))
            continue;
        long double size = fabsl(x[i]);
        oracle_add(&sum, x[i]);
        oracle_add(&absolute, size);
        s.largest = size > s.largest ? size : s.largest;
        s.least = size < s.least ? size : s.least;
    }
    s.sum = sum.high + sum.low;
    s.absolute = absolute.high + absolute.low;
    return s;
}

/* The sum of x with every term wrong by at most `term` of itself; `additions` roundings on the longest path. */
OracleRange oracle_sum(const OracleElements *e, const long double *x, int additions, double term)
{
    OracleScan s = oracle_scan(x, e->count);
    if (s.nan)
        return oracle_exactly(NAN);
    bool overflows = s.absolute * (1 + 1e-6L) >= e->largest;
    if (s.plus || s.minus) {
        if (overflows)
            return oracle_anything();
        return oracle_exactly(s.plus && s.minus ? NAN : s.plus ? INFINITY : -INFINITY);
    }
    if (overflows)
        return oracle_anything();
    if (s.absolute == 0)
        return oracle_exactly(s.minus_zeros && !e->omit ? -0.0L : 0.0L);
    long double error = (additions * (long double)e->u * 1.0001L + (long double)term) * s.absolute;
    return oracle_within(s.sum, error);
}

int oracle_depth(const OracleElements *e)
{
    int depth = oracle_lane_length(e) - 1 + oracle_levels(e);
    return depth < e->count - 1 ? depth : (int)(e->count - 1);
}

/* A function of one number, rounded to `ulps` u of its value; increasing or decreasing. */
OracleRange oracle_through(OracleRange r, long double (*f)(long double, long double), long double parameter,
                           long double error)
{
    if (r.must_nan || r.loose)
        return r;
    long double a = f(r.low, parameter), b = f(r.high, parameter), m = f(r.middle, parameter);
    bool exact = r.low == r.high && (error == 0 || m == 0);
    OracleRange result = {.low = fminl(a, b), .high = fmaxl(a, b), .middle = m, .may_nan = r.may_nan};
    result.zero = exact && m == 0 ? (signbit(m) ? -1 : 1) : 0;
    if (isfinite(result.low))
        result.low -= fabsl(result.low) * error;
    if (isfinite(result.high))
        result.high += fabsl(result.high) * error;
    return result;
}

long double oracle_divided(long double x, long double by)
{
    return x / by;
}

long double oracle_rooted(long double x, long double unused)
{
    (void)unused;
    return x > 0 ? sqrtl(x) : 0;
}

long double oracle_powered(long double x, long double p)
{
    return powl(x > 0 ? x : 0, p);
}

static OracleWide whole_at(const OracleElements *e, int64_t i)
{
    return e->is_unsigned ? (OracleWide)(uint64_t)e->whole[i] : (OracleWide)e->whole[i];
}

OracleExact oracle_exact(const OracleElements *e)
{
    OracleExact exact = {.product = 1};
    for (int64_t i = 0; i < e->count; i++) {
        OracleWide x = whole_at(e, i);
        exact.sum += x;
        exact.absolute += x < 0 ? -x : x;
        if (rdx_data_type(e->dtype)->size <= 2)
            exact.squares += x * x;
        exact.product *= (uint64_t)e->whole[i];
    }
    return exact;
}

bool oracle_is_small(const OracleElements *e)
{
    return e->is_integral && rdx_data_type(e->dtype)->size <= 2;
}

OracleRange oracle_sum_part(const OracleElements *e, const long double *x)
{
    return e->count == 0 ? oracle_exactly(0) : oracle_sum(e, x, oracle_depth(e), 0);
}
