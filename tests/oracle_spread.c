/* The oracle's answers for var, std, norm and sumsq; bounds as listed in oracle_ops.c and derived here. */
#include "oracle_ops.h"

#include <math.h>

static double wide_to_double(OracleWide wide)
{
    return (double)(uint64_t)(wide >> 64) * 0x1p64 + (double)(uint64_t)wide;
}

/* ---- Variance ---- Lane: d = x - p is right to u |d|, q and t1 are sums of c terms, and q <= c Q since the pivot is
   one of the elements: error of Q of a lane <= (1.5 c + 6) c u Q. Its mean is wrong by delta0 = u (M + (c + 2) R), M =
   max|x|, R = max - min; each join adds u (M + 4 R), so delta = delta0 + K u (M + 4 R). A join adds w d^2, w = nA nB /
   (nA + nB), its d wrong by 2 delta: summed over a level, with sum w <= n / 4 and sum w d^2 <= Q (Cauchy-Schwarz), 2
   delta sqrt(K n Q) + K n delta^2. Constants (R = 0) are exact. */
static void rounded_spread(const RdxProblem *problem, const OracleElements *e, OracleRange ranges[2][2])
{
    double degrees = (double)e->count - problem->correction;
    const long double *part[2] = {e->re, e->im};
    int parts = e->is_complex ? 2 : 1, k = oracle_levels(e), c = oracle_lane_length(e);
    long double q = 0, delta = 0, reach = 0;
    bool special = false, nan = false, constant = true;
    for (int i = 0; i < parts; i++) {
        OracleScan s = oracle_scan(part[i], e->count);
        special = special || s.plus || s.minus;
        nan = nan || s.nan;
        if (e->count == 0 || s.nan || s.plus || s.minus)
            continue;
        long double mean = s.sum / e->count, low = part[i][0], high = low;
        OracleSum squares = {0, 0}, rest = {0, 0};
        for (int64_t j = 0; j < e->count; j++) {
            long double d = part[i][j] - mean;
            oracle_add(&squares, d * d);
            oracle_add(&rest, d);
            low = fminl(low, part[i][j]);
            high = fmaxl(high, part[i][j]);
        }
        long double r = high - low, shift = rest.high + rest.low;
        q += squares.high + squares.low - shift * shift / e->count;
        long double own = e->u * ((c > 1 ? s.largest + (c + 2) * r : 0) + k * (s.largest + 4 * r));
        own = (own + (e->count > 1 ? 4 * e->smallest : 0)) * (r > 0);
        ranges[1][i] = r > 0 ? oracle_within(mean, own) : oracle_exactly(part[i][0]);
        ranges[1][i].zero = 0;
        if (s.largest * 4 >= e->largest)
            ranges[1][i] = oracle_anything();
        delta += own;
        reach = fmaxl(reach, s.largest);
        constant = constant && r == 0;
    }
    for (int i = 0; i < parts; i++) {
        OracleScan s = oracle_scan(part[i], e->count);
        if (e->count == 0 || s.nan)
            ranges[1][i] = oracle_exactly(NAN);
        else if (s.plus || s.minus)
            ranges[1][i] = e->count == 1 ? oracle_exactly(part[i][0]) : oracle_anything();
    }
    OracleRange variance;
    if (nan || e->count == 0 || !(degrees > 0)) {
        variance = oracle_exactly(NAN);
    } else if (special) {
        variance = oracle_exactly(NAN); /* the mean is not finite */
    } else if (8 * reach * reach * e->count >= e->largest) {
        variance = oracle_anything();
    } else if (constant) {
        variance = oracle_exactly(0);
    } else {
        long double a = (c > 1 ? (1.5L * c + 6) * c : 0) + k + 8, n = e->count;
        long double error = e->u * q * a + (2 * delta * sqrtl(k * n * q) + k * n * delta * delta) * 1.1L;
        error += 4 * n * e->smallest * (1 + reach);
        variance = oracle_through(oracle_within(q, error), oracle_divided, degrees, 2 * e->u);
    }
    if (problem->op == RDX_STD)
        variance = oracle_through(variance, oracle_rooted, 0, 2 * e->u);
    if (!variance.loose && variance.low < 0)
        variance.low = 0;
    ranges[0][0] = variance;
}

static void small_spread(const RdxProblem *problem, const OracleElements *e, OracleRange ranges[2][2])
{
    OracleExact exact = oracle_exact(e);
    double n = (double)e->count, degrees = n - problem->correction;
    volatile double variance = wide_to_double((OracleWide)e->count * exact.squares - exact.sum * exact.sum);
    variance = variance / n;
    variance = degrees > 0 ? variance / degrees : (double)NAN;
    ranges[0][0] = oracle_exactly(problem->op == RDX_STD ? sqrt(variance) : variance);
    ranges[1][0] = oracle_exactly(e->count ? (double)(int64_t)exact.sum / n : (double)NAN);
}

/* ---- Norms ---- */

/* The moduli replace e->re: later steps see one real number an element. */
static void take_moduli(const OracleElements *e)
{
    for (int64_t i = 0; i < e->count; i++)
        e->re[i] = e->is_complex ? hypotl(e->re[i], e->im[i]) : fabsl(e->re[i]); /* an infinite part beats a NaN */
}

static OracleRange norm_extreme(const OracleElements *e, bool largest)
{
    if (e->count == 0)
        return oracle_exactly(0);
    long double best = e->re[0];
    for (int64_t i = 0; i < e->count; i++) {
        if (isnan(e->re[i]))
            return oracle_exactly(NAN);
        best = largest ? fmaxl(best, e->re[i]) : fminl(best, e->re[i]);
    }
    if (!e->is_complex || best == 0 || isinf(best))
        return oracle_exactly(best);
    return best * 1.1L > e->largest ? oracle_anything() : oracle_within(best, best * 4 * e->u + e->smallest);
}

static OracleRange squares_range(const OracleElements *e)
{
    if (e->count == 0)
        return oracle_exactly(0);
    for (int64_t i = 0; i < e->count; i++)
        e->re[i] = e->is_complex ? e->re[i] * e->re[i] + e->im[i] * e->im[i] : e->re[i] * e->re[i];
    OracleRange range = oracle_sum(e, e->re, (e->is_complex ? 2 : 1) * oracle_lane_length(e) + oracle_levels(e), 0);
    if (range.loose) { /* nothing is negative, so it can only be too large */
        OracleScan s = oracle_scan(e->re, e->count);
        bool surely = s.plus || s.absolute > e->largest * 1.01L;
        return surely ? oracle_exactly(INFINITY)
                      : (OracleRange){.low = e->largest / 2, .high = INFINITY, .middle = e->largest};
    }
    if (range.low != range.high) {
        range.low = fmaxl(0, range.low - e->count * (long double)e->smallest);
        range.high += e->count * (long double)e->smallest;
    }
    return range;
}

static OracleRange power_range(const OracleElements *e, double p)
{
    if (e->count == 0)
        return oracle_exactly(0);
    long double largest = 0, exponent = 0;
    for (int64_t i = 0; i < e->count; i++) {
        exponent = fmaxl(exponent, e->re[i] > 0 && isfinite(e->re[i]) ? fabsl(log2l(e->re[i]) * p) : 0);
        e->re[i] = powl(e->re[i], p);
        largest = fmaxl(largest, e->re[i]);
    }
    double term = 1.01 * e->u + 4 * 0x1p-53 + (e->is_complex ? 4 * fabs(p) * e->u : 0) + (double)exponent * 0x1p-64;
    OracleRange range = oracle_sum(e, e->re, oracle_depth(e), term);
    if (range.loose)
        range = (OracleRange){.low = e->largest / 4, .high = INFINITY, .middle = e->largest};
    if (range.low != range.high) {
        range.low = fmaxl(0, range.low - e->count * (long double)e->smallest);
        range.high += e->count * (long double)e->smallest;
    }
    /* the root is taken with 1 / p rounded to f64 */
    long double bent = isfinite(range.middle) && range.middle > 0 ? fabsl(logl(range.middle) / p) * 0x1p-53L : 0;
    return oracle_through(range, oracle_powered, 1 / (long double)p, 8 * 0x1p-53L + e->u + bent);
}

OracleRange oracle_norm(const RdxProblem *problem, const OracleElements *e)
{
    double p = problem->op == RDX_SUMSQ ? 2 : problem->p;
    if (p == 0) {
        int64_t nonzero = 0;
        for (int64_t i = 0; i < e->count; i++)
            nonzero += e->is_integral ? e->whole[i] != 0 : e->re[i] != 0 || (e->is_complex && e->im[i] != 0);
        return oracle_exactly(nonzero);
    }
    if (oracle_is_small(e) && (p == 1 || p == 2)) {
        OracleExact exact = oracle_exact(e);
        double sum = (double)(uint64_t)(p == 1 ? exact.absolute : exact.squares);
        return oracle_exactly(p == 1 || problem->op == RDX_SUMSQ ? sum : sqrt(sum));
    }
    if (p == 2) {
        OracleRange squares = squares_range(e);
        return problem->op == RDX_SUMSQ
                   ? squares
                   : oracle_through(squares, oracle_rooted, 0, squares.low == squares.high ? 0 : e->u);
    }
    take_moduli(e);
    if (isinf(p))
        return norm_extreme(e, p > 0);
    if (p == 1 && e->is_complex) {
        OracleRange range = e->count ? oracle_sum(e, e->re, oracle_depth(e), 4 * e->u) : oracle_exactly(0);
        if (range.low != range.high && !range.loose) {
            range.low -= e->count * (long double)e->smallest;
            range.high += e->count * (long double)e->smallest;
        }
        return range;
    }
    return p == 1 ? oracle_sum_part(e, e->re) : power_range(e, p);
}

void oracle_spread(const RdxProblem *problem, const OracleElements *e, OracleRange ranges[2][2])
{
    (oracle_is_small(e) ? small_spread : rounded_spread)(problem, e, ranges);
}
