"""libredax through ctypes: plans over NumPy's memory."""

import ctypes

from .data import CONTAINERS

OPS = {"sum": 1, "prod": 2, "mean": 3, "var": 4, "std": 5, "min": 6, "max": 7, "argmin": 8, "argmax": 9, "minmax": 10,
       "any": 11, "all": 12, "count_nonzero": 13, "norm": 14, "sumsq": 15, "logsumexp": 16, "bit_and": 17, "bit_or": 18,
       "bit_xor": 19}
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}  # DLPack's, by NumPy's kinds
NARROW = {"bf16": 4, "f8e4m3": 10, "f8e5m2": 12}


class Dtype(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("dtype", Dtype), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class Problem(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("op", ctypes.c_int32), ("nan", ctypes.c_int32), ("p", ctypes.c_double),
                ("correction", ctypes.c_double), ("alpha", ctypes.c_double), ("beta", ctypes.c_double),
                ("axes", ctypes.POINTER(ctypes.c_int32)), ("naxes", ctypes.c_int32), ("threads", ctypes.c_int32),
                ("align", ctypes.c_int32), ("input", ctypes.POINTER(Tensor)), ("out", ctypes.POINTER(Tensor)),
                ("out2", ctypes.POINTER(Tensor))]


def tensor_of(array, dtype):
    shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
    strides = (ctypes.c_int64 * max(array.ndim, 1))(*(s // array.itemsize for s in array.strides))
    code = NARROW[dtype] if dtype in CONTAINERS else CODES[array.dtype.kind]
    tensor = Tensor(array.ctypes.data, 1, 0, array.ndim, Dtype(code, array.itemsize * 8, 1), shape, strides, 0)
    tensor.keep = (array, shape, strides)
    return tensor


class Library:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.rdx_last_error.restype = ctypes.c_char_p
        self.lib.rdx_plan_workspace.restype = ctypes.c_size_t
        self.lib.rdx_plan_workspace.argtypes = [ctypes.c_void_p]
        self.lib.rdx_plan_destroy.argtypes = [ctypes.c_void_p]
        self.lib.rdx_execute.argtypes = [ctypes.c_void_p] * 5 + [ctypes.c_size_t, ctypes.c_void_p]

    def check(self, status):
        if status != 0:
            raise RuntimeError(f"redax: {self.lib.rdx_last_error().decode()}")

    def version(self):
        v = self.lib.rdx_version()
        return f"{v // 10000}.{v // 100 % 100}.{v % 100}"

    def plan(self, case, array, outs, threads):
        """A call without arguments that reduces `array` into `outs`; its `release()` ends it."""
        tensors = [tensor_of(a, dtype) for a, dtype in zip([array, *outs], [case.dtype, *case.outs])]
        axes = (ctypes.c_int32 * max(len(case.axes), 1))(*case.axes)
        p = case.param if case.op == "norm" else 2.0
        correction = case.param if case.op in ("var", "std") else 0.0
        problem = Problem(ctypes.sizeof(Problem), OPS[case.op], int(case.omit), p, correction, 1.0, 0.0, axes, len(case.axes),
                          threads, 0, ctypes.pointer(tensors[0]), ctypes.pointer(tensors[1]),
                          ctypes.pointer(tensors[2]) if len(outs) > 1 else None)
        plan = ctypes.c_void_p()
        self.check(self.lib.rdx_plan_create(ctypes.byref(plan), ctypes.byref(problem)))
        bytes_needed = self.lib.rdx_plan_workspace(plan)
        workspace = ctypes.create_string_buffer(bytes_needed + 1)
        arguments = (plan, array.ctypes.data, outs[0].ctypes.data, outs[1].ctypes.data if len(outs) > 1 else None,
                     ctypes.addressof(workspace), bytes_needed, None)
        execute = self.lib.rdx_execute

        def run():
            if execute(*arguments) != 0:
                raise RuntimeError(f"redax: {self.lib.rdx_last_error().decode()}")

        run.keep = (tensors, workspace, axes)
        run.release = lambda: self.lib.rdx_plan_destroy(plan)
        return run
