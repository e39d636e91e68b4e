# Kernels in a host program: threads, nesting, pools, layouts, overlap, wrong arguments, large offsets, steady state; then
# the same with everything that keeps OpenMP from delivering threads.
. "$SOURCE/tests/cli/common"
case $CONFIG in
asan) flags='-fsanitize=address,undefined -fno-sanitize-recover=all' large= count= ;;
tsan) flags='-fsanitize=thread' large= count= ;;
coverage) flags=--coverage large=large count= ;;
*) flags='' large=large count='-DCOUNT_ALLOCATIONS -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=posix_memalign' ;;
esac
cat >host.pto <<'END'
kernel scale(x: f32[M, N]) -> (y: f32[M, N]) { y[i, j] = 2*x[i, j]; }
END
objects=
for f in host.pto "$SOURCE/samples/blur.pto" "$SOURCE/samples/heat.pto" "$SOURCE/samples/relu_cumsum.pto"; do
    name=$(basename "$f" .pto)
    exits 0 "$PTOC" "$f" -o "k_$name.c" --target=generic
    # shellcheck disable=SC2086
    "$CC" -O2 $flags -I"$BUILD/include" -c "k_$name.c" -o "k_$name.o"
    objects="$objects k_$name.o"
    echo "#include \"k_$name.h\"" >>host_kernels.h
done
openmp=$(echo 'int main(void) { return 0; }' | "$CC" -fopenmp -x c - -o probe 2>/dev/null && echo -fopenmp)
# shellcheck disable=SC2046,SC2086
"$CC" -std=c11 -D_GNU_SOURCE -O1 -g $flags $count -I. -I"$BUILD/include" "$SOURCE/tests/cli/host.c" $objects "$BUILD/lib/libptort.a" $openmp \
    $(pkg-config --libs hwloc) -lm -lpthread -o host

try() {
    echo "with $*"
    env "$@" ./host $large >out.txt 2>&1 || { cat out.txt; exit 1; }
}
try A=b
for setting in OMP_NUM_THREADS=1 OMP_NUM_THREADS=7 OMP_THREAD_LIMIT=1 OMP_THREAD_LIMIT=2 OMP_DYNAMIC=true OMP_MAX_ACTIVE_LEVELS=3 \
    PTO_NUM_THREADS=1 PTO_NUM_THREADS=3 OMP_PROC_BIND=true; do
    try $setting
done
