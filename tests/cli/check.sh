# `ptoc check` passes on a good kernel with dimensions of one's own, and says what it did.
. "$SOURCE/tests/cli/common"
exits 0 "$PTOC" check good.pto
exits 0 "$PTOC" check good.pto -k twice --dim N=17
exits 0 "$PTOC" check "$SOURCE/samples/heat.pto" --dim T=3 --dim H=7 --dim W=9
exits 2 "$PTOC" check good.pto -k nothing
exits 1 "$PTOC" check bad.pto
