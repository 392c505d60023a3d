/** The lines of a head as a vector figure. */

import { ROW, lineAlpha } from "./lines_drawing.js";
import { round, svgPage, svgText } from "./svg.js";

const MOST = 512; // tokens of a figure
const COLUMN = 150;
const WIDTH = 520;

/** The figure of a lines view (`head_lines.js`): the tokens of both columns, and the lines in focus. */
export function linesSvg({ units, heads }, lines) {
  const [rows, columns] = [units.rows.slice(0, MOST), units.columns.slice(0, MOST)];
  const top = 34;
  const y = (place) => top + place * ROW + ROW / 2;
  const paths = lines.visibleLines(0, rows.length, false).filter((line) => line.query < MOST && line.key < MOST).map((line) => {
    const [left, right] = [COLUMN, WIDTH - COLUMN];
    const bend = (right - left) * 0.35;
    return `<path d="M${left} ${y(line.query)}C${round(left + bend)} ${y(line.query)} ${round(right - bend)} ${y(line.key)} ${right} ${y(line.key)}" fill="none" stroke="${line.colour}" stroke-width="${round(0.75 + 2.25 * line.strength)}" stroke-opacity="${round(lineAlpha(line.strength))}"/>`;
  });
  const names = rows.map((unit, at) => svgText(COLUMN - 8, y(at) + 4, units.labels[unit], { anchor: "end" }))
    .concat(columns.map((unit, at) => svgText(WIDTH - COLUMN + 8, y(at) + 4, units.labels[unit])));
  const title = heads.map((head, at) => svgText(12 + at * 70, 20, `Head ${head.name}`, { size: 13, colour: heads.length > 1 ? head.colour : "#1f2933", more: 'font-weight="bold"' }));
  return svgPage(WIDTH, top + Math.max(rows.length, columns.length) * ROW + 10, [...title, ...paths, ...names].join(""));
}
