#!/usr/bin/env bash
# check_cases.sh BUILD DEVICE: every plan that device DEVICE of the emulator in BUILD offers for the cases of cases.txt; on the first
# device, which has more memory and folds short rows sooner, for those of first_cases.txt too. Ends with the first that fails, which is
# said last.
set -euo pipefail
redax=${1:?usage: check_cases.sh BUILD DEVICE}/redax device=${2:?}
files=("$(dirname "$0")/cases.txt")
[ "$device" != 0 ] || files+=("$(dirname "$0")/first_cases.txt")
cases=$(grep -hv '^#' "${files[@]}")
status=0
said=$("$redax" fuzz --device "cuda:$device" --replay - <<<"$cases") || status=$?
count() { grep -c "^$1: " <<<"$said" || true; }
passed=$(count passed) lacking=$(count 'not run on the device') total=$(wc -l <<<"$cases")
# Nothing but kernels that a build with few of them lacks keeps a case from passing.
if [ "$passed" = 0 ] || [ $((passed + lacking)) != "$total" ] || [ $((status != 0)) != $((lacking > 0)) ]; then
    tail -n 1 <<<"$said" >&2
    exit 1
fi
echo "cases: $passed of $total on cuda:$device, $lacking without a kernel"
