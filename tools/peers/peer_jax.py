"""JAX on the GPU. A jitted call cannot be captured in our graph: calls are dispatched back to back, many to a wait, and the
host's clock counts, so inputs of some megabytes show the dispatch and not the kernel. Layouts are spelled inside the jitted
function, where XLA fuses them (view.py)."""

import os
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

# pylint: disable=wrong-import-position
import jax
import jax.numpy as jnp
import numpy as np

from . import data
from .cases import Unsupported, kind
from .view import View

WAIT_SECONDS = 0.02  # what a replay lasts at least
MOST_CALLS = 2000
DTYPES = {"bf16": jnp.bfloat16, "f8e4m3": jnp.float8_e4m3fn, "f8e5m2": jnp.float8_e5m2}


def dtype_of(name):
    return np.dtype(DTYPES.get(name) or data.NUMPY[name])


def function(case):
    """f(x) -> a tuple of outputs with redax's dtypes."""
    op, axis, wanted = case.op, case.axes, dtype_of(case.outs[0])
    one = axis[0] if len(axis) == 1 else None
    wide = jnp.float64 if case.outs[0] == "f64" else jnp.float32
    if op in ("argmin", "argmax") and one is None and not case.whole:
        raise Unsupported(f"jax's {op} takes one axis or all")
    if op in ("min", "max") and len(case.outs) > 1:
        raise Unsupported("jax finds extremes and their indices in two passes")
    spelled = f"nan{op}" if case.omit else op
    call = getattr(jnp, spelled, None)
    if case.omit and (call is None or op in ("any", "all", "count_nonzero")):
        raise Unsupported(f"jax has no {op} that omits NaN")
    if op in ("sum", "prod", "mean"):
        return lambda x: (call(x, axis=axis, dtype=wanted),)
    if op in ("var", "std"):
        if len(case.outs) > 1:
            raise Unsupported(f"jax's {op} does not give the mean")
        return lambda x: (call(x, axis=axis, dtype=wanted, ddof=case.param),)
    if op in ("min", "max", "any", "all"):
        return lambda x: (call(x, axis=axis),)
    if op == "count_nonzero":
        return lambda x: (call(x, axis=axis).astype(wanted),)
    if op in ("argmin", "argmax"):
        return lambda x: (call(x, axis=one).astype(wanted),)
    if op == "minmax":
        return lambda x: (jnp.min(x, axis=axis), jnp.max(x, axis=axis))
    if op == "sumsq" or (op == "norm" and case.param == 2):
        last = jnp.sqrt if op == "norm" else lambda s: s
        if kind(case.dtype) == "c":
            return lambda x: (last(jnp.sum(jnp.square(x.real) + jnp.square(x.imag), axis=axis)).astype(wanted),)
        return lambda x: (last(jnp.sum(jnp.square(x.astype(wide)), axis=axis)).astype(wanted),)
    if op == "norm":
        real = kind(case.dtype) != "c"
        return lambda x: (jnp.linalg.vector_norm(x.astype(wide) if real else x, ord=case.param,
                                                 axis=axis).astype(wanted),)
    if op == "logsumexp":
        return lambda x: (jax.scipy.special.logsumexp(x.astype(wanted) if case.dtype.startswith("f8") else x, axis=axis),)
    raise Unsupported(f"jax has no {op}")


class Made:
    graph = False

    def __init__(self, case, rotation, device):
        view, plain = View(case), function(case)
        flip = jnp.flip if case.ordered else None
        self.case, self.note = case, "dispatched back to back"
        shaped = view.plain and not case.reversed_axes and case.strides == tuple(
            int(np.prod(case.shape[d + 1:], dtype=np.int64)) for d in range(len(case.shape)))

        def whole(x):
            return plain(x if shaped else jnp.broadcast_to(view.apply(x, flip), case.shape))

        self.call = jax.jit(whole)
        with jax.default_device(device):
            block = jax.device_put(self._block(), device)
            first, length, shape = view.first, view.length, case.shape if shaped else (view.length,)

            def fill(source):
                place = jnp.arange(length, dtype=jnp.int64) - first
                return jnp.take(source, place % data.PERIOD).reshape(shape)

            self.inputs = [jax.jit(fill)(block)]
            for _ in range(rotation.copies - 1):
                self.inputs.append(jnp.array(self.inputs[0], copy=True))
        jax.block_until_ready(self.inputs)
        self.outs = jax.block_until_ready(self.call(self.inputs[0]))
        self.calls = rotation.calls
        once = self.replay() / self.calls
        self.calls = int(min(MOST_CALLS, max(rotation.calls, 1e6 * WAIT_SECONDS / once)))

    def _block(self):
        made = data.block(self.case.dtype)
        return made.view(DTYPES[self.case.dtype]) if self.case.dtype in DTYPES else made

    def outputs(self, positions):
        wide = {"f": "f8", "c": "c16", "b": "?", "u": "u8"}
        return [np.asarray(out).reshape(-1)[positions].astype(wide.get(kind(name), "i8")).tolist()
                for out, name in zip(self.outs, self.case.outs)]

    def replay(self):
        inputs, call, last = self.inputs, self.call, None
        start = time.perf_counter()
        for i in range(self.calls):
            last = call(inputs[i % len(inputs)])
        jax.block_until_ready(last)
        return 1e6 * (time.perf_counter() - start)

    def release(self):
        for array in [*(self.inputs or ()), *(self.outs or ())]:
            array.delete()
        self.inputs = self.outs = self.call = None
        jax.clear_caches()


class Jax:
    def __init__(self, device, cache):
        del cache
        jax.config.update("jax_enable_x64", True)
        if device.startswith("cuda"):
            self.device = jax.devices("cuda")[int(device.partition(":")[2] or 0)]
        else:
            self.device = jax.devices("cpu")[0]
        jax.config.update("jax_default_device", self.device)

    def versions(self):
        return {"jax": jax.__version__}

    def check(self):
        jax.block_until_ready(jnp.zeros(1) + 1)

    def refuses(self, why):
        return isinstance(why, (TypeError, NotImplementedError))

    def prepare(self, case):
        pass

    def make(self, case, rotation, graph):
        del graph
        return Made(case, rotation, self.device)
