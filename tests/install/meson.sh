# samples/embed/meson: dependency('ptort') and a custom target.
. "$SOURCE/tests/install/common"
need meson ninja
install_here
CC=$CC CFLAGS="$flags" LDFLAGS="$flags" meson setup build embed/meson -Db_lundef=false
ninja -C build
check_app build/app
ninja -C build | grep -q 'no work to do' || { echo "a second build is not empty"; exit 1; }
