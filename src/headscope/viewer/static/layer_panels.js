/** What layers know, as the page layers.html says it: panels that are read when they are opened. */

import { make } from "./dom.js";
import { fragmentBox } from "./fragment.js";

export function layerPanels(context) {
  const element = make("div");
  let numbers;

  /** Show the panels of the chosen model; those that are open stay so until there is another model. */
  function update() {
    if (numbers === context.numbers()) return;
    numbers = context.numbers();
    const model = context.modelNumber();
    element.replaceChildren(...(numbers.panels ?? []).map((title, at) => {
      const read = () => { if (fold.open && !fold.children[1]) fold.append(fragmentBox(title, context.source.panel(at, model))); };
      const fold = make("details", { class: "layers", ontoggle: read }, make("summary", {}, title));
      return fold;
    }));
  }
  return { element, update };
}

/** The numbers for which a layer was chosen, in words; "" if there are none. */
export function bestOfLayer(context, layer) {
  const names = (context.numbers().layers ?? []).filter(({ best }) => best === layer).map(({ words }) => words);
  return names.length ? `chosen for ${names.join(", ")}` : "";
}
