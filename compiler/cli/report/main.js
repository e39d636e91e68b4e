// Draws everything, and again when the window or the colour scheme changes.
function drawAll() {
    for (const draw of [drawCards, drawLegend, drawHeat, drawWaits, drawCurves, drawTimeline, drawMemory, drawGraph, drawRoofline, drawTables]) draw();
    document.body.setAttribute("data-drawn", "yes");
}
document.title = `${P.kernel} on ${P.target}`;
$("title").textContent = `${P.kernel} on ${P.target}`;
$("subtitle").textContent = `${P.file}, ${moment(total)}, ${P.graph.launches.length} ${P.graph.launches.length === 1 ? "grid" : "grids"}`;
timelineTools();
memoryTools();
drawAll();
let later = 0;
addEventListener("resize", () => { clearTimeout(later); later = setTimeout(drawAll, 100); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
