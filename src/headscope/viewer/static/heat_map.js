/** An attention map as tiles on a canvas, at any zoom, with readouts of the row and the column in focus. */

import { drawRuns } from "./bitmaps.js";
import { drawLabels } from "./map_labels.js";
import { pageStyle, scrollCanvas } from "./scroll_canvas.js";
import { runsOf } from "./units.js";

const LARGEST_CELL = 34;
const LEGIBLE = 9; // pixels a cell from which tokens are written beside it
const ZOOMS = [0.125, 0.25, 0.5, 1, 2, 4, 8, 12, 16, 24, 34, 48];

/**
 * `picture`: {units, bitmap(zoom, row, column), label}; units from `unitsOf`.
 * `options`: zoom (pixels a cell, 0 to fit), at ([row, column] of the first cell), height, and the listeners
 * onFocus(row, column, pinned) with units, onView({zoom, at}).
 */
export function heatMap(picture, options) {
  let { zoom, pin = { query: null, key: null } } = options;
  let focus = null; // [place of the row, place of the column]
  let start = options.at;
  let shape = null;
  const { units } = picture;
  const longest = 18 + 6.5 * units.labels.reduce((most, label) => Math.max(most, label.length), 2); // pixels of a label, about
  const [rows, columns] = [runsOf(units.rows), runsOf(units.columns)];

  const canvas = scrollCanvas({
    label: picture.label,
    draw,
    onpoint: (x, y) => move(x === undefined ? pinned() : cellAt(x, y) ?? pinned(), false),
    onpick: (x, y) => { const cell = cellAt(x, y); if (cell) move(cell, true); },
    onkey: (event) => keys(event),
    onscroll: () => options.onScroll?.(canvas.element.scrollLeft, canvas.element.scrollTop),
  });

  function pinned() {
    const cell = [units.rows.indexOf(pin.query), units.columns.indexOf(pin.key)];
    return cell.includes(-1) ? null : cell;
  }

  function cellAt(x, y) {
    if (!shape || x < shape.left || y < shape.top) return null;
    const row = Math.floor((y - shape.top + canvas.element.scrollTop) / shape.cell);
    const column = Math.floor((x - shape.left + canvas.element.scrollLeft) / shape.cell);
    return row < units.rows.length && column < units.columns.length ? [row, column] : null;
  }

  function move(cell, pick) {
    if (String(cell) === String(focus) && !pick) return;
    focus = cell;
    if (pick) pin = { query: units.rows[cell[0]], key: units.columns[cell[1]] };
    options.onFocus?.(cell && units.rows[cell[0]], cell && units.columns[cell[1]], pick);
    canvas.redraw();
  }

  function keys(event) {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-16, 0], PageDown: [16, 0] };
    const step = steps[event.key];
    if (step) {
      const [row, column] = focus ?? [-step[0], -step[1]].map((each) => Math.min(0, each));
      const cell = [[row + step[0], units.rows], [column + step[1], units.columns]].map(
        ([at, all]) => Math.max(0, Math.min(all.length - 1, at)));
      reveal(cell);
      move(cell, false);
    } else if (event.key === "Enter" || event.key === " ") {
      if (focus) move(focus, true);
    } else if (event.key === "Escape") {
      pin = { query: null, key: null };
      focus = null;
      options.onFocus?.(null, null, true);
      canvas.redraw();
    } else if (event.key === "+" || event.key === "=") zoomBy(1);
    else if (event.key === "-") zoomBy(-1);
    else if (event.key === "0") zoomTo(0);
    else return;
    event.preventDefault();
  }

  function reveal([row, column]) {
    const { element } = canvas;
    const side = (at, scroll, room) => Math.max((at + 1) * shape.cell - room, Math.min(at * shape.cell, scroll));
    canvas.scrollTo(side(column, element.scrollLeft, shape.width - shape.left), side(row, element.scrollTop, shape.height - shape.top));
  }

  function zoomBy(direction) {
    const now = shape?.cell ?? 1;
    const larger = ZOOMS.filter((each) => each > now * 1.01);
    const smaller = ZOOMS.filter((each) => each < now * 0.99);
    zoomTo(direction > 0 ? larger[0] ?? ZOOMS.at(-1) : smaller.at(-1) ?? ZOOMS[0]);
  }

  /** Change the zoom around the cell in focus, else around the middle of the window. */
  function zoomTo(next) {
    const { element } = canvas;
    const middle = [element.scrollTop + (shape.height - shape.top) / 2, element.scrollLeft + (shape.width - shape.left) / 2];
    const centre = focus ?? middle.map((at) => at / shape.cell);
    zoom = next;
    layout(shape.width);
    start = centre.map((at, side) => Math.max(0, Math.round(at - (side ? shape.width - shape.left : shape.height - shape.top) / shape.cell / 2)));
    options.onView?.({ zoom, at: start });
    canvas.redraw();
  }

  /** Sizes for a window of this width: gutters, pixels a cell, the world. */
  function layout(width) {
    const fitting = (side) => Math.min(LARGEST_CELL, (width - side - 2) / units.columns.length, (options.height - side) / units.rows.length);
    const wide = Math.min(longest, 104, width * 0.24);
    let cell = zoom || fitting(wide);
    const named = cell >= LEGIBLE;
    const gutter = named ? wide : 40;
    if (!zoom && !named) cell = Math.min(LEGIBLE - 0.01, fitting(gutter));
    const top = named ? wide : 24;
    const height = Math.min(options.height, top + units.rows.length * cell + 2);
    shape = { left: gutter, top, cell, named, width, height };
    canvas.resize(gutter + units.columns.length * cell, top + units.rows.length * cell, height);
  }

  function draw(pen, width, height) {
    layout(width);
    if (start) {
      const [row, column] = start;
      start = null;
      canvas.element.scrollTop = row * shape.cell;
      canvas.element.scrollLeft = column * shape.cell;
    }
    shape.height = height;
    const style = pageStyle(canvas.element);
    const { left, top, cell } = shape;
    const [x, y] = [left - canvas.element.scrollLeft, top - canvas.element.scrollTop];
    const window = { rows: range(canvas.element.scrollTop, height - top, units.rows), columns: range(canvas.element.scrollLeft, width - left, units.columns) };
    pen.save();
    pen.beginPath();
    pen.rect(left, top, width - left, height - top);
    pen.clip();
    pen.imageSmoothingEnabled = false;
    const level = Math.max(0, Math.min(units.zooms - 1, Math.ceil(Math.log2(1 / cell))));
    for (const row of clipped(rows, window.rows)) {
      for (const column of clipped(columns, window.columns)) drawRuns(pen, picture.bitmap, { zoom: level, cell, left: x, top: y }, row, column);
    }
    pen.strokeStyle = style.rule;
    pen.strokeRect(x - 0.5, y - 0.5, units.columns.length * cell + 1, units.rows.length * cell + 1);
    if (focus) drawFocus(pen, style, x, y);
    pen.restore();
    drawLabels(pen, style, { units, shape, window, focus, x, y });
  }

  function range(scroll, room, all) {
    return [Math.max(0, Math.floor(scroll / shape.cell)), Math.min(all.length, Math.ceil((scroll + room) / shape.cell))];
  }

  function drawFocus(pen, style, x, y) {
    const { cell } = shape;
    const [row, column] = focus;
    pen.globalAlpha = 0.16;
    pen.fillStyle = style.accent;
    pen.fillRect(x, y + row * cell, units.columns.length * cell, Math.max(1, cell));
    pen.fillRect(x + column * cell, y, Math.max(1, cell), units.rows.length * cell);
    pen.globalAlpha = 1;
    pen.strokeStyle = style.accent;
    pen.lineWidth = 2;
    pen.strokeRect(x + column * cell - 1, y + row * cell - 1, cell + 2, cell + 2);
  }

  focus = pinned();
  canvas.redraw();
  return {
    element: canvas.element,
    redraw: canvas.redraw,
    destroy: canvas.destroy,
    zoomBy,
    zoomTo,
    scrollTo: canvas.scrollTo,
    /** The first cell of the window and the pixels a cell. */
    view: () => ({ at: [canvas.element.scrollTop, canvas.element.scrollLeft].map((each) => Math.round(each / shape.cell)), zoom, cell: shape.cell }),
    /** Show a cell (units) in focus, without calling onFocus. */
    point(row, column) {
      const cell = [units.rows.indexOf(row), units.columns.indexOf(column)];
      focus = cell.includes(-1) ? null : cell;
      canvas.redraw();
    },
  };
}

/** The parts of runs that lie in a range of places. */
function clipped(runs, [first, end]) {
  return runs.flatMap(({ place, unit, length }) => {
    const [from, to] = [Math.max(place, first), Math.min(place + length, end)];
    return from < to ? [{ place: from, unit: unit + from - place, length: to - from }] : [];
  });
}
