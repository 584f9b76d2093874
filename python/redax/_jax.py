"""JAX's arrays on CUDA: see python/src/jax.c, which calls reduce()."""

import threading

from . import _redax


class _OnStream:
    """An array that is ready on one stream, where the work goes too. DLPack calls the legacy default stream 1, CUDA 0."""

    def __init__(self, array, stream):
        self.array, self.stream, self.__redax_stream__ = array, stream, 0 if stream == 1 else stream

    def __dlpack__(self, **_):
        return self.array.__dlpack__(stream=self.stream)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class _Result:
    """What from_dlpack takes: when it asks, and says on which stream, the result is made ready there."""

    def __init__(self, memory, launch):
        self.memory, self.launch = memory, launch

    def __dlpack__(self, *, stream=None, **_):
        self.launch(stream)
        return self.memory.__dlpack__()

    def __dlpack_device__(self):
        return self.memory.__dlpack_device__()


_running_lock = threading.Lock()
_running = []  # (results, operand) of reductions that were not done when last looked at: the operand must stay


def reduce(name, x, memories, options):
    """memories: the outputs, described but without an address. Returns a JAX array, or a tuple of them."""
    import jax.numpy as jnp

    launched, results = [], []

    def launch(stream):
        stream = 1 if stream is None else stream
        if launched:
            if stream != launched[0]: # JAX takes its streams in turn: this one waits for the first result, so for both
                results[0].__dlpack__(stream=stream)
            return
        launched.append(stream)
        for memory in memories:
            memory.settle(jnp.empty(memory.nbytes, jnp.uint8, device=x.device).__dlpack__(stream=stream))
        outs = tuple(_OnStream(memory, stream) for memory in memories)
        getattr(_redax, name)(_OnStream(x, stream), **{**options, "out": outs if len(outs) > 1 else outs[0]})

    for memory in memories:
        results.append(jnp.from_dlpack(_Result(memory, launch)))
    with _running_lock:
        _running[:] = [pair for pair in _running if not all(r.is_ready() for r in pair[0] if not r.is_deleted())]
        _running.append((results, x))
    return tuple(results) if len(results) > 1 else results[0]
