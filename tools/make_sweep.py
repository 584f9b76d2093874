#!/usr/bin/env python3
"""Makes bench/sweep.txt, the cases beside the public ones: every family of shapes at many sizes, every dtype, every op.

    tools/make_sweep.py [--check]     --check: the file is as this script makes it

Inputs have about 64 Mi elements or 256 MB, whichever is less work for 8-byte types, unless their name says otherwise.
"""

import os
import sys

PLACE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bench", "sweep.txt")
MI = 1 << 20
LENGTHS = [2, 3, 4, 5, 7, 8, 16, 31, 33, 64, 67, 100, 127, 129, 256, 500, 768, 1000, 1024, 4096, 4097, 50257, 128256, 1000000]
LONG = [50257, 128256, 1000000]  # two vocabularies and a million
FEW = [1, 2, 8, 32, 100, 1000]
SIZES = {"bool": 1, "i8": 1, "u8": 1, "f8e4m3": 1, "f8e5m2": 1, "i16": 2, "u16": 2, "f16": 2, "bf16": 2, "i32": 4, "u32": 4,
         "i64": 8, "u64": 8, "f64": 8, "c64": 8, "c128": 16}
OPS = ["prod", "mean", "var", "std", "min", "max", "argmin", "argmax", "minmax", "any", "all", "count_nonzero", "norm1", "norm2",
       "norminf", "norm3", "sumsq", "logsumexp"]
BITS = ["bit_and", "bit_or", "bit_xor"]


def full():
    yield "Everything into one number: sums of f32, 1 KiB to 4 GiB."
    for power in range(10, 33, 2):
        label = f"{1 << power % 10}{'KMG'[power // 10 - 1]}"
        yield f"full-{label}", f"sum:f32:{1 << power - 2}/0"


def rows():
    yield "Rows: 256 MB in rows of each length."
    for n in LENGTHS:
        yield f"rows-of-{n}", f"sum:f32:{64 * MI // n}x{n}/1"


def columns():
    yield "Columns: 256 MB in as many columns."
    for n in LENGTHS:
        yield f"columns-{n}", f"sum:f32:{64 * MI // n}x{n}/0"


def few():
    yield "A few long rows, and the same read down the columns."
    for n in LONG:
        for m in FEW:
            yield f"few-{m}-rows-of-{n}", f"sum:f32:{m}x{n}/1"
    for m in FEW[1:]:
        yield f"few-{m}-rows-columns-1000000", f"sum:f32:{m}x1000000/0"
        yield f"few-{m}-columns-of-128256", f"sum:f32:128256x{m}/0"


def middle():
    yield "Middle axes."
    for shape in ("67x1000x1000", "1000x67x1000", "8x50257x160", "64x128256x8", "16384x64x64", "335x49x4096", "2x1000000x32"):
        yield f"middle-{shape}", f"sum:f32:{shape}/1"
    for op in ("var", "logsumexp"):
        for dtype, million in (("f32", 64), ("bf16", 128)):
            for n in (17, 64, 100, 300, 1000):
                yield f"middle-{op}-{dtype}-{n}", f"{op}:{dtype}:{million * MI // (n * 1024)}x{n}x1024/1"
    for shape in ("7000000x3x3", "800000x7x11", "340000x16x12", "270000x33x7"):
        yield f"runs-{shape}", f"sum:f32:{shape}/1"
    yield "runs-max-800000x7x11", "max:f32:800000x7x11/1"
    yield "runs-var-800000x7x11", "var:f32:800000x7x11/1"
    for shape in ("2600000x5x5", "90000x100x7", "330000x3x67", "58000x17x67", "160000x20x20"):
        yield f"runs-{shape}", f"sum:f32:{shape}/1"
    for op, dtype in (("sum", "bf16"), ("max", "bf16"), ("sum", "i8"), ("argmax", "f32")):
        yield f"runs-{op}-{dtype}-1700000x7x11", f"{op}:{dtype}:1700000x7x11/1"
    yield "runs-70000x7x9x5x3", "sum:f32:70000x7x9x5x3/1,3"


def statistics():
    yield "Statistics of images: by channel (NCHW and NHWC), by sample, and by sample and channel."
    for n, c, edge in ((64, 64, 128), (32, 64, 112), (128, 512, 28), (640, 2048, 7)):
        for op in ("sum", "var"):
            yield f"nchw-{op}-{n}x{c}x{edge}x{edge}", f"{op}:f32:{n}x{c}x{edge}x{edge}/0,2,3"
            yield f"nhwc-{op}-{n}x{edge}x{edge}x{c}", f"{op}:f32:{n}x{edge}x{edge}x{c}/0,1,2"
    yield "sample-var-128x512x28x28", "var:f32:128x512x28x28/1,2,3"
    yield "pixels-mean-640x2048x7x7", "mean:f32:640x2048x7x7/2,3"
    yield "nchw-var-bf16-128x512x28x28", "var:bf16:128x512x28x28/0,2,3"


def layouts():
    yield "Permuted, flipped, stepped, broadcast, and offset by one element."
    yield "permuted-transposed-rows", "sum:f32:8000x8000@1x8000/1"
    yield "permuted-transposed-columns", "sum:f32:8000x8000@1x8000/0"
    yield "permuted-120-axis-0", "sum:f32:100x500x1000@1000x100000x1/0"
    yield "permuted-201-axis-2", "sum:f32:500x1000x100@1000x1x500000/2"
    yield "permuted-nchw-of-nhwc", "sum:f32:64x64x128x128@1048576x1x8192x64/0,2,3"
    yield "permuted-argmax", "argmax:f32:8000x8000@1x8000/1"
    yield "flipped-rows", "sum:f32:16384x4096@4096x-1+4095/1"
    yield "flipped-columns", "sum:f32:16384x4096@-4096x1+67104768/0"
    yield "flipped-argmax", "argmax:f32:16384x4096@4096x-1+4095/1"
    yield "stepped-2-rows", "sum:f32:16384x4096@8192x2/1"
    yield "stepped-3-rows", "sum:f32:16384x4096@12288x3/1"
    yield "stepped-2-columns", "sum:f32:16384x4096@8192x2/0"
    yield "stepped-every-second-row", "sum:f32:8192x4096@8192x1/0"
    yield "stepped-2-bf16-rows", "sum:bf16:16384x4096@8192x2/1"
    yield "broadcast-rows", "sum:f32:65536x4096@0x1/1"
    yield "broadcast-reduced", "sum:f32:65536x4096@1x0/1"
    yield "offset-1-full", "sum:f32:67108863+1/0"
    yield "offset-1-rows", "sum:f32:16384x4096@4096x1+1/1"
    yield "offset-1-columns", "sum:f32:16384x4096@4096x1+1/0"
    yield "offset-1-bf16-rows", "sum:bf16:32768x4096@4096x1+1/1"
    yield "offset-1-i8-full", "sum:i8:268435455+1/0"
    yield "offset-sliced-rows-of-1000", "sum:f32:65536x1000@1024x1+5/1"


def dtypes():
    yield "Sums of every dtype."
    for dtype, size in SIZES.items():
        count = min(128 * MI, 256 * MI // size)
        yield f"dtype-{dtype}-rows", f"sum:{dtype}:{count // 4096}x4096/1"
        if dtype not in ("u8", "u16", "u32", "u64", "f8e5m2"):
            yield f"dtype-{dtype}-columns", f"sum:{dtype}:{count // 4096}x4096/0"
            yield f"dtype-{dtype}-full", f"sum:{dtype}:{count}/0"
    for dtype in ("bf16", "f16", "i8"):
        for n in (8, 67, 256):
            yield f"dtype-{dtype}-rows-of-{n}", f"sum:{dtype}:{64 * MI // n}x{n}/1"


def ops():
    yield "Every op over rows and columns of f32 (bit ops: i32), some over bf16, and options."
    for op in OPS:
        yield f"op-{op}-rows", f"{op}:f32:16384x4096/1"
        yield f"op-{op}-columns", f"{op}:f32:16384x4096/0"
    for op in BITS:
        yield f"op-{op}-rows", f"{op}:i32:16384x4096/1"
    for op in ("mean", "var", "max", "argmax", "norm2", "logsumexp"):
        yield f"op-{op}-bf16-rows", f"{op}:bf16:32768x4096/1"
    for op in ("var", "argmax", "logsumexp"):
        yield f"op-{op}-full", f"{op}:f32:{64 * MI}/0"
        yield f"op-{op}-rows-of-67", f"{op}:f32:{64 * MI // 67}x67/1"
        yield f"op-{op}-32-rows-of-128256", f"{op}:f32:32x128256/1"
    for op in ("sum", "mean", "max"):
        yield f"op-{op}-omit-rows", f"{op}:f32:16384x4096/1:nan=omit"
    yield "op-max-index-rows", "max:f32:16384x4096/1:out2=1"
    yield "op-var-mean-rows", "var:f32:16384x4096/1:out2=1"
    yield "op-sum-bf16-into-f32-rows", "sum:bf16:32768x4096/1:out=f32"
    yield "op-max-i8-full", f"max:i8:{256 * MI}/0"
    yield "op-any-bool-rows", "any:bool:65536x4096/1"
    yield "op-mean-u8-columns", "mean:u8:65536x4096/0"


def small():
    yield "What fits a cache: 256 KiB to 16 MiB."
    for rows_, n, label in ((64, 1024, "256K"), (512, 512, "1M"), (1024, 1024, "4M"), (16384, 64, "4M"), (4096, 1024, "16M")):
        yield f"small-{label}-rows-of-{n}", f"sum:f32:{rows_}x{n}/1"
        yield f"small-{label}-columns-{n}", f"sum:f32:{rows_}x{n}/0"
    yield "small-1M-var-rows-of-512", "var:f32:512x512/1"
    yield "small-1M-argmax-rows-of-512", "argmax:f32:512x512/1"


def text():
    lines = ["# Cases beside the public ones: NAME CASE. Made by tools/make_sweep.py; change that."]
    for made in (full, rows, columns, few, middle, statistics, layouts, dtypes, ops, small):
        head, *cases = made()
        lines += ["", f"# {head}"] + [f"{name:34} {case}" for name, case in cases]
    return "\n".join(lines) + "\n"


def main():
    if sys.argv[1:] != ["--check"]:
        with open(PLACE, "w", encoding="utf-8") as stream:
            stream.write(text())
        return 0
    with open(PLACE, encoding="utf-8") as stream:
        same = stream.read() == text()
    print("bench/sweep.txt is as tools/make_sweep.py makes it" if same else "bench/sweep.txt: run tools/make_sweep.py")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
