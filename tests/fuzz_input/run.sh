# What the compiler reads, changed by AFL++: kernels, IR, bundles that are compiled and run, arrays, machine descriptions. For
# `make fuzz-input`; from the source folder, with PTOC the compiler built by AFL++ with sanitizers, PLAIN one that makes the seeds,
# WORK a folder, SECONDS_EACH, and AFL_FLAGS for afl-fuzz. Arguments: which of pto davinci ptoir ptob npy machine; all without any.
#
# A crash is a finding, and so are exit code 70 and more than 5 seconds (of a C compiler as well, 20). They are kept in
# WORK/NAME/default/crashes and hangs, counted on a line for each, and make the exit code 1. Seeds are the samples and small
# tests; the dictionary is made from the grammar.
set -eu
export AFL_CRASH_EXITCODE=70 AFL_SKIP_CPUFREQ=1 AFL_NO_AFFINITY=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_UI=1 AFL_QUIET=1 OMP_WAIT_POLICY=passive
export TMPDIR="$WORK" XDG_CACHE_HOME="$WORK/cache" OMP_NUM_THREADS=1
mkdir -p "$WORK" "$WORK/cache"
failed=0

# Words of the grammar: what stands in quotes there.
{
    grep -oE '"[][a-zA-Z0-9_<>=&|.!+*/%:;,(){}-]+"' grammar/lexer.re
    printf '"%s"\n' f64 f32 bf16 f16 i64 i32 i8 u64 u8 bool sum max scan argmax border clamp wrap reflect zero const tile parallel layout floordiv mod \
        9223372036854775807 9223372036854775808 -1
} | sort -u >"$WORK/words.dict"

small() { [ "$(wc -c <"$1")" -le "$2" ]; }

seeds_pto() {
    for f in samples/*.pto tests/golden/*/*.pto; do
        ! small "$f" 1200 || cp "$f" "$1/$(echo "$f" | tr / _)"
    done
}

seeds_ptoir() {
    for f in samples/*.pto; do
        sample=$1/$(basename "$f" .pto)
        for level in task tile; do "$PLAIN" --emit-ir=$level "$f" -o "$sample-$level.ptoir"; done
        "$PLAIN" --emit-ir=move --target=davinci "$f" -o "$sample-move.ptoir"
    done
    for f in "$1"/*; do small "$f" 20000 || rm "$f"; done
}

# Of one signature, so that one command runs them all.
seeds_ptob() {
    n=0
    while read -r body; do
        n=$((n + 1))
        printf 'kernel k(x: f16[M, K], w: f16[K, N]) -> (y: f32[M, N]) { %s }\n' "$body" >"$WORK/make.pto"
        "$PLAIN" --emit-bundles --target=davinci "$WORK/make.pto" -o "$1/$n.ptob"
    done <<END
y[i, j] = sum(k) f32(x[i, k])*f32(w[k, j]);
y[i, j] = max(sum(k) f32(x[i, k])*f32(w[k, j]), 0) + 1;
y[i, j] = f32(x[i, 0])*f32(w[0, j]) where K >= 1; y[i, j] = 0 where K < 1;
s[i] = sum(k) f32(x[i, k]); y[i, j] = s[i] + f32(w[0, j]) where K >= 1; y[i, j] = 0 where K < 1;
s[k, j] = if k >= 1 then f32(w[k-1, j]) else 0; y[i, j] = sum(k) s[k, j];
y[i, j] = scan(+, j) max(k) f32(w[k, j]);
END
}

seeds_npy() {
    for type in f64 f32 f16 i64 i32 u8 bool; do
        printf 'kernel k(N: int) -> (y: %s[N]) { y[i] = %s(mod(i, 2)); }\n' $type $type >"$WORK/make.pto"
        "$PLAIN" run "$WORK/make.pto" N=3 -o "y=$1/$type.npy" >/dev/null 2>&1
    done
}

# fuzz NAME MILLISECONDS [OPTION...] -- COMMAND...
fuzz() {
    name=$1 limit=$2
    shift 2
    rm -rf "${WORK:?}/$name"
    # shellcheck disable=SC2086  # flags are words
    afl-fuzz -i "$WORK/seeds-$name" -o "$WORK/$name" -V "$SECONDS_EACH" -t "$limit" -m none ${AFL_FLAGS-} "$@" >"$WORK/$name.log" 2>&1 ||
        { tail -n 20 "$WORK/$name.log"; echo "$name: afl-fuzz failed"; failed=1; return 0; }
    runs=$(sed -n 's/^execs_done *: *//p' "$WORK/$name/default/fuzzer_stats")
    crashes=$(find "$WORK/$name/default/crashes" -name 'id*' | wc -l) hangs=$(find "$WORK/$name/default/hangs" -name 'id*' | wc -l)
    echo "$name: ${runs:-no} runs, $crashes crashes, $hangs over the time, in $WORK/$name/default"
    [ "${runs:-0}" -gt 0 ] || failed=1
    [ "$crashes" = 0 ] && [ "$hangs" = 0 ] || failed=1
}

[ $# -gt 0 ] || set -- pto davinci ptoir ptob npy machine
for name; do
    rm -rf "${WORK:?}/seeds-$name"
    mkdir -p "$WORK/seeds-$name"
    case $name in
    pto | davinci)
        seeds_pto "$WORK/seeds-$name"
        target=generic
        [ $name = pto ] || target=davinci
        fuzz $name 5000 -x "$WORK/words.dict" -- "$PTOC" --target=$target @@ -o /dev/null
        ;;
    ptoir)
        seeds_ptoir "$WORK/seeds-$name"
        fuzz $name 5000 -x "$WORK/words.dict" -f "$WORK/input.ptoir" -- "$PTOC" "$WORK/input.ptoir" -o /dev/null
        ;;
    ptob)
        seeds_ptob "$WORK/seeds-$name"
        CC="clang -O0 -fsanitize=address"             # like the compiler itself
        export CC
        fuzz $name 20000 -x "$WORK/words.dict" -f "$WORK/input.ptob" -- "$PTOC" run "$WORK/input.ptob" 'x=random(20,30)' 'w=random(30,40)' --max-cycles=1000000
        ;;
    npy)
        seeds_npy "$WORK/seeds-$name"
        printf 'kernel k(x: f64[N]) -> (y: f64[N]) { y[i] = 2*x[i]; }\n' >"$WORK/read.pto"
        fuzz $name 5000 -f "$WORK/input.npy" -- "$PTOC" run "$WORK/read.pto" "x=$WORK/input.npy" -o y=/dev/null
        ;;
    machine)
        # A machine is found by its name beside the others.
        for f in targets/*.pto; do ! small "$f" 8000 || cp "$f" "$WORK/seeds-$name/"; done
        places=$(dirname "$PTOC")/../share/pto
        rm -rf "$places/targets"
        cp -r targets "$places/targets"
        fuzz $name 5000 -x "$WORK/words.dict" -f "$places/targets/fuzzed.pto" -- "$PTOC" --target=fuzzed samples/gray.pto -o /dev/null
        ;;
    *) echo "unknown: $name"; exit 2 ;;
    esac
done
exit $failed
