/** The drawing of attention as lines: the lines, the tokens on both sides, and the shades behind them. */

import { cutText, pageStyle } from "./scroll_canvas.js";

export const ROW = 22; // pixels a token
export const FAINTEST = 0.02;

/** Draw the window of lines (`head_lines.js`); `visibleLines(lines, first, end, dark)` gives those between two places. */
export function drawLines(lines, visibleLines, pen, width, height) {
  const { units, options, canvas } = lines;
  const total = Math.max(units.rows.length, units.columns.length) * ROW + 4;
  lines.width = width;
  canvas.resize(0, total, Math.min(options.height, total));
  if (lines.start?.[0]) canvas.element.scrollTop = lines.start[0] * ROW;
  lines.start = null;
  const top = canvas.element.scrollTop;
  const side = columnWidth(width);
  const [first, end] = [Math.floor(top / ROW), Math.ceil((top + height) / ROW)];
  for (const line of visibleLines(lines, first, end, lines.picture.dark)) drawLine(pen, line, side, width - side, top);
  drawTokens(lines, pen, [first, end], top, side);
}

/** The width of a column of tokens. */
export function columnWidth(width) {
  return Math.min(190, width * 0.34);
}

function drawLine(pen, { query, key, strength, colour }, left, right, top) {
  const [from, to] = [query * ROW + ROW / 2 - top, key * ROW + ROW / 2 - top];
  const bend = (right - left) * 0.35;
  pen.beginPath();
  pen.moveTo(left, from);
  pen.bezierCurveTo(left + bend, from, right - bend, to, right, to);
  pen.globalAlpha = lineAlpha(strength);
  pen.lineWidth = 0.75 + 2.25 * strength;
  pen.strokeStyle = colour;
  pen.stroke();
}

/** Opacity of a line whose attention is a share `strength` of the head's largest. */
export function lineAlpha(strength) {
  return Math.min(1, 0.08 + 0.82 * strength ** 0.8);
}

function drawTokens(lines, pen, window, top, side) {
  const { units, width, focus, canvas } = lines;
  const style = pageStyle(canvas.element);
  const weights = focusWeights(lines);
  pen.globalAlpha = 1;
  pen.font = `14px ${style.font}`;
  pen.textBaseline = "middle";
  const column = { pen, style, window, top, side, labels: units.labels };
  drawColumn({ ...column, units: units.rows, x: side - 8, box: 0, align: "right", weight: weights.rows, marked: focus.query });
  drawColumn({ ...column, units: units.columns, x: width - side + 8, box: width - side + 2, align: "left", weight: weights.columns, marked: focus.key });
}

/** Write the tokens of a column in the window, with the shades behind them. */
function drawColumn({ pen, style, window: [first, end], top, side, labels, units, x, box, align, weight, marked }) {
  pen.textAlign = align;
  for (let at = first; at < Math.min(end, units.length); at += 1) {
    const y = at * ROW - top;
    drawShade(pen, style, [box, y + 1, side - 2, ROW - 2], marked === units[at] ? 1 : weightShade(weight?.(units[at])));
    pen.fillStyle = marked === units[at] ? style.paper : style.ink;
    pen.fillText(cutText(pen, labels[units[at]], side - 16), x, y + ROW / 2 + 1);
  }
}

function drawShade(pen, style, box, alpha) {
  if (!alpha) return;
  pen.globalAlpha = alpha;
  pen.fillStyle = style.accent;
  pen.fillRect(...box);
  pen.globalAlpha = 1;
}

/** Opacity behind a token with a share of the attention in focus. */
function weightShade(weight) {
  return weight > 0.01 ? Math.min(0.4, 0.06 + weight * 0.4) : 0;
}

/** Attention from or to the token in focus, in the first head, as shares of the largest. */
function focusWeights({ picture: { heads: [head] }, focus, places, row }) {
  if (!head) return {};
  if (focus.query !== null) {
    const attention = places.rows.has(focus.query) ? row(head, focus.query) : null;
    return attention ? { columns: (unit) => attention[unit] / head.maximum } : {};
  }
  if (focus.key === null) return {};
  return { rows: (unit) => (row(head, unit)?.[focus.key] ?? 0) / head.maximum };
}
