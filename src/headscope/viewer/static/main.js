/** The viewer: mount all its views into one element of a page. Nothing outside the element is touched. */

import { createContext } from "./context.js";
import { make } from "./dom.js";
import { createFrame } from "./frame.js";
import { formatState } from "./state.js";

/**
 * Mount the viewer. `source` gives the data (`source.js`), `state` is a fragment, "" for the start;
 * `options.onState(fragment)` receives each new state, `options.height` is the height of a picture in pixels.
 * Returns a function that takes the viewer away; `setState(fragment)` and `state()` are its properties.
 */
export function mount(element, source, state = "", options = {}) {
  const alarm = make("p", { class: "error", role: "alert", hidden: true });
  const body = make("div", { class: "viewer", "aria-busy": "true" }, make("p", { class: "quiet", role: "status" }, "Reading the model…"));
  element.classList.add("headscope");
  element.replaceChildren(alarm, body);
  const context = createContext(source, state, options, (message) => {
    alarm.textContent = message;
    alarm.hidden = !message;
  });
  start(context, body).catch((error) => context.complain(error.message)).finally(() => body.removeAttribute("aria-busy"));
  const remove = () => {
    context.destroy();
    element.replaceChildren();
  };
  return Object.assign(remove, { setState: context.store.replace, state: () => formatState(context.store.get()) });
}

/** Read the model and its numbers, show the frame, and follow the state. */
async function start(context, body) {
  const { source, store } = context;
  context.model = await source.model();
  context.measured = await Promise.all(context.model.models.map(async (_, at) => withKinds(await source.numbers(at))));
  const frame = createFrame(context);
  body.replaceChildren(...frame.elements);
  context.redraw = () => frame.update(["view"]);
  store.listen(async (names) => {
    context.complain("");
    try {
      if (["first", "second", "against"].some((name) => names.includes(name))) await frame.loadText();
      else frame.update(names);
    } catch (error) {
      context.complain(error.message);
    }
  });
  await frame.loadText();
}

/** The numbers of a model, and what its heads do by their names. */
function withKinds(numbers) {
  const kindsOf = new Map();
  for (const [layer, head, kind, word] of numbers.kinds) {
    const name = `${layer}-${head}`;
    kindsOf.set(name, [...(kindsOf.get(name) ?? []), { kind, word }]);
  }
  return { ...numbers, kindsOf };
}
