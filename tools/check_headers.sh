#!/usr/bin/env bash
# Every header compiles alone: the public one as C99 to C++17 with gcc and clang and not a warning, those of src as C11, and
# those whose first lines promise CUDA C++ as C++17 too. redax.h must not see any of our own -D or -I but its folder.
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0 count=0
try() { # try LABEL COMPILER FLAGS...: compiles standard input
    local label=$1
    shift
    count=$((count + 1))
    "$@" -fsyntax-only - || { echo "$label does not compile alone: $*" >&2; failed=$((failed + 1)); }
}

strict=(-Wall -Wextra -Wpedantic -pedantic-errors -Wshadow -Wundef -Wconversion -Werror)
for standard in c99 c11 c17; do
    for cc in gcc clang; do
        # Twice: the guard. A use of the initialiser: macros are not compiled until then.
        try redax.h "$cc" "-std=$standard" "${strict[@]}" -Wstrict-prototypes -Iinclude -xc <<'C'
#include <redax.h>
#include <redax.h>
RdxProblem problem = RDX_PROBLEM_INIT;
typedef char size_of_dltensor[sizeof(RdxTensor) == 48 ? 1 : -1];
C
    done
done
for standard in c++11 c++17 c++20; do
    for cc in g++ clang++; do
        try redax.h "$cc" "-std=$standard" "${strict[@]}" -Iinclude -xc++ <<'CC'
#include <redax.h>
#include <redax.h>
RdxProblem problem = RDX_PROBLEM_INIT;
static_assert(sizeof(RdxTensor) == 48, "DLTensor has 48 bytes");
int main() { return rdx_version() == 0; }
CC
    done
done

while read -r header; do
    for cc in gcc clang; do
        try "$header" "$cc" -std=c11 -Wall -Wextra -Wundef -Werror -Wno-unused-function -Wno-bitwise-instead-of-logical -D_GNU_SOURCE= -DRDX_ISA=baseline \
            -DRDX_HAVE_BASELINE -Iinclude -Isrc -xc <<<"#include \"${header#src/}\""
    done
    if head -n 8 "$header" | grep -q 'CUDA C++'; then
        try "$header" g++ -std=c++17 -Wall -Werror -Wno-unused-function -Iinclude -Isrc -xc++ <<<"#include \"${header#src/}\""
    fi
done < <(find src -name '*.h' ! -path 'src/kernels/cuda/*' | sort)

echo "headers: $count compilations, $failed failed"
[ "$failed" = 0 ] && [ "$count" -gt 12 ]
