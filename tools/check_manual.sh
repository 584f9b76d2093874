#!/usr/bin/env bash
# check_manual.sh BUILD: the manual pages are well formed, and nothing is missing from them: every function of redax.h in
# redax(3); every op, type, device preset, subcommand and option that the command knows, and every variable that the library or
# the command reads, in redax(1); no option there that it does not know.
set -euo pipefail
build=${1:?usage: check_manual.sh BUILD}
cd "$(dirname "$0")/.."
failed=0
fail() {
    echo "$*" >&2
    failed=$((failed + 1))
}
page() { sed 's/\\-/-/g; s/\\f[A-Z]//g' "man/redax.$1"; }
# Short pages in shell variables: grep -q on a pipe would make the writer fail.
one=$(page 1) three=$(page 3)
in_page() { grep -qE -e "(^|[^A-Za-z0-9_-])$2([^A-Za-z0-9_-]|$)" <<<"$1"; }

for section in 1 3; do
    warnings=$(LC_ALL=C.UTF-8 MANWIDTH=100 man --warnings -l -Tutf8 "man/redax.$section" 2>&1 >/dev/null)
    [ -z "$warnings" ] || fail "man/redax.$section: $warnings"
done

count=0
wants() { # wants PAGE_TEXT PAGE WORD...
    local text=$1 where=$2 word
    shift 2
    for word in "$@"; do
        count=$((count + 1))
        in_page "$text" "$word" || fail "$where does not mention $word"
    done
}
mapfile -t functions < <(gcc -E -P -xc include/redax.h | tr '\n' ' ' | sed 's/;/\n/g' | grep -v typedef | grep -oE '\brdx_[a-z0-9_]+ *\(' | tr -d ' (')
mapfile -t ops < <(sed -nE 's/^X\([A-Z0-9_]+, ([a-z0-9_]+),.*/\1/p' src/ops.def)
mapfile -t variables < <(grep -rhoE '(getenv|size_of_environment)\("[A-Z_]+"' src tools --include='*.c' | grep -oE '[A-Z_]+"' | tr -d '"' | sort -u)
[ ${#variables[@]} -ge 7 ] || fail "only ${#variables[@]} environment variables found"
mapfile -t presets < <(sed -nE 's/^DEVICE\(([a-z0-9]+),.*/\1/p' src/plan/devices.def)
mapfile -t dtypes < <(sed -nE 's/^X\([A-Z0-9_]+, ([a-z0-9_]+),.*/\1/p' src/dtypes.def)
wants "$three" 'redax(3)' "${functions[@]}"
wants "$one" 'redax(1)' "${ops[@]}" "${dtypes[@]}" "${presets[@]}" "${variables[@]}"

known=()
for subcommand in reduce stats explain bench fuzz info; do
    wants "$one" 'redax(1)' "redax $subcommand"
    mapfile -t options < <("$build/redax" "$subcommand" --help | grep -oE -- '(^|[^A-Za-z0-9-])--[a-z][a-z0-9-]+' | grep -oE -- '--.*' | sort -u)
    [ ${#options[@]} -gt 0 ] || [ "$subcommand" = info ] || fail "redax $subcommand --help names no option"
    wants "$one" 'redax(1)' "${options[@]}"
    known+=("${options[@]}")
done
known+=(--help --version)
while read -r option; do
    [[ " ${known[*]} " = *" $option "* ]] || fail "redax(1) mentions $option, which no --help does"
done < <(grep -oE -- '(^|[^A-Za-z0-9-])--[a-z][a-z0-9-]+' <<<"$one" | grep -oE -- '--.*' | grep -vxE -- '--(cflags|libs)' | sort -u)

echo "manual: $count words looked for, $failed offences"
[ "$failed" = 0 ] && [ "$count" -gt 60 ]
