#!/bin/sh
# What kernels cost on the modelled machines, beside goals and bounds. Cycles are counted, not timed: the same everywhere.
#
#   model.sh [ROW...]      rows whose name begins with one of these words; none: all
#
# BUILD: the build to measure; CC: compiles the emitted C and the driver (tests/bench/model.c).
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${BUILD:-build/release}
case $build in /*) ;; *) build=$root/$build ;; esac
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT INT TERM
wanted="$*"
failed=0

${CC:-cc} -O2 -I"$root/runtime/include" -o "$tmp/model" "$here/model.c" -L"$build/lib" -Wl,-rpath,"$build/lib" -lptort -ldl || exit 1

is_wanted() {
    [ -z "$wanted" ] && return 0
    for w in $wanted; do
        case $1 in "$w"*) return 0 ;; esac
    done
    return 1
}

# measure OPTIONS KERNEL SCHEDULE ARGUMENT...: totals into $tmp/totals
measure() {
    options=$1 kernel=$2 schedule=$3
    shift 3
    awk -v k="$kernel" '$0 ~ "^kernel " k "\\(" { on = 1 } on { print } on && /^}/ { exit }' "$here/model.pto" >"$tmp/k.pto"
    [ -n "$schedule" ] && printf 'schedule %s { %s }\n' "$kernel" "$schedule" >>"$tmp/k.pto"
    # shellcheck disable=SC2086
    "$build/bin/ptoc" "$tmp/k.pto" $options -o "$tmp/k.c" >"$tmp/log" 2>&1 &&
        ${CC:-cc} -O2 -w -shared -fPIC -I"$root/runtime/include" -o "$tmp/k.so" "$tmp/k.c" >>"$tmp/log" 2>&1 &&
        "$tmp/model" "$tmp/k.so" "$kernel" "$@" >"$tmp/totals" 2>>"$tmp/log" && return 0
    cat "$tmp/log" >&2
    : >"$tmp/totals"
    return 1
}

total() { awk -v k="$1" '$1 == k { print $2; found = 1 } END { if (!found) print 0 }' "$tmp/totals"; }

# row NAME FIGURE GOAL SENSE BOUND: "most" a figure that must not be above its goal, "least" one that must not be below, "shown"
row() {
    verdict=$(awk -v x="$2" -v g="$3" -v s="$4" 'BEGIN {
        if (s == "shown") print ""; else if (x == "") print "FAILED";
        else if ((s == "most" && x + 0 <= g + 0) || (s == "least" && x + 0 >= g + 0)) print "ok"; else print "short" }')
    goal=$(case $4 in most) echo "at most $3" ;; least) echo "at least $3" ;; *) echo shown ;; esac)
    printf '%-58s %10s  %-14s %-34s %s\n' "$1" "$2" "$goal" "$5" "$verdict"
    [ "$verdict" = FAILED ] && failed=1
    return 0
}

quotient() { awk -v a="$1" -v b="$2" -v d="${3:-3}" 'BEGIN { if (b + 0 == 0) print ""; else printf "%.*f", d, a / b }'; }
larger() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%d", (a > b ? a : b) }'; }

davinci=--target=davinci
one_core="--target=davinci --machine-set=clusters=1,cores=1"

printf '%-58s %10s  %-14s %-34s\n' "what" "measured" "goal" "bound (cycles)"

# ---- products: 256 multiplications a cycle, 32 bytes of DDR -------------------------------------------------------------------
product() {
    name=$1 goal=$2 n=$3
    is_wanted "$name" || return 0
    measure "$davinci" matmul "" $4 "${n}x$n" "${n}x$n" "${n}x$n"
    compute=$((n * n * n / 256)) ddr=$((8 * n * n / 32))
    row "$name" "$(quotient "$(total cycles)" "$(larger $compute $ddr)")" "$goal" most "compute $compute, DDR $ddr"
}
product "matmul f16 2048^3, cycles over the bound" 1.01 2048 -t
product "matmul f16 1000^3" 1.05 1000 ""
product "matmul f16 256^3" 1.08 256 ""

if is_wanted "matmul 65536x32x32"; then
    measure $davinci narrow "" 65536x32 32x32 65536x32
    row "matmul 65536x32x32, compute = DDR, two slots" "$(quotient "$(total cycles)" 262208)" 1.03 most "compute 262144, DDR 262208"
    measure $davinci narrow "buffer a = 1, c = 1;" 65536x32 32x32 65536x32
    row "matmul 65536x32x32, one slot" "$(quotient "$(total cycles)" 262208)" "" shown ""
fi
if is_wanted "matmul 4096x32x32"; then
    slow="--target=davinci --machine-set=clusters=1,cores=1,DDR.L1.width=2"
    measure "$slow" narrow "tile i = 32;" 4096x32 32x32 4096x32
    row "matmul 4096x32x32, one core, DDR 2 B a cycle, two slots" "$(quotient "$(total cycles)" 263168)" 1.05 most "compute 262144, DDR 263168"
    measure "$slow" narrow "tile i = 32; buffer a = 1, c = 1;" 4096x32 32x32 4096x32
    row "matmul 4096x32x32, one core, one slot" "$(quotient "$(total cycles)" 263168)" "" shown ""
fi
if is_wanted "matmul f32"; then
    measure $davinci matmul "" -t 2048x2048 2048x2048 2048x2048
    half=$(total cycles)
    measure $davinci matmul32 "" -t 2048x2048 2048x2048 2048x2048
    ratio=$(quotient "$(total cycles)" "$half")
    row "matmul f32 over f16, 2048^3" "$ratio" 2.05 most "two passes a block"
    row "matmul f32 over f16, 2048^3, not below" "$ratio" 1.9 least ""
fi
if is_wanted "ascend910b"; then
    measure --target=ascend910b matmul "" -t 2048x2048 2048x2048 2048x2048
    row "ascend910b matmul f16 2048^3, cube utilisation" "$(quotient 87381 "$(total cycles)")" 0.80 least "compute 87381"
fi

# ---- convolutions ---------------------------------------------------------------------------------------------------------------
if is_wanted "convolution"; then
    measure $davinci conv "" 64x56x56 64x64x3x3 64x56x56
    best=$(total cycles)
    row "convolution 3x3, 64 to 64, 56x56: cube utilisation" "$(quotient 451584 "$best")" 0.95 least "compute 451584, DDR 30528"
    measure $davinci conv "tile o = 4, i = 1, j = 4, c = 16, u = 1, v = 1; buffer x = 1, w = 1, y = 1;" 64x56x56 64x64x3x3 64x56x56
    row "convolution in 4x4x16 steps, one slot, stencils in L1" "$(quotient "$(total cycles)" "$best" 1)" "" shown "over the best"
    measure $davinci conv "tile o = 4, i = 1, j = 4, c = 16, u = 1, v = 1; place x, w in DDR; buffer x = 1, w = 1, y = 1;" -t 64x56x56 64x64x3x3 64x56x56
    row "convolution in 4x4x16 steps from DDR, one slot" "$(quotient "$(total cycles)" "$best" 1)" 9 least "over the best"
fi
if is_wanted "upscaling"; then
    measure $davinci upscale "" -t 48x540x960 48x48x3x3 48x540x960
    row "upscaling layer 3x3, 48 to 48, 960x540: utilisation" "$(quotient 41990400 "$(total cycles)")" 0.95 least "compute 41990400, DDR 3112"
    measure $davinci upscale "tile o = 4, i = 1, j = 4, c = 8, u = 1, v = 1; place x, w in DDR; buffer x = 1, w = 1, y = 1;" -t 48x135x240 48x48x3x3 48x135x240
    row "the same in 4x4x8 steps from DDR, one slot, 240x135" "$(quotient 2624400 "$(total cycles)")" "" shown "utilisation"
    for size in 240x426 360x640 540x960 720x1280 1080x1920 2160x3840; do
        h=${size%x*} w=${size#*x}
        measure $davinci upscale "" -t "48x$h""x$w" 48x48x3x3 "48x$h""x$w"
        plan=$(total cycles) least=$plan tile="the plan"
        for o in 16 48; do
            for j in 32 64; do
                [ "$h" -gt 720 ] && [ $o = 16 ] && continue          # (the larger ones take a minute each)
                measure $davinci upscale "tile o = $o, i = 1, j = $j;" -t "48x$h""x$w" 48x48x3x3 "48x$h""x$w"
                c=$(total cycles)
                [ "$c" -gt 0 ] && [ "$c" -lt "$least" ] && least=$c && tile="o = $o, j = $j"
            done
        done
        row "upscaling layer at ${w}x$h, one plan over the best tile" "$(quotient "$plan" "$least")" 1.10 most "best: $tile, $least"
    done
fi

# ---- maps and rows ----------------------------------------------------------------------------------------------------------------
if is_wanted "softmax"; then
    measure $davinci softmax "" 4096x1024 4096x1024
    row "softmax 4096x1024: DDR bytes over compulsory" "$(quotient "$(total path0_bytes)" 16777216)" 1.02 most "16777216 bytes"
fi
if is_wanted "layer norm"; then
    measure $davinci layer_norm "" 4096x1024 1024 1024 0.001 4096x1024
    row "layer norm 4096x1024: DDR bytes over compulsory" "$(quotient "$(total path0_bytes)" 33562624)" 1.02 most "33562624 bytes"
fi
if is_wanted "residual"; then
    measure $davinci residual "hint H = 64, W = 64; parallel o, i, j max 2; place w1, w2, h, p.x in L1; tile o = 64 in L1, 32 in L0; tile i = 16 in L1, 1 in L0; tile j = 64; unroll j = 1, o = 1;" \
        64x64x64 64x64x3x3 64 64x64x3x3 64 64x64x64
    row "residual block 64x64x64: DDR bytes over one pass an equation" "$(quotient "$(total path0_bytes)" 9060864)" 0.40 most "9060864 bytes"
fi
if is_wanted "transposition"; then
    measure $davinci transpose "engine y = dma;" 1024x1024 1024x1024
    dma=$(total cycles)
    row "transposition 1024^2 by dma over its DDR bound" "$(quotient "$dma" 262144)" 1.05 most "DDR 262144"
    measure $davinci transpose "engine y = vector; tile i = 1, j = 512; layout x = (0, 1), y = (0, 1);" 1024x1024 1024x1024
    row "transposition by elements, along rows, over dma" "$(quotient "$(total cycles)" "$dma" 2)" 8 least ""
fi
if is_wanted "y = (x + z) + 1"; then
    for slots in 1 2 3; do
        measure "$one_core" add "tile i = 512; buffer x = $slots, z = $slots, y = $slots;" 1000000 1000000 1000000
        sense=shown goal=""
        [ $slots = 3 ] && sense=most && goal=1.02
        row "y = (x + z) + 1, one core, tiles of 512, $slots slots" "$(quotient "$(total cycles)" 375000)" "$goal" $sense "DDR 375000"
    done
fi
if is_wanted "parallelism"; then
    measure $davinci matmul "" -t 1024x1024 1024x1024 1024x1024
    one=$(total cycles)
    for max in 16 32 64 128; do
        measure $davinci matmul "parallel i, j max $max;" -t 1024x1024 1024x1024 1024x1024
        row "parallelism: matmul 1024^3, max $max, over the default" "$(quotient "$(total cycles)" "$one" 2)" "" shown "16 cores"
    done
fi
exit $failed
