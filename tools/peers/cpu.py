"""redax, NumPy and torch on the CPU: the same arrays in the same process, one call of each after one call of the others.

A row for each case: medians in microseconds, for each peer the median of the ratios peer / redax, and GB/s of redax (input bytes
that are elements). Results are compared first; a difference beyond rounding ends with exit 1. NumPy works on one thread (its norm
over all axes uses a BLAS, which may take more), redax and torch on as many as they are told.
"""

import datetime
import math
import os
import platform
import statistics
import sys
import time
import warnings

import numpy as np

from . import data, records
from .cases import Unsupported, kind
from .library import Library

SLOWER = 0.95  # a ratio below this is marked
MOST_TURNS = 1000


class Arrays:
    """Input storage by dtype, made once."""

    def __init__(self):
        self.dtype, self.storage = None, np.empty(0)

    def view(self, case):
        if self.dtype != case.dtype or self.storage.size < case.storage:
            self.storage = np.empty(0)  # one at a time: memory
            self.dtype, self.storage = case.dtype, np.resize(data.block(case.dtype), case.storage)
        size = self.storage.itemsize
        return np.ndarray(case.shape, self.storage.dtype, self.storage, (case.offset - case.low) * size,
                          tuple(s * size for s in case.strides))


# ---- NumPy ----

def _logsumexp(x, axis):
    top = x.max(axis=axis, keepdims=True)
    return np.squeeze(np.log(np.exp(x - top).sum(axis=axis, keepdims=True)) + top, axis=axis)


def _norm2(x, axis, whole):
    return np.linalg.norm(x.reshape(-1)) if whole else np.sqrt(np.sum(x * x, axis=axis))


class Numpy:
    def __init__(self, threads):
        del threads

    def versions(self):
        return {"numpy": np.__version__}

    def make(self, case, array):
        """A call without arguments -> a tuple of arrays."""
        op, axis = case.op, case.axes
        if case.dtype in data.CONTAINERS:
            raise Unsupported(f"NumPy has no {case.dtype}")
        if case.omit or op.startswith("bit_") or (len(case.outs) > 1 and op != "minmax"):
            raise Unsupported(f"not timed in NumPy: {case.text}")
        if op in ("sum", "prod", "mean"):
            wider = {} if case.outs[0] == case.dtype else {"dtype": data.NUMPY[case.outs[0]]}
            return lambda: (getattr(np, op)(array, axis=axis, **wider),)
        if op in ("var", "std"):
            return lambda: (getattr(np, op)(array, axis=axis, ddof=case.param),)
        if op in ("argmin", "argmax"):
            if len(axis) > 1 and not case.whole:
                raise Unsupported(f"NumPy's {op} takes one axis or all")
            return lambda: (getattr(np, op)(array, axis=None if case.whole else axis[0]),)
        if op == "minmax":
            return lambda: (np.min(array, axis=axis), np.max(array, axis=axis))
        if op == "norm" and case.param == 2:
            return lambda: (_norm2(array, axis, case.whole),)
        if op == "sumsq":
            return lambda: (np.sum(array * array, axis=axis),)
        if op == "logsumexp":
            return lambda: (_logsumexp(array, axis),)
        if op == "norm":
            raise Unsupported("not timed in NumPy: norms but p = 2")
        return lambda: (getattr(np, op)(array, axis=axis),)

    def wide(self, case, array):
        """The answer, computed in wider numbers where NumPy's own are off: f16 columns are added in f16 one after the other, and
        norms of long f32 arrays too."""
        return self.make(case, array.astype("f4" if case.dtype == "f16" else "f8"))()


class Torch:
    rest_seconds = 0.005  # OpenMP's threads spin for a while after a call, on the cores that redax's turn needs

    def __init__(self, threads):
        import torch  # pylint: disable=import-outside-toplevel
        from . import torch_ops  # pylint: disable=import-outside-toplevel
        self.torch, self.ops = torch, torch_ops
        torch.set_grad_enabled(False)
        if threads:
            torch.set_num_threads(threads)

    def versions(self):
        return {"torch": self.torch.__version__}

    def make(self, case, array):
        if case.reversed_axes:
            if case.ordered:
                raise Unsupported("torch has no negative strides")
            array = array[tuple(slice(None, None, -1 if d in case.reversed_axes else 1) for d in range(array.ndim))]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tensor = self.torch.from_numpy(array)
        call = self.ops.function(case)
        tensor = tensor.view(self.ops.DTYPES[case.dtype]) if case.dtype in data.CONTAINERS else tensor
        try:
            call(tensor)
        except (RuntimeError, TypeError) as why:
            if self.ops.refuses(why):
                raise Unsupported(str(why).splitlines()[0]) from why
            raise
        return lambda: call(tensor)


OPENERS = {"numpy": Numpy, "torch": Torch}


# ---- Comparing and timing ----

def same(case, ours, theirs):
    if case.op in ("max", "min", "minmax", "argmax", "argmin", "any", "all", "count_nonzero") or kind(case.outs[0]) in "iu":
        return np.array_equal(ours, theirs)
    loose = {"f16": 2e-2, "bf16": 2e-2, "f32": 2e-3, "c64": 2e-3}.get(case.outs[0], 1e-6)
    scale = float(np.max(np.abs(theirs))) if np.size(theirs) else 0.0
    return bool(np.allclose(ours, theirs, rtol=loose, atol=loose * max(scale, 1.0), equal_nan=True))


def agree(case, array, peer, call, outs):
    """Do redax and the peer say the same?"""
    theirs = call()
    if isinstance(peer, Torch):
        every = range(case.outputs)
        theirs = [np.array(peer.ops.numbers(out, list(every))).reshape(case.out_shape) for out in theirs]
    ours = [data.widened(dtype, out) for dtype, out in zip(case.outs, outs)]
    if all(same(case, o, t) for o, t in zip(ours, theirs)):
        return True
    if kind(case.dtype) != "f" or case.dtype in data.CONTAINERS:
        return False
    return all(same(case, o, t) for o, t in zip(ours, Numpy(0).wide(case, array)))


def timed(call, repeat):
    """Seconds a call."""
    start = time.perf_counter()
    for _ in range(repeat):
        call()
    return (time.perf_counter() - start) / repeat


def turns(run, call, repeat, rest_seconds, seconds):
    """[(seconds of redax, seconds of the peer)], neighbours in time."""
    pairs, start = [], time.perf_counter()
    while len(pairs) < 5 or (time.perf_counter() - start < seconds and len(pairs) < MOST_TURNS):
        time.sleep(rest_seconds)
        ours = timed(run, repeat)
        pairs.append((ours, timed(call, 1)))
    return pairs


def measure(library, peers, array, case, options):
    """(redax's record, {peer: record})."""
    outs = [np.empty(case.out_shape, data.container(dtype)) for dtype in case.outs]
    run = library.plan(case, array, outs, options.threads)
    run()
    calls, found = {}, {}
    for name, peer in peers.items():
        try:
            call = peer.make(case, array)
            found[name] = {"agrees": agree(case, array, peer, call, outs)}
            calls[name] = call
        except Unsupported as why:
            found[name] = {"skipped": str(why)}
        except Exception as why:  # pylint: disable=broad-exception-caught  # whatever a peer throws belongs to the case
            found[name] = {"error": f"{type(why).__name__}: {str(why).splitlines()[0][:200] if str(why) else ''}"}
    mine, others = [], {}
    repeat = max(1, int(2e-4 / max(timed(run, 1), 1e-9)))
    for name, call in calls.items():
        others[name] = turns(run, call, repeat, getattr(peers[name], "rest_seconds", 0), options.seconds / len(calls))
        mine += [m for m, _ in others[name]]
    run.release()
    us = 1e6 * statistics.median(mine or [timed(run, repeat) for _ in range(5)])
    for name, pairs in others.items():
        found[name].update(us=1e6 * statistics.median(o for _, o in pairs), ratio=statistics.median(o / m for m, o in pairs))
        found[name]["slower"] = found[name]["ratio"] < SLOWER
    return {"us": us, "gbps": case.elements * case.size / us / 1e3}, found


def machine():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as stream:
            for line in stream:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def main(options, chosen):
    library, arrays, document = Library(options.library), Arrays(), records.new("cpu")
    peers = {}
    for name in options.peers:
        try:
            peers[name] = OPENERS[name](options.threads)
            document["versions"].update(peers[name].versions())
        except ImportError as why:
            document["absent"][name] = str(why)
    threads = options.threads or len(os.sched_getaffinity(0))
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    document["versions"].update(redax=library.version(), python=platform.python_version())
    document["machine"] = machine()
    document["runs"].append({"date": date, "suites": sorted({s for s, _ in chosen}), "shard": options.shard, "threads": threads})
    print(f"redax {library.version()} on {threads} threads, {', '.join(f'{k} {v}' for k, v in document['versions'].items())}, "
          f"{document['machine']}, {date}")
    for name, why in document["absent"].items():
        print(f"{name} is left out: {why}")
    print(f"\n{'case':26} {'redax us':>12} {'GB/s':>8}" + "".join(f" {name + ' us':>14} {'/redax':>7}" for name in peers))
    for suite, case in chosen:
        known = records.entry(document, case, suite)
        ours, found = measure(library, peers, arrays.view(case), case, options)
        known["redax"] = records.add({}, ours)
        known["peers"] = {name: records.add({}, record) for name, record in found.items()}
        print(f"{case.name:26} {ours['us']:12.1f} {ours['gbps']:8.2f}" + "".join(cell(found[name]) for name in peers), flush=True)
    records.save(document, options.json)
    return conclude(document, peers, options.strict)


def cell(record):
    if "us" not in record:
        return f" {'skipped' if 'skipped' in record else 'ERROR':>14} {'':>7}"
    notes = ("" if record["agrees"] else " DIFFERENT RESULT") + (" SLOWER" if record["slower"] else "")
    return f" {record['us']:14.1f} {record['ratio']:7.2f}{notes}"


def conclude(document, peers, strict):
    code = 0
    print()
    for name in peers:
        measured = [(e["name"], e["peers"][name]) for e in document["cases"] if "us" in e["peers"][name]]
        slower = [case for case, record in measured if record["slower"]]
        different = [case for case, record in measured if not record["agrees"]]
        failed = [f"{e['name']} ({e['peers'][name]['error']})" for e in document["cases"] if "error" in e["peers"][name]]
        if not measured:
            print(f"{name}: no case", file=sys.stderr)
            continue
        geomean = math.exp(sum(math.log(record["ratio"]) for _, record in measured) / len(measured))
        print(f"{name}: {len(measured)} cases, geomean {geomean:.2f}x; redax is slower in: {', '.join(slower) or 'none'}; "
              f"different results: {', '.join(different) or 'none'}; failed: {', '.join(failed) or 'none'}")
        code = 1 if different or (strict and slower) else code
    return code
