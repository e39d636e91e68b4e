// Roofline: operations for each byte that goes to or from tensors, against operations a cycle (on a CPU: a nanosecond, that is
// 10^9 a second). A point is a kind of grid with its equations.
function drawRoofline() {
    const box = $("roofline-plot"), width = Math.max(box.clientWidth, 600), height = 380, left = 92, right = 20, top = 14, bottom = 44;
    const unit = model ? "operations a cycle" : "G operations a second";
    const roofs = [[P.peak_matrix, model ? "cubes" : "vector units"], [P.peak_vector, model ? "vector units" : "no vectors"]].filter(r => r[0] > 0);
    const points = P.graph.programs.map((g, k) => ({ x: g.operations / Math.max(g.bytes, 1), y: g.operations / Math.max(g.time, 1), g, k })).filter(p => p.g.operations > 0 && p.g.time > 0);
    const xs = points.map(p => p.x).concat(roofs.map(r => r[0] / (P.peak_bytes || 1))), ys = points.map(p => p.y).concat(roofs.map(r => r[0]));
    const x0 = 10 ** Math.floor(Math.log10(Math.min(...xs, 1)) - 0.3), x1 = 10 ** Math.ceil(Math.log10(Math.max(...xs, 10)) + 0.3);
    const y0 = 10 ** Math.floor(Math.log10(Math.min(...ys, P.peak_bytes * x0 || 1)) - 0.4), y1 = 10 ** Math.ceil(Math.log10(Math.max(...ys, 1)) + 0.1);
    const X = v => left + Math.log(v / x0) / Math.log(x1 / x0) * (width - left - right), Y = v => height - bottom - Math.log(v / y0) / Math.log(y1 / y0) * (height - top - bottom);
    const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
    for (let v = x0; v <= x1 * 1.001; v *= 10) {
        svg.append(make("line", { x1: X(v), x2: X(v), y1: top, y2: height - bottom, stroke: css("--line") }));
        svg.append(make("text", { x: X(v), y: height - bottom + 16, "text-anchor": "middle", class: "soft" }, short(v)));
    }
    for (let v = y0; v <= y1 * 1.001; v *= 10) {
        svg.append(make("line", { x1: left, x2: width - right, y1: Y(v), y2: Y(v), stroke: css("--line") }));
        svg.append(make("text", { x: left - 6, y: Y(v) + 4, "text-anchor": "end", class: "soft" }, short(v)));
    }
    svg.append(make("text", { x: (left + width) / 2, y: height - 8, "text-anchor": "middle" }, "operations for each byte of tensors that is moved"));
    svg.append(make("text", { transform: `translate(14 ${height / 2}) rotate(-90)`, "text-anchor": "middle" }, unit));
    const slope = P.peak_bytes || 1;
    for (const [roof, name] of roofs) {
        const knee = Math.min(Math.max(roof / slope, x0), x1);
        svg.append(make("path", { d: `M${X(Math.max(x0, y0 / slope))} ${Y(Math.max(slope * x0, y0))}L${X(knee)} ${Y(Math.min(roof, slope * knee))}L${X(x1)} ${Y(roof)}`, fill: "none", stroke: css("--roof"), "stroke-width": 2 }));
        const below = roofs.some(o => o[1] !== name && (o[0] > roof || (o[0] === roof && name === roofs[1][1])) && Y(roof) - Y(o[0]) < 18);
        svg.append(make("text", { x: width - right - 6, y: Y(roof) + (below ? 16 : -6), "text-anchor": "end" }, `${name}: ${short(roof)}`));
    }
    const low = Math.max(x0, y0 / slope);
    svg.append(make("text", { x: X(low * 1.6), y: Y(slope * low * 1.6) + 20 }, `${model ? (P.memories[0] || { name: "DDR" }).name : "memory"}: ${short(slope)} ${model ? "B/cycle" : "GB/s"}`));
    for (const p of points) {
        const sites = equationsOf(p.k), limit = Math.min(roofs.length ? Math.max(...roofs.map(r => r[0])) : Infinity, slope * p.x);
        const name = `${P.graph.programs.length > 1 ? p.k + 1 + ". " : ""}${p.g.name}`, end = X(p.x) > width * 0.7;
        const text = `${p.g.name}: ${short(p.x)} operations a byte, ${short(p.y)} ${unit}, ${percent(p.y / limit)} of the roof above it\n` + sites.map(equation).join("\n");
        svg.append(make("line", { x1: X(p.x), x2: X(p.x), y1: Y(p.y), y2: Y(Math.min(limit, y1)), stroke: css("--soft"), "stroke-dasharray": "3 4" }));
        const dot = tipped(make("circle", { cx: X(p.x), cy: Y(p.y), r: 7, fill: colour(sites.length ? sites[sites.length - 1] : -1), stroke: css("--panel"), "stroke-width": 2 }), text);
        dot.addEventListener("mousemove", event => tip(event, text));
        dot.addEventListener("mouseleave", () => tip(null, ""));
        const first = P.equations[sites[0]];
        svg.append(dot, make("text", { x: X(p.x) + (end ? -11 : 11), y: Y(p.y) + 16, "text-anchor": end ? "end" : "start" },
            clipped(`${name}: ${percent(p.y / limit)} of its roof${first ? " (" + first.file.split("/").pop() + ":" + first.line + ")" : ""}`, 420)));
    }
    box.replaceChildren(svg);
    $("roofline-hint").textContent = P.peak_note;
    drawn("roofline", points.length + roofs.length);
}
