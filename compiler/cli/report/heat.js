// Utilisation: a row for each unit of each core (on a CPU: for each worker), time to the right. The colour is the equation that
// an interval belongs to most, its strength how busy the unit was.
function heatRows() {
    const rows = [], order = model ? [...new Set(P.lanes.map(l => l.name))] : [""];
    const rank = ["cube", "vector", "load", "store", "dma", "scalar"];
    order.sort((a, b) => rank.indexOf(a) - rank.indexOf(b));
    for (const name of order)
        P.lanes.filter(l => !model || l.name === name).sort((a, b) => a.core - b.core || a.slot - b.slot).forEach((lane, k) => rows.push({ lane, first: k === 0 }));
    return rows;
}

// [equation, run, equation, run, ...] by interval.
function spread(runs) {
    const list = [];
    for (let k = 0; k < runs.length; k += 2) for (let n = 0; n < runs[k + 1]; n++) list.push(runs[k]);
    return list;
}

function drawHeat() {
    const rows = heatRows(), left = model ? 92 : 112, gap = model ? 6 : 2, high = rows.length > 120 ? 3 : rows.length > 60 ? 5 : rows.length > 16 ? 8 : 20;
    let height = 0;
    for (const r of rows) r.y = height += (r.first && height ? gap : 0), height += high;
    const { c, g, width } = canvas($("heat"), height + 24), scale = (width - left) / total;
    let marks = 0;
    for (const r of rows) {
        const site = spread(r.lane.equation);
        g.fillStyle = css("--track");
        g.fillRect(left, r.y, width - left, high - (high > 4 ? 1 : 0));
        r.lane.over_time.forEach((busy, i) => {
            if (!busy) return;
            const begin = i * P.interval, end = Math.min(begin + P.interval, total);
            g.globalAlpha = 0.12 + 0.88 * Math.min(busy / (end - begin), 1);
            g.fillStyle = colour(site[i] === undefined ? -1 : site[i]);
            g.fillRect(left + begin * scale, r.y, Math.max((end - begin) * scale, 0.6) + 0.3, high - (high > 4 ? 1 : 0));
            marks++;
        });
        g.globalAlpha = 1;
        r.site = site;
    }
    g.fillStyle = css("--fg");
    for (const r of rows) if (r.first || !model) {
        const same = model ? rows.filter(o => o.lane.name === r.lane.name) : [r];
        const share = same.reduce((n, o) => n + o.lane.busy, 0) / total / (model ? P.clusters * P.cores : 1);
        fitted(g, `${r.lane.name} ${percent(share)}`, 0, model ? r.y + same.length * high / 2 : r.y + high / 2, left - 6);
    }
    axis(g, { begin: 0, end: total }, left, width, height, 0);
    c.onmousemove = event => {
        const r = rows.find(o => event.offsetY >= o.y && event.offsetY < o.y + high), i = Math.floor((event.offsetX - left) / scale / P.interval);
        const busy = r && event.offsetX >= left ? r.lane.over_time[i] : undefined;
        if (!busy) return tip(event, "");
        const end = Math.min((i + 1) * P.interval, total);
        const text = `${r.lane.process}, ${r.lane.name}: ${percent(busy / (end - i * P.interval))} busy in ${tick(i * P.interval)}..${tick(end)}\n${equation(r.site[i])}`;
        tip(event, text);
        $("heat-readout").textContent = text.replace("\n", "; ");
    };
    c.onmouseleave = () => tip(null, "");
    $("heat-hint").textContent = model ? `${P.lanes.length} units of ${P.clusters * P.cores} cores, each a row; strength: share of an interval of ${group(P.interval)} cycles`
                                       : `${P.lanes.length} workers; strength: share of an interval of ${moment(P.interval)} spent in tasks`;
    const best = P.lanes.reduce((a, b) => a && a.busy >= b.busy ? a : b, null);
    const often = best ? spread(best.equation).find(s => s >= 0) : undefined;
    $("heat-readout").textContent = best ? `Busiest: ${best.process}, ${best.name}, ${percent(best.busy / total)}; ${equation(often === undefined ? -1 : often)}` : "Nothing was recorded: the kernel has no tasks.";
    drawn("heat", marks);
}

const causes = { "issuing": "#2f9e6b", "in tasks": "#2f9e6b", "no task": "#aab3c2", "scheduling": "#e0862a", "waiting for tasks": "#8a63d2", "queue of a unit full": "#a8892c",
    "handing out tasks": "#c4517f", "finishing operations": "#1f9fb3", "waiting for cube": "#3b7dd8", "waiting for vector": "#6f8f2f", "waiting for load": "#d1543b",
    "waiting for store": "#9a6a53", "waiting for dma": "#8a63d2", "waiting for scalar": "#55607a" };

function drawWaits() {
    const bar = make("div", { class: "bar" }), list = make("ul", { class: "shares" });
    for (const w of P.waits) {
        const part = make("div", { style: `width:${100 * w.share}%;background:${causes[w.cause] || "#888"}` });
        part.onmousemove = event => tip(event, `${w.cause}: ${percent(w.share)} of the ${model ? "cores'" : "workers'"} time, ${moment(w.time)}`);
        part.onmouseleave = () => tip(null, "");
        bar.append(part);
        list.append(make("li", {}, make("i", { class: "swatch", style: `background:${causes[w.cause] || "#888"}` }), `${w.cause} ${percent(w.share)}`));
    }
    $("waits-plot").replaceChildren(bar, list);
    if (!model) {
        const c = P.counters, known = Object.keys(c).filter(k => k !== "note" && c[k] !== null).map(k => `${group(c[k])} ${k}`);
        if (c.cycles && c.instructions) known.push(`${(c.instructions / c.cycles).toFixed(2)} instructions a cycle`);
        $("waits-plot").append(make("p", { class: "note", id: "counters" }, [known.join(", "), c.note].filter(Boolean).join(". ")));
    }
    $("waits-hint").textContent = model ? "what the cores' sequencers did, or waited for" : "what the workers did";
    drawn("waits", P.waits.length);
}
