"""Random arrays for the tests: a base array, and views of views of it."""

import math

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = [np.dtype(t) for t in ("f2", "f4", "f8")]
INTS = [np.dtype(t) for t in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")]
COMPLEX = [np.dtype(t) for t in ("c8", "c16")]
EVERY = FLOATS + INTS + COMPLEX + [BFLOAT16]
STEPS = ["transpose", "slice", "flip", "newaxis", "broadcast", "diagonal", "index"]


def values(rng, shape, dtype, kind):
    """kind: `plain` numbers around 0 or far from it, `small` whole numbers with ties, `special`: also NaN, inf, -0."""
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        low, high = (info.min, info.max) if kind == "plain" else (max(info.min, -3), 4)
        return rng.integers(low, high, size=shape, dtype=dtype, endpoint=True)
    if dtype.kind == "c":
        part = np.dtype("f4" if dtype == "c8" else "f8")
        made = np.empty(shape, dtype)
        made.real, made.imag = values(rng, shape, part, kind), values(rng, shape, part, kind)
        return made
    if kind == "small":
        return rng.integers(-4, 5, size=shape).astype(dtype)
    made = rng.standard_normal(shape) * 10.0 ** rng.integers(-2, 3) + rng.choice([0, 0, 100])
    if kind == "special":
        made = np.where(rng.random(shape) < 0.3, rng.choice([np.nan, np.inf, -np.inf, -0.0, 0.0], size=shape), made)
    return made.astype(dtype)


@st.composite
def shapes(draw):
    rank = draw(st.integers(0, 4))
    shape = [draw(st.sampled_from([0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 33])) for _ in range(rank)]
    if rank and draw(st.booleans()): # one long axis: several chunks
        shape[draw(st.integers(0, rank - 1))] = draw(st.sampled_from([100, 513, 2049, 5000, 20011]))
    while math.prod(shape) > 200_000:
        shape[shape.index(max(shape))] //= 4
    return tuple(shape)


def step(draw, view, name):
    rank = view.ndim
    if name == "newaxis" and rank < 6:
        return np.expand_dims(view, draw(st.integers(0, rank)))
    if rank == 0:
        return view
    axis = draw(st.integers(0, rank - 1))
    if name == "transpose":
        return view.transpose(draw(st.permutations(range(rank))))
    if name == "flip":
        return np.flip(view, axis)
    if name == "broadcast" and view.size < 50_000:
        return np.broadcast_to(view[..., None], (*view.shape, draw(st.integers(1, 4)))) if rank < 6 else view
    if name == "diagonal" and rank >= 2:
        return np.diagonal(view, draw(st.integers(-1, 1)), 0, rank - 1)
    if name == "index" and view.shape[axis] > 0:
        return view[(slice(None),) * axis + (draw(st.integers(-1, view.shape[axis] - 1)),)]
    if name == "slice":
        by = draw(st.sampled_from([1, 2, 3, -1, -2]))
        first = draw(st.integers(0, 2))
        cut = slice(first, None, by) if by > 0 else slice(None, first, by)
        return view[(slice(None),) * axis + (cut,)]
    return view


@st.composite
def arrays(draw, dtypes=EVERY, kinds=("plain", "small", "special")):
    """A view of a view of .. a random array."""
    dtype = draw(st.sampled_from(dtypes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    view = values(rng, draw(shapes()), dtype, draw(st.sampled_from(kinds)))
    if not isinstance(view, np.ndarray):
        view = np.asarray(view, dtype)
    for name in draw(st.lists(st.sampled_from(STEPS), max_size=4)):
        view = np.asarray(step(draw, view, name))
    return view


@st.composite
def axes_of(draw, array, empty_ok=True):
    """axis= for the array: None, an int, a tuple in any order."""
    rank = array.ndim
    which = draw(st.sampled_from(["none", "one", "some"]))
    if which == "none" or (rank == 0 and which == "one"):
        return None
    if which == "one":
        return draw(st.integers(-rank, rank - 1))
    some = draw(st.lists(st.integers(0, rank - 1), unique=True, min_size=0 if empty_ok else 1)) if rank else []
    return tuple(a - rank if draw(st.booleans()) else a for a in some)


def reduced_size(array, axis):
    axes = range(array.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return math.prod(array.shape[a] for a in axes)
