/** The tokens beside a heat map, or their numbers where there is no room for tokens. */

import { cutText } from "./scroll_canvas.js";

const STEPS_OF_NUMBERS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000];
const ROOM = 44; // pixels between two numbers

/** Write the labels of the rows and columns in a window; `shape` and `window` from `heat_map.js`, x and y of the first cell. */
export function drawLabels(pen, style, { units, shape, window, focus, x, y }) {
  const { left, top, cell, named, width, height } = shape;
  pen.font = `${named ? Math.min(12, cell + 1) : 11}px ${style.font}`;
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  inside(pen, [0, top, left, height - top], () => {
    for (const { at, text, inFocus } of labelsOf(units, units.rows, window.rows, focus?.[0], shape)) {
      pen.fillStyle = inFocus ? style.accent : style.quiet;
      pen.fillText(cutText(pen, text, left - 10), left - 6, y + (at + 0.5) * cell);
    }
  });
  pen.textAlign = named ? "left" : "center";
  pen.textBaseline = named ? "middle" : "bottom";
  inside(pen, [left, 0, width - left, top], () => {
    for (const { at, text, inFocus } of labelsOf(units, units.columns, window.columns, focus?.[1], shape)) {
      pen.save();
      pen.translate(x + (at + 0.5) * cell, top - 5);
      if (named) pen.rotate(-Math.PI / 2);
      pen.fillStyle = inFocus ? style.accent : style.quiet;
      pen.fillText(cutText(pen, text, named ? top - 8 : 100), 0, 0);
      pen.restore();
    }
  });
}

/** The labels of the places first to end: {at, text, inFocus}; the place in focus always has its token. */
function labelsOf({ labels }, all, [first, end], focused, { cell, named }) {
  const step = named ? 1 : STEPS_OF_NUMBERS.find((each) => each * cell >= ROOM) ?? 5000;
  const list = [];
  for (let at = Math.ceil(first / step) * step; at < end; at += step) {
    if (named) list.push({ at, text: labels[all[at]], inFocus: at === focused });
    else if (focused === undefined || Math.abs(at - focused) * cell > 40) list.push({ at, text: String(all[at] + 1), inFocus: false });
  }
  if (!named && focused >= first && focused < end) list.push({ at: focused, text: labels[all[focused]], inFocus: true });
  return list;
}

function inside(pen, box, write) {
  pen.save();
  pen.beginPath();
  pen.rect(...box);
  pen.clip();
  write();
  pen.restore();
}
