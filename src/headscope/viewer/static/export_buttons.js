/** Buttons that save the picture: SVG and PNG of maps are made here, those of texts, PDF and the offline page by the server. */

import { make, saveFile } from "./dom.js";
import { formatState } from "./state.js";

/** `views()` gives the component on show and the grid as [name, svg()] pairs. */
export function exportButtons(context, pictures) {
  const what = make("select", { "aria-label": "Picture to save" });
  const button = (words, act) => make("button", { type: "button", onclick: async (event) => {
    const { currentTarget } = event;
    currentTarget.disabled = true;
    try {
      await act();
    } catch (error) {
      context.complain(error.message);
    }
    currentTarget.disabled = false;
  } }, words);
  const svg = () => pictures().find(([name]) => name === what.value)[1]();
  const server = context.source.live ? context.model.exports ?? [] : [];
  context.exported = (format, view) => context.source.exported({ format, state: formatState({ ...context.store.get(), view }), id: context.data.text.id });
  const saveExported = async (format, view) => {
    const { file, notice } = await context.exported(format, view);
    saveFile(file, `headscope.${format}`);
    context.complain(notice);
  };
  const element = make("div", { class: "exports", role: "group", "aria-label": "Save" }, make("span", { class: "quiet" }, "Save"), what,
    button("SVG", async () => saveFile(new Blob([await svg()], { type: "image/svg+xml" }), `${what.value}.svg`)),
    button("PNG", async () => saveFile(await rastered(await svg()), `${what.value}.png`)),
    server.includes("pdf") ? button("PDF", () => saveExported("pdf", what.value)) : null,
    server.includes("html") ? button("Offline page", () => saveExported("html", context.store.get().view)) : null);
  return {
    element,
    update() {
      const names = pictures().map(([name]) => name);
      const before = what.value;
      what.replaceChildren(...names.map((name) => make("option", { value: name, selected: name === before }, name)));
    },
  };
}

/** An SVG picture in pixels, twice as fine as its size, white below it. */
async function rastered(svg) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = document.createElement("canvas");
  const scale = Math.min(2, 8192 / Math.max(image.width, image.height));
  canvas.width = image.width * scale;
  canvas.height = image.height * scale;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}
