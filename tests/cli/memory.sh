# Memory that runs out at any moment is an error with a message, and leaves nothing: in the compiler, the n-th allocation fails,
# alone and with all behind it. A sample of the n here; ALL=1 takes every one.
. "$SOURCE/tests/cli/common"
case ${CONFIG:-release} in asan | tsan | coverage) echo "sanitizers have an allocator of their own"; exit 77 ;; esac
echo 'int main(void) { return 0; }' | "$CC" -x c - -o probe
"$CC" -shared -fPIC -O1 -o failing.so "$SOURCE/tests/cli/failing.c" 2>err.txt || { echo "no glibc"; exit 77; }
LD_PRELOAD=./failing.so FAIL_COUNT=n ./probe
[ -s n ] || { echo "the allocator cannot be replaced"; exit 77; }
cat >k.pto <<'END'
kernel k(x: f32[N border clamp], a: f32) -> (y: f32[N], s: f32) {
    t[i] = max(a * x[i-1], x[i+1]);
    y[i] = scan(+, i) t[i];
    s = sum(i) x[i];
}
END

# fails NAME N COMMAND...: with the N-th allocation missing: it did all, or it left nothing and says why.
fails() {
    name=$1 n=$2
    shift 2
    for on in '' 1; do
        rm -rf out && mkdir out
        code=0
        env LD_PRELOAD=./failing.so FAIL_AT=$n ${on:+FAIL_ON=1} "$@" >out.txt 2>err.txt || code=$?
        case $code in
        0) # (isl does not always say why it gave up: what it did not find out is then taken for the worst, with a warning)
            diff -r out whole.$name >/dev/null || grep -q '\[budget\]' err.txt || { ls out; die "$name, allocation $n: done, but other files"; } ;;
        1 | 2 | 70)
            [ -s err.txt ] || die "$name, allocation $n: exit code $code without a word"
            [ -z "$(ls out)" ] || { ls out; die "$name, allocation $n: files left behind"; }
            grep -v 'is there no memory' err.txt | grep -q 'internal error' && { cat err.txt; die "$name, allocation $n: it crashed"; } ;;
        *) cat err.txt; die "$name, allocation $n: exit code $code" ;;
        esac
    done
    return 0
}

sweep() {
    name=$1 most=$2
    shift 2
    rm -rf out && mkdir out
    LD_PRELOAD=./failing.so FAIL_COUNT=n "$@" >out.txt 2>err.txt || die "$name fails with all its memory"
    rm -rf whole.$name && cp -r out whole.$name
    total=$(cat n) i=1
    step=$(((total - 20) / most + 1))
    [ "${ALL:-}" ] && step=1
    while [ "$i" -le "$total" ]; do
        fails "$name" "$i" "$@"
        i=$((i < 20 ? i + 1 : i + step))
    done
}
sweep compile 30 "$PTOC" k.pto -o out/k.c -MD --target=generic
sweep json 5 "$PTOC" k.pto -o out/k.c -fdiagnostics-format=json --explain --target=davinci
