"""torch on the GPU: eager calls, and the same calls through torch.compile; both captured in a CUDA graph."""

import fcntl
import os

os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # there are several processes instead

# pylint: disable=wrong-import-position
import torch

from . import data, torch_ops
from .cases import Unsupported


class Buffers:
    """All copies of a case's input in one allocation, filled alike."""

    def __init__(self, case, rotation, device, fill=True):
        self.bytes = torch.empty(rotation.bytes, dtype=torch.uint8, device=device)
        if fill:
            block = data.block(case.dtype, min(case.storage, data.PERIOD)).view("u1").reshape(-1)
            self._fill(case, rotation, torch.from_numpy(block).to(device))
        flat = self.bytes.view(torch_ops.DTYPES[case.dtype])
        # torch has no negative strides: the same elements are read forwards, and mirrored() turns them where that matters
        strides = tuple(abs(s) for s in case.strides)
        first = rotation.slip // case.size
        if not case.reversed_axes:
            first += case.offset - case.low
        self.inputs = [flat.as_strided(case.shape, strides, first + copy * rotation.pitch // case.size)
                       for copy in range(rotation.copies)]

    def _fill(self, case, rotation, block):
        start, end = rotation.slip, rotation.slip + case.storage_bytes
        filled = start + block.numel()
        self.bytes[start:filled] = block
        while filled < end:  # whole periods until the last piece
            more = min(filled - start, end - filled)
            self.bytes[filled:filled + more] = self.bytes[start:start + more]
            filled += more
        for copy in range(1, rotation.copies):
            at = copy * rotation.pitch
            self.bytes[start + at:end + at] = self.bytes[start:end]


class Made:
    def __init__(self, case, rotation, call, device, graph):
        self.calls, self.graph, self.note = rotation.calls, graph, ""
        if case.reversed_axes and not case.ordered:
            self.note = "read forwards: torch has no negative strides"
        self.buffers = Buffers(case, rotation, device)
        self.call, self.copies, self.recording = call, rotation.copies, None
        self.outs = [None] * self.copies
        self.stream = torch.cuda.Stream(device)
        self.start, self.end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        with torch.cuda.stream(self.stream):
            self._enqueue()
        torch.cuda.synchronize(device)
        if graph:
            self.outs = [None] * self.copies
            self.recording = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.recording, stream=self.stream):
                self._enqueue()
            self.recording.replay()
            torch.cuda.synchronize(device)

    def _enqueue(self):
        for i in range(self.calls):  # outputs stay alive until their copy's next call: no two copies share memory
            self.outs[i % self.copies] = self.call(self.buffers.inputs[i % self.copies])

    def outputs(self, positions):
        return [torch_ops.numbers(out, positions) for out in self.outs[0]]

    def replay(self):
        with torch.cuda.stream(self.stream):
            self.start.record()
            if self.recording:
                self.recording.replay()
            else:
                self._enqueue()
            self.end.record()
        self.end.synchronize()
        return 1e3 * self.start.elapsed_time(self.end)

    def release(self):
        torch.cuda.synchronize()
        self.buffers = self.outs = self.call = None
        self.recording = None
        torch.cuda.empty_cache()


class Eager:
    def __init__(self, device, cache):
        del cache
        self.device = torch.device(device)
        torch.cuda.set_device(self.device)
        torch.set_grad_enabled(False)

    def versions(self):
        return {"torch": torch.__version__, "cuda": torch.version.cuda, "gpu": torch.cuda.get_device_name(self.device)}

    def check(self):
        torch.cuda.synchronize(self.device)

    def refuses(self, why):
        return torch_ops.refuses(why)

    def prepare(self, case):
        pass

    def make(self, case, rotation, graph):
        if case.reversed_axes and case.ordered:
            raise Unsupported("torch has no negative strides")
        return Made(case, rotation, torch_ops.function(case), self.device, graph)


class Compiled(Eager):
    """torch.compile of the same call, for these very shapes. `prepare`, in several processes at once, leaves kernels and the
    choices of the autotuner in the cache on disk; choosing by the clock is done by one process at a time."""

    def __init__(self, device, cache):
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", os.path.join(cache, "inductor"))
        os.environ.setdefault("TRITON_CACHE_DIR", os.path.join(cache, "inductor", "triton"))
        super().__init__(device, cache)
        self.lock = os.path.join(cache, "autotune.lock")
        _lock_autotuner(self.lock)

    def versions(self):
        import triton  # pylint: disable=import-outside-toplevel
        return {**super().versions(), "triton": triton.__version__}

    def refuses(self, why):
        return torch_ops.refuses(why)

    def _compile(self, case):
        torch._dynamo.reset()  # pylint: disable=protected-access
        plain = torch_ops.function(case, compiled=True)
        mirrored = case.reversed_axes if case.ordered else ()
        call = (lambda x: plain(x.flip(mirrored))) if mirrored else plain
        return torch.compile(call, dynamic=False, fullgraph=True)

    def prepare(self, case):
        from .harness import rotation  # pylint: disable=import-outside-toplevel
        one = rotation(case)
        one.copies = 1
        try:
            self._compile(case)(Buffers(case, one, self.device, fill=False).inputs[0])
            torch.cuda.synchronize(self.device)
        finally:
            torch.cuda.empty_cache()

    def make(self, case, rotation, graph):
        return Made(case, rotation, self._compile(case), self.device, graph)


def _lock_autotuner(path):
    """Timings that choose between kernels must not disturb each other. Without this name in torch they may: the choice is then
    a little less sure, nothing else."""
    try:
        from torch._inductor.runtime.triton_heuristics import CachingAutotuner  # pylint: disable=import-outside-toplevel
        plain = CachingAutotuner.benchmark_all_configs
    except (ImportError, AttributeError):
        return

    def alone(self, *arguments, **keywords):
        with open(path, "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return plain(self, *arguments, **keywords)

    CachingAutotuner.benchmark_all_configs = alone
