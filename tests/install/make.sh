# samples/embed/make builds from an installed prefix, knows what it depends on, and links statically too.
. "$SOURCE/tests/install/common"
need make pkg-config
install_here
cd embed/make
make CC="$CC" CFLAGS="-O1 $flags" LDFLAGS="$flags"
check_app ./app
make -q CC="$CC" CFLAGS="-O1 $flags" LDFLAGS="$flags" || { echo "a second make would build again"; exit 1; }
touch ../smooth.pto
if make -q CC="$CC"; then echo "a changed .pto is not noticed"; exit 1; fi

# The static library, as pkg-config says.
# shellcheck disable=SC2046,SC2086
"$CC" -O1 $flags $(pkg-config --cflags ptort) -I. ../main.c smooth.c "$prefix/lib/libptort.a" $(pkg-config --static --libs-only-other ptort) \
    $(pkg-config --libs hwloc) -lm -lpthread -o static
check_app ./static
