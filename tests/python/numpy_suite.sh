#!/usr/bin/env bash
# numpy_suite.sh [PYTHON]: NumPy's own tests of its reductions, as PYTHON's NumPy has installed them, with redax in place.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
cd / # pytest's configuration is NumPy's
PYTHONPATH="$here${PYTHONPATH:+:$PYTHONPATH}" exec "${1:-python3}" -m pytest -q -p no:cacheprovider -p numpy_overrides --tb=line -W ignore \
    --pyargs numpy._core.tests.test_ufunc numpy._core.tests.test_umath numpy._core.tests.test_multiarray \
    numpy.lib.tests.test_nanfunctions
