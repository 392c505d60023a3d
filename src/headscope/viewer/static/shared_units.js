/** The rows and columns that two models share: the same tokens, or the words at the same place of a text. */

/**
 * Units of the first model, of the second and of their difference; places in their rows and columns are the same.
 * `pairs` are the words of both, [first, second], where the tokens differ. Null where nothing is shared.
 */
export function sharedUnits({ text, unitsOf: [one, other] }) {
  if (text.same_tokens !== false) return { units: [one, other, one], pairs: null };
  const pairs = text.word_pairs ?? [];
  if (!one.words || !other.words || !pairs.length) return null;
  const pairsOf = (units) => pairs.map((_, at) => at).filter((at) => units.includes(pairs[at][0]));
  const [rows, columns] = [pairsOf(one.rows), pairsOf(one.columns)];
  const side = (units, model) => ({ ...units, rows: rows.map((at) => pairs[at][model]), columns: columns.map((at) => pairs[at][model]) });
  const labels = pairs.map(([first]) => one.labels[first]);
  return { units: [side(one, 0), side(other, 1), { ...one, labels, raw: labels, rows, columns }], pairs };
}
