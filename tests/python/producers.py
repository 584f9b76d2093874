"""Stand-ins for array libraries, in NumPy's memory: one that speaks the DLPack C exchange API, one from before DLPack 1.0,
and one that says its memory is on CUDA (true for the CUDA emulator of tests/emu, whose device memory is the host's)."""

import ctypes

import numpy as np

api = ctypes.pythonapi


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("owner", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", Tensor)]


NAMES = {(0, 8): "i1", (0, 16): "i2", (0, 32): "i4", (0, 64): "i8", (1, 8): "u1", (1, 16): "u2", (1, 32): "u4",
         (1, 64): "u8", (2, 16): "f2", (2, 32): "f4", (2, 64): "f8", (5, 64): "c8", (5, 128): "c16", (6, 8): "?"}

api.PyCapsule_GetPointer.restype = ctypes.POINTER(Managed)
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
api.Py_IncRef.argtypes = [ctypes.py_object]


def managed_of(array):
    """A pointer to a managed tensor whose deleter is the caller's to call."""
    capsule = array.__dlpack__(max_version=(1, 0))
    managed = api.PyCapsule_GetPointer(capsule, b"dltensor_versioned")
    api.PyCapsule_SetName(capsule, b"used_dltensor_versioned")
    return managed


class Wrapped:
    """A capsule that NumPy can take."""

    def __init__(self, managed):
        self.capsule = api.PyCapsule_New(ctypes.cast(managed, ctypes.c_void_p), b"dltensor_versioned", None)

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return 1, 0


class Legacy:
    """From before DLPack 1.0: __dlpack__ takes no max_version. Its module has no empty: results are memoryviews."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return 1, 0


class Unsigned(Legacy):
    """Divides strides in bytes as CuPy does: as numbers without a sign."""

    def __dlpack__(self, stream=None):
        capsule = self.array.__dlpack__(max_version=(1, 0))
        tensor = api.PyCapsule_GetPointer(capsule, b"dltensor_versioned").contents.tensor
        for d, stride in enumerate(self.array.strides):
            tensor.strides[d] = ctypes.c_int64(stride % 2**64 // self.array.itemsize).value
        return capsule


class Space:
    """A namespace of the Array API as far as redax asks: empty and dtypes."""

    def __init__(self, make):
        self.make = make
        for name in NAMES.values():
            setattr(self, np.dtype(name).name, np.dtype(name))

    def empty(self, shape, *, dtype, device=None):
        return self.make(np.empty(shape, dtype))


class OnCuda:
    """Speaks __dlpack__ alone, from a device of CUDA, and keeps the streams that it was told."""

    device_type, streams = 2, []

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, *, stream=None, max_version=None):
        assert max_version >= (1, 0)
        self.streams.append(stream)
        capsule = self.array.__dlpack__(max_version=(1, 0))
        api.PyCapsule_GetPointer(capsule, b"dltensor_versioned").contents.tensor.device_type = self.device_type
        return capsule

    def __dlpack_device__(self):
        return self.device_type, 0

    def __array_namespace__(self):
        return Space(type(self))


class Exchange:
    """Speaks the C exchange API. calls counts what was asked of it; fail names a function that shall fail."""

    calls, fail, device_type = [], None, 1

    def __init__(self, array):
        self.array = array


def exchange_function(name, *arguments):
    def wrap(function):
        def called(*values):
            Exchange.calls.append(name)
            if Exchange.fail == name:
                return -1 # without an exception: none that is set in a callback of ctypes would stay
            function(*values)
            return 0
        return ctypes.PYFUNCTYPE(ctypes.c_int, *arguments)(called)
    return wrap


@exchange_function("allocate", ctypes.POINTER(Tensor), ctypes.POINTER(ctypes.POINTER(Managed)), ctypes.c_void_p,
                   ctypes.c_void_p)
def allocate(prototype, out, context, set_error):
    wanted = prototype.contents
    assert wanted.strides or wanted.ndim == 0
    array = np.empty(wanted.shape[:wanted.ndim] if wanted.ndim else (), NAMES[wanted.code, wanted.bits])
    out[0] = managed_of(array)
    out[0].contents.tensor.device_type = wanted.device_type


@exchange_function("managed_from_object", ctypes.py_object, ctypes.POINTER(ctypes.POINTER(Managed)))
def managed_from_object(array, out):
    out[0] = managed_of(array.array)
    out[0].contents.tensor.device_type = Exchange.device_type


@exchange_function("object_from_managed", ctypes.POINTER(Managed), ctypes.POINTER(ctypes.c_void_p))
def object_from_managed(managed, out):
    managed.contents.tensor.device_type = 1
    made = Exchange(np.from_dlpack(Wrapped(managed)))
    api.Py_IncRef(made)
    out[0] = id(made)


@exchange_function("current_stream", ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
def current_stream(device_type, device_id, out):
    out[0] = None


class Table(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("previous", ctypes.c_void_p)] + [
        (name, ctypes.c_void_p) for name in ("allocate", "managed_from_object", "object_from_managed", "view_of_object",
                                             "current_stream")]


def address(function):
    return ctypes.cast(function, ctypes.c_void_p).value


table = Table(1, 3, None, address(allocate), address(managed_from_object), address(object_from_managed), None,
              address(current_stream))
# As a producer of a later DLPack would offer it: the newest table first, the one that is known here behind it.
newer = Table(2, 0, ctypes.addressof(table))
table_name = b"dlpack_exchange_api"  # a capsule keeps the pointer alone
Exchange.__dlpack_c_exchange_api__ = api.PyCapsule_New(ctypes.addressof(newer), table_name, None)
