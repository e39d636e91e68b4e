# A program of bundles is input, too: whatever number in it is changed, it is refused, ends with a fault, or runs; it does
# not touch what is not its own, and it ends.
. "$SOURCE/tests/cli/common"

# The outcome is an exit code of the manual, in a few seconds of a processor.
attempt() {
    code=0
    (ulimit -t 60 && exec "$PTOC" run "$@" --max-cycles=1000000) >out.txt 2>err.txt || code=$?
    [ $code -le 1 ] || { echo "exit code $code: $*"; head -n 5 err.txt; cat "$1"; exit 1; }
}

# faults TEXT SED: the text so changed ends with that fault.
faults() {
    sed "$2" scale.ptob >changed.ptob
    cmp -s scale.ptob changed.ptob && die "$2 changes nothing"
    attempt changed.ptob 'x=iota(100)'
    says err.txt "$1"
}

cat >scale.pto <<'END'
kernel scale(x: f32[N]) -> (y: f32[N]) { y[i] = 2*x[i] + 1; }
END
exits 0 "$PTOC" --target=davinci --emit-bundles scale.pto -o scale.ptob
faults 'operand 0 is outside of its box' '/box i_lo/s/, [0-9]*,/, 4096,/; /box i_lo/s/, cut(0, N)//'
faults 'more than 1000000 cycles' '/box i_lo/s/, [0-9]*,/, 4294967296,/; /box i_lo/s/, cut(0, N)//'
faults 'operand 1 is outside of its box' '/map y/s/x\[i\]/x[i + 1000]/'
faults 'operand 1 is outside of its box' '/map y/s/x\[i\]/x[-1000*i]/'
faults 'does not fit 64 bits' '/map y/s/x\[i\]/x[i*4611686018427387904]/'
faults 'a loop in a nest runs over the bounds' 's/for i in i_lo\.\.i_hi/for i in 0..1152921504606846976/'
faults 'more than 1000000 cycles' '/nest y/s/cost([0-9]*)/cost(1000000000)/'
faults 'range' '/write y on DDR/s/at(/at(1099511627776 + /'
faults 'layout' '/write y on DDR/s/stride(4)/stride(0)/'
faults 'tensor' '/read x_L0/s/x_L0/x_L0: of(y)/; s/of(y):/of(y),/; s/x\[i\] + f32(1.0);/y[i] + f32(1.0);/; /equation/s/y\[i\] + f32/x[i] + f32/'
faults 'is' 's/need L1([0-9]*)/need L1(4611686018427387904)/'

# A loop in which nothing ends, of bundles and of the scalar unit.
"$PTOC" --emit-ir=tile scale.pto | sed 's/for i in i_lo\.\.i_hi/for i in i_lo..1152921504606846976/; s/y\[i\] =\(.*\)x\[i\]/y[mod(i, N)] =\1x[mod(i, N)]/' >scalar.ptoir
code=0
"$PTOC" run --target=davinci --max-cycles=1000000 scalar.ptoir 'x=iota(100)' >out.txt 2>err.txt || code=$?
[ $code = 1 ] || die "a task without an end ends with $code"

# Numbers out of a hat in the place of others.
mutate() {
    awk -v seed="$2" 'BEGIN { n = split("0 1 2 3 -1 7 63 64 65 127 4096 65536 2147483647 4294967296 1152921504606846976 9223372036854775807", hat, " "); srand(seed) }
        { text = text $0 "\n" }
        END {
            count = gsub(/[0-9]+/, "&", text); wanted = 1 + int(rand() * count); put = hat[1 + int(rand() * n)]; rest = text; k = 0
            while (match(rest, /[0-9]+/)) {
                k++
                printf "%s%s", substr(rest, 1, RSTART - 1), k == wanted ? put : substr(rest, RSTART, RLENGTH)
                rest = substr(rest, RSTART + RLENGTH)
            }
            printf "%s", rest
        }' "$1"
}
cat >several.pto <<'END'
kernel several(a: f16[M, K], b: f16[K, N]) -> (c: f32[M, N]) { c[i, j] = max(sum(k) f32(a[i, k])*f32(b[k, j]), 0); }
END
exits 0 "$PTOC" --target=davinci --emit-bundles several.pto -o several.ptob
for seed in $(seq 1 "${PTO_HOSTILE:-12}"); do
    mutate several.ptob "$seed" >changed.ptob
    attempt changed.ptob 'a=random(40,70)' 'b=random(70,50)'
done
