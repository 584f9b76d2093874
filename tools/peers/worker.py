"""The process in which one peer lives, so that a crash or a hang of it costs one case.

Reads a command in JSON from each line of stdin and answers each with a line of JSON on what was stdout; whatever a library
prints goes to stderr. Commands: {"do": "hello"} -> {"versions": ...}; {"do": "measure" or "prepare", "name", "case", "graph"} ->
a record, or {"skipped": why}, or {"error": why, "fatal": whether this process should not be used again}.
"""

import importlib
import json
import os
import sys
import traceback

from . import cases, harness

PEERS = {"torch": ("peer_torch", "Eager"), "compile": ("peer_torch", "Compiled"), "cupy": ("peer_cupy", "Cupy"),
         "jax": ("peer_jax", "Jax"), "cub": ("peer_cub", "Cub"), "fake": ("peer_fake", "Fake")}


def open_peer(name, device, cache):
    module, kind = PEERS[name]
    return getattr(importlib.import_module(f".{module}", __package__), kind)(device, cache)


def answer(peer, command):
    if command["do"] == "hello":
        return {"versions": peer.versions()}
    try:
        case = cases.parse(command["name"], command["case"])
        if not case.axes or case.elements == 0:
            raise cases.Unsupported("nothing is reduced")
        if command["do"] == "prepare":
            peer.prepare(case)
            return {}
        return harness.measure(peer, case, command["graph"])
    except (cases.Unsupported, ValueError) as why:
        return {"skipped": str(why)}
    except Exception as why:  # pylint: disable=broad-exception-caught  # whatever a peer throws belongs to the case
        traceback.print_exc()
        if peer.refuses(why):
            return {"skipped": first_line(why)}
        return {"error": first_line(why), "fatal": not healthy(peer)}


def first_line(why):
    text = str(why).strip() or repr(why)
    return f"{type(why).__name__}: {text.splitlines()[0][:200]}"


def healthy(peer):
    """No CUDA error has stuck."""
    try:
        peer.check()
        return True
    except Exception:  # pylint: disable=broad-exception-caught
        return False


def serve(name, device, cache):
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def reply(value):
        replies.write(json.dumps(value) + "\n")
        replies.flush()

    try:
        peer = open_peer(name, device, cache)
    except Exception as why:  # pylint: disable=broad-exception-caught
        traceback.print_exc()
        reply({"absent": first_line(why)})
        return 1
    for line in sys.stdin:
        record = answer(peer, json.loads(line))
        reply(record)
        if record.get("fatal"):
            return 1
    return 0
