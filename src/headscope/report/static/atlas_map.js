/** A map of the atlas, large, between its tokens. */

import { make } from "./dom.js";

const MOST_LABELS = 32; // more of them are too small to read beside a map

/** A copy of the image of a map; `names` are the tokens as the tokenizer writes them. */
export function framedMap(image, tokens, names) {
  const copy = image.cloneNode();
  copy.hidden = false;
  const sides = tokens.length <= MOST_LABELS ? ["keys", "queries"] : [];
  return make("div", { class: "atlas-framed" }, sides.map((side) => make("div", { class: `atlas-${side}` },
    tokens.map((token, at) => make("span", { title: token !== names[at] && names[at] }, token)))), copy);
}
