#!/usr/bin/env bash
# check_gpu.sh BUILD [TOOL...]: runs the GPU suite of BUILD (check_gpu, and libredax_cuda.so beside it or where RDX_CUDA_PLUGIN
# points): all of it, then its reduced set under compute-sanitizer's memcheck, racecheck, initcheck and synccheck, or under
# the tools named alone. Where there is no GPU the suite says so and passes the rest, and the sanitizers have nothing to see.
# Needs neither Check nor a compiler: check_gpu holds what it needs.
set -euo pipefail
build=${1:?usage: check_gpu.sh BUILD [TOOL...]}
shift
suite=$build/check_gpu
if [ -z "${RDX_CUDA_PLUGIN:-}" ] && [ -e "$build/libredax_cuda.so" ]; then
    RDX_CUDA_PLUGIN=$(realpath "$build/libredax_cuda.so")
    export RDX_CUDA_PLUGIN
fi
tools=("$@")
if [ ${#tools[@]} = 0 ]; then
    tools=(memcheck racecheck initcheck synccheck)
    "$suite"
fi

devices=$("$suite" --devices | tail -n 1)
if [ "$devices" = 0 ]; then
    echo "no GPU here: compute-sanitizer not run"
    exit 0
fi
sanitizer=$(command -v compute-sanitizer || true)
[ -n "$sanitizer" ] || sanitizer=${CUDA_HOME:-/usr/local/cuda}/bin/compute-sanitizer
[ -x "$sanitizer" ] || { echo "no compute-sanitizer here" >&2; exit 1; }
failed=()
for tool in "${tools[@]}"; do
    echo "== $tool =="
    # Statuses that tests provoke on purpose are no findings: errors of API calls are the suite's business.
    options=(--tool "$tool" --error-exitcode 99 --print-limit 20)
    [ "$tool" != memcheck ] || options+=(--report-api-errors no --leak-check no)
    # racecheck looks inside blocks, where threads of the host and streams change nothing; it did not end with them in ten minutes on
    # an H100, without them in 195 s.
    groups=(host capture streams repeat fuzz)
    [ "$tool" != racecheck ] || groups=(capture repeat fuzz)
    if ! RDX_GPU_REDUCED=1 "$sanitizer" "${options[@]}" "$suite" "${groups[@]}"; then
        failed+=("$tool")
    fi
done
[ ${#failed[@]} = 0 ] || { echo "compute-sanitizer: ${failed[*]} failed" >&2; exit 1; }
echo "compute-sanitizer: ${tools[*]} found nothing"
