# Output appears whole or not at all: a failed run leaves nothing behind and what was there untouched.
. "$SOURCE/tests/cli/common"
exits 0 "$PTOC" good.pto -o good.c
[ -s good.c ] && [ -s good.h ] || die "no good.c or good.h"
mkdir include
exits 0 "$PTOC" good.pto -o two.c --header=include/two.h
[ -s include/two.h ] && [ ! -e two.h ] || die "--header does not place the header"
"$CC" -I"$BUILD/include" -Iinclude -I. -c two.c -o two.o || die "two.c does not find its header"

echo old >bad.c
echo old >bad.h
exits 1 "$PTOC" bad.pto -o bad.c -MD -MF bad.d
[ "$(cat bad.c)" = old ] && [ "$(cat bad.h)" = old ] || die "a failed run changed its output"
[ ! -e bad.d ] || die "a failed run left a depfile"
exits 1 "$PTOC" good.pto -o no/such/folder/x.c
mkdir readonly
find . ! -name '*.txt' | sort >before.txt
exits 1 "$PTOC" good.pto -o readonly          # a folder is not a file
find . ! -name '*.txt' | sort | diff before.txt - || die "something was left behind"

# Names of files, and what stands in comments, stay what they are: C goes on in the next line.
mkdir 'q"x\'
printf 'kernel odd(x: f32[M], z: f32[M]) -> (y: f32[M]) {\n    y[i] = x[i] // a \\\n      + z[i]; // b ??/\n}\n' >'q"x\/a"b\.pto'
for target in generic davinci; do
    for g in '' -g; do
        # shellcheck disable=SC2086
        exits 0 "$PTOC" 'q"x\/a"b\.pto' --target=$target $g -o odd.c
        "$CC" -std=c11 -Wall -Werror -I"$BUILD/include" -I. -c odd.c -o odd.o || die "odd names break the C ($target $g)"
    done
    exits 0 "$PTOC" check --effort=1 'q"x\/a"b\.pto' --target=$target
done
exits 2 "$PTOC" good.pto -o 'a"b.c'
says err.txt 'no #include can name the header'
exits 0 "$PTOC" good.pto -o 'a"b.c' --header=good.h

# An output that does not change keeps its content bit for bit, from any folder and any number of times.
mkdir -p elsewhere/deep
cp good.pto elsewhere/deep/
(cd elsewhere/deep && "$PTOC" good.pto -o good.c)
cmp good.c elsewhere/deep/good.c || die "the output depends on the folder"
for sample in relu_cumsum heat; do
    "$PTOC" "$SOURCE/samples/$sample.pto" --target=generic -o 1.c && cp 1.c first.c && "$PTOC" "$SOURCE/samples/$sample.pto" --target=generic -o 1.c && cmp 1.c first.c
done
if grep -n "$SOURCE" 1.c; then die "a path of the machine is in the output"; fi
