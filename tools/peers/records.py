"""The JSON file of a run, and merging further runs into it.

    {"schema": 1, "kind": "peers", "device", "machine", "gpu", "versions": {name: version}, "absent": {peer: why},
     "runs": [{"date", "suites", "shard", ...}],
     "cases": [{"name", "case", "suite", "family", "op", "dtype", "shape", "elements", "outputs", "bytes",
                "redax": MEASURED, "peers": {peer: MEASURED}}]}

MEASURED is {"us": median of "all", "all": [microseconds of a call, one for each time it was measured], ...}, or {"skipped": why},
or {"error": why}. redax's has also gbps, ceiling_gbps (plain reads of as many bytes, rotated alike), fraction, plan and
verified of its median measurement; a peer's graph, calls and agrees (true, false, null: not checked). "bytes" are what has to
move: lines of the input that hold an element, and the outputs.
"""

import json
import os
import statistics

SCHEMA = 1
FAMILIES = ("full", "rows", "columns", "middle", "mixed", "stepped", "flipped", "broadcast")


def new(device):
    return {"schema": SCHEMA, "kind": "peers", "device": device, "machine": "", "gpu": "", "versions": {}, "absent": {},
            "runs": [], "cases": []}


def load(path, device):
    if not path or not os.path.exists(path):
        return new(device)
    with open(path, encoding="utf-8") as stream:
        document = json.load(stream)
    if document.get("kind") != "peers" or document.get("schema") != SCHEMA or document.get("device") != device:
        raise ValueError(f"{path} holds no measurements of {device} that could be continued")
    return document


def save(document, path):
    if not path:
        return
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(f"{path}.part", "w", encoding="utf-8") as stream:
        stream.write(text(document))
    os.replace(f"{path}.part", path)


def text(document):
    """A line for each field and each case, so that a diff of two records says which cases differ."""
    fields = [f'"{name}": {json.dumps(value)}' for name, value in document.items() if name != "cases"]
    cases = ",\n".join(json.dumps(rounded(case)) for case in document["cases"])
    return "{" + ",\n".join(fields) + ',\n"cases": [\n' + cases + "\n]}\n"


def rounded(value):
    """Times are known to a nanosecond at best: four digits behind the point, of microseconds, GB/s and fractions alike."""
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    return [rounded(part) for part in value] if isinstance(value, list) else value


def family(case):
    """Which of the report's families a Case belongs to."""
    reduced, kept = case.fused(case.axes), case.fused(case.kept)
    if any(s == 0 and n > 1 for n, s in zip(case.shape, case.strides)):
        return "broadcast"
    if case.reversed_axes:
        return "flipped"
    if min((abs(s) for _, s in reduced + kept), default=1) > 1:
        return "stepped"
    if not kept:
        return "full"
    if len(reduced) == 1 and reduced[0][1] == 1:
        return "rows"
    if len(reduced) == 1 and len(kept) == 1:
        return "columns"
    if len(reduced) == 1:
        return "middle"
    return "mixed"


def entry(document, case, suite):
    """The case's record, made if it is not there yet."""
    for known in document["cases"]:
        if known["name"] == case.name and known["case"] == case.text:
            return known
    made = {"name": case.name, "case": case.text, "suite": suite, "family": family(case), "op": case.op, "dtype": case.dtype,
            "shape": list(case.shape), "elements": case.elements, "outputs": case.outputs,
            "bytes": case.elements * case.size, "redax": {}, "peers": {}}
    document["cases"].append(made)
    return made


def add(old, record):
    """MEASURED after one more measurement."""
    if "us" not in record:
        return old if "us" in old else record
    every = old.get("all", []) + [record["us"]]
    middle = statistics.median_low(every)  # the others of its fields belong to one measurement
    kept = record if record["us"] == middle or "us" not in old else old
    checks = (old.get("agrees"), record.get("agrees"))
    merged = {**kept, "us": statistics.median(every), "all": every}
    if "agrees" in record:
        merged["agrees"] = False if False in checks else True if True in checks else None
    return merged


def add_ours(known, record):
    """Adds a record of `redax bench --json`."""
    if "error" in record:
        known["redax"] = add(known["redax"], {"error": record["error"]})
        return
    known["bytes"] = record["bytes"]
    fields = ("us", "us_min", "us_max", "gbps", "ceiling_gbps", "fraction", "plan", "verified", "fits_cache")
    known["redax"] = add(known["redax"], {name: record[name] for name in fields if name in record})


def merge(documents):
    """One document of several of the same device: every measurement of a case counts."""
    whole = new(documents[0]["device"])
    for document in documents:
        if document.get("kind") != "peers" or document.get("schema") != SCHEMA or document["device"] != whole["device"]:
            raise ValueError("these files are not measurements of one device")
        whole["runs"] += document["runs"]
        whole["versions"].update(document["versions"])
        whole["absent"].update(document["absent"])
        for field in ("machine", "gpu"):
            whole[field] = document[field] or whole[field]
        for case in document["cases"]:
            known = next((c for c in whole["cases"] if (c["name"], c["case"]) == (case["name"], case["case"])), None)
            if known is None:
                whole["cases"].append(case)
                continue
            known["bytes"] = case["bytes"] if "us" in case["redax"] else known["bytes"]
            known["redax"] = join(known["redax"], case["redax"])
            known["peers"] = {name: join(known["peers"].get(name, {}), case["peers"].get(name, {}))
                              for name in {**known["peers"], **case["peers"]}}
    return whole


def join(one, other):
    """Two MEASURED made one."""
    if "us" not in other:
        return one or other
    for us in other["all"]:
        one = add(one, {**{name: value for name, value in other.items() if name != "all"}, "us": us})
    return one
