/** Two models on the same text: the maps of a head side by side, and their difference. */

import { differenceBitmaps, headBitmaps } from "./bitmaps.js";
import { make, share } from "./dom.js";
import { heatMap } from "./heat_map.js";
import { zoomButtons } from "./map_view.js";
import { mapSvg } from "./map_svg.js";
import { cellValue } from "./tile_store.js";
import { quoted } from "./words.js";

const APART = "The two models cut this text into different tokens: the maps stand side by side, without a difference.";

export function compareView(context) {
  const { store, model } = context;
  if (model.models.length < 2) return alone("Two models are compared: start headscope view with a second model.");
  if (!context.sameHeads()) return alone("These two models differ in layers or heads; there is no head to compare.");
  const [name] = store.get().heads;
  const { tiles, unitsOf } = context.data;
  const [units] = unitsOf;
  const same = context.comparable();
  const places = [0, 1].map((each) => context.place(name, each));
  const titles = [...model.models.map((each) => each.name), ...(same ? ["difference"] : [])];
  const readout = make("output", { class: "readout", "aria-live": "polite" });
  let focus = [store.get().pin.query, store.get().pin.key];
  const largestOfBoth = () => [0, 1].map((each) => context.maximum(name, each));
  let maxima = largestOfBoth();
  let bitmaps = pictures(context.dark());

  const maps = titles.map((title, index) => heatMap({ units: unitsOf[index] ?? units, label: `${title}: attention map of head ${name}`, bitmap: (...tile) => bitmaps[index](...tile) }, {
    ...store.get(), height: context.height() * (index === 2 ? 1 : 0.7),
    onFocus(row, column, pinned) {
      if (!same) return;
      focus = [row, column];
      for (const map of maps) map.point(row, column);
      say();
      if (pinned) store.set({ pin: { query: row, key: column } }, true);
    },
    onScroll: (left, top) => {
      for (const map of maps) if (map.element.scrollLeft !== left || map.element.scrollTop !== top) map.scrollTo(left, top);
    },
    onView: (view) => store.set(view, true),
  }));

  function pictures(dark) {
    return [...places.map((place, at) => headBitmaps(tiles, place, { maximum: maxima[at], dark, scale: store.get().scale })),
      ...(same ? [differenceBitmaps(tiles, ...places, { maximum: Math.max(...maxima), dark })] : [])];
  }

  /** The cell in focus in both models. */
  function say() {
    const [row, column] = focus;
    const there = same && units.rows.includes(row) && units.columns.includes(column);
    readout.textContent = there ? sayBoth(row, column) : same ? "Point at a cell to read both models." : APART;
  }

  function sayBoth(row, column) {
    const [one, other] = places.map((place) => cellValue(tiles, place, row, column));
    const pair = `${quoted(units.labels[row])} → ${quoted(units.labels[column])}`;
    if (one === null || other === null) return pair;
    return `${pair}: ${share(one)} in ${titles[0]}, ${share(other)} in ${titles[1]}, difference ${(one - other > 0 ? "+" : "") + share(one - other)}.`;
  }

  say();
  const figure = (index) => make("figure", { class: index === 2 ? "wide" : "" }, make("figcaption", {}, titles[index]), maps[index].element);
  return {
    element: make("div", { class: "compare-view" }, readout, make("div", { class: "compare-maps" }, titles.map((_, index) => figure(index))), zoomButtons(...maps)),
    arrived() {
      const before = String(maxima);
      maxima = largestOfBoth();
      if (String(maxima) !== before) bitmaps = pictures(context.dark());
      say();
      for (const map of maps) map.redraw();
    },
    svg: () => mapSvg(pictures(false).slice(0, same ? 3 : 1).map((bitmap, at) => ({ title: `${name}, ${titles[at]}`, bitmap })), units),
    destroy: () => maps.forEach((map) => map.destroy()),
  };
}

function alone(reason) {
  return { element: make("p", { class: "quiet" }, reason), destroy() {} };
}
