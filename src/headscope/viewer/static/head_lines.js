/** Attention as lines between two columns of tokens: only the strongest lines of each token, on a canvas. */

import { lineValues } from "./line_values.js";
import { legible } from "./palette.js";
import { cutText, pageStyle, scrollCanvas } from "./scroll_canvas.js";

export const ROW = 22; // pixels a token
const FAINTEST = 0.02;

/**
 * `picture`: {units, tiles, heads: [{place, maximum, colour, name}], label, count}; units from `unitsOf`, `count` of all units.
 * `options`: pin, at, height, onFocus({query, key}, pinned).
 */
export function headLines(picture, options) {
  const { units, heads } = picture;
  const rowPlace = new Map(units.rows.map((unit, place) => [unit, place]));
  const columnPlace = new Map(units.columns.map((unit, place) => [unit, place]));
  const { row, strongestKeys } = lineValues(picture);
  let pin = options.pin;
  let focus = pin;
  let start = options.at;
  let width = 0;

  const canvas = scrollCanvas({
    label: picture.label,
    draw,
    onpoint: (x, y) => move(x === undefined ? pin : tokenAt(x, y) ?? pin, false),
    onpick: (x, y) => {
      const token = tokenAt(x, y);
      if (token) move(same(token, pin) ? { query: null, key: null } : token, true);
    },
    onkey: (event) => keys(event),
    onscroll: () => options.onScroll?.(Math.round(canvas.element.scrollTop / ROW)),
  });

  function tokenAt(x, y) {
    const at = Math.floor((y + canvas.element.scrollTop) / ROW);
    const side = columnWidth();
    if (x <= side && at < units.rows.length) return { query: units.rows[at], key: null };
    if (x >= width - side && at < units.columns.length) return { query: null, key: units.columns[at] };
    return null;
  }

  function columnWidth() {
    return Math.min(190, width * 0.34);
  }

  function move(token, pick) {
    if (same(token, focus) && !pick) return;
    focus = token;
    if (pick) pin = token;
    options.onFocus(token, pick);
    canvas.redraw();
  }

  function keys(event) {
    const onKeys = focus.query === null && focus.key !== null;
    const all = onKeys ? units.columns : units.rows;
    const at = all.indexOf(onKeys ? focus.key : focus.query);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 16, PageUp: -16, Home: -all.length, End: all.length }[event.key];
    if (step) {
      const next = Math.max(0, Math.min(all.length - 1, at + step));
      reveal(next);
      move(onKeys ? { query: null, key: all[next] } : { query: all[next], key: null }, false);
    } else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      const other = event.key === "ArrowRight" ? units.columns : units.rows;
      const unit = other[Math.max(0, Math.min(other.length - 1, at))];
      move(event.key === "ArrowRight" ? { query: null, key: unit } : { query: unit, key: null }, false);
    } else if (event.key === "Enter" || event.key === " ") move(focus, true);
    else if (event.key === "Escape") move({ query: null, key: null }, true);
    else return;
    event.preventDefault();
  }

  function reveal(place) {
    const { scrollTop, clientHeight } = canvas.element;
    canvas.scrollTo(0, Math.max((place + 2) * ROW - clientHeight, Math.min((place - 1) * ROW, scrollTop)));
  }

  /** The lines of the queries at places first to end: {query, key, strength from 0 to 1, colour}; places in the columns. */
  function visibleLines(first, end, dark) {
    const list = [];
    const alone = focus.query !== null && rowPlace.has(focus.query) ? focus.query : null;
    const queries = alone === null ? units.rows.slice(first, end) : [alone];
    for (const head of heads) {
      for (const query of queries) {
        for (const [key, value] of focused(head, query)) {
          const strength = value / head.maximum;
          if (strength >= FAINTEST) list.push({ query: rowPlace.get(query), key: columnPlace.get(key), strength, colour: legible(head.colour, dark) });
        }
      }
    }
    return list.sort((one, other) => one.strength - other.strength);
  }

  /** The lines of a query that are drawn: its strongest, or the one to the key in focus. */
  function focused(head, query) {
    if (focus.key === null || focus.query !== null) return strongestKeys(head, query);
    const attention = row(head, query);
    return attention ? [[focus.key, attention[focus.key]]] : [];
  }

  function draw(pen, wide, high) {
    width = wide;
    const total = Math.max(units.rows.length, units.columns.length) * ROW + 4;
    canvas.resize(0, total, Math.min(options.height, total));
    if (start) {
      const top = start[0] * ROW;
      start = null;
      if (top) canvas.element.scrollTop = top;
    }
    const style = pageStyle(canvas.element);
    const top = canvas.element.scrollTop;
    const [first, last] = [Math.floor(top / ROW), Math.ceil((top + high) / ROW)];
    const side = columnWidth();
    for (const line of visibleLines(first, last, picture.dark)) drawLine(pen, line, side, wide - side, top);
    pen.globalAlpha = 1;
    pen.font = `14px ${style.font}`;
    pen.textBaseline = "middle";
    drawTokens(pen, style, first, last, top, side);
  }

  function drawTokens(pen, style, first, last, top, side) {
    const weights = focusWeights();
    const write = (all, from, right, weight, marked) => {
      for (let at = first; at < Math.min(last, all.length); at += 1) {
        const unit = all[at];
        const y = at * ROW - top;
        shade(pen, style, right, y, side, weight?.(unit), marked === unit);
        pen.fillStyle = marked === unit ? style.paper : style.ink;
        pen.textAlign = right ? "left" : "right";
        pen.fillText(cutText(pen, units.labels[unit], side - 16), from, y + ROW / 2 + 1);
      }
    };
    write(units.rows, side - 8, false, weights.rows, focus.query);
    write(units.columns, width - side + 8, true, weights.columns, focus.key);
  }

  /** The shade behind a token: how much of the attention in focus it gives or takes, or the accent where it is the focus. */
  function shade(pen, style, right, y, side, weight, marked) {
    if (!marked && !(weight > 0.01)) return;
    pen.globalAlpha = marked ? 1 : Math.min(0.4, 0.06 + weight * 0.4);
    pen.fillStyle = style.accent;
    pen.fillRect(right ? width - side + 2 : 0, y + 1, side - 2, ROW - 2);
    pen.globalAlpha = 1;
  }

  /** Attention from or to the token in focus, in the first head, as shares of the largest. */
  function focusWeights() {
    const [head] = heads;
    if (!head) return {};
    if (focus.query !== null) {
      const attention = rowPlace.has(focus.query) ? row(head, focus.query) : null;
      return attention ? { columns: (unit) => attention[unit] / head.maximum } : {};
    }
    if (focus.key !== null) return { rows: (unit) => (row(head, unit)?.[focus.key] ?? 0) / head.maximum };
    return {};
  }

  canvas.redraw();
  return {
    element: canvas.element,
    redraw: canvas.redraw,
    destroy: canvas.destroy,
    visibleLines,
    row,
  };
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

function same(one, other) {
  return one.query === other.query && one.key === other.key;
}
