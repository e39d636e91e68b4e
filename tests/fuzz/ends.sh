# The fuzzer goes on after a failure and counts it, keeps and shrinks the program, and prints its counts when it is interrupted.
set -eu
fuzz=$BUILD/tests/fuzz/fuzz
die() { echo "$*"; cat out.txt; exit 1; }

# A compiler that takes every program but those with a `max`.
cat >ptoc <<'END'
#!/bin/sh
for word; do case $word in *.pto) file=$word ;; esac; done
if [ "$1" = check ] && grep -q max "$file"; then echo "ptoc: error: a max in it"; exit 1; fi
if [ "$1" = check ] && [ -e ../slow ]; then sleep 1000; fi
for word; do [ "$last" != -o ] || : >"$word"; last=$word; done
END
sed -i '1a last=' ptoc
chmod +x ptoc
export PTOC="$PWD/ptoc"
code=0
"$fuzz" -s 3 -n 48 -k 12 -j 2 -o . >out.txt 2>&1 || code=$?
[ $code = 1 ] || die "exit code $code after failures"
awk '/passed/ { exit !($1 + $3 + $5 == 48 && $3 > 0 && $1 > 0) }' out.txt || die "the counts are not of 48 programs, some of which fail"
set -- failure-*.pto
[ -e "$1" ] || die "no failure is kept"
[ "$(wc -l <"$1")" -le 8 ] || die "$1 is not shrunk: $(cat "$1")"
ls -d work-* 2>/dev/null && die "folders are left"
"$fuzz" -s 3 -n 48 -k 12 -j 1 -o . >again.txt 2>&1 || true
[ "$(tail -n 1 out.txt)" = "$(tail -n 1 again.txt)" ] || die "other counts with one job"

: >slow
for signal in INT TERM HUP; do
    "$fuzz" -s 3 -j 2 -o . >out.txt 2>&1 &
    pid=$!
    while ! ls work-*/log.txt >/dev/null 2>&1; do sleep 0.05; done
    kill -$signal $pid
    code=0
    wait $pid || code=$?
    [ $code -gt 128 ] || die "SIG$signal: exit code $code"
    grep -q '^[0-9]* passed, [0-9]* failed, [0-9]* skipped$' out.txt || die "SIG$signal: no counts"
    ls -d work-* 2>/dev/null && die "SIG$signal: folders are left"
    true
done
