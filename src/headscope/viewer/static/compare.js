/** Two models on the same text: the maps of a head side by side, and their difference. */

import { differenceBitmaps, headBitmaps, pairedDifferenceBitmaps } from "./bitmaps.js";
import { make, share } from "./dom.js";
import { heatMap } from "./heat_map.js";
import { mapSvg } from "./map_svg.js";
import { zoomButtons } from "./map_view.js";
import { cellValue } from "./tile_store.js";
import { sharedUnits } from "./units.js";
import { quoted } from "./words.js";

const APART = "The two models cut this text into different tokens: show words instead of pieces to see the difference.";
const POINT_BOTH = "Point at a cell to read both models.";

export function compareView(context) {
  if (context.model.models.length < 2) return alone("Two models are compared: start headscope view with a second model.");
  if (!context.sameHeads()) return alone("These two models differ in layers or heads; there is no head to compare.");
  const compared = comparedHead(context);
  const readout = make("output", { class: "readout", "aria-live": "polite" });
  const maps = compared.titles.map((title, index) => heatMap(compared.picture(index), listeners(index)));
  let focus = compared.placeOf(0, context.store.get().pin);
  const say = () => { readout.textContent = compared.shared ? compared.say(focus) : APART; };
  say();

  /** What a map does with the pointer and the window: the other maps follow. */
  function listeners(index) {
    const { store } = context;
    return { ...store.get(), pin: compared.unitsAt(index, compared.placeOf(0, store.get().pin)),
      height: context.height() * (index === 2 ? 1 : 0.7),
      onFocus: (query, key, pinned) => follow(compared.placeOf(index, { query, key }), pinned),
      onScroll: (left, top) => maps.filter(({ element }) => element.scrollLeft !== left || element.scrollTop !== top).forEach((map) => map.scrollTo(left, top)),
      onView: (view) => store.set(view, true) };
  }

  function follow(place, pinned) {
    if (!compared.shared) return;
    focus = place;
    maps.forEach((map, index) => {
      const { query, key } = compared.unitsAt(index, place);
      map.point(query, key);
    });
    say();
    if (pinned) context.store.set({ pin: compared.unitsAt(0, place) }, true);
  }

  const figure = (title, index) => make("figure", { class: index === 2 ? "wide" : "" }, make("figcaption", {}, title), maps[index].element);
  return {
    element: make("div", { class: "compare-view" }, readout, make("div", { class: "compare-maps" }, compared.titles.map(figure)), zoomButtons(...maps)),
    arrived() {
      compared.refresh();
      say();
      for (const map of maps) map.redraw();
    },
    svg: compared.svg,
    destroy: () => maps.forEach((map) => map.destroy()),
  };
}

/** The maps of the chosen head in both models, and their difference where they share tokens or words. */
function comparedHead(context) {
  const [name] = context.store.get().heads;
  const { tiles, text } = context.data;
  const pair = context.pair();
  const unitsOf = pair.map((model) => context.data.unitsOf[model]);
  const shared = sharedUnits(text, unitsOf);
  const units = shared?.units ?? unitsOf;
  const names = pair.map((model) => context.model.models[model].name);
  const titles = shared ? [...names, "difference"] : names;
  const places = pair.map((model) => context.place(name, model));
  const largestOfBoth = () => pair.map((model, at) => context.maximum(name, model, units[at]));
  let maxima = largestOfBoth();
  let bitmaps = paint(context.dark());

  function paint(dark) {
    const both = places.map((place, at) => headBitmaps(tiles, place, { maximum: maxima[at], dark, scale: context.store.get().scale }));
    return shared ? [...both, difference({ maximum: Math.max(...maxima), dark })] : both;
  }

  function difference(colours) {
    if (!shared.pairs) return differenceBitmaps(tiles, ...places, colours);
    return pairedDifferenceBitmaps(tiles, places, shared.pairs, unitsOf.map((each) => each.labels.length), colours);
  }

  /** The cell at a place in both models, in words. */
  function say(place) {
    if (!place) return POINT_BOTH;
    const { labels, rows, columns } = units[2];
    const cell = `${quoted(labels[rows[place[0]]])} → ${quoted(labels[columns[place[1]]])}`;
    const [one, other] = [0, 1].map((at) => cellValue(tiles, places[at], units[at].rows[place[0]], units[at].columns[place[1]]));
    if (one === null || other === null) return cell;
    return `${cell}: ${share(one)} in ${names[0]}, ${share(other)} in ${names[1]}, difference ${(one - other > 0 ? "+" : "") + share(one - other)}.`;
  }

  return {
    shared, titles, say,
    picture: (index) => ({ units: units[index], label: `${titles[index]}: attention map of head ${name}`, bitmap: (...tile) => bitmaps[index](...tile) }),
    placeOf(index, { query, key }) {
      const place = [units[index].rows.indexOf(query), units[index].columns.indexOf(key)];
      return place.includes(-1) ? null : place;
    },
    unitsAt: (index, place) => (place ? { query: units[index].rows[place[0]], key: units[index].columns[place[1]] } : { query: null, key: null }),
    refresh() {
      const before = String(maxima);
      maxima = largestOfBoth();
      if (String(maxima) !== before) bitmaps = paint(context.dark());
    },
    svg: () => mapSvg(paint(false).map((bitmap, at) => ({ title: `${name}, ${titles[at]}`, bitmap, units: units[at] }))),
  };
}

function alone(reason) {
  return { element: make("p", { class: "quiet" }, reason), destroy() {} };
}
