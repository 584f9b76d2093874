/* What every op may answer: intervals, with the reason for each bound.

   u is the accumulator's unit roundoff, K the levels of joins above the lanes, c <= 16 the elements of a lane.
   sum          every element passes at most c - 1 + K additions:            (c - 1 + K) u sum|x|
   mean         the sum's error / n and one division:                        + u |mean|
   prod         n - 1 roundings; complex: sqrt(8) u each in norm
   sumsq        one fma an element (complex two), no rounded squares:        (2c + K) u sum x^2
   norm p       each |x|^p rounded once, 4 ulp of f64 in it, |z| to 4 u;     the root with 1/p rounded
   logsumexp    exp to 4 u, argument rounded: u sum|d| e^d; log to 4 u       both measured elsewhere
   var          see oracle_spread.c
   All the rest is exact. Where a partial result may leave the accumulator's range the interval is everything (loose);
   gradual underflow costs half of the smallest subnormal a product. */
#include "oracle_ops.h"

#include <math.h>

static OracleRange integer(uint64_t whole)
{
    OracleRange range = {.is_whole = true, .whole = whole};
    return range;
}

static OracleWide whole_at(const OracleElements *e, int64_t i)
{
    return e->is_unsigned ? (OracleWide)(uint64_t)e->whole[i] : (OracleWide)e->whole[i];
}

static OracleRange mean_part(const OracleElements *e, const long double *x)
{
    if (e->count == 0)
        return oracle_exactly(NAN);
    OracleElements plain = *e;
    plain.omit = false; /* only sum and norm add +0 to what omission leaves */
    return oracle_through(oracle_sum_part(&plain, x), oracle_divided, e->count, e->u);
}

/* ---- Products ---- */

/* Extremes of what any partial product may be, as powers of two. */
static void product_reach(const OracleElements *e, const long double *re, const long double *im, long double *up,
                          long double *down)
{
    *up = *down = 0;
    for (int64_t i = 0; i < e->count; i++) {
        long double size = im ? hypotl(re[i], im[i]) : fabsl(re[i]);
        if (size == 0 || !isfinite(size))
            continue;
        long double power = log2l(size);
        *(power > 0 ? up : down) += power;
    }
}

static OracleRange product_part(const OracleElements *e)
{
    OracleScan s = oracle_scan(e->re, e->count);
    long double value = 1, up, down;
    int sign = 1;
    for (int64_t i = 0; i < e->count; i++) {
        value *= e->re[i];
        sign = signbit(e->re[i]) ? -sign : sign;
    }
    if (s.nan)
        return oracle_exactly(NAN);
    product_reach(e, e->re, NULL, &up, &down);
    bool overflows = up > log2l(e->largest) - 0.01L || s.plus || s.minus, underflows = down < log2l(e->smallest) + 53;
    bool zero = s.least == 0;
    if (overflows && (zero || underflows))
        return zero && (s.plus || s.minus) ? oracle_exactly(NAN) : oracle_anything();
    if (zero)
        return oracle_exactly(sign < 0 ? -0.0L : 0.0L);
    if (s.plus || s.minus)
        return oracle_exactly(sign < 0 ? -INFINITY : INFINITY);
    if (overflows)
        return oracle_anything();
    if (e->count <= 1)
        return oracle_exactly(value);
    long double error = (e->count - 1) * (long double)e->u * 1.001L * fabsl(value);
    if (underflows)
        error += e->count * (long double)e->smallest * exp2l(up);
    return oracle_within(value, error);
}

static void complex_product(const OracleElements *e, OracleRange range[2])
{
    OracleScan re = oracle_scan(e->re, e->count), im = oracle_scan(e->im, e->count);
    range[0] = range[1] = oracle_anything();
    if (e->count <= 1) {
        range[0] = oracle_exactly(e->count ? e->re[0] : 1);
        range[1] = oracle_exactly(e->count ? e->im[0] : 0);
        if (e->holes)
            range[0].zero = range[1].zero = 0;
        return;
    }
    if (re.nan || im.nan) { /* every part of every later product depends on it */
        range[0] = range[1] = oracle_exactly(NAN);
        return;
    }
    long double up, down;
    product_reach(e, e->re, e->im, &up, &down);
    if (re.plus || re.minus || im.plus || im.minus || up > log2l(e->largest) - 1)
        return;
    long double a = 1, b = 0;
    for (int64_t i = 0; i < e->count; i++) {
        long double c = e->re[i], d = e->im[i], next = a * c - b * d;
        b = a * d + b * c;
        a = next;
    }
    long double error = (e->count - 1) * 3.0L * e->u * hypotl(a, b);
    if (down < log2l(e->smallest) + 53 || error == 0)
        error += 4.0L * e->count * e->smallest * exp2l(up);
    range[0] = oracle_within(a, error);
    range[1] = oracle_within(b, error);
}

/* ---- The rest ---- */

static OracleRange logsumexp(const OracleElements *e)
{
    long double m = -INFINITY, s = 0, bent = 0;
    for (int64_t i = 0; i < e->count; i++) {
        if (isnan(e->re[i]))
            return oracle_exactly(NAN);
        m = fmaxl(m, e->re[i]);
    }
    if (isinf(m))
        return oracle_exactly(m);
    for (int64_t i = 0; i < e->count; i++) {
        long double d = e->re[i] - m, term = isinf(d) ? 0 : expl(d);
        s += term;
        bent += isinf(d) ? 0 : term * -d;
    }
    if (e->count == 1)
        return oracle_exactly(m + 0.0L); /* m + log(1): -0 becomes +0 */
    int passes = oracle_lane_length(e) + 2 * oracle_levels(e) + 2;
    long double smallest = expl(e->u > 1e-10 ? -87 : -708);
    long double error = bent * e->u + s * passes * 6 * e->u + e->count * smallest;
    long double answer = m + logl(s);
    return oracle_within(answer, error / s * 1.01L + 4 * e->u * logl(s) + e->u * fabsl(answer) + e->smallest);
}

/* Position of the winner among the elements: the first NaN, else the lowest logical index; -1 if there is none. */
static int64_t winner(const OracleElements *e, bool largest)
{
    int64_t best = -1;
    for (int64_t i = 0; i < e->count; i++) {
        if (!e->is_integral && isnan(e->re[i]))
            return i;
        if (best < 0)
            best = i;
        else if (e->is_integral ? (largest ? whole_at(e, i) > whole_at(e, best) : whole_at(e, i) < whole_at(e, best))
                                : (largest ? e->re[i] > e->re[best] : e->re[i] < e->re[best]))
            best = i;
    }
    return best;
}

static OracleRange extreme(const OracleElements *e, bool largest)
{
    int64_t best = winner(e, largest);
    if (best < 0)
        return oracle_exactly(NAN);
    if (e->is_integral)
        return integer((uint64_t)e->whole[best]);
    long double value = e->re[best];
    for (int64_t i = 0; value == 0 && i < e->count; i++) /* -0 is below +0 */
        if (e->re[i] == 0 && !signbit(e->re[i]) == largest)
            return oracle_exactly(largest ? 0.0L : -0.0L);
    return oracle_exactly(value);
}

static OracleRange index_of(const OracleElements *e, bool largest)
{
    int64_t best = winner(e, largest);
    return integer((uint64_t)(best < 0 ? -1 : e->index[best]));
}

static OracleRange counted(int op, const OracleElements *e)
{
    int64_t nonzero = 0;
    for (int64_t i = 0; i < e->count; i++)
        nonzero += e->is_integral ? e->whole[i] != 0 : e->re[i] != 0 || (e->is_complex && e->im[i] != 0);
    return integer(op == RDX_ANY ? nonzero > 0 : op == RDX_ALL ? nonzero == e->count : (uint64_t)nonzero);
}

static OracleRange bits(int op, const OracleElements *e)
{
    uint64_t word = op == RDX_BIT_AND ? (e->dtype == RDX_BOOL ? 1 : ~0ull) : 0;
    for (int64_t i = 0; i < e->count; i++) {
        uint64_t x = (uint64_t)e->whole[i];
        word = op == RDX_BIT_AND ? word & x : op == RDX_BIT_OR ? word | x : word ^ x;
    }
    return integer(word);
}

static void sums(const RdxProblem *problem, const OracleElements *e, OracleRange range[2])
{
    bool whole_out = rdx_data_type(e->out)->kind <= RDX_DATA_UINT;
    if (e->is_integral && (problem->op == RDX_SUM || whole_out)) {
        OracleExact exact = oracle_exact(e);
        uint64_t answer = problem->op == RDX_SUM ? (uint64_t)exact.sum : exact.product;
        range[0] = whole_out ? integer(answer)
                             : oracle_exactly(e->is_unsigned ? (long double)answer : (long double)(int64_t)answer);
    } else if (problem->op == RDX_SUM) {
        range[0] = oracle_sum_part(e, e->re);
        if (e->is_complex)
            range[1] = oracle_sum_part(e, e->im);
    } else if (e->is_complex) {
        complex_product(e, range);
    } else {
        range[0] = product_part(e);
    }
}

static void means(const OracleElements *e, OracleRange range[2])
{
    if (e->is_integral && rdx_data_type(e->dtype)->size <= 4 && e->count > 0) {
        range[0] = oracle_exactly((double)(int64_t)oracle_exact(e).sum / (double)e->count);
        return;
    }
    range[0] = mean_part(e, e->re);
    if (e->is_complex)
        range[1] = mean_part(e, e->im);
}

void oracle_answer(const RdxProblem *problem, const OracleElements *e, OracleRange ranges[2][2])
{
    switch (problem->op) {
    case RDX_SUM:
    case RDX_PROD:
        sums(problem, e, ranges[0]);
        break;
    case RDX_MEAN:
        means(e, ranges[0]);
        break;
    case RDX_VAR:
    case RDX_STD:
        oracle_spread(problem, e, ranges);
        break;
    case RDX_NORM:
    case RDX_SUMSQ:
        ranges[0][0] = oracle_norm(problem, e);
        break;
    case RDX_LOGSUMEXP:
        ranges[0][0] = logsumexp(e);
        break;
    case RDX_ARGMIN:
    case RDX_ARGMAX:
        ranges[0][0] = index_of(e, problem->op == RDX_ARGMAX);
        break;
    case RDX_MIN:
    case RDX_MAX:
    case RDX_MINMAX:
        ranges[0][0] = extreme(e, problem->op == RDX_MAX);
        ranges[1][0] = problem->op == RDX_MINMAX ? extreme(e, true) : index_of(e, problem->op == RDX_MAX);
        break;
    case RDX_BIT_AND:
    case RDX_BIT_OR:
    case RDX_BIT_XOR:
        ranges[0][0] = bits(problem->op, e);
        break;
    default:
        ranges[0][0] = counted(problem->op, e);
    }
}
