"""A peer for tests of the machinery: NumPy on the CPU, which misbehaves in cases whose name says so: crash, hang, refuse, wrong,
nograph."""

import os
import time

import numpy as np

from . import data
from .cases import Unsupported


class Made:
    def __init__(self, case, rotation, graph):
        self.case, self.calls, self.graph, self.note = case, rotation.calls, graph, ""
        positions = data.positions(case)
        answers = [data.expected(case, data.elements_of(case, at)) for at in positions]
        self.answers = [[answer[i].item() for answer in answers] for i in range(len(case.outs))]
        if "wrong" in case.name:
            self.answers[0][-1] += 1
        self.input = np.zeros(case.storage_bytes, "u1")

    def outputs(self, positions):
        assert len(positions) == len(self.answers[0])
        return self.answers

    def replay(self):
        start = time.perf_counter()
        for _ in range(self.calls):
            self.input.max()
        return 1e6 * (time.perf_counter() - start)

    def release(self):
        self.input = None


class Fake:
    def __init__(self, device, cache):
        del device, cache

    def versions(self):
        return {"fake": "1"}

    def check(self):
        pass

    def refuses(self, why):
        del why
        return False

    def prepare(self, case):
        if "slowbuild" in case.name:
            time.sleep(60)

    def make(self, case, rotation, graph):
        if "crash" in case.name:
            os._exit(9)
        if "hang" in case.name:
            time.sleep(60)
        if "refuse" in case.name:
            raise Unsupported("fake refuses this")
        if "nograph" in case.name and graph:
            raise RuntimeError("not permitted when stream is capturing")
        return Made(case, rotation, graph)
