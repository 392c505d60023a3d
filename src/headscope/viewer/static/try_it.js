/** Heads switched off: what the model says before and after. */

import { choice, make, onEnter } from "./dom.js";

const MODES = [["uniform", "uniform attention"], ["zero", "zero output"], ["mean", "mean output"]];

export function tryView(context) {
  const { store, source, data } = context;
  const { off, mode, heads, model } = store.get();
  const answer = make("div", { class: "answer", "aria-live": "polite" });
  const field = make("input", { type: "text", value: off || heads.join(","), spellcheck: "false", maxlength: "2000", placeholder: "3-7,4-*", onkeydown: onEnter(run) });
  const select = choice("How", MODES, mode, (value) => store.set({ mode: value }, true));
  const button = make("button", { type: "button", class: "primary", onclick: run }, "Switch off");
  const form = make("div", { class: "try-form", role: "form", "aria-label": "Heads to switch off" },
    make("label", { class: "choice grow" }, make("span", {}, "Heads (4-* is all of layer 4)"), field), select, button);
  const hint = make("p", { class: "quiet" }, whatChanges(context.readings()[model]));
  if (!source.live) answer.append(make("p", { class: "quiet" }, "The model is not part of this page; headscope view has it."));
  else if (off) run();

  async function run() {
    store.set({ off: field.value.trim() }, true);
    if (!source.live) return;
    button.disabled = true;
    answer.replaceChildren(make("p", { class: "quiet" }, "The model is running…"));
    try {
      answer.replaceChildren(...tables(await source.tryHeads(data.text.id, field.value.trim(), store.get().mode, model)));
    } catch (error) {
      answer.replaceChildren(make("p", { class: "error", role: "alert" }, error.message));
    }
    button.disabled = false;
  }
  return { element: make("div", { class: "try-view" }, form, hint, answer), destroy() {} };
}

/** What this model predicts. */
function whatChanges({ predicts, can_fill_mask: fills, mask_token: mask, task_labels: labels }) {
  if (predicts === "next") return "The model predicts the word that follows the text.";
  if (fills) return `The model predicts masked words: write ${mask ?? "[MASK]"} in the text instead of a word.`;
  if (labels?.length) return `The model predicts one of ${labels.length} classes: ${labels.join(", ")}.`;
  return "This model predicts no words or classes: see which sentences of the corpus it finds nearest to the text.";
}

function tables({ before, after }) {
  return before.flatMap((one, at) => [make("h3", {}, one.title), make("div", { class: "pair" },
    table("all heads", one.items, after[at].items), table("without these heads", after[at].items, one.items))]);
}

/** Items with bars; what the other side does not have is marked. */
function table(title, items, others) {
  const most = Math.max(...items.map((item) => item.value), 1e-9);
  const row = ({ text, value }) => {
    const bar = make("span", { class: "bar", "aria-hidden": "true" });
    bar.style.width = `${Math.max(0, 100 * value / most)}%`;
    const here = others.some((item) => item.text === text);
    return make("tr", {}, make("th", { scope: "row" }, text, here ? null : make("small", {}, " only here")), make("td", {}, value.toFixed(3)), make("td", { class: "bars" }, bar));
  };
  return make("table", {}, make("caption", {}, title), make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "prediction"), make("th", { scope: "col" }, "value"), make("td", {}))), make("tbody", {}, items.map(row)));
}
