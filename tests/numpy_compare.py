#!/usr/bin/env python3
"""`redax reduce` and `redax stats` on files that NumPy wrote, beside NumPy's own answers.

    numpy_compare.py build/redax

Prints a line for every answer that differs, then how many were compared. The result files are read by numpy.load, so that
the writer is tested as well."""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np

redax = os.path.abspath(sys.argv[1])
rng = np.random.default_rng(20240607)
compared = differing = 0


def run(*arguments):
    return subprocess.run([redax, *arguments], capture_output=True, text=True)


def check(what, got, wanted, rtol):
    global compared, differing
    compared += 1
    wanted = np.asarray(wanted)
    good = got is not None and got.shape == wanted.shape and got.dtype == wanted.dtype
    if good and wanted.dtype.kind in "fc":
        good = np.allclose(got, wanted, rtol=rtol, atol=rtol, equal_nan=True)
    elif good:
        good = np.array_equal(got, wanted)
    if not good:
        differing += 1
        print("DIFFERS", what, None if got is None else (got.dtype, got.shape), (wanted.dtype, wanted.shape))


def sample(dtype, shape):
    if dtype == np.bool_:
        return rng.random(shape) < 0.5
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, size=shape, dtype=dtype, endpoint=True)
    if np.dtype(dtype).kind == "c":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def sum_of(x, axis, keep):
    if x.dtype.kind in "fc":
        wide = np.float64 if x.dtype.kind == "f" else np.complex128
        return x.astype(wide).sum(axis=axis, keepdims=keep).astype(x.dtype)
    return x.sum(axis=axis, keepdims=keep, dtype=np.uint64 if x.dtype.kind == "u" else np.int64)


def wide_of(x):
    return x.astype(np.complex128) if x.dtype.kind == "c" else x.astype(np.float64)


def real_result(x):
    if x.dtype.kind in "iub":
        return np.float64
    return x.real.dtype.type


OPS = {
    "sum": (sum_of, "biufc"),
    "mean": (lambda x, axis, keep: wide_of(x).mean(axis=axis, keepdims=keep)
             .astype(x.dtype if x.dtype.kind in "fc" else np.float64), "biufc"),
    "var": (lambda x, axis, keep: wide_of(x).var(axis=axis, keepdims=keep).astype(real_result(x)), "biufc"),
    "std": (lambda x, axis, keep: wide_of(x).std(axis=axis, keepdims=keep).astype(real_result(x)), "biufc"),
    "min": (lambda x, axis, keep: x.min(axis=axis, keepdims=keep), "biuf"),
    "max": (lambda x, axis, keep: x.max(axis=axis, keepdims=keep), "biuf"),
    "any": (lambda x, axis, keep: x.any(axis=axis, keepdims=keep), "biufc"),
    "all": (lambda x, axis, keep: x.all(axis=axis, keepdims=keep), "biufc"),
    "count_nonzero": (lambda x, axis, keep: np.asarray(np.count_nonzero(x, axis=axis, keepdims=keep))
                      .astype(np.int64), "biufc"),
    "sumsq": (lambda x, axis, keep: (abs(wide_of(x)) ** 2).sum(axis=axis, keepdims=keep).astype(real_result(x)), "biufc"),
    "norm": (lambda x, axis, keep: np.sqrt((abs(wide_of(x)) ** 2).sum(axis=axis, keepdims=keep)).astype(real_result(x)),
             "biufc"),
    "logsumexp": (lambda x, axis, keep: np.log(np.exp(x.astype(np.float64)).sum(axis=axis, keepdims=keep)).astype(x.dtype),
                  "f"),
    "bit_xor": (lambda x, axis, keep: np.bitwise_xor.reduce(x, axis=axis, keepdims=keep), "biu"),
    "bit_and": (lambda x, axis, keep: np.bitwise_and.reduce(x, axis=axis, keepdims=keep), "biu"),
}
DTYPES = [np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float16,
          np.float32, np.float64, np.complex64, np.complex128]
SHAPES = [((7,), None), ((33, 5), (0,)), ((4, 61), (1,)), ((3, 8, 5), (0, 2)), ((2, 3, 4, 5), (1, 3)), ((), None),
          ((5, 4, 3), (2, 0, 1))]


def reductions(folder):
    pick = 0
    for dtype in DTYPES:
        for op, (function, kinds) in OPS.items():
            if np.dtype(dtype).kind not in kinds:
                continue
            shape, axes = SHAPES[pick % len(SHAPES)]
            keep, fortran, version = pick % 3 == 0, pick % 2 == 1, (1, 0) if pick % 5 else (2, 0)
            pick += 1
            x = sample(dtype, shape)
            path, out = os.path.join(folder, "x.npy"), os.path.join(folder, "y.npy")
            with open(path, "wb") as stream:
                np.lib.format.write_array(stream, np.asfortranarray(x) if fortran and x.ndim else x, version=version)
            if os.path.exists(out):
                os.unlink(out)
            arguments = ["reduce", path, "--op", op, "-o", out]
            if axes is not None:
                arguments += ["--axis", ",".join(map(str, axes))]
            if keep:
                arguments += ["--keepdims"]
            done = run(*arguments)
            got = np.load(out) if done.returncode == 0 and os.path.exists(out) else None
            rtol = {2: 2e-3, 4: 2e-5}.get(x.real.dtype.itemsize if x.dtype.kind in "fc" else 8, 1e-11)
            check(f"{op} {x.dtype} {shape} {axes} {done.stderr.strip()}", got, function(x, axes, keep), rtol)


def indices(folder):
    path, out, out2 = (os.path.join(folder, name) for name in ("x.npy", "y.npy", "z.npy"))
    x = rng.integers(-3, 3, size=(9, 40)).astype(np.float32)
    np.save(path, x)
    for op, function in (("argmin", np.argmin), ("argmax", np.argmax)):
        for axis in (0, 1):
            run("reduce", path, "--op", op, "--axis", str(axis), "-o", out)
            check(op, np.load(out), function(x, axis=axis).astype(np.int64), 0)
    run("reduce", path, "--op", "max", "--axis", "1", "-o", out, "--out2", out2)
    check("max", np.load(out), x.max(axis=1), 0)
    check("index of max", np.load(out2), x.argmax(axis=1).astype(np.int64), 0)
    x[2, 7] = np.nan
    np.save(path, x)
    run("reduce", path, "--op", "sum", "--axis", "1", "--nan", "omit", "-o", out)
    check("nansum", np.load(out), np.nansum(x, axis=1), 0)
    run("reduce", path, "--op", "var", "--axis", "1", "--dtype", "f64", "--correction", "1.5", "-o", out, "--out2", out2)
    check("var", np.load(out), x.astype(np.float64).var(axis=1, ddof=1.5), 1e-12)
    check("mean of var", np.load(out2), x.astype(np.float64).mean(axis=1), 1e-12)


def as_number(value):
    return float(value) if isinstance(value, str) else value


def statistics(folder):
    path = os.path.join(folder, "x.npy")
    for dtype, shape in ((np.float32, (3, 700001)), (np.float16, (1000, 77)), (np.int8, (5000000,)), (np.uint64, (1000,)),
                         (np.float64, (1300000,)), (np.complex64, (600000,)), (np.bool_, (99,)), (np.int64, (1100000,))):
        x = sample(dtype, shape)
        if dtype == np.float32:
            x[1, 5:9] = np.nan
            x[2, 3] = 0
        np.save(path, x)
        done = run("stats", path, "--json")
        found = json.loads(done.stdout)["files"][0]["tensors"][0]
        y = wide_of(x.ravel())
        y = y[~np.isnan(y)]
        wanted = {"mean": y.mean(), "std": y.std(), "norm": np.sqrt((abs(y) ** 2).sum())}
        for name, value in wanted.items():
            got = found[name]
            got = complex(*got) if isinstance(got, list) else as_number(got)
            check(f"stats {name} {dtype.__name__}", np.asarray(got), np.asarray(value), 1e-12)
        counts = {"nan": np.isnan(x).sum(), "inf": np.isinf(x).sum(), "zero": (x == 0).sum()}
        for name, value in counts.items():
            check(f"stats {name} {dtype.__name__}", np.asarray(found[name]), np.asarray(int(value)), 0)
        if x.dtype.kind != "c":
            z = x.ravel()[~np.isnan(x.ravel())]
            for name, value in (("min", z.min()), ("max", z.max())):
                check(f"stats {name} {dtype.__name__}", np.asarray(as_number(found[name])), np.asarray(value.item()), 0)
    x = sample(np.float32, (50, 60))
    x[3, 4], x[7, 4], x[9, 9] = np.inf, -np.inf, np.nan
    np.save(path, x)
    found = json.loads(run("stats", path, "--axis", "0", "--json").stdout)["files"][0]["tensors"][0]
    check("stats inf along an axis", np.asarray(found["inf"]["values"]), np.isinf(x).sum(axis=0), 0)
    check("stats nan along an axis", np.asarray(found["nan"]["values"]), np.isnan(x).sum(axis=0), 0)
    check("stats max along an axis", np.asarray([as_number(v) for v in found["max"]["values"]]).astype(np.float32),
          np.nanmax(x, axis=0), 1e-6)


def same_bits(folder):
    """mean and norm of stats are those of reduce --dtype f64."""
    path, out = os.path.join(folder, "x.npy"), os.path.join(folder, "y.npy")
    np.save(path, sample(np.float32, (3, 1500007)))
    found = json.loads(run("stats", path, "--json").stdout)["files"][0]["tensors"][0]
    for op in ("mean", "norm"):
        run("reduce", path, "--op", op, "--dtype", "f64", "-o", out)
        check(f"bits of {op}", np.asarray(np.float64(found[op]).view(np.int64)), np.load(out).view(np.int64), 0)


with np.errstate(all="ignore"), tempfile.TemporaryDirectory() as scratch:
    reductions(scratch)
    indices(scratch)
    statistics(scratch)
    same_bits(scratch)
print(f"{compared} comparisons, {differing} differ")
sys.exit(1 if differing or compared < 150 else 0)
