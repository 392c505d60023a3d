/** All heads as small maps, layer by layer: framed, sorted and filtered by anything measured. */

import { differenceOfHeads } from "./bitmaps.js";
import { choice, focusItem, make, redraw, tabStop } from "./dom.js";
import { describeHead, dressCell, gridPictures } from "./grid_cells.js";
import { neighbourOf } from "./grid_keys.js";
import { gridLegend } from "./grid_legend.js";
import { inOrder, orderControls } from "./head_order.js";
import { bestOfLayer, layerPanels } from "./layer_panels.js";
import { headPlace } from "./state.js";
import { changeNumbers } from "./text_changes.js";
import { SENTENCES } from "./words.js";

export function headGrid(context) {
  const grid = {
    context, layers: layerPanels(context), cells: new Map(), colours: { values: new Map(), low: 0, high: 1 }, legend: gridLegend(context),
    several: make("input", { type: "checkbox" }), controls: make("div", { class: "controls" }), explain: make("p", { class: "explain" }),
    status: make("output", { class: "readout", "aria-live": "polite" }),
    rows: make("div", { class: "grid-rows", role: "grid", "aria-label": "All heads, layers from top to bottom", "aria-multiselectable": "true", onkeydown: (event) => pressOnGrid(grid, event) }),
  };
  const element = make("section", { class: "grid-section", "aria-label": "All heads" },
    make("h2", {}, `All heads of ${context.names()}`), grid.explain, grid.controls, sideways(grid.rows), grid.legend.element, grid.status, grid.layers.element);
  return { element, update: () => updateGrid(grid), choose: () => chooseCells(grid), pictures: () => gridPictures(grid) };
}

/** A box that scrolls sideways; while there is more on the right, its edge fades. */
function sideways(content) {
  const box = make("div", { class: "grid-scroll", onscroll: () => fade() }, content);
  const fade = () => box.classList.toggle("more", box.scrollLeft + box.clientWidth < box.scrollWidth - 4);
  const watch = new ResizeObserver(fade);
  watch.observe(box);
  watch.observe(content);
  return box;
}

function updateGrid(grid) {
  const { context } = grid;
  const { colour, sort, view } = context.store.get();
  const numbers = [...(context.data.text.changes ? changeNumbers(context.data.text) : context.comparable() ? [differenceOfHeads(context)] : []), ...context.numbers().numbers];
  const numberOf = (name) => numbers.find((each) => each.name === name);
  grid.explain.textContent = view === "compare" && context.comparable() ? SENTENCES[context.data.text.against ? "changes" : "differences"] : SENTENCES.grid;
  drawControls(grid, numbers);
  drawRows(grid, sort === "kind" ? undefined : valuesByHead(numberOf(sort)));
  grid.layers.update();
  dressCells(grid, valuesByHead(numberOf(colour)), numberOf(colour));
}

/** The values of a number by the names of heads; none without a number. */
function valuesByHead(number) {
  return new Map((number?.values ?? []).map(([layer, head, value]) => [`${layer}-${head}`, value]));
}

/** The choices of frames and order, where anything is measured. */
function drawControls({ context: { numbers, store }, controls, several }, measured) {
  const titles = measured.map(({ name, long_name }) => [name, long_name]);
  const change = (fields) => store.set(fields);
  const frames = () => choice("Frames", [["kind", "what the head does"], ...titles], store.get().colour, (colour) => change({ colour }));
  redraw(controls, ...(titles.length || numbers().kinds.length ? [frames(), ...orderControls(titles, store.get(), change)] : []),
    make("label", { class: "check" }, several, "choose several"));
}

/** One row of cells a layer, or as many in one order; `values` are those of the number that orders them. */
function drawRows(grid, values) {
  const { context, rows, cells } = grid;
  const state = context.store.get();
  const counts = context.readings()[state.model].heads;
  const names = counts.map((count, at) => Array.from({ length: count }, (_, head) => `${at + 1}-${head + 1}`));
  const order = { nameOf: (name) => name, values, kinds: Object.keys(context.numbers().colours), kindOf: (name) => context.kindsOf(name)[0] };
  cells.clear();
  rows.style.setProperty("--columns", Math.max(...counts));
  const heads = make("div", { class: "grid-row grid-heads", "aria-hidden": "true", hidden: Boolean(state.sort) },
    make("span"), Array.from({ length: Math.max(...counts) }, (_, head) => make("span", {}, String(head + 1))));
  rows.replaceChildren(...inOrder(names, state, order).map((row, at) => make("div", { class: "grid-row", role: "row" },
    state.sort && state.all ? make("span", { class: "grid-layer" }) : layerLabel(context, at + 1), row.map((name) => drawCell(grid, name)))), heads);
  const [group] = context.readings()[state.model].query_groups ?? [1]; // heads that share keys
  const begins = ({ head }) => !state.sort && group > 1 && head > 1 && head % group === 1;
  for (const [name, cell] of cells) cell.classList.toggle("new-keys", begins(headPlace(name)));
}

/** The number of a layer; a tooltip says what the layer is best for. */
function layerLabel(context, layer) {
  const best = bestOfLayer(context, layer);
  const { windows } = context.readings()[context.store.get().model];
  const window = windows?.[layer - 1];
  const words = [`Layer ${layer}`, window && `looks at most ${window} tokens away`, best].filter(Boolean).join(": ");
  return make("span", { class: `grid-layer${window ? " local" : ""}`, role: "rowheader", "aria-label": words, title: (best || window) && words }, String(layer));
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
