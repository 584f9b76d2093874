"""Which arrays redax takes, that it takes them without a copy, and what it gives back."""

import array
import ctypes
import gc
import os
import subprocess
import sys
import weakref

import ml_dtypes
import numpy as np
import pytest

import redax
from producers import Exchange, Legacy, Space, Unsigned

x = np.arange(24.0).reshape(2, 3, 4)


def address(a):
    return a.__array_interface__["data"][0]


@pytest.fixture(autouse=True)
def fresh():
    Exchange.calls.clear()
    Exchange.fail = None


def test_numpy_gives_arrays():
    total = redax.sum(x)
    assert type(total) is np.ndarray and total.shape == () and total.dtype == np.float64 and total == 276
    rows = redax.sum(x, axis=-1, keepdims=True)
    assert rows.shape == (2, 3, 1) and rows.flags.c_contiguous and rows.flags.writeable


def test_exchange_api_comes_first():
    result = redax.sum(Exchange(x), axis=1)
    assert type(result) is Exchange and np.array_equal(result.array, x.sum(axis=1))
    assert Exchange.calls == ["managed_from_object", "allocate", "object_from_managed"]
    low, high = redax.minmax(Exchange(x))
    assert (low.array, high.array) == (0, 23)


@pytest.mark.parametrize("function", ["managed_from_object", "allocate"])
def test_exchange_api_failing(function):
    Exchange.fail = function
    with pytest.raises(MemoryError if function == "allocate" else SystemError):
        redax.sum(Exchange(x))


def test_exchange_api_releases_everything():
    class Owner(np.ndarray):
        pass
    data = np.arange(5.0).view(Owner)
    gone = weakref.ref(data)
    result = redax.sum(Exchange(data))
    with pytest.raises(IndexError):
        redax.sum(Exchange(data), axis=3)
    del data
    gc.collect()
    assert gone() is None and result.array == 10


def test_references_are_balanced():
    data, out = np.arange(5.0), np.empty(())
    plan = redax.Plan("sum", data)
    for call in (lambda: redax.sum(data), lambda: redax.sum(data, out=out), lambda: plan(data), lambda: plan(data, out=out),
                 lambda: redax.minmax(data, axis=(0,)), lambda: redax.explain(data, "sum", 0)):
        call()
        before = sys.getrefcount(data), sys.getrefcount(out)
        for _ in range(100):
            call()
        assert (sys.getrefcount(data), sys.getrefcount(out)) == before


def test_legacy_dlpack():
    result = redax.sum(Legacy(x), axis=0)
    assert isinstance(result, memoryview) and np.array_equal(np.asarray(result), x.sum(axis=0))


def test_array_api_namespace():
    strict = pytest.importorskip("array_api_strict")
    result = redax.mean(strict.asarray(x, dtype=strict.float32), axis=2)
    assert type(result).__module__.startswith("array_api_strict") and result.dtype == strict.float32
    assert np.array_equal(np.from_dlpack(result), x.mean(axis=2).astype(np.float32))


class Speaks:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return 1, 0


def test_types_met_while_a_type_is_looked_at():
    code = f"""if 1:
        import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})
        import numpy as np, redax
        from test_arrays import Speaks
        depth = 0
        class Asks(Speaks):
            def __array_namespace__(self):
                global depth
                depth += 1
                if depth < 100:
                    redax.sum(type("Other", (Asks,), {{}})(self.array))
                return np
        assert redax.sum(Asks(np.ones(3))) == 3 and depth == 100
        assert redax.sum(type("Last", (Asks,), {{}})(np.ones(3))) == 3"""
    assert subprocess.run([sys.executable, "-c", code], env=dict(os.environ, PYTHONMALLOC="debug")).returncode == 0


def test_bases_from_numpy_make_no_array_of_numpy():
    class Mine(np.lib.mixins.NDArrayOperatorsMixin, Speaks):
        def __array_namespace__(self):
            return Space(type(self))

    assert type(redax.sum(Mine(x))) is Mine
    assert type(redax.sum(x.view(np.recarray))) is np.ndarray


@pytest.mark.parametrize("code", "bBhHiIlLqQfd")
def test_buffers(code):
    result = redax.sum(array.array(code, [1, 2, 3]))
    assert isinstance(result, memoryview) and result.shape == () and result.tolist() == 6


def test_bytes_and_slices_of_memoryviews():
    assert redax.max(b"abc").tolist() == ord("c")
    assert redax.sum(memoryview(bytes(range(10)))[::-3]).tolist() == 9 + 6 + 3 + 0
    two = redax.sum(memoryview(bytes(range(6))).cast("B", (2, 3)), axis=1)
    assert two.tolist() == [3, 12] and two.format == "Q"


def test_buffers_without_strides():
    """As ctypes gives them."""
    assert redax.sum((ctypes.c_int * 3)(1, 2, 3)).tolist() == 6
    table = (ctypes.c_double * 2 * 3)((1, 2), (3, 4), (5, 6))
    assert redax.sum(table, axis=0).tolist() == [9, 12]
    out = (ctypes.c_double * 3)()
    assert redax.sum(table, axis=1, out=out) is out and list(out) == [3, 7, 11]
    assert redax.sum(ctypes.c_double(3)).tolist() == 3


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.float64, np.complex128])
def test_negative_strides_without_a_sign(dtype):
    x = np.arange(24, dtype=dtype).reshape(4, 6)[::-2, ::-1]
    assert np.array_equal(np.asarray(redax.sum(Unsigned(x), axis=1)), x.sum(axis=1))
    assert redax.argmax(Unsigned(np.arange(5, dtype=np.float32)[::-1])).tolist() == 0


def test_numpy_scalars():
    result = redax.sum(np.float32(2.5))
    assert type(result) is np.ndarray and result.dtype == np.float32 and result == 2.5


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_ml_dtypes(name):
    dtype = np.dtype(getattr(ml_dtypes, name))
    values = np.array([[1, 2, 0.5], [4, -8, 16]], dtype)
    assert redax.max(values).dtype == dtype and redax.max(values) == 16
    total = redax.sum(values.T[:, ::-1], axis=0)
    assert total.dtype == (dtype if name == "bfloat16" else np.float32) and total.tolist() == [12, 3.5]
    assert redax.sum(values, dtype=dtype).dtype == dtype


@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_every_dtype_without_copy(dtype):
    """The result sees a change behind the library's back, and the array's own address is what is read."""
    values = np.zeros((3, 5), dtype)[::-1, 1::2]
    plan = redax.Plan("count_nonzero", values)
    assert redax.count_nonzero(values) == 0 == plan(values)
    values[1, 1] = 1
    assert redax.count_nonzero(values) == 1 == plan(values)


def test_zero_copy_by_pointers():
    """in and out lie where they say: a refused overlap names their distance."""
    data = np.zeros(10, np.float32)
    with pytest.raises(ValueError, match="out touches bytes 8 to 12 from in's first element, in 0 to 40"):
        redax.sum(data, out=data[2:3].reshape(()))


def test_read_only_input():
    values = np.arange(5.0)
    values.flags.writeable = False
    assert redax.sum(values) == 10
    assert redax.sum(np.broadcast_to(np.float64(2), (100, 7)), axis=0).tolist() == [200] * 7
    with pytest.raises(ValueError, match="read-only"):
        redax.sum(x, axis=(0, 1), out=np.broadcast_to(np.zeros(1), (4,)))


def test_out():
    out = np.full((4, 2), -1.0)
    assert redax.sum(x, axis=1, out=out.T) is not out
    assert np.array_equal(out.T, x.sum(axis=1))
    narrow = np.empty((2, 1, 4), np.float32)
    assert redax.sum(x, axis=1, keepdims=True, out=narrow) is narrow and np.array_equal(narrow[:, 0], x.sum(axis=1))
    low, high = np.empty(4), np.empty(4)
    result = redax.minmax(x, axis=(0, 1), out=(low, high))
    assert result[0] is low and result[1] is high and high.tolist() == [20, 21, 22, 23]
    buffer = array.array("d", [0, 0, 0, 0])
    assert redax.sum(x, axis=(0, 1), out=buffer) is buffer and list(buffer) == x.sum(axis=(0, 1)).tolist()


def test_memory_of_results_lives():
    results = [redax.sum(memoryview(bytes([i, i]))) for i in range(100)]
    gc.collect()
    assert [r.tolist() for r in results] == [2 * i for i in range(100)]
    memory = results[3].obj
    assert memory.__dlpack_device__() == (1, 0)
    taken = np.from_dlpack(memory)
    results.clear()
    del memory
    gc.collect()
    assert taken == 6


def test_memory_is_given_as_it_is():
    memory = redax.sum(b"abc").obj
    for refused in ({"copy": True}, {"dl_device": (2, 0)}):
        with pytest.raises(BufferError):
            memory.__dlpack__(**refused)
    for taken in ({"max_version": [1, 0], "copy": False}, {"max_version": None, "dl_device": (1, 0)}):
        assert "capsule" in repr(memory.__dlpack__(**taken))


def test_memory_that_outlives_python():
    """Its owner lets go when the process ends, as owners in C++ do."""
    code = (f"import ctypes, sys; sys.path.insert(0, {os.path.dirname(__file__)!r}); import redax; from producers import managed_of\n"
            "managed, libc = managed_of(redax.sum(b'abc').obj), ctypes.CDLL(None)\n"
            "libc.__cxa_atexit.argtypes = [ctypes.c_void_p] * 3\n"
            "libc.__cxa_atexit(managed.contents.deleter, ctypes.cast(managed, ctypes.c_void_p), None)")
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_zero_dimensions_and_empty_arrays():
    assert redax.sum(np.float64(3)) == 3 and redax.argmax(np.array(3)) == 0
    assert redax.sum(np.zeros((0, 3)), axis=0).tolist() == [0, 0, 0]
    assert redax.sum(np.zeros((0, 3)), axis=1).shape == (0,)
    assert redax.max(np.zeros((3, 0)), axis=0).shape == (0,)
    assert redax.sum(np.zeros((1,) * 30)).shape == ()


def test_axis_none_and_no_axis():
    assert redax.sum(x, axis=None) == 276
    same = redax.sum(x, axis=())
    assert np.array_equal(same, x) and address(same) != address(x)
    assert np.array_equal(redax.var(x, axis=()), np.zeros_like(x))
    assert redax.sum(np.ones(3, bool), axis=()).dtype == np.int64
    assert redax.argmax(x, axis=()).tolist() == np.zeros(x.shape).tolist()
