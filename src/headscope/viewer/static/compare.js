/** Two models on the same text, or one model on two texts: the maps of a head side by side, and their difference. */

import { differenceBitmaps, headBitmaps, pairedDifferenceBitmaps } from "./bitmaps.js";
import { make, share } from "./dom.js";
import { heatMap } from "./heat_map.js";
import { mapSvg } from "./map_svg.js";
import { zoomButtons } from "./map_view.js";
import { cellValue } from "./tile_store.js";
import { changeOfHead } from "./text_changes.js";
import { sharedUnits } from "./units.js";
import { quoted } from "./words.js";

const APART = "The two models cut this text into different tokens: show words instead of pieces to see the difference.";
const POINT_BOTH = "Point at a cell to read both.";

export function compareView(context) {
  if (context.readings().length < 2) return alone("Two models or two texts are compared: start headscope view with --with MODEL, or with --against TEXT.");
  if (!context.sameHeads()) return alone("These two models differ in layers or heads; there is no head to compare.");
  const compared = comparedHead(context);
  const readout = make("output", { class: "readout", "aria-live": "polite" });
  const maps = compared.titles.map((title, index) => heatMap(compared.picture(index), listeners(index)));
  let focus = compared.placeOf(0, context.store.get().pin);
  const say = (words = compared.say(focus)) => { readout.textContent = compared.shared ? words : APART; };
  say();

  /** What a map does with the pointer and the window: the other maps follow. */
  function listeners(index) {
    const { store } = context;
    return { ...store.get(), pin: compared.unitsAt(index, compared.placeOf(0, store.get().pin)),
      height: context.height() * (index === 2 ? 1 : 0.7),
      onFocus: (query, key, pinned) => follow(index, { query, key }, pinned),
      onScroll: (left, top) => context.data.text.against || maps.filter(({ element }) => element.scrollLeft !== left || element.scrollTop !== top).forEach((map) => map.scrollTo(left, top)),
      onView: (view) => store.set(view, true) };
  }

  /** The other maps show the cell that is in focus in one; a word that only one text has is in focus there alone. */
  function follow(index, cell, pinned) {
    if (!compared.shared) return;
    focus = compared.placeOf(index, cell);
    maps.forEach((map, at) => {
      const { query, key } = at === index ? cell : compared.unitsAt(at, focus);
      map.point(query, key);
    });
    say(focus || cell.query === null ? undefined : compared.sayAlone(index, cell));
    if (pinned) context.store.set({ pin: compared.unitsAt(0, focus) }, true);
  }

  const figure = (title, index) => make("figure", { class: index === 2 ? "wide" : "" }, make("figcaption", {}, title), maps[index].element);
  return {
    element: make("div", { class: "compare-view" }, compared.change, readout, make("div", { class: "compare-maps" }, compared.titles.map(figure)), zoomButtons(...maps)),
    arrived() {
      compared.refresh();
      say();
      for (const map of maps) map.redraw();
    },
    columns: compared.columns,
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
  const aligned = shared?.shared ?? units; // rows and columns at the same places
  const names = pair.map((model) => context.readings()[model].name);
  const titles = shared ? [...names, text.against ? "second minus first" : "difference"] : names;
  const change = text.against ? make("p", { class: "changes" }, changeOfHead(text, name), " * marks a word that the other text lacks.") : null;
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

  /** The cell at a place in both maps, in words. */
  function say(place) {
    if (!place) return POINT_BOTH;
    const { labels, rows, columns } = aligned[2];
    const cell = `${quoted(labels[rows[place[0]]])} → ${quoted(labels[columns[place[1]]])}`;
    const [one, other] = [0, 1].map((at) => cellValue(tiles, places[at], aligned[at].rows[place[0]], aligned[at].columns[place[1]]));
    if (one === null || other === null) return cell;
    return `${cell}: ${share(one)} in ${names[0]}, ${share(other)} in ${names[1]}, difference ${(other - one > 0 ? "+" : "") + share(other - one)}.`;
  }

  /** A cell of one text with a word that the other lacks, in words. */
  function sayAlone(at, { query, key }) {
    const value = cellValue(tiles, places[at], query, key);
    const { labels } = unitsOf[at];
    return `${quoted(labels[query])} → ${quoted(labels[key])}${value === null ? "" : `: ${share(value)} in ${names[at]}`}; the other text lacks ${aligned[at].rows.includes(query) ? quoted(labels[key]) : quoted(labels[query])}.`;
  }

  return {
    shared, titles, change, say, sayAlone,
    columns: shared && names.map((each, at) => ({ title: `head ${name} in ${each}, to`, units: unitsOf[at], place: places[at], rows: aligned[at].rows })),
    picture: (index) => ({ units: units[index], label: `${titles[index]}: attention map of head ${name}`, bitmap: (...tile) => bitmaps[index](...tile) }),
    placeOf(index, { query, key }) {
      const { rows, columns } = aligned[index];
      const place = [rows.indexOf(query), columns.indexOf(key)];
      return place.includes(-1) ? null : place;
    },
    unitsAt: (index, place) => (place ? { query: aligned[index].rows[place[0]], key: aligned[index].columns[place[1]] } : { query: null, key: null }),
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
