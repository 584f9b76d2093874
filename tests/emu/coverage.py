#!/usr/bin/env python3
"""How many lines of the CUDA kernels the emulator's runs reached.

    coverage.py BUILD [PERCENT]     BUILD was made with EMU_CFLAGS=--coverage and has run; exit 1 below PERCENT (95)

The lines are those of src/kernels/cuda/*.cuh and kernel_*.cu that llvm-cov counts, taken together over every translation unit and
every template that holds them. No line is excused.
"""

import collections
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = "src/kernels/cuda/"
# "  count:  number:text" of gcov's format, where a count is "-" (no code), "#####" or "=====" (not reached) or a number.
LINE = re.compile(r" *(-|#####|=====|[0-9]+\*?): *([0-9]+):(.*)")


def is_kernel(path):
    name = os.path.basename(path)
    return path.startswith(FOLDER) and (name.endswith(".cuh") or name.startswith("kernel_"))


def counted(build):
    """(path, number, whether it was reached) for the lines with code of every translation unit of kernels that ran."""
    folder = os.path.join(ROOT, build, "obj", FOLDER)
    for name in sorted(os.listdir(folder)):
        if not (name.startswith("kernel_") and name.endswith(".gcda")):
            continue
        text = subprocess.run(["llvm-cov", "gcov", "-t", os.path.join(folder, name)], cwd=ROOT, check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode(errors="replace")
        path = ""
        for count, number, rest in LINE.findall(text):
            if number == "0" and rest.startswith("Source:"):
                path = os.path.normpath(rest[len("Source:"):])
            elif count != "-" and is_kernel(path):
                yield path, int(number), count[0].isdigit()


def main():
    build, needed = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 95.0
    lines = collections.defaultdict(dict)  # file -> {line: reached}
    for path, number, hit in counted(build):
        lines[path][number] = lines[path].get(number, False) or hit
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
