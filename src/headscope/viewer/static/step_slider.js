/** The steps of a training: a slider that chooses the one on show. */

import { make } from "./dom.js";

/** `update()` shows the chosen step; null where the models are no steps of a training. */
export function stepSlider({ model: { training, models }, store }) {
  if (!training) return null;
  const readout = make("output", {});
  const range = make("input", { type: "range", min: 0, max: models.length - 1, step: 1, oninput: () => store.set({ model: Number(range.value) }) });
  const element = make("div", { class: "step-slider" }, make("label", {}, "Step of the training ", range), readout);
  function update() {
    const { model } = store.get();
    range.value = String(model);
    range.setAttribute("aria-valuetext", models[model].name);
    readout.textContent = models[model].name;
  }
  return { element, update };
}
