/** Two texts in one model: which heads change most, in words and as numbers of heads. */

import { quoted } from "./words.js";

const [NAMED, WORDS] = [3, 12]; // heads and words in a line

/** The heads by their change, the largest first: {name, change, alone: [in the first text, in the second]}. */
export function mostChanged({ changes }) {
  const heads = changes.map(([layer, head, change, ...alone]) => ({ name: `${layer}-${head}`, change, alone }));
  return heads.sort((one, other) => other.change - one.change);
}

/** Which heads change most, and which words only one of the texts has. */
export function changeLine(text) {
  const heads = mostChanged(text).slice(0, NAMED).filter(({ change }) => change > 0);
  const named = heads.map(({ name, change }) => `${name} (${change.toFixed(3)})`).join(", ");
  const most = heads.length
    ? `Heads that change most from the first text to the second: ${named}; in brackets the mean absolute difference of attention between words that both texts have.`
    : "No head changes: all attention between words that both texts have is equal.";
  const alone = [0, 1].map((at) => wordsAlone(text, at)).map((words, at) => words.length && `Only in the ${["first", "second"][at]} text: ${words.slice(0, WORDS).map(quoted).join(", ")}${words.length > WORDS ? ` and ${words.length - WORDS} more` : ""}.`);
  return [most, ...alone.filter(Boolean)].join(" ");
}

/** The numbers of heads by which the grid is framed and sorted. */
export function changeNumbers(text) {
  const number = (name, long_name, value) => ({ name, long_name, units: "", values: text.changes.map((change) => [change[0], change[1], change[value]]) });
  return [number("difference", "change", 2),
    number("first_alone", "attention to words that only the first text has", 3), number("second_alone", "attention to words that only the second text has", 4)];
}

/** The change of a head in a line. */
export function changeOfHead(text, name) {
  const { change, alone } = mostChanged(text).find((each) => each.name === name);
  const [first, second] = alone.map((value) => `${(100 * value).toFixed(0)}%`);
  return `Head ${name} changes by ${change.toFixed(3)} on average. Words that both texts have give ${first} of their attention to words that only the first text has, and ${second} to words that only the second has.`;
}

/** The words of the first text (0) or the second (1) that the other one lacks. */
function wordsAlone({ words, others, word_pairs: pairs }, at) {
  const shared = new Set(pairs.map((pair) => pair[at]));
  return [words, others[0]?.words][at].filter((_, number) => !shared.has(number)).map((word) => word.text);
}
