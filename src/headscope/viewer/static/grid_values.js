/** The difference of all heads of two models on the text, as a number that the grid can show and sort by. */

import { smallDifference } from "./bitmaps.js";

export function differenceOfHeads({ data: { overviews: [one, other] }, model: { models: [{ heads: counts }] } }) {
  const heads = counts.flatMap((count, at) => Array.from({ length: count }, (_, head) => [at + 1, head + 1]));
  const values = heads.map(([layer, head]) => [layer, head, smallDifference(one, other, layer, head)]);
  return { name: "difference", long_name: "difference on this text", units: "", values };
}
