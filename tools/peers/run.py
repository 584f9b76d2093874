"""A run on a GPU: groups of cases; for each group redax, every peer in turn, and redax again.

What must be built is built first, several at a time, while nothing is timed. From then on one process at a time uses the GPU.
The JSON file is written after each turn, so a run that is stopped can be continued (--resume).
"""

import concurrent.futures
import datetime
import json
import os
import subprocess
import tempfile
import time

from . import cases, records
from .turns import Worker

BUILT = {"compile": "torch.compile", "cub": "nvcc", "fake": "nothing"}  # peers with something to build


class Run:
    def __init__(self, options, chosen, say):
        """options: see command.py; chosen: [(suite, Case)]; say: prints a line."""
        self.options, self.chosen, self.say = options, chosen, say
        self.started = time.monotonic()
        self.document = records.load(options.json, options.device)
        self.entries = {case.name: records.entry(self.document, case, suite) for suite, case in chosen}
        os.makedirs(options.cache, exist_ok=True)
        self.workers = {name: self._worker(name) for name in options.peers}

    def _worker(self, name):
        return Worker(name, self.options.device, self.options.cache, os.path.join(self.options.cache, f"{name}.log"))

    def late(self):
        return self.options.deadline and time.monotonic() - self.started > self.options.deadline

    def go(self):
        """True if every case was reached."""
        options, document = self.options, self.document
        now = datetime.datetime.now(datetime.timezone.utc)
        document["runs"].append({"date": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "suites": sorted({s for s, _ in self.chosen}),
                                 "shard": options.shard, "only": options.only, "peers": options.peers,
                                 "rounds": options.rounds, "ours": options.ours})
        pending = [case for _, case in self.chosen if not (options.resume and self._done(case))]
        try:
            with concurrent.futures.ThreadPoolExecutor(len(options.peers)) as pool:
                list(pool.map(lambda worker: worker.start(), self.workers.values()))
            for name in options.peers:
                self._greet(name)
            self._build(pending)
            for _ in range(options.rounds):
                for first in range(0, len(pending), options.group):
                    self._group(pending[first:first + options.group])
                    if self.late() and first + options.group < len(pending):
                        self.say(f"out of time: {len(pending) - first - options.group} cases are left, --resume continues")
                        return False
            return True
        finally:
            for worker in self.workers.values():
                worker.stop()
            records.save(document, options.json)

    def _done(self, case):
        known = self.entries[case.name]
        ours = self.options.ours == "none" or known["redax"]
        return ours and all(name in known["peers"] or name in self.document["absent"] for name in self.options.peers)

    def _greet(self, name):
        worker = self.workers[name]
        if not worker.absent:
            self.document["absent"].pop(name, None)
            self.document["versions"].update(worker.versions)
            self.document["gpu"] = worker.versions.get("gpu") or self.document["gpu"]
        else:
            self.document["absent"][name] = worker.absent
        self.say(f"{name}: {worker.absent or ', '.join(f'{k} {v}' for k, v in worker.versions.items())}")

    # ---- Building ----

    def _build(self, pending):
        """Each peer's cases over several processes; a case that is not built in time is skipped by name."""
        wanted = [(name, case) for name in self.options.peers if name in BUILT and not self.workers[name].absent
                  for case in pending]
        if not wanted:
            return
        start = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(self.options.builders) as pool:
            jobs = []
            for name in dict.fromkeys(name for name, _ in wanted):
                mine = [case for other, case in wanted if other == name]
                count = max(1, self.options.builders // len(set(name for name, _ in wanted)))
                jobs += [pool.submit(self._build_some, name, mine[i::count], start) for i in range(count)]
            for job in jobs:
                job.result()
        self.say(f"built in {time.monotonic() - start:.0f} s")

    def _build_some(self, name, some, start):
        worker = self._worker(name)
        try:
            for case in some:
                left = self.options.build_budget - (time.monotonic() - start)
                known = self.entries[case.name]["peers"]
                if left <= 0:
                    known[name] = records.add(known.get(name, {}), {"skipped": f"{BUILT[name]}: the time to build was used up"})
                    continue
                if not worker.start():
                    continue
                reply = worker.ask({"do": "prepare", "name": case.name, "case": case.text}, min(left, self.options.build_seconds))
                if reply.get("late"):
                    reply = {"skipped": f"{BUILT[name]} took more than {min(left, self.options.build_seconds):.0f} s"}
                if "skipped" in reply or "error" in reply:
                    reply.pop("fatal", None)
                    known[name] = records.add(known.get(name, {}), {**reply, "unbuilt": True})
                elif known.get(name, {}).get("unbuilt"):
                    del known[name]
        finally:
            worker.stop()

    # ---- Timing ----

    def _group(self, group):
        turns = {"both": (True, True), "before": (True, False), "none": (False, False)}[self.options.ours]
        if turns[0]:
            self._ours(group)
        for name in self.options.peers:
            if self.workers[name].absent:
                continue
            for case in group:
                known = self.entries[case.name]["peers"]
                if known.get(name, {}).get("unbuilt") or self.late():
                    continue
                known[name] = records.add(known.get(name, {}), self._measure(name, case))
            records.save(self.document, self.options.json)
        if turns[1] and not self.late():
            self._ours(group)
        for case in group:
            self._show(case)
        records.save(self.document, self.options.json)

    def _measure(self, name, case):
        worker, command = self.workers[name], {"do": "measure", "name": case.name, "case": case.text, "graph": True}
        reply = {"error": "did not start again"}
        for graph in (True, False):
            if not worker.start():
                worker.absent = None  # it was there before: try again at the next case
                return {"error": "did not start again"}
            reply = worker.ask({**command, "graph": graph}, self.options.case_seconds)
            if "captur" not in reply.get("error", ""):
                break
        reply.pop("fatal", None)
        reply.pop("late", None)
        return reply

    def _ours(self, group):
        """redax bench over the group."""
        with tempfile.TemporaryDirectory() as folder:
            suite, answer = os.path.join(folder, "suite.txt"), os.path.join(folder, "ours.json")
            with open(suite, "w", encoding="utf-8") as stream:
                stream.writelines(f"{case.name} {case.text}\n" for case in group)
            device = "cpu" if self.options.device == "fake" else self.options.device
            command = [self.options.redax, "bench", "--device", device, "--suite", suite, "--json", answer, "--seconds", "0.02"]
            seconds = self.options.ours_seconds * len(group)
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
                with open(answer, encoding="utf-8") as stream:
                    document = json.load(stream)
            except (OSError, ValueError, subprocess.TimeoutExpired) as why:
                told = f"{type(why).__name__}" if not isinstance(why, FileNotFoundError) else done.stderr.strip()[-300:] \
                    if os.path.exists(self.options.redax) else f"there is no {self.options.redax}"
                self._blame(group, f"redax bench: {told}")
                return
        for field in ("machine", "gpu"):
            self.document[field] = document.get(field) or self.document[field]
        self.document["versions"]["redax"] = document.get("version", "")
        for record in document.get("records", []):
            records.add_ours(self.entries[record["name"]], record)

    def _blame(self, group, why):
        """A crash or a hang of redax bench belongs to one case: they are tried one by one."""
        if len(group) == 1:
            known = self.entries[group[0].name]
            known["redax"] = records.add(known["redax"], {"error": why})
            return
        for case in group:
            self._ours([case])

    def _show(self, case):
        known = self.entries[case.name]
        parts = [f"{case.name:32} redax {known['redax'].get('us', 0):10.2f}"]
        for name in self.options.peers:
            record = known["peers"].get(name, {})
            text = f"{record['us']:10.2f}" if "us" in record else "skipped" if "skipped" in record else \
                "ERROR" if "error" in record else "-"
            parts.append(f"{name} {text}{'' if record.get('agrees') is not False else ' DIFFERENT'}")
        self.say("  ".join(parts))


def choose(suites, options):
    """[(suite name, Case)] of this shard; cases that peers have no word for are reported to `say`."""
    chosen, refused, seen = [], [], set()
    for path in suites:
        for name, text in cases.read_suite(path):
            if options.only and not any(part in name for part in options.only):
                continue
            if name in seen:
                raise ValueError(f"{path}: there are two cases {name}")
            seen.add(name)
            try:
                chosen.append((os.path.basename(path), cases.parse(name, text)))
            except ValueError as why:
                refused.append(str(why))
    index, count = options.shard
    return chosen[index::count], refused
