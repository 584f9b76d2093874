"""The CASE grammar, `op[param]:dtype:shape[@strides][+offset][/axes]{:key=value}`, read as `redax bench` reads it.

Strides, offsets and positions are in elements. A case's storage runs from its lowest touched element (`low`) to its highest;
storage position 0 is `low`.
"""

import dataclasses
import math
import re

OPS = ("sum", "prod", "mean", "var", "std", "minmax", "min", "max", "argmin", "argmax", "any", "all", "count_nonzero", "norm",
       "sumsq", "logsumexp", "bit_and", "bit_or", "bit_xor")
SIZES = {"bool": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "u8": 1, "u16": 2, "u32": 4, "u64": 8, "f16": 2, "bf16": 2, "f32": 4,
         "f64": 8, "f8e4m3": 1, "f8e5m2": 1, "c64": 8, "c128": 16}
LINE = 64  # bytes: storage is aligned to this modulo the offset, as redax bench aligns it


class Unsupported(Exception):
    """The peer has no such op, dtype or layout; the sentence says which."""


def kind(dtype):
    """'b', 'i', 'u', 'f' or 'c'."""
    return "f" if dtype == "bf16" else dtype[0]


@dataclasses.dataclass
class Case:
    name: str
    text: str
    op: str
    param: float | None  # p of a norm, correction of var and std; None for other ops
    dtype: str
    shape: tuple
    strides: tuple  # elements
    offset: int     # elements
    axes: tuple     # reduced, ascending, not negative
    omit: bool      # nan=omit
    outs: tuple     # dtypes of the outputs, one or two

    @property
    def size(self):
        return SIZES[self.dtype]

    @property
    def elements(self):
        return math.prod(self.shape)

    @property
    def kept(self):
        return tuple(d for d in range(len(self.shape)) if d not in self.axes)

    @property
    def out_shape(self):
        return tuple(self.shape[d] for d in self.kept)

    @property
    def outputs(self):
        return math.prod(self.out_shape)

    @property
    def reduced(self):
        """Elements an output."""
        return math.prod(self.shape[d] for d in self.axes)

    @property
    def low(self):
        return self.offset + sum(min(0, s * (n - 1)) for n, s in zip(self.shape, self.strides))

    @property
    def high(self):
        return self.offset + sum(max(0, s * (n - 1)) for n, s in zip(self.shape, self.strides))

    @property
    def storage(self):
        """Elements from the lowest to the highest touched one."""
        return self.high - self.low + 1

    @property
    def storage_bytes(self):
        return self.storage * self.size

    @property
    def slip(self):
        """Bytes by which the storage starts behind an aligned address."""
        return self.low * self.size % LINE if self.low > 0 else 0

    @property
    def whole(self):
        """Every axis is reduced."""
        return len(self.axes) == len(self.shape)

    @property
    def reversed_axes(self):
        return tuple(d for d, (n, s) in enumerate(zip(self.shape, self.strides)) if s < 0 and n > 1)

    @property
    def ordered(self):
        """The result depends on where an element stands."""
        return self.op in ("argmin", "argmax") or (self.op in ("min", "max") and len(self.outs) > 1)

    def fused(self, dims):
        """[(extent, stride)] of these dims by descending |stride|, those that continue each other made one."""
        pairs = sorted(((abs(self.strides[d]), self.shape[d], self.strides[d]) for d in dims if self.shape[d] > 1), reverse=True)
        done = []
        for _, extent, stride in pairs:
            if done and done[-1][1] == extent * stride:
                done[-1] = (done[-1][0] * extent, stride)
            else:
                done.append((extent, stride))
        return done


def row_major(shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def default_outs(op, dtype, out, second):
    """Dtypes of the outputs: redax's defaults unless `out` says otherwise."""
    real = {"c64": "f32", "c128": "f64"}.get(dtype, dtype)
    small = dtype.startswith("f8")
    if op in ("sum", "prod"):
        first = {"b": "i64", "i": "i64", "u": "u64"}.get(kind(dtype), "f32" if small else dtype)
    elif op == "mean":
        first = "f64" if kind(dtype) in "biu" else "f32" if small else dtype
    elif op in ("var", "std", "norm", "sumsq", "logsumexp"):
        first = "f64" if kind(dtype) in "biu" else "f32" if small else real
    elif op in ("any", "all"):
        first = "bool"
    elif op in ("argmin", "argmax", "count_nonzero"):
        first = "i64"
    else:
        first = dtype
    first = out or first
    if op == "minmax":
        return first, first
    if second:
        return first, "i64" if op in ("min", "max") else first
    return (first,)


PATTERN = re.compile(r"(?P<op>[a-z_]+?)(?P<param>-?(?:inf|[0-9.]+))?:(?P<dtype>[a-z0-9]+):(?P<shape>-|\d+(?:x\d+)*)"
                     r"(?:@(?P<strides>-?\d+(?:x-?\d+)*))?(?:\+(?P<offset>\d+))?(?:/(?P<axes>-$|-(?=:)|-?\d+(?:,-?\d+)*))?"
                     r"(?P<keys>(?::[a-z0-9]+=[^:]+)*)")


def parse(name, text):
    """A Case; ValueError with a sentence where redax would complain too, or the peers have no word for it."""
    found = PATTERN.fullmatch(text)
    if not found or found["op"] not in OPS or found["dtype"] not in SIZES:
        raise ValueError(f"{text} is no CASE")
    shape = () if found["shape"] == "-" else tuple(map(int, found["shape"].split("x")))
    strides = tuple(map(int, found["strides"].split("x"))) if found["strides"] else row_major(shape)
    if len(strides) != len(shape):
        raise ValueError(f"{text}: {len(strides)} strides for rank {len(shape)}")
    if found["axes"] is None:
        axes = tuple(range(len(shape)))
    else:
        axes = () if found["axes"] == "-" else tuple(sorted(int(a) % len(shape) for a in found["axes"].split(",")))
    keys = dict(pair.split("=", 1) for pair in found["keys"].split(":")[1:])
    unknown = set(keys) - {"nan", "out", "out2", "keep", "data", "seed", "threads"}
    if unknown:
        raise ValueError(f"{text}: peers have no {', '.join(sorted(unknown))}")
    op, param = found["op"], float(found["param"]) if found["param"] else None
    if param is None and op in ("var", "std", "norm"):
        param = 2.0 if op == "norm" else 0.0
    outs = default_outs(op, found["dtype"], keys.get("out"), keys.get("out2", "0") != "0")
    return Case(name, text, op, param, found["dtype"], shape, strides, int(found["offset"] or 0), axes,
                keys.get("nan") == "omit", outs)


def read_suite(path):
    """[(name, CASE)] of a suite file."""
    lines = []
    with open(path, encoding="utf-8") as stream:
        for number, line in enumerate(stream, 1):
            words = line.split("#", 1)[0].split()
            if not words:
                continue
            if len(words) != 2:
                raise ValueError(f"{path}, line {number}: a line is NAME CASE")
            lines.append((words[0], words[1]))
    return lines
