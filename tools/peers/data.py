"""What inputs hold, the same for every peer, and what the outputs must then be.

Storage position s holds element s mod 1048573 of a block: a prime, so that no stride meets its own data again. Floats are in
(-1, 1), integers in [-100, 100], or [0, 100], and one bool in a million is true.
"""

import numpy as np

from .cases import kind

PERIOD = 1048573  # elements
MOST_CHECKED = 1 << 22  # reduced elements of one output that are still worth a second computation
CONTAINERS = {"bf16": "u2", "f8e4m3": "u1", "f8e5m2": "u1"}  # what NumPy holds it in
NUMPY = {"bool": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8",
         "f16": "f2", "f32": "f4", "f64": "f8", "c64": "c8", "c128": "c16"}


def container(dtype):
    return np.dtype(CONTAINERS.get(dtype) or NUMPY[dtype])


def block(dtype, count=PERIOD):
    """The first `count` elements, at most PERIOD, in a NumPy container of the same size."""
    rng = np.random.default_rng(1)
    real = rng.random(PERIOD) * 2 - 1
    if dtype == "bf16":
        made = (real.astype("f4").view("u4") >> 16).astype("u2")
    elif dtype.startswith("f8"):
        mantissa, low, high = (3, 1, 7) if dtype == "f8e4m3" else (2, 9, 15)  # exponents of numbers below 1
        bits = rng.integers(0, 2, PERIOD) << 7 | rng.integers(low, high, PERIOD) << mantissa
        made = (bits | rng.integers(0, 1 << mantissa, PERIOD)).astype("u1")
    elif kind(dtype) == "b":
        made = real > 0.999998
    elif kind(dtype) == "c":
        made = (real + 1j * (rng.random(PERIOD) * 2 - 1)).astype(NUMPY[dtype])
    else:
        made = (real * 100 if kind(dtype) == "i" else (real + 1) * 50 if kind(dtype) == "u" else real).astype(NUMPY[dtype])
    return np.ascontiguousarray(made[:count])


def widened(dtype, values):
    """The same numbers in a type that NumPy computes in."""
    if dtype == "bf16":
        return (values.astype("u4") << 16).view("f4").astype("f8")
    if dtype.startswith("f8"):
        mantissa, bias = (3, 7) if dtype == "f8e4m3" else (2, 15)
        exponent = (values >> mantissa & (15 if mantissa == 3 else 31)).astype("i4")
        size = (1 + (values & (1 << mantissa) - 1) / (1 << mantissa)) * np.exp2((exponent - bias).astype("f8"))
        return np.where(values >> 7 != 0, -size, size)
    return values.astype({"f": "f8", "c": "c16", "b": "?", "u": "u8"}.get(kind(dtype), "i8"))


def positions(case):
    """Row-major numbers of the outputs that are compared."""
    last = case.outputs - 1
    return sorted({0, last // 3, last}) if case.outputs else []


def elements_of(case, position):
    """Values of one output's elements in row-major order of the reduced axes."""
    offset = case.offset - case.low
    for d in reversed(case.kept):
        position, at = divmod(position, case.shape[d])
        offset += at * case.strides[d]
    where = np.array([offset], "i8")
    for d in case.axes:
        where = (where[:, None] + np.arange(case.shape[d], dtype="i8") * case.strides[d]).reshape(-1)
    return widened(case.dtype, block(case.dtype)[where % PERIOD])


def _logsumexp(x):
    return x.max() + np.log(np.exp(x - x.max()).sum())


def _norm(x, p):
    size = np.abs(x.astype("c16" if x.dtype.kind == "c" else "f8"))
    if p == 0:
        return float(np.count_nonzero(size))
    return size.max() if p == np.inf else size.min() if p == -np.inf else (size ** p).sum() ** (1 / p)


def expected(case, x):
    """[first output, second output ...] of the elements `x`."""
    op, real = case.op, x.astype("f8") if x.dtype.kind in "biu" else x
    simple = {"mean": lambda: real.mean(), "sumsq": lambda: (np.abs(real) ** 2).sum(), "any": lambda: x.any(),
              "all": lambda: x.all(), "count_nonzero": lambda: np.count_nonzero(x), "logsumexp": lambda: _logsumexp(real),
              "norm": lambda: _norm(x, case.param), "minmax": lambda: (x.min(), x.max())}
    if op in ("sum", "prod"):
        whole = "u8" if x.dtype.kind == "u" else "i8"
        first = getattr(np, op)(x, dtype=whole if x.dtype.kind in "biu" and kind(case.outs[0]) in "iu" else real.dtype)
    elif op in ("var", "std"):
        first = getattr(np, op)(real, ddof=case.param)
    elif op.startswith("bit_"):
        first = getattr(np, f"bitwise_{op[4:]}").reduce(x)
    elif op in ("min", "max", "argmin", "argmax"):
        first = getattr(np, op)(x)
    else:
        first = simple[op]()
    return list(first) if isinstance(first, tuple) else [first]


def agrees(case, outputs):
    """True, False, or None where checking would take too long. outputs: for each output of the case its values at
    positions(case)."""
    if case.reduced > MOST_CHECKED or case.omit or case.reduced == 0:
        return None
    with np.errstate(all="ignore"):
        return all(_agrees_at(case, elements_of(case, place), [values[i] for values in outputs])
                   for i, place in enumerate(positions(case)))


def _agrees_at(case, x, got):
    if case.op in ("argmin", "argmax"):  # of equal ones any may be named
        return 0 <= int(got[0]) < x.size and x[int(got[0])] == (x.max() if case.op == "argmax" else x.min())
    for value, right in zip(got, expected(case, x)):
        if kind(case.outs[0]) in "biu" or case.op in ("min", "max", "minmax"):
            if kind(case.outs[0]) in "iu":
                value, right = int(value) % (1 << 64), int(right) % (1 << 64)
            if value != right:
                return False
            continue
        loose = {"f16": 4e-2, "bf16": 4e-2, "f32": 2e-3, "c64": 2e-3}.get(case.outs[0], 1e-6)
        # sums of numbers of either sign may cancel: the measure is what was added
        scale = max(abs(right), float(np.sqrt(x.size)) if case.op == "sum" else 0.0, 1.0 if case.op == "mean" else 0.0)
        least = {"f16": 1e-6}.get(case.outs[0], 1e-37)  # products underflow
        if not abs(value - right) <= loose * scale + least:
            return False
    return True
