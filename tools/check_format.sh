#!/usr/bin/env bash
# check_format.sh [--fix]: C files follow .clang-format, which --fix makes them; no line of theirs is longer than its
# ColumnLimit, comments, tables and parts of files (.inc, .def) among them, which --fix leaves and names.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=(--dry-run -Werror)
[ "${1:-}" != --fix ] || mode=(-i)
mapfile -t files < <(git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.cu' '*.cuh' '*.cpp')
[ ${#files[@]} -gt 0 ] || { echo "no C files found" >&2; exit 1; }
clang-format "${mode[@]}" "${files[@]}"
limit=$(sed -n 's/^ColumnLimit: //p' .clang-format)
mapfile -t parts < <(git ls-files --cached --others --exclude-standard '*.inc' '*.def')
awk -v limit="$limit" 'length($0) > limit { print FILENAME ":" FNR ": " length($0) " columns, not " limit; bad = 1 } END { exit bad }' \
    "${files[@]}" "${parts[@]}" >&2
echo "format: ${#files[@]} files"
