"""Plans, explanations, what the module says of itself, threads."""

import inspect
import sys
import threading
import time

import numpy as np
import pytest

import redax

x = np.arange(12.0).reshape(3, 4)
FUNCTIONS = ["sum", "prod", "mean", "var", "std", "var_mean", "min", "max", "minmax", "argmin", "argmax", "any", "all",
             "count_nonzero", "vector_norm", "logsumexp"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_plan_is_the_function(name):
    plan = redax.Plan(name, x, axis=1, keepdims=True)
    for array in (x, x + 1, np.exp(-x)):
        planned, plain = plan(array), getattr(redax, name)(array, axis=1, keepdims=True)
        assert np.asarray(planned).tobytes() == np.asarray(plain).tobytes()


def test_plan_takes_options():
    assert redax.Plan("var", x, correction=1)(x) == np.var(x, ddof=1)
    assert redax.Plan("vector_norm", x, ord=1)(x) == x.sum()
    assert redax.Plan("sum", x.astype("f4"), dtype="float64", nan="omit")(x.astype("f4")).dtype == np.float64


@pytest.mark.parametrize("other, exception, sentence", [
    (x.astype("f4"), TypeError, "another dtype"), (x.T, ValueError, "another shape"), (x[None], ValueError, "another rank"),
    (np.zeros((3, 8))[:, ::2], ValueError, "other strides")])
def test_plan_refuses_other_arrays(other, exception, sentence):
    with pytest.raises(exception, match=sentence):
        redax.Plan("sum", x, axis=0)(other)


def test_plan_refuses_other_outputs():
    plan = redax.Plan("sum", x, axis=0)
    with pytest.raises(ValueError, match="out has another shape"):
        plan(x, out=np.empty(3))
    with pytest.raises(ValueError, match="out has other strides"):
        plan(x, out=np.empty(8)[::2])
    with pytest.raises(TypeError, match="out= is given when a plan is called"):
        redax.Plan("sum", x, out=np.empty(()))
    with pytest.raises(ValueError, match="op is 'total'"):
        redax.Plan("total", x)
    with pytest.raises(IndexError):
        redax.Plan("sum", x, axis=7)


def test_plan_keeps_to_its_alignment():
    """As said of Plan: an address that is a multiple of fewer bytes than that of the array that was planned for."""
    memory = np.arange(101.0)
    first = memory.ctypes.data % 16 // 8 # NumPy's memory begins at a multiple of 16
    plan = redax.Plan("sum", memory[first:first + 99])
    with pytest.raises(ValueError, match="the plan needs 16"):
        plan(memory[first + 1:first + 100])
    assert redax.Plan("sum", memory[first + 1:first + 100])(memory[first:first + 99]) == memory[first:first + 99].sum()


def test_plan_from_many_threads():
    """Large enough for a workspace; more callers at once than there are workspaces."""
    large = np.random.default_rng(1).standard_normal((4, 300_000))
    plan, results = redax.Plan("sum", large, axis=1), []
    expected = redax.sum(large, axis=1).tobytes()
    workers = [threading.Thread(target=lambda: results.extend(plan(large).tobytes() for _ in range(20))) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(results) == 80 and set(results) == {expected}


def test_other_threads_run_meanwhile():
    """The GIL is released while the C library works: nobody else takes it from a thread here, so the counter counts only
    where it is given."""
    large, counted, done = np.ones((1 << 10, 1 << 12)), [], threading.Event()

    def count():
        while not done.is_set():
            counted.append(1)
            time.sleep(0)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    counter = threading.Thread(target=count)
    try:
        counter.start()
        before = len(counted)
        for _ in range(20):
            redax.logsumexp(large, axis=1)
        during = len(counted) - before
    finally:
        done.set()
        sys.setswitchinterval(interval)
        counter.join()
    assert during >= 10


def test_explain():
    explanation = redax.explain(x, "sum", axis=0)
    assert isinstance(explanation, dict) and explanation["op"] == "sum" and explanation["outputs"] == 4
    assert str(explanation).startswith("sum f64 -> f64, 4 outputs of 3 elements, on cpu") and str(explanation) == explanation.text
    assert redax.explain(x, "sum", 0) == explanation == redax.Plan("sum", x, axis=0).explain()
    assert redax.explain(x, "sum", dtype="float32")["out"] == "f32"


def test_set_threads_takes_any_int():
    large, plans = np.ones(10_000_000), []
    for threads in (256, (1 << 32) + 1, 0, 1 - (1 << 32)):
        redax.set_threads(threads)
        plans.append(redax.explain(large, "sum"))
    redax.set_threads(0)
    assert plans[0] == plans[1] and plans[2] == plans[3]
    with pytest.raises(OverflowError):
        redax.set_threads(1 << 70)


def test_info():
    info = redax.info()
    assert info["version"] == redax.__version__ and info["tree_version"] == 2
    assert info["cuda"] is (info["cuda_refusal"] is None)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signatures_are_the_standards(name):
    function = getattr(redax, name)
    parameters = list(inspect.signature(function).parameters.values())
    assert parameters[0].kind is inspect.Parameter.POSITIONAL_ONLY
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in parameters[1:])
    assert {"axis", "keepdims", "nan", "out"} <= {p.name for p in parameters}
    assert len(function.__doc__) > 100 and max(map(len, function.__doc__.splitlines())) <= 130


def test_stubs_name_what_is_there():
    """__init__.pyi lists every public name, with the parameters that the function has."""
    import ast
    import pathlib
    stub = ast.parse(pathlib.Path(redax.__file__).with_suffix(".pyi").read_text())
    declared = {node.name: node for node in stub.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert set(declared) == set(redax.__all__)
    for name in FUNCTIONS:
        arguments = declared[name].args
        names = [a.arg for a in arguments.posonlyargs + arguments.kwonlyargs]
        assert sorted(names) == sorted(inspect.signature(getattr(redax, name)).parameters)
