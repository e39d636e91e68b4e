# Schedules from files of their own: they hold as if they stood in the source, take the place of what is there, and are
# told from other words; messages name the right file.
. "$SOURCE/tests/cli/common"
cat >two.pto <<'END'
kernel twice(x: f32[N]) -> (y: f32[N]) { y[i] = 2*x[i]; }
kernel total(x: f32[M, N]) -> (s: f32[M]) { s[i] = sum(j) x[i, j]; }
schedule twice { tile i = 4096; }
schedule total on generic { tile i = 8; }
END

# What was chosen, given back, is the same C: without the schedules of the source, with them, and with worse ones between.
sed '/^schedule/d' two.pto >bare.pto
exits 0 "$PTOC" two.pto --target=generic -o one.c --header=two.h
exits 0 "$PTOC" two.pto --target=generic --emit-schedule -o tuned.pto
echo 'schedule twice { tile i = 64; } schedule total on cpu { tile i = 3; }' >worse.pto
for files in "bare.pto tuned.pto" "two.pto tuned.pto" "two.pto worse.pto tuned.pto"; do
    # shellcheck disable=SC2086
    exits 0 "$PTOC" $files --target=generic -o again.c --header=two.h
    sed 's/bare\.pto/two.pto/' again.c | cmp -s one.c - || die "$files: other C"
done

# The last file that schedules a kernel for the machine holds, alone; others stay as they are.
echo 'schedule twice on generic { tile i = 128; } schedule total on davinci { tile i = 16; }' >mine.pto
exits 0 "$PTOC" two.pto mine.pto --target=generic --emit-schedule
says out.txt 'tile i = 128;'
says out.txt 'tile i = 8'
exits 0 "$PTOC" two.pto mine.pto --target=generic --explain
says err.txt 'The schedule at two.pto:3 gives way to that at mine.pto:1.'
if grep -q 'at two.pto:4' err.txt; then die "a schedule for another machine took a place"; fi
exits 0 "$PTOC" two.pto - --target=generic --emit-schedule <mine.pto
says out.txt 'tile i = 128;'

# What remains as text is what holds.
exits 0 "$PTOC" two.pto mine.pto --target=generic --emit-ir -o two.ptoir
exits 0 "$PTOC" two.ptoir --target=generic --emit-schedule
says out.txt 'tile i = 128;'

# Commands take them among their values; the depfile lists them.
exits 0 "$PTOC" run two.pto -k twice mine.pto 'x=ones(3)' -o y=y.npy
exits 0 "$PTOC" check two.pto mine.pto -k twice --effort=1
exits 0 "$PTOC" two.pto mine.pto -o two.c -MD -MP
says two.d 'two.pto mine.pto'
says two.d 'mine.pto:'

# Mistakes, in the right file.
printf '\nschedule twise { tile i = 4; }\n' >wrong.pto
exits 1 "$PTOC" two.pto wrong.pto -o wrong.c
says err.txt 'wrong.pto:2:10'
says err.txt 'did you mean `twice`?'
echo 'schedule twice { tile q = 4; }' >wrong.pto
exits 1 "$PTOC" run two.pto mine.pto wrong.pto -k twice 'x=ones(3)'
says err.txt 'wrong.pto:1:'
exits 1 "$PTOC" two.pto good.pto wrong.pto -o wrong.c
says err.txt 'good.pto:1:8'
says err.txt 'kernels come from the first file'
exits 1 "$PTOC" two.pto none.pto -o wrong.c
says err.txt none.pto
exits 2 "$PTOC" two.pto two.ptoir -o wrong.c
exits 2 "$PTOC" two.pto one.c
says err.txt 'is -o missing?'
exits 2 "$PTOC" two.pto mine.pto mine.pto -o wrong.c
exits 2 "$PTOC" two.pto mine.pto -o mine.pto
says err.txt "would replace the input 'mine.pto'"
exits 2 "$PTOC" run two.pto -k twice 'random(3)'
says err.txt 'neither NAME=VALUE'
exits 2 "$PTOC" info mine.pto
[ ! -e wrong.c ] || die "something was written"

# Textual IR: of the task level it is scheduled like a source; below, it is scheduled already.
cp two.ptoir ir.pto
exits 1 "$PTOC" good.pto ir.pto -o wrong.c
says err.txt 'ir.pto:1:1'
says err.txt 'textual IR is no schedule'
exits 0 "$PTOC" two.ptoir mine.pto --target=generic --emit-ir=tile -o two.tile.ptoir
exits 2 "$PTOC" two.tile.ptoir mine.pto -o wrong.c
says err.txt 'is scheduled already'
