/** The atlas of a report: all heads as small maps, which the page holds; one can order, dim and enlarge them. */

import { createStore, followAddress, oneOf, readAddress, writeAddress, writeFields } from "./address.js";
import { focusItem, make, redraw, tabStop } from "./dom.js";
import { reveal } from "./folds.js";
import { neighbourOf } from "./grid_keys.js";
import { inOrder, orderControls } from "./head_order.js";
import { kindButtons } from "./kind_legend.js";

/** Each atlas of the page; its state is kept in the address, with a prefix where there are several. */
export function startAtlases() {
  for (const section of document.querySelectorAll(".atlas-section")) {
    const data = JSON.parse(section.querySelector(".atlas-data").textContent);
    const rows = [...section.querySelectorAll(".atlas-row:not(.atlas-numbers)")];
    const layers = rows.map((row) => [...row.querySelectorAll(".atlas-head")]);
    const fields = atlasFields(section.dataset.prefix, data, layers.flat());
    const store = createStore(fields, readAddress(), (state) => writeAddress(writeFields(fields, state, readAddress())));
    startAtlas({ section, rows, layers, store, ...data, heads: layers.flat(), grid: section.querySelector(".atlas") });
  }
}

/** What the address keeps: the order, one kind, the text of the maps, the chosen head. */
function atlasFields(prefix, { inputs, numbers, legend }, heads) {
  const names = (items) => oneOf(["", ...items]);
  return {
    sort: [`${prefix}sort`, "", names(["kind", ...numbers.map(({ title }) => title)])],
    all: [`${prefix}all`, false, { read: (text) => text === "1", write: (value) => (value ? "1" : "") }],
    only: [`${prefix}only`, "", names(legend.map(({ kind }) => kind))],
    text: [`${prefix}text`, 0, { read: (text) => (Number(text) in inputs ? Number(text) : 0), write: String }],
    head: [`${prefix}head`, "", names(heads.map((head) => head.dataset.name))],
  };
}

function startAtlas(atlas) {
  const { section, heads, store, grid } = atlas;
  const open = () => { if (store.get().head) reveal(`${section.dataset.opensPrefix}-${store.get().head}`); };
  const large = section.querySelector(".atlas-large");
  for (const head of heads) {
    head.addEventListener("pointerenter", (event) => { if (event.pointerType === "mouse") enlarge(atlas, head, large); });
    head.addEventListener("focus", () => { tabStop(heads, head); if (head.matches(":focus-visible")) enlarge(atlas, head, large); });
    for (const event of ["pointerleave", "blur"]) head.addEventListener(event, () => { large.hidden = true; });
    head.addEventListener("click", (event) => {
      event.preventDefault();
      store.set({ head: head.dataset.name });
      open();
    });
  }
  grid.addEventListener("keydown", (event) => moveInAtlas(atlas, event));
  const select = section.querySelector(".atlas-text");
  select?.addEventListener(select.type === "range" ? "input" : "change", () => store.set({ text: Number(select.value) }));
  store.listen(() => showAtlas(atlas));
  followAddress((fragment) => {
    store.replace(fragment);
    open();
  });
  tabStop(heads, heads[0]);
  showAtlas(atlas);
  open();
}

/** Show the atlas as the state says, and the controls with it. */
function showAtlas({ section, grid, rows, layers, heads, numbers, legend, store }) {
  const state = store.get();
  const number = numbers.find(({ title }) => title === state.sort) ?? (legend.length ? undefined : numbers[0]);
  const kindOf = (head) => ({ kind: head.dataset.kinds.split(" ")[0], word: head.querySelector(".atlas-word").textContent });
  const values = number && new Map(Object.entries(number.values));
  const order = { nameOf: (head) => head.dataset.name, values: state.sort === "kind" ? undefined : values, kinds: legend.map(({ kind }) => kind), kindOf };
  inOrder(layers, state, order).forEach((row, at) => rows[at].append(...row));
  for (const head of heads) {
    const value = values?.get(head.dataset.name);
    const texts = [state.sort && head.dataset.name, value !== undefined && String(Number(value.toPrecision(2)))];
    head.querySelector(".atlas-value").textContent = texts.filter(Boolean).join(": ");
    head.classList.toggle("chosen", head.dataset.kinds.split(" ").includes(state.only));
    head.querySelectorAll("img").forEach((image, at) => { image.hidden = at !== state.text; });
  }
  grid.toggleAttribute("data-sorted", Boolean(state.sort));
  grid.toggleAttribute("data-all", Boolean(state.sort && state.all));
  grid.toggleAttribute("data-only", Boolean(state.only));
  const change = (fields) => store.set(fields);
  redraw(section.querySelector(".atlas-order"), ...orderControls(numbers.map(({ title }) => [title, title]), state, change));
  redraw(section.querySelector(".legend") ?? make("div"), ...kindButtons(legend, state.only, heads.length, (only) => change({ only })));
  const select = section.querySelector(".atlas-text");
  if (select) select.value = String(state.text);
  if (select?.dataset.steps) showStep(section, select, state.text);
}

/** Say which step of a training the maps are of. */
function showStep(section, slider, at) {
  const step = slider.dataset.steps.split(" ")[at];
  section.querySelector(".atlas-step").textContent = step;
  slider.setAttribute("aria-valuetext", `step ${step}`);
}

/** The map of a head, large, with its tokens and its numbers. */
function enlarge({ inputs, raw, numbers, store }, head, large) {
  const { text } = store.get();
  const image = head.querySelectorAll("img")[text];
  const peak = image ? [["largest attention", Number(head.dataset.maxima.split(" ")[text])]] : [];
  const own = numbers.map(({ title, values }) => [title, values[head.dataset.name]]).filter(([, value]) => value !== undefined);
  const facts = [...peak, ...own].slice(0, 9).map(([title, value]) => make("div", {}, make("dt", {}, title), make("dd", {}, String(Number(value.toPrecision(2))))));
  large.replaceChildren(make("p", {}, `${head.getAttribute("aria-label")}.`), ...(image ? [framedMap(image, inputs[text], raw[text])] : []), make("dl", {}, facts));
  const { left, right } = head.getBoundingClientRect();
  large.classList.toggle("at-left", left + right > innerWidth);
  large.hidden = false;
}

function moveInAtlas({ rows, heads, store }, event) {
  if (event.key === "Escape") store.set({ only: "" });
  const next = neighbourOf(rows.map((row) => [...row.querySelectorAll(".atlas-head")]), event.target, event.key);
  if (!next) return;
  event.preventDefault();
  focusItem(heads, next);
}

const MOST_LABELS = 32; // more of them are too small to read beside a map

/** A copy of the image of a map; `names` are the tokens as the tokenizer writes them. */
export function framedMap(image, tokens, names) {
  const copy = image.cloneNode();
  copy.hidden = false;
  const sides = tokens.length <= MOST_LABELS ? ["keys", "queries"] : [];
  return make("div", { class: "atlas-framed" }, sides.map((side) => make("div", { class: `atlas-${side}` },
    tokens.map((token, at) => make("span", { title: token !== names[at] && names[at] }, token)))), copy);
}
