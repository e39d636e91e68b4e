// Numbers: cards at the top, tables at the end.
function table(caption, heads, rows) {
    const t = make("table", {}, make("caption", {}, caption)), head = make("tr");
    for (const h of heads) head.append(make("th", { class: h.startsWith("<") ? "left" : "" }, h.replace("<", "")));
    t.append(make("thead", {}, head));
    const body = make("tbody");
    for (const r of rows) {
        const line = make("tr");
        r.forEach((cell, k) => line.append(make("td", { class: heads[k].startsWith("<") ? "left" : "" }, String(cell))));
        body.append(line);
    }
    t.append(body);
    return t;
}

function drawCards() {
    const cards = [];
    cards.push(model ? [group(P.cycles), `cycles, ${seconds(P.cycles / P.hertz)}`] : [moment(P.nanoseconds), "of one call"]);
    for (const u of P.units) if (u.busy) cards.push([percent(u.utilisation), model ? `${u.name} busy` : "of the workers' time in tasks"]);
    const moved = P.tensors.reduce((n, t) => n + (t.read || 0) + (t.written || 0), 0), least = P.tensors.reduce((n, t) => n + t.least_read + t.least_written, 0);
    if (model) cards.push([bytes(moved), `moved; at least ${bytes(least)}`]);
    else cards.push([bytes(least), "have to move at least"]);
    cards.push([group(P.tasks_run), `tasks on ${P.clusters * P.cores} ${model ? "cores" : "workers"}`]);
    $("cards").replaceChildren(...cards.map(([b, s]) => make("div", { class: "card" }, make("b", {}, b), make("span", {}, s))));
}

function drawLegend() {
    $("legend").replaceChildren(...P.equations.map((e, k) => {
        const li = make("li", { title: e.text }, make("i", { style: `background:${colour(k)}` }), make("b", {}, e.name), make("span", { class: "mono" }, `${e.file.split("/").pop()}:${e.line}`), make("code", {}, e.text));
        return li;
    }));
    drawn("equations", P.equations.length);
}

function drawTables() {
    const list = [];
    const units = model ? "cycles" : "ns";
    list.push(table("Units", ["unit", "how many", `busy, ${units}`, "utilisation"], P.units.map(u => [u.name, u.count, group(u.busy), percent(u.utilisation)])));
    if (model) list.push(table("Paths", ["path", "lines", "bytes", "bytes a cycle", "at most", "busy"],
        P.paths.map(p => [p.name, p.lines, group(p.bytes), short(p.bandwidth), short(p.width * p.lines), percent(p.utilisation)])));
    list.push(table("Tensors", model ? ["tensor", "<kind", "bytes", "read", "written", "at least", "times"] : ["tensor", "<kind", "bytes", "at least"], P.tensors.map(t => {
        const least = t.least_read + t.least_written, moved = (t.read || 0) + (t.written || 0), head = [t.name, t.kind, group(t.bytes)];
        return model ? head.concat([group(t.read), group(t.written), group(least), least ? (moved / least).toFixed(2) : ""]) : head.concat([group(least)]);
    })));
    if (model) list.push(table("Traffic of each path", ["tensor", "<path", "read", "of it payload", "written", "of it payload"],
        P.traffic.map(t => [t.tensor || "other", t.path, group(t.read), group(t.payload_read), group(t.written), group(t.payload_written)])));
    list.push(table(model ? "Cores" : "Workers", ["cause", units, "share"], P.waits.map(w => [w.cause, group(w.time), percent(w.share)])));
    list.push(table("Equations", model ? ["equation", "<source", "multiply-adds", "other operations", "bytes of tensors", "cycles of units"] : ["equation", "<source"],
        P.equations.map(e => [e.name, `${e.file}:${e.line}  ${e.text}`].concat(model ? [group(e.macs), group(e.operations), group(e.bytes), group(Object.values(e.busy).reduce((a, b) => a + b, 0))] : []))));
    $("tables").replaceChildren(...list);
    drawn("totals", list.length);
}
