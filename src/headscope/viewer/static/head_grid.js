/** All heads as small maps, layer by layer: framed, sorted and filtered by anything measured. */

import { choice, focusItem, make, tabStop } from "./dom.js";
import { describeHead, dressCell, gridPictures } from "./grid_cells.js";
import { neighbourOf } from "./grid_keys.js";
import { gridLegend } from "./grid_legend.js";
import { differenceOfHeads } from "./grid_values.js";
import { bestOfLayer, layerTable } from "./layer_table.js";
import { SENTENCES } from "./words.js";

export function headGrid(context) {
  const grid = {
    context, layers: layerTable(context), cells: new Map(), colours: { values: new Map(), low: 0, high: 1 }, legend: gridLegend(context),
    several: make("input", { type: "checkbox" }), controls: make("div", { class: "controls" }), explain: make("p", { class: "explain" }),
    status: make("output", { class: "readout", "aria-live": "polite" }),
    rows: make("div", { class: "grid-rows", role: "grid", "aria-label": "All heads, layers from top to bottom", "aria-multiselectable": "true", onkeydown: (event) => pressOnGrid(grid, event) }),
  };
  const names = context.model.models.map((each) => each.name).join(" and ");
  const element = make("section", { class: "grid-section", "aria-label": "All heads" },
    make("h2", {}, `All heads of ${names}`), grid.explain, grid.controls, make("div", { class: "grid-scroll" }, grid.rows), grid.legend.element, grid.status, grid.layers.element);
  return { element, update: () => updateGrid(grid), choose: () => chooseCells(grid), pictures: () => gridPictures(grid) };
}

function updateGrid(grid) {
  const { context } = grid;
  const { colour, sort, view } = context.store.get();
  const numbers = [...(context.comparable() ? [differenceOfHeads(context)] : []), ...context.numbers().numbers];
  const numberOf = (name) => numbers.find((each) => each.name === name);
  grid.explain.textContent = view === "compare" && context.comparable() ? SENTENCES.differences : SENTENCES.grid;
  drawControls(grid, numbers);
  drawRows(grid, valuesByHead(numberOf(sort)));
  grid.layers.update();
  dressCells(grid, valuesByHead(numberOf(colour)), numberOf(colour));
}

/** The values of a number by the names of heads; none without a number. */
function valuesByHead(number) {
  return new Map((number?.values ?? []).map(([layer, head, value]) => [`${layer}-${head}`, value]));
}

/** The choices of frames and order, where anything is measured. */
function drawControls({ context, controls, several }, numbers) {
  const { colour, sort } = context.store.get();
  const names = numbers.map(({ name, long_name }) => [name, long_name]);
  const select = (words, usual, value, field, at) => choice(words, [usual, ...names], value, (next) => {
    context.store.set({ [field]: next });
    controls.querySelectorAll("select")[at]?.focus();
  });
  const measured = names.length || context.numbers().kinds.length;
  controls.replaceChildren(...(measured ? [select("Frames", ["kind", "what the head does"], colour, "colour", 0), select("Order", ["", "number of the head"], sort, "sort", 1)] : []),
    make("label", { class: "check" }, several, "choose several"));
}

/** One row of cells a layer, the highest values of `order` first. */
function drawRows(grid, order) {
  const { context, rows, cells } = grid;
  const counts = context.model.models[context.store.get().model].heads;
  cells.clear();
  rows.style.setProperty("--columns", Math.max(...counts));
  rows.replaceChildren(...counts.map((count, at) => {
    const names = Array.from({ length: count }, (_, head) => `${at + 1}-${head + 1}`);
    if (order.size) names.sort((one, other) => (order.get(other) ?? -Infinity) - (order.get(one) ?? -Infinity));
    return make("div", { class: "grid-row", role: "row" }, layerLabel(context, at + 1), names.map((name) => drawCell(grid, name)));
  }));
}

/** The number of a layer; a tooltip says what the layer is best for. */
function layerLabel(context, layer) {
  const best = bestOfLayer(context, layer);
  const words = [`Layer ${layer}`, best].filter(Boolean).join(": ");
  return make("span", { class: "grid-layer", role: "rowheader", "aria-label": words, title: best && words }, String(layer));
}

function drawCell(grid, name) {
  const say = (words) => { grid.status.textContent = words; };
  const cell = make("div", { class: "grid-cell", role: "gridcell", tabindex: "-1", "data-head": name,
    onclick: (event) => pickCell(grid, name, event.ctrlKey || event.metaKey || event.shiftKey || grid.several.checked),
    onpointerenter: () => say(describeHead(grid, name)), onpointerleave: () => say(""), onfocus: () => say(describeHead(grid, name)) },
  make("span", { class: "grid-map" }, make("canvas", { "aria-hidden": "true", width: "1", height: "1" })), make("span", { class: "grid-word" }));
  grid.cells.set(name, cell);
  return cell;
}

function dressCells(grid, values, number) {
  const span = [...values.values()].filter(Number.isFinite);
  grid.colours = { values, low: Math.min(...span), high: Math.max(...span) };
  for (const [name, cell] of grid.cells) dressCell(grid, name, cell);
  grid.legend.update([...grid.cells.keys()], number, grid.colours);
  chooseCells(grid);
}

function pickCell({ context, cells }, name, add) {
  const { heads: before } = context.store.get();
  const rest = before.filter((each) => each !== name);
  const next = !add ? [name] : rest.length < before.length ? (rest.length ? rest : before) : [...before, name].slice(-8);
  context.store.set({ heads: next });
  focusItem([...cells.values()], cells.get(name));
}

/** Mark the chosen heads; the first of them is the tab stop of the grid. */
function chooseCells({ context, cells }) {
  const { heads: chosen } = context.store.get();
  const stop = cells.get(chosen[0]) ?? cells.values().next().value;
  for (const [name, cell] of cells) cell.setAttribute("aria-selected", String(chosen.includes(name)));
  tabStop([...cells.values()], stop);
}

function pressOnGrid(grid, event) {
  const cell = event.target.closest("[data-head]");
  if (!cell) return;
  const picks = event.key === "Enter" || event.key === " ";
  const next = picks ? cell : neighbourOf([...grid.rows.children].map((row) => [...row.querySelectorAll("[data-head]")]), cell, event.key);
  if (!next) return;
  event.preventDefault();
  if (picks) pickCell(grid, cell.dataset.head, event.key === " " || grid.several.checked);
  else focusItem([...grid.cells.values()], next);
}
