// The task graph: a box for each grid, in order; equal grids that follow each other are one. Inside: its tasks, and the arrows
// of what a task waits for.
function stages() {
    const list = [];
    for (const l of P.graph.launches) {
        const last = list[list.length - 1];
        if (last && last.program === l.program && last.grid.join() === l.grid.join()) {
            last.times++;
            last.span += l.end - l.begin;
        } else {
            list.push({ ...l, times: 1, span: l.end - l.begin });
        }
    }
    return list;
}

function gridPicture(g, l, x, y, size) {
    const rows = l.grid.length > 1 ? l.grid[l.grid.length - 2] : 1, columns = l.grid.length ? l.grid[l.grid.length - 1] : 1;
    const r = Math.max(1, Math.min(rows, 8)), c = Math.max(1, Math.min(columns, 8)), cell = Math.min(size / Math.max(r, c), 24);
    const sites = equationsOf(l.program), fill = colour(sites.length ? sites[sites.length - 1] : -1);
    for (let i = 0; i < r; i++) for (let j = 0; j < c; j++)
        g.append(make("rect", { x: x + j * cell, y: y + i * cell, width: cell - 2, height: cell - 2, rx: 2, fill, "fill-opacity": 0.85 }));
    for (const o of l.offsets) {
        const di = Math.min(o.length > 1 ? o[o.length - 2] : 0, r - 1), dj = o.length ? o[o.length - 1] : 0;
        const i0 = Math.max(0, -di), j0 = dj < 0 ? Math.min(-dj, c - 1) : 0, at = k => k * cell + cell / 2 - 1;
        if (i0 + di < r && j0 + dj < c && j0 + dj >= 0)
            g.append(make("line", { x1: x + at(j0), y1: y + at(i0), x2: x + at(j0 + dj), y2: y + at(i0 + di), stroke: css("--fg"), "stroke-width": 1.5, "marker-end": "url(#head)" }));
    }
}

function drawGraph() {
    const box = $("graph-plot"), all = stages(), list = all.slice(0, 40), width = Math.max(box.clientWidth, 600), across = 3, wide = width / across, high = 178;
    const rows = Math.max(1, Math.ceil(list.length / across));
    const svg = make("svg", { viewBox: `0 0 ${width} ${rows * high + (all.length > list.length ? 20 : 0)}`, role: "img" });
    svg.append(make("defs", {}, make("marker", { id: "head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 6, markerHeight: 6, orient: "auto-start-reverse" }, make("path", { d: "M0 0L8 4L0 8Z", fill: css("--fg") }))));
    list.forEach((l, k) => {
        const x = k % across * wide + 4, y = Math.floor(k / across) * high + 6, w = wide - 36, h = high - 24, g = make("g");
        const sites = equationsOf(l.program);
        const text = `${l.name}: grid ${l.grid.join(" × ") || "1"}, ${group(l.tasks)} tasks${l.times > 1 ? `, ${l.times} times` : ""}, ${moment(l.span)}${l.mode ? ", " + l.mode : ""}\n` + sites.map(equation).join("\n");
        g.append(tipped(make("rect", { x, y, width: w, height: h, rx: 7, fill: css("--track"), stroke: css("--line") }), text));
        g.append(make("text", { x: x + 10, y: y + 19, "font-weight": 600 }, clipped(`${k + 1}. ${l.name}${l.times > 1 ? `  × ${l.times}` : ""}`, w - 20)));
        g.append(make("text", { x: x + 10, y: y + 36, class: "soft" }, clipped(`grid ${l.grid.join(" × ") || "1"}${l.mode ? ", " + l.mode : ""}, ${moment(l.span)} (${percent(l.span / total)})`, w - 20)));
        gridPicture(g, l, x + 10, y + 46, 88);
        sites.slice(0, 6).forEach((s, i) => {
            const e = P.equations[s];
            g.append(make("rect", { x: x + 118, y: y + 50 + i * 17, width: 9, height: 9, rx: 2, fill: colour(s) }));
            g.append(tipped(make("text", { x: x + 132, y: y + 59 + i * 17 }, clipped(`${e.name}  ${e.file.split("/").pop()}:${e.line}`, w - 138)), equation(s)));
        });
        if (sites.length > 6) g.append(make("text", { x: x + 132, y: y + h - 4, class: "soft" }, `and ${sites.length - 6} more`));
        if (l.offsets.length) g.append(make("text", { x: x + 10, y: y + h - 4, class: "soft" }, `waits: ${l.offsets.map(o => "(" + o.join(", ") + ")").slice(0, 3).join(" ")}`));
        g.addEventListener("mousemove", event => tip(event, text));
        g.addEventListener("mouseleave", () => tip(null, ""));
        svg.append(g);
        if (k + 1 < list.length && k % across < across - 1)
            svg.append(make("line", { x1: x + w, y1: y + h / 2, x2: x + wide - 2, y2: y + h / 2, stroke: css("--fg"), "stroke-width": 1.5, "marker-end": "url(#head)" }));
        else if (k + 1 < list.length)
            svg.append(make("path", { d: `M${x + w / 2} ${y + h}V${y + h + 11}H${wide / 2}V${y + h + 21}`, fill: "none", stroke: css("--fg"), "stroke-width": 1.5, "marker-end": "url(#head)" }));
    });
    if (all.length > list.length) svg.append(make("text", { x: 4, y: rows * high + 14, class: "soft" }, `and ${all.length - list.length} more grids`));
    box.replaceChildren(svg);
    drawn("graph", list.length);
}

// A text of about so many pixels.
function clipped(text, room) {
    const n = Math.max(4, Math.floor(room / 6.9));
    return text.length > n ? text.slice(0, n - 1) + "…" : text;
}
