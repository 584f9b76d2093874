"""The ops as torch spells them, for eager calls, torch.compile, the CPU and the GPU alike: function(case) -> f(x) -> outputs."""

import torch

from .cases import Unsupported

DTYPES = {"bool": torch.bool, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8,
          "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64, "c64": torch.complex64,
          "c128": torch.complex128, "f8e4m3": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2, "u16": torch.uint16,
          "u32": torch.uint32, "u64": torch.uint64}
OMITTING = {"sum": torch.nansum, "mean": torch.nanmean}


def one_axis(case):
    """The reduced axis, or None for all of them: what ops with an index, and prod, can be asked for."""
    if len(case.axes) == 1:
        return case.axes[0]
    if not case.whole:
        raise Unsupported(f"torch's {case.op} takes one axis or all")
    return None


def function(case, compiled=False):
    """f(x) -> a tuple of outputs with redax's dtypes (u64 sums as i64: the same bits)."""
    op, dims, small = case.op, case.axes, case.dtype.startswith("f8")
    wanted = DTYPES["i64" if case.outs[0] == "u64" else case.outs[0]]
    inner = torch.float32 if small else None

    def computed(x):  # ops that torch has for floating and complex numbers only
        return x if x.dtype.is_complex or (x.dtype.is_floating_point and not small) else x.to(inner or wanted)

    if case.omit and op not in OMITTING:
        raise Unsupported(f"torch has no {op} that omits NaN")
    if op in ("sum", "mean"):
        call = OMITTING[op] if case.omit else getattr(torch, op)
        return lambda x: (call(x, dim=dims, dtype=wanted),)
    if op == "prod":
        axis = one_axis(case)
        return (lambda x: (torch.prod(x, dtype=wanted),)) if axis is None else (lambda x: (torch.prod(x, axis, dtype=wanted),))
    if op in ("var", "std"):
        call, correction = getattr(torch, op), case.param
        if len(case.outs) > 1:
            call = getattr(torch, f"{op}_mean")
            return lambda x: call(computed(x), dim=dims, correction=correction)
        return lambda x: (call(computed(x), dim=dims, correction=correction).to(wanted),)
    if op in ("min", "max"):
        if len(case.outs) > 1:
            axis = one_axis(case)
            if axis is None:
                raise Unsupported("torch finds the index along one axis")
            return lambda x: tuple(getattr(torch, op)(x, dim=axis))
        call = torch.amin if op == "min" else torch.amax
        return lambda x: (call(x.to(inner) if small else x, dim=dims).to(wanted),)
    if op in ("argmin", "argmax"):
        call, axis = getattr(torch, op), one_axis(case)
        return lambda x: (call(x.to(inner) if small else x, dim=axis),)
    if op == "minmax":
        if case.whole or len(dims) == 1:
            axis = one_axis(case)
            return lambda x: tuple(torch.aminmax(x, dim=axis))
        return lambda x: (torch.amin(x, dim=dims), torch.amax(x, dim=dims))
    if op in ("any", "all"):
        call = getattr(torch, op)
        return lambda x: (call(x, dim=dims),)
    if op == "count_nonzero":
        return lambda x: (torch.count_nonzero(x, dim=dims),)
    if op == "norm":
        return lambda x: (torch.linalg.vector_norm(computed(x), ord=case.param, dim=dims).to(wanted),)
    if op == "sumsq":
        if compiled and not case.dtype.startswith("c"):  # becomes one kernel; eager it would write the squares to memory
            wide = torch.float64 if wanted == torch.float64 else torch.float32
            return lambda x: (x.to(wide).square().sum(dim=dims).to(wanted),)
        return lambda x: (torch.linalg.vector_norm(computed(x), ord=2, dim=dims).square().to(wanted),)
    if op == "logsumexp":
        return lambda x: (torch.logsumexp(x.to(inner) if small else x, dim=dims).to(wanted),)
    raise Unsupported(f"torch has no {op}")


def numbers(tensor, positions):
    """Python numbers at row-major positions of a tensor."""
    flat = tensor.reshape(-1)[torch.tensor(positions, device=tensor.device)]
    kind = torch.complex128 if flat.is_complex() else torch.float64 if flat.is_floating_point() else torch.int64
    return (flat if flat.dtype == torch.bool else flat.to(kind)).cpu().tolist()


def refuses(why):
    """An op or dtype that torch does not have, as it words that."""
    text = str(why)
    return isinstance(why, NotImplementedError) or any(part in text for part in (
        "not implemented for", "not supported", "unsupported dtype", "only supports", "does not support",
        "should be floating point", "expected a floating point", "cannot be performed on"))
