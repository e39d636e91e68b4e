# Some random programs, always the same ones; `make fuzz` draws new ones, for all targets.
set -eu
generic=40 all=16
case $CONFIG in asan | tsan) generic=16 all=8 ;; esac
mkdir -p "$BUILD/tests/fuzz/found"
export CC="sh $SOURCE/tests/fuzz/cc.sh -O0 $CC"
keep() { cat "$1"; cp failure-* "$BUILD/tests/fuzz/found/" 2>/dev/null || true; exit 1; }
"$BUILD/tests/fuzz/fuzz" -s 1 -n $generic -k $generic -o . -- --target=generic >generic.txt || keep generic.txt
"$BUILD/tests/fuzz/fuzz" -s 500 -n $all -k $all -o . >all.txt || keep all.txt
tail -q -n 1 generic.txt all.txt | awk '/passed/ { p += $1; f += $3; s += $5 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s }'
