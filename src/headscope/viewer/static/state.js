/** The state of a view, whole in one line of text: the fragment of its address. */

const VIEWS = ["lines", "map", "card", "compare", "try", "examples"];
const oneOf = (choices) => (text) => (choices.includes(text) ? text : choices[0]);
const words = { read: (text) => text, write: (value) => value };
const flag = { read: (text) => text !== "0", write: (value) => (value ? "1" : "0") };
const count = (text) => (/^\d{1,6}$/.test(text) ? Number(text) : 0);

// name: [key in the fragment, default, how it is read and written]
const FIELDS = {
  first: ["t", "", words],
  second: ["t2", "", words],
  view: ["v", "lines", { read: oneOf(VIEWS), write: (value) => value }],
  heads: ["h", [], { read: readHeads, write: (value) => value.join(",") }],
  unit: ["w", "pieces", { read: oneOf(["pieces", "words"]), write: (value) => value }],
  special: ["s", true, flag],
  across: ["b", false, flag],
  scale: ["n", "map", { read: oneOf(["map", "row"]), write: (value) => value }],
  zoom: ["z", 0, { read: (text) => Math.min(48, Math.max(0, Number(text) || 0)), write: (value) => String(+value.toFixed(3)) }],
  at: ["at", [0, 0], { read: (text) => [...text.split(",").map(count), 0, 0].slice(0, 2), write: (value) => value.join(",") }],
  pin: ["p", { query: null, key: null }, { read: readPin, write: writePin }],
  colour: ["c", "kind", words],
  sort: ["o", "", words],
  kind: ["k", "", words],
  model: ["m", 0, { read: (text) => Math.min(1, count(text)), write: String }],
  grid: ["g", true, flag],
  off: ["x", "", words],
  mode: ["xm", "uniform", { read: oneOf(["uniform", "zero", "mean"]), write: (value) => value }],
  by: ["e", "", words],
};

/** The state that a fragment describes; what it does not name, or names wrongly, has its default. */
export function parseState(fragment) {
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  return Object.fromEntries(Object.entries(FIELDS).map(
    ([name, [key, usual, form]]) => [name, given.has(key) ? form.read(given.get(key)) : usual]));
}

/** The fragment of a state; what has its default is left out. */
export function formatState(state) {
  const given = new URLSearchParams();
  for (const [name, [key, usual, form]] of Object.entries(FIELDS)) {
    const text = form.write(state[name]);
    if (text !== form.write(usual)) given.set(key, text);
  }
  return given.toString();
}

/** A state that components read, change and listen to; `onState` receives each new fragment. */
export function createStore(fragment, onState = () => {}) {
  let state = parseState(fragment);
  const listeners = [];
  const change = (next, quiet) => {
    const before = state;
    state = next;
    const names = Object.keys(state).filter((name) => String(FIELDS[name][2].write(before[name])) !== FIELDS[name][2].write(state[name]));
    if (!names.length) return;
    onState(formatState(state));
    if (!quiet) for (const listener of listeners) listener(names);
  };
  return {
    get: () => state,
    /** Change some fields; `quiet`: nothing is drawn anew. */
    set: (fields, quiet = false) => change({ ...state, ...fields }, quiet),
    replace: (text) => change(parseState(text), false),
    listen: (listener) => listeners.push(listener),
  };
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
