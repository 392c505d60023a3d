/** The rows and columns that a picture has: tokens or words, with or without special ones, or first to second sentence. */

/** Labels and places of the units of a text under a state; `rows` and `columns` are the units that the picture has. */
export function unitsOf(text, { unit, special, across }) {
  const words = (unit || text.unit) === "words" && wordsPossible(text);
  const first = words ? text.words.map((word) => word.tokens[0]) : text.tokens.map((_, at) => at);
  const labels = words ? text.words.map((word) => word.text) : text.tokens;
  const all = labels.map((_, at) => at);
  const kept = special ? all : all.filter((at) => !text.special[first[at]]);
  const both = across && text.segment.includes(1);
  const plain = (at) => !text.special[first[at]];
  return {
    words,
    labels,
    raw: words ? labels : text.raw ?? labels,
    rows: both ? kept.filter((at) => plain(at) && text.segment[first[at]] === 0) : kept,
    columns: both ? kept.filter((at) => plain(at) && text.segment[first[at]] === 1) : kept,
    zooms: words ? 1 : text.zooms,
  };
}

/** Tokens as the tokenizer writes them, for a tooltip; empty where they are as on show. */
export function rawTitle({ labels, raw }, ...units) {
  const different = units.filter((unit) => raw[unit] !== labels[unit]);
  return different.map((unit) => raw[unit]).join(" → ");
}

/** Maps of words are made for texts of at most 512 words. */
export function wordsPossible(text) {
  return text.words.length > 0 && text.words.length <= 512;
}

/** Units in a row as runs of neighbours: place in the picture, first unit, length. */
export function runsOf(units) {
  const runs = [];
  units.forEach((unit, place) => {
    const last = runs.at(-1);
    if (last && last.unit + last.length === unit) last.length += 1;
    else runs.push({ place, unit, length: 1 });
  });
  return runs;
}

/**
 * Units of two maps and of their difference, and `shared`, the rows and columns of each that stand for the same place.
 * `pairs` are the words of both, [first, second], where the tokens differ. Null where nothing is shared.
 */
export function sharedUnits(text, [one, other]) {
  if (text.same_tokens !== false) return { units: [one, other, one], shared: [one, other, one], pairs: null };
  const pairs = text.word_pairs ?? [];
  if (!one.words || !other.words || !pairs.length) return null;
  const pairsOf = (units) => pairs.map((_, at) => at).filter((at) => units.includes(pairs[at][0]));
  const [rows, columns] = [pairsOf(one.rows), pairsOf(one.columns)];
  const side = (units, model) => ({ ...units, rows: rows.map((at) => pairs[at][model]), columns: columns.map((at) => pairs[at][model]) });
  const labels = pairs.map(([first]) => one.labels[first]);
  const shared = [side(one, 0), side(other, 1), { ...one, labels, raw: labels, rows, columns }];
  return { units: text.against ? [marked(one, pairs, 0), marked(other, pairs, 1), shared[2]] : shared, shared, pairs };
}

/** All units of a text, with a star at those that the other text lacks. */
function marked(units, pairs, text) {
  const shared = new Set(pairs.map((pair) => pair[text]));
  const labels = units.labels.map((label, at) => (shared.has(at) ? label : `${label} *`));
  return { ...units, labels, raw: labels };
}
