#!/usr/bin/env bash
# check_planted.sh BUILD KIND: the emulator of BUILD (plain, address or thread) notices every bug that its kind can see, with each of
# three seeds, and nothing in kernels that are right. Fences are seen by ThreadSanitizer alone, reads out of bounds by
# AddressSanitizer alone.
set -euo pipefail
planted=${1:?usage: check_planted.sh BUILD plain|address|thread}/planted kind=${2:?}
export TSAN_OPTIONS=halt_on_error=1:exitcode=66 ASAN_OPTIONS=detect_leaks=0
blind=
[ "$kind" = thread ] || blind='no-writers-fence no-readers-fence early-fence'
failed=0 found=0
for seed in 1 2 3; do
    while read -r name; do
        status=0
        said=$( (RDX_EMU_SEED=$seed timeout 60 "$planted" "$name" 12) 2>&1) || status=$?
        if [ "$name" = none ] || [[ " $blind " == *" $name "* ]]; then
            [ "$status" = 0 ] || { echo "$name, seed $seed: status $status: $said" >&2; failed=1; }
            continue
        fi
        found=$((found + 1))
        # 1: a wrong result, or AddressSanitizer; 66: ThreadSanitizer; 134: the emulator. Anything else is a crash.
        case $status in
        1 | 66 | 134) grep -qE 'noticed: |emu: |ERROR: AddressSanitizer|WARNING: ThreadSanitizer' <<<"$said" ||
            { echo "$name, seed $seed: ended without a word: $said" >&2; failed=1; } ;;
        *) echo "$name, seed $seed: not noticed, status $status" >&2; failed=1 ;;
        esac
    done < <("$planted")
done
[ "$failed" = 0 ] && echo "planted: $found of $found bugs noticed ($kind)"
