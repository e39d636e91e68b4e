# All samples on arm64, emulated: the C of target arm64-neon (of one sample, of a list with it) and the runtime are built with a cross compiler and run by
# qemu; what comes out is compared with the C of target generic on this machine.
#
# There is no hwloc for the other architecture: hwloc_topology_init is replaced by one that fails, which the runtime
# has to bear, and then calls nothing else of it.
set -eu
for tool in qemu-aarch64 aarch64-linux-gnu-gcc; do
    command -v $tool >/dev/null 2>&1 || { echo "$tool is not installed (.ci/deps arm64)"; exit 77; }
done
[ "$CONFIG" = release ] || { echo "instrumented build"; exit 77; }
cross=aarch64-linux-gnu-gcc

: >kernels.h
for sample in "$SOURCE"/samples/*.pto; do
    name=$(basename "$sample" .pto)
    sed -n 's/^kernel \([A-Za-z0-9_]*\).*/KERNEL(\1)/p' "$sample" >>kernels.h
    targets=arm64-neon
    [ "$name" != blur ] || targets=x86-64-v3,arm64-neon,generic          # this compiler leaves the first one out
    "$PTOC" --target=$targets "$sample" -o "arm-$name.c"
    "$PTOC" --target=generic "$sample" -o "host-$name.c"
    $cross -O2 -I"$SOURCE/runtime/include" -c "arm-$name.c" -o "arm-$name.o"
    "$CC" -O2 -I"$SOURCE/runtime/include" -c "host-$name.c" -o "host-$name.o"
done

# hwloc's headers, and no others, from where this machine's compiler finds them.
for header in $(echo '#include <hwloc.h>' | "$CC" -x c -M - | tr -s ' \\' '\n' | grep '/hwloc'); do
    to=headers/hwloc${header##*/hwloc}
    case $header in */hwloc/*) to=headers/hwloc/${header#*/hwloc/} ;; esac
    mkdir -p "$(dirname "$to")"
    cp "$header" "$to"
done
echo 'int hwloc_topology_init(void *t); int hwloc_topology_init(void *t) { (void)t; return -1; }' >nohwloc.c
# shellcheck disable=SC2046
$cross -std=c11 -D_GNU_SOURCE -O2 -fopenmp -static -Wl,--unresolved-symbols=ignore-all -I. -Iheaders -I"$SOURCE/runtime/include" \
    "$SOURCE/tests/arm64/driver.c" arm-*.o $(find "$SOURCE/runtime/src" -name '*.c') nohwloc.c -lm -lpthread -o arm
"$CC" -O2 -D_GNU_SOURCE -I. -I"$SOURCE/runtime/include" "$SOURCE/tests/arm64/driver.c" host-*.o "$BUILD/lib/libptort.a" -fopenmp \
    $(pkg-config --libs hwloc) -lm -lpthread -o host
./host host.out
qemu-aarch64 ./arm arm.out
./host --compare host.out arm.out
