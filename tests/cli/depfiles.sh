# Depfiles as gcc writes them: names with blanks, `$` and `#` are escaped for Make, -MT and -MQ name targets, -MP adds
# rules for what might go away. Make itself is the judge.
. "$SOURCE/tests/cli/common"
exits 0 "$PTOC" good.pto -o good.c -MD
[ -s good.d ] || die "no good.d"
says good.d "good.c"
says good.d "good.pto"
exits 0 "$PTOC" good.pto -o good.c -MD -MF other.d -MT one.o -MT two.o
says other.d "one.o two.o:"
# shellcheck disable=SC2016
exits 0 "$PTOC" good.pto -o good.c -MD -MF quoted.d -MQ 'a$b c'
# shellcheck disable=SC2016
says quoted.d 'a$$b\ c:'
exits 0 "$PTOC" good.pto -o good.c -MD -MF phony.d -MP

# shellcheck disable=SC2016
dir='with blank and $dollar'
mkdir "$dir"
cp good.pto "$dir/it's #1.pto"
exits 0 "$PTOC" "$dir/it's #1.pto" -o "$dir/it.c" -MD -MF it.d -MT it.c
cat >Makefile <<'END'
it.c:
	touch it.c
include it.d
END
command -v make >/dev/null 2>&1 || { echo "make is not installed"; exit 77; }
make -s it.c
make -q it.c || die "not up to date after a build"
sleep 0.01
touch -d 'now + 1 hour' "$dir/it's #1.pto"
if make -q it.c; then die "Make does not see the dependence on a file with blanks and dollars"; fi
