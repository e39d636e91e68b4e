# How messages look: text as of gcc, JSON that a program reads, colour on request; warnings can be made errors.
. "$SOURCE/tests/cli/common"
exits 1 "$PTOC" bad.pto -o bad.c
grep -Eq '^bad\.pto:2:[0-9]+: error: .*\[bounds\]$' err.txt || { cat err.txt; die "not in gcc's form"; }
says err.txt '^'
[ "$(grep -c ': error: ' err.txt)" -ge 2 ] || die "the second error is not reported"
exits 1 "$PTOC" bad.pto -o bad.c -fdiagnostics-color=always
grep -q "$(printf '\033')" err.txt || die "no colour"
exits 1 "$PTOC" bad.pto -o bad.c -fdiagnostics-color=never
if grep -q "$(printf '\033')" err.txt; then die "colour where none was wanted"; fi

exits 1 "$PTOC" bad.pto -o bad.c -fdiagnostics-format=json
[ "$(wc -l <err.txt)" = 1 ] || die "JSON is not one line"
says err.txt '"kind"'
says err.txt bounds
if command -v python3 >/dev/null 2>&1; then
    python3 -c 'import json, sys
found = json.load(open("err.txt"))
assert any(d["option"].endswith("bounds") and d["kind"] == "error" and d["locations"][0]["caret"]["line"] == 2 for d in found), found'
fi

cat >warn.pto <<'END'
kernel warns(x: f32[N], unused: f32[N]) -> (y: f32[N]) { y[i] = x[i]; }
END
exits 0 "$PTOC" warn.pto -o warn.c
says err.txt '[unused]'
exits 0 "$PTOC" warn.pto -o warn.c -Wno-unused
[ ! -s err.txt ] || die "-Wno-unused does not silence"
exits 1 "$PTOC" warn.pto -o warn2.c -Werror
exits 1 "$PTOC" warn.pto -o warn2.c -Werror=unused
[ ! -e warn2.c ] || die "-Werror left an output"
exits 0 "$PTOC" warn.pto -o warn.c -Werror -Wno-error=unused
