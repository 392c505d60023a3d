/** What the colours of heads mean: kinds of heads as buttons, each of which shows one kind alone. */

import { make } from "./dom.js";

/** Buttons of `{kind, name, colour, meaning, count}`; `choose(kind)` receives the kind to show, "" for all. */
export function kindButtons(kinds, chosen, total, choose) {
  return kinds.map(({ kind, name, colour, meaning, count }) => {
    const button = make("button", { type: "button", class: "kind", "data-kind": kind, title: `${count} of ${total} heads: ${meaning}`,
      "aria-pressed": String(kind === chosen), onclick: () => choose(kind === chosen ? "" : kind) }, name, make("small", {}, ` ${count}`));
    button.style.setProperty("--frame", colour);
    return button;
  });
}
