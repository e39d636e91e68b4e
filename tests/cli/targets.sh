# Several targets in one file: the C is clean for gcc and clang, gives the bits of the target that the processor allows,
# and says so where there is none. Emulated processors, if qemu is there, and descriptions of odd ones force the choice.
. "$SOURCE/tests/cli/common"
export PTO_NUM_THREADS=2
case $CONFIG in
asan) flags='-fsanitize=address,undefined -fno-sanitize-recover=all' ;;
tsan) flags='-fsanitize=thread' ;;
coverage) flags=--coverage ;;
*) flags= ;;
esac
openmp=$(echo 'int main(void) { return 0; }' | "$CC" -fopenmp -x c - -o probe 2>/dev/null && echo -fopenmp)
hwloc=$(pkg-config --libs hwloc)
x86=$([ "$(uname -m)" = x86_64 ] && echo yes || true)

cat >mix.pto <<'END'
// Elementary functions, halves, sums, and an intermediate whose tiles differ from target to target.
kernel mix(x: f32[M, N], h: f16[N], s: f32) -> (y: f32[M, N], r: f32[M]) {
    t[i, j] = tanh(x[i, j]) + exp(-x[i, j]) * f32(h[j]);
    c[j] = sum(i) t[i, j];
    y[i, j] = t[i, j] * c[j] + sigmoid(s);
    r[i] = sum(j) x[i, j] * x[i, j];
}
kernel twice(a: i32[N]) -> (b: i32[N]) {
    b[i] = 2*a[i];
}
END
# Prints the status, the size of the workspace and the bits of the results.
cat >host.c <<'END'
#include "mix.h"
#include <stdio.h>
#include <string.h>
#define M 37
#define N 203
static float x[M][N], y[M][N], r[M];
static uint16_t h[N];
static int32_t a[N], b[N];
static unsigned sum(unsigned hash, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (size_t k = 0; k < n; k++)
        hash = (hash ^ p[k]) * 16777619u;
    return hash;
}
int main(void)
{
    int64_t shape[2] = {M, N};
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            x[i][j] = (float)((i * 31 + j * 17) % 101 - 50) / 25;
    for (int j = 0; j < N; j++) {
        h[j] = (uint16_t)(0x3000 + 16 * j);
        a[j] = j;
    }
    memset(y, 0x55, sizeof y);
    pto_tensor tx = pto_tensor_dense(x, PTO_F32, 2, shape), th = pto_tensor_dense(h, PTO_F16, 1, shape + 1);
    pto_tensor ty = pto_tensor_dense(y, PTO_F32, 2, shape), tr = pto_tensor_dense(r, PTO_F32, 1, shape);
    pto_tensor ta = pto_tensor_dense(a, PTO_I32, 1, shape + 1), tb = pto_tensor_dense(b, PTO_I32, 1, shape + 1);
    pto_status status = mix(NULL, &tx, &th, 0.5f, &ty, &tr);
    printf("%s %s\n", pto_status_name(status), pto_context_error(NULL));
    status = twice(NULL, &ta, &tb);
    printf("%s %s\n", pto_status_name(status), pto_context_error(NULL));
    int written = 0;
    for (int i = 0; i < M * N; i++)
        written += memcmp(&y[i / N][i % N], "\x55\x55\x55\x55", 4) != 0;
    printf("workspace %zu, %d written, %08x %d\n", mix_workspace(NULL, M, N), written, sum(sum(2166136261u, y, sizeof y), r, sizeof r), b[N - 1]);
    return 0;
}
END

# host TARGETS PROGRAM [COMPILER]. What built the runtime links, since that asks for its OpenMP library.
host() {
    "$PTOC" --target="$1" mix.pto -o mix.c
    for file in host mix; do
        # shellcheck disable=SC2086
        "${3-$CC}" -std=c11 -Wall -Wextra -Wpedantic -Werror -O2 $flags -I. -I"$BUILD/include" -c $file.c -o $file.o
    done
    # shellcheck disable=SC2086
    "$CC" $flags host.o mix.o "$BUILD/lib/libptort.a" $openmp $hwloc -lm -lpthread -o "$2"
}

# ---- the same bits as the target alone ----
best=
for target in generic x86-64-v3 x86-64-v4 arm64-neon; do
    "$PTOC" run mix.pto -k twice a=1 --target=$target N=3 >out.txt 2>&1 && best=$target
done
echo "the best target here is $best"
host $best one
./one >one.txt
says one.txt PTO_OK
for list in generic,x86-64-v3,x86-64-v4,arm64-neon arm64-neon,x86-64-v4,x86-64-v3,generic; do
    host $list several
    ./several | diff one.txt - || die "$list: not the results of $best"
done
# Compiled for either compiler, also without optimisation, and with no state of its own.
for cc in gcc clang aarch64-linux-gnu-gcc; do
    command -v $cc >/dev/null || continue
    for level in -O0 -O2; do
        $cc -std=c11 -Wall -Wextra -Wpedantic -Werror $level -fno-pie -I"$BUILD/include" -c mix.c -o mix.o
    done
    ! nm mix.o | grep -i ' [bdc] ' || die "$cc: variables in the object"
done
for cc in gcc clang; do
    # A sanitizer's runtime is that of one compiler.
    command -v $cc >/dev/null && [ -z "$flags" ] || continue
    host generic,x86-64-v3,x86-64-v4 "several-$cc" $cc
done
if [ -x several-gcc ] && [ "$x86" ]; then ./several-gcc | diff one.txt - || die "gcc: not the results of $best"; fi
if [ -x several-clang ] && [ "$x86" ]; then ./several-clang | diff one.txt - || die "clang: not the results of $best"; fi

# ---- processors that have less ----
emulated() {
    qemu-x86_64 -cpu "$1" "./$2" 2>/dev/null
}
if [ "$x86" ] && [ -x several-gcc ] && [ -z "$flags" ] && command -v qemu-x86_64 >/dev/null; then
    host generic generic-gcc gcc
    host x86-64-v3 v3-gcc gcc
    emulated Nehalem generic-gcc >want.txt
    emulated Nehalem several-gcc | diff want.txt - || die "Nehalem does not run generic"
    emulated Haswell v3-gcc >want.txt
    emulated Haswell several-gcc | diff want.txt - || die "Haswell does not run x86-64-v3"
    host x86-64-v3,x86-64-v4 neither gcc
    emulated Nehalem neither >none.txt
    says none.txt 'PTO_ERR_TARGET mix: this processor can run none of the targets x86-64-v3, x86-64-v4'
    says none.txt 'PTO_ERR_TARGET twice: '
    says none.txt 'workspace 0, 0 written'
else
    echo "emulated processors: left out"
fi

# ---- descriptions of odd processors ----
mkdir -p prefix/bin prefix/share/pto/targets
cp "$BUILD/bin/ptoc" prefix/bin/ptoc
cp -r "$BUILD/include/" prefix/include
cp "$SOURCE"/targets/*.pto prefix/share/pto/targets/
describe() {
    echo "machine odd { isa = \"generic\"; $2 memory L1 { size = 32 KiB; } unit vector { width = 16 B; registers = 16; } emits c; }" \
        >"prefix/share/pto/targets/$1.pto"
}
describe bulldozer 'architecture = "x86_64"; attribute = "avx,fma4,xop";'
describe piledriver 'architecture = "x86_64"; attribute = "avx,fma4,xop,tune=bdver2,bmi";'
describe same 'architecture = "x86_64"; attribute = "xop,avx,fma4";'
describe model 'architecture = "x86_64"; attribute = "arch=haswell";'
describe x86_64_v3 'architecture = "x86_64";'
describe other 'architecture = "other";'
describe another 'architecture = "another";'
PTOC=prefix/bin/ptoc
if [ "$x86" ] && ! grep -qw xop /proc/cpuinfo; then
    host bulldozer,piledriver none
    ./none >none.txt
    says none.txt 'PTO_ERR_TARGET mix: this processor can run none of the targets bulldozer, piledriver'
    says none.txt 'workspace 0, 0 written'
    host bulldozer,generic,piledriver some
    host generic generic
    ./generic >want.txt
    ./some | diff want.txt - || die "generic does not run in place of what the processor lacks"
fi
exits 0 "$PTOC" --target=other,another mix.pto -o mix.c
exits 1 "$CC" -I"$BUILD/include" -c mix.c -o mix.o
says err.txt 'compiled by ptoc for other architectures: other another'

# ---- what is no list ----
exits 1 "$PTOC" --target=bulldozer,same mix.pto -o no.c
says err.txt '`bulldozer` and `same` need the same of a processor'
exits 1 "$PTOC" --target=generic,model mix.pto -o no.c
says err.txt 'its description says `arch=haswell`, which is no feature'
exits 1 "$PTOC" --target=x86-64-v3,x86_64_v3 mix.pto -o no.c
says err.txt 'are one name in C'
for list in generic,,native ,generic generic,; do
    exits 2 "$PTOC" --target=$list mix.pto -o no.c
    says err.txt "--target=$list: a name is missing"
done
exits 2 "$PTOC" --target=generic,arm64-neon,generic mix.pto -o no.c
says err.txt "'generic' is named twice"
exits 2 "$PTOC" --target=generic,x86-64-v2 mix.pto -o no.c
says err.txt "unknown target 'x86-64-v2'"
exits 2 "$PTOC" --target=generic,x86-64-v3 --emit-schedule mix.pto
says err.txt '--emit-schedule is about the code for one target'
exits 2 "$PTOC" --target=generic,x86-64-v3 --emit-ir=tile mix.pto
says err.txt '--emit-ir is about the code for one target'
[ ! -e no.c ] || die "an output for a list that is wrong"

# ---- what goes through a list ----
exits 0 "$PTOC" --target=generic,x86-64-v3 --explain --dump-after=fuse mix.pto
says err.txt 'kernel mix for generic'
says err.txt 'kernel twice for x86-64-v3'
says err.txt '// kernel mix for x86-64-v3 after fuse'
cat >warned.pto <<'END'
kernel warned(x: f32[N], z: f32[N]) -> (y: f32[N]) { y[i] = x[i]; }
END
exits 0 "$PTOC" --target=generic,x86-64-v3 warned.pto -o warned.c
[ "$(grep -c unused err.txt)" = 1 ] || die "a warning for each target"
exits 0 "$PTOC" run mix.pto -k twice --target=other,generic a=21 N=1
says out.txt 'min 42'
exits 1 "$PTOC" run mix.pto -k twice --target=other,another a=21 N=1
says err.txt 'cannot run code for other,another'
exits 0 "$PTOC" check mix.pto -k twice --effort=1 --target=other,$best
says err.txt 'this machine cannot run code for other: not checked'
says out.txt 'runs of twice'
exits 1 "$PTOC" check mix.pto --target=other,another

# Without --target: code for every level of this architecture; texts are for one machine.
exits 0 "$BUILD/bin/ptoc" mix.pto -o default.c --header=default.h
[ -z "$x86" ] || says default.c 'for generic, x86-64-v3, x86-64-v4'
says default.c 'pto_target(void)'
exits 0 "$PTOC" mix.pto -o - --emit-schedule
grep -q x86-64 out.txt && die "a schedule for several machines"

# Unoptimised, it says that it is slow; not otherwise, nor where that is meant, and it is no error.
exits 0 "$PTOC" good.pto -o slow.c --target=generic
for options in '-O0 -Werror' '-O2 -Werror' '-O0 -Werror -DPTO_NO_SPEED_WARNING'; do
    exits 0 "$CC" -std=c11 -Wall -Wextra -Wpedantic $options -I "$BUILD/include" -c slow.c
    case $options in
    '-O0 -Werror') says err.txt 'many times slower' ;;
    *) [ ! -s err.txt ] || { cat err.txt; die "it says something with $options"; } ;;
    esac
done
