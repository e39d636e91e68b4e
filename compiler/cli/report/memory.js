// Memory: what lies at which address for how long. On chip: the share of one task at a time, of the first core; behind it: the tensors.
const era = { begin: 0, end: total, set: false };

function panels() {
    const list = [];
    (P.memories || []).forEach((m, k) => {
        const boxes = P.boxes.filter(b => b[0] === k);
        if (boxes.length) list.push({ name: m.name, size: m.bytes, top: Math.max(...boxes.map(b => b[1] + b[2])), boxes, high: 150 });
    });
    let at = 0;
    const tensors = P.tensors.filter(t => t.last > t.first && t.bytes > 0).map(t => {
        const exact = P.equations.findIndex(e => e.name === t.name), part = P.equations.findIndex(e => e.name.split(".")[0] === t.name);
        const site = exact >= 0 ? exact : part, b = [-1, at, t.bytes, t.first, t.last - t.first, site, t.name];
        at += t.bytes;
        return b;
    });
    if (tensors.length) list.push({ name: model ? (P.memories[0] || { name: "DDR" }).name : "memory", size: at, top: at, boxes: tensors, high: Math.max(26 * Math.min(tensors.length, 8), 60), tensors: true });
    return list;
}

function memoryWindow() {
    const ends = P.boxes.slice(0, 90).map(b => b[3] + b[4]);
    era.begin = 0;
    era.end = ends.length ? Math.min(Math.max(...ends), total) : total;
    era.set = true;
}

function boxText(panel, b) {
    const use = `${moment(b[4])}, ${tick(b[3])}..${tick(b[3] + b[4])}`;
    return panel.tensors ? `${b[6]}: ${bytes(b[2])}, used ${use}${b[5] >= 0 ? "\n" + equation(b[5]) : "\nan input"}`
                         : `${panel.name}[${group(b[1])}..${group(b[1] + b[2] - 1)}], ${bytes(b[2])}${b[6] ? " of " + b[6] : ""}: ${use}\n${equation(b[5])}`;
}

function drawMemory() {
    if (!era.set) memoryWindow();
    const list = panels(), left = 92;
    let height = 0;
    for (const p of list) p.y = height += 20, height += p.high + 22;
    const { c, g, width } = canvas($("memory-plot"), Math.max(height, 40)), hits = [];
    for (const p of list) {
        const view = p.tensors ? { begin: 0, end: total } : era, scale = (width - left) / (view.end - view.begin), rise = p.high / p.top;
        g.fillStyle = css("--track");
        g.fillRect(left, p.y, width - left, p.high);
        g.fillStyle = css("--fg");
        g.fillText(p.tensors ? `${p.name}: ${bytes(p.top)} of tensors` : `${p.name}: a task uses ${bytes(p.top)} of ${bytes(p.size)}`, left, p.y - 9);
        for (const b of p.boxes) {
            const x0 = Math.max(left + (b[3] - view.begin) * scale, left), x1 = Math.min(left + (b[3] + b[4] - view.begin) * scale, width);
            if (x1 < left || x0 > width || x1 < x0) continue;
            const y = p.y + p.high - (b[1] + b[2]) * rise, high = Math.max(b[2] * rise - 1, 1);
            g.fillStyle = colour(b[5]);
            g.globalAlpha = 0.9;
            g.fillRect(x0, y, Math.max(x1 - x0 - 1, 0.8), high);
            g.globalAlpha = 1;
            hits.push([x0, x1, y, y + high, () => boxText(p, b)]);
            const label = b[6] || (P.equations[b[5]] ? P.equations[b[5]].name : "");
            if (x1 - x0 > 24 && high > 12) {
                g.fillStyle = ink(colour(b[5]));
                fitted(g, label, x0 + 4, y + high / 2, x1 - x0 - 7);
            }
        }
        g.fillStyle = css("--soft");
        g.textAlign = "right";
        g.fillText(bytes(p.top), left - 6, p.y + 6);
        g.fillText("0", left - 6, p.y + p.high - 6);
        g.textAlign = "left";
        axis(g, view, left, width, p.y + p.high, 0);
    }
    c.onmousemove = event => {
        const hit = hits.findLast(h => event.offsetX >= h[0] && event.offsetX <= h[1] && event.offsetY >= h[2] && event.offsetY <= h[3]);
        tip(event, hit ? hit[4]() : "");
        if (hit) $("memory-readout").textContent = hit[4]().replace(/\n/g, "; ");
    };
    c.onmouseleave = () => tip(null, "");
    if (!c.dataset.ready) zoomable(c, era, left, drawMemory);
    c.dataset.ready = 1;
    if (!$("memory-readout").textContent && hits.length) {
        const largest = hits.reduce((a, b) => (b[1] - b[0]) * (b[3] - b[2]) > (a[1] - a[0]) * (a[3] - a[2]) ? b : a);
        $("memory-readout").textContent = "Largest here: " + largest[4]().replace(/\n/g, "; ");
    }
    drawn("memory", hits.length);
}

function memoryTools() {
    if (!P.boxes.length) return;
    const whole = make("button", {}, "all that is known"), begin = make("button", {}, "begin");
    whole.onclick = () => { era.begin = 0; era.end = Math.min(Math.max(...P.boxes.map(b => b[3] + b[4])), total); drawMemory(); };
    begin.onclick = () => { memoryWindow(); drawMemory(); };
    $("memory-tools").append(begin, whole);
    if (P.boxes.length < P.all_boxes) $("memory-tools").append(`${group(P.boxes.length)} values are shown, later ones are not`);
}
