#!/usr/bin/env python3
"""tools/peers.py without a GPU: the CASE grammar, layouts and answers against NumPy's own, a run with a peer that misbehaves on
purpose, and the report of a small sample.

    tests/test_peers.py [BUILD]      BUILD holds the redax command (default: build)
"""

import io
import contextlib
import json
import os
import sys
import tempfile
import unittest

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tools"))
sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
import report  # noqa: E402
from peers import cases, command, data, facts, harness, records, tables, view  # noqa: E402

BUILD = os.path.join(ROOT, "build")
LAYOUTS = ["sum:f32:1000", "sum:f32:40x50/1", "sum:f32:40x50/0", "sum:f32:5x6x7/1", "sum:i8:5x6x7/0,2", "max:f32:64x64@1x64/1",
           "sum:f32:32x40@80x2/1", "sum:f32:65x41@48x1+3/1", "sum:f64:20x30@30x-1+29/1", "sum:f32:20x30@0x1/1",
           "argmax:bf16:20x30/1", "sum:f32:4x6x8@1x32x4/0", "any:bool:30x40/1", "var1:f32:30x40/0", "norm2:f32:3x4x5x6/0,2,3",
           "count_nonzero:i32:100", "logsumexp:f32:10x20/1", "sum:c64:9x9/0", "minmax:u8:9x9/1", "mean:f8e4m3:9x9/1",
           "prod:f8e5m2:5x5/1", "sum:f32:7x1x9@9x5x1/0", "max:i16:1x1/1", "sum:f32:12x3@3x1+1/0"]


def whole_view(case):
    """The case's array over its storage, as NumPy strides it."""
    storage = data.block(case.dtype)[np.arange(case.storage) % data.PERIOD]
    size = storage.itemsize
    return np.ndarray(case.shape, storage.dtype, storage, (case.offset - case.low) * size, tuple(s * size for s in case.strides))


class Cases(unittest.TestCase):
    def test_suites_parse(self):
        for name in sorted(os.listdir(os.path.join(ROOT, "bench"))):
            if not name.endswith(".txt"):
                continue
            lines = cases.read_suite(os.path.join(ROOT, "bench", name))
            self.assertEqual(len({line[0] for line in lines}), len(lines), f"{name} names a case twice")
            for label, text in lines:
                case = cases.parse(label, text)
                self.assertGreaterEqual(case.low, 0, text)
                self.assertIn(records.family(case), records.FAMILIES)

    def test_keys(self):
        case = cases.parse("x", "norm-inf:f32:3x4@4x1+2/-1:nan=omit:out=f64")
        self.assertEqual((case.op, case.param, case.axes, case.offset, case.omit, case.outs),
                         ("norm", -np.inf, (1,), 2, True, ("f64",)))
        self.assertEqual(cases.parse("x", "max:f32:-").shape, ())
        self.assertEqual(cases.parse("x", "sum:f32:5/-").axes, ())
        self.assertEqual(cases.parse("x", "max:bf16:5:out2=1").outs, ("bf16", "i64"))
        for wrong in ("sum", "sum:f33:4", "sum:f32:4:alpha=2", "sum:f32:4x4@1/0"):
            with self.assertRaises(ValueError):
                cases.parse("x", wrong)

    def test_elements(self):
        for text in LAYOUTS:
            case = cases.parse("x", text)
            array = whole_view(case).transpose(case.kept + case.axes).reshape(case.outputs, case.reduced)
            for position in data.positions(case):
                np.testing.assert_array_equal(data.elements_of(case, position), data.widened(case.dtype, array[position]), text)

    def test_views(self):
        for text in LAYOUTS:
            case = cases.parse("x", text)
            made = view.View(case)
            flat = data.block(case.dtype)[(np.arange(made.length) - made.first) % data.PERIOD]
            np.testing.assert_array_equal(np.broadcast_to(made.apply(flat, np.flip), case.shape), whole_view(case), text)

    def test_rotation(self):
        turn = harness.rotation(cases.parse("x", "sum:f32:1024/0"))
        self.assertEqual((turn.copies, turn.calls, turn.pitch % 256), (48, 48, 0))
        turn = harness.rotation(cases.parse("x", "sum:f32:1073741824/0"))
        self.assertEqual((turn.copies, turn.calls), (1, 8))
        turn = harness.rotation(cases.parse("x", "sum:f32:4096x4096@4097x1+3/1"))
        self.assertEqual((turn.copies, turn.calls, turn.slip), (8, 8, 12))


class Runs(unittest.TestCase):
    """Fake peer and redax on the CPU: crashes, hangs and wrong answers are recorded, and the run goes on."""

    def run_tool(self, folder, suite, *words):
        path, result = os.path.join(folder, "suite.txt"), os.path.join(folder, "out.json")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(suite)
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            code = command.main(["--device", "fake", "--suite", path, "--json", result, "--case-seconds", "1.5",
                                 "--build-seconds", "1.5", "--redax", os.path.join(BUILD, "redax"),
                                 "--cache", os.path.join(folder, "cache"), *words])
        with open(result, encoding="utf-8") as stream:
            document = json.load(stream)
        return code, {entry["name"]: entry for entry in document["cases"]}, document, shown.getvalue()

    def test_run(self):
        suite = """good sum:f32:1000x10/1\nstepped max:i32:100x7@14x2/0\nit-crashes sum:f32:100\nit-hangs sum:f32:100
            refused sum:f32:100 # comment\nwrong sum:i32:100\nnograph mean:f32:64x64/1\nslowbuild sum:f32:10
            unknown sum:f32:16:alpha=2\n"""
        with tempfile.TemporaryDirectory() as folder:
            code, found, document, shown = self.run_tool(folder, suite, "--group", "3", "--builders", "2")
            peers = {name: entry["peers"].get("fake", {}) for name, entry in found.items()}
            self.assertEqual(code, 1)
            self.assertIn("alpha", shown)
            self.assertTrue(peers["good"]["agrees"] and peers["stepped"]["agrees"] and peers["good"]["graph"])
            self.assertIn("exit code 9", peers["it-crashes"]["error"])
            self.assertIn("1.5 s", peers["it-hangs"]["error"])
            self.assertIn("refuses", peers["refused"]["skipped"])
            self.assertIs(peers["wrong"]["agrees"], False)
            self.assertIs(peers["nograph"]["graph"], False)
            self.assertIn("more than", peers["slowbuild"]["skipped"])
            for name, entry in found.items():
                if "not believable" in entry["redax"].get("error", ""):
                    continue  # so small a case on a busy machine
                self.assertEqual(len(entry["redax"]["all"]), 2, f"{name}: {entry['redax']}")
                self.assertTrue(entry["redax"]["verified"] and entry["bytes"] > 0)
            self.assertEqual(document["versions"]["fake"], "1")
            code, found, document, _ = self.run_tool(folder, "good sum:f32:1000x10/1\nlater sum:f32:99\n", "--resume",
                                                     "--ours", "before")
            self.assertEqual((code, len(found["good"]["peers"]["fake"]["all"]), len(found["later"]["redax"]["all"])), (0, 1, 1))
            code, found, document, _ = self.run_tool(folder, "good sum:f32:1000x10/1\n", "--ours", "none", "--rounds", "2")
            self.assertEqual((len(found["good"]["peers"]["fake"]["all"]), len(document["runs"])), (3, 3))
            code, *_ = self.run_tool(folder, "good sum:f32:1000x10/1\nother sum:f32:9\n", "--deadline", "0.0001", "--group", "1")
            self.assertEqual(code, 3)

    def test_medians(self):
        kept = {}
        for us, agrees in ((3.0, None), (1.0, True), (2.0, None)):
            kept = records.add(kept, {"us": us, "agrees": agrees})
        self.assertEqual((kept["us"], kept["all"], kept["agrees"]), (2.0, [3.0, 1.0, 2.0], True))
        self.assertEqual(records.add(kept, {"error": "x"}), kept)
        self.assertEqual(records.add({"error": "x"}, {"us": 1.0})["us"], 1.0)
        joined = records.join({"us": 5.0, "all": [5.0]}, {"us": 2.0, "all": [1.0, 3.0], "agrees": False})
        self.assertEqual((joined["us"], joined["all"], joined["agrees"]), (3.0, [5.0, 1.0, 3.0], False))


class Report(unittest.TestCase):
    """Of a run with the stand-in peer: tests/peers_sample.json."""

    SAMPLE = os.path.join(ROOT, "tests", "peers_sample.json")

    def test_page(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            path = os.path.join(folder, "report.html")
            self.assertEqual(report.main([self.SAMPLE, self.SAMPLE, "--html", path]), 0)
            with open(path, encoding="utf-8") as stream:
                page = stream.read()
        with open(self.SAMPLE, encoding="utf-8") as stream:
            document = json.load(stream)
        for record in document["cases"]:
            self.assertIn(record["name"], page)
        for word in ("Share of the ceiling", "Each row summed", "Each column summed", "Distribution", "Where redax is slower",
                     "Every case", "the process died", "fake refuses this", "Machine, versions"):
            self.assertIn(word, page)
        self.assertNotIn("src=", page)
        self.assertNotIn("nan", page.lower().split("<main>")[1].split("Every case")[0])

    def test_verdicts(self):
        record = {"bytes": 8000, "redax": {"us": 2.0, "ceiling_gbps": 8.0}, "peers": {
            "torch": {"us": 2.02}, "cub": {"us": 1.0, "agrees": False}, "jax": {"skipped": "x"}, "numpy": {"us": 9.0, "ratio": 3.0}}}
        row = facts.row(record)
        self.assertEqual((row.best, row.verdict, row.lost, row.share, row.ratio("numpy")), ("torch", "even", False, 0.5, 3.0))
        record["peers"]["cub"]["agrees"] = None
        self.assertEqual((facts.row(record).verdict, facts.row(record).speedup), ("cub", 0.5))
        self.assertEqual(facts.tally([1.0, 1.5, 0.9, 1.01]), (1, 2, 1))
        for us, peer, behind in ((19, 18.2, False), (19, 18, True), (103, 100.1, False), (103, 99.9, True), (90, 100, False)):
            some = {"bytes": 1, "redax": {"us": us}, "peers": {"torch": {"us": peer}}}
            self.assertEqual((us, peer, facts.row(some).behind), (us, peer, behind))

    def test_tables(self):
        record = {"name": "r", "case": "sum:f32:8", "bytes": 8000, "redax": {"us": 2.0, "ceiling_gbps": 8.0},
                  "peers": {"torch": {"us": 1234.5}, "jax": {"us": 0.5, "agrees": False}}}
        lost = {**record, "name": "l", "case": "sum:f32:9", "peers": {"torch": {"us": 1.0}, "jax": {"us": 3.0}}}
        lines = tables.cases({"cases": [record, lost]})
        self.assertEqual(lines[0], "| case | redax, us | % of ceiling | torch eager | JAX | best / redax |")
        self.assertEqual(lines[2:], ["| `sum:f32:8` | **2.00** | 50 | 1234 | – | 617.25 |",
                                     "| `sum:f32:9` | 2.00 | 50 | **1.00** | 3.00 | 0.50 |"])
        self.assertEqual(tables.cases({"cases": [record, lost]}, ["l"])[2:], lines[3:])
        with self.assertRaises(KeyError):
            tables.cases({"cases": [record]}, ["l"])
        self.assertEqual(tables.cases({"cases": [record, lost]}, headings={"l": "lost"})[3:], ["| *lost* |  |  |  |  |  |", lines[3]])
        self.assertEqual(tables.behind({"cases": [record, lost]})[2:], ["| `sum:f32:9` | 2.00 | torch eager | 1.00 | 0.50 |"])
        self.assertEqual(tables.summary({"cases": [record, lost]})[3:], ["| torch eager | 2 | 17.57 | 1 | 0 | 1 |",
                                                                         "| JAX | 1 | 1.50 | 1 | 0 | 0 |"])

    def test_text(self):
        document = {"schema": records.SCHEMA, "runs": [{"date": "d"}], "cases": [{"us": [1.23456789, 2], "n": 1 << 40}, {}]}
        text = records.text(document)
        self.assertEqual(text.count("\n"), 6)
        self.assertEqual(json.loads(text), {**document, "cases": [{"us": [1.2346, 2], "n": 1 << 40}, {}]})


if __name__ == "__main__":
    if len(sys.argv) > 1:
        BUILD = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
