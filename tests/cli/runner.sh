# The runner itself: limits are processor time, and it leaves nothing behind when it is interrupted.
. "$SOURCE/tests/cli/common"
run=$BUILD/tests/run/run

# Who computes for longer than allowed fails; who waits for longer does not.
exits 1 "$run" -b "$BUILD" -t 1 -x 'while :; do :; done' -x 'sleep 2.5'
says out.txt 'FAIL command/1 (too slow: '
says out.txt '1 passed, 1 failed, 0 skipped'
# The sum of many short processes counts as well.
exits 1 "$run" -b "$BUILD" -t 1 -x 'for k in 1 2 3; do (ulimit -t 1; while :; do :; done) || true; done'
says out.txt 'too slow: '
# Who waits for ever is ended in the end, and it is said why.
exits 1 "$run" -b "$BUILD" -w 1 -x 'sleep 1000'
says out.txt 'FAIL command/1 (hung: ended by the clock after '
exits 0 "$run" -b "$BUILD" -x 'echo the reason; exit 77' -x true
says out.txt 'SKIP command/1: the reason'
says out.txt '1 passed, 0 failed, 1 skipped'

# `^` leaves out.
"$run" -b "$BUILD" -l -x true -x false ^command/2 >out.txt
[ "$(cat out.txt)" = command/1 ] || die "left out: $(cat out.txt)"

# until_it CONDITION...: waits for it.
until_it() { while ! "$@"; do sleep 0.02; done; }
gone() { ! kill -0 "$1" 2>/dev/null; }

for signal in INT TERM HUP; do
    rm -f begun
    "$run" -b "$BUILD" -j 1 -x true -x "sleep 1000 & echo \$! >'$PWD/child'; mv '$PWD/child' '$PWD/begun'; wait" >out.txt 2>err.txt &
    runner=$!
    until_it test -s begun
    kill -$signal $runner
    code=0
    wait $runner || code=$?
    [ $code -gt 128 ] || die "SIG$signal: exit code $code"
    until_it gone "$(cat begun)"
    [ ! -e "$BUILD/tests/tmp/$runner" ] || die "SIG$signal: files are left"
    says out.txt 'interrupted by signal'
    says out.txt '1 passed, 0 failed, 0 skipped'
done
