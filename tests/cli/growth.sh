# What compiling takes grows with the size of the source, whatever it asks: inputs of kinds that once multiplied out, each with a
# limit of processor time that is many times what it needs.
. "$SOURCE/tests/cli/common"

# repeat N FORMAT SEPARATOR: FORMAT with 0 to N-1 for each @, joined.
repeat() {
    i=0 text=
    while [ $i -lt "$1" ]; do
        text="$text${text:+$3}$(echo "$2" | sed "s/@+/$((i + 1))/g; s/@/$i/g")"
        i=$((i + 1))
    done
    echo "$text"
}

# compiles NAME [TARGET]: within five seconds of a processor.
compiles() {
    (ulimit -t 5 && exec "$PTOC" "$1.pto" -o "$1.c" "--target=${2:-generic}") >out.txt 2>err.txt || { cat err.txt; die "$1 for ${2:-generic}: status $?, or too slow"; }
}

otherwise='y[i, j] = 0 where otherwise; }'
head='kernel k(x: f32[N, M]) -> (y: f32[N, M]) { y[i, j] = x[i, j] where'
echo "$head $(repeat 48 'i == @ && j == @' ' || '); $otherwise" >alternatives.pto
echo "$head $(repeat 20 '(i < @ || j > @)' ' && '); $otherwise" >products.pto
echo "$head $(repeat 48 'i != 2*@' ', '); $otherwise" >holes.pto
echo "$head $(repeat 30 'i % (@ + 2) != 0' ', '); $otherwise" >remainders.pto
echo "kernel k(x0: f32[C0, H border zero, W border zero], $(repeat 48 'w@: f32[C@+, C@, 3, 3]' ', ')) -> (y: f32[C48, H, W]) {
    $(repeat 48 'x@+: f32[C@+, H border zero, W border zero]; x@+[o, i, j] = sum(c, u, v) x@[c, i+u-1, j+v-1]*w@[o, c, u, v];' '
    ')
    y[o, i, j] = x48[o, i, j]; }" >layers.pto
echo "kernel k($(repeat 24 'x@: f32[N@]' ', ')) -> ($(repeat 24 'y@: f32[N@]' ', ')) where $(repeat 24 '(N@ == 3 || N@ == 5)' ', ') {
    $(repeat 24 'y@[i] = x@[i];' ' ') }" >assumptions.pto
for name in alternatives products holes remainders layers assumptions; do
    compiles "$name"
done
compiles alternatives davinci

# With no budget at all, what is optional is left out, and said to be.
exits 0 "$PTOC" products.pto -o out.c --budget=1
says err.txt 'too expensive to find; loops around all of them test a condition [budget]'
