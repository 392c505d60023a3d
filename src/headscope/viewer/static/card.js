/** The card of the chosen head, made by the report's templates on the server. */

import { make } from "./dom.js";
import { headPlace } from "./state.js";

const REFUSED = "script, style, iframe, object, embed, link, meta, base, form";

export function cardView(context) {
  const { heads: [name], model } = context.store.get();
  const body = make("div", { class: "card-body", "aria-busy": "true", tabindex: "0", role: "region", "aria-label": `Card of head ${name}` }, "Reading the card…");
  const { results } = context.model;
  if (!results?.length) {
    return { element: make("p", { class: "quiet" }, "There are no results about this model at hand; headscope profile, syntax and others make them, and headscope view MODEL DIR shows them."), destroy() {} };
  }
  context.source.card(headPlace(name), model).then(
    (html) => body.replaceChildren(...parsed(html)),
    (error) => body.replaceChildren(make("p", { class: "quiet" }, error.message)),
  ).finally(() => body.removeAttribute("aria-busy"));
  return { element: make("div", { class: "card-view" }, make("h3", {}, `Head ${name}`), body), destroy() {} };
}

/** The nodes of a fragment, without anything that runs or changes the page around it. */
function parsed(html) {
  const { body } = new DOMParser().parseFromString(html, "text/html");
  for (const element of body.querySelectorAll(REFUSED)) element.remove();
  for (const element of body.querySelectorAll("*")) {
    for (const { name, value } of [...element.attributes]) {
      if (name.startsWith("on") || name === "id" || name === "style" || /^\s*javascript:/i.test(value)) element.removeAttribute(name);
    }
  }
  return [...body.childNodes].map((node) => document.importNode(node, true));
}
