"""PyTorch on the CPU: the same bits as for NumPy's arrays, values beside PyTorch's own, and what its tensors bring of their own."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import redax
from views import BFLOAT16, EVERY, FLOATS, arrays, axes_of, reduced_size

torch = pytest.importorskip("torch")
E5M2, E4M3 = np.dtype(ml_dtypes.float8_e5m2), np.dtype(ml_dtypes.float8_e4m3fn)


def tensor_of(x):
    """A tensor in x's memory, with its strides; PyTorch has no negative ones."""
    assume(min(x.strides, default=0) >= 0 and x.dtype.name not in ("uint16", "uint32", "uint64"))
    narrow = {BFLOAT16: torch.bfloat16, E5M2: torch.float8_e5m2, E4M3: torch.float8_e4m3fn}.get(x.dtype)
    return torch.from_numpy(x.view(f"i{x.itemsize}")).view(narrow) if narrow else torch.from_numpy(x)


def raw(t):
    return t.view(torch.uint8).numpy().tobytes() if t.dtype in (torch.bfloat16, torch.float8_e5m2, torch.float8_e4m3fn) and t.ndim \
        else t.view(torch.int16).numpy().tobytes() if t.dtype == torch.bfloat16 else t.numpy().tobytes()


@pytest.mark.filterwarnings("ignore:.*not writable")
@given(st.data())
def test_bits_of_numpy(data):
    x = data.draw(arrays(EVERY))
    axis, keep = data.draw(axes_of(x)), data.draw(st.booleans())
    t = tensor_of(x)
    assert t.data_ptr() == x.__array_interface__["data"][0] or x.size == 0
    for name in ("sum", "prod", "mean", "var", "vector_norm", "any", "count_nonzero"):
        function = getattr(redax, name)
        result, expected = function(t, axis=axis, keepdims=keep), function(x, axis=axis, keepdims=keep)
        assert isinstance(result, torch.Tensor) and tuple(result.shape) == expected.shape and result.is_contiguous()
        assert raw(result) == expected.tobytes()


@pytest.mark.filterwarnings("ignore:.*not writable", "ignore:.*degrees of freedom")
@given(st.data())
def test_values_of_torch(data):
    """PyTorch in float64 is the reference; both are given the same float32."""
    x = data.draw(arrays(FLOATS[1:2], kinds=["plain", "small"]))
    axis = data.draw(axes_of(x, empty_ok=False))
    assume(reduced_size(x, axis) > 1 and x.ndim > 0)
    t = tensor_of(x)
    wide, dims = t.double(), axis if axis is not None else tuple(range(x.ndim))
    bound = {"rtol": 1e-5, "atol": 1e-5 * float(wide.abs().max()) if x.size else 0}
    spread = {"rtol": 1e-4, "atol": 1e-6 * float(wide.abs().max())**2 if x.size else 0}
    pairs = [
        (redax.mean(t, axis=axis), wide.mean(dims), bound),
        (redax.var(t, axis=axis, correction=1), wide.var(dims, correction=1), spread),
        (redax.std(t, axis=axis), wide.std(dims, correction=0), {"rtol": 1e-3, "atol": 1e-3 * float(wide.abs().max()) if x.size else 0}),
        (redax.logsumexp(t, axis=axis), wide.logsumexp(dims), bound),
        (redax.vector_norm(t, axis=axis, ord=3), torch.linalg.vector_norm(wide, 3, dims), bound),
        (redax.max(t, axis=axis), wide.amax(dims), {"rtol": 0, "atol": 0}),
        (redax.count_nonzero(t, axis=axis), wide.count_nonzero(dims), {"rtol": 0, "atol": 0}),
    ]
    for result, reference, tolerance in pairs:
        torch.testing.assert_close(result.double(), reference.double(), equal_nan=True, **tolerance)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2])
def test_narrow_floats(dtype):
    t = torch.tensor([[1, 2, 0.5], [4, -8, 16]]).to(dtype)
    assert redax.max(t).dtype == dtype and redax.max(t).float() == 16
    assert redax.sum(t, axis=1).tolist() == [3.5, 12]
    assert redax.sum(t, dtype=torch.float64).dtype == torch.float64


def test_refusals():
    t = torch.ones(3, dtype=torch.complex64)
    for refused, sentence in ((torch.ones(3, requires_grad=True), "gradient"), (t.conj(), "conjugate"),
                              (t.conj().imag, "negative"), (torch._neg_view(torch.ones(3)), "negative")):
        with pytest.raises(BufferError, match=sentence):
            redax.sum(refused)
    assert redax.sum(torch.ones(3, requires_grad=True).detach()) == 3
    with pytest.raises(TypeError, match="dtype"):
        redax.sum(torch.ones(3), dtype=torch.complex32)


def test_out_and_plans():
    t = torch.arange(12.0).reshape(3, 4)
    out = torch.zeros(4, 2)[:, 1]
    assert redax.sum(t, axis=0, out=out) is out and out.tolist() == [12, 15, 18, 21]
    low, high = torch.zeros(3), torch.zeros(3)
    assert redax.minmax(t, axis=1, out=(low, high))[1] is high and high.tolist() == [3, 7, 11]
    plan = redax.Plan("mean", t, axis=1)
    assert torch.equal(plan(t), t.mean(1)) and plan(t.numpy()).tolist() == t.mean(1).tolist()


def test_results_own_their_memory():
    results = [redax.sum(torch.full((10,), float(i))) for i in range(1000)]
    assert [r.item() for r in results] == [10.0 * i for i in range(1000)]
    assert len({r.data_ptr() for r in results}) == 1000
