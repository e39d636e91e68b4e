// What all views share: the profile, colours, numbers, the tooltip, small makers of elements.
"use strict";
const P = JSON.parse(document.getElementById("profile").textContent);
const model = P.kind === "model";
const total = Math.max(model ? P.cycles : P.nanoseconds, 1);
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const $ = id => document.getElementById(id);

// Equations have the colours of this list in their order; each has the contrast to be seen on light and dark.
const palette = ["#3b7dd8", "#e0862a", "#2f9e6b", "#c4517f", "#8a63d2", "#a8892c", "#1f9fb3", "#d1543b", "#6f8f2f", "#9a6a53"];
const colour = site => site >= 0 ? palette[site % palette.length] : "#8b95a7";

// What text on such a colour can be read in.
function ink(hex) {
    const [r, g, b] = [1, 3, 5].map(k => { const v = parseInt(hex.slice(k, k + 2), 16) / 255; return v <= 0.04 ? v / 12.9 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#10151d" : "#ffffff";
}

const group = n => Math.round(n).toString().replace(/\B(?=(\d{3})+(?!\d))/g, "\u2009");
function short(n) {
    if (n === null || !isFinite(n)) return "?";
    const size = Math.abs(n);
    for (const [limit, suffix] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]])
        if (size >= limit) return (n / limit).toPrecision(3) + suffix;
    return size === 0 || size >= 100 ? String(Math.round(n)) : Number(n.toPrecision(3)).toString();
}
function bytes(n) {
    for (const [limit, suffix] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [1024, "KiB"]])
        if (n >= limit) return Number((n / limit).toPrecision(4)) + " " + suffix;
    return n + " B";
}
const seconds = t => t >= 1 ? Number(t.toPrecision(4)) + " s" : t >= 1e-3 ? Number((t * 1e3).toPrecision(4)) + " ms" : Number((t * 1e6).toPrecision(4)) + " µs";
const percent = x => (100 * x).toFixed(x < 0.0995 ? 1 : 0) + " %";
const moment = t => model ? group(t) + " cycles" : t >= 1e6 ? (t / 1e6).toFixed(3) + " ms" : (t / 1e3).toFixed(2) + " µs";
const tick = t => model ? short(t) : t >= 1e6 ? Number((t / 1e6).toPrecision(4)) + " ms" : Number((t / 1e3).toPrecision(4)) + " µs";

// "c.sum, matmul.pto:6: c[i, j] = ..."
function equation(site) {
    const e = P.equations[site];
    return e ? `${e.name}, ${e.file.split("/").pop()}:${e.line}: ${e.text.replace(/;\s*$/, "")}` : "no equation";
}
const equationsOf = program => (P.graph.programs[program] || { equations: [] }).equations;

function make(tag, attributes, ...children) {
    const svg = ["svg", "g", "path", "line", "rect", "circle", "text", "title", "defs", "marker", "polygon"].includes(tag);
    const e = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [k, v] of Object.entries(attributes || {})) e.setAttribute(k, v);
    for (const c of children) e.append(c);
    return e;
}

function tip(event, text) {
    const t = $("tip");
    t.style.display = text ? "block" : "none";
    if (!text) return;
    t.textContent = text;
    const box = t.getBoundingClientRect();
    t.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8)) + "px";
    t.style.top = Math.max(4, Math.min(event.clientY + 14, innerHeight - box.height - 8)) + "px";
}
function tipped(element, text) {
    element.append(make("title", {}, text));
    return element;
}

// How many marks a view has drawn: what tests look at.
const drawn = (view, n) => document.querySelector(`[data-view="${view}"]`).setAttribute("data-marks", n);

// A canvas of sharp pixels with the width of its parent.
function canvas(parent, height) {
    const c = parent.querySelector("canvas") || parent.appendChild(make("canvas"));
    const ratio = devicePixelRatio || 1, width = Math.max(parent.clientWidth, 320);
    c.width = width * ratio;
    c.height = height * ratio;
    c.style.height = height + "px";
    const g = c.getContext("2d");
    g.scale(ratio, ratio);
    g.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    g.textBaseline = "middle";
    return { c, g, width, height };
}

// About `n` round numbers from a to b.
function ticks(a, b, n) {
    const raw = (b - a) / n, power = 10 ** Math.floor(Math.log10(raw || 1));
    const step = [1, 2, 5, 10].map(k => k * power).find(k => k >= raw) || 1, list = [];
    for (let t = Math.ceil(a / step) * step; t <= b; t += step) list.push(t);
    return list;
}

// Text that ends where there is no more room.
function fitted(g, text, x, y, room) {
    if (room < 18) return;
    if (g.measureText(text).width > room) {
        while (text.length > 1 && g.measureText(text + "…").width > room) text = text.slice(0, -1);
        text += "…";
    }
    g.fillText(text, x, y);
}

// Zoom and move of a canvas in time: `view` has begin and end, `left` is where time begins on it.
function zoomable(c, view, left, draw) {
    const at = event => (event.offsetX - left) / Math.max(c.clientWidth - left, 1);
    c.addEventListener("wheel", event => {
        const f = event.deltaY < 0 ? 0.8 : 1.25, x = view.begin + at(event) * (view.end - view.begin);
        const span = Math.min(Math.max((view.end - view.begin) * f, 10), total);
        view.begin = Math.min(Math.max(x - at(event) * span, 0), total - span);
        view.end = view.begin + span;
        event.preventDefault();
        draw();
    }, { passive: false });
    let from = null;
    c.addEventListener("pointerdown", event => { from = { x: event.offsetX, begin: view.begin }; c.setPointerCapture(event.pointerId); });
    c.addEventListener("pointerup", () => { from = null; });
    c.addEventListener("pointermove", event => {
        if (!from) return;
        const span = view.end - view.begin;
        view.begin = Math.min(Math.max(from.begin - (event.offsetX - from.x) / Math.max(c.clientWidth - left, 1) * span, 0), total - span);
        view.end = view.begin + span;
        draw();
    });
}

function axis(g, view, left, width, y, height) {
    g.fillStyle = css("--soft");
    g.strokeStyle = css("--line");
    g.textAlign = "center";
    for (const t of ticks(view.begin, view.end, 8)) {
        const x = left + (t - view.begin) / (view.end - view.begin) * (width - left);
        g.beginPath();
        g.moveTo(x, y - height);
        g.lineTo(x, y);
        g.stroke();
        if (x > left + 14 && x < width - 30) g.fillText(tick(t), x, y + 10);
    }
    g.textAlign = "left";
}
