# shellcheck shell=bash
# The steps of .ci/run that are more than one command.

# Whichever python3 has NumPy: a clone may sit on a machine with several.
numpy_python() {
    local python
    for python in python3 /usr/bin/python3; do
        if "$python" -c 'import numpy' 2>/dev/null; then
            echo "$python"
            return
        fi
    done
    echo "no python3 here has numpy" >&2
    return 1
}

# Of a build that is tried here and not installed: without the level of instructions that this processor cannot run. Sanitized, it
# takes minutes to compile.
levels=()
if [ "$(uname -m)" = x86_64 ] && ! grep -qw avx512bw /proc/cpuinfo; then
    levels=("ISAS=baseline avx2" "ISA_DEFINES=-DRDX_HAVE_BASELINE -DRDX_HAVE_AVX2")
fi

golden() { "$(numpy_python)" tests/tree.py --check; }

# What times the peers, without a GPU and without peers: a stand-in, and the report of a small sample.
peers() { "$(numpy_python)" tests/test_peers.py build; }

clang_build() {
    make -j2 CC=clang BUILD=build-clang WERROR=1 all tests
    build-clang/bits tests/golden.txt
}

# Unoptimised: what the compiler may do to the arithmetic at -O3 must not show.
plain_build() {
    make -j2 "${levels[@]}" CFLAGS=-O0 BUILD=build-O0 lib build-O0/bits
    build-O0/bits tests/golden.txt
    # A user's flags must not break the promise either; what cannot be kept is refused.
    make -j2 "${levels[@]}" CFLAGS='-O3 -march=native -ffp-contract=fast' BUILD=build-native lib build-native/bits
    build-native/bits tests/golden.txt
    if printf '#include "base.h"\n' | gcc -ffast-math -Iinclude -Isrc -fsyntax-only -xc - 2>/dev/null; then
        echo "base.h lets -ffast-math pass" >&2
        return 1
    fi
}

# Neon, under emulation: a static program, for there is no Arm C library to load here.
aarch64() {
    make -j2 CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar BUILD=build-aarch64 WERROR=1 LDFLAGS=-static build-aarch64/bits
    qemu-aarch64 build-aarch64/bits tests/golden.txt
}

# An x86-64 without AVX: the level must be chosen right and no AVX instruction met on the way.
nehalem() {
    make -j2 WERROR=1 build/bits
    qemu-x86_64 -cpu Nehalem build/bits tests/golden.txt
}

sanitized() {
    export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1
    export RDX_FUZZ_CASES=2000 CK_TIMEOUT_MULTIPLIER=10
    make -j2 "${levels[@]}" "SANITIZE=$1" all tests
    make "${levels[@]}" "SANITIZE=$1" test
}

threaded() {
    # Forked children start threads of their own here, which TSan only does when told to.
    export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:die_after_fork=0 RDX_FUZZ_CASES=500 CK_TIMEOUT_MULTIPLIER=10
    make -j2 "${levels[@]}" SANITIZE=thread all tests
    build-thread/check_all pool api api_state cache sys plugin fuzz
}

# Each of the three for a minute, side by side.
libfuzzer() {
    make fuzzers
    local target pids=() status=0
    for target in npy safetensors plan; do
        mkdir -p "build-fuzz/corpus-$target"
        cp examples/iris.npy examples/tiny.safetensors "build-fuzz/corpus-$target/"
        "build-fuzz/fuzz_$target" -max_total_time="${REDAX_LIBFUZZER_SECONDS:-60}" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
            -artifact_prefix="build-fuzz/$target-" "build-fuzz/corpus-$target" >"build-fuzz/$target.log" 2>&1 &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid" || status=1; done
    for target in npy safetensors plan; do
        [ "$status" = 0 ] || tail -n 40 "build-fuzz/$target.log"
        echo "$target: $(grep -E 'stat::number_of_executed_units' "build-fuzz/$target.log" || echo 'did not finish')"
    done
    return $status
}

# The CUDA kernels without a GPU (tests/emu): planted bugs, golden answers, random cases under a schedule of the day. The plain one
# has every kernel; the others have a sample, and AddressSanitizer's counts the lines that it reaches.
emulated() {
    local seed=$((EPOCHSECONDS % 100000))
    case $1 in
    plain)
        make -j2 WERROR=1 emu
        tests/emu/check_emu.sh build-emu plain 2000 $seed
        tests/test_command.sh build/redax build-emu/libredax_cuda_emu.so
        make -j2 WERROR=1 build/check_gpu
        # All groups but `fuzz`: those cases were met above, and unoptimised they take as long as all the others.
        RDX_GPU_REDUCED=1 RDX_CUDA_PLUGIN=$PWD/build-emu/libredax_cuda_emu.so build/check_gpu host capture streams devices repeat faults
        ;;
    address,undefined)
        rm -f build-emu-address-undefined/obj/src/kernels/cuda/*.gcda
        make -j2 WERROR=1 "EMU_SANITIZE=$1" EMU_CFLAGS=--coverage emu
        tests/emu/check_emu.sh build-emu-address-undefined address 1000 $seed
        tests/emu/coverage.py build-emu-address-undefined 95
        ;;
    thread)
        make -j2 WERROR=1 "EMU_SANITIZE=$1" emu
        tests/emu/check_emu.sh build-emu-thread thread 1000 $seed
        ;;
    esac
}

# What nvcc makes of the kernels, where there is one: how they round, and what does not fit into registers.
ptx() {
    local nvcc=()
    if command -v nvcc >/dev/null; then nvcc=(nvcc); fi
    tools/check_ptx.py --test "${nvcc[@]}"
    if [ ${#nvcc[@]} = 0 ]; then
        echo "no nvcc here: no kernel was compiled"
        return
    fi
    make -j2 WERROR=1 ptx
    tools/check_ptx.py build/ptx
}

# In an order of the day, as many as five minutes suffice for: all of them take about an hour on two cores.
mutants() { "$(numpy_python)" tests/mutants.py --order $((EPOCHSECONDS / 86400)) --seconds 300; }

# What the CUDA half is tried on is the emulator's plugin, so that comes first.
python_package() {
    while [ "$(cat build-ci/emu.status 2>/dev/null)" = unfinished ]; do sleep 1; done
    make WERROR=1 check-python
}

# Nothing that a build or a test wrote is left in the tree but what .gitignore names, and no step made the libraries again
# under the hands of those that read them.
leftovers() {
    diff build-ci/status-before <(git status --porcelain)
    if [ -e build-ci/build.status ] && [ build/libredax.a -nt build-ci/build.status ]; then
        echo "a step after 'build' has built build/libredax.a again"
        return 1
    fi
    echo "the tree is as it was"
}
