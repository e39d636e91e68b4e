# Memory that runs out at any moment is an error with a message, and leaves nothing: in the compiler, in `ptoc run` and `ptoc
# check`, and in a kernel that a program calls, the n-th allocation fails, alone and with all behind it. A sample of the n
# here; the long tests take more, and every one of a small kernel.
. "$SOURCE/tests/cli/common"
case ${CONFIG:-release} in asan | tsan | coverage) echo "sanitizers have an allocator of their own"; exit 77 ;; esac
echo 'int main(void) { return 0; }' | "$CC" -x c - -o probe
"$CC" -shared -fPIC -O1 -o failing.so "$SOURCE/tests/cli/failing.c" 2>err.txt || { echo "no glibc"; exit 77; }
LD_PRELOAD=./failing.so FAIL_COUNT=n ./probe
[ -s n ] || { echo "the allocator cannot be replaced"; exit 77; }
export XDG_CACHE_HOME="$PWD/cache" OMP_NUM_THREADS=1
mkdir cache
cat >k.pto <<'END'
kernel k(x: f32[N border clamp], a: f32) -> (y: f32[N], s: f32) {
    t[i] = max(a * x[i-1], x[i+1]);
    y[i] = scan(+, i) t[i];
    s = sum(i) x[i];
}
END

# sweep NAME RUNS FILES COMMAND...: about so many runs of the command, which makes these files in the folder out.
sweep() {
    name=$1 most=$2 files=$3
    shift 3
    rm -rf out && mkdir out
    "$@" >out.txt 2>err.txt || { cat err.txt; die "$name fails with all its memory"; }     # (what it compiles is kept)
    LD_PRELOAD=./failing.so FAIL_COUNT=n "$@" >out.txt 2>err.txt || die "$name fails with all its memory"
    rm -rf "whole.$name" && cp -r out "whole.$name"
    total=$(cat n)
    [ -z "${PTO_LONG:-}" ] || most=$((most * 20))
    step=$((total / most + 1))
    rm -rf out && mkdir out
    LD_PRELOAD=./failing.so FAIL_NEXT="1 $step $total" FAIL_FILES="$files" FAIL_WHOLE="whole.$name" "$@" || die "$name fails"
    echo "$name: $total allocations"
}
sweep compile 60 'k.c k.h k.d' "$PTOC" k.pto -o out/k.c -MD --target=generic
sweep json 20 'k.c k.h' "$PTOC" k.pto -o out/k.c -fdiagnostics-format=json --explain --target=davinci
sweep run 20 'y.npy' "$PTOC" run k.pto 'x=iota(40)' a=2 --mode=serial -o y=out/y.npy
sweep check 10 '' "$PTOC" check good.pto --effort=1 --mode=serial --target=generic
if [ "${PTO_LONG:-}" ]; then
    sweep compile 10000 'good.c good.h good.d' "$PTOC" good.pto -o out/good.c -MD --target=generic
    sweep bundles 10000 'good.c good.h' "$PTOC" good.pto -o out/good.c --target=davinci
    sweep run 10000 'y.npy' "$PTOC" run good.pto 'x=iota(40)' --mode=serial --target=generic -o y=out/y.npy
fi

# A kernel's own calls: a workspace that is needed, tensors that are packed, a wave, a pool of the program's own.
cat >call.pto <<'END'
kernel call(x: f32[M, N]) -> (y: f32[M, N]) {
    t[i, j] = 2*x[i, j];
    s = sum(i, j) t[i, j];
    y[i, j] = (if i > 0 then y[i-1, j] else 0) + (if j > 0 then y[i, j-1] else 0) + t[i, j] - s;
}
schedule call { tile y.i = 4, y.j = 4; parallel y.i, y.j wave; }
END
"$PTOC" call.pto -o call.c
cat >main.c <<'END'
#include "call.h"
#include <stdio.h>
#include <string.h>
void failing(long n, int on);
int failed(void);
enum { M = 12, N = 9 };
static float x[M][2*N], y[M][N], right[M][N];
static void pool(void *user, int n, void (*body)(void *arg, int worker), void *arg) { for (int w = 0; w < n; w++) body(arg, w); (void)user; }
static pto_status once(int own)
{
    const pto_options options = {.threads = 1, .pool = PTO_POOL_SERIAL};
    pto_context *ctx = pto_context_new(&options);
    if (!ctx)
        return PTO_ERR_MEMORY;
    pto_tensor tx = {.data = x, .dtype = PTO_F32, .rank = 2, .shape = {M, N}, .stride = {2*N, 2}}, ty = pto_tensor_dense(y, PTO_F32, 2, tx.shape);
    pto_status status = own ? pto_context_set_pool(ctx, pool, NULL, 3) : PTO_OK;
    if (status == PTO_OK)
        status = call(ctx, &tx, &ty);
    if (status != PTO_OK && !*pto_context_error(ctx))
        status = PTO_OK, y[0][0] = -1;            // without a word
    pto_context_free(ctx);
    return status;
}
int main(void)
{
    int memory = 0;
    for (int i = 0; i < M * 2*N; i++)
        x[0][i] = i % 7;
    if (once(0) != PTO_OK)
        return 1;
    memcpy(right, y, sizeof y);
    for (int own = 0; own < 2; own++)
        for (int on = 0; on < 2; on++)
            for (long n = 1, more = 1; more; n++) {
                memset(y, 0, sizeof y);
                failing(n, on);
                pto_status status = once(own);
                more = failed();
                failing(-1, 0);
                memory += status == PTO_ERR_MEMORY;
                if (status != PTO_ERR_MEMORY && (status != PTO_OK || memcmp(right, y, sizeof y) != 0))
                    return printf("allocation %ld, %d, %d: status %d\n", n, on, own, status), 1;
            }
    printf("call: %d times without memory\n", memory);
    return memory < 4;
}
END
"$CC" -O1 -I"$BUILD/include" -o call main.c call.c "$SOURCE/tests/cli/failing.c" "$BUILD/lib/libptort.a" -fopenmp $(pkg-config --libs hwloc) -ldl -lm -lpthread 2>err.txt || { cat err.txt; die "it does not link"; }
./call
