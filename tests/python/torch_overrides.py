"""A pytest plugin that puts redax's functions in the place of PyTorch's CPU and CUDA kernels, for PyTorch's own tests:

    pytest -p torch_overrides CHECKOUT/test/test_reductions.py

The overrides translate arguments alone: dims as PyTorch numbers and words them, default dtypes, u8 for any and all of u8, integers
made floats first where dtype= says so. Variants with out= stay PyTorch's. At the end it says how many tests reached redax."""

import unittest

import pytest
import torch
from torch._prims_common import canonicalize_dims

import redax

calls = 0
reached, without = set(), set()


def axes_of(x, dim):
    """axis= for a dim of PyTorch: None and () mean all; a scalar has a dim 0. Wrong ones are PyTorch's to refuse."""
    if dim is None or (isinstance(dim, (list, tuple)) and len(dim) == 0):
        return None
    dims = canonicalize_dims(x.ndim, tuple(dim) if isinstance(dim, (list, tuple)) else (dim,))
    for dim in dims:
        need(dims.count(dim) == 1, f"dim {dim} appears multiple times in the list of dims")
    need(x.ndim <= 64, "only tensors with up to 64 dims are supported")
    return None if x.ndim == 0 else dims


def run(name, x, dim=None, keepdim=False, dtype=None, **options):
    global calls
    calls += 1
    x = x.detach()
    if dtype is not None:
        options["dtype"] = dtype
        whole = not (x.is_floating_point() or x.is_complex())
        direct = dtype in (torch.float32, torch.float64) if whole and dtype.is_floating_point else whole == is_whole(dtype)
        if dtype.is_complex != x.is_complex() or not direct:
            x = x.to(dtype) # PyTorch converts first
    return getattr(redax, name)(x, axis=axes_of(x, dim), keepdims=keepdim, **options)


def is_whole(dtype):
    return not (dtype.is_floating_point or dtype.is_complex)


def need(condition, message):
    if not condition:
        raise RuntimeError(message)


def total(name):
    def kernel(x, dim=None, keepdim=False, *, dtype=None):
        if dtype is None and not (x.is_floating_point() or x.is_complex()):
            dtype = torch.int64 # u8 too
        if dtype is torch.bool:
            raise unittest.SkipTest("redax has no sum or product into bool")
        return run(name, x, dim, keepdim, dtype)
    return kernel


def sum_all(x, *, dtype=None):
    return total("sum")(x, dtype=dtype)


def prod_all(x, *, dtype=None):
    return total("prod")(x, dtype=dtype)


def mean(x, dim=None, keepdim=False, *, dtype=None):
    wanted = dtype or x.dtype
    need(wanted.is_floating_point or wanted.is_complex,
         f"mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: {x.dtype}")
    return run("mean", x, dim, keepdim, dtype)


def mean_all(x, *, dtype=None):
    return mean(x, dtype=dtype)


def extreme(name, own):
    def kernel(x, dim=(), keepdim=False):
        if x.numel() == 0 and (not dim or any(x.shape[d] == 0 for d in dim)):
            raise IndexError(f"{own}(): Expected reduction dim to be specified for input.numel() == 0. "
                             "Specify the reduction dim with the 'dim' argument.")
        return run(name, x, dim, keepdim)
    return kernel


def position(name):
    def kernel(x, dim=None, keepdim=False):
        if x.numel() == 0 and (dim is None or x.shape[dim] == 0):
            raise IndexError(f"{name}(): Expected reduction dim {dim} to have non-zero size."
                             if dim is not None else f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
        return run(name, x, dim, keepdim)
    return kernel


def moment(name):
    def kernel(x, dim=None, *, correction=None, keepdim=False):
        need(x.is_floating_point() or x.is_complex(), f"{name} and var only support floating point and complex dtypes"
             if name == "std" else "std and var only support floating point and complex dtypes")
        return run(name, x, dim, keepdim, correction=1 if correction is None else correction)
    return kernel


def moments(name):
    def kernel(x, dim=None, *, correction=None, keepdim=False):
        need(x.is_floating_point() or x.is_complex(), f"{name}_mean only support floating point and complex dtypes")
        correction = 1 if correction is None else correction
        if name == "var":
            return run("var_mean", x, dim, keepdim, correction=correction)
        return run("std", x, dim, keepdim, correction=correction), run("mean", x, dim, keepdim)
    return kernel


def truth(name):
    def kernel(x, dim=None, keepdim=False):
        dim = (dim,) if isinstance(dim, int) else dim
        if x.dtype != torch.uint8:
            return run(name, x, dim, keepdim)
        shape = redax.any(x.detach(), axis=axes_of(x, dim), keepdims=keepdim).shape
        return run(name, x, dim, keepdim, out=torch.empty(shape, dtype=torch.uint8, device=x.device))

    def of_dims(x, dim=None, keepdim=False):
        if dim is None or isinstance(dim, int) or len(dim):
            return kernel(x, dim, keepdim)
        return x != 0 if x.dtype != torch.uint8 else (x != 0).to(torch.uint8) # () reduces nothing for these two
    return of_dims


def truth_all(name):
    return lambda x: truth(name)(x)


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    need(x.is_floating_point() or x.is_complex(), f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {x.dtype}")
    return run("vector_norm", x, dim, keepdim, dtype if dtype is None or not dtype.is_complex else dtype.to_real(), ord=ord)


def norm(x, p=2, dim=None, keepdim=False, *, dtype=None):
    return vector_norm(x, 2 if p is None else p, dim, keepdim, dtype=dtype)


def logsumexp(x, dim, keepdim=False):
    if x.is_complex():
        raise unittest.SkipTest("redax has no logsumexp of complex numbers")
    return run("logsumexp", x if x.is_floating_point() else x.to(torch.get_default_dtype()), dim, keepdim)


def count_nonzero(x, dim=None):
    return run("count_nonzero", x, dim)


KERNELS = {
    "sum": sum_all, "sum.dim_IntList": total("sum"), "prod": prod_all, "prod.dim_int": total("prod"),
    "mean": mean_all, "mean.dim": mean, "amax": extreme("max", "amax"), "amin": extreme("min", "amin"),
    "argmax": position("argmax"), "argmin": position("argmin"), "var.correction": moment("var"), "std.correction": moment("std"),
    "var_mean.correction": moments("var"), "std_mean.correction": moments("std"), "all": truth_all("all"), "any": truth_all("any"), "all.dim": truth("all"), "any.dim": truth("any"),
    "all.dims": truth("all"), "any.dims": truth("any"), "linalg_vector_norm": vector_norm,
    "norm.Scalar": lambda x, p=2: norm(x, p), "norm.ScalarOpt_dim": norm, "norm.ScalarOpt_dtype": norm,
    "norm.ScalarOpt_dim_dtype": lambda x, p, dim, keepdim=False, *, dtype=None: norm(x, p, dim, keepdim, dtype=dtype),
    "logsumexp": logsumexp, "count_nonzero.dim_IntList": count_nonzero,
}
DEVICES = ["CPU"] + (["CUDA"] if torch.cuda.is_available() and redax.info()["cuda"] else [])
library = torch.library.Library("aten", "IMPL") # noqa: TOR901
for operator, kernel in KERNELS.items():
    for device in DEVICES:
        library.impl(operator, kernel, device)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    before = calls
    try:
        return (yield)
    finally:
        (reached if calls > before else without).add(item.nodeid)


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"redax: {len(reached)} tests reached it with {calls} calls, {len(without)} did not; "
                                f"kernels replaced: {len(KERNELS)} on {', '.join(DEVICES)}")
    for kind in ("passed", "failed", "skipped", "xfailed", "error"):
        reports = terminalreporter.stats.get(kind, [])
        terminalreporter.write_line(f"  {kind}: {sum(r.nodeid in reached for r in reports)} that reached redax, "
                                    f"{sum(r.nodeid not in reached for r in reports)} that did not")
