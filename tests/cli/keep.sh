# An intermediate can be asked for, whole or a box of it; elements that nothing defines are 0.
. "$SOURCE/tests/cli/common"
cat >steps.pto <<'END'
kernel steps(x: f32[N], T: int) -> (y: f32[N]) {
    u: f32[T+1, N];
    u[0, i] = x[i];
    u[t, i] = 0.5*u[t-1, i] where t in 1..T+1;
    s = sum(i) x[i];
    w: i32[-1..N, N];
    w[a, a] = 7 where a in 0..N;
    y[i] = u[T, i] + s*f32(w[i, i]);
}
END
# values FILE: the numbers in an .npy file of f32 or i32, in order.
values() {
    case $1 in *.f.npy) format=fF ;; *) format=d4 ;; esac
    start=$(od -An -tu2 -j8 -N2 "$1")
    od -An -v -t$format -j$((start + 10)) "$1" | tr -s ' \n' ' ' | sed 's/^ //; s/ $//'
}
for target in generic davinci; do
    exits 0 "$PTOC" run steps.pto 'x=iota(4)' T=2 --target=$target -o u=u.f.npy -o s=s.f.npy -o 'w[-1..2, 1..3]=w.i.npy'
    [ "$(values u.f.npy)" = "0 1 2 3 0 0.5 1 1.5 0 0.25 0.5 0.75" ] || die "u is $(values u.f.npy) on $target"
    [ "$(values s.f.npy)" = "6" ] || die "s is $(values s.f.npy) on $target"
    [ "$(values w.i.npy)" = "0 0 0 0 7 0" ] || die "the box of w is $(values w.i.npy) on $target"
done
exits 2 "$PTOC" run steps.pto 'x=iota(4)' T=2 -o q=q.npy
says err.txt "has no output or intermediate 'q'"
for box in '[0..3, 0..9]' '[1..0, 0..1]' '[0..1]' '[0..1, 0..1' '[a..b, 0..1]' '[-1..1, 0..1]' '[0..99999999999999999999, 0..1]'; do
    exits 1 "$PTOC" run steps.pto 'x=iota(4)' T=2 -o "u$box=u2.npy"
    says err.txt "a box is written [a..b, ...], within u of shape [3, 4]"
    [ ! -e u2.npy ] || die "a file is left of $box"
done
exits 0 "$PTOC" steps.pto -o steps.ptoir --emit-ir=tile
exits 2 "$PTOC" run steps.ptoir 'x=iota(4)' T=2 -o u=u.npy
