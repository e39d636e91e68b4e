# `ptoc run`: values of every form in, files and summaries out.
. "$SOURCE/tests/cli/common"
exits 0 "$PTOC" run good.pto 'x=random(1000:3)' -o y=y.npy
[ -s y.npy ] || die "no y.npy"
exits 0 "$PTOC" run good.pto x=y.npy
says out.txt f32
says out.txt 1000
exits 0 "$PTOC" run good.pto 'x=zeros(0)'
exits 0 "$PTOC" run "$SOURCE/samples/relu_cumsum.pto" 'x=random(100,37:1)' a=1.5 b=-0.2 --threads 2 --mode dynamic
exits 0 "$PTOC" run "$SOURCE/samples/heat.pto" 'u0=random(20,30:1)' T=5 -o v=v.npy
exits 0 "$PTOC" run "$SOURCE/samples/knapsack.pto" 'w=zeros(3)' 'v=zeros(3)' C=5
exits 0 "$PTOC" run "$SOURCE/samples/matmul.pto" -k matmul 'a=random(5,6:1)' 'b=random(6,7:2)' -o c=c.npy

# The same result for every number of threads and every mode, bit for bit.
for kernel in relu_cumsum softmax; do
    case $kernel in relu_cumsum) scalars='a=1.5 b=-0.2' ;; *) scalars= ;; esac
    for how in '--threads 1' '--threads 2' '--threads 3' '--mode static' '--mode dynamic' '--mode serial'; do
        # shellcheck disable=SC2086
        exits 0 "$PTOC" run "$SOURCE/samples/$kernel.pto" 'x=random(301,257:1)' $scalars $how -o y=now.npy
        [ -e "$kernel.npy" ] || cp now.npy "$kernel.npy"
        cmp now.npy "$kernel.npy" || die "$kernel: other bits with $how"
    done
done

# What is wrong with the values is said, and exit codes keep their meaning.
exits 2 "$PTOC" run good.pto
says err.txt x
exits 2 "$PTOC" run good.pto 'x=random(10:1)' z=3
exits 1 "$PTOC" run good.pto x=absent.npy
says err.txt absent.npy
exits 1 "$PTOC" run "$SOURCE/samples/embedding.pto" 'table=random(4,3:1)' ids=y.npy
printf 'P5\n3 2\n255\n\001\002\003\004\005\377' >tiny.pgm
cat >copy.pto <<'END'
kernel copy(x: u8[H, W]) -> (y: u8[H, W]) { y[i, j] = x[i, j]; }
END
exits 0 "$PTOC" run copy.pto x=tiny.pgm -o y=copy.pgm
cmp tiny.pgm copy.pgm || die "an image is not what it was"
