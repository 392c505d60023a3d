/** The card of the chosen head, made by the report's templates on the server. */

import { make } from "./dom.js";
import { fragmentBox } from "./fragment.js";
import { headPlace } from "./state.js";

export function cardView(context) {
  const { heads: [name] } = context.store.get();
  const { results } = context.model;
  if (!results?.length) {
    return { element: make("p", { class: "quiet" }, "No results about this model are at hand; headscope profile, syntax and others make them, and headscope view MODEL DIR shows them."), destroy() {} };
  }
  const body = fragmentBox(`Card of head ${name}`, context.source.card(headPlace(name), context.modelNumber()));
  return { element: make("div", { class: "card-view" }, make("h3", {}, `Head ${name}`), body), destroy() {} };
}
