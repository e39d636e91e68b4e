# `ptoc check` passes on a good kernel with dimensions of one's own, and says what it did: never that nothing is equal.
. "$SOURCE/tests/cli/common"
exits 0 "$PTOC" check good.pto
exits 0 "$PTOC" check good.pto -k twice --dim N=17
exits 0 "$PTOC" check "$SOURCE/samples/heat.pto" --dim T=3 --dim H=7 --dim W=9
exits 2 "$PTOC" check good.pto -k nothing
exits 1 "$PTOC" check bad.pto

cat >sizes.pto <<'END'
kernel exact(x: f32[N]) -> (y: f32[N]) where N >= 2000000000 { y[i] = x[i]; }
kernel later(x: f32[N]) -> (y: f32[N]) where N >= 5000 { y[i] = x[i]; }
kernel product(a: f32[M, K], b: f32[K, N]) -> (c: f32[M, N]) { c[i, j] = sum(k) a[i, k]*b[k, j]; }
kernel large() -> (y: i32[3000000]) { y[i] = i; }
END

# What is asked for is checked whatever the effort, once at least, with the rest small.
exits 0 "$PTOC" check good.pto --dim N=100000 --effort=1
says out.txt "runs of twice: all equal"
exits 0 "$PTOC" check sizes.pto -k product --dim M=150 --dim K=150 --dim N=150 --effort=1
says err.txt "product with M = 150, K = 150, N = 150 is more work than the effort allows; one set of inputs is checked"
says out.txt "runs of product: all equal"
exits 0 "$PTOC" check sizes.pto -k product --dim K=3 --dim K=400000 --effort=1
says err.txt "product with M = 2, K = 400000, N = 2 is more work"
says out.txt "runs of product: all equal"
exits 0 "$PTOC" check sizes.pto -k large --effort=1
says err.txt "large with no dimensions is more work"
says out.txt "runs of large: all equal"

# Where nothing can be checked that is said, and is no success.
nothing_equal() { if grep -q "equal" out.txt; then die "says that nothing is equal: $(cat out.txt)"; fi; }
exits 1 "$PTOC" check sizes.pto -k exact
says err.txt "kernel 'exact' is not checked: no sizes were found that it can be called with; with N = 13, \`N >= 2000000000\` does not hold (give sizes with --dim)"
nothing_equal
exits 1 "$PTOC" check sizes.pto -k exact --dim N=7
says err.txt "with N = 7, \`N >= 2000000000\` does not hold"
nothing_equal
exits 1 "$PTOC" check good.pto --dim N=50000000000
says err.txt "\`x\` has a negative extent or more than 2^32 elements"
nothing_equal
exits 1 "$PTOC" check good.pto --dim N=2000000000
says err.txt "cannot be checked with N = 2000000000: the reference evaluator finds tensors too large to be held in memory"
nothing_equal
exits 1 "$PTOC" check good.pto x='ones(4)' --dim N=3
nothing_equal
exits 1 "$PTOC" check good.pto x='ones(3,4)'
nothing_equal

# A difference names the element, the equation and the tile. The C compiler gets something else than was emitted.
cat >tiles.pto <<'END'
kernel seven(x: f32[M, N]) -> (y: f32[M, N], z: f32[M]) {
    t[i, j] = if i == 70 && j == 40 then 7 else x[i, j];
    y[i, j] = 2*t[i, j];
    z[i] = y[i, 0] where N > 0;
    z[i] = 0 where otherwise;
}
schedule seven { tile y.i = 32, y.j = 16; parallel y.i, y.j; fuse t into y; parallel z.0 = none; parallel z.1 = none; }
kernel rows(u0: f32[N], T: int) -> (u: f32[T+1, N]) {
    u[0, i] = u0[i];
    u[t+1, i] = if t == 5 && i == 50 then 7 else u[t, i] + u[t, N-1-i];
}
schedule rows { tile u.1.i = 24; parallel u.1.i; }
kernel one(a: f32) -> (y: f32) { y = if a > 100 then a else 7; }
END
export RIGHT_CC="$CC"
cat >wrong-cc <<'END'
#!/bin/sh
for word; do case $word in *.c) sed 's/\<7\.0*f\?\>/8.0f/g' "$word" >"$word.new" && mv "$word.new" "$word" ;; esac; done
# shellcheck disable=SC2086
exec $RIGHT_CC "$@"
END
chmod +x wrong-cc
exits 0 "$PTOC" check tiles.pto --dim M=75 --dim N=50 -k seven
exits 1 env CC="$PWD/wrong-cc" "$PTOC" check tiles.pto --dim M=75 --dim N=50 -k seven
says err.txt "y[70, 40] is 16, but 14 by definition; equation y, in tile (2, 2) of 32 x 16 over i, j [check]"
says err.txt "tiles.pto:3:5: error"
says out.txt "DIFFERENT"
exits 1 env CC="$PWD/wrong-cc" "$PTOC" check tiles.pto --dim T=8 --dim N=60 -k rows
says err.txt "u[6, 50] is 8, but 7 by definition; equation u.1, in tile (2) of 24 over i [check]"
exits 1 env CC="$PWD/wrong-cc" "$PTOC" check tiles.pto -k one
says err.txt "y is 8, but 7 by definition; equation y [check]"

# Textual IR of both levels is checked against the equations in it; what was edited below them is found.
for level in task tile; do
    exits 0 "$PTOC" --emit-ir=$level tiles.pto -o tiles.ptoir
    exits 0 "$PTOC" check tiles.ptoir --effort=1
    says out.txt "runs of seven: all equal"
done
sed 's/\(map t: .*\) f32(7.0)/\1 f32(8.0)/' tiles.ptoir >edited.ptoir
exits 0 "$PTOC" check edited.ptoir --dim M=70 --dim N=50 -k seven
exits 1 "$PTOC" check edited.ptoir --dim M=75 --dim N=50 -k seven
says err.txt "y[70, 40] is 16, but 14 by definition; equation y [check]"

# One of several sizes that cannot be is named; the others count.
exits 0 "$PTOC" check sizes.pto -k later --dim N=7 --dim N=5000
says err.txt "later is not checked with N = 7: with N = 7, \`N >= 5000\` does not hold"
says out.txt "all equal"

# Sizes that stand in a relation are found by solving it.
cat >relations.pto <<'END'
kernel fifths(x: f32[A, B], M: int, K: int) -> (y: f32[M, K]) where 5*M == A, 5*K == B { y[i, j] = x[5*i, 5*j]; }
kernel thirds(x: f32[H], M: int) -> (y: f32[M]) where 3*M >= H, 3*M <= H+2, H >= 1 { y[i] = x[min(3*i, H-1)]; }
kernel chain(x: f32[A], B: int, C: int) -> (y: f32[A]) where A == 16*B, B == 2*C, C >= 3 { y[i] = x[i] + 1; }
END
exits 0 "$PTOC" check relations.pto --target=generic --effort=1
for kernel in fifths thirds chain; do
    runs=$(sed -n "s/^checked \([0-9]*\) runs of $kernel: all equal.*/\1/p" out.txt)
    [ "${runs:-0}" -ge 50 ] || { cat out.txt; die "few runs of $kernel"; }
done

# A part of a second, and numbers that are none.
case ${CONFIG:-release} in asan | tsan) PTOC=$BUILD/bin/ptoc ;; esac       # (the wrapper of those has an effort of its own)
exits 0 "$PTOC" check sizes.pto -k product --effort=0.05
less=$(sed -n 's/^checked \([0-9]*\) runs.*/\1/p' out.txt | head -n 1)
exits 0 "$PTOC" check sizes.pto -k product --effort=0.5
[ "$less" -lt "$(sed -n 's/^checked \([0-9]*\) runs.*/\1/p' out.txt | head -n 1)" ] || die "an effort of 0.05 is no less than one of 0.5"
for effort in 0 0.001 -1 nan inf 1e9 2x ''; do
    exits 2 "$PTOC" check good.pto --effort="$effort"
    says err.txt '--effort needs a number from 0.01 to 1000000'
done
