# The photograph through sobel and the blurs, against a plain computation; both blurs give the same picture.
. "$SOURCE/tests/cli/common"
image=${PTO_SHARED:-$SOURCE/../shared}/data/images/raccoon.pgm
[ -r "$image" ] || { echo "no data: PTO_SHARED or ../shared has no data/images/raccoon.pgm"; exit 77; }
"$CC" -O2 "$SOURCE/tests/cli/photo.c" -o photo -lm
# .npy keeps what .pgm would round.
exits 0 "$PTOC" run "$SOURCE/samples/sobel.pto" img="$image" -o g=sobel.npy
./photo sobel "$image" sobel.npy
for blur in blur blur_direct; do
    exits 0 "$PTOC" run "$SOURCE/samples/blur.pto" -k $blur img="$image" -o g=$blur.npy
    ./photo blur "$image" $blur.npy
    exits 0 "$PTOC" run "$SOURCE/samples/blur.pto" -k $blur img="$image" -o g=$blur.pgm
done
exits 0 "$PTOC" run "$SOURCE/samples/sobel.pto" img="$image" -o g=sobel.pgm
for picture in sobel blur blur_direct; do
    head -c 2 $picture.pgm | grep -q P5 || die "$picture.pgm is not a picture"
done
