"""How a peer is timed on a GPU: as `redax bench` times redax (tools/bench_device.c).

As many copies of the buffers as fill 512 MB, 1 to 48, are used in turn by at least 8 calls, so that no call finds its input in
a cache; the calls are one CUDA graph where the peer can be captured, replayed twice to warm up and nine times to count. The
median replay divided by its calls is the time of a call, in microseconds.
"""

import dataclasses
import statistics

ROTATED_BYTES = 512 << 20
MOST_COPIES, LEAST_CALLS = 48, 8
WARM, REPLAYS = 2, 9
LONG_US, LONG_REPLAYS = 5e5, 3  # a replay that takes half a second is not repeated as often
PAGE = 256  # bytes: copies start at multiples of this, plus the case's slip


@dataclasses.dataclass
class Rotation:
    copies: int
    calls: int
    pitch: int  # bytes from copy to copy, a multiple of PAGE
    slip: int   # bytes from a copy's start to its storage

    @property
    def bytes(self):
        return self.copies * self.pitch


def rotation(case):
    filling = -(-ROTATED_BYTES // case.storage_bytes)
    copies = max(1, min(filling, MOST_COPIES))
    pitch = (case.storage_bytes + case.slip + 2 * PAGE) // PAGE * PAGE
    return Rotation(copies, max(copies, LEAST_CALLS), pitch, case.slip)


def measure(peer, case, graph):
    """A record of one case on one peer. The peer's `make(case, rotation, graph)` returns an object with

        outputs(positions)  for each output of copy 0 a list of Python numbers
        replay()            microseconds of `calls` calls
        calls, graph        calls a replay, and whether it is a CUDA graph
        release()           gives all memory back
    """
    from . import data  # NumPy: only where something is measured
    made = peer.make(case, rotation(case), graph)
    try:
        right = data.agrees(case, made.outputs(data.positions(case)))
        long = made.replay() > LONG_US
        for _ in range(0 if long else WARM - 1):
            made.replay()
        times = sorted(made.replay() / made.calls for _ in range(LONG_REPLAYS if long else REPLAYS))
        record = {"us": statistics.median(times), "us_min": times[0], "us_max": times[-1], "calls": made.calls,
                  "replays": len(times), "graph": made.graph, "agrees": right}
        if getattr(made, "note", ""):
            record["note"] = made.note
        return record
    finally:
        made.release()
