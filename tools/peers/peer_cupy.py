"""CuPy on the GPU, captured in a CUDA graph."""

import cupy
import numpy as np

from . import data
from .cases import Unsupported, kind


def dtype_of(name):
    if name in data.NUMPY:
        return np.dtype(data.NUMPY[name])
    if name == "bf16":
        try:
            import ml_dtypes  # pylint: disable=import-outside-toplevel
            return np.dtype(ml_dtypes.bfloat16)
        except ImportError:
            pass
    raise Unsupported(f"CuPy has no {name}")


def function(case):
    """f(x) -> a tuple of outputs with redax's dtypes."""
    op, axis, wanted = case.op, case.axes, dtype_of(case.outs[0])
    one = case.axes[0] if len(case.axes) == 1 else None
    if op in ("argmin", "argmax") and one is None and not case.whole:
        raise Unsupported(f"CuPy's {op} takes one axis or all")
    if case.ordered and len(case.outs) > 1:
        raise Unsupported("CuPy finds extremes and their indices in two passes")
    if case.whole:
        axis = None
    omitting = {"sum": cupy.nansum, "prod": cupy.nanprod, "mean": cupy.nanmean, "var": cupy.nanvar, "std": cupy.nanstd,
                "min": cupy.nanmin, "max": cupy.nanmax, "argmin": cupy.nanargmin, "argmax": cupy.nanargmax}
    if case.omit and op not in omitting:
        raise Unsupported(f"CuPy has no {op} that omits NaN")
    call = omitting[op] if case.omit else getattr(cupy, op, None)
    if op in ("sum", "prod", "mean"):
        return lambda x: (call(x, axis=axis, dtype=wanted),)
    if op in ("var", "std"):
        if len(case.outs) > 1:
            raise Unsupported(f"CuPy's {op} does not give the mean")
        return lambda x: (call(x, axis=axis, dtype=wanted, ddof=case.param),)
    if op in ("min", "max", "any", "all", "count_nonzero"):
        return lambda x: (call(x, axis=axis),)
    if op in ("argmin", "argmax"):
        return lambda x: (call(x, axis=one),)
    if op == "minmax":
        return lambda x: (cupy.min(x, axis=axis), cupy.max(x, axis=axis))
    if op == "norm" and (one is not None or (case.whole and case.param == 2)):
        return lambda x: (cupy.linalg.norm(x.ravel() if one is None else x, ord=case.param, axis=one).astype(wanted, copy=False),)
    if op == "sumsq" or (op == "norm" and case.param == 2):
        if kind(case.dtype) == "c":
            raise Unsupported("CuPy has no sum of |x|^2")
        root = op == "norm"
        return lambda x: ((lambda s: cupy.sqrt(s) if root else s)(cupy.sum(cupy.square(x, dtype=wanted), axis=axis)),)
    if op == "logsumexp":
        try:
            from cupyx.scipy.special import logsumexp  # pylint: disable=import-outside-toplevel
        except ImportError as why:
            raise Unsupported("this CuPy has no logsumexp") from why
        return lambda x: (logsumexp(x, axis=axis),)
    raise Unsupported(f"CuPy has no {op}")


class Made:
    def __init__(self, case, rotation, graph):
        self.calls, self.graph, self.note, self.copies = rotation.calls, graph, "", rotation.copies
        self.call, self.case = function(case), case
        self.memory = cupy.cuda.alloc(rotation.bytes)
        self._fill(rotation)
        first = rotation.slip + (case.offset - case.low) * case.size
        strides = tuple(s * case.size for s in case.strides)
        self.inputs = [cupy.ndarray(case.shape, dtype_of(case.dtype), memptr=self.memory + (first + copy * rotation.pitch),
                                    strides=strides) for copy in range(rotation.copies)]
        self.outs, self.recording = [None] * self.copies, None
        self.stream = cupy.cuda.Stream(non_blocking=True)
        self.start, self.end = cupy.cuda.Event(), cupy.cuda.Event()
        cupy.cuda.Device().synchronize()
        with self.stream:
            self._enqueue()
            self.stream.synchronize()
            if graph:  # a second run: the pool then holds every block that the capture asks for
                self._enqueue()
                self.stream.synchronize()
                self.stream.begin_capture()
                self._enqueue()
                self.recording = self.stream.end_capture()
                self.recording.launch(self.stream)
                self.stream.synchronize()

    def _fill(self, rotation):
        case = self.case
        whole = cupy.ndarray((rotation.bytes,), np.uint8, memptr=self.memory)
        block = cupy.asarray(data.block(case.dtype, min(case.storage, data.PERIOD)).view("u1").reshape(-1))
        start, end = rotation.slip, rotation.slip + case.storage_bytes
        filled = start + block.size
        whole[start:filled] = block
        while filled < end:  # whole periods until the last piece
            more = min(filled - start, end - filled)
            whole[filled:filled + more] = whole[start:start + more]
            filled += more
        for copy in range(1, rotation.copies):
            at = copy * rotation.pitch
            whole[start + at:end + at] = whole[start:end]

    def _enqueue(self):
        for i in range(self.calls):
            self.outs[i % self.copies] = self.call(self.inputs[i % self.copies])

    def outputs(self, positions):
        wide = {"f": "f8", "c": "c16", "b": "?", "u": "u8"}
        return [out.reshape(-1)[np.array(positions)].astype(wide.get(kind(name), "i8")).get().tolist()
                for out, name in zip(self.outs[0], self.case.outs)]

    def replay(self):
        with self.stream:
            self.start.record(self.stream)
            if self.recording:
                self.recording.launch(self.stream)
            else:
                self._enqueue()
            self.end.record(self.stream)
        self.end.synchronize()
        return 1e3 * cupy.cuda.get_elapsed_time(self.start, self.end)

    def release(self):
        cupy.cuda.Device().synchronize()
        self.recording = self.inputs = self.outs = self.memory = self.call = None
        cupy.get_default_memory_pool().free_all_blocks()


class Cupy:
    def __init__(self, device, cache):
        del cache
        self.device = int(device.partition(":")[2] or 0)
        cupy.cuda.Device(self.device).use()
        cupy.zeros(1).sum()

    def versions(self):
        return {"cupy": cupy.__version__}

    def check(self):
        cupy.cuda.Device(self.device).synchronize()

    def refuses(self, why):
        return isinstance(why, (TypeError, NotImplementedError)) or "not supported" in str(why)

    def prepare(self, case):
        pass

    def make(self, case, rotation, graph):
        return Made(case, rotation, graph)
