/** The cells of the grid of all heads (`head_grid.js`): their pictures, frames and words. */

import { paintSmall, paintSmallDifference } from "./bitmaps.js";
import { smallMap } from "./binary.js";
import { make, share, short } from "./dom.js";
import { legible, scaleColour } from "./palette.js";
import { headPlace } from "./state.js";

/** Paint the map of a cell, and show what the head does or its number. */
export function dressCell(grid, name, cell) {
  const { context, colours } = grid;
  const { kind, sort } = context.store.get();
  const kinds = context.kindsOf(name);
  const value = colours.values.get(name);
  const word = colours.values.size ? (value === undefined ? "–" : brief(value)) : kinds[0]?.word ?? "";
  paintHead(context, cell.querySelector("canvas"), headPlace(name), context.dark());
  cell.style.setProperty("--frame", frameOf(grid, name, context.dark()) ?? "var(--rule)");
  cell.querySelector(".grid-word").replaceChildren(...(sort ? [make("b", {}, name)] : []), word);
  cell.classList.toggle("number", colours.values.size > 0);
  cell.dataset.word = word;
  cell.setAttribute("aria-label", describeHead(grid, name));
  cell.classList.toggle("dim", Boolean(kind) && !kinds.some((each) => each.kind === kind));
}

/** A number that fits below a small cell. */
function brief(value) {
  return short(Math.abs(value) < 0.1 ? Number(value.toPrecision(2)) : value);
}

/** A head in words: what it does, its number, its strongest attention. */
export function describeHead({ context, cells }, name) {
  const { colour, model } = context.store.get();
  const kinds = context.kindsOf(name).map((each) => each.word).join(", ");
  const { layer, head } = headPlace(name);
  const { word } = cells.get(name).dataset;
  const value = colour !== "kind" && word ? `, ${colour} ${word}` : "";
  const { maximum } = smallMap(context.data.overviews[model] ?? context.data.overviews[0], layer, head);
  return `Head ${name}${kinds ? `: ${kinds}` : ""}${value}; strongest attention ${share(maximum)}`;
}

/** The grid in rows, on white, for a figure: label, and canvas, colour of the frame and word of each head. */
export function gridPictures(grid) {
  return [...grid.rows.querySelectorAll("[role=row]")].map((row) => [row.firstChild.textContent, [...row.querySelectorAll("[data-head]")].map(({ dataset: { head, word } }) => {
    const canvas = document.createElement("canvas");
    paintHead(grid.context, canvas, headPlace(head), false);
    return { canvas, frame: frameOf(grid, head, false) ?? "#d9dee4", word };
  })]);
}

function paintHead(context, canvas, place, dark) {
  const { view, model } = context.store.get();
  const { overviews, compared } = context.data;
  if (view === "compare" && context.comparable()) paintSmallDifference(canvas, ...context.pair().map((at) => compared[at]), place, dark);
  else paintSmall(canvas, overviews[model] ?? overviews[0], place, dark);
}

/** The colour of a head's frame by the number or the kind that frames show; undefined without one. */
function frameOf({ context, colours: { values, low, high } }, name, dark) {
  if (values.size) return values.has(name) ? scaleColour((values.get(name) - low) / (high - low || 1), dark) : undefined;
  const [first] = context.kindsOf(name);
  return first && legible(context.numbers().colours[first.kind] ?? "#8a8a8a", dark);
}
