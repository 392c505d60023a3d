/** What the frames of the grid mean: kinds of heads, or the range of a number. */

import { make, redraw, short } from "./dom.js";
import { kindButtons } from "./kind_legend.js";
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
    const { colours, names: words, meanings } = context.numbers();
    const first = names.map((name) => context.kindsOf(name)[0]?.kind);
    const kinds = Object.keys(colours).filter((kind) => first.includes(kind)).map((kind) => ({
      kind, name: words?.[kind] ?? kind, colour: legible(colours[kind], context.dark()), meaning: meanings?.[kind], count: first.filter((each) => each === kind).length }));
    redraw(element, ...kindButtons(kinds, store.get().kind, names.length, (kind) => store.set({ kind })));
  }
  return { element, update };
}
