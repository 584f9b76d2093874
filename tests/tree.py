#!/usr/bin/env python3
"""The bits of every answer, worked out a second time.

    tree.py             writes tests/golden.txt
    tree.py --check     works everything out again and compares: exit 1 and the first difference
    tree.py CASE...     prints the golden lines of these cases

This is a model of the tree (version 2) and of each op's arithmetic, written from the documents and not
from src/: it shares no line with the library, so that golden.txt can judge it.  (Of src/ it knows only the
definition of exp, log and powers at the head of kernels/real.h.)  numpy's elementwise
add, subtract, multiply, divide and sqrt are IEEE operations, so a whole line of lanes goes through
one numpy call; fma, narrow formats, wide integers and the logarithm family are spelled out below.
No order of evaluation is left to numpy: no sum, dot or pairwise anything on floating-point values.

golden.txt: CASE<TAB>HEX[<TAB>HEX of the second output]; HEX is the output's little-endian bytes in
logical row-major order, or fnv1a64:%016x of them when there are more than 64.

Data.  Element i of the input's storage, counted from its lowest touched address, comes from
z = mix(seed, i); `w` is z >> 32 and gives imaginary parts:
    exact    floats and signed (z % 17) - 8, unsigned z % 17, bool z & 1; imaginary parts from w
    uniform  u = ((z >> 40) - 2^23) * 2^-23 rounded once; imaginary parts from bits 16..39 of z;
             ints the low bytes of z; bool z & 1
    tailed   u * 2^((z & 63) - 32), f16 u * 2^((z & 15) - 8), f8 u * 2^((z & 7) - 4), rounded once (both
             parts of a complex with the same power); ints as uniform
    special  r = z & 31 (imaginary: (z >> 5) & 31): 0 NaN, 1 +inf, 2 -inf (f8e4m3: NaN), 3 -0, 4 +0, 5 the
             smallest subnormal, 6 minus the largest finite, 7 one, else u; ints: r = 0 the minimum,
             1 the maximum, 2 zero, else (z >> 8) % 5; bool z & 1
    ties     ((z >> 8) % 3) - 1, unsigned (z >> 8) % 3, bool z & 1; a float zero takes a minus sign
             when z & 1; imaginary parts from w
    near     1 + u * 2^-6 rounded once (imaginary parts u * 2^-6); ints as uniform
    holes    as tailed, but NaN where (z >> 8) & 3 is 0 (imaginary parts: (z >> 10) & 3); ints as uniform
    zeros    where (z >> 8) % 8 is 0 floats -1, ints 1; elsewhere zero, floats with a minus sign when z & 1;
             bool z & 1; imaginary parts from w
    minus    -0 in both parts, ints 0, bool false
    tiny     a zero where z & 2 is 0, else the smallest subnormal, with a minus sign when z & 1; ints z & 1,
             bool z & 1; imaginary parts from w
With beta, the output held data=exact of seed + 1 before, numbered in its own storage.
"""

import os
import re
import sys
from collections import namedtuple
from fractions import Fraction

import numpy as np

TREE_VERSION = 2
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden.txt")
MASK64 = 2**64 - 1
F32, F64, I64, U64 = np.float32, np.float64, np.int64, np.uint64


# ---- dtypes -------------------------------------------------------------------------------------

# precision counts the implicit bit; emin is the exponent of the smallest normal number
Format = namedtuple("Format", "size precision emin largest inf nan")

FORMATS = {
    "f8e4m3": Format(1, 4, -6, 448.0, None, 0x7F),
    "f8e5m2": Format(1, 3, -14, 57344.0, 0x7C, 0x7E),
    "f16": Format(2, 11, -14, 65504.0, 0x7C00, 0x7E00),
    "bf16": Format(2, 8, -126, (2 - 2.0**-7) * 2.0**127, 0x7F80, 0x7FC0),
    "f32": Format(4, 24, -126, (2 - 2.0**-23) * 2.0**127, 0x7F800000, 0x7FC00000),
    "f64": Format(8, 53, -1022, sys.float_info.max, 0x7FF0000000000000, 0x7FF8000000000000),
}
INTS = {"i8": (1, True), "u8": (1, False), "i16": (2, True), "u16": (2, False), "i32": (4, True),
        "u32": (4, False), "i64": (8, True), "u64": (8, False), "bool": (1, False)}
PARTS = {"c64": "f32", "c128": "f64"}
FLOATS = list(FORMATS)
COMPLEX = list(PARTS)
WHOLE = list(INTS)
EVERY = WHOLE + FLOATS + COMPLEX


def itemsize(dtype):
    if dtype in PARTS:
        return 2 * itemsize(PARTS[dtype])
    return INTS[dtype][0] if dtype in INTS else FORMATS[dtype].size


def lanes_of(dtype):
    return 512 // itemsize(dtype)


def round_into(x, dtype):
    """f64 values rounded once, to nearest even, into a float format; the result still as f64."""
    fmt = FORMATS[dtype]
    if dtype == "f64":
        return x
    ulp = np.maximum(np.frexp(np.where(np.isfinite(x), x, 0.0))[1] - 1, fmt.emin) - (fmt.precision - 1)
    y = np.where(np.isfinite(x), np.ldexp(np.rint(np.ldexp(x, -ulp)), ulp), x)
    beyond = np.nan if fmt.inf is None else np.inf
    return np.where(np.abs(y) > fmt.largest, np.copysign(beyond, y), y)


def encode_float(x, dtype):
    """Bit patterns (uint64) of f64 values that the format holds; a NaN is the one NaN."""
    fmt = FORMATS[dtype]
    width = 8 * fmt.size
    if dtype == "f64":
        bits = np.array(x, dtype=F64).view(U64)
    else:
        finite = np.where(np.isfinite(x), np.abs(x), 0.0)
        e = np.maximum(np.frexp(finite)[1] - 1, fmt.emin)
        e = np.where(finite == 0, fmt.emin, e)
        significand = np.ldexp(finite, fmt.precision - 1 - e).astype(I64)
        magnitude = significand + ((e - fmt.emin).astype(I64) << I64(fmt.precision - 1))
        magnitude = np.where(np.isinf(x), I64(fmt.inf or 0), magnitude)
        bits = magnitude.astype(U64) | (np.signbit(x).astype(U64) << U64(width - 1))
    return np.where(np.isnan(x), U64(fmt.nan), bits)


def encode(parts, dtype):
    """The bytes of an output: floats and complex from f64 parts, ints modulo 2^bits."""
    if dtype in INTS:
        size, patterns = itemsize(dtype), [np.asarray(parts[0]).astype(U64)]
    else:
        real = PARTS.get(dtype, dtype)
        size, patterns = itemsize(real), [encode_float(round_into(np.asarray(x, F64), real), real) for x in parts]
    rows = [pattern.astype("<u8").reshape(-1, 1).view(np.uint8)[:, :size] for pattern in patterns]
    return np.concatenate(rows, axis=1).tobytes()


# ---- data ---------------------------------------------------------------------------------------

def mix(seed, count):
    z = U64(seed * 0xD1342543DE82EF95 & MASK64) + np.arange(count, dtype=U64) * U64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> U64(30))) * U64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> U64(27))) * U64(0x94D049BB133111EB)
    return z ^ (z >> U64(31))


def uniform(z):
    """[-1, 1) in steps of 2^-23, exact in f64."""
    return ((z >> U64(40)).astype(I64) - 2**23).astype(F64) * 2.0**-23


def modulo(z, m):
    return (z % U64(m)).astype(I64)


def int_values(dtype, data, z):
    size, signed = INTS[dtype]
    if data == "minus":
        return np.zeros(z.shape, I64)
    if data == "tiny":
        return (z & U64(1)).astype(I64)
    if dtype == "bool":
        return modulo(z, 2)
    kind = np.dtype("<%s%d" % ("i" if signed else "u", size))
    if data == "exact":
        return modulo(z, 17) - (8 if signed else 0)
    if data == "ties":
        return modulo(z >> U64(8), 3) - (1 if signed else 0)
    if data == "zeros":
        return (modulo(z >> U64(8), 8) == 0).astype(I64)
    if data == "special":
        r = z & U64(31)
        small = modulo(z >> U64(8), 5).astype(kind)
        limits = [np.array(np.iinfo(kind).min, kind), np.array(np.iinfo(kind).max, kind), np.array(0, kind)]
        return np.select([r == U64(0), r == U64(1), r == U64(2)], limits, small)
    return z.astype("<u8").reshape(-1, 1).view(np.uint8)[:, :size].copy().view(kind)[:, 0]


def float_values(dtype, data, z, u, r, power, hole):
    """One part: u its uniform value, r and hole its own picks, z its own source for exact and ties."""
    if data == "exact":
        return (modulo(z, 17) - 8).astype(F64)
    if data == "ties":
        value = (modulo(z >> U64(8), 3) - 1).astype(F64)
        return np.where((value == 0) & ((z & U64(1)) == U64(1)), -0.0, value)
    if data == "zeros":
        return np.where(modulo(z >> U64(8), 8) == 0, -1.0, np.where((z & U64(1)) == U64(1), -0.0, 0.0))
    if data == "minus":
        return np.full(z.shape, -0.0)
    if data == "tiny":
        smallest = np.ldexp(1.0, FORMATS[dtype].emin - FORMATS[dtype].precision + 1)
        return np.where((z & U64(2)) == 0, 0.0, smallest) * np.where((z & U64(1)) == 0, 1.0, -1.0)
    if data in ("tailed", "holes"):
        value = round_into(np.ldexp(u, power), dtype)
        return np.where(hole, np.nan, value) if data == "holes" else value
    value = round_into(u, dtype)
    if data == "special":
        fmt = FORMATS[dtype]
        infinity = np.nan if fmt.inf is None else np.inf
        smallest = np.ldexp(1.0, fmt.emin - fmt.precision + 1)
        picks = [np.nan, infinity, -infinity, -0.0, 0.0, smallest, -fmt.largest, 1.0]
        value = np.select([r == U64(k) for k in range(8)], picks, value)
    return value


def values(dtype, data, seed, count):
    """The storage: a list of parts, floats exactly in f64, ints as numpy ints."""
    assert data in ("exact", "uniform", "tailed", "special", "ties", "near", "holes", "zeros", "minus", "tiny"), data
    z = mix(seed, count)
    if dtype in INTS:
        return [int_values(dtype, data, z)]
    span, middle = {"f8e4m3": (7, 4), "f8e5m2": (7, 4), "f16": (15, 8)}.get(dtype, (63, 32))
    power = (z & U64(span)).astype(np.int32) - middle
    real = PARTS.get(dtype, dtype)
    sources = [(z, uniform(z), z & U64(31), (z >> U64(8)) & U64(3), 1.0)]
    if dtype in PARTS:
        sources += [(z >> U64(32), uniform(z << U64(24)), (z >> U64(5)) & U64(31), (z >> U64(10)) & U64(3), 0.0)]
    if data == "near":
        return [round_into(centre + u * 2.0**-6, real) for _, u, _, _, centre in sources]
    return [float_values(real, data, own, u, r, power, hole == U64(0)) for own, u, r, hole, _ in sources]


# ---- CASE ---------------------------------------------------------------------------------------

Case = namedtuple("Case", "op param dtype shape strides axes nan out keep ostrides out2 alpha beta data seed")
OPS = ("sumsq sum prod mean var std minmax min max argmin argmax any all count_nonzero norm logsumexp "
       "bit_and bit_or bit_xor").split()
HEAD = re.compile(r"(%s)(-?inf|-?[0-9.]+)?$" % "|".join(OPS))
VIEW = re.compile(r"(-|\d+(?:x\d+)*)(?:@(-?\d+(?:x-?\d+)*))?(?:\+(\d+))?(?:/(-|-?\d+(?:,-?\d+)*))?$")


def parse(text):
    head, dtype, view, *options = text.split(":")
    op, param = HEAD.match(head).groups()
    shape, strides, _, axes = VIEW.match(view).groups()
    keys = dict(option.split("=") for option in options)
    shape = [] if shape == "-" else [int(x) for x in shape.split("x")]
    strides = [int(x) for x in strides.split("x")] if strides else row_major(shape)
    if axes is None:
        axes = range(len(shape))
    else:
        axes = [] if axes == "-" else [int(x) % len(shape) for x in axes.split(",")]
    case = Case(op, param, dtype, shape, strides, sorted(axes), keys.pop("nan", None), keys.pop("out", None),
                keys.pop("keep", "0") == "1", keys.pop("ostrides", None), keys.pop("out2", "0") == "1",
                float(keys.pop("alpha", "1")), float(keys.pop("beta", "0")), keys.pop("data", "uniform"),
                int(keys.pop("seed", "1")))
    assert not keys and dtype in EVERY and len(strides) == len(shape) and case.nan in (None, "omit"), text
    return case._replace(out=case.out or default_output(op, dtype))


def row_major(shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= extent
    return strides


def default_output(op, dtype):
    if op in ("min", "max", "minmax", "bit_and", "bit_or", "bit_xor"):
        return dtype
    if op in ("argmin", "argmax", "count_nonzero"):
        return "i64"
    if op in ("any", "all"):
        return "bool"
    if dtype in ("f8e4m3", "f8e5m2"):
        return "f32"
    if op in ("sum", "prod") and dtype in INTS:
        return "u64" if dtype[0] == "u" else "i64"
    if op in ("sum", "prod", "mean"):
        return "f64" if dtype in INTS else dtype
    return "f64" if dtype in INTS else PARTS.get(dtype, dtype)


# ---- canonical order ----------------------------------------------------------------------------

def positions(dims):
    """Row-major walk over (extent, start, step) dims: the address of every point."""
    at = np.zeros(1, dtype=I64)
    for extent, start, step in dims:
        at = (at[:, None] + (start + step * np.arange(extent, dtype=I64))[None, :]).ravel()
    return at


def logical_dims(case, axes):
    """Dims in logical order, addresses counted from the lowest touched element."""
    return [(case.shape[a], max(0, -case.strides[a] * (case.shape[a] - 1)), case.strides[a]) for a in axes]


def canonical_dims(case):
    dims = [(case.shape[a], abs(case.strides[a])) for a in case.axes if case.shape[a] != 1]
    return [(extent, 0, step) for extent, step in sorted(dims, key=lambda dim: (-dim[1], -dim[0]))]


def storage_count(shape, strides):
    if 0 in shape:
        return 0
    return 1 + sum(abs(step) * (extent - 1) for extent, step in zip(shape, strides))


def elements(case, logical=False):
    """The parts of the input, each as [output, e]: e in canonical order, or by logical index."""
    storage = values(case.dtype, case.data, case.seed, storage_count(case.shape, case.strides))
    kept = positions(logical_dims(case, [a for a in range(len(case.shape)) if a not in case.axes]))
    reduced = positions(logical_dims(case, case.axes) if logical else canonical_dims(case))
    at = kept[:, None] + reduced[None, :]
    return [part[at] for part in storage]


def present(case, parts):
    """False where omission makes an element not exist."""
    here = np.ones(parts[0].shape, dtype=bool)
    if case.nan == "omit" and case.dtype not in INTS:
        for part in parts:
            here &= ~np.isnan(part)
    return here


# ---- exact arithmetic ---------------------------------------------------------------------------

def two_sum(a, b):
    s = a + b
    bb = s - a
    return s, (a - (s - bb)) + (b - bb)


def two_product(a, b):
    """Dekker and Veltkamp; the caller keeps exponents away from both ends."""
    p = a * b
    ca, cb = a * 134217729.0, b * 134217729.0
    ah, bh = ca - (ca - a), cb - (cb - b)
    al, bl = a - ah, b - bh
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


def odd_sum(a, b):
    """a + b in f64, rounded to odd: rounding the result again, to fewer bits, rounds only once."""
    s, rest = two_sum(a, b)
    wrong = np.isfinite(s) & (rest != 0) & ((s.view(I64) & I64(1)) == 0)
    return np.where(wrong, np.nextafter(s, np.where(rest > 0, np.inf, -np.inf)), s)


def fma(a, b, c):
    """fma of equal-typed f32 or f64 arrays, elementwise, exact."""
    a, b, c = np.broadcast_arrays(a, b, c)
    if a.dtype == F32:
        return odd_sum(a.astype(F64) * b.astype(F64), c.astype(F64)).astype(F32)
    ea, eb, ec = (np.frexp(np.where(np.isfinite(x), x, 0.0))[1] for x in (a, b, c))
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    plain = (a == 0) | (b == 0) | ~(np.isfinite(a) & np.isfinite(b))
    safe = (finite & (abs(ea + eb) < 880) & (abs(ea) < 900) & (abs(eb) < 900) & ((c == 0) | (abs(ec) < 880)))
    p, p_rest = two_product(a, b)
    t, t_rest = two_sum(c, p_rest)
    v, v_rest = two_sum(p, t)
    result = np.where(plain, a * b + c, np.where(np.isfinite(c), v + odd_sum(t_rest, v_rest), c))
    for i in zip(*np.nonzero(~plain & ~safe & np.isfinite(c))):
        result[i] = fma_one(float(a[i]), float(b[i]), float(c[i]))
    return result


def fma_one(a, b, c):
    """The same of three finite Python floats."""
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return 0.0
    try:
        return exact.numerator / exact.denominator
    except OverflowError:
        return np.inf if exact > 0 else -np.inf


def int_to_float(i, dtype):
    """A Python int rounded once to f32 or f64, as a Python float."""
    drop = abs(i).bit_length() - FORMATS[dtype].precision
    if drop > 0:
        kept, half = abs(i) >> drop, 1 << (drop - 1)
        rest = abs(i) & ((1 << drop) - 1)
        kept += rest > half or (rest == half and kept & 1)
        i = (kept << drop) * (1 if i > 0 else -1)
    return float(i)


def verify_arithmetic():
    """The short cuts above against Fractions and against numpy's own conversions."""
    z = mix(7, 3 * 4000)
    x = np.ldexp(uniform(z) + uniform(z << U64(24)) * 2.0**-24, (z & U64(63)).astype(np.int32) - 32)
    a, b, c = x.reshape(3, -1)
    c = np.where(np.arange(len(c)) % 3 == 0, -a * b * (1 + c * 2.0**-40), c)
    # just above a tie, where rounding twice goes wrong: 1 + 2^-53 + 2^-109, and 1 + 2^-24 + 2^-60 below
    a, b, c = np.append(a, 257 * 2.0**-109), np.append(b, (2**56 + 1) // 257), np.append(c, 1.0)
    got = fma(a, b, c)
    want = [fma_one(*abc) for abc in zip(a.tolist(), b.tolist(), c.tolist())]
    assert got.tolist() == want and want[-1] > 1, "fma of f64"
    a, b = np.append(a, [104353 * 2.0**-60] * 2), np.append(b, [658529.0, -658529.0])
    c = np.append(c, [1.0, -1.0])
    a, b, c = (v.astype(F32) for v in (a, b, c))
    want = [Fraction(p) * Fraction(q) + Fraction(r) for p, q, r in zip(a.tolist(), b.tolist(), c.tolist())]
    for got, exact in zip(fma(a, b, c).tolist(), want):
        near = [Fraction(float(np.nextafter(F32(got), F32(s * np.inf)))) for s in (1, -1)]
        assert all(abs(exact - Fraction(got)) <= abs(exact - other) for other in near), "fma of f32"
    for dtype, kind in (("f16", np.float16), ("f32", F32)):
        y = np.concatenate([x, x * 2.0**100, x * 2.0**-130, [np.inf, -np.inf, -0.0, 65520.0, 65519.9, 2.0**-25]])
        bits = y.astype(kind).view("u%d" % FORMATS[dtype].size).astype(U64)
        assert (encode_float(round_into(y, dtype), dtype) == bits).all(), "rounding into " + dtype
    e4m3 = round_into(np.array([464.0, 464.0000001, -448.0, 2.0**-10, 3 * 2.0**-10, np.inf]), "f8e4m3")
    assert encode_float(e4m3, "f8e4m3").tolist() == [0x7E, 0x7F, 0xFE, 0x00, 0x02, 0x7F], "rounding into f8e4m3"
    e5m2 = round_into(np.array([61440.0, 61439.0, -57344.0, 2.0**-17, 3 * 2.0**-17, 1.0]), "f8e5m2")
    assert encode_float(e5m2, "f8e5m2").tolist() == [0x7C, 0x7B, 0xFB, 0x00, 0x02, 0x3C], "rounding into f8e5m2"


# ---- real functions -----------------------------------------------------------------------------
# softexp, log, pow_abs and the complex magnitude, from the definition at the head of kernels/real.h.

def hexes(text):
    return [float.fromhex(word) for word in text.split()]


EXP32 = hexes("0x1p+0 0x1p+0 0x1.fffff8p-2 0x1.55548ep-3 0x1.555b98p-5 0x1.123bdap-7 0x1.6859bcp-10")
EXP64 = hexes("""0x1p+0 0x1p+0 0x1.000000000000cp-1 0x1.5555555555516p-3 0x1.555555554fe5fp-5 0x1.1111111120dd7p-7
    0x1.6c16c185ec874p-10 0x1.a01a014ee7b4bp-13 0x1.a019960993714p-16 0x1.71ded4ca0e89ap-19
    0x1.28b0ac0a6cc7ep-22 0x1.adfe47b24b605p-26""")
LOG32 = hexes("""0x1.555556p-2 -0x1.ffff0ap-3 0x1.99985cp-3 -0x1.5599cp-3 0x1.24d99ap-3 -0x1.f37848p-4
    0x1.baedf4p-4 -0x1.0733e6p-3 0x1.e25ba8p-4""")
LOG64_EVEN = hexes("""0x1.5555555555555p-2 0x1.99999999999d8p-3 0x1.2492492498a57p-3 0x1.c71c71bd91e84p-4
    0x1.745d1a1267e28p-4 0x1.3b133de698085p-4 0x1.111c65818e77fp-4 0x1.e077dc0137d7ap-5
    0x1.bd8370c752b83p-5 0x1.2d64ea985e1b1p-5 0x1.45072c165d19fp-4""")
LOG64_ODD = hexes("""-0x1.fffffffffff52p-3 -0x1.55555555637b7p-3 -0x1.fffffff224d63p-4 -0x1.99999d1e0a062p-4
    -0x1.5554ce535c27p-4 -0x1.249f04053aad4p-4 -0x1.fe73c832269ccp-5 -0x1.d68abd5a8f2aap-5
    -0x1.3b7d8724e39ccp-5 -0x1.548b57fe38ecfp-4""")
LN2_HIGH, LN2_LOW = hexes("0x1.62e42fefa38p-1 0x1.ef35793c7673p-45")
LOG2E = float.fromhex("0x1.71547652b82fep+0")

# All that differs between the two widths: the unsigned type, the bits below the exponent, the constants.
Width = namedtuple("Width", "bits shift lowest log2e round one third bias scale high low")
WIDTHS = {
    F32: Width(np.uint32, 23, -87.0, float.fromhex("0x1.715476p+0"), 1.5 * 2.0**23, 0x3F800000, 0x3F2AAAAB,
               127, 24, *hexes("0x1.62e4p-1 0x1.7f7d1cp-20")),
    F64: Width(np.uint64, 52, -708.0, LOG2E, 1.5 * 2.0**52, 0x3FF0000000000000, 0x3FE5555555555555,
               1023, 54, LN2_HIGH, LN2_LOW),
}


def horner(coefficients, r):
    real = r.dtype.type
    y = np.full_like(r, coefficients[-1])
    for c in coefficients[-2::-1]:
        y = fma(y, r, real(c))
    return y


def softexp(d):
    """E(d) = exp(max(d, D)) for d <= 0."""
    real = d.dtype.type
    w = WIDTHS[real]
    d = np.where(d > w.lowest, d, real(w.lowest))
    t = fma(d, real(w.log2e), real(w.round))
    k = t - real(w.round)
    if real is F32:
        y = horner(EXP32, fma(k, real(-float.fromhex("0x1.62e43p-1")), d))
    else:
        y = horner(EXP64, fma(k, F64(-LN2_LOW), fma(k, F64(-LN2_HIGH), d)))
    return (y.view(w.bits) + (t.view(w.bits) << w.bits(w.shift))).view(real)


def log_halves(x):
    """log(x) = high + low of positive finite numbers."""
    real = x.dtype.type
    w = WIDTHS[real]
    tiny = x < np.ldexp(real(1), 1 - w.bias)
    x = np.where(tiny, x * real(2.0**w.scale), x)
    bias = np.where(tiny, real(2.0**w.shift + w.bias + w.scale), real(2.0**w.shift + w.bias))
    u = x.view(w.bits) + w.bits(w.one - w.third)
    r = ((u & w.bits(2**w.shift - 1)) + w.bits(w.third)).view(real) - real(1)
    k = ((u >> w.bits(w.shift)) | real(2.0**w.shift).view(w.bits)).view(real) - bias
    square = r * r
    q = horner(LOG32, r) if real is F32 else fma(horner(LOG64_ODD, square), r, horner(LOG64_EVEN, square))
    b = k * real(w.high)
    s = b + r
    e = (b - s) + r
    v = fma(r, r, -square)
    h = real(0.5) * square
    high = s - h
    g = (s - high) - h
    return high, fma(real(-0.5), v, e + g) + fma(r * square, q, k * real(w.low))


def log(x):
    high, low = log_halves(np.where((x > 0) & (x < np.inf), x, x.dtype.type(1)))
    beyond = np.where(x == 0, -np.inf, np.where(x > 0, np.inf, np.nan)).astype(x.dtype)
    return np.where((x > 0) & (x < np.inf), high + low, beyond)


def pow_abs(a, p):
    """a^p of f64, a >= 0 or NaN."""
    usual = (a > 0) & (a < np.inf)
    high, low = log_halves(np.where(usual, a, 1.0))
    p = F64(p)
    s = high + low
    low = (high - s) + low
    m = p * s
    low = fma(p, low, fma(p, s, -m))
    d = np.where(m > -750, m, -750.0)
    d = np.where(d < 710, d, 710.0)
    low = np.where(d == m, low, 0.0)
    t = fma(d, F64(LOG2E), F64(1.5 * 2.0**52))
    k = t - 1.5 * 2.0**52
    r = fma(k, F64(-LN2_HIGH), d)
    r = r + fma(k, F64(-LN2_LOW), low)
    n = (t.view(U64) + U64(2048)) & U64(4095)
    i = n >> U64(1)
    j = n - i
    power = horner(EXP64, r) * ((i - U64(1)) << U64(52)).view(F64) * ((j - U64(1)) << U64(52)).view(F64)
    at_zero, at_infinity = (0.0, np.inf) if p > 0 else (np.inf, 0.0)
    return np.where(usual, power, np.where(a == 0, at_zero, np.where(a == np.inf, at_infinity, np.nan)))


def powi_abs(a, p):
    """a^3 and a^4 of f64 by products."""
    square = a * a
    return square * (a if p == 3 else square)


def magnitude(parts):
    """|x|; of a complex element inf when either part is, beside a NaN too."""
    if len(parts) == 1:
        return np.abs(parts[0])
    x, y = np.abs(parts[0]), np.abs(parts[1])
    if x.dtype == F32:
        re, im = x.astype(F64), y.astype(F64)
        size = np.sqrt(re * re + im * im).astype(F32)
    else:
        a, b = np.where(x > y, x, y), np.where(x > y, y, x)
        ratio = b / a
        size = np.where(a == 0, b, a * np.sqrt(fma(ratio, ratio, F64(1))))
    return np.where((x == np.inf) | (y == np.inf), x.dtype.type(np.inf), size)


def verify_functions():
    """A slip in a coefficient shows against numpy's own functions (a few ulp)."""
    z = mix(8, 4000)
    x = np.exp2(30 * uniform(z))
    for real, slack in ((F32, 8e-7), (F64, 2e-15)):
        y = x.astype(real)
        exp = np.exp(np.maximum(-y, real(WIDTHS[real].lowest)).astype(F64))
        assert (abs(softexp(-y).astype(F64) - exp) <= slack * exp).all(), "softexp"
        assert (abs(log(y) - np.log(y.astype(F64))) <= slack * abs(np.log(y.astype(F64)))).all(), "log"
    for p in (0.5, 3.0, -1.5):
        assert (abs(pow_abs(x, p) - x**p) <= 2e-15 * x**p).all(), "pow_abs"
    for p in (3, 4):
        assert (abs(powi_abs(x, p) - x**p) <= 2e-15 * x**p).all(), "powi_abs"
    assert (pow_abs(np.array([0.0, 1.0, np.inf, np.nan]), -1)[:3] == [np.inf, 1.0, 0.0]).all()


# ---- algebras -----------------------------------------------------------------------------------
# A state is a tuple of arrays; an element is a tuple of parts, already in the accumulator's type.

def choose(where, a, b):
    return tuple(np.where(where, x, y) for x, y in zip(a, b))


class Algebra:
    def lift(self, x):
        return x

    def push(self, state, x):
        return self.join(state, x)

    def seal(self, state):
        return state

    def lane(self, parts, here):
        """Folds axis 2, the lines of a chunk: lift the first element that exists, push the rest."""
        state, alive = self.lift(tuple(part[:, :, 0] for part in parts)), here[:, :, 0]
        for line in range(1, here.shape[2]):
            x, exists = tuple(part[:, :, line] for part in parts), here[:, :, line]
            state = choose(exists, choose(alive, self.push(state, x), self.lift(x)), state)
            alive = alive | exists
        return self.seal(state), alive


class Sum(Algebra):
    """One tree, or two for complex."""

    def join(self, a, b):
        return tuple(p + q for p, q in zip(a, b))


class Product(Algebra):
    """(ac - bd, ad + bc) for complex: four products and two sums, each rounded, nothing recovered."""

    def join(self, a, b):
        if len(a) == 1:
            return (a[0] * b[0],)
        return (a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0])


class Squares(Sum):
    """sum of x * x, each square and its addition rounded once."""

    def lift(self, x):
        first = x[0] * x[0]
        return (first if len(x) == 1 else fma(x[1], x[1], first),)

    def push(self, state, x):
        total = state[0]
        for part in x:
            total = fma(part, part, total)
        return (total,)


class Moments(Algebra):
    """(n, m..., Q).  In a lane: (n, p..., t1..., q) about the pivot p, its first element."""

    def lift(self, x):
        zero = np.zeros_like(x[0])
        return (np.ones(zero.shape, I64),) + x + tuple(zero for _ in x) + (zero,)

    def push(self, state, x):
        k = len(x)
        n, pivots, t1, q = state[0], state[1:1 + k], state[1 + k:1 + 2 * k], state[-1]
        d = tuple(part - pivot for part, pivot in zip(x, pivots))
        for part in d:
            q = fma(part, part, q)
        return (n + 1,) + pivots + tuple(t + part for t, part in zip(t1, d)) + (q,)

    def seal(self, state):
        k = (len(state) - 2) // 2
        n, pivots, t1, q = state[0], state[1:1 + k], state[1 + k:1 + 2 * k], state[-1]
        scale = q.dtype.type(1) / n.astype(q.dtype)
        t = tuple(part * scale for part in t1)
        for part, shift in zip(t1, t):
            q = fma(-part, shift, q)
        return (n,) + tuple(p + shift for p, shift in zip(pivots, t)) + (np.where(q <= 0, q.dtype.type(0), q),)

    def join(self, a, b):
        acc = a[-1].dtype.type
        half = acc(0.5)
        same = a[0] == b[0]
        great, small = choose(a[0] >= b[0], a, b), choose(a[0] >= b[0], b, a)
        weight = small[0].astype(acc) / (a[0] + b[0]).astype(acc)
        q = a[-1] + b[-1]
        means = ()
        for ma, mb, mg, mk in zip(a[1:-1], b[1:-1], great[1:-1], small[1:-1]):
            d, e = ma - mb, mk - mg
            t = e * weight
            q = np.where(same, fma(d, d * (half * a[0].astype(acc)), q), fma(e * t, great[0].astype(acc), q))
            means += (np.where(same, half * (ma + mb), mg + t),)
        return (a[0] + b[0],) + means + (q,)


class LogSumExp(Algebra):
    """(m, s): the largest element and the sum of E(x - m)."""

    def larger(self, a, b):
        return np.where(np.isnan(a) | (a > b), a, b)

    def lane(self, parts, here):
        x, = parts
        acc = x.dtype.type
        m = np.full(x[:, :, 0].shape, acc(-np.inf))
        for line in range(x.shape[2]):
            m = np.where(here[:, :, line], self.larger(m, x[:, :, line]), m)
        pivot = np.where(m == -np.inf, acc(0), m)
        s, alive = np.zeros_like(m), np.zeros(m.shape, bool)
        for line in range(x.shape[2]):
            exists, term = here[:, :, line], softexp(x[:, :, line] - pivot)
            s = np.where(exists, np.where(alive, s + term, term), s)
            alive = alive | exists
        return (m, s), alive

    def join(self, a, b):
        (ma, sa), (mb, sb) = a, b
        great, small = np.where(ma > mb, sa, sb), np.where(ma > mb, sb, sa)
        apart = fma(small, softexp(-np.abs(ma - mb)), great)
        return self.larger(ma, mb), np.where(ma == mb, sa + sb, apart)


# ---- the tree -----------------------------------------------------------------------------------

def join(algebra, a, b):
    """Joins (state, alive) pairs; an empty side leaves the other as it is."""
    state = choose(a[1] & b[1], algebra.join(a[0], b[0]), choose(a[1], a[0], b[0]))
    return state, a[1] | b[1]


def cut(node, index):
    return tuple(array[index] for array in node[0]), node[1][index]


def chunk(algebra, parts, here, count):
    """[output, chunk, line, lane] to one node for each [output, chunk]."""
    node = algebra.lane(parts, here)
    half = count // 2
    while half:
        node = join(algebra, cut(node, np.s_[..., :half]), cut(node, np.s_[..., half:]))
        half //= 2
    return cut(node, np.s_[..., 0])


def tree(algebra, parts, here, count):
    """[output, e] to (state, alive) for each output; `count` lanes.  None when there is no element."""
    outputs, n = here.shape
    if n == 0 or outputs == 0:
        return None
    chunks = -(-n // (16 * count))
    grid = [np.zeros((outputs, chunks * 16 * count), part.dtype) for part in parts + (here,)]
    for target, source in zip(grid, parts + (here,)):
        target[:, :n] = source
    grid = [part.reshape(outputs, chunks, 16, count) for part in grid]
    lines = min(16, -(-n // count))
    grid = [part[:, :, :lines] for part in grid]
    node = chunk(algebra, tuple(grid[:-1]), grid[-1], count)
    while node[1].shape[1] > 1:
        pairs = node[1].shape[1] // 2
        joined = join(algebra, cut(node, np.s_[:, 0:2 * pairs:2]), cut(node, np.s_[:, 1:2 * pairs:2]))
        odd = cut(node, np.s_[:, 2 * pairs:])
        node = (tuple(np.concatenate(both, axis=1) for both in zip(joined[0], odd[0])),
                np.concatenate([joined[1], odd[1]], axis=1))
    return cut(node, np.s_[:, 0])


def folded(algebra, parts, here, count, empty):
    """The state of each output, or `empty` where it has no elements."""
    node = tree(algebra, parts, here, count)
    if node is None:
        return tuple(np.full(here.shape[0], value) for value in empty)
    return choose(node[1], node[0], empty)


# ---- ops ----------------------------------------------------------------------------------------
# Each answers a list of outputs: (dtype, parts), floats unrounded in the accumulator's type.

def accumulator(case):
    return F64 if "f64" in (case.dtype, case.out) or "c128" in (case.dtype, case.out) or case.dtype in INTS else F32


def is_small(dtype):
    return dtype in INTS and INTS[dtype][0] <= 2


def python_ints(x):
    return [[int(v) for v in row] for row in x.tolist()]


def as_u64(ints):
    return [np.array([i & MASK64 for i in ints], dtype=U64)]


def int_answer(ints, case):
    """The sum is i64 or u64 modulo 2^64; into an int output modulo 2^bits, into a float converted once."""
    if case.out in INTS:
        return [(case.out, as_u64(ints))]
    half = 0 if case.dtype.startswith("u") else 2**63
    ints = [((i + half) & MASK64) - half for i in ints]
    floats = np.array([int_to_float(i, case.out) for i in ints], dtype=F64)
    return [(case.out, scaled(case, [floats.astype(F64 if case.out == "f64" else F32)]))]


def scaled(case, parts):
    """alpha * r + beta * out in the type of r, each step rounded."""
    acc = parts[0].dtype.type
    if case.alpha != 1:
        parts = [acc(case.alpha) * part for part in parts]
    if case.beta != 0:
        shape = [e if a not in case.axes else 1 for a, e in enumerate(case.shape) if case.keep or a not in case.axes]
        strides = [int(x) for x in case.ostrides.split("x")] if case.ostrides else row_major(shape)
        held = values(case.out, "exact", case.seed + 1, storage_count(shape, strides))
        at = positions(logical_dims(case._replace(shape=shape, strides=strides), range(len(shape))))
        parts = [part + acc(case.beta) * old[at].astype(acc) for part, old in zip(parts, held)]
    return parts


def loaded(case, acc):
    parts = elements(case)
    return tuple(part.astype(acc) for part in parts), present(case, parts)


def counts(here, acc):
    return here.sum(axis=1, dtype=I64).astype(acc)


def op_sum(case):
    if case.dtype in INTS:
        return int_answer([sum(row) for row in python_ints(elements(case)[0])], case)
    acc = accumulator(case)
    parts, here = loaded(case, acc)
    total = folded(Sum(), parts, here, lanes_of(case.dtype), [acc(0)] * len(parts))
    if case.nan == "omit":
        total = [part + acc(0) for part in total]
    return [(case.out, scaled(case, list(total)))]


def op_prod(case):
    if case.dtype in INTS and case.out in INTS:
        products = []
        for row in python_ints(elements(case)[0]):
            product = 1
            for i in row:
                product = product * i & MASK64
            products.append(product)
        return int_answer(products, case)
    acc = accumulator(case)
    parts, here = loaded(case, acc)
    total = folded(Product(), parts, here, lanes_of(case.dtype), [acc(1), acc(0)][:len(parts)])
    return [(case.out, scaled(case, list(total)))]


def op_mean(case):
    acc = accumulator(case)
    if case.dtype in INTS and INTS[case.dtype][0] <= 4:
        rows = elements(case)[0]
        means = np.array([sum(row) for row in python_ints(rows)], dtype=F64) / F64(rows.shape[1])
        return [(case.out, scaled(case, [means]))]
    parts, here = loaded(case, acc)
    total = folded(Sum(), parts, here, lanes_of(case.dtype), [acc(0)] * len(parts))
    return [(case.out, scaled(case, [part / counts(here, acc) for part in total]))]


def small_moments(case, correction):
    variances, means = [], []
    for row in python_ints(elements(case)[0]):
        n, s, t = len(row), sum(row), sum(i * i for i in row)
        d = float(n) - correction
        high, low = divmod(n * t - s * s, 2**64)
        spread = float(high) * 2.0**64 + float(low)
        variances.append(spread / n / d if d > 0 else np.nan)
        means.append(float(s) / float(n) if n else np.nan)
    return np.array(variances, dtype=F64), [np.array(means, dtype=F64)]


def moments(case, correction):
    acc = accumulator(case)
    parts, here = loaded(case, acc)
    nan = acc(np.nan)
    _, *means, q = folded(Moments(), parts, here, lanes_of(case.dtype), [I64(0)] + [nan] * len(parts) + [nan])
    d = counts(here, F64) - correction
    defined = d > 0
    for mean in means:  # a lone infinity or NaN is its own pivot and leaves no trace in Q
        defined = defined & np.isfinite(mean)
    return np.where(defined, q / d.astype(acc), nan), means


def op_var(case):
    correction = F64(case.param or "1")
    variance, means = (small_moments if is_small(case.dtype) else moments)(case, correction)
    first = variance if case.op == "var" else np.sqrt(variance)
    outputs = [(case.out, scaled(case, [first]))]
    if case.out2:
        outputs.append(({"f32": "c64", "f64": "c128"}[case.out] if case.dtype in PARTS else case.out, means))
    return outputs


def small_norm(case, p):
    """bool, 8- and 16-bit ints: from exact sums.  None when p has no exact rule."""
    rows = python_ints(elements(case)[0])
    if p == 0:
        return [float(sum(i != 0 for i in row)) for row in rows]
    if p == 1:
        return [float(sum(abs(i) for i in row)) for row in rows]
    if p == 2:
        return [np.sqrt(float(sum(i * i for i in row))) for row in rows]
    if abs(p) == np.inf:
        return [float((max if p > 0 else min)(map(abs, row))) if row else 0.0 for row in rows]
    return None


def op_norm(case):
    p = float(case.param)
    if is_small(case.dtype):
        exact = small_norm(case, p)
        if exact is not None:
            return [(case.out, scaled(case, [np.array(exact, dtype=F64)]))]
    acc = accumulator(case)
    parts, here = loaded(case, acc)
    lanes = lanes_of(case.dtype)
    if p == 0:
        nonzero = here & np.logical_or.reduce([part != 0 for part in parts])
        result = counts(nonzero, acc)
    elif abs(p) == np.inf:
        size = magnitude(parts)
        result, _ = extremes(size, here, p > 0, acc(0))
    elif p == 2:
        result = np.sqrt(folded(Squares(), parts, here, lanes, [acc(0)])[0])
    elif p == 1:
        result = folded(Sum(), (magnitude(parts),), here, lanes, [acc(0)])[0]
    else:
        raised = powi_abs if p in (3, 4) else pow_abs
        terms = raised(magnitude(parts).astype(F64), p).astype(acc)
        total = folded(Sum(), (terms,), here, lanes, [acc(0)])[0]
        result = np.where(here.any(axis=1), pow_abs(total.astype(F64), 1 / p), 0.0).astype(acc)
    if case.nan == "omit":
        result = result + acc(0)
    return [(case.out, scaled(case, [result]))]


def op_sumsq(case):
    if is_small(case.dtype):
        squares = [float(sum(i * i for i in row)) for row in python_ints(elements(case)[0])]
        return [(case.out, scaled(case, [np.array(squares, dtype=F64)]))]
    acc = accumulator(case)
    parts, here = loaded(case, acc)
    return [(case.out, scaled(case, [folded(Squares(), parts, here, lanes_of(case.dtype), [acc(0)])[0]]))]


def op_logsumexp(case):
    acc = accumulator(case)
    parts, here = loaded(case, acc)
    m, s = folded(LogSumExp(), parts, here, lanes_of(case.dtype), [acc(-np.inf), acc(0)])
    result = np.where(np.isnan(m) | np.isinf(m), m, m + log(s))
    return [(case.out, scaled(case, [result]))]


def extremes(x, here, largest, empty):
    """Value and lowest position of each row's maximum or minimum: NaN wins, -0 is below +0."""
    found = np.full(x.shape[0], empty, dtype=x.dtype)
    index = np.full(x.shape[0], -1, dtype=I64)
    for row in range(x.shape[0]):
        at = np.nonzero(here[row])[0]
        y = x[row, at]
        if len(at) == 0:
            continue
        if y.dtype.kind == "f" and np.isnan(y).any():
            first = np.argmax(np.isnan(y))
            found[row], index[row] = np.nan, at[first]
            continue
        best = y.max() if largest else y.min()
        index[row] = at[np.argmax(y == best)]
        if best == 0 and y.dtype.kind == "f":
            signs = np.signbit(y[y == 0])
            best = y.dtype.type(-0.0 if (signs.all() if largest else signs.any()) else 0.0)
        found[row] = best
    return found, index


def op_extreme(case):
    parts = elements(case, logical=True)
    here = present(case, parts)
    empty = np.nan if parts[0].dtype.kind == "f" else 0
    wanted = {"min": [False], "argmin": [False], "minmax": [False, True]}.get(case.op, [True])
    outputs = []
    for largest in wanted:
        value, index = extremes(parts[0], here, largest, empty)
        if case.op.startswith("arg"):
            return [("i64", [index])]
        if case.dtype in FORMATS and not outputs:
            value = scaled(case, [value.astype(accumulator(case))])[0]
        outputs.append((case.dtype, [value]))
        if case.out2 and case.op != "minmax":
            outputs.append(("i64", [index]))
    return outputs


def op_truth(case):
    parts = elements(case)
    here = present(case, parts)
    true = np.logical_or.reduce([part != 0 for part in parts])
    if case.op == "any":
        return [(case.out, [(true & here).any(axis=1)])]
    if case.op == "all":
        return [(case.out, [(true | ~here).all(axis=1)])]
    return [("i64", [(true & here).sum(axis=1, dtype=I64)])]


def op_bits(case):
    parts = elements(case)[0].astype(U64)
    if case.op == "bit_and":
        folded_bits = np.bitwise_and.reduce(parts, axis=1, initial=U64(1 if case.dtype == "bool" else MASK64))
    else:
        folded_bits = (np.bitwise_or if case.op == "bit_or" else np.bitwise_xor).reduce(parts, axis=1)
    return [(case.dtype, [folded_bits])]


ANSWERS = {"sum": op_sum, "prod": op_prod, "mean": op_mean, "var": op_var, "std": op_var, "norm": op_norm,
           "sumsq": op_sumsq, "logsumexp": op_logsumexp, "min": op_extreme, "max": op_extreme,
           "minmax": op_extreme, "argmin": op_extreme, "argmax": op_extreme, "any": op_truth, "all": op_truth,
           "count_nonzero": op_truth, "bit_and": op_bits, "bit_or": op_bits, "bit_xor": op_bits}


# ---- golden lines -------------------------------------------------------------------------------

def printed(data):
    if len(data) <= 64:
        return data.hex()
    digest = 0xCBF29CE484222325
    for byte in data:
        digest = (digest ^ byte) * 0x100000001B3 & MASK64
    return "fnv1a64:%016x" % digest


def golden_line(text):
    case = parse(text)
    outputs = ANSWERS[case.op](case)
    return "\t".join([text] + [printed(encode(parts, dtype)) for dtype, parts in outputs])


# ---- which cases --------------------------------------------------------------------------------

REDUCIBLE_FLOATS = FLOATS + COMPLEX


def edges(dtype):
    """Extents about the edges of lines and chunks."""
    line = lanes_of(dtype)
    return [1, 2, line - 1, line, line + 1, 2 * line + line // 2 + 3, 16 * line - 1, 16 * line, 16 * line + 1,
            3 * 16 * line + 5 * line + 7, 5 * 16 * line + 3]


def wide(dtype):
    """The output in which the accumulator's bits show: f32 for the narrow formats."""
    return ":out=f32" if dtype in ("f16", "bf16") else ""


def rough(dtype):
    """The data whose sums round at almost every step: too narrow and they are exact, too wide and one rules."""
    return "uniform" if dtype in ("bf16", "f32", "c64") else "tailed"


def tree_cases():
    """Every float op with a tree: sum and var at every edge, the others where it is their turn."""
    others = ("mean", "sumsq", "prod", "norm2", "norm1", "std")
    for d, dtype in enumerate(REDUCIBLE_FLOATS):
        line = lanes_of(dtype)
        for k, n in enumerate(edges(dtype)):
            data = rough(dtype) if k % 4 else "tailed"
            yield "sum:%s:2x%d/1%s:data=%s:seed=%d" % (dtype, n, wide(dtype), data, k + 1)
            data = ("tailed", "uniform" if dtype[1] == "8" else "near", "uniform")[k % 3]
            yield "var%d:%s:%dx2/0%s:out2=1:data=%s:seed=%d" % (k % 2, dtype, n, wide(dtype), data, k + 2)
            if k > 1 and (k + d) % 3:
                op = others[(k + d) % 6]
                data = "near" if op == "prod" else rough(dtype)
                yield "%s:%s:2x%d/1%s:data=%s:seed=%d" % (op, dtype, n, wide(dtype), data, k + 3)
        yield "sum:%s:%d:data=%s:seed=31" % (dtype, 10 * 16 * line + line + 1, rough(dtype))
        yield "var0:%s:%d:data=%s:seed=32" % (dtype, 4 * 16 * line + 5, rough(dtype))


def int_cases():
    for k, dtype in enumerate(WHOLE):
        line = lanes_of(dtype)
        n = 3 * 16 * line + 7
        yield "sum:%s:2x%d/1" % (dtype, n)
        yield "sum:%s:5x3/0:out=%s:data=special" % (dtype, ("i8", "u16", "i32", "u64", "u8")[k % 5])
        if k % 2 == 0:
            yield "sum:%s:%d:out=%s:seed=2" % (dtype, n, ("f32", "f64")[line > 100])
        yield "prod:%s:2x9/1:seed=%d" % (dtype, k + 3)
        yield "prod:%s:2x%d/1:out=%s:seed=6" % (dtype, 3 if dtype == "bool" else 15, ("f64", "f32")[line > 100])
        yield "mean:%s:2x%d/1" % (dtype, n)
        yield "mean:%s:6x3/0:out=%s:data=special" % (dtype, ("f32", "bf16", "f16")[k % 3])
        yield "var:%s:2x%d/1:out2=1" % (dtype, n)
        yield "std0.5:%s:7x3/0:out=f32:data=special:out2=1" % dtype
        yield "sumsq:%s:2x%d/1" % (dtype, n)
        for p in ("0", "1", "2", "inf", "-inf")[k % 2::2] + ("2",):
            yield "norm%s:%s:3x%d/1:data=special:seed=8" % (p, dtype, 16 * line + 1 if p in "12" else 4)
    for k, dtype in enumerate(WHOLE):
        for op, n in (("bit_and", 3), ("bit_or", 2), ("bit_xor", 700)):
            yield "%s:%s:3x%d/1:seed=%d" % (op, dtype, n, k + 9)
    for k, dtype in enumerate(("i64", "u64", "i32", "u32")):
        for j, n in enumerate(edges(dtype)[2:9:2]):
            yield "%s:%s:2x%d/1:seed=12" % (("mean", "var", "norm2", "norm1")[(j + k) % 4], dtype, n)
    yield "sum:u8:20x2x300/0,2:seed=33"  # more runs than are added up at once
    yield "sum:i8:3x%d/1:seed=33" % (8192 + 77)
    yield "sum:f32:64x14720/1:data=tailed:seed=33"  # rows of eight chunks, the last of which is not whole
    yield "sum:f64:160x7360/1:data=tailed:seed=33"
    yield "sum:f32:8x4x256/0,2:data=tailed:seed=33"  # a chunk of several runs, each of whole lines
    yield "var:f32:6x3x512/0,2:data=near:seed=33"
    yield "sum:f32:9x1000/1:data=tailed:seed=33"  # lines, and a part of one
    yield "sum:bf16:9x1002/1:data=tailed:seed=33"


def choice_cases():
    """Ops that choose or count, and need no tree."""
    yield "argmax:f32:64x4096/1:data=ties:seed=33"  # rows of two chunks that follow each other
    yield "argmin:f64:48x2048/1:data=near:seed=33"
    for dtype in ("f32", "bf16", "f16", "f64"):  # zeros of both signs are the greatest of rows of several lines
        yield "argmax:%s:5x2100/1:data=zeros:seed=34" % dtype
        yield "max:%s:2x2100/1:data=zeros:out2=1:seed=35" % dtype
        yield "minmax:%s:2100x3/0:data=zeros:seed=36" % dtype
    for k, dtype in enumerate(EVERY):
        n = 3 * lanes_of(dtype) + 5
        if dtype not in COMPLEX:
            first, second = ("min", "max")[::1 if k % 2 else -1]
            yield "%s:%s:%dx4/0:data=ties:out2=1:seed=2" % (first, dtype, n)
            yield "%s:%s:16x3/1:data=special:out2=1:seed=3" % (second, dtype)
            yield "minmax:%s:16x4/1:data=special:seed=5" % dtype
            yield "argmin:%s:3x%d/1:data=%s:seed=6" % (dtype, n, ("uniform", "ties")[k % 2])
            yield "argmax:%s:8x5/1:data=special:seed=7" % dtype
        for j, op in enumerate(("any", "all")):
            yield "%s:%s:16x2/1:data=%s:seed=9%s" % (op, dtype, ("ties", "special")[(j + k) % 2], ":out=u8" * (k % 2))
        yield "count_nonzero:%s:16x3/1:data=%s:seed=12" % (dtype, ("ties", "special")[k % 2])


def omission_cases():
    short = ("sum", "prod", "mean", "var0", "std", "norm0", "norm1", "norm2", "norminf", "norm-inf", "sumsq",
             "any", "all", "count_nonzero")
    for k, dtype in enumerate(REDUCIBLE_FLOATS):
        line = lanes_of(dtype)
        for j, n in enumerate((line // 2 + 1, 2 * line + 5, 3 * 16 * line + line // 2 + 1)):
            if (j + k) % 3:
                yield "var:%s:2x%d/1:nan=omit%s:out2=1:data=holes:seed=%d" % (dtype, n, wide(dtype), k + 1)
            op = ("sum", "mean", "sumsq", "norm1")[(j + k) % 4]
            yield "%s:%s:2x%d/1:nan=omit%s:data=holes:seed=%d" % (op, dtype, n, wide(dtype), k + 2)
        for op in short[k % 3::3] + ("prod",):
            yield "%s:%s:12x2/1:nan=omit:data=%s:seed=3" % (op, dtype, ("holes", "special")[k // 2 % 2])
        if dtype not in COMPLEX:
            for op in ("min", "max", "argmin", "argmax", "minmax")[k % 2::2]:
                second = ":out2=1" if op in ("min", "max") else ""
                yield "%s:%s:12x2/1:nan=omit%s:data=holes:seed=4" % (op, dtype, second)
    yield "sum:i32:3x7/1:nan=omit:data=special"
    yield "mean:i64:3x7/1:nan=omit:data=special"
    yield "max:u8:3x7/1:nan=omit:out2=1"


def special_cases():
    """NaN, infinities, signed zeros and subnormals, propagated."""
    ops = ("sum", "prod", "mean", "var0", "std0", "sumsq", "norm0", "norm1", "norm2", "norminf", "norm-inf")
    for k, dtype in enumerate(REDUCIBLE_FLOATS):
        for op in ops if dtype in ("f32", "c128") else ops[k % 2::2]:
            yield "%s:%s:12x3/1:data=special:seed=%d" % (op, dtype, k + 21)
        yield "%s:%s:12%s:data=special:seed=22" % (("sum", "mean")[k % 2], dtype, ("/-", "x1/1")[k % 2])
        yield "sum:%s:12x2/1%s:data=ties:seed=24" % (dtype, ":nan=omit" * (k % 2))
    for dtype in COMPLEX:  # element 2 of this seed is (inf, NaN): its magnitude is inf
        yield "norminf:%s:2x2/1:data=special:seed=37" % dtype
        yield "norm1:%s:4x1/1:data=special:seed=37" % dtype


def logsumexp_cases():
    for k, dtype in enumerate(FLOATS):
        line = lanes_of(dtype)
        for j, n in enumerate((1, 3, line + 1, 16 * line + 1, 3 * 16 * line + 5 * line + 7)):
            data = ("uniform", "tailed", "near", "uniform", "tailed")[(j + k) % 5]
            yield "logsumexp:%s:2x%d/1%s:data=%s:seed=%d" % (dtype, n, wide(dtype), data, j + 1)
        yield "logsumexp:%s:%dx2/0:nan=omit%s:data=holes:seed=6" % (dtype, 2 * line + 9, wide(dtype))
        yield "logsumexp:%s:24x2/1:data=special:seed=%d" % (dtype, k + 7)
        if k % 2:
            yield "logsumexp:%s:16x2/1:nan=omit:data=special:seed=8" % dtype
    yield "logsumexp:f32:%d:data=tailed:seed=9" % (5 * 2048 + 3)
    yield "logsumexp:f64:3x%d/1:data=tailed:seed=10" % (1024 + 65)
    yield "logsumexp:f32:2x300/1:out=f64:data=tailed"
    yield "logsumexp:f64:2x300/1:out=bf16:data=uniform"
    yield "logsumexp:f32:2x300/1:alpha=0.3:beta=0.7"
    yield "logsumexp:f32:2x0/1"
    yield "logsumexp:f64:2x0/1"


def power_cases():
    """norm with a p that is raised to; where products and pow differ by an ulp too."""
    for k, dtype in enumerate(EVERY):
        p = ("3", "0.5", "2.5", "-1", "-2.5", "1.5")[k % 6]
        out = ":out=f32" if dtype in ("f16", "bf16", "i8") else ""
        yield "norm%s:%s:2x%d/1%s:data=near:seed=%d" % (p, dtype, lanes_of(dtype) * 2 + 3, out, k + 1)
        if dtype in FLOATS or dtype == "c64":
            yield "norm%s:%s:12x2/1:data=special:seed=%d" % (("2.5", "-0.5")[k % 2], dtype, k + 2)
    for k, p in enumerate(("3", "-1", "0.5", "40", "-3", "4", "0.3")):
        yield "norm%s:%s:3x%d/1:data=uniform:seed=%d" % (p, ("f32", "f64")[k % 2], 16 * (128 - 64 * (k % 2)) + 9, k + 3)
    for k, dtype in enumerate(("f16", "bf16", "f8e5m2", "f32", "f64", "c64", "c128")):
        yield "norm%d:%s:6x3/1:data=special:seed=%d" % (3 + k % 2, dtype, k + 40)
        yield "norm%d:%s:2x%d/1:data=tailed:seed=%d" % (4 - k % 2, dtype, lanes_of(dtype) * 2 + 5, k + 50)
    yield "norm4:f32:40x3/1:nan=omit:data=special:seed=60"
    yield "norm3:f64:40x2/1:data=uniform:seed=61"
    yield "norm4:f64:200x2/1:data=uniform:seed=62"
    yield "norm3:i32:100x2/1:data=uniform:seed=3"
    yield "norm4:i32:200x2/1:data=uniform:seed=3"
    yield "norm3:f32:200x2/1:out=f64:data=uniform:seed=3"
    yield "norm3:f32:30x40/0:nan=omit:data=special:seed=4"
    yield "norm4:bf16:70x24/0:data=near"
    yield "norm3:f32:2x70/1:out=f64:data=tailed"
    yield "norm2.5:c128:100:data=tailed"
    yield "norm-1:f16:12x2/1:nan=omit:data=holes:seed=2"
    yield "norm3:f32:12x2/1:nan=omit:data=holes:seed=2"
    yield "norm1.5:f32:2x0/1"


def output_cases():
    for d, dtype in enumerate(FLOATS):
        for k, out in enumerate(FLOATS):
            if out != dtype and (k + d) % 3:
                op = ("sum", "mean", "var", "norm2", "sumsq", "prod", "std0")[(k + 2 * d) % 7]
                yield "%s:%s:3x70/1:out=%s:data=%s:seed=%d" % (op, dtype, out, "near" if op == "prod" else "uniform", k)
        yield "sum:f64:24x3/1:out=%s:data=tailed:seed=3" % dtype
        yield "max:%s:24/-:data=special:seed=4" % dtype
        yield "sum:f32:48/-:out=%s:data=tailed:seed=5" % dtype
    for op in ("sum", "prod", "mean"):
        yield "%s:c64:2x70/1:out=c128:data=near" % op
        yield "%s:c128:2x70/1:out=c64:data=near" % op
    for op in ("var", "norm1", "norm2", "sumsq"):
        yield "%s:c64:2x70/1:out=f64:data=tailed" % op
        yield "%s:c128:2x70/1:out=f32:data=uniform" % op
    yield "var:f32:2x300/1:out=f64:out2=1:data=near"
    yield "var:c64:2x300/1:out=f64:out2=1:data=near"


def scale_cases():
    for k, dtype in enumerate(REDUCIBLE_FLOATS):
        ops = ("sum", "mean", "norm2", "var")
        yield "%s:%s:2x40/1:alpha=0.3:seed=%d" % (ops[k % 4], dtype, k + 1)
        yield "%s:%s:2x40/1:beta=0.7:seed=%d" % (ops[(k + 1) % 4], dtype, k + 2)
        for op in (ops[(k + 2) % 4], ops[(k + 3) % 4]):
            yield "%s:%s:2x3x40/2:ostrides=-4x1:alpha=-1.7:beta=0.1:seed=%d" % (op, dtype, k + 3)
    yield "prod:f32:3x5/1:alpha=0.3:beta=2.5:keep=1:ostrides=7x2"
    yield "norm1:c64:3x5/1:alpha=0.3:beta=2.5"
    yield "sumsq:u8:3x50/1:alpha=0.3:beta=2.5:out=f32"
    yield "mean:i32:3x50/1:alpha=0.3:beta=0.1:out=f32"
    yield "max:f32:3x50/1:alpha=0.3:beta=0.1:out2=1"
    yield "minmax:f64:3x50/1:alpha=0.3:beta=0.1"
    yield "var:bf16:3x50/1:alpha=0.3:beta=0.1:out2=1"


def order_cases():
    """Views: the canonical order of several axes, negative and zero strides, offsets, ranks, nothing at all."""
    views = ("16x64x40/0,2", "16x64x40/1", "16x64x40/0,1", "16x64x40/-1", "16x64x40", "300x70@1x300/0,1",
             "300x70@1x300/1", "300x70@-70x1+20930", "300x70@-70x-1+20999/0", "4x700@4096x-1+699/1",
             "5x700@0x1/1", "700x5@1x0/0", "9x40x30@30x0x1/1,2", "20x30x9@31x1x700/0,1", "6x5x4x3x7/0,2,4",
             "6x5x4x3x7/-4,-2", "8x8x8@1x8x64/0,1,2", "8x8x8@64x1x8/0,2", "30x30@30x30", "20x30@20x20",
             "20x30@-20x20+380", "1x700x1@9x2x5/0,1", "1000@3+11", "-", "-/-", "2x3/-", "1x1x1/1")
    for k, view in enumerate(views):
        for op in (("sum", "var0") if k < 8 else ("sum",)) if k < 20 else ("sum", "max"):
            yield "%s:f32:%s:data=%s:seed=%d" % (op, view, "uniform" if op == "sum" else "near", k + 1)
    for k, view in enumerate(views[:20:4]):
        yield "sum:bf16:%s:out=f32:data=uniform:seed=%d" % (view, k + 1)
        yield "norm2:c64:%s:data=uniform:seed=%d" % (view, k + 2)
        yield "argmax:i8:%s:data=ties:seed=%d" % (view, k + 3)
        yield "min:f16:%s:out2=1:data=ties:seed=%d" % (view, k + 4)
    yield "argmax:f32:256x4@1x256/0,1:data=ties:seed=3"  # lines of a chunk whose logical indices do not ascend
    yield "min:f32:512x6@1x512/0,1:out2=1:data=ties:seed=4"
    yield "sum:f32:64x1024x4/1:keep=1"
    yield "sum:f32:3x4x50/2:ostrides=1x3"
    yield "sum:f32:3x4x50/2:keep=1:ostrides=-4x1x9"


def empty_cases():
    ops = ("sum", "prod", "mean", "var", "any", "all", "count_nonzero", "norm2", "sumsq")
    for k, dtype in enumerate(EVERY):
        for op in ops if dtype in ("i64", "f32") else (ops[k % 9], ops[(k + 4) % 9]):
            yield "%s:%s:2x0/1%s" % (op, dtype, ":out2=1" if op == "var" else "")
        if dtype in ("bool", "u16", "i64"):
            yield "bit_and:%s:2x0/1" % dtype
            yield "bit_xor:%s:2x0/1" % dtype
    for p in ("0", "1", "inf"):
        yield "norm%s:f32:2x0/1" % p
    yield "max:f32:0x5/1"
    yield "argmin:i32:0x5/1"
    yield "sum:f32:0x5/0:alpha=0.5:beta=2:data=exact"
    yield "sum:f32:0x5/0:nan=omit"


def correction_cases():
    for k, correction in enumerate(("0", "0.5", "1", "2", "3", "-1.5")):
        for dtype in (("i8", "f32", "c64"), ("f16", "f64", "u32"))[k % 2]:
            yield "%s%s:%s:3x3/1:out2=1:seed=17" % (("var", "std")[k // 2 % 2], correction, dtype)
    yield "var0:f32:4x1/1:out2=1:data=special:seed=4"


def data_cases():
    for dtype in EVERY:
        for data in ("exact", "ties") if dtype in WHOLE else ("exact", "ties", "near", "holes"):
            yield "sum:%s:7/-:data=%s:seed=6" % (dtype, data)
    for dtype in ("i8", "u16", "i32", "f32", "c64"):
        yield "sum:%s:3x300/1:data=exact" % dtype
    for dtype in ("bf16", "f32", "f64", "c64"):  # of nothing but -0: sums keep it, prods and means of variances do not
        for op, rest in (("sum", ""), ("mean", ""), ("prod", ""), ("var", ":out2=1"), ("sum", ":nan=omit")):
            yield "%s:%s:3x300/1:data=minus%s" % (op, dtype, rest)
    for dtype in ("bf16", "f32", "f64", "c64"):  # halves of the smallest subnormal, whose sign a mean keeps
        for shape in ("2x16/0", "3x16/0", "7x16/0", "17x16/0", "300x16/0"):
            yield "var:%s:%s:data=tiny:out2=1" % (dtype, shape)
    yield "sum:i16:3x300/1:data=minus"
    yield "any:bool:3x300/1:data=minus"


def cases():
    families = (tree_cases, int_cases, choice_cases, omission_cases, special_cases, logsumexp_cases, power_cases,
                output_cases, scale_cases, order_cases, empty_cases, correction_cases, data_cases)
    return list(dict.fromkeys(text for family in families for text in family()))


# ---- the program --------------------------------------------------------------------------------

def golden():
    yield "# redax: golden answers, tree version %d, from tests/tree.py, which says what a line means." % TREE_VERSION
    yield "# To regenerate: python3 tests/tree.py; to compare: python3 tests/tree.py --check"
    for text in cases():
        yield golden_line(text)


def write():
    with open(GOLDEN, "w", encoding="ascii", newline="\n") as file:
        file.writelines(line + "\n" for line in golden())
    return 0


def check():
    with open(GOLDEN, encoding="ascii", newline="\n") as file:
        held = file.read().split("\n")
    wanted = list(golden()) + [""]
    for number in range(max(len(held), len(wanted))):
        have, want = (lines[number] if number < len(lines) else "(no line)" for lines in (held, wanted))
        if have != want:
            print("golden.txt:%d differs\n  file:  %s\n  model: %s" % (number + 1, have, want))
            return 1
    print("golden.txt: %d lines agree" % (len(wanted) - 1))
    return 0


def main(arguments):
    with np.errstate(all="ignore"):
        verify_arithmetic()
        verify_functions()
        if arguments == ["--check"]:
            return check()
        for text in arguments:
            print(golden_line(text))
        return 0 if arguments else write()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
