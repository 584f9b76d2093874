#!/usr/bin/env bash
# Installs what building and testing redax needs, with the argument `python` what its Python package needs, with `ci` what every check
# needs. Debian and its relatives, by apt-get, as root or through sudo. Asks first what is missing: when nothing is, it does
# nothing and needs no network.
set -euo pipefail

missing=()
want() { # want PACKAGE COMMAND...: the package is missing when the command fails
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}
has() { command -v "$1"; }
header() { printf '#include <%s>\n' "$1" | "${CC:-gcc}" -E -xc - ; }

want gcc has gcc
want make has make
want libc6-dev test -e /usr/include/stdio.h
want pkg-config has pkg-config
want check pkg-config --exists check
want libcjson-dev header cjson/cJSON.h
want libdlpack-dev header dlpack/dlpack.h
want python3 has python3
if [ "${1:-}" = ci ] || [ "${1:-}" = python ]; then
    want python3-dev python3 -c 'import os, sysconfig; open(os.path.join(sysconfig.get_path("include"), "Python.h"))'
    want python3-venv python3 -c 'import ensurepip, venv'
fi
if [ "${1:-}" = ci ]; then
    want python3-numpy sh -c 'python3 -c "import numpy" || /usr/bin/python3 -c "import numpy"'
    want g++ has g++
    want clang has clang++
    want llvm has llvm-cov
    want clang-format has clang-format
    want libclang-rt-14-dev sh -c 'echo "int LLVMFuzzerTestOneInput(const char *d, long n) { return !d && n; }" |
        clang -fsanitize=fuzzer,address,undefined -xc - -o /dev/null'
    want cppcheck has cppcheck
    want shellcheck has shellcheck
    want patch has patch
    want cmake has cmake
    want man-db has man
    want gcc-aarch64-linux-gnu has aarch64-linux-gnu-gcc
    want libc6-dev-arm64-cross test -e /usr/aarch64-linux-gnu/include/stdio.h
    want qemu-user has qemu-aarch64
    want libmpfr-dev header mpfr.h
fi
[ ${#missing[@]} -gt 0 ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "redax needs ${missing[*]} (Debian's names), and there is no apt-get here to install them: please do it by hand." >&2
    exit 1
fi
if [ "$(id -u)" = 0 ]; then
    as_root=()
elif command -v sudo >/dev/null; then
    as_root=(sudo)
else
    echo "redax needs ${missing[*]}: run 'apt-get install ${missing[*]}' as root, there is no sudo here." >&2
    exit 1
fi
echo "installing ${missing[*]}" >&2
install=(apt-get install -y -qq --no-install-recommends "${missing[@]}")
"${as_root[@]}" apt-get update -qq </dev/null >/dev/null || true # stale lists may still do
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "${install[@]}" </dev/null >/dev/null
