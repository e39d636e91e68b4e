# The cache of built kernels: what is damaged is made anew, what others may write to is not used, a full one is done without,
# and whatever ends a build leaves nothing.
. "$SOURCE/tests/cli/common"
mkdir cache tmp bin
export XDG_CACHE_HOME="$PWD/cache" TMPDIR="$PWD/tmp"
call() { exits 0 "$PTOC" run good.pto 'x=ones(3)'; }
entries() { ls cache/ptoc/*.so 2>/dev/null | wc -l; }
call
[ "$(entries)" = 1 ] || die "nothing is kept"
object=$(ls cache/ptoc/*.so)
cp -p "$object" whole
size=$(wc -c <whole)
for length in 0 1 100 4096 $((size / 2)) $((size - 1)); do
    head -c "$length" whole >"$object"
    call
    cmp -s "$object" whole || [ "$(wc -c <"$object")" -gt $((size / 2)) ] || die "an entry of $length bytes is left"
done
for at in 0 40 $((size / 2)) $((size - 30)); do
    cp whole "$object"
    head -c 16 /dev/zero | dd of="$object" bs=1 seek="$at" conv=notrunc 2>/dev/null
    printf '\377\376' | dd of="$object" bs=1 seek=$((at + 3)) conv=notrunc 2>/dev/null
    call
done
head -c "$size" /dev/zero >"$object"
call
[ "$(ls cache/ptoc | wc -l)" = 1 ] && [ -z "$(ls tmp)" ] || { ls -R cache tmp; die "files are left"; }

# It is used: another text is another entry, the same is not built again.
touch -d '1 hour ago' mark && touch -r mark "$object"
inode=$(ls -i "$object")
call
[ "$(ls -i "$object")" = "$inode" ] && [ "$object" -nt mark ] || die "a whole entry is built again"

# Others may write to it.
chmod 777 cache/ptoc
call
says err.txt "others may write to the cache"
chmod 700 cache/ptoc
chmod 666 "$object"
call
grep -q "others may" err.txt && die "a warning about a folder that is private"
[ "$(stat -c %a "$object")" != 666 ] || die "an entry that others may write to is trusted"

# Full: the work folder cannot be written (a compiler that says so there, and nowhere else).
rm -f cache/ptoc/*.so
cat >bin/full <<END
#!/bin/sh
case "\$*" in *$PWD/cache/*) echo "No space left on device" >&2; exit 1 ;; esac
exec "$CC" "\$@"
END
chmod +x bin/full
export CC="$PWD/bin/full"
call
[ "$(ls cache/ptoc | wc -l)" = 0 ] && [ -z "$(ls tmp)" ] || { ls -R cache tmp; die "a full cache leaves files"; }

# Interrupted.
cat >bin/slow <<'END'
#!/bin/sh
echo started >"$STARTED"
exec sleep 3
END
chmod +x bin/slow
export CC="$PWD/bin/slow" STARTED="$PWD/started"
for signal in TERM HUP; do
    rm -f started
    "$PTOC" run good.pto 'x=ones(3)' >out.txt 2>err.txt &
    pid=$!
    while [ ! -s started ]; do sleep 0.05; done
    kill -"$signal" "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null && die "it went on after SIG$signal"
    [ -z "$(ls cache/ptoc)$(ls tmp)" ] || { ls -R cache tmp; die "SIG$signal leaves files"; }
done
