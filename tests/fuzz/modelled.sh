# Random programs on the modelled machines: a share of what random.sh draws, from other seeds. The whole is `make fuzz`.
set -eu
count=14
case $CONFIG in asan | tsan) count=8 ;; esac
mkdir -p "$BUILD/tests/fuzz/found"
export CC="sh $SOURCE/tests/fuzz/cc.sh -O0 $CC"
for target in davinci ascend910b kirin9030; do
    "$BUILD/tests/fuzz/fuzz" -s 1000 -k $count -n $count -o . -- --target=$target >$target.txt || { cat $target.txt; cp failure-* "$BUILD/tests/fuzz/found/" 2>/dev/null || true; exit 1; }
done
tail -q -n 1 davinci.txt ascend910b.txt kirin9030.txt | awk '/passed/ { p += $1; f += $3; s += $5 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s }'
