#!/usr/bin/env python3
"""Makes iris.npy and tiny.safetensors beside this file, with nothing but the Python standard library.

iris.npy          Fisher's iris measurements (1936), 150 flowers x 4 lengths in centimetres, f32, from iris.csv.
tiny.safetensors  one tensor for each kind of thing a reader must get right: narrow floats, NaN and
                  infinities, a scalar, an empty tensor, bool, and elements that are not aligned to
                  their own size, which the format allows.

Both formats are written by hand, byte by byte, so that this file also shows what they look like.
`make_examples.py --check` writes nothing and fails if the files here differ from what it would write.
"""

import json
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
NAN, INF = float("nan"), float("inf")


def npy(shape, descr, payload):
    """NPY version 1.0: magic, version, length of the header, the header as a Python dict, the elements."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape!r}, }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode("latin1") + payload


def safetensors(tensors):
    """An 8-byte length, a JSON table of dtypes, shapes and byte ranges, the elements back to back."""
    table, payload = {"__metadata__": {"made_by": "examples/make_examples.py"}}, b""
    for name, (dtype, shape, elements) in tensors.items():
        table[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(payload), len(payload) + len(elements)]}
        payload += elements
    header = json.dumps(table, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    return struct.pack("<Q", len(header)) + header + payload


def pack(code, values):
    return struct.pack(f"<{len(values)}{code}", *values)


def bf16(values):
    """The upper half of an f32, rounded to nearest even; NaN keeps its upper half."""
    halves = []
    for (bits,) in struct.iter_unpack("<I", pack("f", values)):
        is_nan = bits & 0x7FFFFFFF > 0x7F800000
        halves.append(bits >> 16 if is_nan else (bits + 0x7FFF + (bits >> 16 & 1)) >> 16)
    return pack("H", halves)


def f8(values, exponent_bits, bias, special):
    """Nearest of the finite codes, found by trying them all; `special` gives NaN and the infinities their codes."""
    mantissa_bits = 7 - exponent_bits
    one = 1 << mantissa_bits

    def decode(code):
        exponent, mantissa = code >> mantissa_bits, code & (one - 1)
        return mantissa * 2.0 ** (1 - bias - mantissa_bits) if exponent == 0 else (one + mantissa) * 2.0 ** (
            exponent - bias - mantissa_bits)

    largest = 0x7E if exponent_bits == 4 else 0x7B
    codes = []
    for value in values:
        if value != value or value in (INF, -INF):
            codes.append(special[str(value)])
            continue
        nearest = min(range(largest + 1), key=lambda code: (abs(decode(code) - abs(value)), code & 1))
        codes.append(nearest | (0x80 if str(value).startswith("-") else 0))
    return bytes(codes)


def iris():
    with open(os.path.join(HERE, "iris.csv"), encoding="ascii") as lines:
        rows = [[float(cell) for cell in line.split(",")[:4]] for line in list(lines)[1:]]
    assert len(rows) == 150 and all(len(row) == 4 for row in rows)
    return npy((150, 4), "<f4", b"".join(pack("f", row) for row in rows))


def tiny():
    ramp = [(i * 7 % 24 - 11) / 8 for i in range(24)]
    return safetensors({
        "embed.weight": ("F32", [4, 6], pack("f", ramp)),
        "embed.scale": ("F32", [], pack("f", [0.125])),
        "attn.weight.f16": ("F16", [3, 4], pack("e", [0.5, -1.25, 65504.0, 6e-8, -0.0, 0.0, INF, -INF, NAN, 2.0, 3.0, 4.0])),
        "attn.weight.bf16": ("BF16", [2, 3, 4], bf16([value * 1e30 for value in ramp[:20]] + [1e-40, INF, NAN, -0.0])),
        "mlp.weight.e4m3": ("F8_E4M3", [2, 8], f8(ramp[:12] + [448.0, -448.0, 0.002, NAN], 4, 7, {"nan": 0x7F})),
        "mlp.weight.e5m2": ("F8_E5M2", [2, 8], f8(ramp[:12] + [57344.0, INF, -INF, NAN], 5, 15,
                                                  {"inf": 0x7C, "-inf": 0xFC, "nan": 0x7E})),
        "norm.f64": ("F64", [3], pack("d", [1e300, -1e-300, 3.141592653589793])),
        "quant.i8": ("I8", [2, 7], pack("b", [-128, 127, 0, 1, -1, 2, -2, 3, -3, 5, -5, 8, -8, 13])),
        "step.i64": ("I64", [1], pack("q", [9007199254740993])),
        "mask": ("BOOL", [5], bytes([1, 0, 1, 1, 0])),
        "nothing": ("F32", [0, 3], b""),
    })


def main():
    stale = False
    for name, contents in (("iris.npy", iris()), ("tiny.safetensors", tiny())):
        path = os.path.join(HERE, name)
        if "--check" in sys.argv[1:]:
            with open(path, "rb") as stream:
                if stream.read() != contents:
                    print(f"{name} is not what make_examples.py writes", file=sys.stderr)
                    stale = True
        else:
            with open(path, "wb") as stream:
                stream.write(contents)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
