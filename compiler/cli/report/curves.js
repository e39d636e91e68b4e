// Bandwidth of each path over time, against what the path can carry.
function drawCurves() {
    const box = $("curves"), width = Math.max(box.clientWidth, 600), left = 92, high = 96, paths = P.paths.filter(p => p.bytes), idle = P.paths.filter(p => !p.bytes), unit = model ? "B/cycle" : "GB/s";
    const svg = make("svg", { viewBox: `0 0 ${width} ${paths.length * (high + 26) + 20}`, role: "img" });
    let marks = 0;
    paths.forEach((path, k) => {
        const y = k * (high + 26) + 16, peak = path.width * path.lines || 1, scale = (width - left - 8) / total;
        const at = v => y + high - Math.min(v / peak, 1.05) * high;
        svg.append(make("rect", { x: left, y, width: width - left - 8, height: high, fill: css("--track") }));
        for (const part of [0, 0.5, 1]) {
            svg.append(make("line", { x1: left, x2: width - 8, y1: at(part * peak), y2: at(part * peak), stroke: part === 1 ? css("--hot") : css("--line"), "stroke-dasharray": part === 1 ? "5 4" : "none" }));
            svg.append(make("text", { x: left - 6, y: at(part * peak) + 4, "text-anchor": "end", class: "soft" }, short(part * peak)));
        }
        let d = `M${left} ${y + high}`;
        const n = Math.ceil(total / P.interval);
        for (let i = 0; i < n; i++) {
            const begin = i * P.interval, end = Math.min(begin + P.interval, total), v = (path.over_time[i] || 0) / (end - begin);
            d += `L${(left + begin * scale).toFixed(1)} ${at(v).toFixed(1)}L${(left + end * scale).toFixed(1)} ${at(v).toFixed(1)}`;
            marks += v > 0;
        }
        d += `L${(left + total * scale).toFixed(1)} ${y + high}Z`;
        const share = path.bytes / total / peak;
        const text = `${path.name}: ${bytes(path.bytes)}, ${short(path.bytes / total)} of ${short(peak)} ${unit} (${percent(share)})`;
        const area = tipped(make("path", { d, fill: palette[k % palette.length], "fill-opacity": 0.45, stroke: palette[k % palette.length] }), text + "\n" + trafficText(path.name));
        svg.append(area, make("text", { x: left + 4, y: y - 4 }, text));
        const hit = make("rect", { x: left, y, width: width - left - 8, height: high, fill: "transparent" });
        hit.addEventListener("mousemove", event => {
            const i = Math.floor((event.offsetX * width / svg.clientWidth - left) / scale / P.interval), begin = i * P.interval, end = Math.min(begin + P.interval, total);
            if (i >= 0 && end > begin) tip(event, `${path.name}: ${short((path.over_time[i] || 0) / (end - begin))} ${unit} in ${tick(begin)}..${tick(end)}\n${trafficText(path.name)}`);
        });
        hit.addEventListener("mouseleave", () => tip(null, ""));
        svg.append(hit);
    });
    const base = paths.length * (high + 26) + 8;
    for (const t of ticks(0, total, 8)) svg.append(make("text", { x: left + t / total * (width - left - 8), y: base, "text-anchor": "middle", class: "soft" }, tick(t)));
    box.replaceChildren(...(paths.length ? [svg] : []), ...(idle.length ? [make("p", { class: "note" }, "No traffic: " + idle.map(p => p.name).join(", "))] : []));
    $("bandwidth-hint").textContent = model ? "all lines of a path together; dashed: what they can carry" :
        "not measured: the bytes that a grid has to read and write at least, over its time; dashed: a copy by all workers";
    drawn("bandwidth", marks);
}

// "a 1 MiB, b 8 MiB"
function trafficText(path) {
    return P.traffic.filter(t => t.path === path).map(t => `${t.tensor || "other"}: ${bytes(t.read)} read, ${bytes(t.written)} written`).join("\n");
}
