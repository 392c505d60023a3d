/** Tabs: one stop of the tab key, arrow keys move between them. */

import { focusItem, make } from "./dom.js";

/** `names` are [value, words]; `onchoose(value)`. */
export function tabs(names, label, onchoose) {
  const buttons = names.map(([value, words]) => make("button", { type: "button", role: "tab", "data-value": value, onclick: () => onchoose(value) }, words));
  const element = make("div", { class: "tabs", role: "tablist", "aria-label": label, onkeydown: keys });

  function keys(event) {
    const shown = [...element.children];
    const at = shown.indexOf(event.target);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: shown.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const button = shown[(next + shown.length) % shown.length];
    onchoose(button.dataset.value);
    focusItem(shown, button);
  }
  return {
    element,
    /** Choose a value; `possible` are the values that are shown. */
    update(value, possible) {
      const shown = buttons.filter((button) => possible.includes(button.dataset.value));
      if (shown.length !== element.children.length) element.replaceChildren(...shown); // else the focus would go
      for (const button of shown) {
        const chosen = button.dataset.value === value;
        button.setAttribute("aria-selected", String(chosen));
        button.tabIndex = chosen ? 0 : -1;
      }
    },
  };
}
