/** The view of one or several heads as lines, with a readout of the token in focus. */

import { make, share } from "./dom.js";
import { headLines } from "./head_lines.js";
import { linesSvg } from "./lines_svg.js";
import { strongest } from "./tile_store.js";
import { quoted } from "./words.js";

const HINT = "Point at a token, or use the arrow keys; Enter keeps it, Escape lets it go.";

export function linesView(context) {
  const { store } = context;
  const { units, tiles } = context.data;
  const { heads, pin, at } = store.get();
  const readout = make("output", { class: "readout", "aria-live": "polite" }, HINT);
  const picture = {
    units, tiles, dark: context.dark(), count: units.labels.length,
    heads: heads.map((name, index) => ({ name, place: context.place(name), maximum: context.maximum(name), colour: context.headColour(index) })),
    label: `Attention lines of head ${heads.join(", ")}; up and down choose a token, left and right change the column`,
  };
  const lines = headLines(picture, {
    pin, at, height: context.height(),
    onFocus(token, pinned) {
      focus = token;
      readout.textContent = say(token);
      if (pinned) store.set({ pin: token }, true);
    },
    onScroll: (row) => context.remember({ at: [row, 0] }),
  });
  let focus = pin;
  readout.textContent = say(focus);

  /** A token's attention in words. */
  function say({ query, key }) {
    if (query !== null) return picture.heads.map((head) => sayQuery(head, query)).join(" ");
    return key === null ? HINT : `${quoted(units.labels[key])} is looked at: the shade on the left says by which tokens.`;
  }

  function sayQuery(head, query) {
    const attention = units.rows.includes(query) && lines.row(head, query);
    if (!attention) return "";
    const best = strongest(attention, units.columns, 4).map((unit) => `${quoted(units.labels[unit])} ${share(attention[unit])}`);
    return `${heads.length > 1 ? `${head.name}: ` : ""}${quoted(units.labels[query])} attends to ${best.join(", ")}.`;
  }

  return {
    element: make("div", { class: "lines-view" }, readout, make("div", { class: "column-names", "aria-hidden": "true" }, make("span", {}, "looks"), make("span", {}, "is looked at")), lines.element),
    arrived() {
      for (const head of picture.heads) head.maximum = context.maximum(head.name);
      readout.textContent = say(focus);
      lines.redraw();
    },
    svg: () => linesSvg(picture, lines),
    destroy: lines.destroy,
  };
}
