/** A state, whole in one line of text: the fragment of the page's address. */

// Forms of fields: [key in the fragment, default, how it is read and written]
export const plainWords = { read: (text) => text, write: (value) => value };

/** A choice; the first one stands for what is none of them. */
export const oneOf = (choices) => ({ read: (text) => (choices.includes(text) ? text : choices[0]), write: (value) => value });

/** The state that a fragment describes; what it does not name has its default. */
export function readFields(fields, fragment = "") {
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  return Object.fromEntries(Object.entries(fields).map(
    ([name, [key, usual, form]]) => [name, given.has(key) ? form.read(given.get(key)) : usual]));
}

/** The fragment of a state, without what has its default; `before` is a fragment whose other keys stay. */
export function writeFields(fields, state, before = "") {
  const given = new URLSearchParams(before);
  for (const [name, [key, usual, form]] of Object.entries(fields)) {
    const text = form.write(state[name]);
    if (text === form.write(usual)) given.delete(key);
    else given.set(key, text);
  }
  return given.toString();
}

/** A state that components read, change and listen to; `onState` receives each new state. */
export function createStore(fields, fragment, onState) {
  let state = readFields(fields, fragment);
  const listeners = [];
  const change = (next, quiet) => {
    const before = state;
    state = next;
    const names = Object.entries(fields).filter(([name, [, , form]]) => form.write(before[name]) !== form.write(state[name])).map(([name]) => name);
    if (!names.length) return;
    onState(state);
    if (!quiet) for (const listener of listeners) listener(names);
  };
  return {
    get: () => state,
    /** Change some fields; `quiet`: nothing is drawn anew. */
    set: (some, quiet = false) => change({ ...state, ...some }, quiet),
    replace: (text) => change(readFields(fields, text), false),
    listen: (listener) => listeners.push(listener),
  };
}

/** The state in the page's address; "" where the address has none, or names a place in the page. */
export function readAddress() {
  return location.hash.includes("=") ? location.hash.slice(1) : "";
}

/** Put a state into the page's address. A page in a frame of a notebook (about:srcdoc) has none to write to. */
export function writeAddress(fragment) {
  if (location.protocol !== "about:") history.replaceState(null, "", `#${fragment}`);
}

/** Call `read(fragment)` for each state that a link of the page or the reader puts into the address. */
export function followAddress(read) {
  addEventListener("hashchange", () => { if (readAddress() || !location.hash) read(readAddress()); });
}
