"use strict";

// Draws what the page has as data, and sorts its tables; it computes nothing.
for (const { name, option } of JSON.parse(document.getElementById("data").textContent)) {
  const place = document.getElementById(`chart-${name}`);
  const chart = echarts.init(place, null, { renderer: "svg" });
  chart.setOption(option);
  new ResizeObserver(() => chart.resize()).observe(place);
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
