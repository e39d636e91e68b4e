# `-` is standard input and output; @file holds arguments, quoted as for gcc.
. "$SOURCE/tests/cli/common"
"$PTOC" - -o - <good.pto >one.c || die "no compilation from stdin to stdout"
says one.c twice
exits 0 "$PTOC" good.pto -o -
says out.txt twice
printf '%s\n' "'good.pto'" '-o "with blank.c"' --target=generic >args
exits 0 "$PTOC" @args
[ -s "with blank.c" ] || die "@file: no output"
exits 2 "$PTOC" @no-such-file
if "$PTOC" - -o - <bad.pto >out.c 2>err.txt; then die "errors from stdin are not errors"; fi
[ ! -s out.c ] || die "a failed run wrote to stdout"
grep -Eq '^(<stdin>|-):2:' err.txt || { cat err.txt; die "no position in standard input"; }
