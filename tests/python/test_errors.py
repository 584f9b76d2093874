"""Wrong calls: the exception that a Python user expects, with the C library's sentence."""

import os
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import redax

x = np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize("axis, sentence", [
    (2, "axis 2 is out of range for rank 2"), (-3, "axis -3 is out of range"), ((0, -2), "given twice"),
    (1 << 40, "out of range"), ((0,) * 65, "65 axes")])
def test_axis(axis, sentence):
    for exception in (IndexError, ValueError, redax.AxisError):
        with pytest.raises(exception, match=sentence):
            redax.sum(x, axis=axis)
    with pytest.raises(redax.AxisError, match="axis 0 is out of range for rank 0"):
        redax.sum(np.float64(3), axis=0)


def test_axis_list_that_is_emptied_meanwhile():
    code = """if 1:
        import redax
        class Axis:
            def __index__(self):
                axes.clear()
                return 1 << 40
        axes = [Axis()]
        try:
            redax.sum(b"abc", axis=axes)
        except redax.AxisError:
            exit(7)"""
    freed_is_overwritten = dict(os.environ, PYTHONMALLOC="debug")
    assert subprocess.run([sys.executable, "-c", code], env=freed_is_overwritten).returncode == 7


@pytest.mark.parametrize("call, sentence", [
    (lambda: redax.sum(x, axis=1.5), "'float' object cannot be interpreted as an integer"),
    (lambda: redax.sum(x, axis="0"), "'str' object cannot be interpreted"),
    (lambda: redax.logsumexp(np.arange(3)), "logsumexp does not take i64"),
    (lambda: redax.max(x.astype(complex)), "max does not take c128"),
    (lambda: redax.sum(x, dtype=np.int32), "sum of f64 does not give i32; allowed: any floating dtype"),
    (lambda: redax.sum(x, dtype="float31"), "dtype 'float31' is none that redax knows"),
    (lambda: redax.sum(x, dtype="i8"), "none that redax knows"), # one byte to redax, eight to NumPy
    (lambda: redax.sum(x, dtype=object), "none that redax knows"),
    (lambda: redax.sum(np.array([None])), "holds no dtype that redax knows"),
    (lambda: redax.sum(x.astype(">f8")), "a buffer of format '>d'"),
    (lambda: redax.sum(x.astype(np.longdouble)), "a buffer of format 'g'"),
    (lambda: redax.sum(np.array(["a"])), "a buffer of format"),
    (lambda: redax.max(np.array(["2026-11"], "M8[D]")), "x holds no dtype that redax knows"),
    (lambda: redax.sum(np.ones(3, ml_dtypes.float8_e3m4)), "x holds no dtype that redax knows"),
    (lambda: redax.sum(np.ma.array([1.0], mask=[True])), "masked"),
    (lambda: redax.sum([1, 2]), "<class 'list'>: redax takes"),
    (lambda: redax.sum(3.0), "<class 'float'>: redax takes"),
    (lambda: redax.sum(), "takes one array by position"),
    (lambda: redax.sum(x, 0), "takes one array by position, the rest by name; 2 were given"),
    (lambda: redax.sum(x, correction=1), r"sum\(\) got an unexpected keyword argument 'correction'"),
    (lambda: redax.any(x, dtype=bool), "unexpected keyword argument 'dtype'"),
    (lambda: redax.var(x, correction="1"), "must be real number, not str"),
    (lambda: redax.minmax(x, out=x), "a pair of arrays"),
    (lambda: redax.var_mean(x.astype(complex), dtype="float16"), "var_mean of complex numbers does not give float16"),
    (lambda: redax.explain(x, "sum", 0, axis=1), "axis is given twice"),
    (lambda: redax.sum(x, dtype="float32", out=np.empty(())), "another dtype"),
    (lambda: redax.sum(x, out=np.empty((), int)), "sum of f64 does not give i64"),
])
def test_type(call, sentence):
    with pytest.raises(TypeError, match=sentence):
        call()


@pytest.mark.parametrize("call, sentence", [
    (lambda: redax.max(np.zeros((0, 2)), axis=0), "max of no elements has no value; the output has 2 elements"),
    (lambda: redax.argmin(np.zeros(0)), "argmin of no elements"),
    (lambda: redax.vector_norm(np.zeros(0), ord=-1), "no elements"),
    (lambda: redax.vector_norm(x, ord=float("nan")), "p is"),
    (lambda: redax.var(x, correction=float("inf")), "correction is"),
    (lambda: redax.sum(x, nan="drop"), "nan is 'drop'; it is 'propagate' or 'omit'"),
    (lambda: redax.sum(x, nan=None), "nan is None"),
    (lambda: redax.sum(x, out=np.empty(3)), "out has rank 1; the result has rank 0"),
    (lambda: redax.sum(x, axis=0, out=np.empty(3)), "3"),
    (lambda: redax.sum(x, axis=0, out=x[0]), "overlaps"),
    (lambda: redax.sum(x, axis=0, out=np.lib.stride_tricks.as_strided(np.empty(1), (4,), (0,))), "overlap"),
    (lambda: redax.sum(np.frombuffer(bytes(17), np.uint8)[1:].view(np.float64)), "in keeps 1 bytes of alignment; f64 needs 8"),
    (lambda: redax.sum(np.zeros(3, [("a", "i1"), ("b", "f8")])["b"]), "stride of 9 bytes"),
])
def test_value(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_first_failure_leaves_out_alone():
    out = np.full(3, 7.0)
    with pytest.raises(ValueError):
        redax.sum(x, axis=0, out=out)
    assert out.tolist() == [7, 7, 7]


def test_no_plugin_is_a_runtime_error():
    from producers import OnCuda
    if redax.info()["cuda"]:
        pytest.skip("CUDA is here: no refusal to see")
    with pytest.raises(RuntimeError, match="CUDA"):
        redax.sum(OnCuda(x))
    assert "CUDA" in redax.info()["cuda_refusal"]


def test_producers_own_errors_pass():
    class Broken:
        def __dlpack_device__(self):
            return 1, 0

        def __dlpack__(self, **_):
            raise ZeroDivisionError("mine")

    class NoCapsule(Broken):
        def __dlpack__(self, **_):
            return 3

    with pytest.raises(ZeroDivisionError, match="mine"):
        redax.sum(Broken())
    with pytest.raises((TypeError, ValueError)):
        redax.sum(NoCapsule())
