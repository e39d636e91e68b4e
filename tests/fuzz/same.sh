# A seed draws the same programs whichever C compiler built the generator: no two draws stand where their order is the compiler's.
set -eu
for cc in gcc clang; do
    command -v $cc >/dev/null 2>&1 || { echo "$cc is not installed (.ci/deps clang)"; exit 77; }
    $cc -O0 -w -D_GNU_SOURCE -std=c11 "$SOURCE"/tests/fuzz/*.c -o fuzz-$cc
done
for seed in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    ./fuzz-gcc -p -s $seed -k 64 >gcc.pto
    ./fuzz-clang -p -s $seed -k 64 >clang.pto
    cmp gcc.pto clang.pto || { diff gcc.pto clang.pto | head -n 4; exit 1; }
done
