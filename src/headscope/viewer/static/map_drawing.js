/** The drawing of a heat map: its tiles, its frame, the row and the column in focus, the tokens beside it. */

import { drawRuns } from "./bitmaps.js";
import { drawLabels } from "./map_labels.js";
import { layMap, visibleCells } from "./map_layout.js";
import { pageStyle } from "./scroll_canvas.js";

/** Draw the window of a map (`heat_map.js`). */
export function drawMap(map, pen, width, height) {
  layMap(map, width);
  map.shape.height = height;
  scrollToStart(map);
  const { units, shape, focus, canvas: { element } } = map;
  const style = pageStyle(element);
  const [x, y] = [shape.left - element.scrollLeft, shape.top - element.scrollTop];
  const window = visibleCells(map);
  pen.save();
  pen.beginPath();
  pen.rect(shape.left, shape.top, width - shape.left, height - shape.top);
  pen.clip();
  drawTiles(map, pen, window, x, y);
  pen.strokeStyle = style.rule;
  pen.strokeRect(x - 0.5, y - 0.5, units.columns.length * shape.cell + 1, units.rows.length * shape.cell + 1);
  if (focus) drawCross(map, pen, style, x, y);
  pen.restore();
  drawLabels(pen, style, { units, shape, window, focus, x, y });
}

function scrollToStart(map) {
  if (!map.start) return;
  const [row, column] = map.start;
  map.start = null;
  map.canvas.element.scrollTop = row * map.shape.cell;
  map.canvas.element.scrollLeft = column * map.shape.cell;
}

function drawTiles({ units, shape: { cell }, runs, picture }, pen, window, left, top) {
  pen.imageSmoothingEnabled = false;
  const zoom = Math.max(0, Math.min(units.zooms - 1, Math.ceil(Math.log2(1 / cell))));
  for (const row of clipped(runs.rows, window.rows)) {
    for (const column of clipped(runs.columns, window.columns)) drawRuns(pen, picture.bitmap, { zoom, cell, left, top }, row, column);
  }
}

function drawCross({ units, shape: { cell }, focus: [row, column] }, pen, style, x, y) {
  pen.globalAlpha = 0.16;
  pen.fillStyle = style.accent;
  pen.fillRect(x, y + row * cell, units.columns.length * cell, Math.max(1, cell));
  pen.fillRect(x + column * cell, y, Math.max(1, cell), units.rows.length * cell);
  pen.globalAlpha = 1;
  pen.strokeStyle = style.accent;
  pen.lineWidth = 2;
  pen.strokeRect(x + column * cell - 1, y + row * cell - 1, cell + 2, cell + 2);
}

/** The parts of runs that lie in a range of places. */
function clipped(runs, [first, end]) {
  return runs.flatMap(({ place, unit, length }) => {
    const [from, to] = [Math.max(place, first), Math.min(place + length, end)];
    return from < to ? [{ place: from, unit: unit + from - place, length: to - from }] : [];
  });
}
