#!/usr/bin/env bash
# cppcheck over the library, the tools, the examples and the Python extension, shellcheck over the scripts.
# Suppressed: right shifts of negative numbers (arithmetic with every compiler that we take), truth values counted with, and
# the places where cppcheck 2.10 does not see that a flag or a loop of at least one turn keeps an unset value from being used.
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0
cppcheck --quiet --error-exitcode=1 --std=c11 --language=c --enable=warning,performance,portability --inline-suppr \
    --suppress=missingIncludeSystem --suppress=shiftTooManyBitsSigned --suppress=compareBoolExpressionWithInt \
    --suppress=nullPointer:src/kernels/cpu/fold.inc --suppress=uninitvar:src/kernels/cpu/reference.c \
    --suppress=uninitvar:src/kernels/cpu/lanes.inc --suppress=uninitvar:tools/fuzz_make.c \
    --suppress=uninitvar:tools/stats_axes.c \
    --max-configs=1 -j2 -Iinclude -Isrc -Itools -Ipython/src -D_GNU_SOURCE= -DRDX_ISA=baseline -DRDX_HAVE_BASELINE -D__x86_64__ \
    -D__GNUC__=12 src tools examples python || failed=1
shellcheck .ci/run .ci/steps.sh tools/*.sh tests/emu/*.sh tests/python/*.sh || failed=1
[ "$failed" = 0 ] && echo "static analysis: nothing found"
