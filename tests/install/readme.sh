# The builds that the README prints, as it prints them: by hand, Make, CMake with C++ alone, Meson; in a prefix with blanks.
. "$SOURCE/tests/install/common"
need pkg-config
prefix="$PWD/a prefix"
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig" CMAKE_PREFIX_PATH="$prefix"
install_here
PATH=$prefix/bin:$PATH

# snippet LANGUAGE TEXT: the block of README.md in that language that has the text.
snippet() {
    awk -v language="$1" -v wanted="$2" '
        /^```/ && !inside { inside = 1; block = ""; is = $0 == "```" language; next }
        /^```/ { inside = 0; if (is && index(block, wanted)) { printf "%s", block; found = 1 } next }
        inside { block = block $0 "\n" }
        END { exit !found }' "$SOURCE/README.md" || { echo "README.md has no $1 block with: $2"; exit 1; }
}

# project NAME: a fresh folder with the README's kernel and program.
project() {
    mkdir "$1"
    cd "$1"
    snippet "" "border clamp" >blur.pto
    snippet c '#include "blur.h"' >main.c
}

result() {
    [ "$("$1")" = "$expected " ] || { echo "$1 prints $("$1")"; exit 1; }
}

# An instrumented runtime needs the same flags in the program that links it.
compiler=$(command -v "$CC")
mkdir tools
printf '#!/bin/sh\nexec %s %s "$@"\n' "$compiler" "$flags" >tools/cc
chmod +x tools/cc
PATH=$PWD/tools:$PATH
cc=$PWD/tools/cc

(
    project hand
    snippet sh 'eval cc' >build.sh
    sh -e build.sh
    result ./app
)
if command -v make >/dev/null 2>&1; then (
    project make
    snippet make '%.c %.h: %.pto' >Makefile
    make CC=cc
    result ./app
    make CC=cc | grep -q 'up to date'
    touch blur.pto
    if make -q CC=cc; then echo "a changed .pto is not noticed"; exit 1; fi
) fi
if command -v cmake >/dev/null 2>&1 && command -v c++ >/dev/null 2>&1; then (
    project cmake
    mv main.c main.cpp
    snippet cmake 'project(app CXX)' >CMakeLists.txt
    # As printed, and the kernel in a library whose users include its header; with either form of target_link_libraries.
    printf '%s\n' 'add_library(kernels STATIC)' 'pto_add_kernel(kernels blur.pto OPTIONS --target=generic)' 'add_executable(user main.cpp)' \
        'target_link_libraries(user kernels)' 'target_link_libraries(kernels m)' >>CMakeLists.txt
    cmake -S . -B build -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_FLAGS="$flags" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
    cmake --build build
    result build/app
    result build/user
    grep 'blur\.c' build/compile_commands.json | grep -q -e -O2 || { echo "without a build type the kernel is not optimised"; exit 1; }
    sed -i 's/find_package(pto 0.1/find_package(pto 9.1/' CMakeLists.txt
    if cmake -S . -B other -DCMAKE_C_COMPILER="$cc" >other.log 2>&1; then echo "version 9.1 is found"; exit 1; fi
    grep -q 'requested version "9.1"' other.log
) fi
if command -v meson >/dev/null 2>&1 && command -v ninja >/dev/null 2>&1; then (
    project meson
    snippet meson "dependency('ptort')" >meson.build
    CC=$cc meson setup build -Db_lundef=false
    ninja -C build
    result build/app
) fi
