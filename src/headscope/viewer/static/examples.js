/** Sentences of a corpus on which the chosen head is most itself. */

import { choice, make } from "./dom.js";
import { headPlace } from "./state.js";

export function examplesView(context) {
  const { store, source, model } = context;
  const names = model.examples_by ?? [];
  const [name] = store.get().heads;
  const list = make("ol", { class: "examples", "aria-busy": "true" });
  const by = () => (names.includes(store.get().by) ? store.get().by : usual(names, context.kindsOf(name)));
  const load = async () => {
    try {
      const examples = await source.examples(headPlace(name), by());
      list.replaceChildren(...examples.map(item));
      if (!examples.length) list.replaceChildren(make("li", { class: "quiet" }, "The index has no example of this head."));
    } catch (error) {
      list.replaceChildren(make("li", { class: "quiet" }, error.message));
    }
    list.removeAttribute("aria-busy");
  };
  const item = ({ text, second, value }) => make("li", {},
    make("button", { type: "button", class: "example", dir: "auto", disabled: !source.live, onclick: () => context.show(text, second ?? "") }, second ? `${text} | ${second}` : text),
    make("span", { class: "quiet" }, ` ${value.toFixed(2)}`));
  if (names.length) load();
  const which = names.length > 1 ? choice("Most attention to", names.map((each) => [each, (context.numbers().names[each] ?? each).replace(": ", ", ")]), by(), (value) => { store.set({ by: value }, true); load(); }) : null;
  return { element: make("div", { class: "examples-view" }, make("h3", {}, `Head ${name}`), which, names.length ? list : make("p", { class: "quiet" }, "There is no index of examples among the results; headscope index makes one.")), destroy() {} };
}

/** What the head attends to most by its kind, such as "cls" or "det: dependent to head"; else the first of the index. */
function usual(names, kinds) {
  const fits = ({ kind, word }) => names.find((name) => name === kind || name.startsWith(`${word}:`));
  return kinds.map(fits).find(Boolean) ?? names[0];
}
