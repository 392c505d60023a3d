/** Pieces of HTML that the report's templates make on the server. */

import { make } from "./dom.js";

const REFUSED = "script, style, iframe, object, embed, link, meta, base, form";

/** A box that is filled with what `reading` brings: a fragment, or an error in one line. */
export function fragmentBox(label, reading) {
  const body = make("div", { class: "card-body", "aria-busy": "true", tabindex: "0", role: "region", "aria-label": label }, "Reading…");
  reading.then(
    (html) => body.replaceChildren(...parsed(html)),
    (error) => body.replaceChildren(make("p", { class: "quiet" }, error.message)),
  ).finally(() => body.removeAttribute("aria-busy"));
  return body;
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
