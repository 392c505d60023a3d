/** Attention as lines between two columns of tokens: only the strongest lines of each token, on a canvas. */

import { lineValues } from "./line_values.js";
import { FAINTEST, ROW, columnWidth, drawLines } from "./lines_drawing.js";
import { legible } from "./palette.js";
import { scrollCanvas } from "./scroll_canvas.js";
import { rawTitle } from "./units.js";

const STEPS_OF_ROWS = { ArrowDown: 1, ArrowUp: -1, PageDown: 16, PageUp: -16, Home: -Infinity, End: Infinity };
const NO_TOKEN = { query: null, key: null };

/**
 * `picture`: {units, tiles, heads: [{place, maximum, colour, name}], label, count}; units from `unitsOf`, `count` of all units.
 * `options`: pin, at, height, onFocus({query, key}, pinned).
 */
export function headLines(picture, options) {
  const { units } = picture;
  const lines = {
    picture, options, units, ...lineValues(picture), pin: options.pin, focus: options.pin, start: options.at, width: 0,
    places: { rows: placesOf(units.rows), columns: placesOf(units.columns) },
  };
  lines.canvas = scrollCanvas({
    label: picture.label,
    draw: (pen, width, height) => drawLines(lines, visibleLines, pen, width, height),
    onpoint: (x, y) => focusToken(lines, (x === undefined ? null : tokenUnder(lines, x, y)) ?? lines.pin, false),
    onpick: (x, y) => pinToken(lines, tokenUnder(lines, x, y)),
    onkey: (event) => pressOnLines(lines, event),
    onscroll: () => options.onScroll?.(Math.round(lines.canvas.element.scrollTop / ROW)),
  });
  lines.canvas.redraw();
  return {
    element: lines.canvas.element,
    redraw: lines.canvas.redraw,
    destroy: lines.canvas.destroy,
    visibleLines: (first, end, dark) => visibleLines(lines, first, end, dark),
    row: lines.row,
  };
}

function placesOf(units) {
  return new Map(units.map((unit, place) => [unit, place]));
}

function tokenUnder({ units, width, canvas }, x, y) {
  const at = Math.floor((y + canvas.element.scrollTop) / ROW);
  const side = columnWidth(width);
  if (x <= side && at < units.rows.length) return { query: units.rows[at], key: null };
  if (x >= width - side && at < units.columns.length) return { query: null, key: units.columns[at] };
  return null;
}

function focusToken(lines, token, pick) {
  if (sameToken(token, lines.focus) && !pick) return;
  lines.focus = token;
  if (pick) lines.pin = token;
  lines.canvas.name(rawTitle(lines.units, ...[token.query, token.key].filter((each) => each !== null)));
  lines.options.onFocus(token, pick);
  lines.canvas.redraw();
}

/** Keep a token in focus, or let it go if it was kept. */
function pinToken(lines, token) {
  if (token) focusToken(lines, sameToken(token, lines.pin) ? NO_TOKEN : token, true);
}

function sameToken(one, other) {
  return one.query === other.query && one.key === other.key;
}

function pressOnLines(lines, event) {
  const acts = {
    ArrowRight: () => changeColumn(lines, true), ArrowLeft: () => changeColumn(lines, false),
    Enter: () => focusToken(lines, lines.focus, true), " ": () => focusToken(lines, lines.focus, true), Escape: () => focusToken(lines, NO_TOKEN, true),
  };
  const act = STEPS_OF_ROWS[event.key] ? () => stepInColumn(lines, STEPS_OF_ROWS[event.key]) : acts[event.key];
  if (!act) return;
  act();
  event.preventDefault();
}

/** The units of the column in focus, and the place of the token in focus; -1 without one. */
function focusedColumn({ units, focus }) {
  const onKeys = focus.query === null && focus.key !== null;
  const all = onKeys ? units.columns : units.rows;
  return { onKeys, all, at: all.indexOf(onKeys ? focus.key : focus.query) };
}

function stepInColumn(lines, step) {
  const { onKeys, all, at } = focusedColumn(lines);
  const next = Math.max(0, Math.min(all.length - 1, at + step));
  revealRow(lines, next);
  focusToken(lines, onKeys ? { query: null, key: all[next] } : { query: all[next], key: null }, false);
}

function changeColumn(lines, right) {
  const other = right ? lines.units.columns : lines.units.rows;
  const unit = other[Math.max(0, Math.min(other.length - 1, focusedColumn(lines).at))];
  focusToken(lines, right ? { query: null, key: unit } : { query: unit, key: null }, false);
}

function revealRow({ canvas }, place) {
  const { scrollTop, clientHeight } = canvas.element;
  canvas.scrollTo(0, Math.max((place + 2) * ROW - clientHeight, Math.min((place - 1) * ROW, scrollTop)));
}

/** The lines of the queries at places first to end: {query, key, strength from 0 to 1, colour}; places in the columns. */
function visibleLines(lines, first, end, dark) {
  const { units, places, focus, picture } = lines;
  const alone = focus.query !== null && places.rows.has(focus.query);
  const queries = alone ? [focus.query] : units.rows.slice(first, end);
  const list = picture.heads.flatMap((head) => queries.flatMap((query) => focusedKeys(lines, head, query).map(([key, value]) => (
    { query: places.rows.get(query), key: places.columns.get(key), strength: value / head.maximum, colour: legible(head.colour, dark) }))));
  return list.filter((line) => line.strength >= FAINTEST).sort((one, other) => one.strength - other.strength);
}

/** The keys of a query that have a line: its strongest, or the one in focus. */
function focusedKeys({ focus, row, strongestKeys }, head, query) {
  if (focus.key === null || focus.query !== null) return strongestKeys(head, query);
  const attention = row(head, query);
  return attention ? [[focus.key, attention[focus.key]]] : [];
}
