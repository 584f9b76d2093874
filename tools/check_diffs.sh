#!/usr/bin/env bash
# The diffs in examples/diffs, which show how an op, a dtype and a strategy are added: each applies to the tree as it is, builds, and
# the fuzzer finds nothing in what it adds (its line "replay:") nor in the rest. Unoptimised, at one level of instructions.
# check_diffs.sh DIFF...: those alone, by paths from the root.
set -euo pipefail
cd "$(dirname "$0")/.."
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
flags=(OPTIMISE=-O0 ISA_OPTIMISE=-O0)
if [ "$(uname -m)" = x86_64 ]; then flags+=(ISAS=baseline ISA_DEFINES=-DRDX_HAVE_BASELINE); fi

try() { # try DIFF FOLDER
    git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$2" &&
        patch -d "$2" -p1 --force --fuzz=0 --silent <"$1" &&
        make -C "$2" -j2 "${flags[@]}" all &&
        "$2/build/redax" fuzz --replay "$(sed -n 's/^replay: //p' "$1")" &&
        "$2/build/redax" fuzz --cases 300 --seed 1
}

count=0 failed=0
[ $# -gt 0 ] || set -- examples/diffs/*.diff
for diff; do
    count=$((count + 1))
    mkdir "$tree/$count"
    if ! try "$diff" "$tree/$count" >"$tree/log" 2>&1; then
        echo "$diff is not what it says:" >&2
        tail -n 20 "$tree/log" >&2
        failed=$((failed + 1))
    fi
done
echo "$count diffs, $failed do not apply, build or compute right"
[ "$count" -gt 0 ] && [ "$failed" = 0 ]
