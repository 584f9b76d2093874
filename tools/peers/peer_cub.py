"""CUB: DeviceReduce and DeviceSegmentedReduce, compiled on the spot by nvcc (cub.cu), captured in a CUDA graph.

CUB reduces runs of adjacent elements, so only cases that are one run, or runs at one distance from each other, are timed. Sums
are added up in what redax adds them up in; conversions and finishes ride along in CUB's own iterators.
"""

import ctypes
import fcntl
import hashlib
import os
import shutil
import subprocess

import numpy as np

from . import data
from .cases import Unsupported, kind

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cub.cu")
TYPES = {"bool": "bool", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t", "u8": "uint8_t", "u16": "uint16_t",
         "u32": "uint32_t", "u64": "uint64_t", "f16": "__half", "bf16": "__nv_bfloat16", "f32": "float", "f64": "double"}
LIMITS = "cuda::std::numeric_limits"
NAMES = ("n", "segments", "step", "copies", "calls", "pitch_bytes", "slip_bytes", "storage_bytes", "output_bytes")


class Job(ctypes.Structure):  # as in cub.cu
    _fields_ = ([(name, ctypes.c_int64) for name in NAMES] + [("block", ctypes.c_void_p), ("block_bytes", ctypes.c_int64)] +
                [(name, ctypes.c_void_p) for name in ("in_", "out", "temp", "extremum")] + [("temp_bytes", ctypes.c_size_t)] +
                [(name, ctypes.c_void_p) for name in ("stream", "graph", "run", "start", "end")])


def runs(case):
    """(elements of a run, runs, elements from run to run)."""
    reduced, kept = case.fused(case.axes), case.fused(case.kept)
    if any(case.strides[d] == 0 and case.shape[d] > 1 for d in range(len(case.shape))):
        raise Unsupported("CUB reduces runs of adjacent elements")
    if len(reduced) > 1 or len(kept) > 1 or (reduced and abs(reduced[0][1]) != 1) or (kept and kept[0][1] < 0):
        raise Unsupported("CUB reduces runs of adjacent elements")
    if case.reversed_axes and case.ordered:
        raise Unsupported("CUB's runs go forwards")
    return case.reduced, case.outputs, kept[0][1] if kept else case.reduced


def macros(case):
    """What cub.cu is compiled with."""
    if case.dtype not in TYPES or case.outs[0] not in TYPES or len(case.outs) > 1 or case.omit:
        raise Unsupported(f"not timed for CUB: {case.op} of {case.dtype}" + (" that omits NaN" if case.omit else ""))
    op, given, out = case.op, TYPES[case.dtype], TYPES[case.outs[0]]
    wide = "double" if case.outs[0] == "f64" else "float"
    acc = out if kind(case.outs[0]) in "iu" else wide
    lift, finish, init, functor = f"static_cast<{acc}>(x)", f"static_cast<{out}>(a)", "0", "cuda::std::plus<>"
    if op == "sum" and acc in ("float", "double"):
        init = "-0.0"
    elif op == "prod":
        functor, init = "cuda::std::multiplies<>", "1"
    elif op == "mean":
        acc = "int64_t" if kind(case.dtype) in "biu" else wide
        lift, finish = f"static_cast<{acc}>(x)", f"static_cast<{out}>(static_cast<{wide}>(a) / static_cast<{wide}>(n))"
    elif op in ("min", "max"):
        if case.dtype == "bool":
            raise Unsupported(f"not timed for CUB: {op} of bool")
        acc, lift, finish = given, "x", "a"
        functor = f"cuda::{op}imum<>"
        bound = "infinity" if kind(case.dtype) == "f" else "max" if op == "min" else "lowest"
        sign = "-" if bound == "infinity" and op == "max" else ""
        init = f"{sign}{LIMITS}<{'float' if bound == 'infinity' and acc != 'double' else acc}>::{bound}()"
    elif op in ("argmin", "argmax"):
        acc, lift, finish, functor = given, "x", "0", "ArgMin" if op == "argmin" else "ArgMax"
    elif op in ("any", "all"):
        acc, lift, finish = "bool", "static_cast<bool>(x)" if case.dtype == "bool" else f"(x != {given}(0))", "a"
        functor, init = ("Or", "false") if op == "any" else ("And", "true")
    elif op == "count_nonzero":
        lift = f"static_cast<int64_t>(x != {given}(0))"
    elif op == "sumsq" or (op == "norm" and case.param == 2):
        lift = f"(static_cast<{acc}>(x) * static_cast<{acc}>(x))"
        finish = f"static_cast<{out}>({'sqrt' if acc == 'double' else 'sqrtf'}(a))" if op == "norm" else finish
    elif op != "sum":
        raise Unsupported(f"CUB has no {op}")
    plain = acc == given and out == acc and op in ("sum", "prod", "min", "max", "any", "all")
    return {"IN": given, "ACC": acc, "OUT": out, "OP": functor, "INIT": init, "LIFT(x)": lift, "FINISH(a,n)": finish,
            "PLAIN": int(plain), "ARG": int(op.startswith("arg")), "SEGMENTS": int(case.outputs != 1)}


def architecture():
    """nvcc's flag: the GPU in this machine, or what REDAX_PEERS_ARCH names."""
    return f"-arch={os.environ.get('REDAX_PEERS_ARCH', 'native')}"


def nvcc():
    found = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not os.path.exists(found):
        raise FileNotFoundError("there is no nvcc here")
    return found


def build(case, cache):
    """The shared object for a case, compiled unless it is in the cache."""
    runs(case)
    header = "".join(f"#define {name} {value}\n" for name, value in macros(case).items())
    with open(SOURCE, "rb") as stream:
        digest = hashlib.sha256(stream.read() + (header + architecture()).encode()).hexdigest()[:16]
    folder = os.path.join(cache, "cub")
    os.makedirs(folder, exist_ok=True)
    library = os.path.join(folder, f"{digest}.so")
    with open(f"{library}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(library):
            with open(f"{library}.h", "w", encoding="utf-8") as stream:
                stream.write(header)
            command = [nvcc(), "-O3", "-std=c++17", architecture(), "-shared", "-Xcompiler", "-fPIC", "-cudart", "static",
                       "-include", f"{library}.h", "-o", f"{library}.part", SOURCE]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                errors = [line for line in done.stderr.splitlines() if "error" in line] or [done.stderr[-200:]]
                raise RuntimeError(f"nvcc: {errors[0][-200:]}")
            os.replace(f"{library}.part", library)
    return library


class Made:
    graph, note = True, ""

    def __init__(self, case, rotation, library):
        self.case, self.calls = case, rotation.calls
        self.library = ctypes.CDLL(library)
        self.library.peer_error.restype = ctypes.c_char_p
        self.library.peer_output.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p]
        n, segments, step = runs(case)
        self.block = data.block(case.dtype, min(case.storage, data.PERIOD))
        self.job = Job(n=n, segments=segments, step=step, copies=rotation.copies, calls=rotation.calls,
                       pitch_bytes=rotation.pitch, slip_bytes=rotation.slip, storage_bytes=case.storage_bytes,
                       block=self.block.ctypes.data, block_bytes=self.block.nbytes)
        try:
            self._try(self.library.peer_open(ctypes.byref(self.job)))
        except RuntimeError:
            self.release()
            raise

    def _try(self, status):
        if status:
            raise RuntimeError(f"CUDA error {status}: {self.library.peer_error(status).decode()}")

    def outputs(self, positions):
        element, found = np.zeros(1, data.container(self.case.outs[0])), []
        for position in positions:
            self._try(self.library.peer_output(ctypes.byref(self.job), position, element.ctypes.data))
            found.append(data.widened(self.case.outs[0], element).tolist()[0])
        return [found]

    def replay(self):
        us = ctypes.c_double()
        self._try(self.library.peer_replay(ctypes.byref(self.job), ctypes.byref(us)))
        return us.value

    def release(self):
        self.library.peer_close(ctypes.byref(self.job))


class Cub:
    def __init__(self, device, cache):
        if device not in ("cuda", "cuda:0"):
            raise ValueError("CUB is timed on cuda:0; choose another GPU with CUDA_VISIBLE_DEVICES")
        self.cache = cache
        self.nvcc = nvcc()
        self.failed = False

    def versions(self):
        shown = subprocess.run([self.nvcc, "--version"], capture_output=True, text=True, check=True).stdout
        header = subprocess.run([self.nvcc, "-E", "-x", "cu", "-"], input="#include <cub/version.cuh>\nredax CUB_VERSION\n",
                                capture_output=True, text=True, check=True).stdout
        number = int(header.strip().rsplit(" ", 1)[-1])
        return {"nvcc": shown.split("release ")[1].split(",")[0],
                "cub": f"{number // 100000}.{number // 100 % 1000}.{number % 100}"}

    def check(self):
        """After a CUDA error a new process is cheaper than finding out whether the error stuck."""
        if self.failed:
            raise RuntimeError("there was a CUDA error")

    def refuses(self, why):
        self.failed = "CUDA error" in str(why)
        return False

    def prepare(self, case):
        build(case, self.cache)

    def make(self, case, rotation, graph):
        del graph
        return Made(case, rotation, build(case, self.cache))
