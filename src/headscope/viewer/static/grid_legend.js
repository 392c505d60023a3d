/** What the frames of the grid mean: kinds of heads, each a filter, or the range of a number. */

import { make, short } from "./dom.js";
import { legible } from "./palette.js";

export function gridLegend(context) {
  const { store } = context;
  const element = make("div", { class: "legend", role: "group", "aria-label": "Kinds of heads: show one kind" });

  /** Say what the frames of the heads `names` mean; `number` is what they show, undefined for kinds. */
  function update(names, number, { low, high }) {
    if (number) {
      const units = number.units ? `, in ${number.units}` : "";
      element.replaceChildren(make("span", { class: "quiet" }, `Frames: ${number.long_name}, from ${short(low)} (pale) to ${short(high)} (full)${units}.`));
      return;
    }
    const first = names.map((name) => context.kindsOf(name)[0]?.kind);
    const kinds = Object.keys(context.numbers().colours).filter((kind) => first.includes(kind));
    element.replaceChildren(...kinds.map((kind) => button(kind, first.filter((each) => each === kind).length)));
  }

  function button(kind, count) {
    const pressed = String(store.get().kind === kind);
    const made = make("button", { type: "button", class: "kind", title: context.numbers().meanings?.[kind], "aria-pressed": pressed, onclick: () => filter(kind) },
      context.numbers().names?.[kind] ?? kind, make("small", {}, ` ${count}`));
    made.style.setProperty("--frame", legible(context.numbers().colours[kind], context.dark()));
    return made;
  }

  /** Show one kind, or all again; the legend is drawn anew, and its button keeps the focus. */
  function filter(kind) {
    const at = [...element.children].findIndex((each) => each.matches(":focus"));
    store.set({ kind: store.get().kind === kind ? "" : kind });
    element.children[at]?.focus();
  }
  return { element, update };
}
