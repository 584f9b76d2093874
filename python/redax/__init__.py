"""redax reduces arrays of any kind along any axes, with the same bits on every machine.

Takes whatever speaks DLPack or has a buffer (NumPy, PyTorch, CuPy, JAX, memoryview, ...), without a copy, and gives back
an array of the same kind on the same device. Every function that reduces is a C function:

    sum prod mean var std var_mean min max minmax argmin argmax any all count_nonzero vector_norm logsumexp

Plan is a reduction planned once, explain says how one would be done, info what this installation is.
"""

import json as _json

from ._redax import (AxisError, Plan, all, any, argmax, argmin, count_nonzero, explain, logsumexp, max, mean, min, minmax,
                     prod, set_threads, std, sum, var, var_mean, vector_norm)
from . import _redax

__all__ = [
    "AxisError", "Explanation", "Plan", "all", "any", "argmax", "argmin", "count_nonzero", "explain", "info", "logsumexp",
    "max", "mean", "min", "minmax", "prod", "set_threads", "std", "sum", "var", "var_mean", "vector_norm",
]
__version__ = _redax._version()


class Explanation(dict):
    """What a plan does and why: as a dict, and by str() as text."""

    def __init__(self, text, record):
        super().__init__(_json.loads(record))
        self.text = text

    def __str__(self):
        return self.text

    __repr__ = __str__


def info():
    """A dict: version and tree_version of the library (bits change with the latter alone), whether CUDA arrays can be
    reduced here ("cuda") and, where not, the sentence why ("cuda_refusal", else None)."""
    refusal = _redax._cuda_refusal()
    return {"version": __version__, "tree_version": _redax._tree_version(), "cuda": refusal is None,
            "cuda_refusal": refusal}
