"""CUDA: the same bits as NumPy input gives, on the stream that the array's library works on, without synchronising.

Needs a GPU, the CUDA plugin (`make cuda`, or RDX_CUDA_PLUGIN) and PyTorch, CuPy or JAX with CUDA: see on_gpu.sh. Without a GPU
the first part runs on the CUDA emulator, whose device memory is the host's: `make check-python` does, where build-emu is there."""

import ctypes
import os
import pathlib
import shutil
import subprocess
import sys
import types

import ml_dtypes
import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

import redax
from producers import Exchange, OnCuda, Tensor, api
from views import BFLOAT16, COMPLEX, EVERY, FLOATS, INTS, arrays, axes_of

refusal = redax.info()["cuda_refusal"]
emulated = os.environ.get("REDAX_EMULATED") == "1"
pytestmark = pytest.mark.skipif(refusal is not None, reason=f"no CUDA here: {refusal}")
FUNCTIONS = ["sum", "prod", "mean", "var", "std", "var_mean", "min", "max", "minmax", "argmin", "argmax", "any", "all",
             "count_nonzero", "vector_norm", "logsumexp"]


def takes(name, dtype):
    kind = "f" if dtype == BFLOAT16 else dtype.kind
    return {"logsumexp": kind == "f", "min": kind != "c", "max": kind != "c", "minmax": kind != "c", "argmin": kind != "c",
            "argmax": kind != "c"}.get(name, True)


def bits(result):
    return [np.asarray(r).tobytes() for r in (result if isinstance(result, tuple) else (result,))]


def same_on_both(name, on_host, on_device, back, **options):
    """The device's results, as NumPy's arrays, or the same exception on both."""
    function = getattr(redax, name)
    try:
        expected = function(on_host, **options)
    except ValueError as refused:
        with pytest.raises(ValueError) as raised:
            function(on_device, **options)
        assert str(raised.value) == str(refused)
        return
    try:
        result = function(on_device, **options)
    except TypeError as refused: # a plugin of fewer kernels
        assume("debug build" not in str(refused))
        raise
    results = result if isinstance(result, tuple) else (result,)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for got, wanted in zip(map(back, results), expected):
        assert got.shape == wanted.shape and got.dtype.itemsize == wanted.dtype.itemsize
        assert got.tobytes() == wanted.tobytes(), (got, wanted)


# ---- On the emulator: device memory is the host's ----

def synchronise():
    """rdx_shutdown frees a workspace, which waits for the device: so there must be one. Until then the arrays must stay."""
    x = OnCuda(np.ones(100_000, np.float32))
    total = redax.sum(x)
    ctypes.CDLL(str(pathlib.Path(redax.__file__).parent / "libredax.so.0")).rdx_shutdown()
    del x, total


def from_emulator(result):
    synchronise() # until then about half of the work has not been done
    return result.array if isinstance(result, (OnCuda, Exchange)) else result


only_emulated = pytest.mark.skipif(not emulated, reason="the emulator's part: REDAX_EMULATED=1 and its plugin")


@only_emulated
@settings(max_examples=40)
@given(st.data())
def test_emulated_bits(data):
    x = data.draw(arrays(FLOATS + INTS + COMPLEX))
    assume(x.size < 5000)
    name = data.draw(st.sampled_from([n for n in FUNCTIONS if takes(n, x.dtype)]))
    same_on_both(name, x, OnCuda(x), from_emulator, axis=data.draw(axes_of(x)))


@only_emulated
def test_emulated_streams_and_plans():
    x = np.random.default_rng(3).standard_normal((3, 2000)).astype(np.float32)
    OnCuda.streams.clear()
    assert from_emulator(redax.sum(OnCuda(x), axis=1)).tobytes() == redax.sum(x, axis=1).tobytes()
    assert set(OnCuda.streams) == {1} # a producer without a current stream: the legacy default stream waits
    plan = redax.Plan("var", OnCuda(x), axis=None)
    for _ in range(3):
        assert from_emulator(plan(OnCuda(x))).tobytes() == redax.var(x).tobytes()
    with pytest.raises(ValueError, match="another device"):
        plan(x)
    with pytest.raises(ValueError, match="out is on device 1:0 but in is on 2:0"):
        redax.sum(OnCuda(x), out=np.empty((), np.float32))


@pytest.fixture
def driver(tmp_path):
    """A stand-in for CUDA's driver that says what it is told: the number of a capture, and of a stream (0: always another)."""
    compiler = shutil.which("cc")
    if not compiler:
        pytest.skip("needs a C compiler")
    (tmp_path / "driver.c").write_text("""
        unsigned long long capture, number, others = 100;
        int cuStreamGetCaptureInfo(void *stream, int *state, unsigned long long *id)
        { *state = capture != 0, *id = capture; return 0; }
        int cuStreamGetId(void *stream, unsigned long long *id)
        { *id = number ? number : __atomic_add_fetch(&others, 1, 0); return 0; }""")
    library = tmp_path / "libcuda.so.1"
    subprocess.run([compiler, "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", library, tmp_path / "driver.c"], check=True)
    return ctypes.CDLL(str(library))


PLANS = """
import ctypes, sys, threading
import numpy as np, redax
from producers import OnCuda
from test_cuda import synchronise
driver = ctypes.CDLL(sys.argv[1])
capture, number = (ctypes.c_ulonglong.in_dll(driver, name) for name in ("capture", "number"))

class Counted(OnCuda):
    made = []

    def __init__(self, array):
        self.made.append(array.nbytes)
        super().__init__(array)

x = Counted(np.ones(100_000, np.float32))
plan = redax.Plan("sum", x)
"""


def plans_with(driver, code):
    """In a process of its own: the extension looks for the driver once."""
    environment = dict(os.environ, PYTHONMALLOC="debug", PYTHONPATH=os.pathsep.join([os.path.dirname(__file__), *sys.path]))
    subprocess.run([sys.executable, "-X", "faulthandler", "-c", PLANS + code, driver._name], check=True, env=environment)


@only_emulated
def test_emulated_plan_in_captures(driver):
    """A workspace that one capture readied is ready when its graph runs: no other capture has it, nor a call outside. Streams
    are told apart by number."""
    plans_with(driver, """
made = []
for capture.value, number.value in [(0, 1), (0, 1), (5, 1), (5, 1), (6, 1), (0, 1), (0, 2)]:
    Counted.made.clear()
    result = plan(x)
    synchronise()
    assert result.array == 100_000
    made.append(len(Counted.made) - 1)
assert made == [1, 0, 1, 0, 1, 0, 1], made
""")


@only_emulated
def test_emulated_plan_from_many_threads(driver):
    """Each call is on another stream, so that all make workspaces, some of them at once."""
    plans_with(driver, """
sys.setswitchinterval(1e-6)
results = []
threads = [threading.Thread(target=lambda: results.extend(plan(x) for _ in range(20))) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
synchronise()
assert len(results) == 80 and all(result.array == 100_000 for result in results)
""")


@only_emulated
def test_emulated_exchange_api():
    x = np.arange(7.0)
    Exchange.device_type = 2
    Exchange.calls.clear()
    try:
        assert from_emulator(redax.sum(Exchange(x))) == 21
    finally:
        Exchange.device_type = 1
    assert Exchange.calls == ["managed_from_object", "current_stream", "allocate", "object_from_managed"]


class FakeJax:
    """What redax asks of JAX, in place of it: from_dlpack takes the streams 1, 2, .. in turn, as JAX does."""

    def __init__(self, patch):
        self.streams, self.waits = [], []
        jax, numpy = types.ModuleType("jax"), types.ModuleType("jax.numpy")
        jax.numpy, numpy.from_dlpack, numpy.uint8 = numpy, self.from_dlpack, np.uint8
        numpy.empty = lambda n, dtype, device: self.array(np.empty(n, dtype))
        patch.setitem(sys.modules, "jax", jax)
        patch.setitem(sys.modules, "jax.numpy", numpy)

    def array(self, array):
        return type("Array", (FakeJaxArray,), {"__module__": "jax"})(self, array)

    def from_dlpack(self, result):
        self.streams.append(len(self.streams) + 1)
        capsule = result.__dlpack__(stream=self.streams[-1])
        tensor = ctypes.cast(api.PyCapsule_GetPointer(capsule, b"dltensor"), ctypes.POINTER(Tensor)).contents
        tensor.device_type = 1
        synchronise()
        return self.array(np.from_dlpack(Capsule(capsule)))


class Capsule:
    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return 1, 0


class FakeJaxArray:
    def __init__(self, jax, array):
        self.jax, self.array, self.shape, self.dtype, self.device = jax, array, array.shape, array.dtype, None

    def __dlpack__(self, *, stream=None, **_):
        self.jax.waits.append(stream)
        return OnCuda(self.array).__dlpack__(stream=stream, max_version=(1, 0))

    def __dlpack_device__(self):
        return 2, 0

    def is_ready(self):
        return True

    def is_deleted(self):
        return False


@only_emulated
def test_emulated_jax_of_two_results(monkeypatch):
    """The second result is asked for on another stream than the reduction is on: that waits for the first result."""
    jax = FakeJax(monkeypatch)
    x = np.random.default_rng(4).standard_normal((4, 9)).astype(np.float32)
    spread, mean = redax.var_mean(jax.array(x), axis=1, out=None)
    assert [r.array.tobytes() for r in (spread, mean)] == [r.tobytes() for r in redax.var_mean(x, axis=1)]
    assert jax.streams == [1, 2] and jax.waits == [1, 1, 1, 2] # memory for two, x, and then the first result


@only_emulated
def test_emulated_jax():
    """JAX's arrays on CUDA, by arrays of the CPU's that say so: the reduction waits until from_dlpack names the stream."""
    jax = pytest.importorskip("jax")
    told = []

    class Told:
        def __init__(self, array):
            self.array, self.shape, self.dtype, self.device = array, array.shape, array.dtype, None

        def __dlpack__(self, *, stream=None, **_):
            told.append(stream)
            return OnCuda(np.asarray(self.array)).__dlpack__(stream=stream, max_version=(1, 0))

        def __dlpack_device__(self):
            return 2, 0

    Told.__module__ = "jax.of_this_test"
    x = np.random.default_rng(4).standard_normal((4, 9)).astype(np.float32)
    taken = []

    def from_dlpack(result):
        assert result.__dlpack_device__() == (2, 0) and told == []
        taken.append(result.__dlpack__(stream=None))
        return jax.numpy.zeros(3)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jax.numpy, "from_dlpack", from_dlpack)
        patch.setattr(jax.numpy, "empty", lambda n, dtype, device: OnCuda(np.empty(n, dtype)))
        OnCuda.__dlpack__.__kwdefaults__["max_version"] = (1, 0)
        try:
            redax.sum(Told(x), axis=1)
        finally:
            OnCuda.__dlpack__.__kwdefaults__["max_version"] = None
    synchronise()
    assert told == [1] and len(taken) == 1
    address = api.PyCapsule_GetPointer(taken[0], b"dltensor").contents # a managed tensor from before 1.0 begins with its tensor
    result = np.ctypeslib.as_array(ctypes.cast(ctypes.cast(ctypes.pointer(address), ctypes.POINTER(Tensor)).contents.data,
                                               ctypes.POINTER(ctypes.c_float)), (4,))
    assert result.tobytes() == redax.sum(x, axis=1).tobytes()
    with pytest.raises(ValueError, match="never written"):
        redax.sum(Told(x), out=np.empty(()))


# ---- On a GPU ----

class Torch:
    negative_strides, layouts = False, True

    def __init__(self):
        self.torch = pytest.importorskip("torch")
        if not self.torch.cuda.is_available():
            pytest.skip("PyTorch sees no GPU here")

    def flat(self, array): # NumPy's bf16 and f8 travel as integers
        names = {BFLOAT16: "bfloat16", np.dtype(ml_dtypes.float8_e4m3fn): "float8_e4m3fn",
                 np.dtype(ml_dtypes.float8_e5m2): "float8_e5m2"}
        if array.dtype in names:
            plain = self.torch.from_numpy(array.view(f"i{array.dtype.itemsize}").copy())
            return plain.cuda().view(getattr(self.torch, names[array.dtype]))
        return self.torch.from_numpy(array.copy()).cuda()

    def strided(self, flat, shape, strides, offset):
        return flat.as_strided(shape, strides, offset)

    def back(self, result):
        assert result.is_cuda
        host = result.cpu()
        if host.dtype in (self.torch.bfloat16, self.torch.float8_e4m3fn, self.torch.float8_e5m2):
            return host.view(self.torch.int16 if host.itemsize == 2 else self.torch.int8).numpy()
        return host.numpy()


class Cupy:
    negative_strides, layouts = True, True

    def __init__(self):
        self.cupy = pytest.importorskip("cupy")
        if self.cupy.cuda.runtime.getDeviceCount() == 0:
            pytest.skip("CuPy sees no GPU here")

    def flat(self, array):
        if array.dtype in (BFLOAT16, np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e5m2)):
            pytest.skip("CuPy has no such dtype")
        return self.cupy.asarray(array)

    def strided(self, flat, shape, strides, offset):
        size = flat.dtype.itemsize
        return self.cupy.ndarray(shape, flat.dtype, flat.data + offset * size, [s * size for s in strides])

    def back(self, result):
        assert isinstance(result, self.cupy.ndarray)
        return self.cupy.asnumpy(result)


class Jax:
    negative_strides, layouts = False, False

    def __init__(self):
        self.jax = pytest.importorskip("jax")
        try:
            self.device = self.jax.devices("gpu")[0]
        except RuntimeError:
            pytest.skip("JAX sees no GPU here")
        self.jax.config.update("jax_enable_x64", True)

    def flat(self, array):
        return self.jax.device_put(array, self.device)

    def back(self, result):
        assert result.devices() == {self.device}
        return np.asarray(result)


@pytest.fixture(scope="module", params=[Torch, Cupy, Jax], ids=["torch", "cupy", "jax"])
def library(request):
    if emulated:
        pytest.skip("a real GPU's part; this is the emulator")
    return request.param()


def on_device(library, x):
    """x on the device, with its strides where the library has them. Returns what the host shall reduce as well."""
    if not library.layouts:
        x = np.ascontiguousarray(x)
        return x, library.flat(x)
    root = x
    while isinstance(root.base, np.ndarray):
        root = root.base
    strides = [s // x.itemsize for s in x.strides]
    assume(root.flags.c_contiguous and root.size and (library.negative_strides or min(strides, default=0) >= 0))
    offset = (x.__array_interface__["data"][0] - root.__array_interface__["data"][0]) // x.itemsize
    return x, library.strided(library.flat(root.reshape(-1)), x.shape, strides, offset if x.size else 0)


@settings(max_examples=400)
@given(data=st.data())
def test_bits_of_views(library, data):
    x = data.draw(arrays([d for d in EVERY if d != BFLOAT16] if isinstance(library, Cupy) else EVERY))
    if isinstance(library, Jax):
        assume(x.dtype.kind != "f" or x.dtype.itemsize > 1)
    name = data.draw(st.sampled_from([n for n in FUNCTIONS if takes(n, x.dtype)]))
    host, device = on_device(library, x)
    same_on_both(name, host, device, library.back, axis=data.draw(axes_of(x)), keepdims=data.draw(st.booleans()))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("shape, axis", [((1000, 1000), 0), ((1000, 1000), 1), ((33, 77, 129), (0, 2)), ((1 << 20,), None),
                                         ((100003, 3), 0), ((3, 100003), 1)])
def test_bits_of_large_arrays(library, name, shape, axis):
    x = np.random.default_rng(5).standard_normal(shape).astype(np.float32)
    same_on_both(name, x, library.flat(x), library.back, axis=axis)


@pytest.mark.parametrize("dtype", [BFLOAT16, np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e5m2), np.dtype("f2")])
def test_bits_of_narrow_floats(library, dtype):
    x = np.random.default_rng(6).standard_normal((50, 700)).astype(dtype)
    for name in ("sum", "mean", "var", "max", "argmax", "vector_norm", "logsumexp"):
        same_on_both(name, x, library.flat(x), library.back, axis=1)


def test_wide_results(library):
    x = np.random.default_rng(7).standard_normal((50, 700)).astype(np.float32)
    same_on_both("sum", x, library.flat(x), library.back, axis=0, dtype="float64")
    same_on_both("mean", x, library.flat(x), library.back, nan="omit")


@pytest.fixture
def torch():
    if emulated:
        pytest.skip("a real GPU's part; this is the emulator")
    return Torch().torch


def test_torch_stream_order_without_synchronising(torch):
    """The call returns while its stream is still busy, and the result comes after what was queued before."""
    x = torch.zeros(1000, 1000, device="cuda")
    redax.sum(x, axis=1)
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        redax.sum(x, axis=1) # so that PyTorch has memory for this stream
        side.synchronize()
        torch.cuda._sleep(400_000_000)
        x.fill_(3)
        total = redax.sum(x, axis=1)
        assert not side.query(), "redax waited for the stream"
        after = total + 1
    side.synchronize()
    assert (after == 3001).all()


def test_torch_graph(torch):
    x = torch.ones(300, 500, device="cuda")
    plan = redax.Plan("var", x, axis=None, correction=1)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        redax.sum(x, axis=1), redax.mean(x), redax.argmax(x, axis=0)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        total, mean, where, spread = redax.sum(x, axis=1), redax.mean(x), redax.argmax(x, axis=0), plan(x)
        twice = 2 * redax.sum(x, axis=1)
    for seed in range(3):
        x.copy_(torch.randn(300, 500, generator=torch.Generator().manual_seed(seed)))
        graph.replay()
        host = x.cpu().numpy()
        for got, wanted in ((total, redax.sum(host, axis=1)), (mean, redax.mean(host)), (where, redax.argmax(host, axis=0)),
                            (spread, redax.var(host, correction=1)), (twice, 2 * redax.sum(host, axis=1))):
            assert got.cpu().numpy().tobytes() == wanted.tobytes()


def test_torch_graph_needs_a_plan(torch):
    x = torch.ones(17, 19, 23, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with pytest.raises(RuntimeError, match="call rdx_reduce once before"):
        with torch.cuda.graph(graph):
            redax.sum(x, axis=(0, 2))


def test_torch_memory(torch):
    """No copy of the input, and results from PyTorch's own allocator, given back to it."""
    x = torch.ones(64, 1 << 20, device="cuda")
    redax.sum(x, axis=0)
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    result = redax.sum(x, axis=0)
    assert torch.cuda.memory_allocated() - before == result.numel() * 4
    assert torch.cuda.max_memory_allocated() - before < x.numel()
    del result
    assert torch.cuda.memory_allocated() == before


def test_torch_out_and_plan(torch):
    x = torch.randn(200, 300, device="cuda")
    out = torch.empty(300, 2, device="cuda")[:, 1]
    assert redax.sum(x, axis=0, out=out) is out and torch.equal(out, redax.sum(x, axis=0))
    plan = redax.Plan("mean", x)
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        other = plan(x)
    side.synchronize()
    assert torch.equal(plan(x), other)
    with pytest.raises(ValueError, match="device"):
        redax.sum(x, out=torch.empty(()))


def test_torch_pinned_memory(torch):
    x = torch.arange(10.0).pin_memory()
    result = redax.sum(x)
    assert not result.is_cuda and result == 45


def test_second_device(torch):
    if torch.cuda.device_count() < 2:
        pytest.skip("one GPU here")
    x = torch.randn(100, 200, device="cuda:1")
    assert torch.cuda.current_device() == 0
    result = redax.sum(x, axis=1)
    assert result.device == x.device and torch.equal(result.cpu(), redax.sum(x.cpu(), axis=1))
    assert torch.cuda.current_device() == 0


def test_cupy_stream(library):
    if not isinstance(library, Cupy):
        pytest.skip("CuPy's part")
    cupy = library.cupy
    x = cupy.zeros((1000, 1000), cupy.float32)
    redax.sum(x, axis=1)
    cupy.cuda.Device().synchronize()
    side = cupy.cuda.Stream(non_blocking=True)
    with side:
        x.fill(2)
        total = redax.sum(x, axis=1) + 1
    side.synchronize()
    assert (total == 2001).all()


def test_jax_computations_before_and_after(library):
    if not isinstance(library, Jax):
        pytest.skip("JAX's part")
    jnp = library.jax.numpy
    x = library.flat(np.random.default_rng(8).standard_normal((500, 400)).astype(np.float32))
    for _ in range(50):
        y = jnp.tanh(x @ x.T)
        total = redax.sum(y, axis=0)
        again = (total + 1)
        host = np.asarray(y)
        del y
        assert np.asarray(again).tobytes() == (redax.sum(host, axis=0) + 1).tobytes()
        low, high = redax.minmax(x, axis=1)
        assert np.array_equal(np.asarray(low), np.asarray(x).min(axis=1)) and np.array_equal(np.asarray(high), np.asarray(x).max(axis=1))
