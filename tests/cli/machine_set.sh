# --machine-set replaces numbers of a description for one run; accelerators, as far as they go; the manual's examples.
. "$SOURCE/tests/cli/common"

# ---- where it counts, and what it is ----
exits 0 "$PTOC" --machine-set=L1.size=16KiB,L3.size=1MiB good.pto -o good.c
says good.c 'for generic with L1.size=16KiB,L3.size=1MiB. Do not edit'
exits 0 "$PTOC" --machine-set L1.size=16KiB --machine-set=L2.size=1MiB --target=generic,x86-64-v3 good.pto -o good.c
says good.c 'for generic, x86-64-v3 with L1.size=16KiB,L2.size=1MiB'
exits 0 "$PTOC" run good.pto --machine-set=L1.size=16KiB "x=iota(3)"
exits 0 "$PTOC" check good.pto --effort=1 --machine-set=L1.size=16KiB
cat >tiled.pto <<'END'
kernel add(x: f32[M, N], y: f32[M, N]) -> (z: f32[M, N]) { z[i, j] = x[i, j] + y[i, j]; }
schedule add { tile i = 32, j = 32 in L1; }
END
exits 0 "$PTOC" tiled.pto --target=generic -o tiled.c
exits 1 "$PTOC" --machine-set=L1.size=1KiB tiled.pto -o tiled.c
says err.txt '[capacity]'

# ---- what is wrong with it ----
wrong() {
    exits 2 "$PTOC" "$@" good.pto -o no.c
    [ ! -e no.c ] || die "an output for numbers that are wrong"
}
wrong --machine-set=L1.sise=16KiB
says err.txt 'generic has no number `L1.sise`; did you mean `L1.size`?'
wrong --machine-set=L1.size=16KB
says err.txt '`L1.size=16KB`: a number with a unit (B, KiB, MiB, GiB) was expected'
wrong --machine-set=L1.size
says err.txt "needs NAME=VALUE, not 'L1.size'"
wrong --machine-set=
says err.txt '--machine-set needs NAME=VALUE'
wrong --target=davinci --machine-set=coers=4
says err.txt 'davinci has no number `coers`; did you mean `cores`?'
wrong --target=davinci --machine-set=cube.queue=0
says err.txt '`cube.queue=0`: it must be at least 1'
wrong --target=davinci --machine-set=clusters=4000
says err.txt 'more than 4096 cores'
exits 2 "$PTOC" run good.pto "x=iota(3)" --machine-set=cores=4
says err.txt 'native has no number `cores`'
exits 2 "$PTOC" check good.pto --machine-set=cores=4
exits 2 "$PTOC" info --machine-set=cores=4

# ---- accelerators ----
for target in davinci ascend910b kirin9030; do
    exits 0 "$PTOC" --target=$target good.pto -o good.c
    exits 1 "$PTOC" --target=generic,$target good.pto -o no.c
    says err.txt "\`$target\` cannot be one of several"
done
exits 0 "$PTOC" run good.pto --target=davinci "x=iota(3)"
says out.txt 'cycles'
exits 0 "$PTOC" --target=davinci --machine-set=cores=4,DDR.L1.width=2,L1.size=128KiB,dispatch=0 good.pto -o good.c
grep -q 'cores = 4' good.c || die "the emitted machine has other numbers"
exits 0 "$PTOC" --print-targets
says out.txt davinci
[ ! -s err.txt ] || die "a description that comes with the compiler is wrong"

# ---- the manual's examples ----
mkdir -p prefix/bin prefix/share/pto/targets
cp "$BUILD/bin/ptoc" prefix/bin/ptoc
for name in davinci x86_64_v3; do
    sed -n "/^machine $name /,/^}/p" "$SOURCE/man/machine.5" >prefix/share/pto/targets/$name.pto
done
exits 0 prefix/bin/ptoc --target=davinci good.pto -o good.c
exits 0 prefix/bin/ptoc --target=x86_64_v3 good.pto -o good.c
