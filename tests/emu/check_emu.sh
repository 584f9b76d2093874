#!/usr/bin/env bash
# check_emu.sh BUILD KIND CASES [SEED]: the emulator of BUILD (plain, address or thread) notices planted bugs; then every plan that the
# CUDA planner offers, for the cases of cases.txt, the golden answers and CASES random cases, on both emulated devices, through the
# kernels in BUILD, under schedules from SEED.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:?usage: check_emu.sh BUILD plain|address|thread CASES [SEED]} kind=${2:?} cases=${3:?}
export RDX_EMU_SEED=${4:-1} RDX_CUDA_PLUGIN=$PWD/$build/libredax_cuda_emu.so
export TSAN_OPTIONS=halt_on_error=1:exitcode=66 ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=0
export UBSAN_OPTIONS=print_stacktrace=1
tests/emu/check_planted.sh "$build" "$kind"
for device in 0 1; do
    tests/emu/check_cases.sh "$build" $device
    "$build/bits" --device cuda:$device tests/golden.txt
    "$build/redax" fuzz --device cuda:$device --cases "$cases" --seed "$((RDX_EMU_SEED + device))"
done
