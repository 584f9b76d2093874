#!/usr/bin/env bash
# check_cases.sh BUILD DEVICE: every plan that device DEVICE of the emulator in BUILD offers for the cases of cases.txt; on the first
# device, which has the memory, for those of far_cases.txt too.
set -euo pipefail
redax=${1:?usage: check_cases.sh BUILD DEVICE}/redax device=${2:?} failed=0 count=0
export TSAN_OPTIONS=${TSAN_OPTIONS:-}:atexit_sleep_ms=0 # a process for each case
files=("$(dirname "$0")/cases.txt")
[ "$device" != 0 ] || files+=("$(dirname "$0")/far_cases.txt")
while read -r line; do
    count=$((count + 1))
    "$redax" fuzz --device "cuda:$device" --replay "$line" >/dev/null || { echo "$line" >&2; failed=$((failed + 1)); }
done < <(grep -hv '^#' "${files[@]}")
echo "cases: $count on cuda:$device, $failed failed"
[ "$failed" = 0 ] && [ "$count" -gt 0 ]
