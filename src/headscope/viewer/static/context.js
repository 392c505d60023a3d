/** What the components share: source, state, data of the text, and small questions about heads. */

import { smallMap } from "./binary.js";
import { afterRest } from "./dom.js";
import { headColour } from "./palette.js";
import { COMPARING, NOT_COMPARING, headPlace, viewStore } from "./state.js";
import { SIDE, tileValue } from "./tile_store.js";

/** The context of a viewer; `data` is filled with each text, `complain(message)` shows an error. */
export function createContext(source, state, options, complain) {
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const store = viewStore(state, options.onState);
  const redraw = () => context.redraw?.();
  const remember = afterRest((fields) => store.set(typeof fields === "function" ? fields() : fields, true), 200);
  scheme.addEventListener("change", redraw);
  const context = {
    source, store, complain, remember, data: null, model: null, measured: [], view: null,
    dark: () => scheme.matches,
    headColour: (at) => headColour(at, scheme.matches),
    height: () => options.height ?? Math.max(280, Math.min(680, innerHeight * 0.68)),
    show: (first, second, against = "") => store.set({ first, second, against, ...(!against === !store.get().against ? {} : against ? COMPARING : NOT_COMPARING), at: [0, 0], zoom: 0, pin: { query: null, key: null } }),
    numbers: () => context.measured[Math.min(store.get().model, context.measured.length - 1)],
    kindsOf: (name) => context.numbers().kindsOf.get(name) ?? [],
    place: (name, model = store.get().model) => ({ ...headPlace(name), model, words: context.data.unitsOf[model].words }),
    maximum: (name, model = store.get().model, units = context.data.unitsOf[model]) => largest(context, name, model, units),
    readings: () => readingsOf(context),
    modelNumber: () => (context.data.text.against ? 0 : store.get().model), // the model of the maps on show
    names: () => context.model.training ?? context.model.models.map((each) => each.name).join(" and "),
    pair: () => [0, Math.max(1, store.get().model)], // the models or texts that are compared
    sameHeads: () => new Set(context.model.models.map((each) => String(each.heads))).size === 1,
    comparable: () => context.data.overviews.length > 1 && context.sameHeads() && (context.data.text.same_tokens !== false || Boolean(context.data.text.against)),
    destroy() {
      scheme.removeEventListener("change", redraw);
      remember.cancel();
      context.view?.destroy();
    },
  };
  return context;
}

/** What the maps are of: models, or two texts that are compared, with what the page knows about the model. */
function readingsOf({ data, model: { models } }) {
  return data?.text.against ? ["first text", "second text"].map((name) => ({ ...models[0], name })) : models;
}

/** The largest attention of a head among the rows and columns on show; of the whole map where that is more than one tile. */
function largest(context, name, model, units) {
  const { tiles, overviews } = context.data;
  const { layer, head } = headPlace(name);
  const usual = smallMap(overviews[model], layer, head).maximum || 1;
  const whole = units.rows.length === units.labels.length && units.columns.length === units.labels.length;
  if ((whole && !units.words) || units.labels.length > SIDE) return usual;
  const tile = tiles.tile(context.place(name, model), 0, 0, 0);
  if (!tile) return usual;
  return Math.max(...units.rows.map((row) => units.columns.reduce((most, column) => Math.max(most, tileValue(tile, row, column)), 0))) || 1;
}
