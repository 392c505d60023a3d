/** How much each token counts for what the model predicts: its number, and a bar. */

import { choice, make } from "./dom.js";
import { headPlace } from "./state.js";

export function importanceView(context) {
  const { store, source, data, model: { methods = [] } } = context;
  const { heads, method, model } = store.get();
  const answer = make("div", { class: "answer", "aria-live": "polite" }, make("p", { class: "quiet" }, "The model is running…"));
  const select = choice("Method", methods, method, (value) => store.set({ method: value }));
  let there = true;
  if (source.live) run();

  async function run() {
    try {
      const { target, prediction, values } = await source.importance(data.text.id, method, model);
      const { layer } = headPlace(heads[0]);
      if (there) answer.replaceChildren(make("p", {}, prediction ? `Predicted: ${prediction}. Explained: ${target}.` : `Explained: ${target}.`), tokenTable(layer, data.texts[model].tokens, values[layer - 1]));
    } catch (error) {
      if (there) answer.replaceChildren(make("p", { class: "error", role: "alert" }, error.message));
    }
  }
  return { element: make("div", { class: "try-view" }, select, answer), destroy() { there = false; } };
}

/** A row for each token; the bar of a number below 0 is hollow. */
function tokenTable(layer, tokens, values) {
  const most = Math.max(...values.map(Math.abs), 1e-300);
  const row = (token, at) => {
    const bar = make("span", { class: values[at] < 0 ? "bar below" : "bar", "aria-hidden": "true" });
    bar.style.width = `${100 * Math.abs(values[at]) / most}%`;
    return make("tr", {}, make("th", { scope: "row" }, token), make("td", { title: String(values[at]) }, values[at].toPrecision(4).replaceAll("-", "−")), make("td", { class: "bars" }, bar));
  };
  return make("table", { class: "ranked" }, make("caption", {}, `Layer ${layer}`), make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "token"), make("th", { scope: "col" }, "importance"), make("td", {}))), make("tbody", {}, tokens.map(row)));
}
