#!/usr/bin/env python3
"""The tables of README.md and docs/ that are made from what they speak of: ops and dtypes from src/*.def, figures beside the
peers from the records in docs/performance.

    make_tables.py           rewrites the blocks between <!-- table NAME begin --> and <!-- table NAME end -->
    make_tables.py --check   writes nothing; exit 1 with the lines that differ

The rows of ops and dtypes take their words from the dictionaries below; a row that uses a word which is not there, a case
that no record has, or a marker that is missing, is an error and not a gap in a table.
"""

import difflib
import json
import os
import re
import sys

from peers import records, tables

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


# What README.md shows of the public cases: of each family one that is large, and what is lost.
SHOWN = ["flat-256M", "flat-16M", "flat-1M", "flat-64K", "flat-1K", "row-64Kx4K", "row-1Mx67", "row-16Mx16",
         "row-8x32M", "row-1000x100003", "row-512x1K", "col-4Kx64K", "col-16Mx16", "col-100003x1000", "col-8Kx768",
         "mid-64x1Kx4K", "nchw-stats", "stride2-row", "broadcast-row", "bf16-row-64Kx4K", "f64-row-64Kx2K",
         "i8-flat-1G", "bool-any-64Kx16K", "max-row-64Kx4K", "argmax-row-64Kx4K", "var-row-64Kx4K", "var-nchw",
         "logsumexp-row-32Kx8K", "logsumexp-row-bf16-4Kx128K"]


def suite(name):
    """(names of the cases of bench/NAME.txt, {case: the comment above it}); the first line is about the file."""
    order, headings, heading = [], {}, None
    with open(os.path.join(ROOT, "bench", f"{name}.txt"), encoding="utf-8") as stream:
        for line in stream.read().splitlines()[1:]:
            if line.startswith("#"):
                heading = line.strip("# .")
            elif line.strip():
                order.append(line.split()[0])
                if heading:
                    headings[order[-1]], heading = heading, None
    return order, headings


def measured(order, *names):
    """The records of docs/performance, as one, in the order of the suite."""
    documents = []
    for name in names:
        with open(os.path.join(ROOT, "docs", "performance", f"{name}.json"), encoding="utf-8") as stream:
            documents.append(json.load(stream))
    whole = records.merge(documents)
    lacking = set(order) - {record["name"] for record in whole["cases"]}
    if lacking:
        sys.exit(f"docs/performance: no record of {', '.join(sorted(lacking))} in {', '.join(names)}")
    whole["cases"].sort(key=lambda record: order.index(record["name"]))
    return whole


def blocks():
    """(file, name of the table, its lines)"""
    found = [("README.md", "ops", ops()), ("README.md", "dtypes", dtypes())]
    public = measured(suite("cases")[0], "h200-1", "h200-2", "h200-3")
    found += [("README.md", "shown", tables.cases(public, SHOWN)), ("README.md", "peers", tables.summary(public)),
              ("docs/performance.md", "peers", tables.summary(public)), ("docs/performance.md", "behind", tables.behind(public)),
              ("docs/performance.md", "cases", tables.cases(public))]
    for name in ("sweep", "everyday"):
        order, headings = suite(name)
        document, page = measured(order, f"h200-{name}"), f"docs/performance/{name}.md"
        found += [("docs/performance.md", name, tables.summary(document)), (page, "behind", tables.behind(document)),
                  (page, "cases", tables.cases(document, headings=headings))]
    return found


def main():
    stale, after = [], {}
    for name, block, lines in blocks():
        if name not in after:
            with open(os.path.join(ROOT, name), encoding="utf-8") as stream:
                after[name] = stream.read()
        begin, end = f"<!-- table {block} begin -->", f"<!-- table {block} end -->"
        if after[name].count(begin) != 1 or after[name].count(end) != 1:
            sys.exit(f"{name}: {begin} and {end} must each stand there once")
        head, rest = after[name].split(begin)
        after[name] = head + begin + "\n" + "\n".join(lines) + "\n" + end + rest.split(end)[1]
    for name, text in after.items():
        path = os.path.join(ROOT, name)
        with open(path, encoding="utf-8") as stream:
            before = stream.read()
        if before == text:
            continue
        stale.append(name)
        if "--check" in sys.argv[1:]:
            for line in difflib.unified_diff(before.splitlines(), text.splitlines(), name, "made", lineterm="", n=0):
                print(line)
        else:
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(text)
    if "--check" not in sys.argv[1:]:
        return 0
    print(f"tables: {', '.join(stale)} stale: run tools/make_tables.py" if stale else f"tables: {len(after)} files are as made")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
