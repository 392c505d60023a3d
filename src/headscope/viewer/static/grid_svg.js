/** All heads as a figure: vector frames and words around embedded small maps. */

import { svgImage, svgPage, svgText } from "./svg.js";

const CELL = 56;
const STEP = 64;
const LINE = 78;

/** The figure of rows of pictures (`head_grid.js`) under a title. */
export function gridSvg(rows, title) {
  const content = rows.flatMap(([label, heads], layer) => [
    svgText(14, 50 + layer * LINE + CELL / 2 + 4, label, { anchor: "middle", colour: "#52606d" }),
    ...heads.map(({ canvas, frame, word }, at) => {
      const [x, y] = [30 + at * STEP, 50 + layer * LINE];
      return svgImage(canvas, x, y, CELL, CELL) + `<rect x="${x}" y="${y}" width="${CELL}" height="${CELL}" fill="none" stroke="${frame}" stroke-width="2"/>`
        + svgText(x + CELL / 2, y + CELL + 12, word.slice(0, 12), { size: 10, anchor: "middle", colour: "#52606d" });
    }),
  ]);
  const width = 40 + STEP * Math.max(...rows.map(([, heads]) => heads.length));
  return svgPage(width, 56 + LINE * rows.length, svgText(14, 24, title, { size: 14, more: 'font-weight="bold"' }) + content.join(""));
}
