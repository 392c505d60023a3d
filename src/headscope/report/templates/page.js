/** Open an element and all folds around it, and bring it into view. Other scripts of the page call it, too. */
const reveal = (id) => {
  const element = document.getElementById(id);
  for (let fold = element?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  element?.scrollIntoView();
};

{
"use strict";
const { specs, data } = JSON.parse(document.getElementById("charts").textContent);
const places = [...document.querySelectorAll("[data-chart]")];
const MANY_ROWS = 5000;

/** The rows of a data set, which the page holds as columns. */
function rows(columns) {
  const whole = (column) => (column.words ? column.at.map((index) => column.words[index]) : column);
  const lists = Object.entries(columns).map(([key, column]) => [key, whole(column)]);
  return (lists[0]?.[1] ?? []).map((_, row) => {
    const filled = lists.filter(([, values]) => values[row] !== null);
    return Object.fromEntries(filled.map(([key, values]) => [key, values[row]]));
  });
}

/** The widths that each chart is laid out for, and the endings of their names. */
const FITS = [[900, ""], [520, "@640"], [0, "@340"]];

/** A chart without a colour behind it: the page has one, light or dark. */
function layout(place) {
  const [, ending] = FITS.find(([width]) => place.clientWidth >= width);
  const spec = specs[place.dataset.chart + ending] ?? specs[place.dataset.chart];
  return { ...spec, config: { ...spec.config, background: "transparent" } };
}

/** Say what a chart shows where it is drawn, and name its menu: a picture holds no buttons. */
function name(place) {
  const picture = place.querySelector("svg.marks, canvas.marks");
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", place.getAttribute("aria-label"));
  picture.style.maxWidth = `${1.25 * picture.width?.baseVal?.value || picture.width}px`;
  place.removeAttribute("role");
  place.removeAttribute("aria-label");
  place.querySelector("summary")?.setAttribute("aria-label", "Save this chart");
}

/** Draw a chart once; canvas where an element for each mark would be slow. */
async function draw(place) {
  if (place.dataset.state) return;
  place.dataset.state = "drawing";
  const { uses, ...spec } = layout(place);
  spec.datasets = Object.fromEntries(uses.map((name) => [name, rows(data[name])]));
  const many = Object.values(spec.datasets).some((set) => set.length > MANY_ROWS);
  await vegaEmbed(place, spec, {
    ast: true, // expressions are interpreted, so that the page needs no eval
    renderer: many ? "canvas" : "svg",
    actions: { export: { svg: true, png: true }, source: false, compiled: false, editor: false },
    downloadFileName: place.dataset.chart,
  });
  name(place);
  place.dataset.state = "drawn";
}

const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) draw(entry.target);
}, { rootMargin: "600px" });
places.forEach((place) => seen.observe(place));

/** Draw what is left when the reader is not waiting, so that printing finds every chart; but not what is folded away. */
const folded = (place) => place.closest("details:not([open])");
function drawNext() {
  const next = places.find((place) => !place.dataset.state && !folded(place));
  if (next) draw(next).then(() => (window.requestIdleCallback ?? setTimeout)(drawNext));
}
addEventListener("load", () => setTimeout(drawNext, 500));
/** Paper has all: what is folded is opened, and folded again afterwards. */
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open]):not(.vega-embed details)")];
  opened.forEach((details) => (details.open = true));
  places.forEach(draw);
});
addEventListener("afterprint", () => opened.forEach((details) => (details.open = false)));

/** A table as tidy CSV: a line for each value. */
function csv(table, dim) {
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

/** Order the rows of a table by a column: numbers from the largest, words from A; once more turns it round. */
function sort(table, column) {
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
for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...cell.childNodes);
    cell.append(button);
    button.addEventListener("click", () => sort(table, column));
  });
}

/** Boxes that scroll sideways can be reached by keyboard; the others are no stops on the way. */
const boxes = new ResizeObserver((entries) => {
  for (const { target } of entries) target.parentElement.tabIndex = overflows(target.parentElement) ? 0 : -1;
});
const overflows = (box) => box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
document.querySelectorAll(".scroll > *").forEach((inside) => boxes.observe(inside));

function download(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

for (const button of document.querySelectorAll("button.csv")) {
  const table = button.closest("details").querySelector("table");
  button.addEventListener("click", () => download(`${button.dataset.name}.csv`, csv(table, button.dataset.dim)));
}
for (const link of document.querySelectorAll("[data-opens]")) {
  const details = document.querySelector(`details[data-variable="${CSS.escape(link.dataset.opens)}"]`);
  if (!details) continue;
  link.href = `#${details.id}`;
  link.addEventListener("click", () => reveal(details.id));
}
if (document.getElementById(location.hash.slice(1))?.closest("details")) reveal(location.hash.slice(1));
for (const link of document.querySelectorAll("nav a")) {
  const fold = document.querySelector(`${link.getAttribute("href")} > details.fold:only-of-type`);
  if (fold && link.hash !== "#findings") link.addEventListener("click", () => (fold.open = true));
}
}
