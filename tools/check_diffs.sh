#!/usr/bin/env bash
# The diffs in README.md, which show how an op, a dtype and a strategy are added, apply to the tree as it is.
set -euo pipefail
cd "$(dirname "$0")/.."
diffs=$(mktemp -d)
trap 'rm -rf "$diffs"' EXIT
awk -v folder="$diffs" '/^```diff$/ { file = folder "/" ++count; next } /^```$/ { file = "" } file { print > file }' README.md
count=0 failed=0
for diff in "$diffs"/*; do
    count=$((count + 1))
    if ! said=$(patch -p1 --dry-run --force <"$diff"); then
        echo "README.md, diff $count does not apply:" >&2
        grep -v '^checking file\|succeeded at' <<<"$said" >&2
        failed=$((failed + 1))
    fi
done
echo "README.md: $count diffs, $failed do not apply"
[ "$count" -gt 0 ] && [ "$failed" = 0 ]
