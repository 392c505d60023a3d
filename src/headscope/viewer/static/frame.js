/** The frame of the page: the form of the text, the grid of all heads, the pane of the chosen head. */

import { make } from "./dom.js";
import { gridSvg } from "./grid_svg.js";
import { headGrid } from "./head_grid.js";
import { changeLine, mostChanged } from "./text_changes.js";
import { headPane } from "./pane.js";
import { headPlace } from "./state.js";
import { stepSlider } from "./step_slider.js";
import { textForm } from "./text_form.js";
import { tileStore } from "./tile_store.js";
import { unitsOf } from "./units.js";

const FIRST_TEXT = "The old lighthouse keeper, who had not slept for days, finally saw the ship turn away from the rocks.";
const OF_THE_GRID = ["view", "colour", "sort", "all", "kind", "model"]; // fields of the state that change its pictures
const TELLING = ["relation", "previous", "next"]; // kinds of the head that is chosen first

export function createFrame(context) {
  const { source, store } = context;
  const form = source.live ? textForm(context) : null;
  const words = make("p", { class: "text-line", dir: "auto" });
  const changes = make("p", { class: "changes", role: "status", hidden: true });
  const grid = headGrid(context);
  const pane = headPane(context, () => gridSvg(grid.pictures(), context.names()));
  const steps = stepSlider(context);
  const columns = make("div", { class: "columns" }, grid.element, pane.element);
  let loads = 0;

  async function loadText() {
    loads += 1;
    const mine = loads;
    const { first, second, against } = store.get();
    columns.setAttribute("aria-busy", "true");
    try {
      const text = await source.text(first || FIRST_TEXT, second, against);
      const texts = [text, ...(text.others ?? [])];
      const overviews = await Promise.all(texts.map((_, at) => source.overview(text.id, at)));
      const compared = text.against ? await Promise.all(texts.map((_, at) => source.sharedOverview(text.id, at))) : overviews;
      if (mine !== loads) return; // another text was asked for meanwhile
      context.data = { text, texts, overviews, compared, tiles: tileStore(source, text.id, pane.arrived, lost) };
      form?.update({ first: FIRST_TEXT, ...text });
      words.textContent = text.against ? `First text: ${text.first} Second text: ${text.against}` : [text.first, text.second].filter(Boolean).join(" | ");
      changes.hidden = !text.against;
      changes.textContent = text.against ? changeLine(text) : "";
    } finally {
      if (mine === loads) columns.removeAttribute("aria-busy");
    }
    update(OF_THE_GRID);
  }

  /** A text that the server has let go is sent again, once. */
  function lost(error) {
    const again = error.status === 404 && source.live && context.again !== context.data.text.id;
    context.again = context.data.text.id;
    if (again) loadText().catch(({ message }) => context.complain(message));
    else context.complain(error.message);
  }

  /** Show the state; `names` are the fields that changed. */
  function update(names) {
    if (!context.data) return;
    chooseHeads();
    const state = store.get();
    const shown = state.view === "compare" && context.data.text.against ? { ...state, unit: "words", across: false } : state;
    context.data.unitsOf = context.data.texts.map((each) => unitsOf(each, shown));
    context.data.units = context.data.unitsOf[state.model];
    steps?.update();
    columns.classList.toggle("alone", !state.grid);
    grid.element.hidden = !state.grid;
    if (names.some((name) => OF_THE_GRID.includes(name))) grid.update();
    else grid.choose();
    pane.update();
  }

  /** Leave out a model and heads that are not there; without any head choose one that does something plain. */
  function chooseHeads() {
    const models = context.readings();
    const model = Math.min(store.get().model, models.length - 1);
    const counts = models[model].heads;
    const there = (name) => headPlace(name).head <= (counts[headPlace(name).layer - 1] ?? 0);
    const heads = store.get().heads.filter(there);
    const [usual] = context.data.text.changes?.length ? [mostChanged(context.data.text)[0].name] : [...context.numbers().kindsOf].find(([name, [first]]) => there(name) && TELLING.includes(first.kind)) ?? ["1-1"];
    store.set({ model, heads: heads.length ? heads : [usual] }, true);
  }

  return { elements: [form ? form.element : words, steps?.element, changes, columns].filter(Boolean), loadText, update };
}
