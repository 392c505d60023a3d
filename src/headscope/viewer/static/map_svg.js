/** Heat maps as a figure: vector labels and frames on sharp pictures. */

import { drawRuns } from "./bitmaps.js";
import { round, svgImage, svgPage, svgText } from "./svg.js";
import { runsOf } from "./units.js";

const LARGEST = 1536; // pixels a side of an embedded picture
const LABELLED = 128; // maps up to this many tokens have names at their sides

/** Maps with titles side by side; each {title, bitmap, units}. */
export function mapSvg(maps) {
  const most = Math.max(...maps.flatMap(({ units }) => [units.rows.length, units.columns.length]));
  const [cell, gutter] = most <= LABELLED ? [14, 96] : [600 / most, 30];
  let left = 0;
  const content = maps.map((map) => {
    const drawn = oneMap(map, left + gutter, gutter + 30, cell, most <= LABELLED);
    left += gutter + map.units.columns.length * cell + 16;
    return drawn;
  });
  const rows = Math.max(...maps.map(({ units }) => units.rows.length));
  return svgPage(left, gutter + 30 + rows * cell + 12, content.join(""));
}

function oneMap({ title, bitmap, units }, x, y, cell, named) {
  const [width, height] = [units.columns.length * cell, units.rows.length * cell];
  return svgText(x, 20, title, { size: 13, more: 'font-weight="bold"' }) + svgImage(wholeMap(bitmap, units), x, y, width, height)
    + `<rect x="${round(x - 0.5)}" y="${y - 0.5}" width="${round(width + 1)}" height="${round(height + 1)}" fill="none" stroke="#d9dee4"/>`
    + (named ? labels(units, x, y, cell) : "");
}

function labels(units, x, y, cell) {
  const across = units.columns.map((unit, at) => svgText(0, 0, units.labels[unit].slice(0, 18), { size: 10, colour: "#52606d", more: `transform="translate(${round(x + (at + 0.5) * cell + 3)} ${y - 5}) rotate(-90)"` }));
  return units.rows.map((unit, at) => svgText(x - 5, y + (at + 0.5) * cell + 3.5, units.labels[unit].slice(0, 18), { size: 10, anchor: "end", colour: "#52606d" })).concat(across).join("");
}

/** A whole map on one canvas, from tiles of a zoom that fits. */
function wholeMap(bitmap, units) {
  const side = Math.max(units.rows.length, units.columns.length);
  const zoom = Math.max(0, Math.min(units.zooms - 1, Math.ceil(Math.log2(side / LARGEST))));
  const cell = 1 / 2 ** zoom;
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(units.columns.length * cell);
  canvas.height = Math.ceil(units.rows.length * cell);
  const pen = canvas.getContext("2d");
  pen.imageSmoothingEnabled = false;
  for (const row of runsOf(units.rows)) for (const column of runsOf(units.columns)) drawRuns(pen, bitmap, { zoom, cell, left: 0, top: 0 }, row, column);
  return canvas;
}
