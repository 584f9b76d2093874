#!/usr/bin/env python3
"""What nvcc has made of the kernels: the promise about bits, and registers, by what is written rather than by flags.

    check_ptx.py FOLDER          judges FOLDER/*.ptx and what ptxas said of them, FOLDER/*.ptxas (`make ptx`)
    check_ptx.py FOLDER --write  writes tests/ptx/spills.txt anew from them
    check_ptx.py --test [NVCC]   plants offences and demands to find them; with NVCC also ones that it compiles

PTX: no .ftz and no .approx or .full; floating-point add, sub, mul, fma, div, rcp and sqrt are .rn and there is no mad; no floating-point
atom or red. An add and a mul without .rn are what ptxas may contract, and what there is without -fmad=false. A file NAME.named.ptx was
compiled with the fma that the source names as inline asm (tests/ptx/named_fma.cuh): there is no fma in it outside of that.

ptxas: no stack frame and no spills, but for the kernels that spills.txt lists, with the bytes that they may have. One that has none any
more must be struck, as one that is no longer there. The bytes are those of one version of ptxas; another's are printed, not judged.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections import namedtuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SPILLS = os.path.join(ROOT, "tests", "ptx", "spills.txt")
NAMED_FMA = os.path.join(ROOT, "tests", "ptx", "named_fma.cuh")
HEADER = """# Kernels that ptxas gives a stack frame or spills: KERNEL<TAB>STACK<TAB>STORES<TAB>LOADS, in bytes, upper bounds. A kernel is named
# by its template, algebra, working type and bytes of an element; what it calls counts as its own.
# To regenerate, once a change is known to be worth its spills: make ptx && tools/check_ptx.py build/ptx --write
"""

FLOAT = re.compile(r"\.(b?f16(x2)?|f32(x2)?|f64|tf32|e[0-9]m[0-9]\w*)(\.|$)")
ROUNDS = ("add", "sub", "mul", "fma", "div", "rcp", "sqrt")


# ---- PTX ----

def instructions(text):
    """(line number, opcode, whether it was written as inline asm)"""
    inline = False
    for number, line in enumerate(text.split("\n"), 1):
        if "begin inline asm" in line or "end inline asm" in line:
            inline = "begin" in line
        for statement in re.split(r"[;{}]", line.split("//")[0]):
            found = re.match(r"\s*(?:@!?%?\w+\s+)?([a-z][a-z0-9_]*(?:[.:]+[a-zA-Z0-9_]+)+)", statement)
            if found:
                yield number, found.group(1), inline


def offences_of(opcode, inline, named):
    parts = opcode.split(".")
    real = FLOAT.search(opcode[len(parts[0]):]) is not None
    for word in ("ftz", "approx", "full"):
        if word in parts:
            yield "." + word
    if real and parts[0] in ROUNDS and "rn" not in parts:
        yield "not rounded by itself (.rn)"
    if real and parts[0] in ("mad", "atom", "red", "multimem"):
        yield "floating-point " + parts[0]
    if named and real and parts[0] == "fma" and not inline:
        yield "an fma that the source does not name"


def judge_ptx(name, text):
    """(offences, counts of opcodes)"""
    offences, counts = [], {}
    for number, opcode, inline in instructions(text):
        key = opcode.split(".")[0] if FLOAT.search(opcode) else "other"
        counts[key] = counts.get(key, 0) + 1
        for why in offences_of(opcode, inline, name.endswith(".named.ptx")):
            offences.append("%s:%d: %s: %s" % (name, number, opcode, why))
    return offences, counts


# ---- ptxas ----

Use = namedtuple("Use", "stack stores loads")


def read_names():
    """Algebras and working types by number, from recipe.h."""
    with open(os.path.join(ROOT, "src", "recipe.h")) as stream:
        text = stream.read()
    algebras = re.search(r"#define RDX_ALGEBRAS\(X\)(.*?)\n\n", text, re.S).group(1)
    return re.findall(r"X\((\w+),", algebras), re.findall(r"\bRDX_WORK_(?!COUNT)(\w+),", text)


def kernel_name(mangled, names):
    found = re.match(r"_ZN3rdx\d+([a-z_]+)INS_4SpecI(NS_5TwiceI)?NS_7AlgebraILi(\d+)ELi(\d+)E+Li(\d+)ELi\d+E", mangled)
    if not found:
        return mangled
    kernel, twice, algebra, work, size = found.groups()
    return "%s %s%s %s %s" % (kernel, names[0][int(algebra)], " x2" if twice else "", names[1][int(work)], size)


def read_ptxas(text, names):
    """{kernel: Use} of what ptxas -v said."""
    uses, kernel = {}, None
    for line in text.split("\n"):
        entry = re.search(r"Compiling entry function '(\w+)'", line)
        numbers = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line)
        total = re.search(r"(\d+) bytes cumulative stack size", line)
        if entry:
            kernel = kernel_name(entry.group(1), names)
            uses[kernel] = Use(0, 0, 0)
        elif kernel and numbers:
            stack, stores, loads = map(int, numbers.groups())
            had = uses[kernel]
            uses[kernel] = Use(max(had.stack, stack), had.stores + stores, had.loads + loads)
        elif kernel and total:
            had = uses[kernel]
            uses[kernel] = had._replace(stack=max(had.stack, int(total.group(1))))
    return uses


def judge_uses(uses, listed):
    offences = []
    for kernel, use in sorted(uses.items()):
        bound = listed.get(kernel, Use(0, 0, 0))
        if any(have > may for have, may in zip(use, bound)):
            offences.append("%s: %d bytes of stack, %d stored, %d loaded; listed: %d, %d, %d" % ((kernel,) + use + bound))
        elif kernel in listed and not any(use):
            offences.append("%s: neither stack nor spills any more: strike it from the list" % kernel)
    return offences + ["%s: not compiled: strike it from the list" % kernel for kernel in sorted(set(listed) - set(uses))]


def read_list(text):
    """(version of ptxas, {kernel: Use})"""
    listed, version = {}, ""
    for line in text.split("\n"):
        if line.startswith("ptxas "):
            version = line
        elif line.strip() and not line.startswith("#"):
            kernel, *numbers = line.split("\t")
            listed[kernel] = Use(*map(int, numbers))
    return version, listed


def print_list(version, uses):
    lines = ["\t".join([kernel] + list(map(str, use))) for kernel, use in sorted(uses.items()) if any(use)]
    return HEADER + version + "\n" + "\n".join(lines) + "\n"


# ---- A folder ----

def read_folder(folder, ending):
    for name in sorted(os.listdir(folder)):
        if name.endswith(ending):
            with open(os.path.join(folder, name)) as stream:
                yield name, stream.read()


def version_of(text):
    found = re.search(r"release ([\d.]+)", text)
    target = re.search(r"for '(sm_\w+)'", text)
    return "ptxas %s %s" % (found.group(1) if found else "?", target.group(1) if target else "?")


def judge(folder, write):
    offences, total, files, uses, names, versions = [], {}, 0, {}, read_names(), set()
    for name, text in read_folder(folder, ".ptx"):
        found, counts = judge_ptx(name, text)
        offences += found
        files += 1
        for key, count in counts.items():
            total[key] = total.get(key, 0) + count
        if name.startswith("kernel_") and min(counts.get("add", 0), counts.get("mul", 0)) == 0:
            offences.append("%s: neither add nor mul of floating-point numbers: nothing was checked" % name)
    for name, text in read_folder(folder, ".ptxas"):
        found = read_ptxas(text, names)
        if not found:
            offences.append("%s: ptxas speaks of no kernel" % name)
        versions.add(version_of(text))
        uses.update(found)
    if len(versions) != 1 or not uses:
        offences.append("ptxas of one version was to speak of kernels: %s" % sorted(versions))
    version = max(versions, default="")
    for kernel, use in sorted(uses.items()):
        if any(use):
            print("%-34s %5d bytes of stack %6d stored %6d loaded" % ((kernel,) + use))
    if write:
        with open(SPILLS, "w") as stream:
            stream.write(print_list(version, uses))
    with open(SPILLS) as stream:
        known, listed = read_list(stream.read())
    judged = known == version
    if judged:
        offences += judge_uses(uses, listed)
    for offence in offences:
        print(offence, file=sys.stderr)
    print("ptx: %d files, %d add, %d mul, %d fma; %d kernels, %d with stack or spills%s; %d offences" %
          (files, total.get("add", 0), total.get("mul", 0), total.get("fma", 0), len(uses),
           sum(any(use) for use in uses.values()),
           "" if judged else ", not judged (%s here, %s listed)" % (version, known), len(offences)))
    return not offences


# ---- Test ----

PLANTED = (
    # (a line of PTX, the word of the complaint); None: there is none
    ("\tadd.rn.f32 \t%f1, %f2, %f3;", None),
    ("\tfma.rn.f64 \t%fd1, %fd2, %fd3, %fd4;", None),
    ("\tmad.lo.s32 \t%r1, %r2, %r3, %r4;", None),
    ("\tmul.wide.u32 \t%rd1, %r2, %r3;", None),
    ("\t@%p1 atom.global.inc.u32 \t%r1, [%rd1], %r2;", None),
    ("\tcvt.rzi.s32.f32 \t%r1, %f1;", None),
    ("\tdiv.rn.f32 \t%f1, %f2, %f3; // not div.full", None),
    ("\tadd.f32 \t%f1, %f2, %f3;", "not rounded"),
    ("\t@%p1 sub.f64 \t%fd1, %fd2, %fd3;", "not rounded"),
    ("\tmul.rz.f32 \t%f1, %f2, %f3;", "not rounded"),
    ("\tmul.f16x2 \t%r1, %r2, %r3;", "not rounded"),
    ("\tadd.bf16 \t%rs1, %rs2, %rs3;", "not rounded"),
    ("\t{ mul.f32 %f1, %f2, %f3; add.rn.f32 %f1, %f1, %f4; }", "not rounded"),
    ("\tadd.rn.ftz.f32 \t%f1, %f2, %f3;", ".ftz"),
    ("\tcvt.ftz.f32.f16 \t%f1, %rs1;", ".ftz"),
    ("\tsetp.lt.ftz.f32 \t%p1, %f1, %f2;", ".ftz"),
    ("\tex2.approx.f32 \t%f1, %f2;", ".approx"),
    ("\tdiv.full.f32 \t%f1, %f2, %f3;", ".full"),
    ("\tmad.rn.f32 \t%f1, %f2, %f3, %f4;", "floating-point mad"),
    ("\tatom.global.add.f32 \t%f1, [%rd1], %f2;", "floating-point atom"),
    ("\tred.global.add.f64 \t[%rd1], %fd1;", "floating-point red"),
    ("\tred.relaxed.gpu.global.add.noftz.bf16x2 \t[%rd1], %r1;", "floating-point red"),
)
PTXAS = """ptxas info    : Compiling entry function '_ZN3rdx3new' for 'sm_90'
ptxas info    : Function properties for _ZN3rdx3new
    %d bytes stack frame, %d bytes spill stores, %d bytes spill loads
ptxas info    : Used 128 registers, used 1 barriers, %d bytes cumulative stack size
"""
SOURCES = (
    # (flags, a kernel's body, the word of the complaint or None)
    ("-fmad=false", "x[0] = x[1] * x[2] + x[3]; x[4] = __fmaf_rn(x[5], x[6], x[7]); x[8] = x[9] / sqrtf(x[10]);", None),
    ("", "x[0] = x[1] * x[2];", "not rounded"),
    ("", "x[0] = x[1] * x[2] + x[3];", "an fma that the source does not name"),
    ("-fmad=false -use_fast_math", "x[0] = x[1] / x[2];", ".approx"),
    ("-fmad=false -ftz=true", "x[0] = x[1] + x[2];", ".ftz"),
    ("-fmad=false", "atomicAdd(x, x[1]);", "floating-point atom"),
    ("-fmad=false", "x[0] = __expf(x[1]);", ".approx"),
)


def test(nvcc):
    wrong, tried = [], 0

    def demand(what, complaints, word):
        nonlocal tried
        tried += 1
        if (word is None) != (not complaints) or (word and not any(word in complaint for complaint in complaints)):
            wrong.append("%s: wanted %s, got %s" % (what.strip(), word or "no complaint", complaints or "none"))

    for line, word in PLANTED:
        demand(line, judge_ptx("x.ptx", line)[0], word)
    fma = "\tfma.rn.f32 \t%f1, %f2, %f3, %f4;"
    demand("a named fma", judge_ptx("x.named.ptx", "// begin inline asm\n%s\n// end inline asm" % fma)[0], None)
    demand("another fma", judge_ptx("x.named.ptx", "// begin inline asm\n// end inline asm\n" + fma)[0], "does not name")
    for use, listed, word in (((0, 0, 0), None, None), ((8, 0, 0), None, "8 bytes of stack"), ((0, 4, 0), None, "4 stored"),
                              ((8, 4, 4), (8, 4, 4), None), ((8, 4, 8), (8, 4, 4), "8 loaded"), ((0, 0, 0), (8, 4, 4), "strike")):
        uses = read_ptxas(PTXAS % (use + use[:1]), ((), ()))
        _, known = read_list(print_list("ptxas 1 sm_1", {"_ZN3rdx3new": Use(*listed)} if listed else {}))
        demand("%s of %s" % (use, listed), judge_uses(uses, known), word)
    demand("a kernel that is gone", judge_uses({}, {"gone": Use(8, 4, 4)}), "not compiled")
    if nvcc:
        with tempfile.TemporaryDirectory() as folder:
            source, ptx = os.path.join(folder, "x.cu"), os.path.join(folder, "x.ptx")
            for flags, body, word in SOURCES:
                with open(source, "w") as stream:
                    stream.write("__global__ void kernel(float *x) { %s }\n" % body)
                subprocess.run([nvcc, "-ptx", "-arch=compute_90", "-include", NAMED_FMA, "-o", ptx, source] + flags.split(), check=True)
                with open(ptx) as stream:
                    demand("nvcc %s: %s" % (flags, body), judge_ptx("x.named.ptx", stream.read())[0], word)
    for line in wrong:
        print(line, file=sys.stderr)
    print("check_ptx: %d of %d planted lines judged right%s" % (tried - len(wrong), tried, "" if nvcc else ", none compiled"))
    return not wrong


def main():
    if sys.argv[1:2] == ["--test"]:
        return 0 if test(sys.argv[2] if len(sys.argv) > 2 else None) else 1
    if len(sys.argv) not in (2, 3) or (len(sys.argv) == 3 and sys.argv[2] != "--write"):
        sys.exit("usage: check_ptx.py FOLDER [--write] | --test [NVCC]")
    return 0 if judge(sys.argv[1], len(sys.argv) == 3) else 1


if __name__ == "__main__":
    sys.exit(main())
