/* Measures src/kernels/real.h against MPFR and fails where an error passes the bound that the header
   states. Stand-alone:

       cc -std=c11 -O3 -ffp-contract=off -fno-math-errno -Isrc tests/check_real.c -lmpfr -lgmp -lm
       ./a.out         every 61st f32, 4 million random f64 a function; a few seconds
       ./a.out all     every f32; about a minute

   MPFR takes microseconds, so libm in the next wider type screens: MPFR decides wherever the screen
   comes near the worst error so far, and at every 4099th point, where it also checks the screen.
   Functions run over blocks of 4096, so that what is measured is the vectorised code. The last line
   is a hash of every result: builds for different instruction sets must print the same. */
#include "kernels/real.h"

#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 4096, RANDOM_POINTS = 1 << 22, FMA_TRIPLES = 10000000 };

/* One function over one range. f32 functions see their arguments and results as doubles here. */
typedef struct Check {
    const char *name;
    double bound; /* ulp, as stated in real.h */
    int bits;     /* of the significand: 24 or 53 */
    void (*run)(double *result, const double *x, const double *y, int n);
    long double (*screen)(double x, double y);
    int (*exact)(mpfr_t result, const mpfr_t x, const mpfr_t y);
    double worst, worst_x, worst_y;
} Check;

static uint64_t hash = 0xcbf29ce484222325u;
static uint64_t random_state = 1;
static int failures;

static uint64_t random_bits(void) /* splitmix64 */
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double random_sign(void)
{
    return random_bits() & 1 ? -1.0 : 1.0;
}

static double random_unit(void) /* [0, 1) */
{
    return (double)(random_bits() >> 11) * 0x1p-53;
}

/* 2^u for u uniform in [low, high), with random low bits. */
static double random_power(double low, double high)
{
    return exp2(low + (high - low) * random_unit());
}

/* ---- The functions, their screens and their references ---- */

#define RUN_F32(name)                                                                                                  \
    static void run_##name(double *result, const double *x, const double *y, int n)                                    \
    {                                                                                                                  \
        (void)y;                                                                                                       \
        for (int i = 0; i < n; i++)                                                                                    \
            result[i] = (double)rdx_##name((float)x[i]);                                                               \
    }
#define RUN_F64(name)                                                                                                  \
    static void run_##name(double *result, const double *x, const double *y, int n)                                    \
    {                                                                                                                  \
        (void)y;                                                                                                       \
        for (int i = 0; i < n; i++)                                                                                    \
            result[i] = rdx_##name(x[i]);                                                                              \
    }
#define RUN_PAIR(name, type)                                                                                           \
    static void run_##name(double *result, const double *x, const double *y, int n)                                    \
    {                                                                                                                  \
        for (int i = 0; i < n; i++)                                                                                    \
            result[i] = (double)rdx_##name((type)x[i], (type)y[i]);                                                    \
    }
RUN_F32(softexp_f32)
RUN_F32(log_f32)
RUN_F64(softexp_f64)
RUN_F64(log_f64)
RUN_PAIR(pow_abs_f64, double)
RUN_PAIR(powi_abs_f64, double)
RUN_PAIR(abs_c64, float)
RUN_PAIR(abs_c128, double)

static long double screen_exp_f32(double x, double y)
{
    return exp(x + 0 * y);
}
static long double screen_log_f32(double x, double y)
{
    return log(x + 0 * y);
}
static long double screen_exp_f64(double x, double y)
{
    return expl((long double)x + 0 * y);
}
static long double screen_log_f64(double x, double y)
{
    return logl((long double)x + 0 * y);
}
static long double screen_pow(double x, double y)
{
    return powl(x, y);
}
static long double screen_hypot(double x, double y)
{
    return hypotl(x, y);
}

static int exact_exp(mpfr_t result, const mpfr_t x, const mpfr_t y)
{
    (void)y;
    return mpfr_exp(result, x, MPFR_RNDN);
}

static int exact_log(mpfr_t result, const mpfr_t x, const mpfr_t y)
{
    (void)y;
    return mpfr_log(result, x, MPFR_RNDN);
}

static int exact_pow(mpfr_t result, const mpfr_t x, const mpfr_t y)
{
    return mpfr_pow(result, x, y, MPFR_RNDN);
}

static int exact_hypot(mpfr_t result, const mpfr_t x, const mpfr_t y)
{
    return mpfr_hypot(result, x, y, MPFR_RNDN);
}

/* ---- Errors ---- */

/* The exponent of one ulp of a value in [2^(exponent-1), 2^exponent), gradual underflow included. */
static int ulp_exponent(int bits, long exponent)
{
    int least = bits == 24 ? -125 : -1021;
    return (int)(exponent > least ? exponent : least) - bits;
}

/* |got - exact| in ulps of the exact value; an infinity stands for the power of two it begins at. */
static double exact_ulps(const Check *check, double x, double y, double got)
{
    static mpfr_t mx, my, exact;
    static int ready;
    if (!ready) {
        mpfr_init2(mx, 53);
        mpfr_init2(my, 53);
        mpfr_init2(exact, 160);
        ready = 1;
    }
    mpfr_set_d(mx, x, MPFR_RNDN);
    mpfr_set_d(my, y, MPFR_RNDN);
    check->exact(exact, mx, my);
    if (mpfr_zero_p(exact))
        return got == 0.0 ? 0.0 : HUGE_VAL;
    long exponent = mpfr_get_exp(exact);
    if (isinf(got)) { /* right if the exact value rounds up to 2^1024 or 2^128 */
        int top = check->bits == 24 ? 128 : 1024;
        mpfr_mul_2si(exact, exact, -top, MPFR_RNDN);
        double scaled = mpfr_get_d(exact, MPFR_RNDN);
        return scaled >= 1.0 ? 0.0 : (1.0 - scaled) * ldexp(1.0, check->bits);
    }
    mpfr_sub(exact, exact, (mpfr_set_d(mx, got, MPFR_RNDN), mx), MPFR_RNDN);
    mpfr_mul_2si(exact, exact, -ulp_exponent(check->bits, exponent), MPFR_RNDN);
    return fabs(mpfr_get_d(exact, MPFR_RNDN));
}

static double screen_ulps(const Check *check, double x, double y, double got)
{
    long double expected = check->screen(x, y);
    int exponent;
    if (check->bits == 24) { /* the screen is an f64 */
        (void)frexp((double)expected, &exponent);
        double scale = rdx_f64_of_bits((uint64_t)(1023 - ulp_exponent(24, exponent)) << 52);
        return fabs((double)expected - got) * scale;
    }
    (void)frexpl(expected, &exponent);
    return (double)fabsl(ldexpl(expected - (long double)got, -ulp_exponent(53, exponent)));
}

static void measure(Check *check, const double *x, const double *y, int n)
{
    static double result[BLOCK];
    static unsigned long points;
    const double margin = check->bits == 24 ? 1e-4 : 0.02; /* how far a screen may be off */
    check->run(result, x, y, n);
    for (int i = 0; i < n; i++) {
        hash = (hash ^ rdx_bits_of_f64(result[i])) * 0x100000001b3u;
        double ulps = screen_ulps(check, x[i], y[i], result[i]);
        int sampled = ++points % 4099 == 0;
        if (ulps < fmax(check->worst - margin, 0.4) && !sampled)
            continue; /* every function here errs by 0.4 somewhere: so arguments next to 0 go fast */
        double exact = exact_ulps(check, x[i], y[i], result[i]);
        if (sampled && isfinite(result[i]) && !(fabs(exact - ulps) <= margin)) {
            printf("%s: the screen is off: %g, not %g ulp at %a %a\n", check->name, ulps, exact, x[i], y[i]);
            failures++;
        }
        if (!(exact <= check->worst)) {
            check->worst = exact;
            check->worst_x = x[i];
            check->worst_y = y[i];
        }
    }
}

static void report(const Check *check, int pair)
{
    int over = !(check->worst <= check->bound);
    printf("%-32s %9.4f  bound %-5g at %a", check->name, check->worst, check->bound, check->worst_x);
    if (pair)
        printf(", %a", check->worst_y);
    printf("%s\n", over ? "  OVER THE BOUND" : "");
    failures += over;
}

/* ---- Sweeps ---- */

/* Every stride-th f32 from the bit pattern `first` to `last`. */
static void sweep_f32(Check check, uint32_t first, uint32_t last, uint32_t stride)
{
    static double x[BLOCK], y[BLOCK];
    int n = 0;
    for (uint64_t bits = first; bits <= last; bits += stride) {
        x[n++] = (double)rdx_f32_of_bits((uint32_t)bits);
        if (n == BLOCK || bits + stride > last) {
            measure(&check, x, y, n);
            n = 0;
        }
    }
    report(&check, 0);
}

static void sweep_random(Check check, int pair, void (*draw)(double *x, double *y))
{
    static double x[BLOCK], y[BLOCK];
    random_state = 1;
    for (int done = 0; done < RANDOM_POINTS; done += BLOCK) {
        for (int i = 0; i < BLOCK; i++)
            draw(&x[i], &y[i]);
        measure(&check, x, y, BLOCK);
    }
    report(&check, pair);
}

static void draw_exp(double *x, double *y)
{
    uint64_t kind = random_bits() % 3;
    *x = kind == 0 ? -708.0 * random_unit() : kind == 1 ? -random_unit() : -random_power(-60, 9.4);
    *y = 0;
}

static void draw_log(double *x, double *y)
{
    uint64_t kind = random_bits() % 4, bits = random_bits();
    if (kind == 0) /* any bits, subnormals included */
        *x = rdx_f64_of_bits(bits % 0x7ff0000000000000u);
    else if (kind == 1)
        *x = 0.5 + 1.5 * random_unit();
    else if (kind == 2) /* round 1 */
        *x = 1.0 + (bits & 1 ? 1.0 : -0.5) * random_power(-52, -1);
    else /* subnormal */
        *x = rdx_f64_of_bits(bits >> (12 + random_bits() % 51) | 1);
    *y = 0;
}

/* ax with |p log2(ax)| up to just over what overflows and what vanishes. */
static double draw_base(double p)
{
    double reach = fmin(1080.0 / fabs(p), 1074.0);
    double u = (2 * random_unit() - 1) * reach;
    if (random_bits() % 4 == 0)
        u *= random_unit() * random_unit() * random_unit();
    return exp2(u < 1023.9 ? u : 1023.9);
}

static void draw_pow_small(double *x, double *y)
{
    static const double usual[] = {0.5, 1.5, 2.5, 3, 4, 7, 1 / 3.0, 0.4, 1 / 7.0, -1, -2, -0.5};
    uint64_t kind = random_bits() % 2;
    *y = kind == 0 ? usual[random_bits() % 12] : 32 * random_unit() - 16;
    *x = draw_base(*y);
}

static void draw_pow_any(double *x, double *y)
{
    *y = random_sign(); /* a statement a draw: operands may be evaluated in any order */
    *y *= random_power(4, 30);
    *x = draw_base(*y);
}

static void draw_powi(double *x, double *y)
{
    *y = random_bits() & 1 ? 3 : 4;
    *x = draw_base(*y);
}

static void draw_c64(double *x, double *y)
{
    *x = (double)(float)random_power(-149, 127.4);
    *y = random_bits() & 1 ? (double)(float)(*x * random_unit()) : (double)(float)random_power(-149, 127.4);
}

static void draw_c128(double *x, double *y)
{
    *x = random_power(-1074, 1023.4);
    *y = random_bits() & 3 ? *x * random_unit() : random_power(-1074, 1023.4);
}

/* ---- Single values ---- */

static void expect(const char *what, double got, double wanted)
{
    uint64_t got_bits = rdx_bits_of_f64(got), wanted_bits = rdx_bits_of_f64(wanted);
    if (got_bits != wanted_bits && !(isnan(got) && isnan(wanted))) {
        printf("%s is %a, not %a\n", what, got, wanted);
        failures++;
    }
}
#define EXPECT(call, wanted) expect(#call, (double)(call), wanted)

static void check_single_values(void)
{
    volatile float inf_f = HUGE_VALF, nan_f = NAN;
    volatile double inf = HUGE_VAL, nan_d = NAN;

    EXPECT(rdx_softexp_f32(0.0f), 1.0);
    EXPECT(rdx_softexp_f32(-0.0f), 1.0);
    EXPECT(rdx_softexp_f32(-inf_f), (double)rdx_softexp_f32(-87.0f));
    EXPECT(rdx_softexp_f32(-88.0f), (double)rdx_softexp_f32(-87.0f));
    EXPECT(rdx_softexp_f32(nan_f), (double)rdx_softexp_f32(-87.0f));
    EXPECT(rdx_softexp_f64(0.0), 1.0);
    EXPECT(rdx_softexp_f64(-0.0), 1.0);
    EXPECT(rdx_softexp_f64(-inf), rdx_softexp_f64(-708.0));
    EXPECT(rdx_softexp_f64(nan_d), rdx_softexp_f64(-708.0));

    EXPECT(rdx_log_f32(1.0f), 0.0);
    EXPECT(rdx_log_f32(0.0f), -inf);
    EXPECT(rdx_log_f32(-0.0f), -inf);
    EXPECT(rdx_log_f32(inf_f), inf);
    EXPECT(rdx_log_f32(-1.0f), nan_d);
    EXPECT(rdx_log_f32(-inf_f), nan_d);
    EXPECT(rdx_log_f32(nan_f), nan_d);
    EXPECT(rdx_log_f64(1.0), 0.0);
    EXPECT(rdx_log_f64(0.0), -inf);
    EXPECT(rdx_log_f64(inf), inf);
    EXPECT(rdx_log_f64(-1.0), nan_d);
    EXPECT(rdx_log_f64(-inf), nan_d);
    EXPECT(rdx_log_f64(nan_d), nan_d);

    EXPECT(rdx_pow_abs_f64(0.0, 2.5), 0.0);
    EXPECT(rdx_pow_abs_f64(0.0, -2.5), inf);
    EXPECT(rdx_pow_abs_f64(0.0, 0.0), 1.0);
    EXPECT(rdx_pow_abs_f64(inf, 0.1), inf);
    EXPECT(rdx_pow_abs_f64(inf, -0.1), 0.0);
    EXPECT(rdx_pow_abs_f64(inf, 0.0), 1.0);
    EXPECT(rdx_pow_abs_f64(3.7, 0.0), 1.0);
    EXPECT(rdx_pow_abs_f64(nan_d, 2.5), nan_d);
    EXPECT(rdx_pow_abs_f64(nan_d, 0.0), nan_d);
    EXPECT(rdx_pow_abs_f64(2.5, nan_d), nan_d);
    EXPECT(rdx_pow_abs_f64(-2.0, 2.0), nan_d);
    EXPECT(rdx_pow_abs_f64(1.0, 1e300), 1.0);
    EXPECT(rdx_pow_abs_f64(1.5, 1e308), inf);
    EXPECT(rdx_pow_abs_f64(1.5, -1e308), 0.0);
    EXPECT(rdx_pow_abs_f64(0x1p-1074, 1e308), 0.0);
    EXPECT(rdx_pow_abs_f64(0x1p-1074, -1e308), inf);
    EXPECT(rdx_pow_abs_f64(1.5, 1e-320), 1.0);
    for (int e = -1074; e < 1024; e++) { /* powers of two come out exact */
        char what[40];
        snprintf(what, sizeof what, "pow(2^%d, 1)", e);
        expect(what, rdx_pow_abs_f64(ldexp(1.0, e), 1.0), ldexp(1.0, e));
        snprintf(what, sizeof what, "pow(2^%d, 0.5)", e & ~1);
        expect(what, rdx_pow_abs_f64(ldexp(1.0, e & ~1), 0.5), ldexp(1.0, (e & ~1) / 2));
        snprintf(what, sizeof what, "pow(2^%d, 3)", e);
        expect(what, rdx_pow_abs_f64(ldexp(1.0, e), 3.0), ldexp(1.0, 3 * e));
        snprintf(what, sizeof what, "pow(2^%d, -2.5)", e & ~1);
        expect(what, rdx_pow_abs_f64(ldexp(1.0, e & ~1), -2.5), ldexp(1.0, (e & ~1) / 2 * -5));
    }

    EXPECT(rdx_powi_abs_f64(3.0, 3.0), 27.0);
    EXPECT(rdx_powi_abs_f64(3.0, 4.0), 81.0);
    EXPECT(rdx_powi_abs_f64(0.0, 3.0), 0.0);
    EXPECT(rdx_powi_abs_f64(inf, 4.0), inf);
    EXPECT(rdx_powi_abs_f64(0x1p-400, 3.0), 0.0);
    EXPECT(rdx_powi_abs_f64(0x1p-358, 3.0), 0x1p-1074);
    EXPECT(rdx_powi_abs_f64(0x1p-268, 4.0), 0x1p-1072);
    EXPECT(rdx_powi_abs_f64(0x1p300, 4.0), inf);
    EXPECT(rdx_powi_abs_f64(nan_d, 3.0), nan_d);

    EXPECT(rdx_abs_c64(3.0f, -4.0f), 5.0);
    EXPECT(rdx_abs_c64(-0.0f, 0.0f), 0.0);
    EXPECT(rdx_abs_c64(-inf_f, nan_f), inf);
    EXPECT(rdx_abs_c64(nan_f, inf_f), inf);
    EXPECT(rdx_abs_c64(nan_f, 1.0f), nan_d);
    EXPECT(rdx_abs_c64(0.0f, nan_f), nan_d);
    EXPECT(rdx_abs_c64(0x1p-149f, 0.0f), 0x1p-149);
    EXPECT(rdx_abs_c128(3.0, -4.0), 5.0);
    EXPECT(rdx_abs_c128(-0.0, -0.0), 0.0);
    EXPECT(rdx_abs_c128(0.0, -7.0), 7.0);
    EXPECT(rdx_abs_c128(-inf, nan_d), inf);
    EXPECT(rdx_abs_c128(nan_d, -inf), inf);
    EXPECT(rdx_abs_c128(inf, inf), inf);
    EXPECT(rdx_abs_c128(inf, 0.0), inf);
    EXPECT(rdx_abs_c128(nan_d, 0.0), nan_d);
    EXPECT(rdx_abs_c128(0.0, nan_d), nan_d);
    EXPECT(rdx_abs_c128(nan_d, 1.0), nan_d);
    EXPECT(rdx_abs_c128(1.0, nan_d), nan_d);
    EXPECT(rdx_abs_c128(0x1p-1074, 0.0), 0x1p-1074);
    EXPECT(rdx_abs_c128(1.7e308, 1.7e308), inf);
}

#include "check_fma.inc"

int main(int argc, char **argv)
{
    if (argc > 2 || (argc == 2 && strcmp(argv[1], "all") != 0)) {
        fprintf(stderr, "usage: check_real [all]\n");
        return 2;
    }
    uint32_t stride = argc == 2 ? 1 : 61;
#define CHECK(name, range, bound, bits, screen, exact)                                                                 \
    (Check){#name " " range, bound, bits, run_##name, screen_##screen, exact_##exact, 0, 0, 0}

    sweep_f32(CHECK(softexp_f32, "-1..0", 0.74, 24, exp_f32, exp), 0x80000000u, 0xbf800000u, stride);
    sweep_f32(CHECK(softexp_f32, "-87..0", 4.5, 24, exp_f32, exp), 0x80000000u, 0xc2ae0000u, stride);
    sweep_f32(CHECK(log_f32, "all", 0.61, 24, log_f32, log), 1, 0x7f7fffffu, stride);
    sweep_random(CHECK(softexp_f64, "-708..0", 0.9, 53, exp_f64, exp), 0, draw_exp);
    sweep_random(CHECK(log_f64, "all", 0.64, 53, log_f64, log), 0, draw_log);
    sweep_random(CHECK(pow_abs_f64, "|p| <= 16", 1.5, 53, pow, pow), 1, draw_pow_small);
    sweep_random(CHECK(pow_abs_f64, "16 < |p| < 2^30", 150, 53, pow, pow), 1, draw_pow_any);
    sweep_random(CHECK(powi_abs_f64, "p = 3, 4", 1.92, 53, pow, pow), 1, draw_powi);
    sweep_random(CHECK(abs_c64, "all", 0.5001, 24, hypot, hypot), 1, draw_c64);
    sweep_random(CHECK(abs_c128, "all", 2.2, 53, hypot, hypot), 1, draw_c128);
    check_fma_emulation();
    check_single_values();
    printf("%-32s %016llx\n", "hash of all results", (unsigned long long)hash);
    return failures != 0;
}
