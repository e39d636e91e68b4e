# The report in a real browser: no word on the console, every view drawn, text that can be read, in light and dark, for
# the model and for a CPU.
. "$SOURCE/tests/cli/common"
browser=
for name in chromium chromium-browser google-chrome; do
    [ -n "$browser" ] || browser=$(command -v $name || true)
done
[ -n "$browser" ] || { echo "chromium is not installed (.ci/deps browser)"; exit 77; }
export XDG_CONFIG_HOME="$PWD/config" XDG_RUNTIME_DIR="$PWD" HOME="$PWD"

# browse PAGE OUTPUT OPTION...: what the browser prints in OUTPUT, its log in log.txt.
browse() {
    page=$1 output=$2
    shift 2
    rm -rf browser
    timeout 1800 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --disable-dev-shm-usage --user-data-dir="$PWD/browser" --window-size=1280,800 --hide-scrollbars \
        --enable-logging=stderr --virtual-time-budget=10000 "$@" "file://$PWD/$page" >"$output" 2>log.txt || { cat log.txt; die "the browser failed"; }
    if grep CONSOLE log.txt; then die "$page: words on the console"; fi
}

# The smallest text and the least contrast of the page's own text, as attributes of its body.
cat >measure.html <<'END'
<script>
function channels(c) { return c.match(/[\d.]+/g).map(Number); }
function light(c) { return c.slice(0, 3).map(v => v / 255).map(v => v <= 0.04 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((n, v, k) => n + v * [0.2126, 0.7152, 0.0722][k], 0); }
function ground(e) {
    for (; e; e = e.parentElement) { const c = channels(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] === 1) return c; }
    return [255, 255, 255];
}
let smallest = 99, least = 99, wide = document.documentElement.scrollWidth;
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || ["SCRIPT", "STYLE", "title"].includes(e.tagName) || !e.getClientRects().length) continue;
    const s = getComputedStyle(e), svg = e instanceof SVGElement, a = light(channels(svg ? s.fill : s.color)), b = light(ground(svg ? e.ownerSVGElement.parentElement : e));
    smallest = Math.min(smallest, parseFloat(s.fontSize) * (svg ? e.ownerSVGElement.getBoundingClientRect().width / e.ownerSVGElement.viewBox.baseVal.width : 1));
    least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
}
document.body.setAttribute("data-measured", `text ${smallest >= 11.5 ? "large" : smallest} contrast ${least >= 4.5 ? "good" : least} width ${wide <= 1280 ? "fits" : wide}`);
</script>
END

look() {
    name=$1
    shift
    exits 0 "$PTOC" profile "$@" --html=$name.html
    browse $name.html $name.dom --dump-dom
    grep -q 'data-drawn="yes"' $name.dom || die "$name: not drawn to the end"
    for view in equations heat waits bandwidth timeline memory graph roofline totals; do
        grep -q "data-view=\"$view\"[^>]*data-marks=\"[1-9]" $name.dom || die "$name: nothing drawn in the view '$view'"
    done
    for mode in "" --force-dark-mode; do
        cat $name.html measure.html >measured.html
        # shellcheck disable=SC2086
        browse measured.html measured.dom --dump-dom $mode
        grep -q 'data-measured="text large contrast good width fits"' measured.dom ||
            die "$name $mode: $(grep -o 'data-measured="[^"]*"' measured.dom) is not what can be read"
        # shellcheck disable=SC2086
        browse $name.html none $mode --screenshot="$PWD/$name$mode.png"
        # A page without anything on it takes 5 kB.
        [ "$(wc -c <"$name$mode.png")" -gt 40000 ] || die "$name $mode: an empty picture"
    done
    cmp -s $name.png $name--force-dark-mode.png && die "$name: dark is not dark"
    for equation in $equations; do grep -q "<b>$equation</b>" $name.dom || die "$name: the equation $equation is not named"; done
}

equations='c c.sum'
look model "$SOURCE/samples/matmul.pto" -k matmul 'a=random(128,96)' 'b=random(96,160)' --target=davinci
says model.dom 'matmul.pto:6'
equations='z p o'
look scalar "$SOURCE/samples/attention.pto" 'q=random(24,2,8)' 'k=random(24,2,8)' 'v=random(24,2,8)' scale=0.3 --target=ascend910b
equations='m e s y'
look cpu "$SOURCE/samples/softmax.pto" 'x=random(3000,257:1)' --threads=2
equations=
look wave "$SOURCE/samples/edit_distance.pto" 's=random(300:1)' 't=random(200:2)' --threads=2

# Something to click and to zoom does not break it; nor does a kernel without tasks.
cat >>measure.html <<'END'
<script>
for (const b of document.querySelectorAll("button")) b.click();
for (const s of document.querySelectorAll("select")) { s.selectedIndex = s.options.length - 1; s.onchange(); }
for (const c of document.querySelectorAll("canvas")) for (const [type, more] of [["wheel", { deltaY: -100 }], ["mousemove", {}], ["mousemove", { clientX: 700, clientY: 400 }], ["mouseleave", {}]])
    c.dispatchEvent(new (type === "wheel" ? WheelEvent : MouseEvent)(type, { clientX: 300, clientY: 200, ...more }));
document.body.setAttribute("data-clicked", "yes");
</script>
END
cat model.html measure.html >clicked.html
browse clicked.html clicked.dom --dump-dom
says clicked.dom 'data-clicked="yes"'
exits 0 "$PTOC" profile good.pto 'x=zeros(0)' --html=empty.html
browse empty.html empty.dom --dump-dom
says empty.dom 'data-drawn="yes"'
exits 0 "$PTOC" profile good.pto 'x=zeros(0)' --target=davinci --html=none.html
browse none.html none.dom --dump-dom
says none.dom 'data-drawn="yes"'
