"""A namespace of the Array API for array-api-tests: redax's functions, and everything else from array_api_compat's NumPy."""

import sys
import types

import array_api_compat.numpy as numpy_space
import redax
from array_api_compat.numpy import *  # noqa: F403

__array_api_version__ = "2025.12"
REDAX = ["sum", "prod", "mean", "var", "std", "min", "max", "any", "all", "argmin", "argmax", "count_nonzero"]
for name in REDAX:
    globals()[name] = getattr(redax, name)
for name in dir(numpy_space): # what `import *` leaves out
    globals().setdefault(name, getattr(numpy_space, name))

linalg = types.ModuleType(__name__ + ".linalg")
linalg.__dict__.update({name: getattr(numpy_space.linalg, name) for name in dir(numpy_space.linalg) if name[0] != "_"})
linalg.vector_norm = redax.vector_norm
sys.modules[linalg.__name__] = linalg
