/** Tables whose titles order their rows. */

import { make } from "./dom.js";

export function startSorting() {
  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
      cell.append(make("button", { type: "button", onclick: () => sortRows(table, column) }, [...cell.childNodes]));
    });
  }
}

/** Order the rows of a table by a column: numbers from the largest, words from A; once more turns it round. */
function sortRows(table, column) {
  const head = table.tHead.rows[0].cells[column];
  const text = (row) => row.cells[column].firstChild?.textContent ?? "";
  const isNumber = [...table.tBodies[0].rows].every((row) => text(row) === "" || !Number.isNaN(Number(text(row))));
  const first = isNumber ? "descending" : "ascending";
  const order = head.ariaSort === first ? { descending: "ascending", ascending: "descending" }[first] : first;
  const sign = order === "ascending" ? 1 : -1;
  const compare = (one, other) => (isNumber ? one - other : one.localeCompare(other, "en", { numeric: true }));
  const rows = [...table.tBodies[0].rows].sort((one, other) => {
    const [a, b] = [text(one), text(other)];
    return a === "" || b === "" ? (a === "") - (b === "") : sign * compare(a, b);
  });
  for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", order);
  table.tBodies[0].append(...rows);
}
