/** The facts of a picture as a table, for those who do not see it: made when it is opened. */

import { make, share } from "./dom.js";
import { rowValues, strongest } from "./tile_store.js";
import { rawTitle } from "./units.js";

const MOST_ROWS = 300;
const MOST_KEYS = 3;

export function factTable(context) {
  const body = make("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": "Strongest attention of each token" });
  const fold = make("details", { class: "facts", ontoggle: () => update() }, make("summary", {}, "The same as a table"), body);

  function update() {
    if (!fold.open || !context.data) return;
    const { units, tiles } = context.data;
    const columns = context.view?.columns ?? context.store.get().heads.map((name) => ({ title: `head ${name}, to`, units, place: context.place(name), rows: units.rows }));
    const [{ units: first, rows: all }] = columns; // the same places in each column
    const rows = all.slice(0, MOST_ROWS).map((unit, at) => make("tr", {}, make("th", { scope: "row", title: rawTitle(first, unit) || undefined }, first.labels[unit]),
      columns.map((column) => make("td", {}, strongKeys(column.units, rowValues(tiles, column.place, column.rows[at], column.units.labels.length))))));
    body.replaceChildren(make("table", {},
      make("caption", {}, `The ${MOST_KEYS} keys that each ${first.words ? "word" : "token"} attends to most${all.length > MOST_ROWS ? `; the first ${MOST_ROWS}` : ""}`),
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "attends"), columns.map(({ title }) => make("th", { scope: "col" }, title)))),
      make("tbody", {}, rows)));
  }
  return { element: fold, update };
}

function strongKeys(units, attention) {
  if (!attention) return "…";
  return strongest(attention, units.columns, MOST_KEYS).map((unit) => `${units.labels[unit]} ${share(attention[unit])}`).join(", ");
}
