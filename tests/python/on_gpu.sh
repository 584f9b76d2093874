#!/usr/bin/env bash
# on_gpu.sh [PYTHON]: the CUDA half of the Python package's tests, on a machine with a GPU: builds the package with PYTHON
# (python3), whose NumPy, PyTorch, CuPy and JAX are used as they are, and needs no network. The plugin is RDX_CUDA_PLUGIN's file,
# or build/libredax_cuda.so, or made by `make cuda` (half an hour of processor time). Then, for the record, what a call
# costs on the host and, where TORCH_TESTS names a checkout of PyTorch, its test_reductions.py on the GPU.
#
# pytest and hypothesis come from PYTHON too; where it lacks them, they may be carried in build/python/carried, installed there by a
# Python of the same version:
#     pip install --target build/python/carried pytest hypothesis
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${1:-python3}
build=${BUILD:-build}
if [ -z "${RDX_CUDA_PLUGIN:-}" ]; then
    [ -e "$build/libredax_cuda.so" ] || make -j"$(nproc)" BUILD="$build" cuda
    RDX_CUDA_PLUGIN=$(realpath "$build/libredax_cuda.so")
fi
export RDX_CUDA_PLUGIN XLA_PYTHON_CLIENT_PREALLOCATE=false # JAX leaves room for the others
# A package that was built elsewhere and carried here will do: it is one file for every Python from 3.11 on.
if [ -e "$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ]; then
    make -j"$(nproc)" BUILD="$build" PYTHON="$python" python-package "$build/python/bench_host.so"
fi
export HYPOTHESIS_STORAGE_DIRECTORY=$PWD/$build/python/hypothesis
export PYTHONPATH=$PWD/$build/python:$PWD/tests/python${PYTHONPATH:+:$PYTHONPATH}:$PWD/$build/python/carried
"$python" -P -c '
import redax
print(redax.__file__, redax.info())
raise SystemExit(redax.info()["cuda_refusal"])'
"$python" -m pytest -rs -p no:cacheprovider tests/python
"$python" -P python/bench_host.py "$build/python/bench_host.so"
if [ -n "${TORCH_TESTS:-}" ]; then
    tests/python/torch_suite.sh "$TORCH_TESTS" "$python" cuda || true # its failures are for docs/conformance.md
fi
