# Every tile size from 1 to 70 compiles and computes the same, whatever the extent: tails of tiles and of vectors.
. "$SOURCE/tests/cli/common"
awk 'BEGIN {
    for (t = 1; t <= 70; t++) {
        printf "kernel iota%d(N: int) -> (out: i32[N]) { out[i] = 3*i; }\n", t
        printf "schedule iota%d { tile i = %d; }\n", t, t
    }
}' >tiles.pto
exits 0 "$PTOC" tiles.pto -o tiles.c --target=generic
exits 0 "$PTOC" check tiles.pto --effort=1 --dim N=0 --dim N=1 --dim N=16 --dim N=70 --dim N=101
