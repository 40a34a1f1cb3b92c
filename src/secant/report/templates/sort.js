"use strict";
// Headers sort their table: numbers by data-value, words by their text. Data stays in the page.
const keyOf = (row, column) => {
  const cell = row.cells[column];
  return cell.dataset.value === undefined ? cell.textContent.trim() : Number(cell.dataset.value);
};
const compared = (a, b) =>
  typeof a === "number" && typeof b === "number"
    ? (Number.isNaN(a) - Number.isNaN(b)) || a - b
    : String(a).localeCompare(String(b), undefined, { numeric: true });
for (const header of document.querySelectorAll("table.sortable thead th")) {
  header.querySelector("button").addEventListener("click", () => {
    const body = header.closest("table").tBodies[0];
    const isNumber = header.classList.contains("number");
    const before = header.getAttribute("aria-sort");
    const down = before === null ? isNumber : before === "ascending";
    for (const other of header.parentNode.cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...body.rows].map((row) => [keyOf(row, header.cellIndex), row]);
    rows.sort((a, b) => (down ? compared(b[0], a[0]) : compared(a[0], b[0])));
    body.append(...rows.map((pair) => pair[1]));
  });
}
