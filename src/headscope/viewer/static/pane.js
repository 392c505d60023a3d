/** The chosen head: tabs, what all pictures share, the view on show, the same as a table, and buttons that save. */

import { cardView } from "./card.js";
import { compareView } from "./compare.js";
import { make } from "./dom.js";
import { examplesView } from "./examples.js";
import { exportButtons } from "./export_buttons.js";
import { factTable } from "./fact_table.js";
import { importanceView } from "./importance.js";
import { linesView } from "./lines_view.js";
import { mapView } from "./map_view.js";
import { tabs } from "./tabs.js";
import { toolbar } from "./toolbar.js";
import { tryView } from "./try_it.js";
import { SENTENCES, VIEW_NAMES } from "./words.js";

const MAKERS = { lines: linesView, map: mapView, card: cardView, compare: compareView, try: tryView, importance: importanceView, examples: examplesView };
const PICTURES = ["lines", "map", "compare"];
const MADE_BY_SERVER = ["card", "try", "importance", "examples"]; // their pictures

/** `gridFigure()` gives the figure of all heads as SVG. */
export function headPane(context, gridFigure) {
  const { store } = context;
  const bar = toolbar(context);
  const table = factTable(context);
  const row = tabs(VIEW_NAMES, "Views of the chosen head", (view) => store.set({ view }));
  const saves = exportButtons(context, () => [...ownPicture(context), ["heads", gridFigure]]);
  const [title, explain, place] = [make("h2"), make("p", { class: "explain" }), make("div", { class: "view-place" })];
  const only = make("button", { type: "button", class: "toggle", onclick: () => store.set({ grid: !store.get().grid }) }, "Only this head");
  const element = make("section", { class: "pane", "aria-label": "The chosen head" }, make("div", { class: "pane-head" }, title, only), row.element,
    make("div", { class: "tab-panel", role: "tabpanel", "aria-label": "View" }, explain, bar.element, place, table.element), saves.element);

  function update() {
    const state = store.get();
    title.replaceChildren(...headTitle(context, state.heads));
    explain.textContent = SENTENCES[state.view === "compare" && context.data.text.against ? "twoTexts" : state.view];
    only.setAttribute("aria-pressed", String(!state.grid));
    row.update(state.view, possibleViews(context));
    bar.update();
    table.element.hidden = !PICTURES.includes(state.view);
    context.remember.cancel(); // a place in the picture that goes
    context.view?.destroy();
    context.view = MAKERS[state.view](context);
    place.replaceChildren(context.view.element);
    saves.update();
    table.update();
  }

  function arrived() {
    context.view?.arrived?.();
    table.update();
  }
  return { element, update, arrived };
}

/** The picture of the view on show, as [name, svg()] where there is one. */
function ownPicture({ model, source, store, view, exported }) {
  const { view: name } = store.get();
  if (view?.svg) return [[name, view.svg]];
  const possible = MADE_BY_SERVER.includes(name) && source.live && model.exports?.includes("pdf");
  return possible ? [[name, async () => (await exported("svg", name)).file.text()]] : [];
}

/** The views that the page can fill: a second model or text to compare, a server that runs models and has an index. */
function possibleViews({ source, model, readings }) {
  const possible = { compare: readings().length > 1, try: source.live, importance: source.live, examples: source.live || Boolean(model.examples_by?.length) };
  return VIEW_NAMES.map(([name]) => name).filter((name) => possible[name] ?? true);
}

/** The chosen heads in words, each of several with the colour of its lines. */
function headTitle(context, heads) {
  if (heads.length === 1) return [[`Head ${heads[0]}`, ...context.kindsOf(heads[0]).slice(0, 3).map((each) => each.word)].join(" · ")];
  return ["Heads ", ...heads.map((name, at) => {
    const swatch = make("span", { class: "swatch" });
    swatch.style.background = context.headColour(at);
    return make("span", { class: "head-name" }, swatch, `${name} `);
  })];
}
