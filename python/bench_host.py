#!/usr/bin/env python3
"""What a call costs on the host, beside the C library's and the peers'.

    make bench-python PYTHON=python3       # with the NumPy, and PyTorch and CuPy where they are, of that python

Sums of 12 float64 (3 x 4), over all axes, so that next to nothing is the work itself. "C" is rdx_infer_outputs and rdx_reduce
called from a loop in C on the same memory; on CUDA all calls are asynchronous, so what is timed is the launch. "PyTorch's part" is
what PyTorch takes, called from a loop in C, for what no caller can do without: to show the input and to make, wrap and free the
result, or to show that. Each figure is the median of 15 turns, in which every column is timed once; a turn is 10000 calls on the
CPU, and on CUDA 500, with a synchronisation after each. Prints nanoseconds."""

import ctypes
import pathlib
import platform
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TURNS = 15


def pause(function, array, calls, out=None):
    """Nanoseconds a call, without the loop's own."""
    turns = range(calls)
    start = time.perf_counter_ns()
    for _ in turns:
        pass
    empty = time.perf_counter_ns()
    if out is None:
        for _ in turns:
            function(array)
    else:
        for _ in turns:
            function(array, out=out)
    return (time.perf_counter_ns() - empty - (empty - start)) / calls


def c_call(library, tensor):
    """A function that takes a number of calls and gives nanoseconds a call."""
    library.bench_call.restype = ctypes.c_double
    shape = (ctypes.c_int64 * 2)(3, 4)

    def call(calls):
        ns = library.bench_call(ctypes.c_void_p(tensor["data"]), shape, 2, 64, tensor["device"], 0,
                                ctypes.c_void_p(tensor["result"]), ctypes.c_void_p(tensor["stream"]), calls)
        if ns < 0:
            sys.exit(f"rdx_reduce fails with status {-ns:.0f}")
        return ns
    return call


def exchange_call(path, array, results):
    """The same for PyTorch's part, or None where this PyTorch has no exchange API."""
    capsule = getattr(type(array), "__dlpack_c_exchange_api__", None)
    if capsule is None:
        return None
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = get(capsule, b"dlpack_exchange_api")
    run = ctypes.PyDLL(path).bench_exchange # holds the GIL
    run.restype, run.argtypes = ctypes.c_double, [ctypes.c_void_p, ctypes.py_object, ctypes.c_int, ctypes.c_int]

    def call(calls):
        ns = run(table, array, results, calls)
        if ns < 0:
            sys.exit("PyTorch's exchange API refuses")
        return ns
    return call


def row(name, columns, calls, settle):
    """columns: {name: function of a number of calls}; one that is None is left out"""
    columns = {column: run for column, run in columns.items() if run}
    for run in columns.values():
        run(calls)
        settle()
    times = {column: [] for column in columns}
    for _ in range(TURNS):
        for column, run in columns.items():
            times[column].append(run(calls))
            settle()
    medians = {column: statistics.median(values) for column, values in times.items()}
    above = medians["redax"] - medians["C"]
    part = f"{medians['part']:.0f}" if "part" in medians else "-"
    print(f"| {name} | {medians['C']:.0f} | {medians['redax']:.0f} | {above:+.0f} | {part} | {medians['peer']:.0f} |")
    return above


def main():
    import numpy as np

    import redax
    package = pathlib.Path(redax.__file__).parent
    ctypes.CDLL(str(package / "libredax.so.0"), mode=ctypes.RTLD_GLOBAL) # the one that the extension uses
    library = ctypes.CDLL(sys.argv[1])
    print(f"python {platform.python_version()}, numpy {np.__version__}, redax {redax.__version__}; ns a call\n")
    print("| sum of 12 float64 | C | redax.sum | above C | of that PyTorch's part | the library's own |")
    print("|---|---|---|---|---|---|")

    x, result = np.arange(12.0).reshape(3, 4), np.empty(())
    host = {"data": x.ctypes.data, "result": result.ctypes.data, "device": 1, "stream": None}
    row("NumPy", {"C": c_call(library, host), "redax": lambda n: pause(redax.sum, x, n),
                  "peer": lambda n: pause(np.sum, x, n)}, 10000, lambda: None)
    plan = redax.Plan("sum", x)
    row("NumPy, a redax.Plan", {"C": c_call(library, host), "redax": lambda n: pause(plan, x, n),
                                "peer": lambda n: pause(np.sum, x, n)}, 10000, lambda: None)
    try:
        import torch
    except ImportError:
        print("\nno torch here: its rows are left out")
        return
    t, scalar = torch.from_numpy(x), torch.empty((), dtype=torch.float64)
    host = {"data": t.data_ptr(), "result": scalar.data_ptr(), "device": 1, "stream": None}
    row(f"PyTorch {torch.__version__}, CPU", {"C": c_call(library, host), "redax": lambda n: pause(redax.sum, t, n),
                                              "part": exchange_call(sys.argv[1], t, 1),
                                              "peer": lambda n: pause(torch.sum, t, n)}, 10000, lambda: None)
    given = scalar.clone()
    row(f"PyTorch {torch.__version__}, CPU, out=", {"C": c_call(library, host), "redax": lambda n: pause(redax.sum, t, n, given),
                                                    "part": exchange_call(sys.argv[1], t, 0),
                                                    "peer": lambda n: pause(torch.sum, t, n)}, 10000, lambda: None)
    if not torch.cuda.is_available() or not redax.info()["cuda"]:
        print(f"\nno CUDA here: its rows are left out ({redax.info()['cuda_refusal']})")
        return
    d, scalar = t.cuda(), torch.empty((), dtype=torch.float64, device="cuda")
    device = {"data": d.data_ptr(), "result": scalar.data_ptr(), "device": 2,
              "stream": torch.cuda.current_stream().cuda_stream or None}
    row("PyTorch, CUDA", {"C": c_call(library, device), "redax": lambda n: pause(redax.sum, d, n),
                          "part": exchange_call(sys.argv[1], d, 1), "peer": lambda n: pause(torch.sum, d, n)}, 500, torch.cuda.synchronize)
    given = scalar.clone()
    row("PyTorch, CUDA, out=", {"C": c_call(library, device), "redax": lambda n: pause(redax.sum, d, n, given),
                                "part": exchange_call(sys.argv[1], d, 0), "peer": lambda n: pause(torch.sum, d, n)}, 500, torch.cuda.synchronize)
    try:
        import cupy
    except ImportError:
        return
    c = cupy.asarray(x)
    row(f"CuPy {cupy.__version__}", {"C": c_call(library, device), "redax": lambda n: pause(redax.sum, c, n),
                                     "peer": lambda n: pause(cupy.sum, c, n)}, 500, torch.cuda.synchronize)


if __name__ == "__main__":
    main()
