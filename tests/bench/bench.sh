#!/bin/sh
# `make bench`: the samples beside plain C, serial and with OpenMP. Arguments go to the program (bench.c).
set -eu
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build/release} CC=${CC:-cc}
out=$BUILD/bench
mkdir -p "$out"
native=-march=native
"$CC" -march=native -E -x c /dev/null >/dev/null 2>&1 || native=-mcpu=native

objects=
for sample in relu_cumsum layer_norm sobel blur heat gauss_seidel matmul syrk cholesky edit_distance integral histogram recurrence nearest; do
    "$BUILD/bin/ptoc" --target=native "samples/$sample.pto" -o "$out/$sample.c"
    "$CC" -O2 -I"$BUILD/include" -c "$out/$sample.c" -o "$out/$sample.o"
    objects="$objects $out/$sample.o"
done
"$CC" -O3 $native -fopenmp -c tests/bench/plain.c -o "$out/plain.o"
# shellcheck disable=SC2046,SC2086
"$CC" -O2 -D_GNU_SOURCE -I"$BUILD/include" tests/bench/bench.c $objects "$out/plain.o" "$BUILD/lib/libptort.a" -fopenmp -pthread \
    $(pkg-config --libs hwloc) -lm -o "$out/bench"
exec "$out/bench" "$@"
