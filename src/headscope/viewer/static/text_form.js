/** The text whose attention is shown: typed, or picked from a corpus. */

import { choice, make, onEnter } from "./dom.js";

const LONGEST = 100000; // letters

export function textForm(context) {
  const { store, source } = context;
  const first = make("textarea", { rows: "1", dir: "auto", maxlength: String(LONGEST), placeholder: "A sentence", onkeydown: onEnter(send) });
  const second = make("textarea", { rows: "1", dir: "auto", maxlength: String(LONGEST), placeholder: "a second sentence, if you like", onkeydown: onEnter(send) });
  const against = make("textarea", { rows: "1", dir: "auto", maxlength: String(LONGEST), placeholder: "another text", onkeydown: onEnter(send) });
  const note = make("span", { class: "quiet", role: "status" });
  const element = make("div", { class: "text-form", role: "form", "aria-label": "Text" },
    make("label", { class: "grow" }, make("span", {}, "Text"), first),
    make("label", { class: "grow" }, make("span", {}, "Second sentence"), second),
    context.model.models.length > 1 ? null : make("label", { class: "grow" }, make("span", {}, "Compare with"), against),
    make("button", { type: "button", class: "primary", onclick: send }, "Show"), corpora(), note);

  function send() {
    if (first.value.trim()) context.show(first.value.trim(), second.value.trim(), against.value.trim());
    else first.focus();
  }

  /** Sentences of the corpora at hand, 20 a page. */
  function corpora() {
    const names = context.model.corpora ?? [];
    if (!names.length) return null;
    let [name, page] = [names[0], 0];
    const list = make("ol", { class: "sentences" });
    const back = make("button", { type: "button", onclick: () => load(page - 1) }, "Earlier");
    const on = make("button", { type: "button", onclick: () => load(page + 1) }, "Further");
    const load = async (wanted) => {
      page = Math.max(0, wanted);
      let found = [];
      try {
        found = await source.corpus(name, page);
      } catch (error) {
        context.complain(error.message);
      }
      back.disabled = page === 0;
      on.disabled = found.length < 20;
      list.start = page * 20 + 1;
      list.replaceChildren(...found.map((each) => make("li", {}, make("button", { type: "button", class: "example", dir: "auto", onclick: () => {
        folder.open = false;
        context.show(each.first, each.second ?? "");
      } }, each.second ? `${each.first} | ${each.second}` : each.first))));
    };
    const folder = make("details", { class: "corpora", ontoggle: () => { if (folder.open && !list.children.length) load(0); } },
      make("summary", {}, "Pick from a corpus"),
      names.length > 1 ? choice("Corpus", names.map((each) => [each, each]), name, (value) => { name = value; load(0); }) : null,
      list, make("div", { class: "row" }, back, on));
    return folder;
  }

  return {
    element,
    /** Show what the text of the picture is. */
    update(text) {
      for (const [field, name] of [[first, "first"], [second, "second"], [against, "against"]]) field.value = store.get()[name] || text[name] || "";
      note.textContent = `${text.tokens.length} tokens${text.cut ? "; the text is cut at what the model can read" : ""}`;
    },
  };
}
