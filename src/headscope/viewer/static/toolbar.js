/** What all pictures of heads share: pieces or words, special tokens, first to second sentence, the scale, the model. */

import { choice, make, redraw } from "./dom.js";
import { wordsPossible } from "./units.js";

export function toolbar(context) {
  const { store } = context;
  const element = make("div", { class: "toolbar" });
  const check = (words, field, disabled, title) => make("label", { class: "check", title }, make("input", {
    type: "checkbox", checked: store.get()[field], disabled, "data-field": field, onchange: (event) => store.set({ [field]: event.target.checked, ...MOVED }) }), words);
  const select = (words, choices, field, read = (value) => value, value = store.get()[field]) => {
    const label = choice(words, choices, String(value), (value) => store.set({ [field]: read(value), ...MOVED }));
    label.querySelector("select").dataset.field = field;
    return label;
  };

  function update() {
    const { view } = store.get();
    const { text } = context.data;
    const pairs = text.segment.includes(1);
    const picture = ["lines", "map", "compare"].includes(view);
    const readings = context.readings();
    const several = readings.length > 1;
    const texts = Boolean(text.against);
    element.hidden = !picture && !(several && !context.model.training && (texts ? ["try", "importance"] : ["card", "try", "importance"]).includes(view));
    redraw(element, ...[
      picture && !(texts && view === "compare") && wordsPossible(text) && select("Show", [["pieces", "pieces"], ["words", "words"]], "unit", undefined, context.data.units.words ? "words" : "pieces"),
      picture && check("special tokens", "special"),
      picture && pairs && check("first to second sentence only", "across"),
      view === "map" && select("Strongest colour", [["map", "largest of the map"], ["row", "largest of each row"]], "scale"),
      view !== "compare" && several && !context.model.training && select(texts ? "Text" : "Model", readings.map(({ name }, at) => [String(at), name]), "model", Number),
    ].filter(Boolean));
  }
  return { element, update };
}

// Other rows and columns: the window goes back to the start.
const MOVED = { at: [0, 0], pin: { query: null, key: null } };
