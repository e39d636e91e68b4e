# Random programs on the modelled machines: a share of what random.sh draws, from other seeds.
set -eu
count=72
case $CONFIG in asan | tsan) count=24 ;; esac
mkdir -p "$BUILD/tests/fuzz/found"
export CC="sh $SOURCE/tests/fuzz/cc.sh -O0 $CC"
"$BUILD/tests/fuzz/fuzz" -s 1000 -n $count -o . -- --target=davinci >davinci.txt || { cat davinci.txt; cp failure-* "$BUILD/tests/fuzz/found/" 2>/dev/null || true; exit 1; }
"$BUILD/tests/fuzz/fuzz" -s 2000 -n $((count / 3)) -o . -- --target=ascend910b >ascend910b.txt || { cat ascend910b.txt; cp failure-* "$BUILD/tests/fuzz/found/" 2>/dev/null || true; exit 1; }
tail -n 1 davinci.txt ascend910b.txt | awk '/passed/ { p += $1; f += $3; s += $5 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s }'
