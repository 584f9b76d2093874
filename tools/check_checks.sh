#!/usr/bin/env bash
# check_checks.sh BUILD: the checks can fail. In a copy of the tree each check passes first; then one offence after the other
# is planted, and the check that it is for must complain of it.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:?usage: check_checks.sh BUILD}")
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
fresh() {
    rm -rf "$copy"
    mkdir -p "$copy"
    git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$copy" 2>/dev/null || true
    git -C "$copy" init -q
}
failed=0 planted=0
plant() { # plant CHECK WORD FILE TEXT: TEXT is appended to FILE; CHECK must fail and say WORD
    local check=$1 word=$2 file=$3 said
    planted=$((planted + 1))
    [ ! -e "$copy/$file" ] || cp -p "$copy/$file" "$copy/.saved"
    printf '%b\n' "$4" >>"$copy/$file"
    # shellcheck disable=SC2086
    if said=$(cd "$copy" && $check 2>&1); then
        echo "$check passes with this in $file: $4" >&2
        failed=$((failed + 1))
    elif ! grep -qF -e "$word" <<<"$said"; then
        echo "$check fails with this in $file: $4, but does not say '$word': $said" >&2
        failed=$((failed + 1))
    fi
    if [ -e "$copy/.saved" ]; then mv "$copy/.saved" "$copy/$file"; else rm "$copy/$file"; fi
}
passes() { # passes CHECK
    # shellcheck disable=SC2086
    (cd "$copy" && $1 >/dev/null 2>&1) || { echo "$1 fails with nothing planted" >&2; failed=$((failed + 1)); }
}

fresh
folders=tools/check_folders.py
passes $folders
plant $folders 'nothing of plan' src/iter/space.h '#include "../plan/config.h"'
plant $folders 'nothing of plan' src/iter/build.c '#include "kernels/kernel.h"'
plant $folders 'nothing of kernels' src/plan/config.h '# include "../kernels/kernel.h"'
plant $folders 'CUDA header' src/plan/new.c '#include <cuda_runtime.h>'
plant $folders 'CUDA header' tests/test_new.c '#include <cuda.h>'
plant $folders 'through RDX_CUDA_CALL' src/kernels/cuda/memory.cu 'int f(void) { return cudaDeviceSynchronize(); }'
plant $folders 'never prints' src/op.c 'void f(void) { printf("x"); }'
plant $folders 'never prints' src/op.h '#define SAY(x) fputs(x, stderr)'
plant $folders 'never ends' src/iter/build.c 'void f(void) { if (g()) exit (1); }'
plant $folders 'never ends' src/error.c 'void f(int x) { assert(x); }'
plant $folders 'src/sys.h' src/dtype.c 'void *f(void) { return malloc(8); }'
plant $folders 'src/sys.h' src/kernels/cpu/new.inc 'void f(void *p) { free(p); }'
plant $folders 'use the public header' tools/case.c '#include "../src/op.h"'
plant $folders 'use the public header' tools/new.c '#include <iter/space.h>'
plant $folders 'shares no code' tests/oracle.c '#include "kernels/algebra.h"'
plant $folders 'more than 450' src/new.c "$(yes 'int x;' | head -n 451)"

headers=tools/check_headers.sh
plant $headers 'redax.h does not' include/redax.h 'int rdx_template(int class, char *new) { return class ? 1 : *new; }'
plant $headers 'src/op.h does not' src/op.h 'static inline NoSuchType f(void);'

words=tools/check_words.sh
passes $words
plant $words 'a place outside' README.new 'the list lies in /wo''rk/main/x'
plant $words 'a place outside' src/op.c '/* see .''./shared/spec */'

links=tools/check_links.py
passes $links
plant $links 'there is no docs/nowhere.md' docs/new.md '[x](nowhere.md)'
plant $links 'has no heading nothing' docs/new.md '[x](tree.md#nothing)'

plant tools/check_format.sh '121 columns, not 120' src/new.inc "/* $(printf '%0115d' 0) */"
plant tools/check_format.sh 'clang-format' src/new.c 'int  f( void ){return 1 ;}'
plant tools/check_static.sh 'uninit' tools/new.c 'int f(void);\nint f(void)\n{\n    int x;\n    return x;\n}'
# shellcheck disable=SC2016
plant tools/check_static.sh 'SC2086' tools/new.sh '#!/bin/sh\nrm $1'
plant 'python3 examples/make_examples.py --check' 'iris.npy' examples/iris.npy x
plant 'tools/check_diffs.sh examples/diffs/new.diff' 'FAILED' examples/diffs/new.diff '--- a/src/op.h\n+++ b/src/op.h\n@@ -1,1 +1,1 @@\n-no such line\n+x'
plant 'tools/check_diffs.sh examples/diffs/new.diff' 'no_such' examples/diffs/new.diff '--- /dev/null\n+++ b/src/api_new.c\n@@ -0,0 +1,1 @@\n+int x = no_such;'

# Symbols: planted into a copy of the objects.
mkdir -p "$copy/build/obj"
cp -r "$build/obj/src" "$copy/build/obj/"
cp -P "$build"/libredax.* "$copy/build/"
symbols='tools/check_symbols.sh build'
passes "$symbols"
object() { # object WORD NAME FLAGS SOURCE
    printf '%s\n' "$4" >"$copy/planted.c"
    # shellcheck disable=SC2086
    gcc -O2 $3 -c -o "$copy/build/obj/src/$2" "$copy/planted.c"
    plant "$symbols" "$1" README.new planted
    rm "$copy/build/obj/src/$2" "$copy/planted.c"
}
object 'weak symbols' kernels/cpu/isa_x.avx512.o '' '__attribute__((weak)) void f(void) {}'
object 'AVX instructions' x.o -mfma 'double f(double a, double b, double c) { return __builtin_fma(a, b, c); }'
object 'AVX instructions' kernels/cpu/isa_x.baseline.o -mavx 'float f(float a) { return a * a; }'
object 'AVX-512 instructions' kernels/cpu/isa_x.avx2.o '-mavx512f -mprefer-vector-width=512 -O3' \
    'void f(float *a) { for (int i = 0; i < 1024; i++) a[i] += 1; }'
sed -i.saved 's/rdx_shutdown(/rdx_close(/' "$copy/include/redax.h"
plant "$symbols" rdx_shutdown README.new 'a function of the library that redax.h lacks'
mv "$copy/include/redax.h.saved" "$copy/include/redax.h"
rm "$copy"/build/obj/src/kernels/cpu/isa_*.avx2.o
plant "$symbols" 'with 32-byte registers' README.new 'objects of avx2 removed'
plant "$symbols" rdx_new include/redax.h 'RDX_API int rdx_new(void);'

echo "checks: $planted offences planted, $failed not caught as they should"
[ "$failed" = 0 ]
