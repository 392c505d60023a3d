/** The order of heads: by a number, by kind, or as they lie; within each layer or over all layers. */

import { choice, make } from "./dom.js";

/** Choices of the order; `titles` are [name, words] of numbers, `change(fields)` receives what the reader chooses. */
export function orderControls(titles, { sort, all }, change) {
  const within = make("input", { type: "checkbox", checked: !all, onchange: () => change({ all: !within.checked }) });
  return [choice("Order", [["", "layer and head"], ["kind", "kind of head"], ...titles], sort, (next) => change({ sort: next })),
    make("label", { class: "check within" }, within, "within each layer")];
}

/**
 * Rows of heads in order, each as long as before. `values` are those of a number by head, the highest first, heads
 * without one last; without `values` heads of one kind stand together, as `kinds` lists them.
 */
export function inOrder(rows, { sort, all }, { nameOf, values, kinds, kindOf }) {
  if (!sort) return rows;
  const rank = (head) => kinds.indexOf(kindOf(head)?.kind) + 1 || kinds.length + 1;
  const key = (head) => (values ? [-(values.get(nameOf(head)) ?? -Infinity), ""] : [rank(head), kindOf(head)?.word ?? ""]);
  const ordered = (heads) => heads.map((head) => [head, ...key(head)])
    .sort(([, one, word], [, other, next]) => (one === other ? Number(word > next) - Number(word < next) : one < other ? -1 : 1)).map(([head]) => head);
  if (!all) return rows.map(ordered);
  const whole = ordered(rows.flat());
  return rows.map((row) => whole.splice(0, row.length));
}
