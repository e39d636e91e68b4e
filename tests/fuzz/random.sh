# A few hundred random programs, always the same ones; `make fuzz` draws new ones.
set -eu
count=240
case $CONFIG in asan | tsan) count=48 ;; esac
mkdir -p "$BUILD/tests/fuzz/found"
export CC="sh $SOURCE/tests/fuzz/cc.sh -O0 $CC"
"$BUILD/tests/fuzz/fuzz" -n $count -o . || { cp failure-* "$BUILD/tests/fuzz/found/" 2>/dev/null || true; exit 1; }
