# Notes in the text of bundles: they name lines, intervals and addresses, change nothing that is read back, and the short form
# has a line for each bundle.
. "$SOURCE/tests/cli/common"
cat >mm.pto <<'END'
kernel mm(a: f16[64, 64], b: f16[64, 64]) -> (c: f32[64, 64]) {
    c[i, j] = sum(k) a[i, k] * b[k, j];
}
END
exits 0 "$PTOC" mm.pto --target=davinci --emit-bundles -o plain.ptob
exits 0 "$PTOC" mm.pto --target=davinci --emit-bundles=notes -o notes.ptob
if grep -q '^ *//' plain.ptob; then die "notes that nobody asked for"; fi
sed '/^ *\/\/ /d' notes.ptob | cmp - plain.ptob || die "notes are not all that differs"
exits 0 "$PTOC" notes.ptob --emit-bundles -o again.ptob
cmp again.ptob plain.ptob || die "notes do not read back"
exits 0 "$PTOC" check --effort=1 notes.ptob

# Each note is true: as many bundles as there are, in each the line of the equation, buffers where the text has them.
bundles=$(grep -c 'bundle: ' plain.ptob)
[ "$(grep -c '// mm.pto:2$' notes.ptob)" = "$bundles" ] || die "not $bundles lines of the source"
grep -q '// [0-9]* bundles with [0-9]* operations; an iteration each [0-9]* cycles at best, for cube: cube 100 %, load' notes.ptob || die "no interval"
sed -n 's/^ *buffer \([a-zA-Z0-9_]*\) on .*at(\([0-9]*\)).*/\1 \2/p' plain.ptob | while read -r name address; do
    grep -q "//   $address\.\.[0-9]* *$name\(,.*\)*$" notes.ptob || die "$name is not at $address in the map"
done

exits 0 "$PTOC" mm.pto --target=davinci --emit-bundles=short
[ "$(grep -c '^ *bundle [0-9]*: .*(mm.pto:2);$' out.txt)" = "$bundles" ] || die "the short form has not $bundles lines"
says out.txt 'cube multiply c_'
[ "$(wc -l <out.txt)" -lt "$(($(wc -l <plain.ptob) / 2))" ] || die "the short form is long"
exits 2 "$PTOC" mm.pto --target=davinci --emit-bundles=long
says err.txt 'notes short'
