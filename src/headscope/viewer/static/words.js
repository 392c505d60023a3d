/** The sentences of the page: one over each view says what one sees. */

export const SENTENCES = {
  grid: "Every small picture is one head: its rows are the tokens that look, its columns the tokens that are looked at, and a strong colour is much attention. Choose a head to see it large.",
  differences: "Every small picture is the difference of one head between the two models: blue where the second attends more, brown where the first does. An empty one did not change.",
  changes: "Every small picture is one head: the words that both texts have, blue where the second text has more attention, brown where the first has. An empty one did not change.",
  lines: "Each line runs from a token (left) to a token that it attends to (right); a stronger line is more attention. Point at a token to see its lines alone, click to keep them.",
  map: "Each row is a token that looks, each column a token that is looked at: the stronger the colour, the more attention.",
  card: "All that the results at hand say about this head, with ranks among all heads.",
  compare: "The same head and text in two models, and the second minus the first.",
  twoTexts: "The same head in two texts, and the attention in the second minus that in the first, between words that both have. Attention is as the model gives it: a row over these words need not sum to 1.",
  try: "Switch heads off and see what the model says without them.",
  importance: "How much each token counts for what the model predicts, by the states that enter the layer of the chosen head.",
  examples: "Sentences of the corpus in which this head is most itself. Choose one to see its map.",
};

export const VIEW_NAMES = [["lines", "Lines"], ["map", "Heat map"], ["card", "Card"], ["compare", "Compare"], ["try", "Try it"], ["importance", "Importance"], ["examples", "Examples"]];

/** A token or word in quotation marks. */
export function quoted(text) {
  return `“${text}”`;
}
