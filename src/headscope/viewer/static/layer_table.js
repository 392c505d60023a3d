/** What each layer knows, from the results at hand: a number a row, framed in the layer that other data have chosen. */

import { make } from "./dom.js";

export function layerTable(context) {
  const body = make("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": "Numbers of every layer" });
  const element = make("details", { class: "layers" }, make("summary", {}, "What each layer knows"), body);

  /** Show the layers of the chosen model, if any result has numbers of them. */
  function update() {
    const numbers = context.numbers().layers ?? [];
    element.hidden = !numbers.length;
    const layers = [...new Set(numbers.flatMap(({ values }) => values.map(([layer]) => layer)))].sort((one, other) => one - other);
    const head = make("tr", {}, make("th", { scope: "col" }, "Number"), layers.map((layer) => make("th", { scope: "col" }, layer ? `Layer ${layer}` : "Embeddings")));
    body.replaceChildren(make("table", {}, make("caption", {}, "Framed: the best layer, chosen by other data than the numbers."), make("thead", {}, head),
      make("tbody", {}, numbers.map((each) => layerRow(each, layers)))));
  }
  return { element, update };
}

function layerRow({ topic, words, best, values }, layers) {
  const texts = new Map(values);
  return make("tr", {}, make("th", { scope: "row" }, words, make("small", {}, ` ${topic.toLowerCase()}`)),
    layers.map((layer) => make("td", { class: layer === best ? "best" : undefined }, texts.get(layer), layer === best ? make("small", {}, " best") : null)));
}

/** The numbers for which a layer is the best, in words; "" if there are none. */
export function bestOfLayer(context, layer) {
  const names = (context.numbers().layers ?? []).filter(({ best }) => best === layer).map(({ words }) => words);
  return names.length ? `best for ${names.join(", ")}` : "";
}
