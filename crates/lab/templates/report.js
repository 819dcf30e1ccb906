"use strict";

// Draws what the page has as data, light or dark, and sorts its tables; it computes nothing.
const dark = matchMedia("(prefers-color-scheme: dark)");
const button = document.getElementById("theme");
const charts = JSON.parse(document.getElementById("data").textContent);

// The colours of everything in a chart that is no data, from the page's own.
function theme() {
  const style = getComputedStyle(document.documentElement);
  const [ink, soft, line, paper] = ["--ink", "--soft", "--line", "--paper"].map((name) => style.getPropertyValue(name).trim());
  const axis = {
    nameTextStyle: { color: soft },
    axisLabel: { color: soft },
    axisLine: { lineStyle: { color: soft } },
    axisTick: { lineStyle: { color: soft } },
    splitLine: { lineStyle: { color: line } },
  };
  return {
    textStyle: { color: ink },
    legend: { textStyle: { color: ink }, inactiveColor: line },
    tooltip: { backgroundColor: paper, borderColor: line, textStyle: { color: ink } },
    valueAxis: axis,
    categoryAxis: axis,
    visualMap: { textStyle: { color: soft } },
    scatter: { label: { color: soft, textBorderColor: paper, textBorderWidth: 2 } },
    treemap: { itemStyle: { borderColor: paper }, upperLabel: { color: ink } },
  };
}

// A label that would leave its chart is moved inside.
function inside(chart, margin = 4) {
  return ({ labelRect: { x, width } }) => ({
    hideOverlap: true,
    dx: Math.max(0, margin - x) - Math.max(0, x + width + margin - chart.getWidth()),
  });
}

function draw() {
  document.documentElement.dataset.theme = dark.matches !== (button.dataset.other === "yes") ? "dark" : "light";
  button.textContent = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  for (const { name, option } of charts) {
    const place = document.getElementById(`chart-${name}`);
    echarts.getInstanceByDom(place)?.dispose();
    const chart = echarts.init(place, theme(), { renderer: "svg" });
    const moved = (one) => (one.type === "scatter" ? { ...one, labelLayout: inside(chart) } : one);
    chart.setOption({ ...option, series: option.series.map(moved) });
  }
}

draw();
dark.addEventListener("change", draw);
button.addEventListener("click", () => {
  button.dataset.other = button.dataset.other === "yes" ? "no" : "yes";
  draw();
});
for (const { name } of charts) {
  const place = document.getElementById(`chart-${name}`);
  new ResizeObserver(() => echarts.getInstanceByDom(place).resize()).observe(place);
}

// The command beside the button goes to the clipboard; where there is none it is selected.
for (const copy of document.querySelectorAll(".copy")) {
  copy.addEventListener("click", async () => {
    const command = copy.previousElementSibling;
    getSelection().selectAllChildren(command);
    try {
      await navigator.clipboard.writeText(command.textContent);
      copy.textContent = "copied";
    } catch {
      copy.textContent = "selected";
    }
  });
}

function sort(table, column, ascending) {
  const key = (row) => {
    const cell = row.cells[column];
    return cell.dataset.value === "" ? cell.textContent : Number(cell.dataset.value);
  };
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  const body = table.tBodies[0];
  const rows = [...body.rows].sort((a, b) => compare(key(a), key(b)) * (ascending ? 1 : -1));
  body.append(...rows);
}

for (const head of document.querySelectorAll("th")) {
  head.firstElementChild.addEventListener("click", () => {
    const ascending = head.ariaSort !== "ascending";
    for (const other of head.parentElement.cells) {
      other.ariaSort = "none";
    }
    head.ariaSort = ascending ? "ascending" : "descending";
    sort(head.closest("table"), head.cellIndex, ascending);
  });
}
