#!/usr/bin/env python3
"""Prints the coefficients of src/kernels/real.h, exactly as that header lists them.

Each polynomial is a weighted least-squares fit at Chebyshev nodes in 60 digits, within a factor of
two of minimax and free of an exchange loop. Coefficients are rounded from the lowest degree up, and
after each rounding the higher ones are fitted again, so they absorb its error. The last line of a
block is the error of the rounded polynomial itself, relative to the function and as a power of two.

    pip install mpmath && python3 tools/make_polynomials.py
"""
import struct

import mpmath as mp

mp.mp.dps = 60


def round_to(fmt, x):
    """x to the nearest f32 ('f') or f64 ('d'); f32 by way of f64, refused where that is a tie."""
    y = float(x)
    if fmt == "f":
        assert struct.unpack("<Q", struct.pack("<d", y))[0] & 0x1FFFFFFF != 0x10000000
        y = struct.unpack("<f", struct.pack("<f", y))[0]
    return y


def literal(fmt, x):
    """The shortest C hex-float literal of x: float.hex() without its trailing zeros."""
    head, exponent = float(x).hex().split("p")
    head = head.rstrip("0").rstrip(".") if "." in head else head
    return f"{head}p{exponent}" + ("f" if fmt == "f" else "")


def evaluate(coefficients, x):
    return sum((c * x ** i for i, c in enumerate(coefficients)), mp.mpf(0))


def fit(function, weight, degrees, lo, hi):
    """Weighted least squares of function by sum c_i x^i over degrees, on [lo, hi]."""
    n = 4 * len(degrees) + 2    # even: no node at 0 of a symmetric interval, where log_tail is 0/0
    angles = [mp.pi * (2 * i + 1) / (2 * n) for i in range(n)]
    nodes = [(lo + hi) / 2 + (hi - lo) / 2 * mp.cos(angle) for angle in angles]
    rows = mp.matrix(n, len(degrees))
    right = mp.matrix(n, 1)
    for i, x in enumerate(nodes):
        w = weight(x)
        right[i] = w * function(x)
        for j, d in enumerate(degrees):
            rows[i, j] = w * x ** d
    return mp.lu_solve(rows, right)


def polynomial(name, fmt, function, weight, degree, lo, hi, fixed=()):
    """Prints the rounded coefficients c_0 .. c_degree; `fixed` gives the first few."""
    coefficients = [mp.mpf(c) for c in fixed]
    while len(coefficients) <= degree:
        known = list(coefficients)
        solved = fit(lambda x: function(x) - evaluate(known, x), weight,
                     range(len(known), degree + 1), lo, hi)
        coefficients.append(mp.mpf(round_to(fmt, solved[0])))
    grid = [lo + (hi - lo) * (i + mp.mpf(1) / 3) / 2000 for i in range(2000)]
    worst = max(abs(weight(x) * (function(x) - evaluate(coefficients, x))) for x in grid)
    print(name)
    for i, c in enumerate(coefficients):
        print(f"    c{i:<2} = {literal(fmt, c)}")
    print(f"    error 2^{float(mp.log(worst, 2)):.1f}")


def split(name, fmt, x, head_bits):
    """x = high + low, high with head_bits bits so that an integer times it is exact."""
    mantissa, exponent = mp.frexp(x)
    high = mp.ldexp(mp.nint(mp.ldexp(mantissa, head_bits)), exponent - head_bits)
    print(f"{name}: high {literal(fmt, high)}, low {literal(fmt, round_to(fmt, x - high))}")


def log_tail(r):
    """(log(1 + r) - r + r^2/2) / r^3, what the log polynomials approximate."""
    return (mp.log1p(r) - r + r * r / 2) / r ** 3


def log_weight(r):
    return r ** 3 / mp.log1p(r)


EXP_END = mp.mpf("0.3467")          # ln2 / 2 and what rounding in the reduction can add
LOG_END = mp.mpf(1) / 3

for fmt, exp_degree, log_degree in (("f", 6, 8), ("d", 11, 20)):
    print({"f": "f32", "d": "f64"}[fmt])
    polynomial("exp", fmt, mp.exp, lambda r: mp.exp(-r), exp_degree, -EXP_END, EXP_END, fixed=(1,))
    polynomial("log tail", fmt, log_tail, log_weight, log_degree, -LOG_END, LOG_END)
    print("log2(e)", literal(fmt, round_to(fmt, 1 / mp.ln(2))))
    if fmt == "f":              # softexp_f32 needs no more than one constant, log does
        print("ln(2)", literal(fmt, round_to(fmt, mp.ln(2))))
    split("ln(2)", fmt, mp.ln(2), 16 if fmt == "f" else 42)
