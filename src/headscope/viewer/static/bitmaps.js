/** Tiles as small pictures, one pixel a cell; each is made once and kept while it is looked at. */

import { smallMap } from "./binary.js";
import { STEPS, differenceShades, shades } from "./palette.js";
import { RecentlyUsed, SIDE, rowValues } from "./tile_store.js";

const KEPT_PICTURES = 160; // of 256 KiB

/** Pictures of the tiles of a head; `scale` "row" makes the largest attention of each row darkest, "map" that of the map. */
export function headBitmaps(tiles, place, { maximum, dark, scale = "map" }) {
  const colours = shades(dark);
  return kept((zoom, row, column) => {
    const tile = tiles.tile(place, zoom, row, column);
    return tile && painted(tile.width, tile.height, (pixels) => {
      for (let line = 0, at = 0; line < tile.height; line += 1) {
        const factor = STEPS / 255 * (scale === "row" ? 1 : tile.maxima[line] / maximum);
        for (let cell = 0; cell < tile.width; cell += 1, at += 1) {
          pixels[at] = colours[Math.min(STEPS, Math.round(tile.levels[at] * factor))];
        }
      }
    });
  });
}

/** Pictures of the second head's attention minus the first's; `maximum` is the difference that is darkest. */
export function differenceBitmaps(tiles, one, other, { maximum, dark }) {
  const colours = differenceShades(dark);
  return kept((zoom, row, column) => {
    const [first, second] = [tiles.tile(one, zoom, row, column), tiles.tile(other, zoom, row, column)];
    return first && second && painted(first.width, first.height, (pixels) => {
      for (let line = 0, at = 0; line < first.height; line += 1) {
        const [a, b] = [first.maxima[line] / maximum, second.maxima[line] / maximum];
        for (let cell = 0; cell < first.width; cell += 1, at += 1) {
          const step = Math.round((second.levels[at] * b - first.levels[at] * a) / 255 * STEPS);
          pixels[at] = colours[STEPS + Math.max(-STEPS, Math.min(STEPS, step))];
        }
      }
    });
  });
}

/** The same for words that two texts share: `pairs` are [word of the first, word of the second], `counts` of all words. */
export function pairedDifferenceBitmaps(tiles, [one, other], pairs, counts, { maximum, dark }) {
  const colours = differenceShades(dark);
  return kept((zoom, row, column) => {
    const [lines, cells] = [row, column].map((at) => pairs.slice(at * SIDE, (at + 1) * SIDE));
    const rows = lines.map(([first, second]) => [rowValues(tiles, one, first, counts[0]), rowValues(tiles, other, second, counts[1])]);
    if (rows.flat().includes(null)) return null;
    return painted(cells.length, lines.length, (pixels) => rows.forEach(([first, second], line) => cells.forEach(([from, to], cell) => {
      const step = Math.round((second[to] - first[from]) / maximum * STEPS);
      pixels[line * cells.length + cell] = colours[STEPS + Math.max(-STEPS, Math.min(STEPS, step))];
    })));
  });
}

/** Paint the small map of a head on a canvas of one pixel a cell. */
export function paintSmall(canvas, overview, { layer, head }, dark) {
  const colours = shades(dark);
  const { side, levels } = smallMap(overview, layer, head);
  paint(canvas, side, side, (pixels) => levels.forEach((level, at) => {
    pixels[at] = colours[Math.round(level / 255 * STEPS)];
  }));
}

/** Paint the second small map minus the first; darkest is the largest attention of both. */
export function paintSmallDifference(canvas, one, other, { layer, head }, dark) {
  const colours = differenceShades(dark);
  const [first, second] = [smallMap(one, layer, head), smallMap(other, layer, head)];
  const maximum = Math.max(first.maximum, second.maximum) || 1;
  const [a, b] = [first.maximum / maximum / 255, second.maximum / maximum / 255];
  paint(canvas, first.side, first.side, (pixels) => first.levels.forEach((level, at) => {
    pixels[at] = colours[STEPS + Math.round((second.levels[at] * b - level * a) * STEPS)];
  }));
}

/** Mean absolute difference of a head's small maps of two models: 0 where they are equal. */
export function smallDifference(one, other, layer, head) {
  const [first, second] = [smallMap(one, layer, head), smallMap(other, layer, head)];
  const [a, b] = [first.maximum / 255, second.maximum / 255];
  return first.levels.reduce((sum, level, at) => sum + Math.abs(level * a - second.levels[at] * b), 0) / first.levels.length;
}

/** Draw the units of two runs (`runsOf`) from tiles of 2^zoom units a pixel; true if no tile was missing. */
export function drawRuns(pen, bitmap, { zoom, cell, left, top }, row, column) {
  const span = SIDE * 2 ** zoom;
  let whole = true;
  for (const [y, firstRow, lastRow] of parts(row, span)) {
    for (const [x, firstColumn, lastColumn] of parts(column, span)) {
      const picture = bitmap(zoom, y, x);
      if (!picture) whole = false;
      else {
        pen.drawImage(picture,
          firstColumn / 2 ** zoom - x * SIDE, firstRow / 2 ** zoom - y * SIDE, (lastColumn - firstColumn) / 2 ** zoom, (lastRow - firstRow) / 2 ** zoom,
          left + (column.place + firstColumn - column.unit) * cell, top + (row.place + firstRow - row.unit) * cell,
          (lastColumn - firstColumn) * cell, (lastRow - firstRow) * cell);
      }
    }
  }
  return whole;
}

/** The tiles that a run of units lies on: tile, first unit, end. */
function parts({ unit, length }, span) {
  const first = Math.floor(unit / span);
  const number = Math.ceil((unit + length) / span) - first;
  return Array.from({ length: number }, (_, at) => [first + at, Math.max(unit, (first + at) * span), Math.min(unit + length, (first + at + 1) * span)]);
}

function kept(create) {
  const pictures = new RecentlyUsed(KEPT_PICTURES);
  return (zoom, row, column) => {
    const key = `${zoom}/${row}/${column}`;
    let picture = pictures.get(key);
    if (!picture && (picture = create(zoom, row, column))) pictures.set(key, picture);
    return picture;
  };
}

function painted(width, height, fill) {
  const canvas = document.createElement("canvas");
  paint(canvas, width, height, fill);
  return canvas;
}

function paint(canvas, width, height, fill) {
  canvas.width = width;
  canvas.height = height;
  const image = new ImageData(width, height);
  fill(new Uint32Array(image.data.buffer));
  canvas.getContext("2d").putImageData(image, 0, 0);
}

export function differenceOfHeads({ data: { overviews }, pair, model: { models: [{ heads: counts }] } }) {
  const [one, other] = pair().map((model) => overviews[model]);
  const heads = counts.flatMap((count, at) => Array.from({ length: count }, (_, head) => [at + 1, head + 1]));
  const values = heads.map(([layer, head]) => [layer, head, smallDifference(one, other, layer, head)]);
  return { name: "difference", long_name: "difference on this text", units: "", values };
}
