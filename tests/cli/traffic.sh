# The traffic in a profile is that of an independent count of every byte (traffic.c), for each path and tensor, for all kernels of
# all samples on every accelerator without a backing memory, at sizes that are no multiples of anything.
. "$SOURCE/tests/cli/common"
export XDG_CACHE_HOME="$PWD/cache"
export TRAFFIC="$PWD/brute"
export CC="sh $PWD/cc.sh $CC"
cat >cc.sh <<END
# The emitted code, with the count in front of what it calls.
exec "\$@" -Dpto_launch_bundles=counted_launch -Dpto_touch=counted_touch '$SOURCE/tests/cli/traffic.c'
END

# "NAME=VALUE ..." for the parameters of a kernel; sizes are 19, 23, 29, ... by their first mention.
arguments() {
    tr '\n' ' ' <"$1" | sed 's/kernel /\n&/g' | sed -n "s/^kernel $2(\(.*\)) *-> *(.*/\1/p" | sed 's/) *->.*//' | awk '
        { gsub(/\[[^]]*\]/, "&;"); text = $0
          while (match(text, /[A-Za-z_][A-Za-z_0-9]* *: *[a-z0-9]+ *(\[[^]]*\])?/)) {
              one = substr(text, RSTART, RLENGTH); text = substr(text, RSTART + RLENGTH)
              split(one, part, / *: */); name = part[1]; type = part[2]; sub(/ *\[.*/, "", type)
              if (match(one, /\[.*\]/)) {
                  shape = substr(one, RSTART, RLENGTH)
                  while (match(shape, /[A-Z][A-Za-z_0-9]*/)) { size(substr(shape, RSTART, RLENGTH)); shape = substr(shape, RSTART + RLENGTH) }
                  print name (type ~ /^[iu]/ ? "=random(:1:0..3)" : "=random")
              } else print name (type == "int" ? "=9" : type ~ /^[iu]/ ? "=2" : "=0.5")
          } }
        function size(d) { if (!(d in seen)) { seen[d] = 1; print d "=" (19 + 4 * n++) } }'
}

count=0
for file in "$SOURCE"/samples/*.pto; do
    # (an instrumented ptoc is ten times as slow)
    case ${CONFIG:-release} in
    asan | tsan) case $file in */matmul.pto | */sobel.pto | */softmax.pto | */edit_distance.pto) ;; *) continue ;; esac ;;
    esac
    for kernel in $(sed -n 's/^kernel \([A-Za-z_0-9]*\)(.*/\1/p' "$file"); do
        arguments "$file" "$kernel" >args
        rm -f brute
        # shellcheck disable=SC2046
        exits 0 "$PTOC" profile "$file" -k "$kernel" --target=davinci $(cat args) -o profile.json
        [ -f brute ] || die "$kernel: nothing was counted"
        sed -n 's/^\({"tensor":.*"payload_written":[0-9]*}\).*/\1/p' profile.json | sort >told
        sort brute >expected
        diff told expected || die "$file: $kernel ($(tr '\n' ' ' <args)): the profile's traffic (<) is not what was counted (>)"
        [ -s told ] || die "$kernel: no traffic"
        count=$((count + 1))
    done
done
case ${CONFIG:-release} in asan | tsan) least=3 ;; *) least=20 ;; esac
[ $count -gt $least ] || die "only $count kernels"
echo "$count kernels"
