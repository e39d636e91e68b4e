#!/bin/sh
# `make demo`: compiles samples/relu_cumsum.pto, times it beside plain C and a hand-written thread pool, then filters an
# image. Each command is shown, so that it can be repeated by hand. Arguments go to the timing program.
set -eu
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build/release} CC=${CC:-cc}
ptoc=$BUILD/bin/ptoc out=$BUILD/demo
mkdir -p "$out"

show() {
    echo "\$ $*"
    "$@"
}

native=-march=native
"$CC" -march=native -E -x c /dev/null >/dev/null 2>&1 || native=-mcpu=native

show "$ptoc" --target=native samples/relu_cumsum.pto -o "$out/relu_cumsum.c"
show "$CC" -O2 -I"$BUILD/include" -c "$out/relu_cumsum.c" -o "$out/relu_cumsum.o"
show "$CC" -O3 $native -c samples/demo/plain.c -o "$out/plain.o"
show "$CC" -O3 $native -pthread -c samples/demo/pool.c -o "$out/pool.o"
show "$CC" -O2 -D_GNU_SOURCE -I"$BUILD/include" -I"$out" samples/demo/demo.c "$out/relu_cumsum.o" "$out/plain.o" "$out/pool.o" \
    "$BUILD/lib/libptort.a" -fopenmp -pthread $(pkg-config --libs hwloc) -lm -o "$out/demo"
"$out/demo" "$@"

image=${PTO_SHARED:-../shared}/data/images/raccoon.pgm
if [ ! -r "$image" ]; then
    image=$out/image.pgm
    "$out/demo" --image "$image"
fi
echo
show "$ptoc" run samples/sobel.pto "img=$image" -o "g=$out/edges.pgm"
echo "the picture: $out/edges.pgm"
