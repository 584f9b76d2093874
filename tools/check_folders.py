#!/usr/bin/env python3
"""The folder rules: who may include whom, and what the library never calls.

    src/iter      includes nothing of plan or kernels
    src/plan      includes nothing of kernels
    CUDA headers  only in src/kernels/cuda and tests/emu, and in tools/peers, which times CUB
    CUDA calls    only as RDX_CUDA_CALL(function, ...), where tests can count them and make them fail
    src           never prints, exits or aborts; memory, files, threads and libraries are acquired in src/sys.c
                  alone, where tests can make that fail
    tools         the public header only, but for explain, fuzz and bench, which show the planner's inside, and gpu,
                  which moves data through the plugin
    tests/oracle* nothing of src: it must not share the code that it judges (tables excepted)
    python        the public header only
    all           C files of at most 450 lines

Comments and strings are taken out first. Prints one line for each offence and exits 1 if there was any.
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CUDA_HEADER = re.compile(r"^(cuda|cub|cooperative_groups|cublas|nvtx|nvToolsExt|thrust)")
SEES_INSIDE = {"explain", "fuzz", "bench", "gpu"}  # tools/<name>*.c and .h
LONGEST = 450

PRINTS = "printf fprintf vprintf vfprintf dprintf vdprintf puts fputs fputc putc putchar fwrite perror".split()
ENDS = "exit _exit _Exit quick_exit abort assert raise __builtin_trap __builtin_abort".split()
ACQUIRES = """malloc calloc realloc reallocarray free aligned_alloc posix_memalign memalign strdup strndup asprintf vasprintf
    mmap munmap mprotect madvise open openat close read write fopen fclose
    pthread_create pthread_atfork pthread_key_create dlopen dlsym dlclose setenv fork execv system popen""".split()
CUDA_CALL = re.compile(r"\b(cuda(?!GetErrorString|GetErrorName|PeekAtLastError)[A-Z]\w*)\s*\(")


def call_of(names):
    return re.compile(r"(?<![\w.>])(" + "|".join(map(re.escape, names)) + r")\s*\(")


def strip(text, keep_strings):
    """Blanks comments, and strings unless they are wanted (as file names of includes), keeping line numbers."""
    pattern = r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"

    def blank(match):
        piece = match.group()
        if piece[0] in "\"'" and keep_strings:
            return piece
        return re.sub(r"[^\n]", " ", piece)

    return re.sub(pattern, blank, text, flags=re.S)


def c_files(*folders):
    for folder in folders:
        for place, _, names in os.walk(os.path.join(ROOT, folder)):
            for name in sorted(names):
                if re.search(r"\.(c|h|def|inc|cu|cuh|cpp)$", name):
                    yield os.path.relpath(os.path.join(place, name), ROOT)


def includes(path, text):
    """(line, file as written, file inside the project or None)"""
    for number, line in enumerate(strip(text, True).splitlines(), 1):
        found = re.match(r"\s*#\s*include\s*[<\"]([^>\"]+)[>\"]", line)
        if not found:
            continue
        name = found.group(1)
        for base in (os.path.dirname(path), "include", "src", "tools", "tests"):
            candidate = os.path.normpath(os.path.join(base, name))
            if os.path.isfile(os.path.join(ROOT, candidate)):
                yield number, name, candidate
                break
        else:
            yield number, name, None


def offences_of_include(path, name, target):
    in_folder = path.startswith
    if target is None:
        if CUDA_HEADER.match(name) and not in_folder(("src/kernels/cuda/", "tests/emu/", "tools/peers/")):
            yield "a CUDA header outside src/kernels/cuda"
        return
    if in_folder("src/iter/") and target.startswith(("src/plan/", "src/kernels/")):
        yield "iter includes nothing of plan or kernels"
    if in_folder("src/plan/") and target.startswith("src/kernels/"):
        yield "plan includes nothing of kernels"
    if in_folder("src/") and not target.startswith(("src/", "include/")):
        yield "src includes only itself and the public header"
    code_of_src = target.startswith("src/") and not target.endswith(".def")
    if in_folder("tools/") and code_of_src and os.path.basename(path).split(".")[0].split("_")[0] not in SEES_INSIDE:
        yield "tools use the public header (explain, fuzz, bench and gpu may look inside)"
    if in_folder("python/") and target.startswith("src/"):
        yield "the extension uses the public header"
    if in_folder("tests/oracle") and code_of_src:
        yield "the oracle shares no code with the library"


def main():
    offences = []
    count = 0
    calls = [(call_of(PRINTS), "the library never prints"), (call_of(ENDS), "the library never ends the program"),
             (call_of(ACQUIRES), "what may fail to be had is asked for through src/sys.h")]
    for path in c_files("src", "include", "tools", "tests", "examples", "python"):
        count += 1
        with open(os.path.join(ROOT, path), encoding="utf-8") as stream:
            text = stream.read()
        length = text.count("\n")
        if length > LONGEST and path.endswith((".c", ".h", ".cu", ".cuh")):
            offences.append(f"{path}: {length} lines, more than {LONGEST}")
        for number, name, target in includes(path, text):
            offences += [f"{path}:{number}: {why}: {name}" for why in offences_of_include(path, name, target)]
        if not path.startswith("src/"):
            continue
        for number, line in enumerate(strip(text, False).splitlines(), 1):
            offences += [f"{path}:{number}: CUDA is called through RDX_CUDA_CALL: {found}()" for found in CUDA_CALL.findall(line)]
            for pattern, why in calls:
                if path == "src/sys.c" and "sys.h" in why:
                    continue
                offences += [f"{path}:{number}: {why}: {found}()" for found in pattern.findall(line)]
    for offence in offences:
        print(offence)
    print(f"folder rules: {count} files, {len(offences)} offences")
    return 1 if offences or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
