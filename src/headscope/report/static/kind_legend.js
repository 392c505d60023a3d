/** What the colours of heads mean: kinds of heads as buttons, each of which shows one kind alone. */

import { make } from "./dom.js";

/**
 * Buttons of `{kind, name, colour, meaning, count, beside}`; `choose(kind)` receives the kind to show, "" for all.
 * `count` is the number of heads that it frames; `beside` that of heads with another frame that it shows, too ("+2").
 */
export function kindButtons(kinds, chosen, total, choose) {
  return kinds.map(({ kind, name, colour, meaning, count, beside }) => {
    const more = beside ? `; ${beside} more where it comes second` : "";
    const number = [count || "", beside ? `+${beside}` : ""].join(" ").trim();
    const button = make("button", { type: "button", class: "kind", "data-kind": kind, title: `${count} of ${total} heads: ${meaning}${more}`,
      "aria-pressed": String(kind === chosen), onclick: () => choose(kind === chosen ? "" : kind) }, name, make("small", {}, ` ${number || 0}`));
    button.style.setProperty("--frame", colour);
    return button;
  });
}
