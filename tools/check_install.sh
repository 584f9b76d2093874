#!/usr/bin/env bash
# check_install.sh BUILD: stages an install of BUILD below a scratch folder, builds examples/mean.c against it in each way
# that is promised (pkg-config shared, pkg-config static, CMake shared and static), runs the programs and the command,
# compares a DESTDIR install with it, and sees that uninstall leaves nothing.
set -euo pipefail
build=${1:?usage: check_install.sh BUILD}
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
prefix=$stage/usr
cc=${CC:-gcc}
make=(make --no-print-directory -s "BUILD=$build")

expect() { # expect WHAT COMMAND...: prints 2.5 3.5 6
    local what=$1 answer
    shift
    answer=$("$@")
    if [ "$answer" != "2.5 3.5 6" ]; then
        echo "$what: mean.c printed '$answer', not '2.5 3.5 6'" >&2
        exit 1
    fi
    echo "  $what: $answer"
}

"${make[@]}" install "PREFIX=$prefix"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
version=$(pkg-config --modversion redax)
if [ -e "$build/libredax_cuda.so" ]; then # the CUDA half lies beside the library, where it is looked for
    cmp "$build/libredax_cuda.so" "$prefix/lib/libredax_cuda.so"
else
    [ ! -e "$prefix/lib/libredax_cuda.so" ] || { echo "a CUDA plugin was installed, but none was built" >&2; exit 1; }
fi

# shellcheck disable=SC2046
"$cc" -std=c11 -Wall -Wextra -Werror examples/mean.c $(pkg-config --cflags --libs redax) -o "$stage/mean-shared"
needed=$(readelf -d "$stage/mean-shared" | grep -o 'libredax\.so\.[0-9.]*')
[ "$needed" = libredax.so.0 ] || { echo "the shared program needs '$needed', not libredax.so.0" >&2; exit 1; }
expect "pkg-config, shared" env "LD_LIBRARY_PATH=$prefix/lib" "$stage/mean-shared"

# A static program: the linker's word about dlopen is expected, any other is not.
# shellcheck disable=SC2046
"$cc" -std=c11 -Wall -Wextra -Werror -static examples/mean.c $(pkg-config --static --cflags --libs redax) \
    -o "$stage/mean-static" 2>"$stage/link.txt" || { cat "$stage/link.txt" >&2; exit 1; }
if grep -i warning "$stage/link.txt" | grep -qv dlopen; then
    cat "$stage/link.txt" >&2
    exit 1
fi
expect "pkg-config, static" "$stage/mean-static"

mkdir "$stage/project"
cp examples/mean.c "$stage/project/"
cat >"$stage/project/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.13)
project(mean C)
find_package(redax \${WANTED} REQUIRED CONFIG)
add_executable(mean mean.c)
target_link_libraries(mean PRIVATE redax::redax)
add_executable(mean_static mean.c)
target_link_libraries(mean_static PRIVATE redax::redax_static)
CMAKE
# Moved after the install: nothing in the CMake package may hold the old place.
mv "$prefix" "$stage/moved"
# And found by way of a link: on many systems /lib is one to usr/lib, and there is no /include.
mkdir "$stage/merged"
ln -s ../moved/lib "$stage/merged/lib"
configure() { # configure VERSION ROOT
    rm -rf "$stage/cmake"
    cmake -S "$stage/project" -B "$stage/cmake" -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$stage/$2" "-DWANTED=$1"
}
build_both() { configure "${version%.*}" "$1" && cmake --build "$stage/cmake"; }
for root in merged moved; do
    build_both $root >"$stage/cmake.txt" 2>&1 || { cat "$stage/cmake.txt" >&2; exit 1; }
    expect "CMake, $root, shared" "$stage/cmake/mean"
    expect "CMake, $root, static" "$stage/cmake/mean_static"
done
if readelf -d "$stage/cmake/mean_static" | grep -q libredax; then
    echo "redax::redax_static links the shared library" >&2
    exit 1
fi
for other in 0.0.9 99; do
    if configure "$other" moved >/dev/null 2>&1; then
        echo "the CMake package of $version says that it will do for $other" >&2
        exit 1
    fi
done
mv "$stage/moved" "$prefix"

said=$("$prefix/bin/redax" --version)
case $said in *"$version"*) ;; *) echo "redax --version says '$said', redax.pc $version" >&2; exit 1 ;; esac
"$prefix/bin/redax" stats examples/iris.npy >/dev/null

files() { (cd "$1" && find . ! -type d | sort); }
"${make[@]}" install "DESTDIR=$stage/dest" PREFIX=/usr
diff <(files "$prefix") <(files "$stage/dest/usr")
grep -qx 'prefix=/usr' "$stage/dest/usr/lib/pkgconfig/redax.pc"
"${make[@]}" uninstall "DESTDIR=$stage/dest" PREFIX=/usr
left=$(files "$stage/dest")
[ -z "$left" ] || { echo "uninstall leaves: $left" >&2; exit 1; }
echo "installcheck: all is well"
