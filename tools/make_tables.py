#!/usr/bin/env python3
"""The op and dtype tables of README.md, made from src/ops.def and src/dtypes.def.

    make_tables.py           rewrites the blocks between <!-- table NAME begin --> and <!-- table NAME end -->
    make_tables.py --check   writes nothing; exit 1 with the lines that differ

The rows come from the two .def files and their words from the dictionaries below; a row that uses a word
which is not there, or a marker that is missing, is an error and not a gap in a table.
"""

import difflib
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

INPUTS = {"ALL": "all", "REAL": "all but complex", "FLOATS": "floating", "BITS": "integers, bool"}
DEFAULT = {
    "SUM": "ints, bool → `i64`; uints → `u64`; f8 → `f32`; else same",
    "MEAN": "ints, bool → `f64`; f8 → `f32`; else same",
    "SPREAD": "ints, bool → `f64`; f8 → `f32`; complex → its real; else same",
    "SAME": "same",
    "BOOL": "`bool`",
    "INDEX": "`i64`",
}
ALLOWED = {
    "SUM": "ints, bool: any int, `f32`, `f64`; floats: any float; complex: complex",
    "MEAN": "any float; complex: complex",
    "REAL": "any float",
    "TRUTH": "`bool`, `u8`",
    "INDEX": "`i64`",
    "SAME": "same",
}
SECOND = {"NONE": "–", "MEAN": "the mean, if asked for", "INDEX": "the index, if asked for", "SAME": "the maximum, always"}
OPTIONS = {"NONE": "–", "NAN": "nan", "RDX_OPTION_P": "p", "RDX_OPTION_CORRECTION": "correction"}
# What reducing nothing gives, for the ops that have an answer.
NOTHING = {
    "sum": "0", "prod": "1", "mean": "NaN", "var": "NaN", "std": "NaN", "any": "false", "all": "true",
    "count_nonzero": "0", "norm": "0 (p < 0: error)", "sumsq": "0", "logsumexp": "-inf", "bit_and": "all ones",
    "bit_or": "0", "bit_xor": "0",
}
KINDS = {
    "BOOL": "truth: any non-zero byte is true, stored as 0 or 1",
    "INT": "signed integer",
    "UINT": "unsigned integer",
    "FLOAT": "binary floating point",
    "COMPLEX": "complex: real and imaginary part side by side",
}
FORMATS = {"F16": "IEEE half: 11 significant bits", "BF16": "8 significant bits, the range of `f32`",
           "F32": "IEEE single: 24 significant bits", "F64": "IEEE double: 53 significant bits",
           "F8E4M3": "OCP E4M3 (\"fn\"): no infinities, largest 448", "F8E5M2": "OCP E5M2: largest 57344",
           "C64": "two `f32`, real and imaginary part", "C128": "two `f64`, real and imaginary part"}


def rows_of(name, columns):
    with open(os.path.join(ROOT, "src", name), encoding="utf-8") as stream:
        text = re.sub(r"/\*.*?\*/", "", stream.read(), flags=re.S)
    rows = [[cell.strip() for cell in row.split(",")] for row in re.findall(r"^X\((.*)\)$", text, flags=re.M)]
    for row in rows:
        if len(row) != columns:
            sys.exit(f"src/{name}: {row[0]} has {len(row)} columns, not {columns}")
    if not rows:
        sys.exit(f"src/{name}: no rows found")
    return rows


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def ops():
    rows = []
    for _, name, number, inputs, default, allowed, second, empty, options in rows_of("ops.def", 9):
        nothing = "error" if empty == "ERROR" else NOTHING[name]
        words = ", ".join(OPTIONS[option.strip()] for option in options.split("|"))
        given = DEFAULT[default].replace("ints, bool → `f64`; ", "") if inputs == "FLOATS" else DEFAULT[default]
        rows.append([f"`{name}`", number, INPUTS[inputs], given, ALLOWED[allowed], SECOND[second], nothing, words])
    return table(["op", "no.", "input", "default output", "outputs allowed", "second output", "of nothing", "options"], rows)


def dtypes():
    rows = []
    for NAME, name, code, bits, kind in rows_of("dtypes.def", 5):
        lanes = 512 * 8 // int(bits)
        rows.append([f"`{name}`", f"`RDX_{NAME}`", code, bits, FORMATS.get(NAME, KINDS[kind]), str(lanes), str(16 * lanes)])
    return table(["dtype", "constant", "DLPack code", "bits", "what it is", "lanes L", "elements a chunk"], rows)


def main():
    path = os.path.join(ROOT, "README.md")
    with open(path, encoding="utf-8") as stream:
        before = stream.read()
    after = before
    for name, lines in (("ops", ops()), ("dtypes", dtypes())):
        begin, end = f"<!-- table {name} begin -->", f"<!-- table {name} end -->"
        if after.count(begin) != 1 or after.count(end) != 1:
            sys.exit(f"README.md: {begin} and {end} must each stand there once")
        head, rest = after.split(begin)
        after = head + begin + "\n" + "\n".join(lines) + "\n" + end + rest.split(end)[1]
    if "--check" not in sys.argv[1:]:
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(after)
        return 0
    for line in difflib.unified_diff(before.splitlines(), after.splitlines(), "README.md", "made from the tables", lineterm="", n=0):
        print(line)
    print(f"tables: {'README.md agrees with src/*.def' if before == after else 'README.md is stale: run tools/make_tables.py'}")
    return 0 if before == after else 1


if __name__ == "__main__":
    sys.exit(main())
