# `ptoc check` passes on a good kernel with dimensions of one's own, and says what it did: never that nothing is equal.
. "$SOURCE/tests/cli/common"
exits 0 "$PTOC" check good.pto
exits 0 "$PTOC" check good.pto -k twice --dim N=17
exits 0 "$PTOC" check "$SOURCE/samples/heat.pto" --dim T=3 --dim H=7 --dim W=9
exits 2 "$PTOC" check good.pto -k nothing
exits 1 "$PTOC" check bad.pto

cat >sizes.pto <<'END'
kernel exact(x: f32[N]) -> (y: f32[N]) where N >= 5000 { y[i] = x[i]; }
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
says err.txt "kernel 'exact' is not checked: no sizes were found that it can be called with; with N = 13, \`N >= 5000\` does not hold (give sizes with --dim)"
nothing_equal
exits 1 "$PTOC" check sizes.pto -k exact --dim N=7
says err.txt "with N = 7, \`N >= 5000\` does not hold"
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

# One of several sizes that cannot be is named; the others count.
exits 0 "$PTOC" check sizes.pto -k exact --dim N=7 --dim N=5000
says err.txt "exact is not checked with N = 7: with N = 7, \`N >= 5000\` does not hold"
says out.txt "all equal"
