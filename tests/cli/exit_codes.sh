# 0: done; 1: the user's errors; 2: wrong usage. Messages go to stderr, what was asked for to stdout.
. "$SOURCE/tests/cli/common"
exits 0 "$PTOC" good.pto -o good.c
[ ! -s out.txt ] && [ ! -s err.txt ] || die "a good run is not silent"
exits 1 "$PTOC" bad.pto -o bad.c
[ ! -s out.txt ] || die "errors on stdout"
says err.txt "bad.pto:2:"
exits 1 "$PTOC" absent.pto -o absent.c
says err.txt absent.pto
exits 2 "$PTOC"
exits 2 "$PTOC" --no-such-option good.pto
says err.txt no-such-option
exits 2 "$PTOC" good.pto -o
exits 2 "$PTOC" good.pto -o out.c -I .
says err.txt "-I .: \`import\` is not built yet"
exits 2 "$PTOC" good.pto -o out.c --target=no-such-target
says err.txt no-such-target
exits 2 "$PTOC" good.pto -Wno-such-warning -o out.c
exits 0 "$PTOC" --help
says out.txt --target
exits 0 "$PTOC" --version
says out.txt ptoc
exits 0 "$PTOC" --print-targets
says out.txt generic
says out.txt x86-64-v3
says out.txt x86-64-v4
says out.txt arm64-neon
exits 0 "$PTOC" info
