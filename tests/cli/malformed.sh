# No input crashes or hangs the compiler: samples cut short or with bytes changed, junk, extremes.
. "$SOURCE/tests/cli/common"
tries=0
limit=20                # seconds of a processor
case $CONFIG in asan | tsan) limit=100 ;; esac
attempt() {
    tries=$((tries + 1))
    code=0
    (ulimit -t "$limit" && exec "$PTOC" "$@" -o x.c) >out.txt 2>&1 || code=$?
    [ $code -le 1 ] || { cp "$1" kept.pto; echo "exit code $code on this input:"; head -c 2000 "$1"; head -n 30 out.txt; exit 1; }
}

: >empty.pto
attempt empty.pto
head -c 4000 /dev/urandom >junk.pto
attempt junk.pto
printf 'kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = \000 x[i]; }' >nul.pto
attempt nul.pto
printf 'kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] * 99999999999999999999999999; }' >big.pto
attempt big.pto
printf 'kernel k(x: f32[9223372036854775807]) -> (y: f32[9223372036854775807]) { y[i] = x[i+9223372036854775807]; }' >huge.pto
attempt huge.pto
printf 'kernel k(x: i32[4611686018427387904, 4611686018427387904]) -> (y: i32) { y = sum(i, j) x[i, j]; }' >product.pto
attempt product.pto
awk 'BEGIN { printf "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = "; for (i = 0; i < 100000; i++) printf "("; printf "x[i]"; for (i = 0; i < 100000; i++) printf ")"; print "; }" }' >deep.pto
attempt deep.pto
awk 'BEGIN { printf "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i]"; for (i = 0; i < 20000; i++) printf " + x[i]"; print "; }" }' >long.pto
attempt long.pto
awk 'BEGIN { for (i = 0; i < 100000; i++) print "/*" }' >comment.pto
attempt comment.pto
printf 'func.func @f(%%a: tensor<4xf32>) -> tensor<4xf32> {\n  return %%a : tensor<4xf32>\n}\n' >mlir.pto
attempt mlir.pto
says out.txt '[not-pto]'

# Every sample, cut at a few places and with single bytes replaced; in the slow builds with fewer of them.
places="11 37 59 83"
case $CONFIG in asan | tsan) places='23 59 83' ;; esac
for f in "$SOURCE"/samples/*.pto; do
    size=$(wc -c <"$f")
    for part in 3 6 9; do
        head -c $((size * part / 10)) "$f" >cut.pto
        attempt cut.pto
    done
    for place in $places; do
        at=$((size * place / 100))
        for byte in '(' ';' 0 '"'; do
            { head -c $at "$f"; printf '%s' "$byte"; tail -c +$((at + 2)) "$f"; } >changed.pto
            attempt changed.pto
        done
    done
done
echo "$tries inputs"
