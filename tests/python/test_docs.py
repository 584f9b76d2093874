"""The examples of docs/python.md and of README.md say what happens."""

import doctest
import pathlib
import re

import pytest

import redax

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(path):
    for match in re.finditer(r"^```python\n(.*?)^```", path.read_text(), re.M | re.S):
        yield path.read_text().count("\n", 0, match.start()) + 1, match[1]


def needs(source):
    """The libraries that a block needs and that may be missing; blocks about CUDA are PyTorch's."""
    return re.findall(r"import (torch|jax|cupy)\b", source) + ["torch"] * ("cuda" in source)


def missing(source):
    for name in needs(source):
        try:
            __import__(name)
        except ImportError:
            return name
    if "cuda" in source:
        import torch
        if not (redax.info()["cuda"] and torch.cuda.is_available()):
            return "a CUDA device"


@pytest.mark.parametrize("file", ["docs/python.md", "README.md"])
def test_examples(file):
    """A page's blocks share one namespace; those for a library that is not here are left out by name."""
    names, ran, failures, left_out = {}, 0, 0, []
    for line, source in blocks(ROOT / file):
        lacking = missing(source)
        if lacking:
            left_out.append(f"{file}:{line} needs {lacking}")
            continue
        test = doctest.DocTestParser().get_doctest(source, names, f"{file}:{line}", file, line)
        runner = doctest.DocTestRunner(optionflags=FLAGS)
        runner.run(test, clear_globs=False)
        names.update(test.globs)
        failures += runner.failures
        ran += runner.tries
    if left_out:
        print(*left_out, sep="\n")
    assert failures == 0 and ran >= (20 if file.startswith("docs") else 3)
