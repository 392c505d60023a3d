/** An attention map as tiles on a canvas, at any zoom, with the row and the column in focus. */

import { drawMap } from "./map_drawing.js";
import { layMap } from "./map_layout.js";
import { scrollCanvas } from "./scroll_canvas.js";
import { rawTitle, runsOf } from "./units.js";

const ZOOMS = [0.125, 0.25, 0.5, 1, 2, 4, 8, 12, 16, 24, 34, 48];
const STEPS_OF_KEYS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-16, 0], PageDown: [16, 0] };
const NO_UNITS = { query: null, key: null };

/**
 * `picture`: {units, bitmap(zoom, row, column), label}; units from `unitsOf`.
 * `options`: zoom (pixels a cell, 0 to fit), at ([row, column] of the first cell), pin, height, and the listeners
 * onFocus(row, column, pinned) with units, onView({zoom, at}), onScroll(left, top).
 */
export function heatMap(picture, options) {
  const { units } = picture;
  const map = {
    picture, units, options, zoom: options.zoom, pin: options.pin ?? NO_UNITS, start: options.at, shape: null,
    focus: null, // [place of the row, place of the column]
    runs: { rows: runsOf(units.rows), columns: runsOf(units.columns) },
    longest: 18 + 6.5 * units.labels.reduce((most, label) => Math.max(most, label.length), 2), // pixels of a label, about
  };
  map.canvas = scrollCanvas({
    label: picture.label,
    draw: (pen, width, height) => drawMap(map, pen, width, height),
    onpoint: (x, y) => focusCell(map, (x === undefined ? null : cellUnder(map, x, y)) ?? pinnedCell(map)),
    onpick: (x, y) => pinCell(map, cellUnder(map, x, y)),
    onkey: (event) => pressOnMap(map, event),
    onscroll: () => options.onScroll?.(map.canvas.element.scrollLeft, map.canvas.element.scrollTop),
  });
  map.focus = pinnedCell(map);
  map.canvas.redraw();
  return {
    element: map.canvas.element,
    redraw: map.canvas.redraw,
    destroy: map.canvas.destroy,
    scrollTo: map.canvas.scrollTo,
    zoomBy: (direction) => zoomTo(map, nextZoom(map, direction)),
    zoomTo: (zoom) => zoomTo(map, zoom),
    /** The first cell of the window and the pixels a cell. */
    view: () => ({ at: scrolled(map).map((each) => Math.round(each / map.shape.cell)), zoom: map.zoom, cell: map.shape.cell }),
    /** Show a cell (units) in focus, without calling onFocus. */
    point(row, column) {
      map.focus = cellOf(map, row, column);
      map.canvas.redraw();
    },
  };
}

function cellOf({ units }, row, column) {
  const cell = [units.rows.indexOf(row), units.columns.indexOf(column)];
  return cell.includes(-1) ? null : cell;
}

function pinnedCell(map) {
  return cellOf(map, map.pin.query, map.pin.key);
}

/** Pixels that the map is scrolled down and to the right. */
function scrolled({ canvas }) {
  return [canvas.element.scrollTop, canvas.element.scrollLeft];
}

function cellUnder(map, x, y) {
  const { shape, units } = map;
  if (!shape || x < shape.left || y < shape.top) return null;
  const [down, right] = scrolled(map);
  const [row, column] = [y - shape.top + down, x - shape.left + right].map((each) => Math.floor(each / shape.cell));
  return row < units.rows.length && column < units.columns.length ? [row, column] : null;
}

function focusCell(map, cell) {
  if (String(cell) !== String(map.focus)) tellFocus(map, cell, false);
}

function pinCell(map, cell) {
  if (!cell) return;
  map.pin = { query: map.units.rows[cell[0]], key: map.units.columns[cell[1]] };
  tellFocus(map, cell, true);
}

function letGo(map) {
  map.pin = NO_UNITS;
  tellFocus(map, null, true);
}

function tellFocus(map, cell, pinned) {
  const { units, canvas, options } = map;
  map.focus = cell;
  const [row, column] = cell ? [units.rows[cell[0]], units.columns[cell[1]]] : [null, null];
  canvas.name(cell ? rawTitle(units, row, column) : "");
  options.onFocus?.(row, column, pinned);
  canvas.redraw();
}

function pressOnMap(map, event) {
  const acts = {
    Enter: () => pinCell(map, map.focus), " ": () => pinCell(map, map.focus), Escape: () => letGo(map),
    "+": () => zoomTo(map, nextZoom(map, 1)), "=": () => zoomTo(map, nextZoom(map, 1)), "-": () => zoomTo(map, nextZoom(map, -1)), 0: () => zoomTo(map, 0),
  };
  const act = STEPS_OF_KEYS[event.key] ? () => stepTo(map, STEPS_OF_KEYS[event.key]) : acts[event.key];
  if (!act) return;
  act();
  event.preventDefault();
}

/** Move the focus by a step; without a focus it starts at the first cell. */
function stepTo(map, step) {
  const { rows, columns } = map.units;
  const from = map.focus ?? step.map((each) => Math.min(0, -each));
  const cell = [rows, columns].map((all, side) => Math.max(0, Math.min(all.length - 1, from[side] + step[side])));
  revealCell(map, cell);
  focusCell(map, cell);
}

function revealCell(map, [row, column]) {
  const { shape, canvas } = map;
  const side = (at, scroll, room) => Math.max((at + 1) * shape.cell - room, Math.min(at * shape.cell, scroll));
  const [down, right] = scrolled(map);
  canvas.scrollTo(side(column, right, shape.width - shape.left), side(row, down, shape.height - shape.top));
}

function nextZoom({ shape }, direction) {
  const now = shape?.cell ?? 1;
  const larger = ZOOMS.filter((each) => each > now * 1.01);
  const smaller = ZOOMS.filter((each) => each < now * 0.99);
  return direction > 0 ? larger[0] ?? ZOOMS.at(-1) : smaller.at(-1) ?? ZOOMS[0];
}

/** Change the zoom around the cell in focus, else around the middle of the window. */
function zoomTo(map, zoom) {
  const room = ({ shape }) => [shape.height - shape.top, shape.width - shape.left];
  const before = room(map);
  const centre = map.focus ?? scrolled(map).map((each, side) => (each + before[side] / 2) / map.shape.cell);
  map.zoom = zoom;
  layMap(map, map.shape.width);
  const after = room(map);
  map.start = centre.map((at, side) => Math.max(0, Math.round(at - after[side] / map.shape.cell / 2)));
  map.options.onView?.({ zoom, at: map.start });
  map.canvas.redraw();
}
