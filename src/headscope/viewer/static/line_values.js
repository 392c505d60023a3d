/** The attention that lines show: rows of heads, and the strongest keys of each query, kept while they are looked at. */

import { RecentlyUsed, rowValues, strongest } from "./tile_store.js";

const FEW = 64; // texts of up to so many tokens have more lines
const KEYS = [16, 6]; // lines of a token in short and in long texts

/** `row(head, query)` and `strongestKeys(head, query)` of a picture of `head_lines.js`. */
export function lineValues({ units, tiles, count }) {
  const rows = new RecentlyUsed(512);
  const best = new RecentlyUsed(4096);
  const number = KEYS[units.columns.length <= FEW ? 0 : 1];

  /** The attention of one query in one head, or null while it comes. */
  function row(head, query) {
    const key = `${head.name}/${query}`;
    let kept = rows.get(key);
    if (!kept && (kept = rowValues(tiles, head.place, query, count))) rows.set(key, kept);
    return kept;
  }

  /** The strongest keys of a query: [unit, attention]; none while they come. */
  function strongestKeys(head, query) {
    const key = `${head.name}/${query}`;
    let kept = best.get(key);
    const attention = kept ? null : row(head, query);
    if (attention) {
      kept = strongest(attention, units.columns, number).map((unit) => [unit, attention[unit]]);
      best.set(key, kept);
    }
    return kept ?? [];
  }
  return { row, strongestKeys };
}
