"""What the report says, computed from the records: who won, by how much, at what share of the ceiling.

A speed-up is microseconds of the peer / microseconds of redax. Within EVEN of each other two are even; redax is behind where
it takes longer by more than BEHIND, below SHORT microseconds by more than BEHIND_SHORT. A peer whose answer was wrong takes
no part.
"""

import dataclasses
import math

EVEN = 0.02
BEHIND, BEHIND_SHORT, SHORT = 0.03, 0.05, 20
NAMES = {"torch": "torch eager", "compile": "torch.compile", "cupy": "CuPy", "jax": "JAX", "cub": "CUB", "numpy": "NumPy",
         "fake": "stand-in"}


def title(peer):
    return NAMES.get(peer, peer)


def geomean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


@dataclasses.dataclass
class Row:
    """One case."""
    record: dict
    peers: dict  # name -> microseconds, of those that were measured and right
    best: str | None
    speedup: float | None  # over the best peer
    verdict: str  # "redax", "even", a peer's name, or "" where there is nothing to compare

    @property
    def us(self):
        return self.record["redax"].get("us")

    @property
    def share(self):
        """Of the ceiling, as a fraction; None where no ceiling was measured."""
        return self.share_of(self.us)

    def share_of(self, us):
        ceiling = self.record["redax"].get("ceiling_gbps")
        return self.record["bytes"] / us / 1e3 / ceiling if us and ceiling else None

    @property
    def lost(self):
        return self.verdict not in ("redax", "even", "")

    @property
    def behind(self):
        return self.speedup is not None and 1 / self.speedup > 1 + (BEHIND_SHORT if self.us < SHORT else BEHIND)

    def ratio(self, peer):
        return self.peers[peer] / self.us if self.us and peer in self.peers else None


def row(record):
    us = record["redax"].get("us")
    # peers timed in turn with redax, on the CPU, have the median of neighbours' ratios: that is what counts
    peers = {name: us * r["ratio"] if us and "ratio" in r else r["us"] for name, r in record["peers"].items()
             if "us" in r and r.get("agrees") is not False}
    best = min(peers, key=peers.get) if peers else None
    if us is None or best is None:
        return Row(record, peers, best, None, "")
    speedup = peers[best] / us
    verdict = "redax" if speedup > 1 + EVEN else "even" if speedup >= 1 / (1 + EVEN) else best
    return Row(record, peers, best, speedup, verdict)


def rows(document):
    return [row(record) for record in document["cases"]]


def peer_names(document):
    """In the order of NAMES, those that measured something."""
    found = {name for record in document["cases"] for name, r in record["peers"].items() if "us" in r}
    return [name for name in NAMES if name in found] + sorted(found - set(NAMES))


def against(some, peer):
    """Speed-ups over one peer, or over the best one (peer None)."""
    every = [(r.speedup if peer is None else r.ratio(peer)) for r in some]
    return [ratio for ratio in every if ratio]


def tally(ratios):
    """(wins, even, losses)."""
    wins = sum(r > 1 + EVEN for r in ratios)
    losses = sum(r < 1 / (1 + EVEN) for r in ratios)
    return wins, len(ratios) - wins - losses, losses


def complaints(document):
    """(title, [sentence]) of what failed or differs."""
    wrong, failed, ours = [], [], []
    for record in document["cases"]:
        if "error" in record["redax"]:
            ours.append(f"{record['name']}: {record['redax']['error']}")
        for name, r in record["peers"].items():
            if r.get("agrees") is False:
                wrong.append(f"{record['name']}: {title(name)}")
            if "error" in r:
                failed.append(f"{record['name']}: {title(name)}: {r['error']}")
    return [("redax failed", ours), ("Results that differ, left out", wrong), ("Peers that failed", failed)]


def grid(some, family):
    """f32 sums of matrices for a heat map: {(bin of rows, bin of columns): [Row]}, bins being powers of four."""
    cells = {}
    for r in some:
        shape = [n for n in r.record["shape"] if n != 1]
        if r.record["op"] != "sum" or r.record["dtype"] != "f32" or r.record["family"] != family or r.speedup is None:
            continue
        if len(shape) != 2 or "@" in r.record["case"] or "+" in r.record["case"]:
            continue
        cells.setdefault(tuple(int(math.log(n, 4) + 1e-9) for n in shape), []).append(r)
    return cells


def count_label(n):
    for size, letter in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")):
        if n >= size:
            return f"{n / size:.3g}{letter}"
    return str(n)
