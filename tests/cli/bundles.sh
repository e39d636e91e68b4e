# Programs of bundles as text: C from a .ptob, and from the move level, is the C from its program, it says its machine, and it runs.
. "$SOURCE/tests/cli/common"

# Without what tells where a line comes from; and the second index of a name is i_2_ in C, but `i.1` in a text, which is i_1_.
plain() { sed 's/, "[^"]*", [0-9]* },$/ },/; s/\bctx, [0-9]*, "[^":]*\(:[0-9:]* \|", "\)/ctx, "/g; s/\b\([a-z]*\)_[12]_/\1_n_/g; /^#include "[a-z]*.h"/d; /^ *\/\/ /d' "$1"; }

few="matmul softmax sobel life"
for target in davinci ascend910b; do
    for program in "$SOURCE"/samples/*.pto; do
        # (an instrumented ptoc is ten times as slow)
        case ${CONFIG:-release} in asan | tsan) case " $few " in *" $(basename "$program" .pto) "*) ;; *) continue ;; esac ;; esac
        name=$(basename "$program" .pto)
        exits 0 "$PTOC" --target=$target "$program" -o one.c
        exits 0 "$PTOC" --target=$target --emit-bundles "$program" -o one.ptob
        exits 0 "$PTOC" one.ptob -o two.c
        plain one.c >one.txt
        plain two.c >two.txt
        cmp -s one.txt two.txt || { diff one.txt two.txt | head -20; die "$name for $target is another program in C from its text"; }
        exits 0 "$PTOC" --target=$target --emit-ir=move "$program" -o one.move
        exits 0 "$PTOC" one.move -o two.c
        plain two.c >two.txt
        cmp -s one.txt two.txt || { diff one.txt two.txt | head -20; die "$name for $target is put into another order from its move level"; }
    done
done

# It is run and checked for its machine.
exits 0 "$PTOC" --target=davinci --emit-bundles "$SOURCE/samples/matmul.pto" -o matmul.ptob
exits 0 "$PTOC" check --effort=1 matmul.ptob -k matmul
says out.txt checked
exits 0 "$PTOC" run matmul.ptob -k matmul a='ones(5,7)' b='ones(7,3)'
says out.txt 'min 7, max 7'
exits 0 "$PTOC" run matmul.ptob -k matmul --target=davinci a='ones(5,7)' b='ones(7,3)'
exits 2 "$PTOC" run matmul.ptob -k matmul --target=native a='ones(5,7)' b='ones(7,3)'
says err.txt "is for the machine 'davinci'"
exits 2 "$PTOC" matmul.ptob --target=generic -o out.c
exits 2 "$PTOC" matmul.ptob --machine-set=L1.size=128KiB -o out.c
says err.txt '--machine-set=L1.size=128KiB changes it'

# A changed machine is part of the text.
exits 0 "$PTOC" --target=davinci --machine-set=L1.size=128KiB --emit-bundles "$SOURCE/samples/matmul.pto" -o small.ptob
says small.ptob 'on davinci: DDR, L1, L0, set("L1.size=128KiB");'
exits 0 "$PTOC" small.ptob -o small.c
says small.c 131072
exits 0 "$PTOC" small.ptob --machine-set=L1.size=128KiB -o small.c
exits 2 "$PTOC" small.ptob --machine-set=L1.size=64KiB -o small.c

# The machine has to be known, and to be as the text says.
sed 's/on davinci/on nowhere/' matmul.ptob >wrong.ptob
exits 2 "$PTOC" wrong.ptob -o out.c
says err.txt "unknown target 'nowhere'"
sed 's/on davinci: DDR, L1, L0/on davinci: DDR, L0, L1/' matmul.ptob >wrong.ptob
exits 1 "$PTOC" wrong.ptob -o out.c
says err.txt 'other memories'
sed 's/on davinci: DDR, L1, L0/on generic: DDR, L1, L0/' matmul.ptob >wrong.ptob
exits 1 "$PTOC" wrong.ptob -o out.c
sed '/^on /d' matmul.ptob >wrong.ptob
exits 1 "$PTOC" wrong.ptob -o out.c
says err.txt 'a file of this level says its machine'
{ echo 'ir task; on davinci: DDR, L1, L0;'; "$PTOC" --emit-ir good.pto | sed 1d; } >wrong.ptob
exits 1 "$PTOC" wrong.ptob -o out.c
says err.txt 'says its machine'

# What is left of the other levels.
exits 0 "$PTOC" matmul.ptob --emit-ir=task -o one.ptoir
exits 0 "$PTOC" matmul.ptob --emit-ir=move -o one.move
exits 1 "$PTOC" matmul.ptob --emit-ir=tile -o -
says err.txt 'its tile level is gone'
exits 0 "$PTOC" --target=davinci "$SOURCE/samples/matmul.pto" --emit-ir=move -o two.move
cmp one.move two.move || die "the move level from bundles is another one"
sed 's/slots(3)/slots(1), depth(3)/' two.move >wrong.move
exits 1 "$PTOC" wrong.move -o out.c
says err.txt 'its readers are so far behind that it takes slots(3)'
exits 0 "$PTOC" --target=davinci "$SOURCE/samples/matmul.pto" --dump-after=place
says err.txt 'ir move;'

# The manual's fault: nothing says that the load has ended.
sed -n '/^ir bundles;/,/^}/p' "$SOURCE/man/ptob.5" | sed '/ loaded/d' >race.ptob
exits 1 "$PTOC" run race.ptob x='iota(5000)'
says err.txt 'race'
says err.txt 'race.ptob:6: reads L0'

# Text of the tile level has no programs: its grids are the scalar unit's.
exits 0 "$PTOC" --emit-ir=tile good.pto -o good.ptoir
exits 0 "$PTOC" check --target=davinci --effort=1 good.ptoir
