"""The command line of tools/peers.py."""

import argparse
import os
import sys

from . import run

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GPU_PEERS = ["torch", "compile", "cupy", "jax", "cub"]
CPU_PEERS = ["numpy", "torch"]

EXPLAINED = """
cpu:    redax, NumPy and torch are called in turn in this process; the cases of bench/numpy.txt unless --suite says otherwise.
cuda:N: `redax bench` and a process for each peer take turns, --group cases at a time: redax, every peer, redax. As many copies of
        the buffers as fill 512 MB (1 to 48), at least 8 calls, in a CUDA graph where the peer can be captured, the median of
        nine replays. The file of --json is continued: a further measurement is added to those that are there, and medians count.
        A peer that is not installed is named and left out, a case that it does not have is skipped by name, and a crash or
        a hang is recorded as the error of its case. RDX_CUDA_PLUGIN names the plugin, as for redax itself.
exit:   0 done; 1 a result differs, redax failed a case, or (--strict, cpu) redax is slower; 2 usage; 3 out of time, --resume
        continues.
"""


def shard(text):
    index, _, count = text.partition("/")
    if not (index.isdigit() and count.isdigit() and int(index) < int(count)):
        raise argparse.ArgumentTypeError(f"{text} is not I/N with I from 0 to N - 1")
    return int(index), int(count)


def arguments(words):
    parser = argparse.ArgumentParser(prog="tools/peers.py", description="Times redax beside its peers.", epilog=EXPLAINED,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    both, cpu, gpu = (parser.add_argument_group(title) for title in ("everywhere", "on the CPU", "on a GPU"))
    both.add_argument("--device", default="cpu", help="cpu (the default) or cuda[:N]")
    both.add_argument("--suite", action="append", help="NAME CASE in each line; may be given again")
    both.add_argument("--only", action="append", help="cases whose name contains this; may be given again")
    both.add_argument("--shard", type=shard, default=(0, 1), metavar="I/N", help="every Nth case, from the Ith (from 0) on")
    both.add_argument("--peers", help=f"of {','.join(GPU_PEERS)}; on the CPU {','.join(CPU_PEERS)} (default: all)")
    both.add_argument("--json", help="write, on a GPU continue, this file")
    cpu.add_argument("--library", default=os.path.join(ROOT, "build", "libredax.so"))
    cpu.add_argument("--threads", type=int, default=0, help="of redax and torch; 0: one for each processor")
    cpu.add_argument("--seconds", type=float, default=0.5, help="of timing for each case")
    cpu.add_argument("--strict", action="store_true", help="exit 1 if a case is slower than a peer")
    gpu.add_argument("--redax", default=os.path.join(ROOT, "build", "redax"), help="the command")
    gpu.add_argument("--ours", choices=["both", "before", "none"], default="both",
                     help="redax before and after the peers of a group, before them, or not at all")
    gpu.add_argument("--rounds", type=int, default=1, help="how often all that is done")
    gpu.add_argument("--group", type=int, default=8, help="cases between turns")
    gpu.add_argument("--resume", action="store_true", help="leave out cases that the file has for all chosen peers")
    gpu.add_argument("--deadline", type=float, default=0, metavar="S",
                     help="begin no turn later than this many seconds from the start")
    gpu.add_argument("--builders", type=int, default=min(12, os.cpu_count() or 1), help="processes that compile")
    gpu.add_argument("--build-seconds", type=float, default=90, help="to compile one case for one peer")
    gpu.add_argument("--build-budget", type=float, default=300, help="seconds to compile everything; the rest is skipped by name")
    gpu.add_argument("--case-seconds", type=float, default=60, help="to measure one case on one peer")
    gpu.add_argument("--ours-seconds", type=float, default=60, help="to verify and measure one case on redax")
    gpu.add_argument("--cache", default=os.path.join(ROOT, "build", "peers"), help="compiled kernels and logs of the peers")
    options = parser.parse_args(words)
    known = {"cpu": CPU_PEERS, "fake": ["fake"]}.get(options.device, GPU_PEERS)
    options.peers = options.peers.split(",") if options.peers else known
    unknown = set(options.peers) - set(known)
    if unknown:
        parser.error(f"no peer {', '.join(sorted(unknown))} on {options.device}")
    if options.device == "cuda":
        options.device = "cuda:0"
    if not options.suite:
        options.suite = [os.path.join(ROOT, "bench", "numpy.txt" if options.device == "cpu" else "cases.txt")]
    return options


def main(words=None):
    options = arguments(words)
    try:
        chosen, refused = run.choose(options.suite, options)
    except (OSError, ValueError) as why:
        print(f"peers: {why}", file=sys.stderr)
        return 1
    for why in refused:
        print(f"left out: {why}")
    if not chosen:
        print("no such case", file=sys.stderr)
        return 2
    if options.device == "cpu":
        from . import cpu  # pylint: disable=import-outside-toplevel  # NumPy
        return cpu.main(options, chosen)
    turns = run.Run(options, chosen, lambda line: print(line, flush=True))
    if not turns.go():
        return 3
    return report(turns)


def report(turns):
    """Counts, and the exit code."""
    entries = list(turns.entries.values())
    measured = [(e["name"], name, r) for e in entries for name, r in e["peers"].items()]
    different = [f"{case} {name}" for case, name, r in measured if r.get("agrees") is False]
    failed = [f"{case} {name}: {r['error']}" for case, name, r in measured if "error" in r]
    ours = [f"{e['name']}: {e['redax']['error']}" for e in entries if "error" in e["redax"]]
    print(f"\n{len(entries)} cases, {sum('us' in r for _, _, r in measured)} measurements of peers, "
          f"{sum('skipped' in r for _, _, r in measured)} skipped, {len(failed)} failed, {len(different)} different, "
          f"redax failed {len(ours)}")
    for title, lines in (("different results", different), ("failed", failed), ("redax failed", ours)):
        for line in lines:
            print(f"{title}: {line}")
    return 1 if different or ours else 0
