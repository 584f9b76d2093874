#!/usr/bin/env bash
# The command end to end: exit codes, refusals, files that are there whole or not at all, JSON, and answers beside NumPy's.
#     tests/test_command.sh build/redax [build/libredax_stand_in.so]
# The second is what --device cuda is tested with, where it is given: the plugin's stand-in, or a plugin that works here.
# One line a check; exits 1 if any failed. Checks that need NumPy or `script` say so and are skipped without them.
# report never fails, so A && report || report is if-then-else.
# shellcheck disable=SC2015
set -u
here=$(dirname "$(realpath "$0")")
redax=$(realpath "${1:?which redax?}")
plugin=${2:+$(realpath "$2")}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
checks=0 failures=0 skips=0
export LC_ALL=C
unset NO_COLOR RDX_ISA RDX_PIECE_BYTES RDX_DEVICE_BYTES
export RDX_CUDA_PLUGIN=/nowhere/libredax_cuda.so # where there is none, whatever this machine has

report() { # report NAME ok|anything else
    checks=$((checks + 1))
    if [ "$2" = ok ]; then
        echo "ok      $1"
    else
        failures=$((failures + 1))
        echo "FAILED  $1: $2"
    fi
}
skip() {
    skips=$((skips + 1))
    echo "skipped $1"
}
run() { # run ARGUMENT...: leaves out, err, code
    "$redax" "$@" >out 2>err
    code=$?
}
is_clean() { # the last run left no complaint and code 0
    [ "$code" = 0 ] && [ ! -s err ] && echo ok || echo "exit $code, $(head -c 200 err)"
}
refuses() { # refuses NAME CODE PATTERN ARGUMENT...: that code, one line on stderr that fits, nothing on stdout
    local name=$1 wanted=$2 pattern=$3
    shift 3
    run "$@"
    if [ "$code" != "$wanted" ]; then
        report "$name" "exit $code, not $wanted: $(head -c 200 err)"
    elif [ "$(wc -l <err)" != 1 ] || ! grep -q -- "$pattern" err; then
        report "$name" "stderr is: $(head -c 300 err)"
    elif [ -s out ]; then
        report "$name" "something on stdout: $(head -c 100 out)"
    else
        report "$name" ok
    fi
}
prints() { # prints NAME TEXT ARGUMENT...
    local name=$1 wanted=$2
    shift 2
    run "$@"
    [ "$(cat out)" = "$wanted" ] && report "$name" "$(is_clean)" || report "$name" "exit $code, printed: $(head -c 300 out err)"
}
le() { # le BYTES NUMBER: little-endian, in octal escapes
    local i value=$2 text=
    for ((i = 0; i < $1; i++)); do
        text+=$(printf '\\%03o' $((value & 255)))
        value=$((value >> 8))
    done
    printf '%b' "$text"
}
npy() { # npy FILE DICTIONARY [DATA BYTES IN OCTAL ESCAPES [VERSION]]
    local version=${4:-1}
    {
        printf '\223NUMPY'
        le 1 "$version"
        le 1 0
        le $((version == 1 ? 2 : 4)) ${#2}
        printf '%s' "$2"
        printf '%b' "${3-}"
    } >"$1"
}
safetensors() { # safetensors FILE HEADER [DATA [LENGTH THAT IT CLAIMS]]
    { le 8 "${4:-${#2}}"; printf '%s' "$2"; printf '%b' "${3-}"; } >"$1"
}
head_of() { echo "{'descr': '$1', 'fortran_order': ${3:-False}, 'shape': $2, }"; }

f4='\0\0\200\077\0\0\0\100\0\0\100\100\0\0\200\100\0\0\240\100\0\0\300\100' # 1 2 3 4 5 6 as f32
npy a.npy "$(head_of '<f4' '(2, 3)')" "$f4"

# ---- the command line ----
run
[ "$code" = 2 ] && grep -q '^usage: redax' err && [ ! -s out ] && report "no command" ok || report "no command" "exit $code: $(cat out)"
for name in reduce stats explain bench fuzz info; do
    run $name --help
    grep -q "^usage: redax $name" out && report "$name --help" "$(is_clean)" || report "$name --help" "$(head -c 200 out err)"
    run $name -h
    grep -q "^usage: redax $name" out && report "$name -h" "$(is_clean)" || report "$name -h" "$(head -c 200 out err)"
    run $name --frobnicate
    [ "$code" = 2 ] && head -1 err | grep -q frobnicate && [ ! -s out ] && report "$name: unknown option" ok || report "$name: unknown option" "exit $code: $(head -1 err)"
done
for name in reduce stats explain bench fuzz info; do
    refuses "$name -xy" 2 "^redax $name: unknown option -x (" $name -xy a.npy
    refuses "$name: a letter after a word" 2 "^redax $name: unknown option -x (" $name a.npy -xy
    refuses "$name: a value for --help" 2 "^redax $name: --help takes no value (" $name --help=me
done
refuses "-o without a value" 2 '^redax reduce: option -o needs a value (' reduce a.npy --op sum -o
refuses "an unknown option with a value" 2 '^redax reduce: unknown option --frobnicate=3 (' reduce a.npy --frobnicate=3 --op sum
run --help
grep -q '^usage: redax' out && report "--help" "$(is_clean)" || report "--help" "$(head -c 200 out)"
run --version
grep -Eq '^redax [0-9]+\.[0-9]+\.[0-9]+ \(tree version [0-9]+\)$' out && report "--version" "$(is_clean)" || report "--version" "$(cat out)"
refuses "unknown command" 2 'unknown command "frobnicate"' frobnicate
refuses "reduce without a file" 2 'which file' reduce --op sum
refuses "reduce of two files" 2 'one file' reduce a.npy a.npy --op sum
refuses "reduce without --op" 2 '--op is missing' reduce a.npy
refuses "unknown op" 2 'summ' reduce a.npy --op summ
refuses "--op without a value" 2 'needs a value' reduce a.npy --op
refuses "no axis" 2 '--axis is ""; it takes axes, as in 0,2 or -1, none or all' reduce a.npy --op sum --axis ''
refuses "axis that is no number" 2 'foo' reduce a.npy --op sum --axis foo
refuses "axis list with a hole" 2 '0,' reduce a.npy --op sum --axis 0,
refuses "unknown dtype" 2 'f33' reduce a.npy --op sum --dtype f33
refuses "unknown nan" 2 'maybe' reduce a.npy --op sum --nan maybe
refuses "p that is no number" 2 'two' reduce a.npy --op norm --p two
for what in inf -inf nan 1e999; do
    refuses "correction $what" 2 "redax reduce: --correction is \"$what\"; it takes a finite number" reduce a.npy --op var --correction $what
done
refuses "no threads" 2 '--threads is "0"; it takes a whole number from 1 to 256' reduce a.npy --op sum --threads 0
refuses "too many threads" 2 '--threads is "257"' reduce a.npy --op sum --threads 257
refuses "unknown device" 2 'tpu' reduce a.npy --op sum --device tpu
refuses "result as .npz" 2 'npz' reduce a.npy --op sum -o b.npz
refuses "one output for minmax" 2 'minmax' reduce a.npy --op minmax -o b.npy
refuses "both outputs into one file" 2 '-o q.npy and --out2 ./q.npy are one file' reduce a.npy --op minmax -o q.npy --out2 ./q.npy
ln -s a.npy alias.npy
refuses "both outputs into one file, by a link" 2 'are one file' reduce a.npy --op minmax -o alias.npy --out2 a.npy
run reduce a.npy --op minmax -o /dev/null --out2 /dev/null
report "both outputs into one device" "$(is_clean)"
refuses "stats without a file" 2 'which file' stats
refuses "explain without a CASE" 2 'which CASE' explain
refuses "explain of no CASE" 2 'column 9' explain sum:f32:
refuses "explain for no device" 2 '--device is "h300"; it takes .*h200.*a100.*t4.*cpu' explain sum:f32:8 --device h300
refuses "explain in no format" 2 'xml' explain sum:f32:8 --format xml
refuses "info with arguments" 2 'no arguments' info now

# ---- answers ----
prints "sum" '21.0' reduce a.npy --op sum
prints "sum over axis 0" '[5. 7. 9.]' reduce a.npy --op sum --axis 0
prints "sum over axis -1" '[ 6. 15.]' reduce a.npy --op sum --axis -1
prints "sum over both, in any order" '21.0' reduce a.npy --op sum --axis 1,0
prints "no axis" "$(printf '[[1. 2. 3.]\n [4. 5. 6.]]')" reduce a.npy --op sum --axis none
prints "keepdims" "$(printf '[[ 6.]\n [15.]]')" reduce a.npy --op sum --axis 1 --keepdims
prints "mean" '3.5' reduce a.npy --op mean
prints "var" '2.9166667' reduce a.npy --op var
prints "var with a correction" '3.5' reduce a.npy --op var --correction 1
prints "norm1" '21.0' reduce a.npy --op norm --p 1
prints "norminf" '6.0' reduce a.npy --op norm --p inf
prints "argmax" '5' reduce a.npy --op argmax
prints "minmax" "$(printf '1.0\n6.0')" reduce a.npy --op minmax
prints "any" 'True' reduce a.npy --op any
prints "sum in f64" '21.0' reduce a.npy --op sum --dtype f64
prints "an option before the file" '21.0' reduce --op sum a.npy
npy fortran.npy "$(head_of '<f4' '(3, 2)' True)" "$f4"
prints "Fortran order" '[5. 7. 9.]' reduce fortran.npy --op sum --axis 1
npy scalar.npy "$(head_of '<f4' '()')" '\0\0\050\101'
prints "rank 0" '10.5' reduce scalar.npy --op sum
npy none.npy "$(head_of '<f4' '(0, 3)')" ''
prints "empty sum" '[0. 0. 0.]' reduce none.npy --op sum --axis 0
prints "empty mean" 'nan' reduce none.npy --op mean
npy nan.npy "$(head_of '<f4' '(3,)')" '\0\0\200\077\0\0\300\177\0\0\0\100'
prints "NaN propagates" 'nan' reduce nan.npy --op sum
prints "NaN omitted" '3.0' reduce nan.npy --op sum --nan omit
npy bool.npy "$(head_of '|b1' '(4,)')" '\0\1\2\0'
prints "any non-zero byte is true" '2' reduce bool.npy --op sum
npy odd.npy "$(head_of '<f4' '(2, 3)') " "$f4" # data at an address that f32 cannot have
[ $((($(stat -c %s odd.npy) - 24) % 4)) = 0 ] && npy odd.npy "$(head_of '<f4' '(2, 3)')  " "$f4"
prints "misaligned data" '[5. 7. 9.]' reduce odd.npy --op sum --axis 0
for version in 1 2 3; do
    npy v$version.npy "$(head_of '<f4' '(2, 3)')" "$f4" $version
    prints "version $version" '21.0' reduce v$version.npy --op sum
done
run reduce a.npy --op mean --axis 0 --explain
grep -q columns out && grep -q refused out && grep -q '2.5 3.5 4.5' out && report "--explain" "$(is_clean)" || report "--explain" "$(cat out err)"
npy many.npy "$(head_of '|u1' '(3, 1000003)')"
head -c 3000009 <(yes 'any bytes that are not all alike: 0123456789 abcdefghijklmnopqrstuvwxyz') >>many.npy
for isa in baseline avx2 avx512 neon; do
    for threads in 1 2 5; do
        RDX_ISA=$isa "$redax" reduce many.npy --op norm --p 3 --threads $threads -o same-$isa-$threads.npy 2>err ||
            rm -f same-$isa-$threads.npy
    done
done
found=(same-*.npy)
equal=ok
for file in "${found[@]}"; do cmp -s "${found[0]}" "$file" || equal="$file differs from ${found[0]}"; done
[ ${#found[@]} -ge 3 ] || equal="only ${#found[@]} ran"
report "same bytes from ${#found[@]} pairs of instruction set and thread count" "$equal"
RDX_ISA=mmx run reduce a.npy --op sum
[ "$code" = 1 ] && grep -q 'RDX_ISA is mmx' err && report "unknown RDX_ISA" ok || report "unknown RDX_ISA" "exit $code: $(cat err)"
RDX_ISA=mmx run info
[ "$code" = 1 ] && grep -q 'RDX_ISA is mmx' err && [ "$(wc -l <err)" = 1 ] && grep -q '^isa  *none (' out && grep -q ^cuda out &&
    report "info with an unknown RDX_ISA" ok || report "info with an unknown RDX_ISA" "exit $code: $(cat err out)"
RDX_ISA=mmx run info --json
grep -q '"isa": null' out && report "info --json with an unknown RDX_ISA" ok || report "info --json with an unknown RDX_ISA" "$(cat err out)"

# ---- refusals ----
refuses "no such file" 1 'absent.npy' reduce absent.npy --op sum
refuses "a directory" 1 'not a regular file' reduce . --op sum
: >empty.npy
refuses "an empty file" 1 'it is empty' reduce empty.npy --op sum
head -c 100000 /dev/zero >zeros.npy
refuses "zeros" 1 'not a .npy file' reduce zeros.npy --op sum
refuses "text" 1 'neither' stats "$here/test_command.sh"
bad=0
for ((keep = 1; keep < $(stat -c %s a.npy); keep++)); do
    head -c $keep a.npy >cut.npy
    "$redax" reduce cut.npy --op sum -o cut-out.npy >out 2>err
    [ $? = 1 ] && [ "$(wc -l <err)" = 1 ] && [ ! -s out ] && [ ! -e cut-out.npy ] || bad=$((bad + 1))
done
report "a.npy cut after every byte" "$([ $bad = 0 ] && echo ok || echo "$bad cuts were not refused")"
for dtype in '|O:object' '>f4:big-endian' '|V4:void' '<U1:text' '<M8[ns]:date' '<f16:not one that'; do
    npy bad.npy "$(head_of "${dtype%:*}" '(1,)')" "$f4"
    refuses "dtype ${dtype%:*}" 1 "${dtype##*:}" reduce bad.npy --op sum
done
npy bad.npy "{'descr': [('a', '<f4'), ('b', '<f4')], 'fortran_order': False, 'shape': (3,), }" "$f4"
refuses "structured dtype" 1 'structured' reduce bad.npy --op sum
npy bad.npy "$(head_of '<f4' '(2, 4)')" "$f4"
refuses "shape larger than the file" 1 'cut short' reduce bad.npy --op sum
npy bad.npy "$(head_of '<f4' '(2, 2)')" "$f4"
refuses "shape smaller than the file" 1 'does not end' reduce bad.npy --op sum
npy bad.npy "$(head_of '<f4' '(4294967296, 4294967296)')" "$f4"
refuses "shape past 64 bits" 1 '64 bits' reduce bad.npy --op sum
printf 'PK\3\4rest' >zip.npz
refuses ".npz" 1 'zip archive' stats zip.npz
refuses "axis out of range" 1 'axis 2' reduce a.npy --op sum --axis 2
refuses "axis twice" 1 'axis' reduce a.npy --op sum --axis 0,-2
refuses "more axes than dimensions" 1 'rank 2' reduce a.npy --op sum --axis 0,1,2
refuses "bits of floats" 1 'bit_and' reduce a.npy --op bit_and
refuses "an output that is not offered" 1 'argmax' reduce a.npy --op argmax --dtype f32
refuses "p where there is none" 1 'p' reduce a.npy --op sum --p 3
refuses "max of nothing" 1 'max' reduce none.npy --op max --axis 0
refuses "bf16 as .npy" 1 'bf16' reduce a.npy --op sum --dtype bf16 -o bf16.npy
refuses "f8 as .npy" 1 'f8e4m3' reduce a.npy --op sum --dtype f8e4m3 -o f8.npy
refuses "CUDA" 1 'a.npy' reduce a.npy --op sum --device cuda
refuses "explain: unsupported" 1 'logsumexp' explain logsumexp:i32:8
refuses "explain: bad axis" 1 'axis 3' explain sum:f32:8x8/3 --device h200
refuses "explain: empty" 1 'argmax of no elements has no value; the output has 1 element' explain argmax:f32:0 --device a100
[ ! -e bf16.npy ] && [ ! -e f8.npy ] && report "refusals write nothing" ok || report "refusals write nothing" "files are there"

# ---- safetensors ----
one='{"x":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}'
safetensors one.safetensors "$one" "$f4"
prints "one tensor" '21.0' reduce one.safetensors --op sum
prints "a tensor by name" '[5. 7. 9.]' reduce one.safetensors#x --op sum --axis 0
refuses "no such tensor" 1 'no tensor "y"' reduce one.safetensors#y --op sum
safetensors two.safetensors '{"w":{"dtype":"BF16","shape":[2],"data_offsets":[1,5]},"q":{"dtype":"F8_E4M3","shape":[],"data_offsets":[0,1]}}' '\070\200\077\0\100'
prints "bf16, misaligned" '3.0' reduce two.safetensors#w --op sum
prints "f8 sums in f32" '1.0' reduce two.safetensors#q --op sum
refuses "two tensors, none named" 1 'two.safetensors#w' reduce two.safetensors --op sum
safetensors a#b.safetensors "$one" "$f4"
prints "a file name with a #" '21.0' reduce a#b.safetensors --op sum
prints "and a tensor of it" '21.0' reduce a#b.safetensors#x --op sum
bad=0
for ((keep = 1; keep < $(stat -c %s one.safetensors); keep++)); do
    head -c $keep one.safetensors >cut.safetensors
    "$redax" stats cut.safetensors >out 2>err
    [ $? = 1 ] && [ "$(wc -l <err)" = 1 ] && [ ! -s out ] || bad=$((bad + 1))
done
report "one.safetensors cut after every byte" "$([ $bad = 0 ] && echo ok || echo "$bad cuts were not refused")"
entry() { echo "\"$1\":{\"dtype\":\"U8\",\"shape\":[$2],\"data_offsets\":[$3,$4]}"; }
safetensors bad.safetensors "{$(entry a 2 0 2),$(entry b 2 1 3)}" '\1\2\3'
refuses "overlapping tensors" 1 'overlap' stats bad.safetensors
safetensors bad.safetensors "{$(entry a 1 0 1),$(entry b 1 2 3)}" '\1\2\3'
refuses "a hole between tensors" 1 'hole' stats bad.safetensors
safetensors bad.safetensors "{$(entry a 4 0 4)}" '\1\2\3'
refuses "offsets out of range" 1 'outside' stats bad.safetensors
safetensors bad.safetensors "{$(entry a 3 0 2)}" '\1\2'
refuses "a shape that does not fit its bytes" 1 'needs 3 bytes' stats bad.safetensors
safetensors bad.safetensors "{$(entry a 1 0 1),$(entry a 1 1 2)}" '\1\2'
refuses "a tensor twice" 1 'twice' stats bad.safetensors
safetensors bad.safetensors "$one" "$f4" 1000
refuses "a header longer than the file" 1 'cut short' stats bad.safetensors
safetensors bad.safetensors "$one" "$f4" 100000001
refuses "a header over 100 MB" 1 'more than 100000000' stats bad.safetensors
safetensors bad.safetensors "$one" "$f4" 20
refuses "a header shorter than it is" 1 'not a JSON object' stats bad.safetensors
safetensors foreign.safetensors '{"s":{"dtype":"F8_E8M0","shape":[2],"data_offsets":[0,2]},"x":{"dtype":"F32","shape":[2,3],"data_offsets":[2,26]}}' "\1\1$f4"
run stats foreign.safetensors
grep -Eq '^  s  *F8_E8M0 \(unsupported\)  2( +-){8}$' out && grep -q '^  x  *f32  *2x3  *1  *6 ' out && report "stats of a dtype of others" "$(is_clean)" || report "stats of a dtype of others" "$(cat out err)"
run stats foreign.safetensors --axis 0
grep -q '#s  F8_E8M0 (unsupported) 2$' out && grep -q 'mean  *\[2.5 3.5 4.5\]' out && report "stats --axis of a dtype of others" "$(is_clean)" || report "stats --axis of a dtype of others" "$(cat out err)"
prints "reduce beside a dtype of others" '21.0' reduce foreign.safetensors#x --op sum
refuses "reduce of a dtype of others" 1 'foreign.safetensors#s: its dtype "F8_E8M0" is not one that redax has' reduce foreign.safetensors#s --op sum

# ---- stats ----
run stats a.npy one.safetensors two.safetensors
grep -q '2x3 *1 *6 *3.5 *1.70783 *9.53939 *0 *0 *0$' out && grep -q '^  w *bf16 *2 ' out && grep -q '^  q *f8e4m3 *- ' out &&
    report "stats of three files" "$(is_clean)" || report "stats of three files" "$(cat out err)"
run stats nan.npy
grep -q 'f32 *3 *1 *2 *1.5 *0.5 *2.23607 *1 *0 *0$' out && report "stats with NaN" "$(is_clean)" || report "stats with NaN" "$(cat out err)"
run stats a.npy --axis 0
grep -q 'mean  *\[2.5 3.5 4.5\]' out && report "stats --axis" "$(is_clean)" || report "stats --axis" "$(cat out err)"
run stats a.npy absent.npy one.safetensors
[ "$code" = 1 ] && grep -q absent err && [ "$(grep -c 3.5 out)" = 2 ] && report "stats goes on after a bad file" ok || report "stats goes on after a bad file" "exit $code: $(cat out err)"
refuses "stats along an axis that is not there" 1 'axis 5' stats a.npy --axis 5
safetensors ranks.safetensors "{\"bias\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[24,28]},${one#?}" "$f4$f4"
truncate -s -20 ranks.safetensors
run stats ranks.safetensors --axis 1
[ "$code" = 1 ] && [ "$(wc -l <err)" = 1 ] && grep -q 'ranks.safetensors#bias: .*axis 1' err && grep -q 'mean  *\[2. 5.\]' out && report "stats goes on after a tensor without the axis" ok || report "stats goes on after a tensor without the axis" "exit $code: $(cat out err)"
printf '{"x\033[2Jy":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}' >escape.json
safetensors escape.safetensors "$(cat escape.json)" '\1'
run stats escape.safetensors
grep -q "$(printf '\033')" out err && report "no control characters from names" "they reach the terminal" || report "no control characters from names" ok

# ---- explain ----
cases=0
silent=0
while read -r name line; do
    [[ $name == \#* || -z $line ]] && continue
    for device in cpu h200 a100 t4; do
        cases=$((cases + 1))
        run explain "$line" --device $device
        [ "$code" = 0 ] && grep -q chosen out && [ ! -s err ] || silent=$((silent + 1))
    done
done <"$here/../bench/cases.txt"
report "explain of $cases public cases" "$([ $silent = 0 ] && [ $cases -ge 200 ] && echo ok || echo "$silent of $cases failed")"
run explain sum:f32:64x64/0 --format sexpr
grep -q '^(plan (sum f32 f32)' out && report "explain --format sexpr" "$(is_clean)" || report "explain --format sexpr" "$(cat out err)"
refuses "explain for a CUDA device" 1 'CUDA' explain sum:f32:64 --device cuda:0

# ---- bench --only ----
printf 'one sum:f32:64\ntwo max:f32:64\n' >suite.txt
refuses "bench: --only leaves nothing" 2 'no case of suite.txt has "typo" in its name' bench --suite suite.txt --only typo
refuses "bench: --only before --suite" 2 'no case of suite.txt has "typo"' bench --only typo --suite suite.txt
refuses "bench: --only and a CASE that stays" 2 'no case of suite.txt has "typo"' bench --only typo --suite suite.txt sum:f32:8
refuses "bench: --only without --suite" 2 'needs a --suite' bench --only f32 sum:f32:64
run bench --suite suite.txt --only tw sum:f32:8 --seconds 0
grep -q '^two' out && ! grep -q '^one' out && grep -q 'sum:f32:8 ' out && report "bench --only" "$(is_clean)" || report "bench --only" "$(cat out err)"

# ---- fuzz ----
for what in cudafoo cuda:x cuda:-1 cuda: cuda:1024 cpu auto ''; do
    refuses "fuzz --device '$what'" 2 "device is \"$what\"; it takes cuda or cuda:N, N from 0 to 1023" fuzz --device "$what" --cases 1
done
for what in x -1 '' 1s nan 0 0.0; do
    refuses "fuzz --seconds '$what'" 2 "seconds is \"$what\"; it takes a number above 0" fuzz "--seconds=$what"
done
for what in x -1 '' 1.5 0 9223372036854775808; do
    refuses "fuzz --cases '$what'" 2 "cases is \"$what\"; it takes a whole number from 1 to 9223372036854775807" fuzz --cases "$what"
done
for what in x -1 '' 18446744073709551616; do
    refuses "fuzz --seed '$what'" 2 "seed is \"$what\"; it takes a whole number from 0 to 18446744073709551615" fuzz --seed "$what"
done
refuses "fuzz: --seed without a value" 2 'seed needs a value' fuzz --cases 1 --seed
refuses "fuzz: a CASE without --replay" 2 'sum:f32:8' fuzz sum:f32:8
refuses "fuzz: --replay of no CASE" 2 'column 9' fuzz --replay sum:f32:
refuses "fuzz: --replay of an axis that is not there" 1 '^redax: sum:f32:8/1: axis 1 is out of range for rank 1$' fuzz --replay sum:f32:8/1
run fuzz --device cuda:1 --replay sum:f32:8
[ "$code" = 1 ] && [ ! -s out ] && grep -q 'no CUDA: /nowhere' err && grep -qx "replay: redax fuzz --device cuda:1 --replay 'sum:f32:8'" err &&
    report "fuzz on a device without a plugin" ok || report "fuzz on a device without a plugin" "exit $code: $(cat err)"
timeout 2 "$redax" fuzz --replay sum:f32:4000000000000 >out 2>err # 16 TB: it would be filled for hours
code=$?
[ "$code" = 1 ] && [ ! -s out ] && grep -q '^fuzz: no memory for 4000000000000 elements of 4 bytes' err && report "fuzz --replay of more than there is memory" ok || report "fuzz --replay of more than there is memory" "exit $code: $(cat err)"
prints "fuzz --quiet" 'fuzz: passed, 3 cases, seed 7' fuzz --cases=3 --seed 7 --quiet --one-thread
run fuzz --seconds=0.1
grep -q '^fuzz: passed, [0-9]* cases, seed 1$' out && report "fuzz --seconds=0.1" "$(is_clean)" || report "fuzz --seconds=0.1" "$(cat out err)"
run fuzz --replay 'var:c64:7x300/1:nan=omit:data=holes' --one-thread
grep -q '^passed: [0-9]* runs agree with the reference$' out && report "fuzz --replay" "$(is_clean)" || report "fuzz --replay" "$(cat out err)"
printf '# two\n\nsum:f32:8\nmax:i8:3x5/1' >lines
run fuzz --replay - <lines
[ "$(sed 's/[0-9]* runs/N runs/' out | paste -sd' ')" = 'sum:f32:8 passed: N runs agree with the reference max:i8:3x5/1 passed: N runs agree with the reference' ] &&
    report "fuzz --replay -" "$(is_clean)" || report "fuzz --replay -" "$(cat out err)"
printf 'sum:f32:8/1\nsum:f32:8\n' >lines
run fuzz --replay - <lines
[ "$code" = 1 ] && [ "$(cat out)" = sum:f32:8/1 ] && grep -qx 'redax: sum:f32:8/1: axis 1 is out of range for rank 1' err &&
    report "fuzz --replay - ends with the first that fails" ok || report "fuzz --replay - ends with the first that fails" "exit $code: $(cat out err)"
refuses "fuzz --replay - of nothing" 1 '^redax: standard input: no CASE$' fuzz --replay - </dev/null
refuses "fuzz --replay - of a folder" 1 '^redax: standard input: Is a directory$' fuzz --replay - <.

# ---- CUDA devices ----
for arguments in "reduce a.npy --op sum" "stats a.npy" "bench sum:f32:64"; do
    # shellcheck disable=SC2086
    refuses "no plugin: $arguments" 1 'no CUDA: /nowhere/libredax_cuda.so: cannot open' $arguments --device cuda
    for device in cuda: cuda:x cuda:-1 cuda1 gpu ''; do
        # shellcheck disable=SC2086
        run $arguments --device "$device"
        [ "$code" = 2 ] && [ ! -s out ] && head -1 err | grep -qF "$device" && report "--device '$device': $arguments" ok || report "--device '$device': $arguments" "exit $code: $(cat err)"
    done
done
prints "auto without a plugin" '21.0' reduce a.npy --op sum --device auto
run bench --device auto sum:f32:64 --seconds 0
grep -q 'sum:f32:64 ' out && ! grep -q '^cuda' out && report "bench auto without a plugin" "$(is_clean)" || report "bench auto without a plugin" "$(cat out err)"
run info
grep -q '^cuda  *none: no CUDA: /nowhere' out && report "info without a plugin" "$(is_clean)" || report "info without a plugin" "$(cat out)"

same_there() { # same_there NAME ARGUMENT...: the same bytes and exit code from cuda:0 as from the CPU, files t.npy and u.npy too
    local name=$1 there=ok
    shift
    for device in cpu cuda:0; do
        rm -f t.npy u.npy
        RDX_CUDA_PLUGIN=$plugin "$redax" "$@" --device $device >out-$device 2>err-$device
        echo "exit $?" >>out-$device
        for file in t u; do { cat $file.npy 2>/dev/null || echo none; } >$file-$device; done
    done
    if grep -q 'this debug build' err-cuda:0; then
        skip "$name: the plugin lacks these kernels"
        return
    fi
    grep -q '^exit 0$' out-cpu || there="the CPU fails: $(cat err-cpu)"
    for file in out t u; do
        cmp -s $file-cpu $file-cuda:0 || there="$file differs: $(head -c 300 out-cuda:0 err-cuda:0)"
    done
    report "$name" "$there"
}
if [ -n "$plugin" ]; then
    export RDX_PIECE_BYTES
    slices='1 700 60000 100000000' pieces='1 3000 4300000 100000000' files='wide long ints holes'
    [[ $plugin != *emu* ]] || slices='700' pieces='4300000' files='wide holes' # emulated kernels take their time
    # 1031 x 515 and 37 x 29 x 23 of f32, finite by leaving out the topmost bit of the exponent, and 2200003 bytes and more
    bytes() { head -c "$2" <(yes "$1 0123456789 abcdefghijklmnopqrstuvwxyz, no two rows alike: $1") | tr '@-~' '\000-\076'; }
    npy wide.npy "$(head_of '<f4' '(1031, 515)')"
    bytes wide $((1031 * 515 * 4)) >>wide.npy
    npy cube.npy "$(head_of '<f4' '(37, 29, 23)' True)"
    bytes cube $((37 * 29 * 23 * 4)) >>cube.npy
    npy long.npy "$(head_of '<f4' '(2200003,)') " # misaligned, and two slabs and a rest
    bytes long $((2200003 * 4)) >>long.npy
    npy ints.npy "$(head_of '<i2' '(2097152, 2)')"
    bytes ints $((2097152 * 2 * 2)) >>ints.npy
    cp long.npy holes.npy # NaN in the second slab alone, an infinity in the first
    first=$(($(stat -c %s holes.npy) - 2200003 * 4))
    printf '\0\0\300\177\0\0\300\177' | dd of=holes.npy bs=1 seek=$((first + 6000000)) conv=notrunc status=none
    printf '\0\0\200\377' | dd of=holes.npy bs=1 seek=$((first + 40)) conv=notrunc status=none
    run stats holes.npy
    grep -q ' 2  *1  *[0-9]*$' out && report "holes.npy has 2 NaN and an infinity" "$(is_clean)" || report "holes.npy has 2 NaN and an infinity" "$(cat out)"
    for RDX_PIECE_BYTES in $slices; do
        for axis in all none 0 1 2 0,2 -1,0; do
            same_there "cube on cuda:0, axis $axis, pieces of $RDX_PIECE_BYTES" reduce cube.npy --op var --axis $axis -o t.npy --out2 u.npy
        done
        same_there "cube on cuda:0, keepdims, pieces of $RDX_PIECE_BYTES" reduce cube.npy --op minmax --axis 1 --keepdims -o t.npy --out2 u.npy
    done
    for RDX_PIECE_BYTES in $pieces; do
        for file in $files; do
            same_there "stats of $file on cuda:0, pieces of $RDX_PIECE_BYTES" stats $file.npy --json
        done
        [ "$RDX_PIECE_BYTES" = 1 ] || same_there "stats of wide on cuda:0 along axis 0, pieces of $RDX_PIECE_BYTES" stats wide.npy --axis 0 --json
        [ "$RDX_PIECE_BYTES" = 1 ] || same_there "stats of wide on cuda:0 along axis 1, pieces of $RDX_PIECE_BYTES" stats wide.npy --axis 1 --json
    done
    unset RDX_PIECE_BYTES
    same_there "stats of several files on cuda:0" stats a.npy one.safetensors two.safetensors none.npy nan.npy scalar.npy
    same_there "stats of nothing on cuda:0 along an axis" stats none.npy --axis 0
    RDX_DEVICE_BYTES=400000 same_there "slices where the device is small" reduce wide.npy --op sum --axis 0 -o t.npy
    export RDX_CUDA_PLUGIN=$plugin
    RDX_DEVICE_BYTES=400000 refuses "an output larger than the device" 1 "one output takes [0-9]* bytes of cuda:0's memory; 400000 may" reduce wide.npy --op sum --device cuda
    RDX_DEVICE_BYTES=400000 refuses "slabs larger than the device" 1 "two are there at a time; 400000 may" stats long.npy --device cuda
    refuses "no such CUDA device" 1 'there is no CUDA device 9' reduce a.npy --op sum --device cuda:9
    refuses "no such CUDA device for stats" 1 'there is no CUDA device 9' stats a.npy --device cuda:9
    refuses "no such CUDA device for bench" 1 'there is no CUDA device 9' bench sum:f32:8 --device cuda:9
    refuses "an axis that is not there, on cuda" 1 'axis 5' stats a.npy --axis 5 --device cuda
    run info
    grep -Eq '^cuda  *[0-9]+ devices?; built for .*; driver .*, run-time ' out && grep -Eq '^  cuda:0  *.*, sm_[0-9]+, [0-9]+ multiproc' out &&
        report "info lists GPUs" "$(is_clean)" || report "info lists GPUs" "$(cat out err)"
    run explain sum:f32:64x64/0 --device cuda:0
    grep -q chosen out && report "explain for cuda:0" "$(is_clean)" || report "explain for cuda:0" "$(cat out err)"
    run reduce a.npy --op sum --axis 0 --explain --device cuda
    grep -q chosen out && grep -q '5. 7. 9.' out && report "reduce --explain on cuda" "$(is_clean)" || report "reduce --explain on cuda" "$(cat out err)"
    RDX_BENCH_PLANT=1 run bench --device cuda sum:f32:1024
    [ "$code" = 1 ] && grep -q "differs from the CPU's" err && report "bench notices a planted error" ok || report "bench notices a planted error" "exit $code: $(cat err)"
fi
if [[ $plugin == *stand_in* ]]; then
    run bench --device cuda:0 --host sum:f32:1024 argmax:f32:100x1000/0 sum:f32:64x33@40x1/1:ostrides=3 var:bf16:64x64/0:out2=bf16 sum:f32:0
    grep -q 'launch that does nothing' out && [ "$(grep -c 'split' out)" = 5 ] && report "bench on cuda:0" "$(is_clean)" || report "bench on cuda:0" "$(cat out err)"
    run bench --device auto sum:f32:1024
    grep -q '^cuda:0: stand-in 0' out && report "bench auto takes the GPU" "$(is_clean)" || report "bench auto takes the GPU" "$(cat out err)"
    RDX_STAND_IN_READ_NS=1000000000 run bench --device cuda sum:f32:8388608
    [ "$code" = 1 ] && grep -q 'three times): not believable' err && report "bench: faster than reading" ok || report "bench: faster than reading" "exit $code: $(cat out err)"
    RDX_STAND_IN_DEVICES=0 refuses "no GPU" 1 'no CUDA-capable device' reduce a.npy --op sum --device cuda
    RDX_STAND_IN_DEVICES=0 refuses "no GPU for stats" 1 'no CUDA-capable device' stats a.npy --device cuda
    RDX_STAND_IN_DEVICES=0 run bench --device auto sum:f32:64 --seconds 0
    grep -q 'sum:f32:64 ' out && ! grep -q '^cuda' out && report "bench auto without a GPU" "$(is_clean)" || report "bench auto without a GPU" "$(cat out err)"
    RDX_STAND_IN_DEVICES=0 run info
    grep -q '^cuda  *0 devices; built for sm_80 sm_90; driver 12.8, run-time 12.4' out && report "info without a GPU" "$(is_clean)" || report "info without a GPU" "$(cat out)"
    for what in "reduce wide.npy --op sum" "stats wide.npy" "stats wide.npy --axis 0"; do
        # shellcheck disable=SC2086
        RDX_STAND_IN_LARGEST=1000 refuses "out of device memory: $what" 1 'cuda:0 has no room for [0-9]* bytes: 1073741824 of 1073741824 are free' $what --device cuda
    done
    printf 'sum:f32:8\nsum:i8:8\nmax:f32:3x5/1\n' >lines
    RDX_STAND_IN_LACKS=i8 run fuzz --device cuda --replay - <lines
    [ "$code" = 1 ] && [ "$(cut -d: -f1 out | paste -sd' ')" = 'sum passed sum not run on the device max passed' ] &&
        grep -qx 'redax: 1 of 3 cases not run on the device' err &&
        report "fuzz --replay - goes on past what a debug build lacks" ok ||
        report "fuzz --replay - goes on past what a debug build lacks" "exit $code: $(cat out err)"
    RDX_STAND_IN_LACKS=i8 refuses "fuzz --replay of what a debug build lacks" 1 '^redax: sum:i8:8: not run on the device: a debug build' fuzz --device cuda --replay sum:i8:8
    refuses "fuzz --replay of what is too large to copy" 1 'not run on the device: its buffers are too large to copy' fuzz --device cuda --replay sum:f32:34000001
    RDX_STAND_IN_BYTES=1000000 run bench --device cuda sum:f32:1000000
    [ "$code" = 1 ] && grep -q 'cuda:0 has no room for [0-9]* bytes: 1000000 of' err && report "bench: out of device memory" ok || report "bench: out of device memory" "exit $code: $(cat err)"
else
    skip "CUDA on the stand-in: tests/test_command.sh redax libredax_stand_in.so"
fi
export RDX_CUDA_PLUGIN=/nowhere/libredax_cuda.so

# ---- JSON ----
if command -v python3 >/dev/null; then
    for arguments in "info --json" "stats a.npy nan.npy one.safetensors two.safetensors none.npy --json" "stats --axis 0 a.npy --json" \
        "reduce a.npy --op mean --axis 0 --json" "reduce nan.npy --op sum --json --explain" "reduce none.npy --op sum --json" \
        "explain sum:f32:64x64/0 --json" "explain var:bf16:4096x768/-1 --device h200 --format json" "stats escape.safetensors --json" \
        "stats foreign.safetensors --json" "stats foreign.safetensors --axis 0 --json"; do
        # shellcheck disable=SC2086
        run $arguments
        python3 -c 'import json, sys
document = json.load(open("out"), parse_constant=lambda word: sys.exit("bare " + word))
sys.exit(0 if document["schema"] == 1 else "no schema")' 2>why && report "JSON of $arguments" "$(is_clean)" || report "JSON of $arguments" "$(cat why err)"
    done
    run reduce nan.npy --op sum --json
    grep -q '"NaN"' out && report "NaN in JSON is a string" ok || report "NaN in JSON is a string" "$(cat out)"
    run stats foreign.safetensors --json
    python3 -c 'import json
first, second = json.load(open("out"))["files"][0]["tensors"]
assert first == {"name": "s", "dtype": "F8_E8M0", "unsupported": True, "shape": [2]} | dict.fromkeys("min max mean std norm nan inf zero".split())
assert second["max"] == 6' 2>why && report "JSON of a dtype of others" "$(is_clean)" || report "JSON of a dtype of others" "$(cat why out)"
    npy holed.npy "$(head_of '<f4' '(1001,)')" '\0\0\300\177'
    head -c 4000 /dev/zero >>holed.npy
    run reduce holed.npy --op sum --axis none --json
    python3 -c 'import json; assert json.load(open("out"))["out"]["nan"] == 1' 2>why && report "JSON counts the NaN of a large result" "$(is_clean)" || report "JSON counts the NaN of a large result" "$(cat why out)"
else
    skip "JSON: no python3"
fi

# ---- files that are written ----
run reduce a.npy --op sum --axis 0 -o b.npy
[ ! -s out ] && prints "-o, read back" '[5. 7. 9.]' reduce b.npy --op sum --axis none || report "-o" "exit $code $(cat out err)"
[ "$(od -An -c -N6 b.npy | tr -d ' ')" = '223NUMPY' ] && report "-o writes .npy" ok || report "-o writes .npy" "$(od -An -c -N16 b.npy)"
run reduce a.npy --op minmax --axis 1 -o low.npy --out2 high.npy
prints "--out2" '[3. 6.]' reduce high.npy --op sum --axis none
run reduce a.npy --op max --axis 1 --out2 index.npy
prints "--out2 alone" '[2 2]' reduce index.npy --op sum --axis none
echo before >kept.npy
refuses "a refusal leaves the old file" 1 'axis' reduce a.npy --op sum --axis 7 -o kept.npy
[ "$(cat kept.npy)" = before ] && report "the old file is as it was" ok || report "the old file is as it was" "it changed"
refuses "no such directory" 1 'absent/b.npy' reduce a.npy --op sum -o absent/b.npy
mkdir folder
refuses "-o names a directory" 1 'is a directory' reduce a.npy --op sum -o folder
ln -s b.npy link.npy
run reduce a.npy --op sum -o link.npy
[ -L link.npy ] && prints "-o through a symbolic link" '21.0' reduce b.npy --op sum || report "-o through a symbolic link" "the link is gone"
refuses "second output cannot be written" 1 'absent/i.npy' reduce a.npy --op max -o first.npy --out2 absent/i.npy
[ ! -e first.npy ] && report "then the first is not there either" ok || report "then the first is not there either" "it is"
(umask 027 && "$redax" reduce a.npy --op sum -o mode.npy)
[ "$(stat -c %a mode.npy)" = 640 ] && report "permissions follow the umask" ok || report "permissions follow the umask" "$(stat -c %a mode.npy)"
chmod 600 mode.npy
run reduce a.npy --op sum -o mode.npy
[ "$(stat -c %a mode.npy)" = 600 ] && report "a file that is there keeps its permissions" "$(is_clean)" || report "a file that is there keeps its permissions" "$(stat -c %a mode.npy)"
chmod 400 mode.npy
# root may write anything, until it gives up its capabilities
powerless=$([ "$(id -u)" != 0 ] && echo env || echo setpriv --bounding-set=-all)
if $powerless true 2>/dev/null && ! $powerless test -w mode.npy; then
    $powerless "$redax" reduce a.npy --op prod -o mode.npy >out 2>err
    [ $? = 1 ] && grep -q 'cannot write mode.npy: Permission denied' err && prints "a read-only file is refused" '21.0' reduce mode.npy --op sum || report "a read-only file is refused" "$(cat out err)"
else
    skip "a read-only file: nobody here is forbidden to write it"
fi
if [ -e /dev/full ]; then
    for arguments in "info" "--version" "--help" "reduce a.npy --op sum" "stats a.npy" "stats a.npy --json" "explain sum:f32:8" "reduce --help"; do
        # shellcheck disable=SC2086
        "$redax" $arguments >/dev/full 2>err
        code=$?
        [ $code = 1 ] && grep -q 'standard output' err && report "full stdout: $arguments" ok || report "full stdout: $arguments" "exit $code: $(cat err)"
    done
    refuses "full file" 1 'No space' reduce a.npy --op sum -o /dev/full
    [ -c /dev/full ] && report "devices are not replaced" ok || report "devices are not replaced" "/dev/full is gone"
fi
{ echo hi; cat b.npy; echo bye; } >wanted
ln -s /dev/stdout stdout.npy
for path in /dev/stdout /dev/fd/1 /proc/self/fd/1 stdout.npy; do
    { echo hi; "$redax" reduce a.npy --op sum -o $path; echo bye; } >out 2>err
    cmp -s out wanted && [ ! -s err ] && report "-o $path amid a file" ok || report "-o $path amid a file" "$(head -c 200 out err)"
done
"$redax" reduce a.npy --op sum -o /dev/stdout 2>err | cmp -s - b.npy && report "-o /dev/stdout into a pipe" ok || report "-o /dev/stdout into a pipe" "$(cat err)"
echo hi >out
"$redax" reduce a.npy --op sum -o /dev/stdout >>out 2>err
echo bye >>out
cmp -s out wanted && report "-o /dev/stdout at the end of a file" ok || report "-o /dev/stdout at the end of a file" "$(head -c 200 out err)"
"$redax" reduce a.npy --op minmax -o /dev/fd/5 --out2 /dev/fd/6 5>low.npy 6>high.npy 2>err
prints "-o /dev/fd/5" '1.0' reduce low.npy --op sum
prints "--out2 /dev/fd/6" '6.0' reduce high.npy --op sum
refuses "-o of a descriptor that is not open" 1 'cannot write /dev/fd/77: ' reduce a.npy --op sum -o /dev/fd/77
npy big.npy "$(head_of '<f4' '(16777216,)')"
truncate -s $(($(stat -c %s big.npy) + 67108864)) big.npy
mkdir slow
env --default-signal=INT "$redax" reduce big.npy --op sum --axis none -o slow/out.npy &
job=$!
seen=no
for ((i = 0; i < 2000; i++)); do
    if compgen -G 'slow/.out.npy.*' >/dev/null; then
        seen=yes
        kill -INT $job
        break
    fi
    kill -0 $job 2>/dev/null || break
    sleep 0.002
done
wait $job
code=$?
if [ $seen = no ]; then
    report "Ctrl-C" "the temporary file was never seen"
else
    [ $code = 130 ] && report "Ctrl-C: exit 130" ok || report "Ctrl-C: exit 130" "exit $code"
    [ -z "$(ls -A slow)" ] && report "Ctrl-C: nothing is left" ok || report "Ctrl-C: nothing is left" "$(ls -A slow)"
fi
("$redax" stats big.npy big.npy big.npy big.npy big.npy big.npy >out 2>err; echo $? >code) &
sleep 0.05
truncate -s 4096 big.npy
wait $!
[ "$(cat code)" = 1 ] && grep -q 'cut short' err && report "a file cut short while it is read" ok || report "a file cut short while it is read" "exit $(cat code): $(cat err)"
rm -f big.npy
leftovers=$(find . -name '.*.??????' | head -3)
report "no temporary file anywhere" "${leftovers:-ok}"

# ---- terminals ----
if command -v script >/dev/null; then
    TERM=xterm script -qec "$redax stats a.npy" /dev/null </dev/null >screen 2>&1
    grep -q "$(printf '\033')" screen && report "colours on a terminal" ok || report "colours on a terminal" "none"
    NO_COLOR=1 TERM=xterm script -qec "$redax stats a.npy" /dev/null </dev/null >screen 2>&1
    grep -q "$(printf '\033')" screen && report "NO_COLOR" "colours" || report "NO_COLOR" "$(grep -q 3.5 screen && echo ok || cat screen)"
    TERM=dumb script -qec "$redax stats a.npy" /dev/null </dev/null >screen 2>&1
    grep -q "$(printf '\033')" screen && report "TERM=dumb" "colours" || report "TERM=dumb" ok
else
    skip "terminals: no script(1)"
fi
run stats a.npy
grep -q "$(printf '\033')" out && report "no colours in a pipe" "colours" || report "no colours in a pipe" ok

# ---- beside NumPy ----
numpy_python=
for python in python3 /usr/bin/python3; do # a machine may have several
    if [ -z "$numpy_python" ] && "$python" -c 'import numpy' 2>/dev/null; then numpy_python=$python; fi
done
if [ -n "$numpy_python" ]; then
    if "$numpy_python" "$here/numpy_compare.py" "$redax" >compared 2>&1; then
        report "answers beside NumPy: $(tail -1 compared)" ok
    else
        report "answers beside NumPy" "$(tail -5 compared)"
    fi
else
    skip "answers beside NumPy: no NumPy"
fi

echo "$checks checks, $failures failed, $skips skipped"
[ $failures = 0 ]
