#!/usr/bin/env python3
"""redax beside NumPy: the same arrays in the same process, one call of the one after one call of the other.

    tools/peers.py [--library build/libredax.so] [--threads N] [--seconds S] [--only TEXT] [--json FILE] [--strict]

Prints a row for each case: medians in microseconds, the median of the ratios NumPy / redax, and GB/s of redax (input bytes
that are elements). Results are compared first; a difference beyond rounding ends with exit 1. "SLOWER" marks cases in which
redax needs more time than NumPy by more than 5%; --strict makes them exit 1 too. NumPy works on one thread (its norm over all
axes uses a BLAS, which may take more), redax on as many as it is told. bf16 is left out: NumPy has no such type.
"""

import argparse
import ctypes
import datetime
import json
import math
import os
import platform
import statistics
import sys
import time

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MB = 1 << 20
OPS = {"sum": 1, "prod": 2, "mean": 3, "var": 4, "std": 5, "min": 6, "max": 7, "argmin": 8, "argmax": 9, "minmax": 10,
       "any": 11, "all": 12, "count_nonzero": 13, "norm2": 14, "logsumexp": 16}
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}  # DLPack's, by NumPy's kinds


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


def tensor_of(array):
    shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
    strides = (ctypes.c_int64 * max(array.ndim, 1))(*(s // array.itemsize for s in array.strides))
    dtype = Dtype(CODES[array.dtype.kind], array.itemsize * 8, 1)
    tensor = Tensor(array.ctypes.data, 1, 0, array.ndim, dtype, shape, strides, 0)
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

    def plan(self, op, array, axes, outs, threads):
        """A call without arguments that reduces `array` into `outs`."""
        tensors = [tensor_of(a) for a in [array, *outs]]
        naxes = -1 if axes is None else len(axes)
        list_of_axes = (ctypes.c_int32 * max(naxes, 1))(*(axes or ()))
        problem = Problem(ctypes.sizeof(Problem), OPS[op], 0, 2.0, 0.0, 1.0, 0.0, list_of_axes, naxes, threads, 0,
                          ctypes.pointer(tensors[0]), ctypes.pointer(tensors[1]),
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

        run.keep = (tensors, workspace, list_of_axes)
        run.release = lambda: self.lib.rdx_plan_destroy(plan)
        return run


def logsumexp(x, axis):
    top = x.max(axis=axis, keepdims=True)
    return np.squeeze(np.log(np.exp(x - top).sum(axis=axis, keepdims=True)) + top, axis=axis)


def norm2(x, axis):
    return np.linalg.norm(x.reshape(-1)) if axis is None else np.sqrt(np.sum(x * x, axis=axis))


def argmax(x, axis):
    return np.argmax(x, axis=axis[0] if axis else None)


PEERS = {"sum": np.sum, "prod": np.prod, "mean": np.mean, "var": np.var, "std": np.std, "min": np.min, "max": np.max,
         "argmax": argmax, "any": np.any, "all": np.all, "count_nonzero": np.count_nonzero, "norm2": norm2,
         "logsumexp": logsumexp, "minmax": lambda x, axis: (np.min(x, axis=axis), np.max(x, axis=axis))}


def cases():
    """(name, op, dtype, shape, view, axes); 128 MB unless the name says otherwise."""
    def shapes(size):
        n = 128 * MB // size
        yield "full", (n,), None, None
        yield "last", (n // 4096, 4096), None, (1,)
        yield "first", (n // 4096, 4096), None, (0,)
        yield "middle", (n // (512 * 1024), 1024, 512), None, (1,)
        yield "axes02", (n // (512 * 1024), 1024, 512), None, (0, 2)
        yield "rows8", (n // 8, 8), None, (1,)
        yield "rows64", (n // 64, 64), None, (1,)
        yield "cols8", (n // 8, 8), None, (0,)
        yield "stride2", (n // 4096, 4096), lambda x: x[:, ::2], (1,)
        yield "transposed", (4096, n // 4096), lambda x: x.T, (1,)
        yield "flipped", (n // 4096, 4096), lambda x: x[:, ::-1], (1,)

    def some(op, dtype, *wanted):
        for name, shape, view, axes in shapes(np.dtype(dtype).itemsize):
            if not wanted or name in wanted:
                yield f"{op}-{dtype}-{name}", op, dtype, shape, view, axes

    yield from some("sum", "f4")
    for dtype in ("f8", "f2", "i1"):
        yield from some("sum", dtype, "full", "last", "first", "cols8")
    yield from some("sum", "i4", "last", "first")
    yield "sum-bf16-last", "sum", "bf16", (32768, 4096), None, (1,)
    yield from some("max", "f4", "full", "last", "first", "rows8")
    yield from some("max", "i1", "full", "first")
    yield from some("mean", "f4", "last", "first")
    yield from some("var", "f4", "full", "last", "first", "rows64")
    yield from some("norm2", "f4", "full", "last", "first")
    yield from some("count_nonzero", "f4", "full", "last")
    yield from some("argmax", "f4", "full", "last", "first")
    yield from some("logsumexp", "f4", "last", "first")
    yield from some("any", "b1", "last")
    yield from some("prod", "f4", "last")
    yield from some("minmax", "f4", "full")
    yield from some("sum", "c8", "last")
    for size, label in ((1024, "4M"), (512, "1M")):
        for op in ("sum", "max", "var"):
            yield f"{op}-f4-last-{label}", op, "f4", (size, size), None, (1,)
            yield f"{op}-f4-first-{label}", op, "f4", (size, size), None, (0,)
    yield "sum-f4-full-1M", "sum", "f4", (262144,), None, None
    yield "argmax-f4-last-1M", "argmax", "f4", (512, 512), None, (1,)


class Data:
    """Arrays by dtype and size, made once."""

    def __init__(self):
        self.made = {}

    def array(self, dtype, shape):
        count = math.prod(shape)
        if dtype not in self.made or self.made[dtype].size < count:
            rng = np.random.default_rng(1)
            kind = np.dtype(dtype).kind
            block = rng.random(1048573) * 2 - 1  # a prime: no stride meets its own data again
            block = block > 0.999999 if kind == "b" else block * 100 if kind == "i" else block
            self.made.clear()  # one dtype at a time: memory
            self.made[dtype] = np.resize(block.astype(dtype), count)
        return self.made[dtype][:count].reshape(shape)


def agree(op, dtype, ours, theirs):
    if op in ("max", "min", "minmax", "argmax", "any", "all", "count_nonzero") or np.dtype(dtype).kind == "i" and op == "sum":
        return np.array_equal(ours, theirs)
    loose = {"f2": 2e-2, "f4": 2e-3}.get(dtype, 1e-6)
    scale = float(np.max(np.abs(theirs))) if np.size(theirs) else 0.0
    return bool(np.allclose(ours, theirs, rtol=loose, atol=loose * max(scale, 1.0), equal_nan=True))


def measure(library, data, case, threads, seconds):
    name, op, dtype, shape, view, axes = case
    x = data.array(dtype, shape)
    if view:
        x = view(x)
    peer = PEERS[op]
    theirs = peer(x, axis=axes)
    theirs = theirs if isinstance(theirs, tuple) else (theirs,)
    kept = [n for d, n in enumerate(x.shape) if axes is not None and d not in axes]
    kinds = {"argmax": "i8", "count_nonzero": "i8", "any": "?", "all": "?"}
    default = {"i": "i8", "b": "i8"}.get(x.dtype.kind, dtype) if op in ("sum", "prod") else dtype
    outs = [np.empty(kept, kinds.get(op, default)) for _ in theirs]
    run = library.plan(op, x, axes, outs, threads)
    run()
    if dtype == "f2":  # NumPy adds columns in f16, one after the other: no answer to compare with
        theirs = (peer(x, axis=axes, dtype=np.float32),)
    right = all(agree(op, dtype, o, t) for o, t in zip(outs, theirs))
    if not right and x.dtype.kind == "f":  # norms of long f4 arrays are off by percents where BLAS adds them up one by one
        wide = peer(x.astype(np.float64), axis=axes)
        right = all(agree(op, dtype, o, t) for o, t in zip(outs, wide if isinstance(wide, tuple) else (wide,)))
    mine, others, start = [], [], time.perf_counter()
    repeat = max(1, int(2e-4 / max(timed(run, 1), 1e-9)))
    while len(mine) < 5 or (time.perf_counter() - start < seconds and len(mine) < 1000):
        mine.append(timed(run, repeat))
        others.append(timed(lambda: peer(x, axis=axes), 1))
    run.release()
    ratio = statistics.median(o / m for o, m in zip(others, mine))
    return {"name": name, "op": op, "dtype": dtype, "shape": list(x.shape), "axes": list(axes) if axes else None,
            "bytes": x.size * x.itemsize, "us": 1e6 * statistics.median(mine), "numpy_us": 1e6 * statistics.median(others),
            "ratio": ratio, "gbps": x.size * x.itemsize / statistics.median(mine) / 1e9, "agree": right,
            "slower": ratio < 0.95}


def timed(call, repeat):
    start = time.perf_counter()
    for _ in range(repeat):
        call()
    return (time.perf_counter() - start) / repeat


def machine():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as stream:
            for line in stream:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--library", default=os.path.join(ROOT, "build", "libredax.so"))
    parser.add_argument("--threads", type=int, default=0, help="of redax; 0: one for each processor")
    parser.add_argument("--seconds", type=float, default=0.5, help="of timing for each case")
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    parser.add_argument("--json", help="write the records to this file")
    parser.add_argument("--strict", action="store_true", help="exit 1 if a case is slower than NumPy")
    options = parser.parse_args()
    library, data, records, skipped = Library(options.library), Data(), [], []
    head = {"schema": 1, "redax": library.version(), "numpy": np.__version__, "python": platform.python_version(),
            "machine": machine(), "processors": os.cpu_count(), "threads": options.threads or len(os.sched_getaffinity(0)),
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")}
    print(f"redax {head['redax']} on {head['threads']} threads, NumPy {head['numpy']}, Python {head['python']}, "
          f"{head['machine']}, {head['date']}\n")
    print(f"{'case':26} {'redax us':>12} {'NumPy us':>12} {'NumPy/redax':>12} {'GB/s':>8}")
    for case in cases():
        if options.only not in case[0]:
            continue
        if case[2] == "bf16":
            skipped.append({"name": case[0], "why": "NumPy has no bf16"})
            print(f"{case[0]:26} skipped: NumPy has no bf16")
            continue
        record = measure(library, data, case, options.threads, options.seconds)
        records.append(record)
        note = "" if record["agree"] else "  DIFFERENT RESULT"
        note += "  SLOWER" if record["slower"] else ""
        print(f"{record['name']:26} {record['us']:12.1f} {record['numpy_us']:12.1f} {record['ratio']:12.2f} "
              f"{record['gbps']:8.2f}{note}", flush=True)
    if not records:
        print("no such case", file=sys.stderr)
        return 2
    geomean = math.exp(sum(math.log(r["ratio"]) for r in records) / len(records))
    slower = [r["name"] for r in records if r["slower"]]
    different = [r["name"] for r in records if not r["agree"]]
    print(f"\n{len(records)} cases, geomean {geomean:.2f}x; slower than NumPy: {', '.join(slower) or 'none'}; "
          f"different results: {', '.join(different) or 'none'}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as stream:
            json.dump({**head, "geomean": geomean, "slower": slower, "different": different, "skipped": skipped,
                       "cases": records}, stream, indent=2)
            stream.write("\n")
    return 1 if different or (options.strict and slower) else 0


if __name__ == "__main__":
    sys.exit(main())
