# Text of the tile level is input: with any number or name in it replaced, it is refused with a word of why, or runs to an end or
# a fault, and touches nothing but its own. Here most of the changed texts are compiled alone, and some of those that are taken
# run; with sanitizers, which see what the kernels do, and in the long tests there are more.
. "$SOURCE/tests/cli/common"
texts=60 runs=3
case $CONFIG in asan) texts=150 runs=12 ;; esac
[ -z "${PTO_LONG:-}" ] || { texts=600 runs=60; }
texts=${PTO_TEXTS:-$texts} runs=${PTO_TEXT_RUNS:-$runs}

cat >k.pto <<'END'
kernel k(x: f32[N border clamp], p: i32[N]) -> (y: f32[N], h: i32[16]) {
    s = sum(i) x[i];
    t[i] = x[i] - s;
    y[i] = t[i] + x[i-1];
    h[b] = sum(i where p[i] == b) 1;
}
END
cat >w.pto <<'END'
kernel w(x: f32[N border clamp], p: i32[N]) -> (y: f32[N], h: i32[16]) {
    u: f32[4, N border zero];
    u[0, i] = x[i-2];
    u[t, i] = u[t-1, i] + u[t-1, i+1] where t in 1..4;
    y[i] = u[3, i];
    h[b] = b;
}
schedule w { tile u.1.i = 8, y.i = 8; }
END
for kernel in k w; do exits 0 "$PTOC" --emit-ir=tile --target=generic $kernel.pto -o $kernel.ptoir; done

# mutate FILE COUNT: FILE.1 ... FILE.COUNT, each with one number or name replaced by one out of a hat, or by another one of the text.
mutate() {
    awk -v n="$2" -v name="$1" '
        BEGIN { hats = split("0 1 2 3 5 -1 7 8 64 1000 100000000 2147483647 4294967296 1152921504606846976 4611686018427387904 9223372036854775807", hat, " "); srand(7) }
        { text = text $0 "\n" }
        END {
            for (rest = text; match(rest, /[A-Za-z_][A-Za-z0-9_.]*|[0-9]+/); rest = substr(rest, RSTART + RLENGTH)) {
                before[++words] = substr(rest, 1, RSTART - 1)
                word[words] = substr(rest, RSTART, RLENGTH)
            }
            for (k = 1; k <= n; k++) {
                at = 1 + int(rand() * words)
                put = word[at] ~ /^[0-9]/ && rand() < 0.7 ? hat[1 + int(rand() * hats)] : word[1 + int(rand() * words)]
                for (w = 1; w <= words; w++)
                    printf "%s%s", before[w], w == at ? put : word[w] >(name "." k)
                printf "%s", rest >(name "." k)
                close(name "." k)
            }
        }' "$1"
}

taken=0 refused=0 ran=0
attempt() {
    code=0
    (ulimit -t "$limit" && exec "$@") >out.txt 2>err.txt || code=$?
    [ $code -le 1 ] && { [ $code = 0 ] || [ -s err.txt ]; } && return 0
    echo "exit code $code: $*"
    head -n 20 err.txt
    cat changed.ptoir
    exit 1
}
for kernel in k w; do
    most=$((ran + runs))
    mutate $kernel.ptoir "$texts"
    for i in $(seq 1 "$texts"); do
        mv $kernel.ptoir."$i" changed.ptoir
        limit=20
        attempt "$PTOC" --target=generic changed.ptoir -o changed.c
        if [ $code = 1 ]; then
            refused=$((refused + 1))
            continue
        fi
        taken=$((taken + 1))
        [ $((taken % 4)) = 0 ] && [ $ran -lt "$most" ] || continue
        ran=$((ran + 1))
        attempt "$PTOC" run --target=generic --mode=serial changed.ptoir 'x=iota(20)' 'p=iota(20)'
    done
done
echo "$refused refused, $taken taken, $ran run"
[ $refused -gt $((texts / 4)) ] && [ $taken -gt $((texts / 8)) ] && [ $ran -gt 0 ]
