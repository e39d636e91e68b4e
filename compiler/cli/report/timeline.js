// Timeline: the units of one core, operation by operation, and the tasks of all cores (on a CPU: the tasks of all workers).
const OP = 8, TASK = 5;                // numbers of an operation and of a task
const zoom = { begin: 0, end: total, core: 0, set: false };

function opRows() {
    if (!model) return P.lanes.map((lane, k) => ({ label: lane.name, lane: k, high: 24 }));
    const rows = [];
    P.lanes.forEach((lane, k) => { if (lane.core === zoom.core) rows.push({ label: lane.name, lane: k, high: 24, slot: lane.slot }); });
    rows.sort((a, b) => a.slot - b.slot);
    const cores = [...new Set(P.lanes.map(l => l.core))].sort((a, b) => a - b);
    for (const core of cores) rows.push({ label: `core ${core}`, core, high: cores.length > 12 ? 12 : 18 });
    return rows;
}

// The begin of the call with so many operations of the core that their names can be read.
function firstWindow() {
    const ends = [];
    for (let k = 0; k < P.ops.length && ends.length < 60; k += OP)
        if (!model || P.lanes[P.ops[k]].core === zoom.core) ends.push(P.ops[k + 1] + P.ops[k + 2]);
    zoom.begin = 0;
    zoom.end = model && ends.length ? Math.min(Math.max(...ends), total) : total;
    zoom.set = true;
}

function opText(k) {
    const [lane, begin, span, site, task, launch, size, macs] = P.ops.slice(k, k + OP), l = P.lanes[lane];
    const what = [`${tick(begin)}..${tick(begin + span)} (${moment(span)})`, `task ${task} of ${P.graph.launches[launch] ? P.graph.launches[launch].name : "?"}`];
    if (size) what.push(bytes(size));
    if (macs) what.push(`${group(macs)} multiply-adds`);
    return `${l.process}, ${l.name}: ${what.join(", ")}\n${equation(site)}`;
}

function taskText(k) {
    const [core, begin, span, task, launch] = P.tasks.slice(k, k + TASK), g = P.graph.launches[launch];
    return `core ${core}: task ${task} of ${g.name}, ${tick(begin)}..${tick(begin + span)} (${moment(span)})\n` + equationsOf(g.program).map(equation).join("\n");
}

function drawTimeline() {
    if (!zoom.set) firstWindow();
    const rows = opRows(), left = 92, byLane = new Map(), byCore = new Map();
    let height = 0;
    for (const r of rows) {
        if (r.core !== undefined && !rows.some(o => o.y !== undefined && o.core !== undefined)) height += 10;
        r.y = height;
        height += r.high + 2;
        (r.core === undefined ? byLane.set(r.lane, r) : byCore.set(r.core, r));
    }
    const { c, g, width } = canvas($("timeline-plot"), height + 24), scale = (width - left) / (zoom.end - zoom.begin), hits = [];
    axis(g, zoom, left, width, height, height);
    g.fillStyle = css("--fg");
    for (const r of rows) fitted(g, r.label, 0, r.y + r.high / 2, left - 6);
    const bar = (row, begin, span, site, label, text) => {
        const x0 = Math.max(left + (begin - zoom.begin) * scale, left), x1 = Math.min(left + (begin + span - zoom.begin) * scale, width);
        if (x1 < left || x0 > width || x1 < x0) return;
        g.fillStyle = colour(site);
        g.fillRect(x0, row.y, Math.max(x1 - x0 - (x1 - x0 > 3 ? 0.7 : 0), 0.7), row.high);
        hits.push([x0, x1, row, text]);
        if (x1 - x0 > 26 && row.high >= 12) {
            g.fillStyle = ink(colour(site));
            fitted(g, label, x0 + 4, row.y + row.high / 2 + 0.5, x1 - x0 - 7);
        }
    };
    let last = 0;
    for (let k = 0; k < P.ops.length; k += OP) {
        const row = byLane.get(P.ops[k]), site = P.ops[k + 3];
        last = Math.max(last, P.ops[k + 1]);
        if (row) bar(row, P.ops[k + 1], P.ops[k + 2], site, P.equations[site] ? P.equations[site].name : "", () => opText(k));
    }
    for (let k = 0; k < P.tasks.length; k += TASK) {
        const row = byCore.get(P.tasks[k]), g0 = P.graph.launches[P.tasks[k + 4]], sites = g0 ? equationsOf(g0.program) : [];
        if (row) bar(row, P.tasks[k + 1], P.tasks[k + 2], sites.length ? sites[sites.length - 1] : -1, `${g0.name} ${P.tasks[k + 3]}`, () => taskText(k));
    }
    if (P.ops.length / OP < P.all_ops && zoom.end > last) {
        const x = Math.max(left + (last - zoom.begin) * scale, left);
        g.fillStyle = css("--soft");
        fitted(g, `${group(P.all_ops - P.ops.length / OP)} later operations are not drawn`, x + 8, 12, width - x - 12);
    }
    c.onmousemove = event => {
        const hit = hits.findLast(h => event.offsetX >= h[0] - 1 && event.offsetX <= h[1] + 1 && event.offsetY >= h[2].y && event.offsetY < h[2].y + h[2].high);
        tip(event, hit ? hit[3]() : "");
        if (hit) $("timeline-readout").textContent = hit[3]().replace(/\n/g, "; ");
    };
    c.onmouseleave = () => tip(null, "");
    if (!c.dataset.ready) zoomable(c, zoom, left, drawTimeline);
    c.dataset.ready = 1;
    if (!$("timeline-readout").textContent && hits.length) {
        const widest = hits.reduce((a, b) => b[1] - b[0] > a[1] - a[0] ? b : a);
        $("timeline-readout").textContent = "Longest here: " + widest[3]().replace(/\n/g, "; ");
    }
    drawn("timeline", hits.length);
}

function timelineTools() {
    const whole = make("button", {}, "whole call"), begin = make("button", {}, "begin");
    whole.onclick = () => { zoom.begin = 0; zoom.end = total; drawTimeline(); };
    begin.onclick = () => { firstWindow(); drawTimeline(); };
    $("timeline-tools").append(begin, whole);
    if (!model) return;
    const select = make("select", { "aria-label": "core" });
    for (const core of [...new Set(P.lanes.map(l => l.core))].sort((a, b) => a - b)) select.append(make("option", { value: core }, `units of core ${core}`));
    select.onchange = () => { zoom.core = Number(select.value); drawTimeline(); };
    zoom.core = select.options.length ? Number(select.options[0].value) : 0;
    $("timeline-tools").append(select);
}
