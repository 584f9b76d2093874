#!/usr/bin/env bash
# torch_suite.sh CHECKOUT [PYTHON [DEVICE]]: test_reductions.py of a checkout of PyTorch, best of the version that PYTHON has, with
# redax's kernels in place. DEVICE: cpu or cuda.
set -euo pipefail
checkout=$(realpath "${1:?usage: torch_suite.sh CHECKOUT [PYTHON [DEVICE]]}")
here=$(realpath "$(dirname "$0")")
cd "$checkout/test"
PYTORCH_TESTING_DEVICE_ONLY_FOR=${3:-cpu} PYTHONPATH="$here${PYTHONPATH:+:$PYTHONPATH}" exec "${2:-python3}" -m pytest -q \
    -p no:cacheprovider -p torch_overrides --tb=line -W ignore test_reductions.py
