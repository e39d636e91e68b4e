# Machine descriptions are data: a new file in targets/ is a new target, a wrong one is an error that says where.
. "$SOURCE/tests/cli/common"
mkdir -p prefix/bin prefix/share/pto/targets
cp "$BUILD/bin/ptoc" prefix/bin/ptoc
cp -r "$BUILD/include/" prefix/include
cp "$SOURCE"/targets/*.pto prefix/share/pto/targets/
sed 's/machine generic/machine mine/; s/32 KiB/48 KiB/' "$SOURCE/targets/generic.pto" >prefix/share/pto/targets/mine.pto
exits 0 prefix/bin/ptoc --print-targets
says out.txt mine
exits 0 prefix/bin/ptoc --target=mine good.pto -o good.c

echo 'machine broken { memory L1 { size = banana; } }' >prefix/share/pto/targets/broken.pto
exits 1 prefix/bin/ptoc --target=broken good.pto -o broken.c
says err.txt '[machine]'
[ ! -e broken.c ] || die "an output for a machine that is wrong"

# What a description needs of a processor decides whether its code can run here; one that cannot be read is not native.
sed 's/machine generic/machine other/; s/isa = "generic";/isa = "other"; architecture = "other";/' "$SOURCE/targets/generic.pto" \
    >prefix/share/pto/targets/other.pto
echo 'machine unreadable {' >prefix/share/pto/targets/unreadable.pto
exits 0 prefix/bin/ptoc --target=other good.pto -o other.c
exits 1 prefix/bin/ptoc check good.pto --target=other
says err.txt 'cannot run code for other'
exits 0 prefix/bin/ptoc --target=native good.pto -o native.c
[ ! -s err.txt ] || die "native complains of machines that it does not choose"
exits 0 prefix/bin/ptoc check good.pto --effort=1
