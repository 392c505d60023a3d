/** The state of a view, whole in one line of text: the fragment of its address. */

import { createStore, oneOf, plainWords, readFields, writeFields } from "./address.js";

const VIEWS = ["lines", "map", "card", "compare", "try", "importance", "examples"];
const flag = { read: (text) => text !== "0", write: (value) => (value ? "1" : "0") };
const count = (text) => (/^\d{1,6}$/.test(text) ? Number(text) : 0);

// name: [key in the fragment, default, how it is read and written]
const FIELDS = {
  first: ["t", "", plainWords],
  second: ["t2", "", plainWords],
  against: ["ta", "", plainWords],
  view: ["v", "lines", oneOf(VIEWS)],
  heads: ["h", [], { read: readHeads, write: (value) => value.join(",") }],
  unit: ["w", "", oneOf(["", "pieces", "words"])], // "": words where pieces are bytes of characters
  special: ["s", true, flag],
  across: ["b", false, flag],
  scale: ["n", "map", oneOf(["map", "row"])],
  zoom: ["z", 0, { read: (text) => Math.min(48, Math.max(0, Number(text) || 0)), write: (value) => String(+value.toFixed(3)) }],
  at: ["at", [0, 0], { read: (text) => [...text.split(",").map(count), 0, 0].slice(0, 2), write: (value) => value.join(",") }],
  pin: ["p", { query: null, key: null }, { read: readPin, write: writePin }],
  colour: ["c", "kind", plainWords],
  sort: ["o", "", plainWords],
  all: ["a", false, flag],
  kind: ["k", "", plainWords],
  model: ["m", 0, { read: count, write: String }],
  grid: ["g", true, flag],
  off: ["x", "", plainWords],
  mode: ["xm", "uniform", oneOf(["uniform", "zero", "mean"])],
  method: ["i", "integrated_gradients", plainWords],
  by: ["e", "", plainWords],
};

/** What shows two texts that are compared, as `COMPARING` of view_state.py, and one text after them. */
export const COMPARING = { view: "compare", colour: "difference", sort: "difference", all: true };
export const NOT_COMPARING = { view: "lines", colour: "kind", sort: "", all: false, model: 0 };

/** The state that a fragment describes; what it does not name, or names wrongly, has its default. */
export function parseState(fragment) {
  return readFields(FIELDS, fragment);
}

/** The fragment of a state; what has its default is left out. */
export function formatState(state) {
  return writeFields(FIELDS, state);
}

/** The store of a view; `onState` receives each new fragment. */
export function viewStore(fragment, onState = () => {}) {
  return createStore(FIELDS, fragment, (state) => onState(formatState(state)));
}

/** Layer and head of a name such as "4-7". */
export function headPlace(name) {
  const [layer, head] = name.split("-").map(Number);
  return { layer, head };
}

function readHeads(text) {
  return [...new Set(text.split(",").filter((name) => /^[1-9]\d{0,3}-[1-9]\d{0,3}$/.test(name)))].slice(0, 8);
}

function readPin(text) {
  const [, query, key] = /^(?:q(\d{1,6}))?(?:k(\d{1,6}))?$/.exec(text) ?? [];
  return { query: query ? Number(query) : null, key: key ? Number(key) : null };
}

function writePin({ query, key }) {
  return (query === null ? "" : `q${query}`) + (key === null ? "" : `k${key}`);
}
