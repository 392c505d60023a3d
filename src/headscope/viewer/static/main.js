/** The viewer: mount all its views into one element of a page. Nothing outside the element is touched. */

import { smallMap } from "./binary.js";
import { cardView } from "./card.js";
import { compareView } from "./compare.js";
import { afterRest, make } from "./dom.js";
import { examplesView } from "./examples.js";
import { exportButtons } from "./export_buttons.js";
import { factTable } from "./fact_table.js";
import { gridSvg } from "./grid_svg.js";
import { headGrid } from "./head_grid.js";
import { linesView } from "./lines_view.js";
import { mapView } from "./map_view.js";
import { headColour } from "./palette.js";
import { createStore, formatState, headPlace } from "./state.js";
import { tabs } from "./tabs.js";
import { textForm } from "./text_form.js";
import { SIDE, tileStore, tileValue } from "./tile_store.js";
import { toolbar } from "./toolbar.js";
import { tryView } from "./try_it.js";
import { unitsOf } from "./units.js";
import { SENTENCES, VIEW_NAMES, kindWords } from "./words.js";

const MAKERS = { lines: linesView, map: mapView, card: cardView, compare: compareView, try: tryView, examples: examplesView };
const FIRST_TEXT = "The old lighthouse keeper, who had not slept for days, finally saw the ship turn away from the rocks.";

/**
 * Mount the viewer. `source` gives the data (`source.js`), `state` is a fragment, "" for the start;
 * `options.onState(fragment)` receives each new state, `options.height` is the height of a picture in pixels.
 * Returns a function that takes the viewer away; `setState(fragment)` and `state()` are its properties.
 */
export function mount(element, source, state = "", options = {}) {
  const alert = make("p", { class: "error", role: "alert", hidden: true });
  const body = make("div", { class: "body", "aria-busy": "true" }, make("p", { class: "quiet", role: "status" }, "Reading the model…"));
  element.classList.add("headscope");
  element.replaceChildren(alert, body);
  const context = createContext(element, source, state, options, alert);
  start(context, body).catch((error) => context.complain(error.message)).finally(() => body.removeAttribute("aria-busy"));
  const remove = () => {
    context.destroy();
    element.replaceChildren();
  };
  return Object.assign(remove, { setState: context.store.replace, state: () => formatState(context.store.get()) });
}

/** What the components share: source, state, data of the text, and small questions about heads. */
function createContext(element, source, state, options, alert) {
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const context = { source, sentences: SENTENCES, data: null, dark: () => scheme.matches, headColour: (at) => headColour(at, scheme.matches) };
  context.store = createStore(state, options.onState);
  const { store } = context;
  context.height = () => options.height ?? Math.max(280, Math.min(680, innerHeight * 0.68));
  context.complain = (message) => {
    alert.textContent = message;
    alert.hidden = !message;
  };
  context.show = (first, second) => store.set({ first, second, at: [0, 0], zoom: 0, pin: { query: null, key: null } });
  context.remember = afterRest((fields) => store.set(typeof fields === "function" ? fields() : fields, true), 200);
  context.place = (name, model = store.get().model) => ({ ...headPlace(name), model, words: context.data.unitsOf[model].words });
  context.maximum = (name, model = store.get().model) => largest(context, name, model);
  context.sameHeads = () => new Set(context.model.models.map((each) => String(each.heads))).size === 1;
  context.comparable = () => context.data.overviews.length > 1 && context.sameHeads() && context.data.text.same_tokens !== false;
  context.kindsOf = (name) => context.kinds.get(name) ?? [];
  context.kindName = kindWords;
  const redraw = () => context.redraw?.();
  scheme.addEventListener("change", redraw);
  context.destroy = () => {
    scheme.removeEventListener("change", redraw);
    context.remember.cancel();
    context.view?.destroy();
  };
  return context;
}

/** The largest attention of a head among the rows and columns on show; of the whole map where that is more than one tile. */
function largest(context, name, model) {
  const { tiles, overviews } = context.data;
  const units = context.data.unitsOf[model];
  const { layer, head } = headPlace(name);
  const usual = smallMap(overviews[model], layer, head).maximum || 1;
  const whole = units.rows.length === units.labels.length && units.columns.length === units.labels.length;
  if ((whole && !units.words) || units.labels.length > SIDE) return usual;
  const tile = tiles.tile(context.place(name, model), 0, 0, 0);
  if (!tile) return usual;
  return Math.max(...units.rows.map((row) => units.columns.reduce((most, column) => Math.max(most, tileValue(tile, row, column)), 0))) || 1;
}

async function start(context, body) {
  const { source, store } = context;
  [context.model, context.numbers] = await Promise.all([source.model(), source.numbers()]);
  context.kinds = new Map();
  for (const [layer, head, kind, word] of context.numbers.kinds) {
    const name = `${layer}-${head}`;
    context.kinds.set(name, [...(context.kinds.get(name) ?? []), { kind, word }]);
  }
  const frame = createFrame(context);
  body.replaceChildren(...frame.elements);
  store.listen(async (names) => {
    context.complain("");
    try {
      if (names.includes("first") || names.includes("second")) await frame.loadText();
      else frame.update(names);
    } catch (error) {
      context.complain(error.message);
    }
  });
  context.redraw = () => frame.update(["view"]);
  await frame.loadText();
}

/** The frame of the page: form, grid of heads, tabs with the view on show. */
function createFrame(context) {
  const { source, store } = context;
  const form = source.live ? textForm(context) : null;
  const grid = headGrid(context);
  const bar = toolbar(context);
  const table = factTable(context);
  const row = tabs(possibleViews(context), "Views of the chosen head", (view) => store.set({ view }));
  const place = make("div", { class: "view-place" });
  const explain = make("p", { class: "explain" });
  const title = make("h2", {});
  const exports = exportButtons(context, () => [...(context.view?.svg ? [[store.get().view, context.view.svg]] : []), ["heads", () => gridSvg(grid.pictures(), context.model.models.map((each) => each.name).join(" and "))]]);
  const hide = make("button", { type: "button", class: "toggle", "aria-pressed": "false", onclick: () => store.set({ grid: !store.get().grid }) }, "Only this head");
  const pane = make("section", { class: "pane", "aria-label": "The chosen head" }, make("div", { class: "pane-head" }, title, hide), row.element,
    make("div", { class: "tab-panel", role: "tabpanel", "aria-label": "View" }, explain, bar.element, place, table.element), exports.element);
  const columns = make("div", { class: "columns" }, grid.element, pane);
  const text = make("p", { class: "text-line" });
  let loads = 0;

  const arrived = () => { context.view?.arrived?.(); table.update(); };

  /** A text that the server has let go is sent again, once. */
  function lost(error) {
    if (error.status === 404 && source.live && !context.data.again) {
      context.data.again = true;
      loadText().then(() => { context.data.again = true; }, ({ message }) => context.complain(message));
    } else context.complain(error.message);
  }

  async function loadText() {
    loads += 1;
    const mine = loads;
    const { first, second } = store.get();
    columns.setAttribute("aria-busy", "true");
    try {
      const answer = await source.text(first || FIRST_TEXT, second);
      const overviews = await Promise.all(context.model.models.map((_, at) => source.overview(answer.id, at)));
      if (mine !== loads) return; // another text was asked for meanwhile
      context.data = { text: answer, texts: [answer, ...(answer.others ?? [])], overviews, tiles: tileStore(source, answer.id, arrived, lost) };
      form?.update({ first: FIRST_TEXT, ...answer });
      text.textContent = source.live ? "" : [answer.first, answer.second].filter(Boolean).join(" | ");
    } finally {
      if (mine === loads) columns.removeAttribute("aria-busy");
    }
    update(["view"]);
  }

  function update(names) {
    if (!context.data) return;
    store.set({ model: Math.min(store.get().model, context.model.models.length - 1) }, true);
    chooseHeads();
    const state = store.get();
    context.data.unitsOf = context.data.texts.map((each) => unitsOf(each, state));
    context.data.units = context.data.unitsOf[state.model];
    title.replaceChildren(...headTitle(context, state.heads));
    explain.textContent = SENTENCES[state.view];
    hide.setAttribute("aria-pressed", String(!state.grid));
    columns.classList.toggle("alone", !state.grid);
    grid.element.hidden = !state.grid;
    if (names.some((name) => ["view", "colour", "sort", "kind", "model"].includes(name))) grid.update();
    else grid.choose();
    row.update(state.view);
    bar.update();
    table.element.hidden = !["lines", "map", "compare"].includes(state.view);
    context.view?.destroy();
    context.view = MAKERS[state.view](context);
    place.replaceChildren(context.view.element);
    exports.update();
    table.update();
  }

  /** Heads that the model does not have are left out; without any, the first with a kind is chosen. */
  function chooseHeads() {
    const counts = context.model.models[store.get().model].heads;
    const there = (name) => { const { layer, head } = headPlace(name); return head <= (counts[layer - 1] ?? 0); };
    const heads = store.get().heads.filter(there);
    const usual = [...context.kinds].find(([name, [first]]) => there(name) && ["relation", "previous", "next"].includes(first.kind))?.[0];
    store.set({ heads: heads.length ? heads : [usual ?? `1-${counts[0] ? 1 : 0}`] }, true);
  }

  return { elements: [...(form ? [form.element] : [text]), columns], loadText, update };
}

/** The views that the page can fill: a second model to compare, a server that runs models and has an index. */
function possibleViews({ source, model }) {
  const possible = { compare: model.models.length > 1, try: source.live, examples: source.live || Boolean(model.examples_by?.length) };
  return VIEW_NAMES.filter(([name]) => possible[name] ?? true);
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
