#!/usr/bin/env bash
# check_symbols.sh BUILD: what the objects of BUILD show to the outside.
#   libredax.so exports exactly the functions that redax.h declares, and asks for nothing but libc, libm and their kin;
#   libredax.a defines no global name outside rdx_;
#   objects of an instruction set hold no weak symbol (the linker could take one compiled for a better machine for
#   another) and share none (the CUDA plugin, whose map lets one name out, may); no baseline or common object uses AVX or
#   FMA, no avx2 object uses a 64-byte register or mask.
set -euo pipefail
build=${1:?usage: check_symbols.sh BUILD}
cd "$(dirname "$0")/.."
failed=0
fail() {
    echo "$*" >&2
    failed=$((failed + 1))
}

declared=$(gcc -E -P -xc include/redax.h | tr '\n' ' ' | sed 's/;/\n/g' | grep -v typedef |
    grep -oE '\brdx_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u)
exported=$(nm -D --defined-only "$build/libredax.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u)
difference=$(diff <(echo "$declared") <(echo "$exported") | grep '^[<>]' || true)
[ -z "$difference" ] || fail "redax.h (<) and libredax.so (>) differ:"$'\n'"$difference"
[ "$(wc -l <<<"$exported")" -gt 5 ] || fail "libredax.so exports next to nothing"
needed=$(readelf -d "$build/libredax.so" | grep NEEDED | grep -vE '\[(libc|libm|libdl|libpthread|ld-linux[^]]*|libgcc_s)\.so' || true)
[ -z "$needed" ] || fail "libredax.so needs more than libc: $needed"
readelf -d "$build/libredax.so" | grep -q 'SONAME.*\[libredax\.so\.0\]' || fail "libredax.so has no SONAME libredax.so.0"
if readelf -d "$build/libredax.so" | grep -q TEXTREL; then fail "libredax.so has text relocations"; fi
if readelf -lW "$build/libredax.so" | grep -q 'GNU_STACK.*E '; then fail "libredax.so wants an executable stack"; fi

foreign=$(nm --defined-only -g "$build/libredax.a" 2>/dev/null | awk 'NF == 3 && $3 !~ /^rdx_/ { print $3 }' | sort -u)
[ -z "$foreign" ] || fail "libredax.a defines names outside rdx_: $foreign"

objects=0 ymm=0 zmm=0
while read -r object; do
    objects=$((objects + 1))
    weak=$(nm "$object" | awk '$(NF - 1) ~ /^[WVu]$/ { print $NF }')
    [ -z "$weak" ] || fail "$object holds weak symbols: $weak"
    # -w so that a long instruction stays on one line; symbols are cut off, their names prove nothing. Counts rather than
    # grep -q: with pipefail a reader that leaves early fails the pipe.
    code() { objdump -dw --no-show-raw-insn "$object" | awk -F '\t' 'NF > 1 { sub(/#.*|<.*/, "", $2); print $2 }'; }
    case $object in
    *.neon.o) ;;
    *.avx512.o) zmm=$((zmm + $(code | grep -c '%zmm' || true))) ;;
    *.avx2.o)
        wide=$(code | grep -cE '%zmm|%[xy]mm(1[6-9]|2[0-9]|3[01])\b|%k[0-7]\b' || true)
        [ "$wide" = 0 ] || fail "$object: $wide AVX-512 instructions"
        ymm=$((ymm + $(code | grep -c '%ymm' || true)))
        ;;
    *)
        # Every VEX instruction's name begins with v.
        vex=$(code | grep -cE '^v|%[yz]mm' || true)
        [ "$vex" = 0 ] || fail "$object: $vex AVX instructions, which not every x86-64 machine has"
        ;;
    esac
done < <(find "$build/obj/src" -name cuda -prune -o -name '*.o' -print | sort)
# The flags of a level that reached no file would make a slow library, and no wrong answer.
[ "$ymm" -gt 1000 ] || fail "the avx2 objects hold $ymm instructions with 32-byte registers"
[ "$zmm" -gt 1000 ] || fail "the avx512 objects hold $zmm instructions with 64-byte registers"

echo "symbols: $(wc -l <<<"$exported") exported, $objects objects, $ymm ymm and $zmm zmm instructions, $failed offences"
[ "$failed" = 0 ] && [ "$objects" -gt 5 ]
