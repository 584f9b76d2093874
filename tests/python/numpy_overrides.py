"""A pytest plugin that puts redax's functions in the place of NumPy's, for the tests that NumPy installs:

    pytest -p numpy_overrides --pyargs numpy._core.tests.test_ufunc numpy._core.tests.test_umath \\
        numpy._core.tests.test_multiarray numpy.lib.tests.test_nanfunctions

The overrides translate arguments alone: lists become arrays, ddof and correction are the same, a scalar has an axis 0, a result
of rank 0 becomes a scalar. A test that asks for what redax has not (where=, initial=, object arrays ...) is skipped by that name.
Calls from inside NumPy, methods of ndarray and ufunc.reduce stay NumPy's. At the end it says how many tests reached redax, and
counts the skips."""

import collections
import functools
import sys

import numpy as np
import pytest

import redax

calls = 0
reached, skips = set(), collections.Counter()
missing = np._NoValue
KNOWN = "?bhilqBHILQefdFD"


def skip(what):
    skips[what] += 1
    pytest.skip(f"redax has no {what}")


def as_known(a):
    if not isinstance(a, (np.ndarray, np.generic)) and hasattr(type(a), "__array_function__"):
        skip("__array_function__ protocol")
    array = np.asanyarray(a)
    if type(array) is not np.ndarray:
        skip(f"subclass of ndarray ({type(array).__name__})")
    if array.dtype.char not in KNOWN:
        skip(f"dtype {array.dtype.name if array.dtype.kind not in 'SUV' else array.dtype.kind}")
    if not array.dtype.isnative:
        skip("dtype of the other byte order")
    if not array.flags.aligned:
        skip("misaligned input")
    return array


def run(name, a, axis=None, out=None, keepdims=missing, dtype=None, **options):
    global calls
    array = as_known(a)
    if name in ("min", "max", "argmin", "argmax") and array.dtype.kind == "c":
        skip("order of complex numbers")
    if array.ndim == 0 and axis in (0, -1):
        axis = None
    if dtype is not None:
        wanted = np.dtype(dtype)
        if wanted.char not in KNOWN:
            skip(f"dtype= of {wanted.name}")
        if not np.can_cast(array.dtype, wanted, "same_kind") or wanted.kind != array.dtype.kind:
            array = array.astype(wanted) # NumPy converts first
        options["dtype"] = wanted
    if isinstance(out, tuple):
        out, = out
    if out is not None:
        if type(out) is not np.ndarray or out.dtype.char not in KNOWN:
            skip("out= of another type")
        options["out"] = out
    if keepdims is not missing:
        options["keepdims"] = keepdims
    calls += 1
    try:
        result = getattr(redax, name)(array, axis=axis, **options)
    except redax.AxisError as error:
        raise np.exceptions.AxisError(str(error)) from None
    return result if out is not None else result[()]


def refuse(initial=missing, where=missing):
    if initial is not missing:
        skip("initial=")
    if where is not missing:
        skip("where=")


def adder(name, **fixed):
    def function(a, axis=None, dtype=None, out=None, keepdims=missing, initial=missing, where=missing):
        refuse(initial, where)
        return run(name, a, axis, out, keepdims, dtype, **fixed)
    return function


def chooser(name, **fixed):
    def function(a, axis=None, out=None, keepdims=missing, initial=missing, where=missing):
        refuse(initial, where)
        return run(name, a, axis, out, keepdims, **fixed)
    return function


def mean(a, axis=None, dtype=None, out=None, keepdims=missing, *, where=missing):
    refuse(where=where)
    return run("mean", a, axis, out, keepdims, dtype)


def nanmean(a, axis=None, dtype=None, out=None, keepdims=missing, *, where=missing):
    refuse(where=where)
    return run("mean", a, axis, out, keepdims, dtype, nan="omit")


def moment(name, **fixed):
    def function(a, axis=None, dtype=None, out=None, ddof=0, keepdims=missing, *, where=missing, mean=missing,
                 correction=missing):
        refuse(where=where)
        if mean is not missing:
            skip("mean=")
        if ddof and correction is not missing:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        return run(name, a, axis, out, keepdims, dtype, correction=ddof if correction is missing else correction, **fixed)
    return function


def truth(name):
    def function(a, axis=None, out=None, keepdims=missing, *, where=missing):
        refuse(where=where)
        return run(name, a, axis, out, keepdims)
    return function


def position(name, **fixed):
    def function(a, axis=None, out=None, *, keepdims=missing):
        return run(name, a, axis, out, keepdims, **fixed)
    return function


def count_nonzero(a, axis=None, *, keepdims=False):
    result = run("count_nonzero", a, axis, None, keepdims)
    return int(result) if axis is None and not keepdims else result


FUNCTIONS = {
    "sum": adder("sum"), "prod": adder("prod"), "mean": mean, "var": moment("var"), "std": moment("std"), "min": chooser("min"),
    "max": chooser("max"), "any": truth("any"), "all": truth("all"), "argmin": position("argmin"), "argmax": position("argmax"),
    "count_nonzero": count_nonzero,
    "nansum": adder("sum", nan="omit"), "nanprod": adder("prod", nan="omit"), "nanmean": nanmean,
    "nanvar": moment("var", nan="omit"), "nanstd": moment("std", nan="omit"), "nanmin": chooser("min", nan="omit"),
    "nanmax": chooser("max", nan="omit"), "nanargmin": position("argmin", nan="omit"),
    "nanargmax": position("argmax", nan="omit"),
}
CARRIERS = ("unittest", "contextlib.py", "functools.py", "numpy/testing", "_pytest", "numpy_overrides.py")


def called_by_a_test():
    """assert_raises(ValueError, np.max, x) calls for a test too."""
    frame = sys._getframe(2)
    while frame and any(name in frame.f_code.co_filename for name in CARRIERS):
        frame = frame.f_back
    return frame is not None and "/tests/" in frame.f_code.co_filename


def replace(name, function):
    original = getattr(np, name)

    @functools.wraps(original)
    def chosen(*args, **options):
        return function(*args, **options) if called_by_a_test() else original(*args, **options)
    setattr(np, name, chosen)


# Before the tests are imported: some keep lists of functions.
for name, function in {**FUNCTIONS, "amin": FUNCTIONS["min"], "amax": FUNCTIONS["max"]}.items():
    replace(name, function)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    before = calls
    try:
        return (yield)
    finally:
        if calls > before:
            reached.add(item.nodeid)


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"redax: {len(reached)} tests reached it with {calls} calls; functions replaced: {len(FUNCTIONS)}")
    for kind in ("passed", "failed", "skipped", "xfailed"):
        reports = [r for r in terminalreporter.stats.get(kind, []) if r.nodeid in reached]
        terminalreporter.write_line(f"  {kind}: {len(reports)} that reached redax")
    for what, count in skips.most_common():
        terminalreporter.write_line(f"  skipped: {count} for want of {what}")
