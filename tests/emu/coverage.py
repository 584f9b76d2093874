#!/usr/bin/env python3
"""How many lines of the CUDA kernels the emulator's runs reached.

    coverage.py BUILD [PERCENT]     BUILD was made with EMU_CFLAGS=--coverage and has run; exit 1 below PERCENT (95)

The lines are those of src/kernels/cuda/*.cuh and kernel_*.cu that gcov counts, taken together over every translation unit and
every template that holds them. No line is excused.
"""

import collections
import gzip
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = "src/kernels/cuda/"


def is_kernel(path):
    name = os.path.basename(path)
    return path.startswith(FOLDER) and (name.endswith(".cuh") or name.startswith("kernel_"))


def reports(build):
    """What gcov says of every translation unit of kernels that ran."""
    folder = os.path.join(ROOT, build, "obj", FOLDER)
    counts = sorted(os.path.join(folder, name) for name in os.listdir(folder)
                    if name.startswith("kernel_") and name.endswith(".gcda"))
    for path in counts:
        with tempfile.TemporaryDirectory() as place:
            subprocess.run(["gcov", "--json-format", path], cwd=place, check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            for name in os.listdir(place):
                with gzip.open(os.path.join(place, name)) as stream:
                    yield json.load(stream)


def main():
    build, needed = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 95.0
    lines = collections.defaultdict(dict)  # file -> {line: reached}
    for report in reports(build):
        for file in report["files"]:
            path = os.path.relpath(os.path.join(report["current_working_directory"], file["file"]), ROOT) \
                if os.path.isabs(file["file"]) else os.path.normpath(file["file"])
            if is_kernel(path):
                for line in file["lines"]:
                    number = line["line_number"]
                    lines[path][number] = lines[path].get(number, False) or line["count"] > 0
    total = reached = 0
    for path in sorted(lines):
        missed = [number for number, hit in sorted(lines[path].items()) if not hit]
        total += len(lines[path])
        reached += len(lines[path]) - len(missed)
        print("%-40s %4d of %4d lines%s" % (path, len(lines[path]) - len(missed), len(lines[path]),
                                           "; not " + ", ".join(map(str, missed)) if missed else ""))
    share = 100.0 * reached / total if total else 0.0
    print("coverage of the CUDA kernels: %.1f%% of %d lines, %.0f%% are needed" % (share, total, needed))
    return 0 if share >= needed else 1


if __name__ == "__main__":
    sys.exit(main())
