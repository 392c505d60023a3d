/** Buttons that save a table as CSV. */

import { saveFile } from "./dom.js";

export function startDownloads() {
  for (const button of document.querySelectorAll("button.csv")) {
    const table = button.closest("details").querySelector("table");
    button.addEventListener("click", () => saveFile(new Blob([tidyCsv(table, button.dataset.dim)], { type: "text/csv" }), `${button.dataset.name}.csv`));
  }
}

/** A table as tidy CSV: a line for each value. */
function tidyCsv(table, dim) {
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const heads = [...table.tHead.rows[0].cells];
  const keys = heads.filter((cell) => cell.dataset.key === undefined);
  const columns = heads.slice(keys.length);
  const lines = [[...keys.map((cell) => cell.textContent), ...(dim ? [dim] : []), "value", "lower", "upper", "n_examples"]];
  for (const row of table.tBodies[0].rows) {
    const cells = [...row.cells];
    const place = cells.slice(0, keys.length).map((cell) => cell.textContent);
    cells.slice(keys.length).forEach((cell, index) => {
      if (!cell.firstChild) return;
      const [lower = "", upper = ""] = cell.querySelector("i")?.textContent.split(", ") ?? [];
      const { key, n } = columns[index].dataset;
      lines.push([...place, ...(dim ? [key] : []), cell.firstChild.textContent, lower, upper, n]);
    });
  }
  return lines.map((line) => line.map(quoted).join(",")).join("\n") + "\n";
}
