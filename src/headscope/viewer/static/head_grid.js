/** All heads as small maps, layer by layer: framed, sorted and filtered by anything measured. */

import { paintSmall, paintSmallDifference, smallDifference } from "./bitmaps.js";
import { smallMap } from "./binary.js";
import { choice, focusItem, make, share, short } from "./dom.js";
import { gridLegend } from "./grid_legend.js";
import { legible, scaleColour } from "./palette.js";
import { headPlace } from "./state.js";
import { SENTENCES } from "./words.js";

const DIFFERENCE = { name: "difference", long_name: "difference on this text", units: "" };

export function headGrid(context) {
  const { store } = context;
  const cells = new Map(); // head's name -> its cell
  let colours = { values: new Map(), low: 0, high: 1 };
  const rows = make("div", { class: "grid-rows", role: "grid", "aria-label": "All heads, layers from top to bottom", "aria-multiselectable": "true", onkeydown: keys });
  const legend = gridLegend(context);
  const controls = make("div", { class: "controls" });
  const status = make("output", { class: "readout", "aria-live": "polite" });
  const explain = make("p", { class: "explain" });
  const several = make("input", { type: "checkbox" });
  const element = make("section", { class: "grid-section", "aria-label": "All heads" },
    make("h2", {}, `All heads of ${context.model.models.map((each) => each.name).join(" and ")}`),
    explain, controls, make("div", { class: "grid-scroll" }, rows), legend.element, status);

  /** Numbers of heads that a cell can be coloured or sorted by. */
  function measured() {
    const compared = context.comparable() ? [{ ...DIFFERENCE, values: differences() }] : [];
    return [...compared, ...context.numbers.numbers];
  }

  function differences() {
    const [one, other] = context.data.overviews;
    return heads().map(({ layer, head }) => [layer, head, smallDifference(one, other, layer, head)]);
  }

  function heads() {
    return context.model.models[0].heads.flatMap((number, layer) => Array.from({ length: number }, (_, head) => ({ layer: layer + 1, head: head + 1, name: `${layer + 1}-${head + 1}` })));
  }

  function update() {
    const { colour, sort, view } = store.get();
    const numbers = measured();
    const valuesOf = (name) => new Map((numbers.find((each) => each.name === name)?.values ?? []).map(([layer, head, value]) => [`${layer}-${head}`, value]));
    explain.textContent = view === "compare" && context.comparable() ? SENTENCES.differences : SENTENCES.grid;
    drawControls(numbers, colour, sort);
    drawRows(valuesOf(sort), valuesOf(colour), numbers.find((each) => each.name === colour));
  }

  function drawControls(numbers, colour, sort) {
    const names = numbers.map(({ name, long_name }) => [name, long_name]);
    const set = (field) => (value) => { store.set({ [field]: value }); controls.querySelectorAll("select")[field === "colour" ? 0 : 1]?.focus(); };
    controls.replaceChildren(...(names.length || context.numbers.kinds.length ? [
      choice("Frames", [["kind", "what the head does"], ...names], colour, set("colour")),
      choice("Order", [["", "number of the head"], ...names], sort, set("sort"))] : []),
    make("label", { class: "check" }, several, "choose several"));
  }

  function drawRows(order, values, number) {
    const counts = context.model.models[store.get().model].heads;
    cells.clear();
    rows.replaceChildren(...counts.map((count, at) => {
      const names = Array.from({ length: count }, (_, head) => `${at + 1}-${head + 1}`);
      if (order.size) names.sort((one, other) => (order.get(other) ?? -Infinity) - (order.get(one) ?? -Infinity));
      return make("div", { class: "grid-row", role: "row" }, make("span", { class: "grid-layer", role: "rowheader", "aria-label": `Layer ${at + 1}` }, String(at + 1)), names.map(drawCell));
    }));
    rows.style.setProperty("--columns", Math.max(...counts));
    const span = [...values.values()].filter(Number.isFinite);
    colours = { values, low: Math.min(...span), high: Math.max(...span) };
    for (const [name, cell] of cells) dressCell(name, cell);
    legend.update([...cells.keys()], number, colours);
    choose();
  }

  function drawCell(name) {
    const canvas = make("canvas", { "aria-hidden": "true", width: "1", height: "1" });
    const cell = make("div", { class: "grid-cell", role: "gridcell", tabindex: "-1", "data-head": name,
      onclick: (event) => pick(name, event.ctrlKey || event.metaKey || event.shiftKey || several.checked),
      onpointerenter: () => say(name), onpointerleave: () => say(null), onfocus: () => say(name) },
    make("span", { class: "grid-map" }, canvas), make("span", { class: "grid-word" }));
    cells.set(name, cell);
    return cell;
  }

  function dressCell(name, cell) {
    const dark = context.dark();
    const kinds = context.kindsOf(name);
    paintHead(cell.querySelector("canvas"), headPlace(name), dark);
    const value = colours.values.get(name);
    const word = colours.values.size ? (value === undefined ? "–" : short(value)) : kinds[0]?.word ?? "";
    cell.style.setProperty("--frame", frameOf(name, dark) ?? "var(--rule)");
    cell.querySelector(".grid-word").replaceChildren(...(store.get().sort ? [make("b", {}, name)] : []), word);
    cell.dataset.word = word;
    cell.setAttribute("aria-label", describe(name));
    const { kind } = store.get();
    cell.classList.toggle("dim", Boolean(kind) && !kinds.some((each) => each.kind === kind));
  }

  function paintHead(canvas, place, dark) {
    const [one, other] = context.data.overviews;
    if (store.get().view === "compare" && context.comparable()) paintSmallDifference(canvas, one, other, place, dark);
    else paintSmall(canvas, context.data.overviews[store.get().model] ?? one, place, dark);
  }

  /** The colour of a head's frame by the number or the kind that frames show; undefined without one. */
  function frameOf(name, dark) {
    const { values, low, high } = colours;
    if (values.size) return values.has(name) ? scaleColour((values.get(name) - low) / (high - low || 1), dark) : undefined;
    const [first] = context.kindsOf(name);
    return first && legible(context.numbers.colours[first.kind] ?? "#8a8a8a", dark);
  }

  function describe(name) {
    const kinds = context.kindsOf(name).map((each) => each.word).join(", ");
    const overview = context.data.overviews[store.get().model] ?? context.data.overviews[0];
    const { layer, head } = headPlace(name);
    const { word } = cells.get(name).dataset;
    const value = store.get().colour !== "kind" && word ? `, ${store.get().colour} ${word}` : "";
    return `Head ${name}${kinds ? `: ${kinds}` : ""}${value}; strongest attention ${share(smallMap(overview, layer, head).maximum)}`;
  }

  function say(name) {
    status.textContent = name ? describe(name) : "";
  }

  function pick(name, add) {
    const { heads: before } = store.get();
    const rest = before.filter((each) => each !== name);
    const next = !add ? [name] : rest.length < before.length ? (rest.length ? rest : before) : [...before, name].slice(-8);
    store.set({ heads: next });
    focusItem([...cells.values()], cells.get(name));
  }

  /** Mark the chosen heads; the first of them is the tab stop of the grid. */
  function choose() {
    const { heads: chosen } = store.get();
    const stop = cells.get(chosen[0]) ?? cells.values().next().value;
    for (const [name, cell] of cells) {
      cell.setAttribute("aria-selected", String(chosen.includes(name)));
      cell.tabIndex = cell === stop ? 0 : -1;
    }
  }

  function keys(event) {
    const cell = event.target.closest("[data-head]");
    if (!cell) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      pick(cell.dataset.head, event.key === " " || several.checked);
      return;
    }
    const grid = [...rows.children].map((row) => [...row.querySelectorAll("[data-head]")]);
    const row = grid.findIndex((each) => each.includes(cell));
    const column = grid[row].indexOf(cell);
    const next = { ArrowUp: grid[row - 1]?.[Math.min(column, (grid[row - 1]?.length ?? 1) - 1)], ArrowDown: grid[row + 1]?.[Math.min(column, (grid[row + 1]?.length ?? 1) - 1)],
      ArrowLeft: grid[row][column - 1], ArrowRight: grid[row][column + 1], Home: grid[row][0], End: grid[row].at(-1) }[event.key];
    if (!next) return;
    event.preventDefault();
    focusItem([...cells.values()], next);
  }

  return {
    element,
    update,
    choose,
    /** The pictures of the grid in rows, on white, for a figure: canvas, colour of the frame, word. */
    pictures: () => [...rows.children].map((row) => [...row.querySelectorAll("[data-head]")].map((cell) => {
      const { head } = cell.dataset;
      const canvas = document.createElement("canvas");
      paintHead(canvas, headPlace(head), false);
      return { canvas, frame: frameOf(head, false) ?? "#d9dee4", word: cell.dataset.word };
    })),
  };
}
