#!/usr/bin/env bash
# check_cases.sh BUILD DEVICE: every plan that device DEVICE of the emulator in BUILD offers for the cases of cases.txt; on the first
# device, which has the memory, for those of far_cases.txt too. Ends with the first that fails, which is said last.
set -euo pipefail
redax=${1:?usage: check_cases.sh BUILD DEVICE}/redax device=${2:?}
files=("$(dirname "$0")/cases.txt")
[ "$device" != 0 ] || files+=("$(dirname "$0")/far_cases.txt")
cases=$(grep -hv '^#' "${files[@]}")
if ! said=$("$redax" fuzz --device "cuda:$device" --replay - <<<"$cases"); then
    tail -n 1 <<<"$said" >&2
    exit 1
fi
passed=$(grep -c '^passed: ' <<<"$said")
echo "cases: $passed of $(wc -l <<<"$cases") on cuda:$device"
[ "$passed" = "$(wc -l <<<"$cases")" ]
