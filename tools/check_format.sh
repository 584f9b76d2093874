#!/usr/bin/env bash
# check_format.sh [--fix]: C files follow .clang-format; --fix makes them.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=(--dry-run -Werror)
[ "${1:-}" != --fix ] || mode=(-i)
mapfile -t files < <(git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.cu' '*.cuh' '*.cpp')
[ ${#files[@]} -gt 0 ] || { echo "no C files found" >&2; exit 1; }
clang-format "${mode[@]}" "${files[@]}"
echo "format: ${#files[@]} files"
