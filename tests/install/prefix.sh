# What `make install` puts where, with DESTDIR, and that `make uninstall` leaves nothing. An installed ptoc finds its data
# wherever the prefix has been moved to.
. "$SOURCE/tests/install/common"
destdir="$PWD/stage dir"
do_make() { make -s -C "$SOURCE" "$1" BUILD="$BUILD" CC="$CC" CONFIG="$CONFIG" prefix=/opt/pto DESTDIR="$destdir"; }
do_make install-only
root=$destdir/opt/pto
for f in bin/ptoc include/ptort.h lib/libptort.a lib/libptort.so lib/libptort.so.0 lib/pkgconfig/ptort.pc lib/cmake/pto/pto-config.cmake \
    lib/cmake/pto/pto-config-version.cmake share/bash-completion/completions/ptoc share/zsh/site-functions/_ptoc \
    share/pto/targets/generic.pto share/man/man1/ptoc.1 share/pto/targets/davinci.pto share/man/man5/pto.5 share/man/man5/machine.5; do
    [ -r "$root/$f" ] || { echo "not installed: $f"; exit 1; }
done
grep -qx 'prefix=/opt/pto' "$root/lib/pkgconfig/ptort.pc"
if grep -r "$SOURCE" "$root/lib/pkgconfig" "$root/lib/cmake" "$root/share"; then echo "a path of the build is installed"; exit 1; fi

mv "$destdir" moved
env -u SOURCE -u BUILD "moved/opt/pto/bin/ptoc" --print-targets | grep -q generic
moved/opt/pto/bin/ptoc "$SOURCE/samples/sobel.pto" -o sobel.c
"$CC" -Imoved/opt/pto/include -c sobel.c -o sobel.o
moved/opt/pto/bin/ptoc profile "$SOURCE/samples/sobel.pto" 'img=random(20,30)' --target=davinci -o trace.json --html=report.html >profile.txt
grep -q 'data-view="timeline"' report.html
mv moved "$destdir"

# A second install does not forget the folders of the first; what lies in them besides stays.
do_make install-only
echo mine >"$root/bin/mine"
do_make uninstall
left=$(find "$destdir" ! -type d)
[ "$left" = "$root/bin/mine" ] || { echo "left behind: $left"; exit 1; }
rm "$root/bin/mine"
rmdir "$root/bin" "$root" "$destdir/opt"
do_make install-only
do_make uninstall
left=$(find "$destdir" -mindepth 1)
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
