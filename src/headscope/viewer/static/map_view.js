/** The view of one head as a heat map, with readouts of the row and the column in focus. */

import { headBitmaps } from "./bitmaps.js";
import { make, share } from "./dom.js";
import { heatMap } from "./heat_map.js";
import { mapSvg } from "./map_svg.js";
import { cellValue, rowValues, strongest } from "./tile_store.js";
import { quoted } from "./words.js";

const POINT = "Point at a cell, or use the arrow keys; + and − zoom, 0 fits.";

export function mapView(context) {
  const { store } = context;
  const { units, tiles } = context.data;
  const [name] = store.get().heads;
  const place = context.place(name);
  let focus = [store.get().pin.query, store.get().pin.key];
  const readout = make("output", { class: "readout", "aria-live": "polite" }, POINT);
  let maximum = context.maximum(name);
  let bitmap = pictures();
  const label = `Attention map of head ${name}; the arrow keys move, plus and minus zoom`;
  const map = heatMap({ units, label, bitmap: (...tile) => bitmap(...tile) }, {
    ...store.get(), height: context.height(),
    onFocus(row, column, pinned) {
      focus = [row, column];
      say();
      if (pinned) store.set({ pin: { query: row, key: column } }, true);
    },
    onScroll: () => context.remember(() => ({ at: map.view().at })),
    onView: (view) => store.set(view, true),
  });
  say();

  function say() {
    const [row, column] = focus;
    const there = units.rows.includes(row) && units.columns.includes(column);
    readout.textContent = there ? sayCell(context, place, row, column) : POINT;
  }

  function pictures(dark = context.dark()) {
    return headBitmaps(tiles, place, { maximum, dark, scale: store.get().scale });
  }

  return {
    element: make("div", { class: "map-view" }, readout, map.element, zoomButtons(map)),
    arrived() {
      const before = maximum;
      maximum = context.maximum(name); // of what is on show, once its tile is there
      if (maximum !== before) bitmap = pictures();
      say();
      map.redraw();
    },
    svg: () => mapSvg([{ title: `Head ${name}`, bitmap: pictures(false), units }]),
    destroy: map.destroy,
  };
}

/** A cell, its row and its column in words, from the tiles at hand. */
export function sayCell(context, place, row, column) {
  const { units, tiles } = context.data;
  const value = cellValue(tiles, place, row, column);
  if (value === null || value === undefined) return `${quoted(units.labels[row])} → ${quoted(units.labels[column])}`;
  const attention = rowValues(tiles, place, row, units.labels.length);
  const best = attention ? strongest(attention, units.columns, 3).map((unit) => `${quoted(units.labels[unit])} ${share(attention[unit])}`).join(", ") : "";
  const lookers = strongest(units.rows.length > 512 ? [] : columnValues(units, tiles, place, column), units.rows, 3);
  return `${quoted(units.labels[row])} → ${quoted(units.labels[column])}: ${share(value)}. Row: attends most to ${best}.`
    + (lookers.length ? ` Column: looked at most by ${lookers.map((unit) => quoted(units.labels[unit])).join(", ")}.` : "");
}

function columnValues(units, tiles, place, column) {
  const values = [];
  for (const unit of units.rows) values[unit] = cellValue(tiles, place, unit, column);
  return values;
}

/** Buttons that zoom one map or several. */
export function zoomButtons(...maps) {
  const button = (words, title, act) => make("button", { type: "button", title, "aria-label": title, onclick: () => maps.forEach(act) }, words);
  return make("div", { class: "zoom", role: "group", "aria-label": "Zoom" },
    button("−", "Zoom out", (map) => map.zoomBy(-1)), button("fit", "Fit the map", (map) => map.zoomTo(0)), button("+", "Zoom in", (map) => map.zoomBy(1)));
}
