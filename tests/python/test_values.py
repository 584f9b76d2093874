"""Values of every function against NumPy in higher precision, over random views, dtypes and axes. The bounds are those of
docs/tree.md: an element passes at most d additions, and the result is rounded once."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

import redax
from views import BFLOAT16, COMPLEX, EVERY, FLOATS, INTS, arrays, axes_of, reduced_size

WIDE = np.longdouble
quiet = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def wide(x):
    """x in a precision in which NumPy's own errors do not matter; integers exactly, as Python's."""
    if x.dtype.kind in "biu":
        return x.astype(object)
    return x.astype(np.clongdouble if x.dtype.kind == "c" else WIDE)


def accumulator(x):
    return 2.0**-53 if x.dtype in (np.dtype("f8"), np.dtype("c16")) or x.dtype.kind in "biu" else 2.0**-24


def out_rounding(result):
    return {np.dtype("f2"): 2.0**-11, BFLOAT16: 2.0**-8}.get(result.dtype, 0)


def depth(n):
    return 16 + 10 + math.ceil(math.log2(max(n, 2)))


def check_close(result, reference, bound):
    """|result - reference| <= bound where the reference is finite; the same NaN and infinities elsewhere."""
    reference = np.asarray(reference)
    got = result.astype(np.clongdouble if result.dtype.kind == "c" else WIDE)
    assert got.shape == reference.shape
    if result.dtype.kind == "c":
        finite = np.isfinite(reference)
    else:
        limit = {np.dtype("f2"): 65504, np.dtype("f4"): 3.4e38}.get(result.dtype, np.inf)
        finite = np.isfinite(reference) & (abs(reference) < limit * (1 - 2.0**-10))
        special = ~np.isfinite(reference)
        assert np.array_equal(got[special], reference[special], equal_nan=True)
    bad = finite & ~(abs(got - reference) <= bound)
    assert not bad.any(), (got[bad], reference[bad], np.broadcast_to(bound, bad.shape)[bad])


@quiet
@given(st.data())
def test_sum_of_floats(data):
    x = data.draw(arrays(FLOATS + COMPLEX + [BFLOAT16]))
    axis, keep = data.draw(axes_of(x)), data.draw(st.booleans())
    result = redax.sum(x, axis=axis, keepdims=keep)
    assert result.dtype == x.dtype
    reference = np.sum(wide(x), axis=axis, keepdims=keep)
    total = np.sum(abs(wide(x)), axis=axis, keepdims=keep)
    bound = 1.01 * depth(reduced_size(x, axis)) * accumulator(x) * total + out_rounding(result) * abs(reference) + 1e-7 * (x.dtype == "f2")
    check_close(result, reference, bound)


@given(st.data())
def test_sum_and_prod_of_integers(data):
    x = data.draw(arrays(INTS))
    axis, keep = data.draw(axes_of(x)), data.draw(st.booleans())
    for function, name in (redax.sum, "sum"), (redax.prod, "prod"):
        result = function(x, axis=axis, keepdims=keep)
        assert result.dtype == ("u8" if x.dtype.kind == "u" else "i8")
        reference = getattr(np, name)(x, axis=axis, keepdims=keep, dtype=result.dtype)
        assert np.array_equal(result, reference)
        narrow = function(x, axis=axis, keepdims=keep, dtype=np.int16)
        assert np.array_equal(narrow, np.asarray(reference).astype(np.int16))


@quiet
@given(st.data())
def test_prod_of_floats(data):
    x = data.draw(arrays(FLOATS[1:], kinds=["small"]))
    axis = data.draw(axes_of(x))
    if reduced_size(x, axis) > 40:
        x = np.sign(x)
    result = redax.prod(x, axis=axis)
    reference = np.prod(wide(x), axis=axis)
    check_close(result, reference, 64 * accumulator(x) * abs(reference))


@quiet
@given(st.data())
def test_mean(data):
    x = data.draw(arrays(EVERY))
    axis, keep = data.draw(axes_of(x)), data.draw(st.booleans())
    result = redax.mean(x, axis=axis, keepdims=keep)
    assert result.dtype == (np.float64 if x.dtype.kind in "biu" else x.dtype)
    n = reduced_size(x, axis)
    if n == 0:
        assert np.isnan(result).all()
        return
    w = x.astype(WIDE) if x.dtype.kind in "biu" else wide(x)
    reference = np.sum(w, axis=axis, keepdims=keep) / n
    total = np.sum(abs(w), axis=axis, keepdims=keep) / n
    bound = 1.01 * (depth(n) + 1) * accumulator(x) * total + out_rounding(result) * abs(reference) + 1e-7 * (x.dtype == "f2")
    check_close(result, reference, bound)


@quiet
@given(st.data())
def test_var_std_and_var_mean(data):
    x = data.draw(arrays(EVERY))
    axis, keep = data.draw(axes_of(x)), data.draw(st.booleans())
    correction = data.draw(st.sampled_from([0, 0.0, 1, 1.5, -1, 7]))
    variance = redax.var(x, axis=axis, keepdims=keep, correction=correction)
    n = reduced_size(x, axis)
    both = redax.var_mean(x, axis=axis, keepdims=keep, correction=correction)
    assert np.array_equal(both[0], variance, equal_nan=True)
    deviation = redax.std(x, axis=axis, keepdims=keep, correction=correction)
    real = np.zeros(0, x.dtype).real.dtype if x.dtype != BFLOAT16 else BFLOAT16
    assert variance.dtype == deviation.dtype == (np.float64 if x.dtype.kind in "biu" else real)
    if n - correction <= 0 or n == 0:
        assert np.isnan(variance).all() and np.isnan(deviation).all()
        return
    w = x.astype(WIDE) if x.dtype.kind in "biu" else wide(x)
    mean = np.sum(w, axis=axis, keepdims=True) / n
    reference = np.sum(abs(w - mean)**2, axis=axis, keepdims=keep) / (n - WIDE(correction))
    largest = np.max(abs(w), axis=axis, keepdims=keep)
    u = accumulator(x)
    shift = depth(n) * u * largest # how far a partial mean may be off
    root = np.sqrt(reference)
    inner = (128 * u * reference + 2 * root * shift + 2 * shift**2) * (n / (n - correction)) + 1e-7 * (x.dtype == "f2")
    bound = inner + out_rounding(variance) * reference
    root_bound = np.minimum(np.sqrt(inner), inner / np.maximum(root, 1e-300)) + (out_rounding(variance) + 2 * u) * root \
        + 1e-7 * (x.dtype == "f2")
    usual = np.isfinite(np.sum(abs(w), axis=axis, keepdims=keep))
    zero = variance.dtype.type(0)
    check_close(np.where(usual, variance, zero), np.where(usual, reference, 0), np.where(usual, bound, 0))
    check_close(np.where(usual, deviation, zero), np.where(usual, root, 0), np.where(usual, root_bound, 0))
    assert np.isnan(variance.astype(np.float64)[~usual]).all() and np.isnan(deviation.astype(np.float64)[~usual]).all()
    check_close(np.where(usual, both[1], both[1].dtype.type(0)), np.where(usual, mean.reshape(both[1].shape), 0),
                np.where(usual, 1.01 * (depth(n) + 8) * u * largest + out_rounding(both[1]) * largest + 1e-7 * (x.dtype == "f2"), 0))


@quiet
@given(st.data())
def test_min_max_and_minmax(data):
    x = data.draw(arrays(FLOATS + INTS))
    axis, keep = data.draw(axes_of(x)), data.draw(st.booleans())
    if reduced_size(x, axis) == 0:
        if redax.sum(x, axis=axis).size:
            with pytest.raises(ValueError, match="no elements"):
                redax.max(x, axis=axis)
        return
    low, high = redax.min(x, axis=axis, keepdims=keep), redax.max(x, axis=axis, keepdims=keep)
    both = redax.minmax(x, axis=axis, keepdims=keep)
    assert low.dtype == high.dtype == x.dtype
    assert np.array_equal(low, x.min(axis=axis, keepdims=keep), equal_nan=x.dtype.kind == "f")
    assert np.array_equal(high, x.max(axis=axis, keepdims=keep), equal_nan=x.dtype.kind == "f")
    assert both[0].tobytes() == low.tobytes() and both[1].tobytes() == high.tobytes()
    zeros = x == 0
    if x.dtype.kind == "f": # where the smallest is a zero it is -0 if there is one
        negative = (zeros & np.signbit(x)).any(axis=axis, keepdims=keep)
        assert np.array_equal(np.signbit(low)[low == 0], negative[low == 0])


@given(st.data())
def test_argmin_and_argmax(data):
    x = data.draw(arrays(FLOATS + INTS))
    axis, keep = data.draw(axes_of(x)), data.draw(st.booleans())
    if reduced_size(x, axis) == 0:
        return
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = sorted(a % x.ndim for a in axes)
    kept = [a for a in range(x.ndim) if a not in axes]
    flat = x.transpose(kept + axes).reshape([x.shape[a] for a in kept] + [reduced_size(x, axis)])
    shape = [1 if a in axes else x.shape[a] for a in range(x.ndim)] if keep else [x.shape[a] for a in kept]
    for function, peer in (redax.argmin, np.argmin), (redax.argmax, np.argmax):
        result = function(x, axis=axis, keepdims=keep)
        assert result.dtype == np.int64
        assert np.array_equal(result, peer(flat, axis=-1).reshape(shape))


@given(st.data())
def test_any_all_and_count(data):
    x = data.draw(arrays(EVERY))
    axis, keep = data.draw(axes_of(x)), data.draw(st.booleans())
    truth = x != 0
    assert np.array_equal(redax.any(x, axis=axis, keepdims=keep), truth.any(axis=axis, keepdims=keep))
    assert np.array_equal(redax.all(x, axis=axis, keepdims=keep), truth.all(axis=axis, keepdims=keep))
    count = redax.count_nonzero(x, axis=axis, keepdims=keep)
    assert count.dtype == np.int64 and np.array_equal(count, truth.sum(axis=axis, keepdims=keep))


@quiet
@given(st.data())
def test_vector_norm(data):
    x = data.draw(arrays(FLOATS[1:] + COMPLEX, kinds=["plain", "small"]))
    axis, order = data.draw(axes_of(x)), data.draw(st.sampled_from([0, 1, 2, 3, 0.5, 2.5, math.inf, -math.inf, -1]))
    if reduced_size(x, axis) == 0:
        return
    result = redax.vector_norm(x, axis=axis, ord=order)
    size = abs(wide(x))
    if order == 0:
        reference = (size != 0).sum(axis=axis)
    elif math.isinf(order):
        reference = (np.max if order > 0 else np.min)(size, axis=axis)
    else:
        reference = np.sum(size**WIDE(order), axis=axis)**(1 / WIDE(order))
    assert result.dtype == np.zeros(0, x.dtype).real.dtype
    check_close(result, reference, 1.01 * (depth(reduced_size(x, axis)) + 8) * accumulator(x) * abs(np.asarray(reference)) * max(1, abs(1 / order) if order else 1))


@quiet
@given(st.data())
def test_logsumexp(data):
    x = data.draw(arrays(FLOATS))
    axis, keep = data.draw(axes_of(x)), data.draw(st.booleans())
    result = redax.logsumexp(x, axis=axis, keepdims=keep)
    if reduced_size(x, axis) == 0:
        assert (result == -np.inf).all()
        return
    w = wide(x)
    top = np.max(w, axis=axis, keepdims=True)
    shift = np.where(np.isfinite(top), top, 0)
    reference = np.log(np.sum(np.exp(w - shift), axis=axis, keepdims=True)) + shift
    reference = reference.reshape(result.shape)
    bound = (depth(reduced_size(x, axis)) + 16) * accumulator(x) * (1 + abs(reference)) + out_rounding(result) * abs(reference) + 1e-7
    check_close(result, reference, np.where(np.isfinite(reference), bound, 0))


@quiet
@given(st.data())
def test_omitting_nan(data):
    x = data.draw(arrays(FLOATS[1:], kinds=["special"]))
    axis = data.draw(axes_of(x))
    count = np.sum(~np.isnan(x), axis=axis)
    if reduced_size(x, axis) == 0:
        return
    total = np.nansum(wide(x), axis=axis)
    bound = 1.01 * depth(reduced_size(x, axis)) * accumulator(x) * np.nansum(abs(wide(x)), axis=axis)
    check_close(redax.sum(x, axis=axis, nan="omit"), total, bound)
    mean = redax.mean(x, axis=axis, nan="omit")
    check_close(mean, np.where(count > 0, total / np.maximum(count, 1), np.nan), bound * 1.1 / np.maximum(count, 1) + accumulator(x) * abs(np.nan_to_num(total)))
    low = redax.min(x, axis=axis, nan="omit")
    assert np.array_equal(low, np.where(count > 0, np.nanmin(np.where(np.isnan(x), np.inf, x), axis=axis), np.nan), equal_nan=True)
    position = redax.argmax(x, axis=axis, nan="omit")
    assert np.array_equal(position == -1, count == 0)


@quiet
@given(st.data())
def test_wider_results_widen_the_additions(data):
    x = data.draw(arrays([np.dtype("f2"), np.dtype("f4"), BFLOAT16]))
    axis = data.draw(axes_of(x))
    result = redax.sum(x, axis=axis, dtype=np.float64)
    total = np.sum(abs(wide(x)), axis=axis)
    check_close(result, np.sum(wide(x), axis=axis), depth(reduced_size(x, axis)) * 2.0**-53 * total * 1.01)


@given(st.data())
def test_one_answer_whatever_the_way(data):
    """out=, Plan, another layout of the kept axes, one thread: the same bits."""
    x = data.draw(arrays(EVERY))
    axis = data.draw(axes_of(x))
    name = data.draw(st.sampled_from(["sum", "mean", "var", "std", "vector_norm", "count_nonzero", "any"]))
    function = getattr(redax, name)
    expected = function(x, axis=axis)
    out = np.empty(expected.shape[::-1], expected.dtype).T
    function(x, axis=axis, out=out)
    redax.set_threads(1)
    alone = function(x, axis=axis)
    redax.set_threads(0)
    assert out.tobytes() == expected.tobytes() == alone.tobytes() == redax.Plan(name, x, axis=axis)(x).tobytes()
